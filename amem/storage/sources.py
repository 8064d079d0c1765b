"""Raw input that notes came from: immutable, kept beside them, findable when nothing else is."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, literal_column, select, true, update

from amem.language import index_terms
from amem.note import Source
from amem.storage import tables
from amem.storage.rows import read_time, time_text
from amem.storage.sql_values import Prepared, among, chunks, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Join

    from amem.storage.store import Session

_SOURCES, _HELD, _OPS = tables.sources, tables.note_sources, tables.operations
# Built once: remembering a long conversation runs them for each of its messages, with the write lock held.
_KEY = select(_SOURCES.c.key).where(_SOURCES.c.id == bindparam("wanted"))
_INSERT, _INSERT_TEXT = insert(_SOURCES), insert(tables.source_text)
_DETACH_UNDONE = delete(_HELD).where(
    _HELD.c.note == bindparam("of_note"),
    _HELD.c.source == bindparam("from_source"),
    _HELD.c.operation.in_(select(_OPS.c.id).where(_OPS.c.undone_by.is_not(None))),
)
_ATTACH = insert(_HELD).prefix_with("OR IGNORE")


@cache
def _of_notes() -> Prepared:
    notes = tables.notes
    return Prepared(
        select(notes.c.id, _SOURCES)
        .select_from(_made_from())
        .where(notes.c.id.in_(among("ids")), _OPS.c.undone_by.is_(None))
        .order_by(_SOURCES.c.ordinal, _SOURCES.c.key)
    )


class Sources:
    """The sources of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def put(self, source: Source, operation: int) -> int:
        """Keep a source and index its text; returns its key. The same id is kept once."""
        known = self._run(_KEY, {"wanted": source.id}).scalar_one_or_none()
        if known is not None:
            return int(known)
        row = {
            "id": source.id,
            "kind": source.kind,
            "conversation": source.conversation,
            "ref": source.ref,
            "speaker": source.speaker,
            "at": None if source.at is None else time_text(source.at),
            "ordinal": source.ordinal,
            "text": source.text,
            "operation": operation,
        }
        key = self._run(_INSERT, row).lastrowid
        assert key is not None
        self._run(_INSERT_TEXT, {"rowid": key, "content": " ".join(index_terms(source.text))})
        return int(key)

    def attach(self, note_key: int, source_key: int, operation: int, *, gathered: bool = False) -> None:
        """Say that the note came (also) from this source; undone with `operation`, and then it counts no more.

        A `gathered` source is not the note's very text: other notes may come from it, too.
        """
        self._run(_DETACH_UNDONE, {"of_note": note_key, "from_source": source_key})
        row = {"note": note_key, "source": source_key, "operation": operation, "gathered": int(gathered)}
        self._run(_ATTACH, row)

    def keys_of(self, ids: Sequence[str]) -> dict[str, tuple[int, str]]:
        """For each of these ids that is stored, its key and kind."""
        found: dict[str, tuple[int, str]] = {}
        for some in chunks(ids):
            statement = select(_SOURCES.c.id, _SOURCES.c.key, _SOURCES.c.kind).where(_SOURCES.c.id.in_(some))
            found |= {id: (key, kind) for id, key, kind in self._run(statement)}
        return found

    def of(self, ids: Sequence[str]) -> dict[str, list[Source]]:
        """For each note id the sources it came from, in their order."""
        found: dict[str, list[Source]] = {id: [] for id in ids}
        columns = _SOURCES.c.keys()
        for note, *values in _of_notes().rows(self._session, ids=listed(found)):
            found[note] += read_sources(self._session, [dict(zip(columns, values, strict=True))])
        return found

    def notes_of(self, ids: Sequence[str], *, own: bool = False) -> dict[str, str]:
        """For each source id that is known, the first note made from it that is not deleted.

        With `own` only a note whose very text the source is, not one that gathered it among others.
        """
        notes = tables.notes
        whose = _HELD.c.gathered == 0 if own else true()
        found: dict[str, str] = {}
        for part in chunks(ids):
            statement = (
                select(_SOURCES.c.id, notes.c.id)
                .select_from(_made_from())
                .where(_SOURCES.c.id.in_(part))
                .where(notes.c.status != "deleted", _OPS.c.undone_by.is_(None), whose)
                .order_by(notes.c.key)
            )
            for source, note in self._run(statement):
                found.setdefault(source, note)
        return found

    def search(self, terms: Sequence[str], limit: int) -> list[Source]:
        """Sources whose text holds any of these index terms, best first by BM25."""
        if not terms:
            return []
        text = tables.source_text
        match = " OR ".join(f'"{term}"' for term in terms)
        statement = (
            select(_SOURCES)
            .select_from(text.join(_SOURCES, _SOURCES.c.key == text.c.rowid))
            .where(text.c.content.op("MATCH")(match))
            .order_by(func.bm25(literal_column("source_text")))
            .limit(limit)
        )
        return read_sources(self._session, self._run(statement).mappings())

    def reword(self, key: int, text: str) -> None:
        """Keep another text of a source, as a purge does that takes sentences out of it."""
        self._run(update(_SOURCES).where(_SOURCES.c.key == key).values(text=text))
        indexed = tables.source_text
        self._run(delete(indexed).where(indexed.c.rowid == key))
        self._run(_INSERT_TEXT, {"rowid": key, "content": " ".join(index_terms(text))})

    def purge_of(self, note_key: int) -> None:
        """Destroy the sources that only this note came from, also where a chat keeps their words."""
        own = select(_HELD.c.source).where(_HELD.c.note == note_key)
        shared = select(_HELD.c.source).where(_HELD.c.note != note_key)
        statement = select(_SOURCES.c.key, _SOURCES.c.id).where(_SOURCES.c.key.in_(own), _SOURCES.c.key.not_in(shared))
        found = self._run(statement).all()
        self._run(delete(_HELD).where(_HELD.c.note == note_key))
        self._session.chats.blank([id for _, id in found])
        self._session.chats.forget(self._session.notes.ids_of([note_key])[note_key])
        for key, _ in found:
            self._run(delete(tables.source_text).where(tables.source_text.c.rowid == key))
            self._run(delete(_SOURCES).where(_SOURCES.c.key == key))

    def count(self) -> int:
        """How many sources there are."""
        return int(self._run(select(func.count()).select_from(_SOURCES)).scalar_one())


def _made_from() -> Join:
    notes = tables.notes
    held = notes.join(_HELD, _HELD.c.note == notes.c.key).join(_SOURCES, _SOURCES.c.key == _HELD.c.source)
    return held.outerjoin(_OPS, _OPS.c.id == _HELD.c.operation)


def read_sources(session: Session, rows: Iterable[Mapping[Any, Any]]) -> list[Source]:
    """Rows of the table as values, but for those that cannot be read."""
    return session.readable(rows, lambda row: f"source {row['id']}", read_source)


def read_source(row: Mapping[Any, Any]) -> Source:
    """A row of the table as a value."""
    return Source(
        id=row["id"],
        kind=row["kind"],
        conversation=row["conversation"],
        ref=row["ref"],
        speaker=row["speaker"],
        at=read_time(row["at"]),
        text=row["text"],
        ordinal=row["ordinal"],
    )
