"""What there is to narrow the list by, and the conditions that were chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Literal

from amem.collection import listed_collection
from amem.note import Kind, Layer, Status
from amem.query import Filter
from amem_tui.phrases import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem


# What narrows the list: conditions chosen one by one, all of which a note must meet, and what they are called.

Facet = Literal["kind", "tag", "topic", "period", "layer", "status"]

#: Facets of which a note has one value: another one takes the place of the first. Several kinds are alternatives.
_ONE_AT_A_TIME = ("topic", "period", "layer", "status")


@dataclass(frozen=True, slots=True)
class Condition:
    """One choice: `value` is the tag, the kind's name, the topic's note id, or a period (``2026`` or ``2026-03``)."""

    facet: Facet
    value: str
    label: str

    @property
    def words(self) -> str:
        """As the heading says it."""
        label = one_line(self.label, 30)
        return f"#{label}" if self.facet == "tag" else label


@dataclass(frozen=True, slots=True)
class Conditions:
    """Those that are chosen, in the order in which they were."""

    chosen: tuple[Condition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.chosen)

    def __contains__(self, condition: Condition) -> bool:
        return any((each.facet, each.value) == (condition.facet, condition.value) for each in self.chosen)

    def toggled(self, condition: Condition) -> Conditions:
        """With the condition, or without it when it is chosen already."""
        left = tuple(each for each in self.chosen if (each.facet, each.value) != (condition.facet, condition.value))
        if len(left) < len(self.chosen):
            return replace(self, chosen=left)
        if condition.facet in _ONE_AT_A_TIME:
            left = tuple(each for each in left if each.facet != condition.facet)
        return replace(self, chosen=(*left, condition))

    def without_last(self) -> Conditions:
        """One step back out."""
        return replace(self, chosen=self.chosen[:-1])

    @property
    def words(self) -> str:
        """All of them: ``#tea · preference · 2026-03``."""
        return " · ".join(each.words for each in self.chosen)

    def filter(self, zone: tzinfo) -> Filter:
        """The same as a Filter; a period is one of the calendar of `zone`."""
        since, until = _bounds(self._values("period"), zone)
        topics = self._values("topic")
        statuses = tuple(Status(value) for value in self._values("status"))
        return Filter(
            tags=self._values("tag"),
            kinds=tuple(Kind(value) for value in self._values("kind")),
            layers=tuple(Layer(value) for value in self._values("layer")),
            statuses=statuses or (Status.ACTIVE,),
            part_of=topics[0] if topics else None,
            since=since,
            until=until,
        )

    def _values(self, facet: Facet) -> tuple[str, ...]:
        return tuple(each.value for each in self.chosen if each.facet == facet)


def _bounds(periods: tuple[str, ...], zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    if not periods:
        return None, None
    year, _, month = periods[0].partition("-")
    first = datetime(int(year), int(month or 1), 1, tzinfo=zone)
    if not month:
        return first, _month_after(first.replace(month=12))
    return first, _month_after(first)


def _month_after(first: datetime) -> datetime | None:
    """None after the last month that there is."""
    if first.month < 12:
        return first.replace(month=first.month + 1)
    return None if first.year == datetime.max.year else first.replace(year=first.year + 1, month=1)


# What there is to narrow the list by, with how many notes each would leave: read whole, drawn by the sidebar.

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
