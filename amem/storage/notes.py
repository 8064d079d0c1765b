"""Notes in and out of the database, each change with the version that records it."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update

from amem.errors import AmbiguousId, InvalidInput, NoteNotFound, StaleNote
from amem.note import Enrichment, MemoryNote, Status
from amem.storage import tables
from amem.storage.filters import conditions
from amem.storage.hydrate import complete
from amem.storage.rows import VERSIONED, cell, from_cell, note_of, plain, time_text
from amem.text import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import RowMapping

    from amem.query import Filter
    from amem.storage.session import Session

_NOTES = tables.notes
_AT_ONCE = 500
#: What the full-text index and the vector are made of: a change to one of these concerns the indexes.
_INDEXED = frozenset({"content", "keywords", "tags", "context", "entities", "status"})
_ORDERS = {
    "time": (_NOTES.c.at.desc(), _NOTES.c.key.desc()),
    "recorded": (_NOTES.c.key.desc(),),
    "importance": (_NOTES.c.importance.desc(), _NOTES.c.key.desc()),
}


def chunks(items: Sequence[Any], size: int = _AT_ONCE) -> Iterator[Sequence[Any]]:
    """Slices small enough for one SQL ``IN``."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def normal_hash(content: str) -> bytes:
    """What two texts share when they differ in case, width or spacing only."""
    return blake2b(normalize(content).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Notes:
    """The notes of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    # -- reading -----------------------------------------------------------------------------------------------

    def get(self, id: str) -> MemoryNote | None:
        """The note with its links, usage, trust and history; None when there is none or it was deleted."""
        return self.get_many([id]).get(id)

    def get_many(self, ids: Sequence[str], *, history: bool = True, deleted: bool = False) -> dict[str, MemoryNote]:
        """The notes of these ids that exist, in the order asked for; deleted ones only when asked."""
        rows: dict[str, Any] = {}
        for some in chunks(list(dict.fromkeys(ids))):
            for row in self._run(select(_NOTES).where(_NOTES.c.id.in_(some))).mappings():
                if deleted or row["status"] != Status.DELETED:
                    rows[row["id"]] = row
        found = {id: note_of(rows[id]) for id in ids if id in rows}
        complete(self._session, found, rows, history=history)
        return found

    def page(
        self,
        wanted: Filter,
        *,
        limit: int = 50,
        offset: int = 0,
        order: str = "time",
    ) -> list[MemoryNote]:
        """Notes that pass the filter, newest first by default; `order` is time, recorded or importance."""
        if order not in _ORDERS:
            raise InvalidInput(f"cannot order by {order!r}", hint=f"use one of {', '.join(_ORDERS)}")
        statement = select(_NOTES.c.id).where(*conditions(wanted)).order_by(*_ORDERS[order]).limit(limit).offset(offset)
        return list(self.get_many(self._run(statement).scalars().all(), history=False, deleted=True).values())

    def count(self, wanted: Filter | None = None) -> int:
        """How many notes pass the filter; None counts all that are not deleted."""
        where = [_NOTES.c.status != str(Status.DELETED)] if wanted is None else conditions(wanted)
        return int(self._run(select(func.count()).select_from(_NOTES).where(*where)).scalar_one())

    def ids(self, *, deleted: bool = False) -> list[str]:
        """Every id, oldest arrival first; deleted ones only when asked."""
        statement = select(_NOTES.c.id).order_by(_NOTES.c.key)
        if not deleted:
            statement = statement.where(_NOTES.c.status != str(Status.DELETED))
        return list(self._run(statement).scalars())

    def keys(self, wanted: Filter) -> list[int]:
        """Integer keys of all notes that pass the filter, ascending."""
        return list(self._run(select(_NOTES.c.key).where(*conditions(wanted)).order_by(_NOTES.c.key)).scalars())

    def keys_of(self, ids: Sequence[str]) -> dict[str, int]:
        """Integer keys of these ids, whatever their status."""
        return {
            id: key
            for some in chunks(list(ids))
            for id, key in self._run(select(_NOTES.c.id, _NOTES.c.key).where(_NOTES.c.id.in_(some)))
        }

    def ids_of(self, keys: Sequence[int]) -> dict[int, str]:
        """Ids of these integer keys, whatever their status."""
        return {
            key: id
            for some in chunks([int(key) for key in keys])
            for key, id in self._run(select(_NOTES.c.key, _NOTES.c.id).where(_NOTES.c.key.in_(some)))
        }

    def columns(self, keys: Sequence[int], names: Sequence[str]) -> dict[int, RowMapping]:
        """Named raw columns of these keys, for code that ranks many notes and hydrates few."""
        wanted = [_NOTES.c[name] for name in names]
        return {
            row["key"]: row
            for some in chunks([int(key) for key in keys])
            for row in self._run(select(_NOTES.c.key, *wanted).where(_NOTES.c.key.in_(some))).mappings()
        }

    def resolve(self, prefix: str, *, deleted: bool = False) -> str:
        """The one id that is or begins with `prefix`. Raises NoteNotFound or AmbiguousId."""
        if not prefix:
            raise NoteNotFound("an empty id names no note", hint="amem list shows the ids")
        statement = select(_NOTES.c.id, _NOTES.c.status).where(
            _NOTES.c.id >= prefix, _NOTES.c.id < prefix + "\U0010ffff"
        )
        rows = self._run(statement.order_by(_NOTES.c.id).limit(200)).all()
        ids = [id for id, status in rows if deleted or status != Status.DELETED]
        if prefix in ids:
            return prefix
        if not ids:
            hint = "it was deleted; amem restore brings it back" if rows else "amem list shows the ids"
            raise NoteNotFound(f"no note {prefix!r}", hint=hint)
        if len(ids) > 1:
            some = ", ".join(id[:12] for id in ids[:4])
            raise AmbiguousId(f"{prefix!r} fits {len(ids)} notes: {some}", hint="give more characters")
        return str(ids[0])

    def duplicate_of(self, content: str) -> str | None:
        """The oldest active note that says the same but for case, width and spacing; None when there is none."""
        statement = select(_NOTES.c.id).where(
            _NOTES.c.normal == normal_hash(content), _NOTES.c.status == str(Status.ACTIVE)
        )
        return self._run(statement.order_by(_NOTES.c.key).limit(1)).scalar_one_or_none()

    def unfinished(self) -> list[tuple[str, str]]:
        """(id, enrichment) of notes whose analysis is pending or degraded, oldest first."""
        statement = (
            select(_NOTES.c.id, _NOTES.c.enrichment)
            .where(_NOTES.c.enrichment != str(Enrichment.DONE), _NOTES.c.status != str(Status.DELETED))
            .order_by(_NOTES.c.key)
        )
        return [(id, state) for id, state in self._run(statement)]

    def previous_turns(self, conversation: str, ordinal: int, count: int) -> list[str]:
        """Up to `count` earlier notes of the conversation as "speaker: text", oldest first."""
        statement = (
            select(_NOTES.c.speaker, _NOTES.c.content)
            .where(
                _NOTES.c.conversation_id == conversation,
                _NOTES.c.ordinal < ordinal,
                _NOTES.c.status == str(Status.ACTIVE),
            )
            .order_by(_NOTES.c.ordinal.desc())
            .limit(count)
        )
        rows = self._run(statement).all()
        return [f"{speaker}: {content}" if speaker else content for speaker, content in reversed(rows)]

    # -- writing -----------------------------------------------------------------------------------------------

    def insert(
        self,
        note: MemoryNote,
        operation: int,
        *,
        reliability: float,
        text_hash: bytes | None,
        given: Iterable[str] = (),
    ) -> int:
        """Store a new note as version 1; returns its key. Raises InvalidInput when the id is taken.

        `given` names the fields that whoever added the note filled in, so that analysis never replaces them.
        """
        if self.keys_of([note.id]):
            raise InvalidInput(f"a note {note.id!r} exists already", hint="use update() to change it")
        values = {field: plain(field, getattr(note, field)) for field in VERSIONED}
        recorded = note.recorded_at or self._session.now
        seq = self._session.seq
        statement = insert(_NOTES).values(
            **{field: cell(field, value) for field, value in values.items()},
            id=note.id,
            normal=normal_hash(note.content),
            reliability=reliability,
            recorded_at=time_text(recorded),
            version=1,
            edited=json.dumps(dict.fromkeys(sorted(given), "given")),
            text_hash=text_hash,
            seq=seq,
            vector_seq=seq,
        )
        key = self._run(statement).lastrowid
        assert key is not None
        self._record(int(key), 1, operation, {"status": [None, values["status"]]})
        self._session.text.put(int(key), note)
        self._put_terms(int(key), note)
        return int(key)

    def change(
        self,
        id: str,
        changes: Mapping[str, Any],
        operation: int,
        *,
        expect: int | None = None,
        edited: bool = False,
    ) -> tuple[str, ...]:
        """Set fields to new (plain) values, record the version; returns the fields that really changed.

        `expect` is the version the change was based on (StaleNote when it moved); `edited` marks the fields as a
        person's own. Whoever changes what is embedded also calls `address`.
        """
        row = self._run(select(_NOTES).where(_NOTES.c.id == id)).mappings().one_or_none()
        if row is None:
            raise NoteNotFound(f"no note {id!r}")
        if expect is not None and row["version"] != expect:
            raise StaleNote(
                f"note {id[:8]} changed since it was read (version {row['version']}, not {expect})",
                hint="read it again and repeat the change",
            )
        before = {field: from_cell(field, row[field]) for field in changes}
        different = {field: value for field, value in changes.items() if value != before[field]}
        if not different:
            return ()
        values: dict[str, Any] = {field: cell(field, value) for field, value in different.items()}
        values["version"] = row["version"] + 1
        if edited:
            values["edited"] = json.dumps(json.loads(row["edited"]) | dict.fromkeys(sorted(different), "edited"))
        if "content" in different:
            values["normal"] = normal_hash(different["content"])
        recorded = {field: [before[field], value] for field, value in different.items()}
        self._record(row["key"], values["version"], operation, recorded)
        self._run(update(_NOTES).where(_NOTES.c.key == row["key"]).values(**values, seq=self._session.seq))
        if _INDEXED & set(different):
            self.reindex_text(row["key"])
        return tuple(different)

    def address(self, id: str, text_hash: bytes) -> None:
        """Say which text's vector is the note's own; nothing changes when it is that one already."""
        seq = self._session.seq
        self._run(
            update(_NOTES)
            .where(_NOTES.c.id == id, func.coalesce(_NOTES.c.text_hash, b"") != text_hash)
            .values(text_hash=text_hash, vector_seq=seq, seq=seq)
        )

    def stamp_vector(self, id: str) -> None:
        """Say that the vector of a note's text has only now been made, so that the dense leg fetches it."""
        seq = self._session.seq
        self._run(update(_NOTES).where(_NOTES.c.id == id).values(vector_seq=seq, seq=seq))

    def reindex_text(self, key: int) -> None:
        """Bring full text and terms of one note in line with its row; a deleted note leaves both."""
        row = self._run(select(_NOTES).where(_NOTES.c.key == key)).mappings().one()
        note = note_of(row)
        self._session.text.remove(key)
        self._run(delete(tables.note_terms).where(tables.note_terms.c.note == key))
        if note.status is not Status.DELETED:
            self._session.text.put(key, note)
            self._put_terms(key, note)

    def corroborate(self, id: str, who: str, operation: int) -> None:
        """Count that `who` said the same; once for each who, as part of the latest operation that said so."""
        key = self.keys_of([id])[id]
        statement = insert(tables.corroborations).prefix_with("OR REPLACE")
        self._run(statement.values(note=key, who=who, at=time_text(self._session.now), operation=operation))
        self._run(update(_NOTES).where(_NOTES.c.key == key).values(seq=self._session.seq))

    def purge(self, ids: Iterable[str]) -> None:
        """Destroy notes, their versions, links, sources of their own and vectors; only a tombstone stays."""
        for id, key in self.keys_of(list(ids)).items():
            hashed = self._run(select(_NOTES.c.text_hash).where(_NOTES.c.key == key)).scalar_one()
            self._session.text.remove(key)
            self._session.sources.purge_of(key)
            self._session.links.purge(id)
            self._run(delete(tables.note_terms).where(tables.note_terms.c.note == key))
            self._run(delete(_NOTES).where(_NOTES.c.key == key))
            if hashed is not None:
                self._session.vectors.purge(hashed)
            self._run(insert(tables.tombstones).values(note=key, id=id, seq=self._session.seq))

    def owned_fields(self, ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """For each id, {field: "given" or "edited"}: what was filled in when it was added, or changed by hand since.

        Analysis replaces neither; what a person edited, machines may only propose to change.
        """
        return {
            id: json.loads(text)
            for some in chunks(list(ids))
            for id, text in self._run(select(_NOTES.c.id, _NOTES.c.edited).where(_NOTES.c.id.in_(some)))
        }

    def _record(self, key: int, version: int, operation: int, changes: Mapping[str, Any]) -> None:
        statement = insert(tables.versions).values(
            operation=operation, note=key, version=version, changes=json.dumps(changes, ensure_ascii=False)
        )
        self._run(statement)

    def _put_terms(self, key: int, note: MemoryNote) -> None:
        rows = {
            (role, value.casefold())
            for role, values in (("tag", note.tags), ("entity", note.entities), ("keyword", note.keywords))
            for value in values
        }
        if rows:
            self._run(insert(tables.note_terms), [{"role": r, "term": t, "note": key} for r, t in sorted(rows)])
