"""Between Python and SQLite: notes, times and versions as values of rows, columns at once, filters as conditions."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from amem.errors import StorageCorrupt
from amem.note import (
    SCOPES,
    Enrichment,
    Fact,
    Kind,
    Layer,
    Link,
    LinkType,
    MemoryNote,
    Overturned,
    Status,
    plain_fields,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from enum import StrEnum

    import numpy as np
    from numpy.typing import NDArray

    from amem.note import Scope
    from amem.query import Filter
    from amem.storage.store import Session


_Item = TypeVar("_Item")
_SHOWN = 60
#: What reading a value that is none raises.
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, OverflowError, StorageCorrupt)
#: When it was where nobody can tell.
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_JSON = frozenset({"keywords", "tags", "entities", "facts", "overturned", "metadata"})
_ENUMS: Mapping[str, type[StrEnum]] = {"kind": Kind, "layer": Layer, "status": Status, "enrichment": Enrichment}
_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("content", "context", "category", "timestamp", "analyst"), str),
    **dict.fromkeys(("superseded_by", "conversation_id", "speaker"), (str, type(None))),
    "ordinal": (int, type(None)),
    "importance": (int, float),
    **dict.fromkeys(("keywords", "tags", "entities", "facts", "overturned"), list),
    "metadata": dict,
}

#: Note fields that are columns of their own and whose changes are versioned.
VERSIONED = (
    *("content", "keywords", "tags", "entities", "facts", "context", "category", "timestamp", "at", "kind", "layer"),
    *("status", "importance", "pinned", "superseded_by", "valid_from", "valid_to", "conversation_id", "ordinal"),
    *("overturned", "speaker", "metadata", "enrichment", "analyst"),
)


#: What sort of word a note's term is, as the database has it.
ROLE: Mapping[str, int] = {"keyword": 0, "tag": 1, "entity": 2}


#: Who made the note ``n``: the actor of its first version.
AUTHOR = (
    "(SELECT o.actor FROM versions AS v JOIN operations AS o ON o.id = v.operation"
    " WHERE v.note = n.key AND v.version = 1)"
)


class Part:
    """A part of a session, such as its links: what can be read and written of them in one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session


class Undecoded(str):
    """Text out of a damaged row that is not UTF-8, with a stand-in for each byte that is wrong."""


def stored_text(raw: bytes) -> str:
    """Text as SQLite keeps it: what is not UTF-8 stops no query, but only who reads that row."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return Undecoded(raw.decode("utf-8", "replace"))


def refuse_undecoded(row: Mapping[Any, Any]) -> None:
    """Raise StorageCorrupt that names the column where a row holds text that is not UTF-8."""
    if Undecoded in map(type, row.values()):
        name = next(name for name, value in row.items() if type(value) is Undecoded)
        raise StorageCorrupt(f"its {name} is not UTF-8")


def time_text(moment: datetime) -> str:
    """UTC text that sorts as it reads, always with microseconds."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def read_time(text: str | None) -> datetime | None:
    """The inverse of `time_text`; None stays None. Raises StorageCorrupt."""
    return None if text is None else read_moment(text)


def read_moment(text: str) -> datetime:
    """The inverse of `time_text`, of a time that is always there. Raises StorageCorrupt."""
    try:
        moment = datetime.fromisoformat(text)
    except (ValueError, TypeError) as error:
        raise unreadable("a stored time", f"it is {text!r}") from error
    if moment.tzinfo is None:
        raise unreadable("a stored time", f"{text!r} has no zone")
    return moment


def moment_or_never(text: Any) -> datetime:
    """A stored time for ranking, which a row that cannot be read must not stop; whoever shows the row says so."""
    try:
        return read_moment(text)
    except StorageCorrupt:
        return _NEVER


def unreadable(what: str, why: object) -> StorageCorrupt:
    """The error that says which row cannot be read."""
    return StorageCorrupt(
        f"{what} cannot be read: {why}", hint="amem doctor names every such row; restore a backup from before"
    )


def plain(field: str, value: Any) -> Any:
    """A note field's value as JSON-ready data."""
    if value is not None and field in _PLAIN:
        return _PLAIN[field][0](value)
    return list(value) if isinstance(value, tuple) else value


def from_plain(field: str, value: Any) -> Any:
    """The inverse of `plain`."""
    return value if value is None or field not in _PLAIN else _PLAIN[field][1](value)


def _fact_plain(fact: Fact) -> list[Any]:
    """Three values where a fact says no more than that: so were all of them written once."""
    parts: list[Any] = [fact.subject, fact.predicate, fact.object]
    if fact.holds and fact.valid_from is None and fact.valid_to is None:
        return parts
    times = [None if each is None else time_text(each) for each in (fact.valid_from, fact.valid_to)]
    return [*parts, fact.holds, *times]


def _fact_of(parts: Sequence[Any]) -> Fact:
    subject, predicate, object_, *rest = parts
    if not rest:
        return Fact(subject, predicate, object_)
    holds, since, until = rest
    return Fact(subject, predicate, object_, bool(holds), read_time(since), read_time(until))


def overturned_of(held: Mapping[str, Any]) -> Overturned:
    """The inverse of `plain_fields`. Raises KeyError, TypeError or ValueError for what is none."""
    return Overturned(**{**held, "until": datetime.fromisoformat(held["until"])})


#: How values of these fields become JSON-ready, and how they are made of that again.
_PLAIN: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    **dict.fromkeys(("at", "valid_from", "valid_to", "recorded_at"), (time_text, read_moment)),
    **{field: (str, made) for field, made in _ENUMS.items()},
    "facts": (lambda facts: [*map(_fact_plain, facts)], lambda held: [*map(_fact_of, held)]),
    "overturned": (lambda told: [*map(plain_fields, told)], lambda held: [*map(overturned_of, held)]),
}
#: Text that may hold any character, as JSON; made once, since `json.dumps` would make an encoder for each value.
as_json = json.JSONEncoder(ensure_ascii=False).encode
_from_json = json.JSONDecoder().decode


def cell(field: str, value: Any) -> Any:
    """A plain value as SQLite keeps it."""
    if field in _JSON:
        return as_json(value)
    return int(value) if field == "pinned" else value


def from_cell(field: str, value: Any) -> Any:
    """The inverse of `cell`."""
    if field in _JSON:
        return json.loads(value)
    return bool(value) if field == "pinned" else value


def _reader(field: str) -> Callable[[Any], Any] | None:
    """The function that turns a column's value into the note's; None where they are the same."""
    if field in _ENUMS:
        return {str(each): each for each in _ENUMS[field]}.__getitem__
    if field == "metadata":
        return lambda text: {} if text == "{}" else _from_json(text)
    if field in _JSON:
        read = _PLAIN[field][1] if field in _PLAIN else None
        return lambda text: [] if text == "[]" else _from_json(text) if read is None else read(_from_json(text))
    return bool if field == "pinned" else _PLAIN[field][1] if field in _PLAIN else None


#: Each versioned field with its reader and its type: a search reads hundreds of notes, an add its neighbours.
_FIELDS = tuple((field, _reader(field), _TYPES.get(field)) for field in VERSIONED)


def note_of(row: Mapping[Any, Any]) -> MemoryNote:
    """A note from its row, without what other tables say of it (links, usage, trust, history).

    Raises StorageCorrupt.
    """
    field = "recorded_at"
    try:
        refuse_undecoded(row)
        values: dict[str, Any] = {field: read_time(row[field])}
        for field, read, kind in _FIELDS:
            value = row[field]
            if read is not None and value is not None:
                value = read(value)
            if kind is not None and not isinstance(value, kind):
                raise TypeError(field)
            values[field] = value
        field = "importance"
        if not math.isfinite(values[field]):
            raise ValueError(field)
    except UNREADABLE as error:
        undecoded = type(error) is StorageCorrupt and "UTF-8" in str(error)
        raise unreadable(
            f"note {row['id']}", error if undecoded else f"its {field} is {shortened(row[field])}"
        ) from error
    return MemoryNote(id=row["id"], version=row["version"], **values)


def shortened(value: Any) -> str:
    """A value of the database, as it may be shown in an error."""
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


#: How a column is read for a field of a type that SQLite has not got, by the type's name.
_READ_AS: Mapping[str, Callable[[Any], Any]] = {
    "datetime": read_moment,
    "datetime | None": read_time,
    "bool": bool,
    **{each.__name__: each for each in (Kind, Layer, Status, Enrichment, LinkType)},
}


@cache
def _fields_of(made: type[Any]) -> tuple[tuple[str, Callable[[Any], Any] | None], ...]:
    return tuple((name, _READ_AS.get(each.type)) for name, each in made.__dataclass_fields__.items())


def from_row(made: type[_Item], row: Mapping[str, Any], **read: Any) -> _Item:
    """A dataclass from a row: each field is the column of that name, read as its type says, or as it is given here."""
    for name, reader in _fields_of(made):  # type: ignore[arg-type]  # a class can be looked up
        if name not in read:
            read[name] = row[name] if reader is None else reader(row[name])
    return made(**read)


def flat_fields(item: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, as they are: `dataclasses.asdict` copies each and takes ten times as long."""
    return {name: getattr(item, name) for name in item.__dataclass_fields__}


def link_label(row: Mapping[Any, Any]) -> str:
    """The name of a link's row in an error."""
    return f"the link from {row['source']} to {row['target']}"


def link_of(row: Mapping[Any, Any]) -> Link:
    """A link from its row. Raises StorageCorrupt."""
    try:
        refuse_undecoded(row)
        return from_row(Link, row, confidence=_finite(row["confidence"]), weight=_finite(row["weight"]))
    except UNREADABLE as error:
        raise unreadable(link_label(row), error) from error


def _finite(value: Any) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{shortened(value)} is no number")
    return value


def link_plain(link: Link) -> dict[str, Any]:
    """A link's changeable part as JSON-ready data."""
    return {"reason": link.reason, "confidence": link.confidence, "made_by": link.made_by, "at": time_text(link.at)}


AT_ONCE = 500


def chunks(items: Sequence[_Item], size: int | None = None) -> Iterator[list[_Item]]:
    """Slices of `size` (None: 500): what is written in one transaction keeps others waiting no longer than it takes."""
    size = size or AT_ONCE
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


#: What SQLite takes as it is.
_TAKEN = frozenset((str, int, float, bool, bytes, type(None)))


def parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a statement as SQLite takes them: a time as its text, several values as one JSON list."""
    return {name: value if type(value) in _TAKEN else _parameter(value) for name, value in values.items()}


def _parameter(value: Any) -> Any:
    if isinstance(value, datetime):
        return time_text(value)
    # Numbers of NumPy's are no numbers to JSON.
    return value if isinstance(value, str | int) else json.dumps(list(value), default=int)


def coded(column: str, values: Iterable[str], other: int) -> str:
    """The place of a column's value among these, as SQL; `other` for what a damaged row holds."""
    places = " ".join(f"WHEN '{each}' THEN {place}" for place, each in enumerate(values))
    return f"CASE {column} {places} ELSE {other} END"


def in_scope(notes: str = "notes", column: str = "metadata") -> str:
    """A condition that a row of ``notes`` (under this alias) is within the session's scope, or that of `scope_values`.

    In SQL what `amem.note.Scope.holds` is in Python. Of another table `column` holds the ids.
    """
    held = f"coalesce(CAST(json_extract({notes}.{column}, '$.{{0}}') AS TEXT), '')"
    return " AND ".join(f"(:{name} IS NULL OR {held.format(name)} = :{name})" for name in SCOPES)


def scope_values(scope: Scope) -> dict[str, str | None]:
    """The parameters of `in_scope`."""
    return {name: getattr(scope, name) for name in SCOPES}


# Columns of a hundred thousand rows at once: SQLite writes each as one text, which is sooner read than the rows.

#: Characters of a time to the second; what follows are its fractions.
_SECONDS = len("2026-03-01T09:00:00")
_NO_TIME = "1970-01-01T00:00:00"
_D = "[0-9]"
_TIME = f"{_D * 4}-[01]{_D}-[0-3]{_D}T[0-2]{_D}:[0-5]{_D}:[0-5]{_D}*"


def keys_from(session: Session, statement: str, **given: Any) -> NDArray[np.int64]:
    """The column `key` of what the statement selects, in its order."""
    return columns(session, statement, whole=("key",), **given)["key"]


def columns(
    session: Session,
    statement: str,
    *,
    whole: Sequence[str] = (),
    real: Sequence[str] = (),
    times: Sequence[str] = (),
    **given: Any,
) -> dict[str, NDArray[Any]]:
    """Columns of what the statement selects, by name, their rows in its order; none may hold a NULL.

    Whole numbers, real ones (to 15 digits) and times (UTC, to the second). `given` are its parameters.
    """
    import numpy as np  # which takes longer to import than most commands take to read what they show

    # A value of a damaged row counts as 0, a time as 1970: whoever shows such a row says that it cannot be read.
    joined = [f"group_concat(CAST({name} AS INTEGER))" for name in whole]
    joined += [f"group_concat(CAST({name} AS REAL))" for name in real]
    joined += [
        f"group_concat(CASE WHEN {name} GLOB '{_TIME}' THEN substr({name}, 1, {_SECONDS}) ELSE '{_NO_TIME}' END, '')"
        for name in times
    ]
    # SQLite keeps the order of a subquery that is read by an aggregate such as this one.
    (row,) = session.rows(f"SELECT {', '.join(joined)} FROM ({statement})", **given)
    texts = dict(zip((*whole, *real, *times), (text or "" for text in row), strict=True))
    found: dict[str, NDArray[Any]] = {name: np.fromstring(texts[name], dtype=np.int64, sep=",") for name in whole}
    found |= {name: np.fromstring(texts[name], dtype=np.float64, sep=",") for name in real}
    for name in times:
        read = np.frombuffer(texts[name].encode("ascii"), dtype=f"S{_SECONDS}")
        try:
            found[name] = read.astype("datetime64[s]")
        except ValueError:  # such as the 31st of February
            found[name] = np.array(
                [moment_or_never(f"{each.decode()}Z").replace(tzinfo=None) for each in read], dtype="datetime64[s]"
            )
    return found


def patched(
    column: NDArray[Any], keys: NDArray[np.int64], values: Any, gone: NDArray[np.int64] | None = None
) -> NDArray[Any]:
    """A copy of a column by key, where -1 is none, with these `values` for `keys` and none for those `gone`."""
    import numpy as np

    grown = np.full(max(len(column), int(keys.max(initial=-1)) + 1), -1, dtype=column.dtype)
    grown[: len(column)] = column
    if gone is not None:
        grown[gone[gone < len(grown)]] = -1
    grown[keys] = values
    return grown


# Notes as they stood at an earlier time: what was changed since, taken back version by version.

#: Changes after a moment; the first version of a note is no change.
_LATER = "FROM versions AS v JOIN operations AS o ON o.id = v.operation WHERE o.at > :known_at AND v.version > 1"


def stood(session: Session, rows: Mapping[int, Mapping[str, Any]], moment: datetime) -> dict[int, dict[str, Any]]:
    """These rows of ``notes``, by key, with every versioned field and `version` as at `moment`.

    Notes that did not exist yet are left out.
    """
    there = {key: dict(row) for key, row in rows.items() if row["recorded_at"] <= time_text(moment)}
    since = f"SELECT v.note, v.version, v.changes {_LATER} AND v.note IN :keys ORDER BY v.note, v.version DESC"
    for key, version, changes in session.rows(since, keys=there, known_at=moment):
        there[key] |= {field: cell(field, before) for field, (before, _) in json.loads(changes).items()}
        there[key]["version"] = version - 1
    return there


def changed_since(session: Session, moment: datetime, *fields: str) -> set[int]:
    """Keys of the notes of which one of these fields was changed after `moment`."""
    touched = " OR ".join(f"json_type(v.changes, '$.{name}') IS NOT NULL" for name in fields)
    return set(session.column(f"SELECT DISTINCT v.note {_LATER} AND ({touched})", known_at=moment))


def _then(name: str, known_at: datetime | None) -> str:
    """SQL for the value of a column of ``notes`` now, or at `known_at` (for notes that existed then)."""
    if known_at is None:
        return f"notes.{name}"
    first = (
        f"{_LATER} AND v.note = notes.key AND json_type(v.changes, '$.{name}') IS NOT NULL ORDER BY v.version LIMIT 1"
    )
    return (
        f"CASE WHEN notes.key NOT IN (SELECT v.note {_LATER}) THEN notes.{name} WHEN EXISTS (SELECT 1 {first})"
        f" THEN (SELECT json_extract(v.changes, '$.{name}[0]') {first}) ELSE notes.{name} END"
    )


# A ``Filter`` as SQL conditions on the notes table.

#: Whole numbers of fewer digits fit into SQLite's.
_DIGITS = 19


def conditions(wanted: Filter) -> tuple[str, dict[str, Any]]:
    """The SQL condition for rows of ``notes`` that pass the filter, and the values of its parameters."""
    found: list[str] = []
    values: dict[str, Any] = {}

    def meets(condition: str, value: Any) -> None:
        """One condition on one value, for which ``?`` stands."""
        name = f"p{len(values)}"
        found.append(condition.replace("?", f":{name}"))
        values[name] = value

    def among(column: str, names: Iterable[str]) -> None:
        meets(f"{column} IN ?", names)

    statuses, known_at = wanted.statuses, wanted.known_at
    if known_at is not None:
        values["known_at"] = known_at
        found.append("notes.recorded_at <= :known_at")
    if wanted.as_of is not None:
        # It had begun to be so, and had not yet ended: by its own word, or as what took its place began. What had
        # ended before it was said was so before that, nobody said since when.
        statuses = tuple({*statuses, Status.SUPERSEDED})
        values["as_of"] = wanted.as_of
        begun = f"coalesce({_then('valid_from', known_at)}, {_then('at', known_at)})"
        replaced = (
            "(SELECT coalesce(newer.valid_from, newer.at) FROM notes AS newer"
            f" WHERE newer.id = {_then('superseded_by', known_at)})"
        )
        ended = f"coalesce({_then('valid_to', known_at)}, {replaced})"
        found.append(f"({begun} <= :as_of OR {ended} < {begun}) AND ({ended} IS NULL OR {ended} > :as_of)")
    if known_at is None:
        # Written out, or SQLite would use no partial index.
        found.append(f"notes.status IN ({', '.join(repr(str(status)) for status in statuses)})")
    else:
        among(_then("status", known_at), statuses)
    tagged = f"notes.key IN (SELECT note FROM note_terms WHERE role = {ROLE['tag']} AND term = ?)"
    if Status.DELETED in statuses:  # no terms are kept of what was deleted
        held = "iif(json_valid(notes.tags), notes.tags, '[]')"
        listed_there = f"notes.status = 'deleted' AND ? IN (SELECT lower(value) FROM json_each({held}))"
        tagged = f"({tagged} OR {listed_there})"
    for tag in wanted.tags:
        meets(tagged, tag.casefold())
    if wanted.kinds:
        among("notes.kind", wanted.kinds)
    if wanted.layers:
        among("notes.layer", wanted.layers)
    for name in ("category", "speaker"):
        if (value := getattr(wanted, name)) is not None:
            meets(f"lower(notes.{name}) = ?", value.lower())
    if wanted.conversation is not None:
        meets("notes.conversation_id = ?", wanted.conversation)
    if wanted.part_of is not None:
        meets("notes.id IN (SELECT source FROM links WHERE target = ? AND type = 'part_of')", wanted.part_of)
    if wanted.since is not None:
        meets("notes.at >= ?", wanted.since)
    if wanted.until is not None:
        meets("notes.at < ?", wanted.until)
    for key, value in wanted.metadata.items():
        values[f"path{len(values)}"] = f'$."{key}"'
        path = f":path{len(values) - 1}"
        if isinstance(value, bool):
            # SQLite reads JSON true as 1; without the type the number 1 would pass for true.
            meets(f"json_type(notes.metadata, {path}) = ?", "true" if value else "false")
        else:
            types = "'text'" if isinstance(value, str) else "'integer', 'real'"
            held = f"json_extract(notes.metadata, {path}) = ?"
            meets(f"{held} AND json_type(notes.metadata, {path}) IN ({types})", value)
    whose = {} if wanted.whose is None else wanted.whose.ids
    own = {name: value for name in SCOPES if (value := getattr(wanted, name)) is not None}
    for name, value in (*whose.items(), *own.items()):
        # Written out, as the index on it is (0004_scopes.sql); an id that another program keeps as a number counts.
        whole = value.isdecimal() and value.isascii() and str(int(value)) == value and len(value) < _DIGITS
        same = [value, int(value)] if whole else [value]
        meets(f"json_extract(notes.metadata, '$.{name}') IN ?", same)
    for name in () if wanted.whose is None else SCOPES:
        if getattr(wanted.whose, name) == "":
            found.append(f"coalesce(json_extract(notes.metadata, '$.{name}'), '') = ''")
    return " AND ".join(found), values
