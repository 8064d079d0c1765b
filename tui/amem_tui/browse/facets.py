"""What there is to narrow the list by, with how many notes each would leave: read whole, drawn by the sidebar."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.collection import listed_collection
from amem.note import Kind, Layer, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.memory_system import AgenticMemorySystem

#: A collection of a hundred thousand notes has tens of thousands of tags; nobody looks through more than these.
_TAGS = 2000


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic's note, its name and how many notes belong to it."""

    id: str
    name: str
    notes: int


@dataclass(frozen=True, slots=True)
class Facets:
    """Active notes by kind, layer, topic, tag and month (``2026-03``), and all by status.

    `collections` are those of the home with their notes; None for one that does not open. `here` is the open one.
    """

    here: str = ""
    total: int = 0
    collections: Mapping[str, int | None] = field(default_factory=dict)
    kinds: Mapping[Kind, int] = field(default_factory=dict)
    layers: Mapping[Layer, int] = field(default_factory=dict)
    statuses: Mapping[Status, int] = field(default_factory=dict)
    tags: Mapping[str, int] = field(default_factory=dict)
    topics: tuple[Topic, ...] = ()
    months: Mapping[str, int] = field(default_factory=dict)
    more_tags: int = 0


def read_facets(memory: AgenticMemorySystem, known: Mapping[str, int | None]) -> Facets:
    """All of them, as of now, but for other collections that are `known` already: each is opened to be counted."""
    census = memory.census()
    tags = memory.tags()
    months: dict[str, int] = {}
    for day, number in memory.days().items():
        month = f"{day.year:04}-{day.month:02}"
        months[month] = months.get(month, 0) + number
    here = memory.settings.collection
    return Facets(
        here=here,
        total=census.statuses.get(Status.ACTIVE, 0),
        collections=_collections(memory, known),
        kinds=census.kinds,
        layers=census.layers,
        statuses=census.statuses,
        tags=dict(list(tags.items())[:_TAGS]),
        topics=tuple(Topic(each.id, each.name, each.notes) for each in memory.topics()),
        months=months,
        more_tags=max(0, len(tags) - _TAGS),
    )


def _collections(memory: AgenticMemorySystem, known: Mapping[str, int | None]) -> dict[str, int | None]:
    here, home = memory.settings.collection, memory.settings.home
    if memory.folder is None:
        return {here: memory.count()}
    counts = {
        name: known[name] if name in known else listed_collection(home, name).notes
        for name in memory.collections()
        if name != here
    }
    return dict(sorted((counts | {here: memory.count()}).items()))
