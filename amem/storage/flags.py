"""Notes that may be out of date, because one that they lean on is no longer so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, insert, select

from amem.errors import NoteNotFound
from amem.note import Status
from amem.storage import tables
from amem.storage.rows import read_moment, time_text

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import RowMapping

    from amem.storage.session import Session

_FLAGS, _NOTES, _OPS = tables.flags, tables.notes, tables.operations
#: Of the rows about one note and one cause the last holds whose operation stands: it raises the flag or dismisses it.
_SAID, _BY = _FLAGS.alias(), _OPS.alias()
_LAST = (
    select(func.max(_SAID.c.id))
    .select_from(_SAID.join(_BY, _BY.c.id == _SAID.c.operation))
    .where(_BY.c.undone_by.is_(None))
    .group_by(_SAID.c.note, _SAID.c.because)
)
_DECIDED = (
    select(_NOTES.c.id, _FLAGS.c.because)
    .select_from(_FLAGS.join(_NOTES, _NOTES.c.key == _FLAGS.c.note).join(_OPS, _OPS.c.id == _FLAGS.c.operation))
    .where(_FLAGS.c.dismissed == 1, _OPS.c.undone_by.is_(None))
)


@dataclass(frozen=True, slots=True)
class Flag:
    """`note` may be out of date `because` that other note was superseded; `reason` says it in words."""

    id: int
    note: str
    because: str
    reason: str
    at: datetime
    operation: int


class Flags:
    """The flags of one transaction: raised and dismissed by operations, of which only those that stand count."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def put(self, id: str, because: str, reason: str, operation: int) -> None:
        """Flag a note. One that a person has dismissed for the same cause stays dismissed."""
        key = self._session.notes.keys_of([id])[id]
        last = _LAST.where(_SAID.c.note == key, _SAID.c.because == because)
        if not self._run(select(_FLAGS.c.dismissed).where(_FLAGS.c.id.in_(last))).scalar_one_or_none():
            self._add(key, because, reason, operation, dismissed=False)

    def open(self, id: str | None = None) -> list[Flag]:
        """Flags of active notes (or of this one) that stand and are not dismissed, oldest first."""
        key = select(_NOTES.c.key).where(_NOTES.c.id == id).scalar_subquery()
        last = _LAST if id is None else _LAST.where(_SAID.c.note == key)
        statement = (
            select(_FLAGS, _NOTES.c.id.label("note_id"))
            .select_from(_FLAGS.join(_NOTES, _NOTES.c.key == _FLAGS.c.note))
            .where(_NOTES.c.status == str(Status.ACTIVE), _FLAGS.c.dismissed == 0, _FLAGS.c.id.in_(last))
            .order_by(_FLAGS.c.id)
        )
        return self._session.readable(self._run(statement).mappings(), lambda row: f"flag {row['id']}", _flag_of)

    def decided(self, id: str) -> set[str]:
        """Notes of which a person has said that this one holds in spite of them, or that they hold in spite of it."""
        pairs = self._run(_DECIDED.where((_NOTES.c.id == id) | (_FLAGS.c.because == id)))
        return {end for pair in pairs for end in pair if end != id}

    def turned_down(self) -> set[frozenset[str]]:
        """Pairs of which a person, shown both, said that the one does not overturn the other."""
        shown = _DECIDED.where(_OPS.c.action.in_(("keep", "reject")))
        return {frozenset(row) for row in self._run(shown)}

    def decided_pairs(self) -> set[frozenset[str]]:
        """All pairs of notes of which a person has said that one holds in spite of the other."""
        return {frozenset(pair) for pair in self._run(_DECIDED)}

    def dismiss(self, id: str, operation: int, because: Collection[str] | None = None) -> int:
        """Say that a note holds in spite of its flags, or of those `because` of some notes; returns how many.

        Raises NoteNotFound.
        """
        key = self._session.notes.keys_of([id]).get(id)
        if key is None:
            raise NoteNotFound(f"no note {id!r}")
        standing = [flag for flag in self.open(id) if because is None or flag.because in because]
        for flag in standing:
            self._add(key, flag.because, flag.reason, operation, dismissed=True)
        return len(standing)

    def _add(self, key: int, because: str, reason: str, operation: int, *, dismissed: bool) -> None:
        row = {"note": key, "because": because, "reason": reason, "operation": operation, "dismissed": int(dismissed)}
        self._run(insert(_FLAGS), row | {"at": time_text(self._session.now)})


def _flag_of(row: RowMapping) -> Flag:
    return Flag(row["id"], row["note_id"], row["because"], row["reason"], read_moment(row["at"]), row["operation"])
