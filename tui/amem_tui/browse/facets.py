"""What there is to narrow the list by, with how many notes each would leave: read whole, drawn by the sidebar."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from amem.collection import listed_collection
from amem.query import Filter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.memory_system import AgenticMemorySystem
    from amem.note import Kind, Layer, Status

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
    """How many notes one would see with each kind, layer, status, topic, tag or month (``2026-03``) chosen.

    Those without any are left out. `total` are all active notes, whatever is chosen. `collections` are those of the
    home with their notes; None for one that does not open. `here` is the open one.
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


def read_facets(
    memory: AgenticMemorySystem, known: Mapping[str, int | None], wanted: Filter | None = None, starting: str = ""
) -> Facets:
    """All of them, as of now, besides what is `wanted` already and for notes that hold the words of `starting`.

    Other collections that are `known` are not counted again: each is opened for it.
    """
    census = memory.census(wanted, starting=starting)
    months: dict[str, int] = {}
    for day, number in census.days.items():
        month = f"{day.year:04}-{day.month:02}"
        months[month] = months.get(month, 0) + number
    topics = {topic.id: topic.name for topic in memory.topics()}
    return Facets(
        here=memory.settings.collection,
        total=memory.count(Filter()),
        collections=_collections(memory, known),
        kinds=census.kinds,
        layers=census.layers,
        statuses=census.statuses,
        tags=dict(islice(census.tags.items(), _TAGS)),
        topics=tuple(Topic(id, topics[id], number) for id, number in census.topics.items() if id in topics),
        months=months,
        more_tags=max(0, len(census.tags) - _TAGS),
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
