"""Three-way merges of a value, a list of labels and lines of text: what each side made of what both had. No I/O."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_Value = TypeVar("_Value")


def either(base: _Value | None, one: _Value, other: _Value) -> _Value | None:
    """The one that differs from the base, if not both do and differ."""
    if one in (other, base):
        return other
    return one if other == base else None


def merged_items(base: Sequence[str], one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """The items that either side added and neither took away, in the one's order where it changed something."""
    if set(one) == set(base):
        return tuple(other)
    gone = {item for item in base if item not in one or item not in other}
    return tuple(dict.fromkeys(item for item in (*one, *other) if item not in gone))


def merged_lines(base: str, one: str, other: str) -> str | None:
    """The base with the changes of both, by lines; None where they changed the same or neighbouring lines apart."""
    lines, ones, others = base.split("\n"), one.split("\n"), other.split("\n")
    merged: list[str] = []
    for start, end, mine, theirs in _regions(lines, ones, others):
        before = lines[start:end]
        chosen = either(before, mine, theirs)
        if chosen is None:
            return None
        merged += chosen
    return "\n".join(merged)


def _regions(base: list[str], one: list[str], other: list[str]) -> Iterator[tuple[int, int, list[str], list[str]]]:
    """The base in pieces, in order: (start, end, what the one makes of it, what the other does).

    Lines that neither changed stand in pieces of their own, between those that somebody changed.
    """
    at = at_one = at_other = 0
    for start, first, second, length in _kept(base, one, other):
        yield at, start, one[at_one:first], other[at_other:second]
        yield start, start + length, base[start : start + length], base[start : start + length]
        at, at_one, at_other = start + length, first + length, second + length


def _kept(base: list[str], one: list[str], other: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """(place in the base, in the one, in the other, number) of runs of lines that both kept; the last is the end."""
    ours = SequenceMatcher(None, base, one, autojunk=False).get_matching_blocks()
    theirs = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    left = right = 0
    while left < len(ours) and right < len(theirs):
        mine, its = ours[left], theirs[right]
        start, end = max(mine.a, its.a), min(mine.a + mine.size, its.a + its.size)
        if start < end:
            yield start, mine.b + start - mine.a, its.b + start - its.a, end - start
        if mine.a + mine.size < its.a + its.size:
            left += 1
        else:
            right += 1
    yield len(base), len(one), len(other), 0
