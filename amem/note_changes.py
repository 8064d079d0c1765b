"""What changed in a note: its text word by word, and its fields in words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from amem.labels import short_id
from amem.rendering import mark
from amem.storage.rows import overturned_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


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


class DiffKind(StrEnum):
    """What became of a piece; `SKIPPED` is unchanged text that is left out."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text. The pieces that are not added make the text before, those not removed the text after."""

    text: str
    kind: DiffKind


#: What became of some parts: those before, those after.
_Stretch: TypeAlias = "tuple[DiffKind, Sequence[str], Sequence[str]]"


def word_diff(before: str, after: str) -> tuple[Piece, ...]:
    """The pieces of both texts in order, what was removed before what took its place."""
    return tuple(_joined(_trimmed(list(_joined(_bridged(_joined(_diffed(before, after, 0))))))))


def list_diff(before: Sequence[str], after: Sequence[str]) -> tuple[Piece, ...]:
    """The items of both lists in order, each a piece of its own."""
    return tuple(
        Piece(item, kind)
        for kind, old, new in _matched(before, after)
        for item in (new if kind is DiffKind.ADDED else old)
    )


def condensed(pieces: Iterable[Piece], around: int) -> tuple[Piece, ...]:
    """The pieces with what is unchanged left out, but for about `around` characters beside a change."""
    held = list(pieces)
    found: list[Piece] = []
    for place, piece in enumerate(held):
        start = around if place else 0
        end = around if place < len(held) - 1 else 0
        if piece.kind is not DiffKind.SAME or len(piece.text) <= start + end + _WORTH_LEAVING_OUT:
            found.append(piece)
            continue
        first, last = _whole_words(piece.text, start, len(piece.text) - end)
        parts = (
            (piece.text[:first], DiffKind.SAME),
            (piece.text[first:last], DiffKind.SKIPPED),
            (piece.text[last:], DiffKind.SAME),
        )
        found += [Piece(text, kind) for text, kind in parts if text]
    return tuple(found)


def _diffed(before: str, after: str, grain: int) -> Iterator[Piece]:
    old, new = ([part for part in _GRAINS[grain].findall(text) if part] for text in (before, after))
    finest = grain == len(_GRAINS) - 1
    matched: list[_Stretch] = list(_matched(old, new))
    if finest and not _alike(matched):
        matched = [(DiffKind.REMOVED, old, []), (DiffKind.ADDED, [], new)]
    place = 0
    while place < len(matched):
        kind, gone, come = matched[place]
        follows = matched[place + 1] if place + 1 < len(matched) else None
        if kind is DiffKind.REMOVED and follows is not None and follows[0] is DiffKind.ADDED and not finest:
            yield from _diffed("".join(gone), "".join(follows[2]), grain + 1)
            place += 1
        else:
            yield Piece("".join(come if kind is DiffKind.ADDED else gone), kind)
        place += 1


def _matched(old: Sequence[str], new: Sequence[str]) -> Iterator[_Stretch]:
    """Stretches of parts that are the same, removed or added; equal beginnings and ends cost nothing."""
    head, tail = _shared(old, new)
    if head:
        yield DiffKind.SAME, old[:head], new[:head]
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    # Of long texts difflib leaves out the commonest parts by itself: comparing them takes longer than a person waits.
    for what, start, end, other_start, other_end in SequenceMatcher(str.isspace, left, right).get_opcodes():
        if what == "equal":
            yield DiffKind.SAME, left[start:end], right[other_start:other_end]
            continue
        if end > start:
            yield DiffKind.REMOVED, left[start:end], []
        if other_end > other_start:
            yield DiffKind.ADDED, [], right[other_start:other_end]
    if tail:
        yield DiffKind.SAME, old[len(old) - tail :], new[len(new) - tail :]


def _alike(matched: Sequence[_Stretch]) -> bool:
    """Whether the two sides share enough words to be one text that was changed."""
    same, longest = 0, {DiffKind.REMOVED: 0, DiffKind.ADDED: 0}
    for kind, old, new in matched:
        length = sum(1 for part in (new if kind is DiffKind.ADDED else old) if not part.isspace())
        if kind is DiffKind.SAME:
            same += length
        else:
            longest[kind] += length
    changed = max(longest.values())
    return min(longest.values()) == 0 or same >= _ALIKE * (same + changed)


def _bridged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Without marks alone between two changes: a full stop in both is no reason to see two sentences as one."""
    stretch: list[Piece] = []

    def changed() -> Iterator[Piece]:
        yield Piece("".join(each.text for each in stretch if each.kind is not DiffKind.ADDED), DiffKind.REMOVED)
        yield Piece("".join(each.text for each in stretch if each.kind is not DiffKind.REMOVED), DiffKind.ADDED)
        stretch.clear()

    for piece in pieces:
        if piece.kind is DiffKind.SAME and (not stretch or any(char.isalnum() for char in piece.text)):
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
        if piece.kind is DiffKind.REMOVED and follows and follows[0].kind is DiffKind.ADDED:
            old, new = (_BARE_WORDS.findall(each.text) for each in (piece, follows[0]))
            head, tail = _shared(old, new)
            yield Piece("".join(old[:head]), DiffKind.SAME)
            yield Piece("".join(old[head : len(old) - tail]), DiffKind.REMOVED)
            yield Piece("".join(new[head : len(new) - tail]), DiffKind.ADDED)
            yield Piece("".join(old[len(old) - tail :]), DiffKind.SAME)
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
    """Neighbours of one kind as one piece, and no empty ones."""
    for kind, some in groupby((each for each in pieces if each.text), key=lambda each: each.kind):
        yield Piece("".join(each.text for each in some), kind)


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The same cut moved inwards to blanks, where there are some near by."""
    blank = text.find(" ", start, start + 20) if start else -1
    first = start if blank < 0 else blank
    blank = text.rfind(" ", end - 20, end) if end < len(text) else -1
    return first, end if blank < 0 else blank + 1


# Fields as a person reads them.

_TIMES = ("at", "valid_from", "valid_to")
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


def field_name(field: str) -> str:
    return _NAMES.get(field, field.replace("_", " "))


def ordered_fields(fields: Iterable[str]) -> list[str]:
    """Fields, those that say most first."""
    return sorted(fields, key=lambda field: _ORDER.index(field) if field in _ORDER else len(_ORDER))


def field_words(field: str, value: Any, zone: tzinfo, titles: Mapping[str, str] | None = None) -> str:
    """A field's value as a person reads it, '' for none. `titles` has those of other notes by id."""
    if value is None or value in ("", [], {}):
        return ""
    if isinstance(value, list):
        return ", ".join(field_parts(field, value, zone))
    if field in _TIMES:
        return _moment(datetime.fromisoformat(value), zone)
    if field == "superseded_by":
        return (titles or {}).get(value, short_id(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(field_parts(field, value, zone))
    return str(value)


def field_parts(field: str, value: Any, zone: tzinfo) -> list[str]:
    """The items of a list, the statements of `facts`, the entries of `metadata`, each in words."""
    if isinstance(value, dict):
        return [f"{key}: {entry_words(held)}" for key, held in value.items()]
    if field == "facts":
        return [_fact(each, zone) for each in value]
    if field == "overturned":
        return [f"“{each['text']}” {mark(overturned_of(each))}" for each in value]
    return [str(each) for each in value]


def change_words(field: str, before: Any, after: Any, zone: tzinfo, titles: Mapping[str, str] | None = None) -> str:
    """What became of a field, on a line: ``tags: added “sport”``, ``text: “Porto” became “Lisbon”``."""
    if isinstance(before or after, list | dict):
        pieces = list_diff(field_parts(field, before or [], zone), field_parts(field, after or [], zone))
        kinds = {"removed": DiffKind.REMOVED, "added": DiffKind.ADDED}
        found = {did: [_quoted(each.text) for each in pieces if each.kind is kind] for did, kind in kinds.items()}
        said = [f"{did} {', '.join(texts)}" for did, texts in found.items() if texts]
    else:
        pieces, said, gone = word_diff(*(field_words(field, each, zone, titles) for each in (before, after))), [], ""
        for each in (*pieces, Piece("", DiffKind.SAME)):
            if each.kind is DiffKind.ADDED:
                said.append(f"{_quoted(gone)} became {_quoted(each.text)}" if gone else f"added {_quoted(each.text)}")
            elif gone:
                said.append(f"removed {_quoted(gone)}")
            gone = each.text if each.kind is DiffKind.REMOVED else ""
    return f"{field_name(field)}: {', '.join(said)}"


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return line if line.startswith("“") else f"“{line}”"


def entry_words(held: Any) -> str:
    """An entry of metadata in words; of where a note stands in a file, where that is."""
    if isinstance(held, dict) and {"root", "path"} <= held.keys():
        heading = f", under {held['heading']}" if held.get("heading") else ""
        return f"{held['root']}/{held['path']}{heading}"
    if isinstance(held, dict):
        return "; ".join(field_parts("metadata", held, UTC))
    if isinstance(held, list):
        return ", ".join(map(entry_words, held))
    if isinstance(held, bool):
        return "yes" if held else "no"
    return "" if held is None else str(held)


def _fact(fact: Any, zone: tzinfo) -> str:
    subject, predicate, said, *rest = fact
    text = f"{subject} {str(predicate).replace('_', ' ')} {said}"
    if not rest:
        return text
    holds, since, until = rest
    text = text if holds else f"not: {text}"
    ends = (("from", since), ("until", until))
    times = [f"{word} {_moment(datetime.fromisoformat(each), zone)}" for word, each in ends if each]
    return f"{text} ({' '.join(times)})" if times else text


def _moment(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).strftime("%Y-%m-%d %H:%M")
