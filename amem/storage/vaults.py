"""Folders of Markdown files that are kept in step with the notes: what both agreed on last, file by file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.storage.rows import Part, as_json, flat_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_LIGHT = "SELECT note, path, digest, mtime_ns, size, refs, gone FROM vault_files WHERE vault = :vault ORDER BY note"
_STANDING = "SELECT id, status, kind, seq FROM notes ORDER BY key"
_STANDING_WITHOUT = (
    "WITH gone(id) AS (SELECT value FROM json_each(:ids)) SELECT id, 'deleted', kind, seq FROM notes WHERE id IN gone"
    " UNION ALL SELECT id, 'active', kind, seq FROM notes WHERE status = 'superseded' AND id NOT IN gone AND EXISTS"
    " (SELECT 1 FROM gone JOIN links ON source = gone.id AND target = notes.id AND type = 'supersedes'"
    " WHERE gone.id = notes.superseded_by)"
)
_LINKS = "SELECT source, target, type, reason, made_by FROM links WHERE source IN :ids ORDER BY at, key"
_NAMING = "SELECT vault, note, text, refs FROM vault_files WHERE refs LIKE :like"
_RELINKED = "SELECT DISTINCT source FROM link_changes WHERE operation > :after"
#: In place of a file's size: its note is being made, and its id is not written into it yet.
NEW = -1


@dataclass(frozen=True, slots=True)
class KnownVault:
    """A folder that was synced before; `counter` and `operation` are those of the notes then, `synced_ns` when."""

    id: int
    path: str
    counter: int
    operation: int
    synced_ns: int


@dataclass(frozen=True, slots=True)
class KnownFile:
    """The file of a note as both sides agreed on it last. `path` is '' once the note was purged; `refs` is JSON.

    With a `size` of `NEW` the note is being made from the file, which does not hold its id yet.
    """

    note: str
    path: str
    digest: bytes
    mtime_ns: int
    size: int
    refs: str
    gone: bool

    @property
    def is_new(self) -> bool:
        """Whether the file has no id yet, as the sync that was to write it was stopped."""
        return self.size == NEW


@dataclass(frozen=True, slots=True)
class Standing:
    """A note as a sync looks at it: its status, kind, and the change counter when it changed last."""

    status: str
    kind: str
    seq: int


class Vaults(Part):
    """The vaults of one transaction. Nothing here is an operation: it says what was synced, and changes no note."""

    def find(self, identity: str) -> KnownVault | None:
        """The vault that calls itself so."""
        return self._one("identity", identity)

    def at(self, path: str) -> KnownVault | None:
        """The vault that was synced at this path last."""
        return self._one("path", path)

    def add(self, identity: str, path: str) -> KnownVault:
        """Begin to keep a vault."""
        row = {"identity": identity, "path": path, "counter": 0, "operation": 0, "synced_ns": 0}
        self._session.insert("vaults", row)
        found = self.find(identity)
        assert found is not None
        return found

    def synced(self, vault: int, path: str, *, counter: int, operation: int, synced_ns: int) -> None:
        """Say up to where the vault and the notes agree."""
        values = {"path": path, "counter": counter, "operation": operation, "synced_ns": synced_ns}
        self._session.update("vaults", values, id=vault)

    def files(self, vault: int) -> dict[str, KnownFile]:
        """Every file that the vault is known to have or have had, by the id of its note, without texts."""
        rows = self._session.rows(_LIGHT, vault=vault)
        return {row[0]: KnownFile(*row[:-1], gone=bool(row[-1])) for row in rows}  # type: ignore[misc]

    def texts(self, vault: int, notes: Sequence[str]) -> dict[str, str]:
        """The texts of these notes' files as both sides agreed on them last."""
        sql = "SELECT note, text FROM vault_files WHERE vault = :vault AND note IN :notes"
        return dict(self._session.rows(sql, vault=vault, notes=notes))

    def put(self, vault: int, files: Iterable[tuple[KnownFile, str]]) -> None:
        """Remember files and their texts as what both sides agree on now."""
        rows = [flat_fields(each) | {"vault": vault, "text": text, "gone": int(each.gone)} for each, text in files]
        self._session.insert("vault_files", *rows, either="REPLACE")

    def touched(self, vault: int, files: Iterable[KnownFile]) -> None:
        """Remember what changed about files whose text did not: their times, their refs, that they are gone."""
        for each in files:
            values = {"mtime_ns": each.mtime_ns, "size": each.size, "refs": each.refs, "gone": int(each.gone)}
            self._session.update("vault_files", values, vault=vault, note=each.note)

    def forget(self, vault: int, notes: Sequence[str]) -> None:
        """Remember nothing of these notes' files."""
        sql = "DELETE FROM vault_files WHERE vault = :vault AND note IN :notes"
        self._session.change(sql, vault=vault, notes=notes)

    def forget_name(self, id: str) -> None:
        """Take the name of a note that is being purged out of what other notes' files said, links to it and all.

        Its own row is blanked by a trigger. What people wrote of it in the text of other notes stays, as in those.
        """
        for vault, note, text, refs in self._session.rows(_NAMING, like=f'%"{id}"%'):
            held = json.loads(refs)
            marks = [f"- {type} [[{name}]]" for type, name, target in held.get("lines", ()) if target == id]
            held["lines"] = [line for line in held.get("lines", ()) if line[2] != id]
            kept = "\n".join(line for line in text.split("\n") if not line.startswith(tuple(marks)))
            # Its file is to be read again, and to lose the line, too.
            values = {"text": kept, "refs": as_json(held), "mtime_ns": -1}
            self._session.update("vault_files", values, vault=vault, note=note)

    def standing(self) -> dict[str, Standing]:
        """Every note by id, oldest first, with what tells whether it has a file and whether it changed."""
        return {row[0]: Standing(*row[1:]) for row in self._session.rows(_STANDING)}

    def standing_without(self, gone: Iterable[str]) -> dict[str, Standing]:
        """These notes as they would be once they were hidden, and those that would stand again in their place."""
        return {row[0]: Standing(*row[1:]) for row in self._session.rows(_STANDING_WITHOUT, ids=gone)}

    def links_from(self, ids: Iterable[str]) -> dict[str, list[tuple[str, str, str, str]]]:
        """(target, type, reason, maker) of the links that start at each of these notes, oldest first."""
        found: dict[str, list[tuple[str, str, str, str]]] = {}
        for source, *rest in self._session.rows(_LINKS, ids=ids):
            found.setdefault(source, []).append((rest[0], rest[1], rest[2], rest[3]))
        return found

    def linking_to(self, ids: Iterable[str]) -> set[str]:
        """Notes with a link that ends at one of these."""
        return set(self._session.column("SELECT DISTINCT source FROM links WHERE target IN :ids", ids=ids))

    def relinked(self, after: int) -> set[str]:
        """Notes whose links an operation after this one added or took away."""
        return set(self._session.column(_RELINKED, after=after))

    def purged(self, ids: Iterable[str]) -> set[str]:
        """Those of these ids whose notes were destroyed."""
        return set(self._session.column("SELECT id FROM tombstones WHERE id IN :ids", ids=ids))

    def _one(self, column: str, value: str) -> KnownVault | None:
        sql = f"SELECT id, path, counter, operation, synced_ns FROM vaults WHERE {column} = :value"
        rows = self._session.rows(f"{sql} ORDER BY id DESC LIMIT 1", value=value)
        return KnownVault(*rows[0]) if rows else None
