"""The fields of a note in words, and two values of one compared."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.content import Content

from amem.labels import short_id
from amem.rendering import mark
from amem.storage.rows import overturned_of
from amem_tui.history.changes_view import inline, items, sides
from amem_tui.phrases import moment, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import tzinfo


_TIMES = ("at", "valid_from", "valid_to")
_TEXTS = ("content", "context")
_NAMES = {
    "at": "happened",
    "valid_from": "true from",
    "valid_to": "true until",
    "timestamp": "time as given",
    "superseded_by": "superseded by",
    "conversation_id": "conversation",
    "analyst": "analysed by",
    "overturned": "no longer so",
}
#: What says least comes last.
_ORDER = ("content", "context", "keywords", "tags", "kind", "status", "superseded_by", "valid_from", "valid_to")
#: A list of so many characters goes on one line.
_SHORT = 60
_GONE, _NEW = "strike $error", "$success"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that changed: what it was, what it is, and both as one; `long` tells that it deserves two columns."""

    name: str
    before: Content
    after: Content
    both: Content
    long: bool


def name(field: str) -> str:
    """What people call the field."""
    return _NAMES.get(field, field.replace("_", " "))


def words(field: str, value: Any, zone: tzinfo, titles: Mapping[str, str] | None = None) -> str:
    """A field's value as a person reads it, '' for none. `titles` has those of other notes by id."""
    if value is None or value in ("", [], {}):
        return ""
    if isinstance(value, list):
        return ", ".join(parts(field, value, zone))
    if field in _TIMES:
        return moment(datetime.fromisoformat(value), zone)
    if field == "superseded_by":
        return (titles or {}).get(value, short_id(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(parts(field, value, zone))
    return str(value)


def parts(field: str, value: Any, zone: tzinfo) -> list[str]:
    """The items of a list, the statements of `facts`, the entries of `metadata`, each in words."""
    if isinstance(value, dict):
        return [f"{key}: {_entry(held)}" for key, held in value.items()]
    if field == "facts":
        return [_fact(each, zone) for each in value]
    if field == "overturned":
        return [f"“{each['text']}” {mark(overturned_of(each))}" for each in value]
    return [str(each) for each in value]


def _entry(held: Any) -> str:
    """An entry of metadata in words; of where a note stands in a file, where that is."""
    if isinstance(held, dict) and {"root", "path"} <= held.keys():
        return f"{held['root']}/{held['path']}"
    return held if isinstance(held, str) else json.dumps(held, ensure_ascii=False)


def compared(
    changes: Mapping[str, tuple[Any, Any]], zone: tzinfo, titles: Mapping[str, str], *, around: int | None = None
) -> list[FieldChange]:
    """The changed fields, those that say most first. `around` leaves out what is unchanged of a long text."""
    return [_compared(field, *changes[field], zone, titles, around) for field in ordered(changes)]


def ordered(fields: Iterable[str]) -> list[str]:
    """Fields, those that say most first."""
    return sorted(fields, key=lambda field: _ORDER.index(field) if field in _ORDER else len(_ORDER))


def _compared(
    field: str, before: Any, after: Any, zone: tzinfo, titles: Mapping[str, str], around: int | None
) -> FieldChange:
    if isinstance(before, list | dict) or isinstance(after, list | dict):
        old, new, both = items(*(parts(field, value or [], zone) for value in (before, after)))
        return FieldChange(name(field), old, new, both, long=len(both.plain) > _SHORT)
    was, became = (words(field, value, zone, titles) for value in (before, after))
    if field in _TEXTS:
        old, new = sides(was, became, around=around)
        return FieldChange(name(field), old, new, inline(was, became, around=around), long=True)
    was, became = one_line(was, 400), one_line(became, 400)
    old, new = Content.styled(was, _GONE), Content.styled(became, _NEW)
    arrow = [Content.styled(" → ", "$muted")] if was and became else []
    return FieldChange(name(field), old, new, Content("").join([old, *arrow, new]), long=False)


def _fact(fact: Any, zone: tzinfo) -> str:
    subject, predicate, said, *rest = fact
    text = f"{subject} {str(predicate).replace('_', ' ')} {said}"
    if not rest:
        return text
    holds, since, until = rest
    text = text if holds else f"not: {text}"
    ends = (("from", since), ("until", until))
    times = [f"{word} {moment(datetime.fromisoformat(each), zone)}" for word, each in ends if each]
    return f"{text} ({' '.join(times)})" if times else text
