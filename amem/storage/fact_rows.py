"""What notes state, as rows that are found by subject, predicate and object, now and at an earlier time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, bindparam, column, delete, func, insert, select, text

from amem.language import normalize
from amem.language.intervals import Evidence
from amem.language.subjects import subject_key
from amem.note import Status
from amem.rendering import fallen
from amem.storage import tables
from amem.storage.filters import changed_since, in_scope, scope_values, stood
from amem.storage.rows import note_of, read_moment, read_time, time_text
from amem.storage.sql_values import Prepared, chunks, listed, valid_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnClause, ColumnElement, Executable

    from amem.note import Fact, MemoryNote, Overturned
    from amem.storage.store import Session


# What notes state, as rows that are found by subject, predicate and object; ``notes.facts`` is the truth of it.

_FACTS, _NOTES = tables.facts, tables.notes
_INSERT = insert(_FACTS)
_CLEAR = delete(_FACTS).where(_FACTS.c.note == bindparam("wanted"))


def _evidence() -> Select[Any]:
    successor = _NOTES.alias()
    owned = valid_json(_NOTES.c.edited)
    return (
        select(_FACTS)
        .add_columns(_NOTES.c.id, _NOTES.c.key, _NOTES.c.at, _NOTES.c.status, _NOTES.c.superseded_by, _NOTES.c.speaker)
        .add_columns(_NOTES.c.valid_from.label("note_from"), _NOTES.c.valid_to.label("note_to"))
        .add_columns(
            func.coalesce(
                func.json_extract(owned, "$.status"),
                func.json_extract(owned, "$.overturned"),
            ).label("status_owner")
        )
        .add_columns(successor.c.id.label("successor"))
        .add_columns(func.coalesce(successor.c.valid_from, successor.c.at).label("replaced"))
        .select_from(
            _FACTS.join(_NOTES, _NOTES.c.key == _FACTS.c.note).outerjoin(
                successor,
                (successor.c.id == _NOTES.c.superseded_by) & (successor.c.status != str(Status.DELETED)),
            )
        )
        .where(text(in_scope()))
        .order_by(_NOTES.c.key, _FACTS.c.place)
    )


_EVIDENCE = _evidence()


def _holders() -> Select[Any]:
    successor = _NOTES.alias()
    return (
        select(_FACTS.c.note, _FACTS.c.object, _FACTS.c.holds)
        .add_columns(func.coalesce(_FACTS.c.valid_from, _NOTES.c.valid_from, _NOTES.c.at).label("since"))
        .add_columns(func.coalesce(successor.c.valid_from, successor.c.at).label("replaced"))
        .select_from(
            _FACTS.join(_NOTES, _NOTES.c.key == _FACTS.c.note).outerjoin(
                successor,
                (successor.c.id == _NOTES.c.superseded_by) & (successor.c.status != str(Status.DELETED)),
            )
        )
        .where(_FACTS.c.subject_key == bindparam("subject"), _FACTS.c.predicate_key == bindparam("predicate"))
        .where(
            (_NOTES.c.status == str(Status.ACTIVE))
            | ((_NOTES.c.status == str(Status.SUPERSEDED)) & _NOTES.c.superseded_by.is_not(None))
        )
        .where(text(in_scope()))
    )


# On the path of every write.
_HOLDERS = _holders()
_HOLDERS_OF_ONE = _HOLDERS.where(_FACTS.c.object_key.in_((bindparam("object"), "")))


def _stated(column: ColumnElement[str]) -> Select[Any]:
    since = func.coalesce(_FACTS.c.valid_from, _NOTES.c.valid_from, _NOTES.c.at).label("since")
    return (
        select(since, _FACTS.c.note, _FACTS.c.place, _FACTS.c.subject, _FACTS.c.predicate, _FACTS.c.object)
        .add_columns(_FACTS.c.subject_key, _FACTS.c.object_key)
        .select_from(_FACTS.join(_NOTES, _NOTES.c.key == _FACTS.c.note))
        .where(column.in_(_values("names")), _FACTS.c.predicate_key.in_(_values("predicates")), text(in_scope()))
        .order_by(since.desc(), _FACTS.c.note.desc())
        .limit(bindparam("limit"))
    )


def _values(name: str) -> Select[Any]:
    # As one JSON parameter: an IN list takes SQLAlchemy longer to write out than SQLite to answer.
    value: ColumnClause[str] = column("value")
    return select(value).select_from(func.json_each(bindparam(name)))


_ABOUT = _EVIDENCE.where(_FACTS.c.subject_key.in_(_values("names")))
_ABOUT_THAT = _ABOUT.where(_FACTS.c.predicate_key.in_(_values("predicates")))
_STATING = _EVIDENCE.where(_FACTS.c.predicate_key.in_(_values("predicates")))
_UNENDED = (
    select(_FACTS.c.note, _FACTS.c.subject, _FACTS.c.predicate, _FACTS.c.object)
    .add_columns(_FACTS.c.subject_key, _FACTS.c.object_key)
    .select_from(_FACTS.join(_NOTES, _NOTES.c.key == _FACTS.c.note))
    .where(_FACTS.c.note.in_(_values("notes")))
    .where(func.coalesce(_FACTS.c.valid_to, _NOTES.c.valid_to, "9") > bindparam("at"))
    .order_by(_FACTS.c.note, _FACTS.c.place)
)
# On the path of every search.
_STATED = (_stated(_FACTS.c.subject_key), _stated(_FACTS.c.object_key))
_THERE = (
    "EXISTS (SELECT 1 FROM facts CROSS JOIN notes ON notes.key = facts.note WHERE {0} = json_each.value"
    f" AND predicate_key IN (SELECT asked.value FROM json_each(:predicates) AS asked) AND {in_scope()})"
)
_KNOWN = Prepared(
    f"SELECT value FROM json_each(:names) WHERE {_THERE.format('subject_key')} OR {_THERE.format('object_key')}"
)


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact in the words of the note (by its key) that states it, and the keys of the names it is about."""

    note: int
    subject: str
    predicate: str
    object: str
    subject_key: str
    object_key: str


@dataclass(frozen=True, slots=True)
class Holder:
    """A fact of an active or superseded note: since when it was (or was no longer) so, and when it was `replaced`.

    Times are as they are stored: UTC text that sorts as it reads.
    """

    key: int
    object: str
    holds: bool
    since: str
    replaced: str | None


class Facts:
    """The facts of one transaction, in its scope. Those of deleted notes are not there until the notes are restored."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def put(self, key: int, note: MemoryNote) -> None:
        """Bring the rows of a note in line with what it states."""
        self._run(_CLEAR, {"wanted": key})
        if note.facts and note.status is not Status.DELETED:
            self._run(_INSERT, fact_rows(key, note))

    def about(self, subjects: Iterable[str], predicates: Collection[str] | None = None) -> list[Evidence]:
        """All that notes state of these subjects (spelled in any way, see `subject_key`), oldest arrival first.

        With `predicates` only what they state in these (folded) words.
        """
        asked = {"names": json.dumps([subject_key(subject) for subject in subjects])}
        if predicates is None:
            return self._evidence(self._scoped(_ABOUT, asked))
        asked["predicates"] = json.dumps(list(predicates))
        return self._evidence(self._scoped(_ABOUT_THAT, asked))

    def stating(self, predicates: Collection[str]) -> list[Evidence]:
        """All that notes state of anybody in these (folded) words, oldest arrival first."""
        asked = {"predicates": json.dumps(list(predicates))}
        return self._evidence(self._scoped(_STATING, asked))

    def of(self, keys: Sequence[int]) -> list[Evidence]:
        """All that these notes state."""
        return [
            each
            for some in chunks([int(key) for key in keys])
            for each in self._evidence(self._scoped(_EVIDENCE.where(_FACTS.c.note.in_(some)), {}))
        ]

    def known(self, names: Collection[str], predicates: Collection[str]) -> set[str]:
        """Those of these (keyed) names that are subject or object of a fact of one of these (folded) predicates."""
        scope = scope_values(self._session.scope)
        found = _KNOWN.rows(self._session, names=listed(names), predicates=listed(predicates), **scope)
        return {name for (name,) in found}

    def stated(self, names: Collection[str], predicates: Collection[str], limit: int) -> list[Stated]:
        """Facts of these predicates about these names, as in `known`, what was true last first.

        At most `limit` with a name as their subject, and as many with one as their object.
        """
        asked = {"names": json.dumps(list(names)), "predicates": json.dumps(list(predicates)), "limit": limit}
        rows = {
            (note, place): (since, *row) for each in _STATED for since, note, place, *row in self._scoped(each, asked)
        }
        latest = sorted(rows, key=lambda at: (rows[at][0], at[0], -at[1]), reverse=True)
        return [Stated(at[0], *rows[at][1:]) for at in latest]

    def unended(self, notes: Sequence[int], at: datetime) -> list[Stated]:
        """What these notes state and neither they nor the facts themselves say is over by then."""
        asked = {"notes": json.dumps([int(key) for key in notes]), "at": time_text(at)}
        return [Stated(*row) for row in self._run(_UNENDED, asked)]

    def holders(self, subject: str, predicate: str, *, object: str | None = None) -> list[Holder]:
        """Who states something of a subject and predicate, and was neither deleted, archived nor taken back.

        With `object` only facts of that value, and those that end whatever was so.
        """
        statement = _HOLDERS if object is None else _HOLDERS_OF_ONE
        asked = {"subject": subject_key(subject), "predicate": normalize(predicate)}
        if object is not None:
            asked["object"] = subject_key(object)
        return [
            Holder(key, value, bool(holds), since, replaced)
            for key, value, holds, since, replaced in self._scoped(statement, asked)
        ]

    def subjects(self, limit: int = 1000) -> dict[str, int]:
        """Every subject as it was first written, and how many facts there are of it; most first."""
        count = func.count()
        statement = select(func.min(_FACTS.c.subject), count).group_by(_FACTS.c.subject_key)
        if self._session.is_shared:
            statement = statement.join(_NOTES, _NOTES.c.key == _FACTS.c.note).where(text(in_scope()))
        ordered = statement.order_by(count.desc(), _FACTS.c.subject_key).limit(limit)
        return {name: n for name, n in self._scoped(ordered, {})}

    def _evidence(self, rows: Any) -> list[Evidence]:
        return self._session.readable(rows.mappings(), lambda row: f"a fact of note {row['id']}", evidence_of)

    def _scoped(self, statement: Executable, asked: Mapping[str, Any]) -> Any:
        return self._run(statement, {**asked, **scope_values(self._session.scope)})


def fact_rows(key: int, note: MemoryNote) -> list[dict[str, Any]]:
    """The facts of a note as rows of the index; what an overturned statement stated ended with it."""
    gone = fallen(note)
    return [_row(key, place, fact, gone.get(place)) for place, fact in enumerate(note.facts)]


def _row(key: int, place: int, fact: Fact, told: Overturned | None) -> dict[str, Any]:
    ends = [at for at in (fact.valid_to, None if told is None else told.until) if at is not None]
    return {
        "note": key,
        "place": place,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "subject_key": subject_key(fact.subject),
        "predicate_key": normalize(fact.predicate),
        "object_key": subject_key(fact.object),
        "holds": int(fact.holds),
        "valid_from": None if fact.valid_from is None else time_text(fact.valid_from),
        "valid_to": time_text(min(ends)) if ends else None,
    }


def evidence_of(row: Mapping[Any, Any]) -> Evidence:
    """Evidence from a row of a fact with its note's and what superseded that."""
    superseded = row["status"] == Status.SUPERSEDED
    dated = row["valid_from"] or row["note_from"]
    begun = dated or row["at"]
    return Evidence(
        note=row["id"],
        order=row["key"],
        subject=row["subject"],
        predicate=row["predicate"],
        object=row["object"],
        holds=bool(row["holds"]),
        since=read_moment(begun),
        until=read_time(row["valid_to"] or (None if superseded else row["note_to"])),
        said=read_moment(row["at"]),
        speaker=row["speaker"],
        status=Status(row["status"]),
        successor=row["successor"] if superseded else None,
        retracted=superseded and row["superseded_by"] is None,
        # What is superseded is not so any more, even where nothing says since when.
        ended=read_moment(row["note_to"] or row["replaced"] or begun) if superseded else None,
        kept=row["status_owner"] == "edited" and not superseded,
        dated=dated is not None,
    )


# What notes stated at an earlier time, by their versions; the index of facts knows the present only.


def told_at(session: Session, subjects: Sequence[str], moment: datetime) -> list[Evidence]:
    """All that notes stated of these subjects as they stood at `moment`, oldest arrival first.

    Notes that were deleted since are among them.
    """
    wanted = {subject_key(subject) for subject in subjects}
    # Whoever states it now stated it then, but for those whose facts or status changed in between.
    now = select(_FACTS.c.note).where(_FACTS.c.subject_key.in_(wanted)).distinct()
    moved = changed_since(moment, "facts", "overturned", "status")
    keys = {int(key) for statement in (now, moved) for key in session.connection.execute(statement).scalars()}
    notes = _stood(session, _NOTES.c.key, sorted(keys), moment)
    successors = {row["superseded_by"] for row in notes if row["superseded_by"] is not None}
    then = {row["id"]: row for row in _stood(session, _NOTES.c.id, sorted(successors), moment)}
    settled = set(session.connection.execute(changed_since(moment, "status")).scalars())
    return [
        evidence_of(_with_note(fact, row, then, settled))
        for row in sorted(notes, key=lambda row: row["key"])
        if row["status"] != Status.DELETED and session.scope.holds(json.loads(row["metadata"]))
        for fact in _facts_of(row)
        if fact["subject_key"] in wanted
    ]


def _stood(session: Session, column: Any, values: Sequence[Any], moment: datetime) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for some in chunks(values):
        rows = session.connection.execute(select(_NOTES).where(column.in_(some))).mappings()
        found += stood(session, {row["key"]: row for row in rows}, moment).values()
    return found


def _facts_of(row: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    return fact_rows(row["key"], note_of(row))


def _with_note(
    fact: Mapping[str, Any], row: Mapping[str, Any], then: Mapping[str, Mapping[str, Any]], settled: set[int]
) -> dict[str, Any]:
    """A row as `evidence_of` reads it. Whoever owns the status now may not have owned it before it changed."""
    successor = then.get(row["superseded_by"])
    if successor is not None and successor["status"] == Status.DELETED:
        successor = None
    owned = json.loads(row["edited"]).get("status")
    return {
        **fact,
        **{name: row[name] for name in ("id", "key", "at", "status", "superseded_by", "speaker")},
        "note_from": row["valid_from"],
        "note_to": row["valid_to"],
        "status_owner": None if row["key"] in settled else owned,
        "successor": None if successor is None else successor["id"],
        "replaced": None if successor is None else successor["valid_from"] or successor["at"],
    }
