"""Three ways into one: what a file and a note say each, held against what both said at the last sync. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.three_way import either, merged_items, merged_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        value = either("" if base is None else base.fields.get(name, ""), one, other)
        if value is None:
            conflicts.append(name)
        if held := other if value is None else value:
            fields[name] = held
    body = either(None if base is None else base.body, file.body, note.body)
    if body is None and base is not None:
        body = merged_lines(base.body, file.body, note.body)
    if body is None or not body.strip():
        conflicts.append("text")
        body = note.body
    tags = merged_items(() if base is None else base.tags, file.tags, note.tags)
    known = frozenset() if base is None else base.links
    links = (note.links | (file.links - known)) - (known - file.links)
    return Merged(Said(body, fields, tags, links), tuple(conflicts))
