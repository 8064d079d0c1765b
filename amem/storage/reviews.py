"""What waits for a person: proposed changes, notes in conflict, notes that may be out of date, successions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, exists, func, insert, select

from amem.errors import NoteNotFound, ReviewNotFound
from amem.note import LinkType, Status
from amem.storage import tables
from amem.storage.records import Review
from amem.storage.rows import link_label, link_of, read_moment, read_time, time_text
from amem.storage.sql_values import chunks, valid_json

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy import ColumnElement, RowMapping
    from sqlalchemy.sql.selectable import TableValuedAlias

    from amem.note import Link, MemoryNote
    from amem.storage.store import Session


# The review queue: changes that machines proposed and a person decides.

_REVIEWS, _NOTES, _DECISIONS, _OPS = tables.reviews, tables.notes, tables.decisions, tables.operations
#: What became of a proposal: undone with its operation, else what the last decision that stands says, else still open.
_STATE = case(
    (exists(select(1).where(_OPS.c.id == _REVIEWS.c.operation, _OPS.c.undone_by.is_not(None))), "withdrawn"),
    else_=func.coalesce(
        select(_DECISIONS.c.state)
        .select_from(_DECISIONS.join(_OPS, _OPS.c.id == _DECISIONS.c.operation))
        .where(_DECISIONS.c.review == _REVIEWS.c.id, _OPS.c.undone_by.is_(None))
        .order_by(_DECISIONS.c.id.desc())
        .limit(1)
        .scalar_subquery(),
        "open",
    ),
)


class Reviews:
    """The review queue of one transaction; a newer proposal replaces one for the same note that is open."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def propose(
        self,
        id: str,
        changes: Mapping[str, tuple[Any, Any]],
        *,
        operation: int,
        base_version: int,
        reason: str,
        confidence: float,
        made_by: str,
        days: int,
    ) -> int:
        """Queue a change of plain values {field: (before, after)} for a person; returns the review's id."""
        key = self._session.notes.keys_of([id])[id]
        for item in self._read(_NOTES.c.id == id, _STATE == "open"):
            self.decide(item.id, "replaced", operation)
        now = self._session.now
        statement = insert(_REVIEWS).values(
            note=key,
            operation=operation,
            base_version=base_version,
            changes=json.dumps({field: list(pair) for field, pair in changes.items()}, ensure_ascii=False),
            reason=reason,
            confidence=confidence,
            made_by=made_by,
            created_at=time_text(now),
            expires_at=time_text(now + timedelta(days=days)),
        )
        review = self._run(statement).lastrowid
        assert review is not None
        return int(review)

    def open(self) -> list[Review]:
        """Items that wait and have not expired, oldest first."""
        return self._read(_STATE == "open", _REVIEWS.c.expires_at > time_text(self._session.now))

    def pairs(self, made_by: str) -> set[frozenset[str]]:
        """Every two notes of which this machine ever proposed that one take the other's place."""
        found = self._read(_REVIEWS.c.made_by == made_by)
        return {frozenset((item.note, item.changes["superseded_by"][1])) for item in found if _replaces(item)}

    def of(self, reviews: Sequence[int]) -> list[Review]:
        """These items, whatever became of them."""
        return [item for some in chunks(reviews) for item in self._read(_REVIEWS.c.id.in_(some))]

    def get(self, review: int) -> Review:
        """An open item; raises ReviewNotFound when there is none of this id, or it is decided or expired."""
        found = self._read(_REVIEWS.c.id == review)
        if not found:
            raise ReviewNotFound(f"no review {review}", hint="amem review lists what waits")
        if found[0].state != "open" or found[0].expires_at <= self._session.now:
            state = "expired" if found[0].state == "open" else found[0].state
            raise ReviewNotFound(f"review {review} is {state} already", hint="amem review lists what waits")
        return found[0]

    def decide(self, review: int, state: str, operation: int) -> None:
        """Close an item as accepted, rejected or replaced, for as long as the operation stands."""
        self._run(insert(_DECISIONS).values(review=review, state=state, operation=operation))

    def concerned(self, operations: Sequence[int]) -> list[int]:
        """Ids of the items that these operations proposed or decided, oldest first."""
        found: set[int] = set()
        for some in chunks(operations):
            found |= set(self._run(select(_REVIEWS.c.id).where(_REVIEWS.c.operation.in_(some))).scalars())
            found |= set(self._run(select(_DECISIONS.c.review).where(_DECISIONS.c.operation.in_(some))).scalars())
        return sorted(found)

    def _read(self, *where: Any) -> list[Review]:
        statement = (
            select(_REVIEWS, _NOTES.c.id.label("note_id"), _STATE.label("state"))
            .select_from(_REVIEWS.join(_NOTES, _NOTES.c.key == _REVIEWS.c.note))
            .where(*where)
            .order_by(_REVIEWS.c.id)
        )
        return self._session.readable(self._run(statement).mappings(), lambda row: f"review {row['id']}", _review_of)


def _replaces(item: Review) -> bool:
    return item.changes.get("superseded_by", (None, None))[1] is not None


def _review_of(row: RowMapping) -> Review:
    created, expires = read_time(row["created_at"]), read_time(row["expires_at"])
    assert created is not None
    assert expires is not None
    return Review(
        id=row["id"],
        note=row["note_id"],
        changes={field: (pair[0], pair[1]) for field, pair in json.loads(row["changes"]).items()},
        reason=row["reason"],
        confidence=row["confidence"],
        made_by=row["made_by"],
        created_at=created,
        expires_at=expires,
        state=row["state"],
        operation=row["operation"],
    )


# Notes that are linked as in conflict, both still standing, and of which nobody has said what holds.

#: Links that say of two notes that they do not go together.
IN_CONFLICT = (LinkType.CONTRADICTS, LinkType.SUPERSEDES)


def open_disagreements(session: Session) -> list[Link]:
    """The link of each such pair of active notes, the newest first; of several between two notes the newest."""
    links, one, other = tables.links, tables.notes.alias(), tables.notes.alias()
    statement = (
        select(links)
        .select_from(links.join(one, one.c.id == links.c.source).join(other, other.c.id == links.c.target))
        .where(links.c.type.in_([str(type) for type in IN_CONFLICT]))
        # What ended a statement of a note that stands for the rest is settled.
        .where(~_ended_a_statement(links.c.source, other.c.overturned))
        .where(one.c.status == str(Status.ACTIVE), other.c.status == str(Status.ACTIVE))
        .order_by(links.c.key.desc())
    )
    decided = session.flags.decided_pairs()
    found: dict[frozenset[str], Link] = {}
    for link in session.readable(session.connection.execute(statement).mappings(), link_label, link_of):
        pair = frozenset((link.source, link.target))
        if pair not in decided:
            found.setdefault(pair, link)
    return list(found.values())


def _ended_a_statement(source: ColumnElement[str], overturned: ColumnElement[str]) -> ColumnElement[bool]:
    each: TableValuedAlias = func.json_each(valid_json(overturned)).table_valued("value")
    return exists(select(1).select_from(each).where(func.json_extract(each.c.value, "$.by") == source))


def leaning(session: Session) -> list[Flag]:
    """The flags of notes that lean on something no longer so, and not those of one side of an open disagreement."""
    apart = {(link.target, link.source) for link in open_disagreements(session)}
    return [flag for flag in session.flags.open() if (flag.note, flag.because) not in apart]


# Notes that may be out of date, because one that they lean on is no longer so.

_FLAGS = tables.flags
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


# Notes that took each other's place: what held when, and what holds now.

_MOST = 100
_EVER = datetime.min.replace(tzinfo=UTC)


def supersessions(session: Session, limit: int) -> list[Link]:
    """The links that say of a superseded note what took its place, the newest first."""
    links, old, new = tables.links, tables.notes.alias(), tables.notes.alias()
    statement = (
        select(links)
        .select_from(links.join(old, old.c.id == links.c.target).join(new, new.c.id == links.c.source))
        .where(links.c.type == str(LinkType.SUPERSEDES), old.c.status == str(Status.SUPERSEDED))
        .where(old.c.superseded_by == links.c.source, new.c.status != str(Status.DELETED))
        .order_by(links.c.key.desc())
        .limit(limit)
    )
    return session.readable(session.connection.execute(statement).mappings(), link_label, link_of)


def succession(session: Session, id: str) -> list[MemoryNote]:
    """The note with its predecessors and successors, those of these too, by when they were so; at most a hundred.

    Raises NoteNotFound.
    """
    found: dict[str, MemoryNote] = {}
    fresh = [id]
    while fresh and len(found) < _MOST:
        notes = session.notes.get_many(fresh[: _MOST - len(found)], history=False, usage=False, deleted=True)
        found |= notes
        later = [note.superseded_by for note in notes.values() if note.superseded_by is not None]
        near = dict.fromkeys([*session.notes.replaced_by(list(notes)), *later])
        fresh = [each for each in near if each not in found]
    if id not in found:
        raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
    return sorted(found.values(), key=lambda note: note.valid_from or note.at or note.recorded_at or _EVER)
