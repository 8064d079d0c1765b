"""Long Markdown, cut where its author cut it: at headings, then at paragraphs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.language import split_text

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Characters from which on a text is cut; a piece that is longer is cut again, at the headings or paragraphs in it.
LONG = 2_000
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a document: the headings it stands under, outermost first, and its text without them."""

    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class _Mark:
    """A heading where it stands in a text."""

    start: int
    end: int
    level: int
    words: str


def sections(text: str, longest: int = LONG) -> list[Section]:
    """A text over `longest` characters as sections of at most so many; a shorter one whole, under no heading.

    Every line of the text is in one of the sections, or a heading of one.
    """
    text = text.strip()
    return [Section((), text)] if len(text) <= longest else list(_cut(text, (), longest))


def opens_with_heading(text: str) -> bool:
    """Whether the first line of a text is a heading."""
    return _HEADING.match(text) is not None


def _cut(text: str, headings: tuple[str, ...], longest: int) -> Iterator[Section]:
    marks = _marks(text)
    if len(text) <= longest or not marks:
        yield from (Section(headings, piece) for piece in split_text(text, longest))
        return
    least = min(mark.level for mark in marks)
    marks = [mark for mark in marks if mark.level == least]
    bare = text[: marks[0].start].strip()
    if bare:
        yield from _cut(bare, headings, longest)
    over_nothing: list[str] = []
    for mark, end in zip(marks, [*(mark.start for mark in marks[1:]), len(text)], strict=True):
        body = text[mark.end : end].strip()
        if not body:
            over_nothing.append(text[mark.start : mark.end].strip())
            continue
        if over_nothing:
            yield Section(headings, "\n".join(over_nothing))
            over_nothing = []
        yield from _cut(body, (*headings, mark.words), longest)
    if over_nothing:
        yield Section(headings, "\n".join(over_nothing))


def _marks(text: str) -> list[_Mark]:
    """The headings of a text, those in code left out."""
    code = [match.span() for match in _FENCE.finditer(text)]
    return [
        _Mark(match.start(), match.end(), len(match[1]), match[2].strip())
        for match in _HEADING.finditer(text)
        if match[2].strip() and not any(start <= match.start() < end for start, end in code)
    ]
