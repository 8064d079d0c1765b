"""Folders of Markdown files that are kept in step with the notes: what both agreed on last, file by file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, insert, select, update

from amem.storage import tables
from amem.storage.sql_values import Prepared, chunks, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amem.storage.store import Session

_VAULTS, _FILES = tables.vaults, tables.vault_files
_LIGHT = Prepared(
    "SELECT note, path, digest, mtime_ns, size, refs, gone FROM vault_files WHERE vault = :vault ORDER BY note"
)
_STANDING = Prepared("SELECT id, status, kind, seq FROM notes ORDER BY key")
_STANDING_WITHOUT = Prepared(
    "WITH gone(id) AS (SELECT value FROM json_each(:ids))"
    " SELECT id, 'deleted', kind, seq FROM notes WHERE id IN gone"
    " UNION ALL SELECT id, 'active', kind, seq FROM notes WHERE status = 'superseded' AND id NOT IN gone AND EXISTS"
    " (SELECT 1 FROM gone JOIN links ON source = gone.id AND target = notes.id AND type = 'supersedes'"
    " WHERE gone.id = notes.superseded_by)"
)
_LINKS = Prepared(
    "SELECT source, target, type, reason, made_by FROM links"
    " WHERE source IN (SELECT value FROM json_each(:ids)) ORDER BY at, key"
)
_NAMING = Prepared("SELECT vault, note, text, refs FROM vault_files WHERE refs LIKE :like")
_RELINKED = Prepared("SELECT DISTINCT source FROM link_changes WHERE operation > :after")
_LINKING = Prepared("SELECT DISTINCT source FROM links WHERE target IN (SELECT value FROM json_each(:ids))")
_PURGED = Prepared("SELECT id FROM tombstones WHERE id IN (SELECT value FROM json_each(:ids))")


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
    """The file of a note as both sides agreed on it last. `path` is '' once the note was purged; `refs` is JSON."""

    note: str
    path: str
    digest: bytes
    mtime_ns: int
    size: int
    refs: str
    gone: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """What a sync asks of every note: its status, kind, and the change counter when it changed last."""

    status: str
    kind: str
    seq: int


class Vaults:
    """The vaults of one transaction. Nothing here is an operation: it says what was synced, and changes no note."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def find(self, identity: str) -> KnownVault | None:
        """The vault that calls itself so."""
        return self._one(_VAULTS.c.identity == identity)

    def at(self, path: str) -> KnownVault | None:
        """The vault that was synced at this path last."""
        return self._one(_VAULTS.c.path == path)

    def add(self, identity: str, path: str) -> KnownVault:
        """Begin to keep a vault."""
        self._run(insert(_VAULTS), {"identity": identity, "path": path, "counter": 0, "operation": 0, "synced_ns": 0})
        found = self.find(identity)
        assert found is not None
        return found

    def synced(self, vault: int, path: str, *, counter: int, operation: int, synced_ns: int) -> None:
        """Say up to where the vault and the notes agree."""
        values = {"path": path, "counter": counter, "operation": operation, "synced_ns": synced_ns}
        self._run(update(_VAULTS).where(_VAULTS.c.id == vault).values(**values))

    def files(self, vault: int) -> dict[str, KnownFile]:
        """Every file that the vault is known to have or have had, by the id of its note, without texts."""
        rows = _LIGHT.rows(self._session, vault=vault)
        return {row[0]: KnownFile(*row[:-1], gone=bool(row[-1])) for row in rows}  # type: ignore[misc]

    def texts(self, vault: int, notes: Sequence[str]) -> dict[str, str]:
        """The texts of these notes' files as both sides agreed on them last."""
        statement = select(_FILES.c.note, _FILES.c.text).where(_FILES.c.vault == vault)
        return {
            note: text
            for some in chunks(list(notes))
            for note, text in self._run(statement.where(_FILES.c.note.in_(some)))
        }

    def put(self, vault: int, files: Iterable[tuple[KnownFile, str]]) -> None:
        """Remember files and their texts as what both sides agree on now."""
        rows: list[dict[str, Any]] = [
            {
                "vault": vault,
                "note": each.note,
                "path": each.path,
                "text": text,
                "digest": each.digest,
                "mtime_ns": each.mtime_ns,
                "size": each.size,
                "refs": each.refs,
                "gone": int(each.gone),
            }
            for each, text in files
        ]
        if rows:
            self._run(insert(_FILES).prefix_with("OR REPLACE"), rows)

    def touched(self, vault: int, files: Iterable[KnownFile]) -> None:
        """Remember what changed about files whose text did not: their times, their refs, that they are gone."""
        rows = [
            {"n": each.note, "m": each.mtime_ns, "s": each.size, "r": each.refs, "g": int(each.gone)} for each in files
        ]
        if rows:
            statement = update(_FILES).where(_FILES.c.vault == vault, _FILES.c.note == bindparam("n"))
            values: dict[str, Any] = {
                "mtime_ns": bindparam("m"),
                "size": bindparam("s"),
                "refs": bindparam("r"),
                "gone": bindparam("g"),
            }
            self._run(statement.values(**values), rows)

    def forget(self, vault: int, notes: Sequence[str]) -> None:
        """Remember nothing of these notes' files."""
        for some in chunks(list(notes)):
            self._run(delete(_FILES).where(_FILES.c.vault == vault, _FILES.c.note.in_(some)))

    def forget_name(self, id: str) -> None:
        """Take the name of a note that is being purged out of what other notes' files said, links to it and all.

        Its own row is blanked by a trigger. What people wrote of it in the text of other notes stays, as in those.
        """
        for vault, note, text, refs in _NAMING.rows(self._session, like=f'%"{id}"%'):
            held = json.loads(refs)
            marks = [f"- {type} [[{name}]]" for type, name, target in held.get("lines", ()) if target == id]
            held["lines"] = [line for line in held.get("lines", ()) if line[2] != id]
            kept = "\n".join(line for line in text.split("\n") if not line.startswith(tuple(marks)))
            # Its file is to be read again, and to lose the line, too.
            values = {"text": kept, "refs": json.dumps(held, ensure_ascii=False), "mtime_ns": -1}
            self._run(update(_FILES).where(_FILES.c.vault == vault, _FILES.c.note == note).values(**values))

    def standing(self) -> dict[str, Standing]:
        """Every note by id, oldest first, with what tells whether it has a file and whether it changed."""
        return {row[0]: Standing(*row[1:]) for row in _STANDING.rows(self._session)}

    def standing_without(self, gone: Iterable[str]) -> dict[str, Standing]:
        """These notes as they would be once they were hidden, and those that would stand again in their place."""
        return {row[0]: Standing(*row[1:]) for row in _STANDING_WITHOUT.rows(self._session, ids=listed(gone))}

    def links_from(self, ids: Iterable[str]) -> dict[str, list[tuple[str, str, str, str]]]:
        """(target, type, reason, maker) of the links that start at each of these notes, oldest first."""
        found: dict[str, list[tuple[str, str, str, str]]] = {}
        for source, *rest in _LINKS.rows(self._session, ids=listed(ids)):
            found.setdefault(source, []).append((rest[0], rest[1], rest[2], rest[3]))
        return found

    def linking_to(self, ids: Iterable[str]) -> set[str]:
        """Notes with a link that ends at one of these."""
        return {source for (source,) in _LINKING.rows(self._session, ids=listed(ids))}

    def relinked(self, after: int) -> set[str]:
        """Notes whose links an operation after this one added or took away."""
        return {source for (source,) in _RELINKED.rows(self._session, after=after)}

    def purged(self, ids: Iterable[str]) -> set[str]:
        """Those of these ids whose notes were destroyed."""
        return {id for (id,) in _PURGED.rows(self._session, ids=listed(ids))}

    def _one(self, condition: Any) -> KnownVault | None:
        columns = (_VAULTS.c.id, _VAULTS.c.path, _VAULTS.c.counter, _VAULTS.c.operation, _VAULTS.c.synced_ns)
        row = self._run(select(*columns).where(condition).order_by(_VAULTS.c.id.desc())).first()
        return None if row is None else KnownVault(*row)
