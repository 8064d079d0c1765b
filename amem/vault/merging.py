"""Three ways into one: what a file and a note say each, held against what both said at the last sync. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_Value = TypeVar("_Value")
#: A link as (type, id of the note it leads to).
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Said:
    """What one side says of a note. `fields` are texts by name, where it says any; tags keep their order."""

    body: str
    fields: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    links: frozenset[Pair] = frozenset()


@dataclass(frozen=True, slots=True)
class Merged:
    """What both sides are to say, and what they contradict each other in: there it is what the note says."""

    said: Said
    conflicts: tuple[str, ...] = ()


def merge(base: Said | None, file: Said, note: Said) -> Merged:
    """What both changed alike or only one changed, field by field; without a base, all that differs was changed."""
    conflicts: list[str] = []
    fields: dict[str, str] = {}
    for name in sorted({*file.fields, *note.fields}):
        one, other = file.fields.get(name, ""), note.fields.get(name, "")
        # Without a base nobody can have taken something away.
        value = _either("" if base is None else base.fields.get(name, ""), one, other)
        if value is None:
            conflicts.append(name)
        if held := other if value is None else value:
            fields[name] = held
    body = _either(None if base is None else base.body, file.body, note.body)
    if body is None and base is not None:
        body = merged_lines(base.body, file.body, note.body)
    if body is None or not body.strip():
        conflicts.append("text")
        body = note.body
    tags = _merged_tags(() if base is None else base.tags, file.tags, note.tags)
    known = frozenset() if base is None else base.links
    links = (note.links | (file.links - known)) - (known - file.links)
    return Merged(Said(body, fields, tags, links), tuple(conflicts))


def _either(base: _Value | None, one: _Value, other: _Value) -> _Value | None:
    """The one that differs from the base, if not both do and differ."""
    if one in (other, base):
        return other
    return one if other == base else None


def _merged_tags(base: Sequence[str], file: Sequence[str], note: Sequence[str]) -> tuple[str, ...]:
    """The tags that either side added and neither took away, in the file's order where it changed something."""
    if set(file) == set(base):
        return tuple(note)
    gone = {tag for tag in base if tag not in file or tag not in note}
    return tuple(dict.fromkeys(tag for tag in (*file, *note) if tag not in gone))


def merged_lines(base: str, one: str, other: str) -> str | None:
    """The base with the changes of both, by lines; None where they changed the same or neighbouring lines apart."""
    lines, ones, others = base.split("\n"), one.split("\n"), other.split("\n")
    merged: list[str] = []
    for start, end, mine, theirs in _regions(lines, ones, others):
        before = lines[start:end]
        chosen = _either(before, mine, theirs)
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
