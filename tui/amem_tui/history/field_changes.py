"""Changes of a note's fields in words, as parts of a page."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.content import Content

from amem.labels import short_id
from amem.rendering import mark
from amem.storage.rows import overturned_of
from amem_tui.formatting import clean, moment, one_line
from amem_tui.history.word_diff import Fate, Piece, condensed, list_diff, word_diff
from amem_tui.page import Block, remark, side_by_side, space

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from amem_tui.page import Line


_STYLES = {Fate.SAME: "", Fate.REMOVED: "strike $error", Fate.ADDED: "$success", Fate.SKIPPED: "$muted"}


def changed_text(before: str, after: str, *, around: int | None = None) -> tuple[Content, Content, Content]:
    """Return the text before, with what is gone marked, the text after, with what is new marked, and both as one.

    `around` leaves out what is unchanged, but for about so many characters beside a change.
    """
    pieces = word_diff(clean(before), clean(after))
    if around is not None:
        pieces = condensed(pieces, around)
    arrow = [(" → ", "$muted")] if [each.fate for each in pieces] == [Fate.REMOVED, Fate.ADDED] else []
    old = [_styled(each) for each in pieces if each.fate is not Fate.ADDED]
    new = [_styled(each) for each in pieces if each.fate is not Fate.REMOVED]
    both = [*old, *arrow, *new] if arrow else [_styled(each) for each in pieces]
    return Content.assemble(*old), Content.assemble(*new), Content.assemble(*both)


def items(before: Sequence[str], after: Sequence[str]) -> tuple[Content, Content, Content]:
    """Two lists, side by side and as one: (before, after, both)."""
    pieces = list_diff([one_line(each, 400) for each in before], [one_line(each, 400) for each in after])
    both = [[each for each in pieces if each.fate is not gone] for gone in (Fate.ADDED, Fate.REMOVED, None)]
    old, new, one = (Content(", ").join([Content.assemble(_styled(each)) for each in some]) for some in both)
    return old, new, one


def _styled(piece: Piece) -> tuple[str, str]:
    if piece.fate is Fate.SKIPPED:
        return f" … {len(piece.text):,} characters … ", _STYLES[piece.fate]
    # A line break that came or went would otherwise not be seen.
    marked = piece.fate is not Fate.SAME and not piece.text.strip() and "\n" in piece.text
    return (piece.text.replace("\n", "↵\n") if marked else piece.text), _STYLES[piece.fate]


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
#: From so many cells on there is room for two columns.
_BESIDE = 52


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A part of a page: a field that changed, what it was, what it is, and both as one.

    One that is `long` stands in two columns where there is room.
    """

    name: str
    before: Content
    after: Content
    both: Content
    long: bool

    def lines(self, width: int) -> Iterator[Line]:
        """Its name, and below it what became of it."""
        yield from remark(self.name, "bold $secondary").lines(width)
        if self.long and width >= _BESIDE:
            yield from side_by_side([Block(self.before), Block(self.after)], [width // 2 - 1] * 2)
        else:
            yield from Block(self.both).lines(width)
        yield from space().lines(width)


def name(field: str) -> str:
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
    changes: Mapping[str, tuple[Any, Any]],
    zone: tzinfo,
    titles: Mapping[str, str],
    *,
    around: int | None = None,
    beside: bool = True,
) -> list[FieldChange]:
    """The changed fields, those that say most first; none in two columns but with `beside`.

    `around` leaves out what is unchanged of a long text.
    """
    found = [_compared(field, *changes[field], zone, titles, around) for field in ordered(changes)]
    return found if beside else [replace(each, long=False) for each in found]


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
        return FieldChange(name(field), *changed_text(was, became, around=around), long=True)
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
