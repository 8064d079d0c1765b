"""The text of a note as it stands: what it says, with statements that no longer hold marked as such.

The stored content never changes; whatever shows a note to a person or a model shows it through this. Pure functions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.language import written_in_cjk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from amem.note import Fact, MemoryNote, Overturned

#: A statement's own full stop goes behind its mark: "I live in Rome (until ...)."
_ENDS = ".!?;,。！？；，…"
#: What a piece begins with that stands close to what is before it.
_CLOSE = (" ", *_ENDS)
#: What stands before the first words of a sentence; '' at the beginning.
_BEGINS = ("", "\n", *".!?…。！？")
#: Characters of what came after that a mark has room for; half as many Chinese ones.
_SHOWN = 80
#: What a piece of a sentence may begin with because of what stood before it; ".NET" and "(ca. 5)" begin by themselves.
_JOINED = re.compile(
    r"^(?:\s*(?:[,;:!?)]|\.(?!\w)|[，；：、。！？…）])\s*)+(?:(?:and|but|so|then|or)\s+|(?:而且|并且|但是|但|而|并)(?=\S))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a note's text; `overturned` is set where it no longer holds, None where it does."""

    text: str
    overturned: Overturned | None = None


def segments(content: str, overturned: Iterable[Overturned]) -> list[Segment]:
    """The content in pieces that hold and pieces that do not; joined they are the content.

    A quote that the content does not hold is passed over; of two that overlap the first counts.
    """
    places = [(content.find(each.text), each) for each in overturned if each.text and each.text in content]
    found: list[Segment] = []
    at = 0
    for start, each in sorted(places, key=lambda place: place[0]):
        if start < at:
            continue
        if start > at:
            found.append(Segment(content[at:start]))
        found.append(Segment(each.text, each))
        at = start + len(each.text)
    if at < len(content):
        found.append(Segment(content[at:]))
    return found


def standing_text(content: str, overturned: Sequence[Overturned]) -> str:
    """The content with a mark behind each statement that no longer holds.

    "I live in Rome (until 2026-06-22, then: I moved to Berlin). I like opera." In Chinese, Chinese marks. A mark within
    a sentence names its words, so that it is not read as one on the whole sentence.
    """
    if not overturned:
        return content
    pieces = segments(content, overturned)
    said = ""
    for each in pieces:
        within = said.rstrip(" \t")[-1:] not in _BEGINS
        said += each.text if each.overturned is None else _marked(each.overturned, within=within)
    return said


def text_of(note: MemoryNote) -> str:
    """`standing_text` of a note."""
    return standing_text(note.content, note.overturned)


def text_within(note: MemoryNote, fits: Callable[[str], bool]) -> str:
    """The text of a note with its marks where all of it fits, else what of it holds.

    Cut, a statement would lose its mark. Where what holds does not fit either, whoever shows it may cut it; a note of
    which nothing holds keeps its marks.
    """
    whole = text_of(note)
    return whole if not note.overturned or fits(whole) else holding_text(note.content, note.overturned) or whole


def holding_text(content: str, overturned: Sequence[Overturned]) -> str:
    """The content without the statements that no longer hold; '' where nothing is left but marks and white space."""
    if not overturned:
        return content
    rest, cut = "", False
    for each in segments(content, overturned):
        if each.overturned is None:
            # "I live in Rome ." without "with Ada" is "I live in Rome."
            rest = (rest.rstrip(" ") if cut and each.text[:1] in _CLOSE else rest) + each.text
        cut = each.overturned is not None
    return trimmed(rest) if any(map(str.isalnum, rest)) else ""


def trimmed(text: str) -> str:
    """A piece of a text without the marks and the "and" that joined it to what stood before it."""
    return _JOINED.sub("", text).strip()


def fallen(note: MemoryNote) -> dict[int, Overturned]:
    """The facts of a note, by place, that its overturned statements stated, each with that statement.

    A fact falls with a statement that names its object, unless the rest of the note names it as well, and with words
    right before it: "My boss" of "My boss Karin lives in Lund".
    """
    if not note.overturned:
        return {}
    rest = holding_text(note.content, note.overturned).casefold()
    found = {}
    for place, fact in enumerate(note.facts):
        named = fact.object.casefold()
        told = next((each for each in note.overturned if named and named in each.text.casefold()), None)
        if told is None or named in rest:
            told = next(
                (each for each in note.overturned if named and _stands_before(each.text, fact.object, note)), None
            )
        if told is not None:
            found[place] = told
    return found


def _stands_before(words: str, value: str, note: MemoryNote) -> bool:
    return any(f"{words}{space}{value}" in note.content for space in ("", " "))


def holding_facts(note: MemoryNote) -> list[Fact]:
    """The facts of a note but for those that its overturned statements stated."""
    gone = fallen(note)
    return [fact for place, fact in enumerate(note.facts) if place not in gone]


def doubt_of(note: MemoryNote) -> str:
    """Why a note may be out of date, in words; '' where nothing is known to speak against it."""
    if not note.doubts:
        return ""
    reason = _cut(note.doubts[0])
    return f"可能已过时：{reason}" if written_in_cjk(note.content) else f"may be out of date: {reason}"


def mark(each: Overturned, *, chinese: bool | None = None) -> str:
    """What is said of a statement that no longer holds: "until 2026-06-22, then: I moved to Berlin".

    In Chinese or English; None: in the language of the statement.
    """
    then = _cut(each.then.rstrip(_ENDS))
    if written_in_cjk(each.text) if chinese is None else chinese:
        return f"至{each.until:%Y-%m-%d}，" + (f"之后：{then}" if then else "此后不再成立" if each.by else "已收回")
    return f"until {each.until:%Y-%m-%d}, " + (f"then: {then}" if then else "no longer so" if each.by else "taken back")


def one_line(text: str, most: int) -> str:
    """The text on one line of at most `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _cut(text: str) -> str:
    return one_line(text, _SHOWN // 2 if written_in_cjk(text) else _SHOWN)


def _marked(each: Overturned, *, within: bool) -> str:
    said = each.text.rstrip(_ENDS)
    stop = each.text[len(said) :]
    chinese = written_in_cjk(each.text)
    named = (f"“{_cut(said)}”" + ("：" if chinese else ": ")) if within else ""
    return f"{said}（{named}{mark(each)}）{stop}" if chinese else f"{said} ({named}{mark(each)}){stop}"
