"""What notes state, as rows that are found by subject, predicate and object, now and at an earlier time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.language import normalize
from amem.language.intervals import Evidence
from amem.language.subjects import subject_key
from amem.note import Status
from amem.rendering import fallen
from amem.storage.filters import changed_since, in_scope, scope_values, stood
from amem.storage.rows import note_of, read_moment, read_time, time_text
from amem.storage.sql_values import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from amem.note import Fact, MemoryNote, Overturned
    from amem.storage.store import Session


# What notes state, as rows that are found by subject, predicate and object; ``notes.facts`` is the truth of it.

_NAMES, _PREDICATES = (
    f"{column} IN (SELECT value FROM json_each(:{name}))"
    for column, name in (("f.{0}_key", "names"), ("f.predicate_key", "predicates"))
)
_FROM = "FROM facts AS f JOIN notes ON notes.key = f.note"
#: What took a note's place, unless that was deleted.
_SUCCESSOR = "LEFT JOIN notes AS successor ON successor.id = notes.superseded_by AND successor.status <> 'deleted'"
_REPLACED = "coalesce(successor.valid_from, successor.at) AS replaced"
_SINCE = "coalesce(f.valid_from, notes.valid_from, notes.at)"
_OWNED = "json_extract(CASE WHEN json_valid(notes.edited) THEN notes.edited END, '$.{0}')"
_EVIDENCE = (
    "SELECT f.*, notes.id, notes.key, notes.at, notes.status, notes.superseded_by, notes.speaker,"
    " notes.valid_from AS note_from, notes.valid_to AS note_to,"
    f" coalesce({_OWNED.format('status')}, {_OWNED.format('overturned')}) AS status_owner,"
    f" successor.id AS successor, {_REPLACED} {_FROM} {_SUCCESSOR}"
    f" WHERE {{0}} AND {in_scope()} ORDER BY notes.key, f.place"
)
# On the path of every write.
_HOLDERS = (
    f"SELECT f.note, f.object, f.holds, {_SINCE}, {_REPLACED} {_FROM} {_SUCCESSOR}"
    " WHERE f.subject_key = :subject AND f.predicate_key = :predicate"
    " AND (:object IS NULL OR f.object_key IN (:object, ''))"
    " AND (notes.status = 'active' OR notes.status = 'superseded' AND notes.superseded_by IS NOT NULL)"
    f" AND {in_scope()}"
)
# On the path of every search.
_STATED = (
    f"SELECT {_SINCE} AS since, f.note, f.place, f.subject, f.predicate, f.object, f.subject_key, f.object_key {_FROM}"
    f" WHERE {_NAMES} AND {_PREDICATES} AND {in_scope()} ORDER BY since DESC, f.note DESC LIMIT :limit"
)
_UNENDED = (
    f"SELECT f.note, f.subject, f.predicate, f.object, f.subject_key, f.object_key {_FROM}"
    " WHERE f.note IN (SELECT value FROM json_each(:notes)) AND coalesce(f.valid_to, notes.valid_to, '9') > :at"
    " ORDER BY f.note, f.place"
)
_THERE = (
    "EXISTS (SELECT 1 FROM facts CROSS JOIN notes ON notes.key = facts.note WHERE {0} = json_each.value"
    f" AND predicate_key IN (SELECT asked.value FROM json_each(:predicates) AS asked) AND {in_scope()})"
)
_KNOWN = f"SELECT value FROM json_each(:names) WHERE {_THERE.format('subject_key')} OR {_THERE.format('object_key')}"


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

    def put(self, key: int, note: MemoryNote, *, new: bool = False) -> None:
        """Bring the rows of a note in line with what it states; of a `new` one there are none yet."""
        if not new:
            self._session.change("DELETE FROM facts WHERE note = :key", key=key)
        if note.status is not Status.DELETED:
            self._session.insert("facts", *fact_rows(key, note))

    def about(self, subjects: Iterable[str], predicates: Collection[str] | None = None) -> list[Evidence]:
        """All that notes state of these subjects (spelled in any way, see `subject_key`), oldest arrival first.

        With `predicates` only what they state in these (folded) words.
        """
        about, names = _NAMES.format("subject"), listed(map(subject_key, subjects))
        if predicates is None:
            return self._evidence(about, names=names)
        return self._evidence(f"{about} AND {_PREDICATES}", names=names, predicates=listed(predicates))

    def stating(self, predicates: Collection[str]) -> list[Evidence]:
        """All that notes state of anybody in these (folded) words, oldest arrival first."""
        return self._evidence(_PREDICATES, predicates=listed(predicates))

    def of(self, keys: Sequence[int]) -> list[Evidence]:
        """All that these notes state."""
        return self._evidence("f.note IN (SELECT value FROM json_each(:keys))", keys=listed(map(int, keys)))

    def known(self, names: Collection[str], predicates: Collection[str]) -> set[str]:
        """Those of these (keyed) names that are subject or object of a fact of one of these (folded) predicates."""
        scope = scope_values(self._session.scope)
        return set(self._session.column(_KNOWN, names=listed(names), predicates=listed(predicates), **scope))

    def stated(self, names: Collection[str], predicates: Collection[str], limit: int) -> list[Stated]:
        """Facts of these predicates about these names, as in `known`, what was true last first.

        At most `limit` with a name as their subject, and as many with one as their object.
        """
        asked = {"names": listed(names), "predicates": listed(predicates), "limit": limit}
        rows = {
            (note, place): (since, *row)
            for role in ("subject", "object")
            for since, note, place, *row in self._scoped(_STATED.format(role), **asked)
        }
        latest = sorted(rows, key=lambda at: (rows[at][0], at[0], -at[1]), reverse=True)
        return [Stated(at[0], *rows[at][1:]) for at in latest]

    def unended(self, notes: Sequence[int], at: datetime) -> list[Stated]:
        """What these notes state and neither they nor the facts themselves say is over by then."""
        return [Stated(*row) for row in self._session.rows(_UNENDED, notes=listed(map(int, notes)), at=time_text(at))]

    def holders(self, subject: str, predicate: str, *, object: str | None = None) -> list[Holder]:
        """Who states something of a subject and predicate, and was neither deleted, archived nor taken back.

        With `object` only facts of that value, and those that end whatever was so.
        """
        value = None if object is None else subject_key(object)
        rows = self._scoped(_HOLDERS, subject=subject_key(subject), predicate=normalize(predicate), object=value)
        return [Holder(key, value, bool(holds), since, replaced) for key, value, holds, since, replaced in rows]

    def subjects(self, limit: int = 1000) -> dict[str, int]:
        """Every subject as it was first written, and how many facts there are of it; most first."""
        source = f"{_FROM} WHERE {in_scope()}" if self._session.is_shared else "FROM facts AS f"
        statement = f"SELECT min(f.subject), count(*) AS n {source} GROUP BY f.subject_key"
        return dict(self._scoped(f"{statement} ORDER BY n DESC, f.subject_key LIMIT :limit", limit=limit))

    def _evidence(self, where: str, **asked: Any) -> list[Evidence]:
        rows = self._session.records(_EVIDENCE.format(where), **asked, **scope_values(self._session.scope))
        return self._session.readable(rows, lambda row: f"a fact of note {row['id']}", evidence_of)

    def _scoped(self, statement: str, **asked: Any) -> list[Any]:
        return self._session.rows(statement, **asked, **scope_values(self._session.scope))


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
    now = "SELECT DISTINCT note FROM facts WHERE subject_key IN (SELECT value FROM json_each(:names))"
    keys = set(session.column(now, names=listed(wanted)))
    keys |= changed_since(session, moment, "facts", "overturned", "status")
    notes = _stood(session, "key", sorted(keys), moment)
    successors = {row["superseded_by"] for row in notes if row["superseded_by"] is not None}
    then = {row["id"]: row for row in _stood(session, "id", sorted(successors), moment)}
    settled = changed_since(session, moment, "status")
    return [
        evidence_of(_with_note(fact, row, then, settled))
        for row in sorted(notes, key=lambda row: row["key"])
        if row["status"] != Status.DELETED and session.scope.holds(json.loads(row["metadata"]))
        for fact in _facts_of(row)
        if fact["subject_key"] in wanted
    ]


def _stood(session: Session, column: str, values: Sequence[Any], moment: datetime) -> list[dict[str, Any]]:
    rows = session.records(
        f"SELECT * FROM notes WHERE {column} IN (SELECT value FROM json_each(:these))", these=listed(values)
    )
    return list(stood(session, {row["key"]: row for row in rows}, moment).values())


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
