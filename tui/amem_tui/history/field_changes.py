"""Changes of a note: of its text word by word, of its fields in words, as parts of a page."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from textual.content import Content

from amem.labels import short_id
from amem.rendering import mark
from amem.storage.rows import overturned_of
from amem_tui.formatting import clean, moment, one_line
from amem_tui.page import Block, remark, side_by_side, space

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from amem_tui.page import Line


# What became of a text, word by word.
#
# Words are compared as wholes in scripts that put blanks between them, characters one by one in Chinese and Japanese.
# Lines are compared first, then the sentences of those that differ, then their words: so a long text costs little more
# than the part of it that changed, and a text that was written anew is shown as that and not as confetti.

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
#: A sign that is drawn as one: a flag, an emoji with its skin or its family.
_SIGN = r"[\U0001f1e6-\U0001f1ff]{2}|[^\w\s](?:[\u0300-\u036f\ufe0f\u200d\U0001f3fb-\U0001f3ff]+[^\w\s]?)*"
_WORD = rf"[{_CJK}]|(?:[^\W{_CJK}][\u0300-\u036f]*)+|{_SIGN}"
#: With the blank behind them, so that neighbouring words are neighbouring parts.
_WORDS = re.compile(rf"(?:{_WORD})[^\S\n]*|\s+")
_BARE_WORDS = re.compile(rf"{_WORD}|\s+")
_SENTENCES = re.compile(r"[^.!?。！？；;]*[.!?。！？；;]*\s*")
_LINES = re.compile(r"[^\n]*\n?")
_GRAINS = (_LINES, _SENTENCES, _WORDS)
#: Two stretches that share less of their words than this say something else.
_ALIKE = 0.25
#: What is left out is longer than the words that say so.
_WORTH_LEAVING_OUT = 40


class Fate(StrEnum):
    """What became of a piece; `SKIPPED` is unchanged text that is left out."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text. The pieces that are not added make the text before, those not removed the text after."""

    text: str
    fate: Fate


#: What became of some parts: those before, those after.
_Stretch: TypeAlias = "tuple[Fate, Sequence[str], Sequence[str]]"


def word_diff(before: str, after: str) -> tuple[Piece, ...]:
    """The pieces of both texts in order, what was removed before what took its place."""
    return tuple(_joined(_trimmed(list(_joined(_bridged(list(_joined(_diffed(before, after, 0)))))))))


def list_diff(before: Sequence[str], after: Sequence[str]) -> tuple[Piece, ...]:
    """The items of both lists in order, each a piece of its own."""
    return tuple(
        Piece(item, fate) for fate, old, new in _matched(before, after) for item in (new if fate is Fate.ADDED else old)
    )


def condensed(pieces: Iterable[Piece], around: int) -> tuple[Piece, ...]:
    """The pieces with what is unchanged left out, but for about `around` characters beside a change."""
    held = list(pieces)
    found: list[Piece] = []
    for place, piece in enumerate(held):
        start = around if place else 0
        end = around if place < len(held) - 1 else 0
        if piece.fate is not Fate.SAME or len(piece.text) <= start + end + _WORTH_LEAVING_OUT:
            found.append(piece)
            continue
        first, last = _whole_words(piece.text, start, len(piece.text) - end)
        parts = (piece.text[:first], Fate.SAME), (piece.text[first:last], Fate.SKIPPED), (piece.text[last:], Fate.SAME)
        found += [Piece(text, fate) for text, fate in parts if text]
    return tuple(found)


def _diffed(before: str, after: str, grain: int) -> Iterator[Piece]:
    old, new = (_parts(text, grain) for text in (before, after))
    finest = grain == len(_GRAINS) - 1
    matched: list[_Stretch] = list(_matched(old, new))
    if finest and not _alike(matched):
        matched = [(Fate.REMOVED, old, []), (Fate.ADDED, [], new)]
    place = 0
    while place < len(matched):
        fate, gone, come = matched[place]
        follows = matched[place + 1] if place + 1 < len(matched) else None
        if fate is Fate.REMOVED and follows is not None and follows[0] is Fate.ADDED and not finest:
            yield from _diffed("".join(gone), "".join(follows[2]), grain + 1)
            place += 1
        else:
            yield Piece("".join(come if fate is Fate.ADDED else gone), fate)
        place += 1


def _matched(old: Sequence[str], new: Sequence[str]) -> Iterator[_Stretch]:
    """Stretches of parts that are the same, removed or added; equal beginnings and ends cost nothing."""
    head, tail = _shared(old, new)
    if head:
        yield Fate.SAME, old[:head], new[:head]
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    # Of long texts difflib leaves out the commonest parts by itself: comparing them takes longer than a person waits.
    for what, start, end, other_start, other_end in SequenceMatcher(str.isspace, left, right).get_opcodes():
        if what == "equal":
            yield Fate.SAME, left[start:end], right[other_start:other_end]
            continue
        if end > start:
            yield Fate.REMOVED, left[start:end], []
        if other_end > other_start:
            yield Fate.ADDED, [], right[other_start:other_end]
    if tail:
        yield Fate.SAME, old[len(old) - tail :], new[len(new) - tail :]


def _parts(text: str, grain: int) -> list[str]:
    return [part for part in _GRAINS[grain].findall(text) if part]


def _alike(matched: Sequence[_Stretch]) -> bool:
    """Whether the two sides share enough words to be one text that was changed."""
    same, longest = 0, {Fate.REMOVED: 0, Fate.ADDED: 0}
    for fate, old, new in matched:
        length = sum(1 for part in (new if fate is Fate.ADDED else old) if not part.isspace())
        if fate is Fate.SAME:
            same += length
        else:
            longest[fate] += length
    changed = max(longest.values())
    return min(longest.values()) == 0 or same >= _ALIKE * (same + changed)


def _bridged(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Without marks alone between two changes: a full stop in both is no reason to see two sentences as one."""
    stretch: list[Piece] = []

    def changed() -> Iterator[Piece]:
        yield Piece("".join(each.text for each in stretch if each.fate is not Fate.ADDED), Fate.REMOVED)
        yield Piece("".join(each.text for each in stretch if each.fate is not Fate.REMOVED), Fate.ADDED)
        stretch.clear()

    for piece in pieces:
        if piece.fate is Fate.SAME and (not stretch or any(char.isalnum() for char in piece.text)):
            yield from changed()
            yield piece
        else:
            stretch.append(piece)
    yield from changed()


def _trimmed(pieces: list[Piece]) -> Iterator[Piece]:
    """Where one stretch took the place of another, without the words that both begin or end with."""
    place = 0
    while place < len(pieces):
        piece, follows = pieces[place], pieces[place + 1 : place + 2]
        if piece.fate is Fate.REMOVED and follows and follows[0].fate is Fate.ADDED:
            old, new = (_BARE_WORDS.findall(each.text) for each in (piece, follows[0]))
            head, tail = _shared(old, new)
            yield Piece("".join(old[:head]), Fate.SAME)
            yield Piece("".join(old[head : len(old) - tail]), Fate.REMOVED)
            yield Piece("".join(new[head : len(new) - tail]), Fate.ADDED)
            yield Piece("".join(old[len(old) - tail :]), Fate.SAME)
            place += 1
        else:
            yield piece
        place += 1


def _shared(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many parts both begin with, and how many of the rest both end with."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Neighbours of one fate as one piece, and no empty ones."""
    held: Piece | None = None
    for piece in pieces:
        if not piece.text:
            continue
        if held is not None and held.fate is piece.fate:
            held = Piece(held.text + piece.text, held.fate)
            continue
        if held is not None:
            yield held
        held = piece
    if held is not None:
        yield held


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The same cut moved inwards to blanks, where there are some near by."""
    blank = text.find(" ", start, start + 20) if start else -1
    first = start if blank < 0 else blank
    blank = text.rfind(" ", end - 20, end) if end < len(text) else -1
    return first, end if blank < 0 else blank + 1


# The same as text with marks.

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
