"""What narrows the list: conditions chosen one by one, all of which a note must meet, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from amem.note import Kind, Layer, Status
from amem.query import Filter
from amem_tui.phrases import one_line

if TYPE_CHECKING:
    from datetime import tzinfo

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
