"""The notes that speak of one day, in the collection's time zone, as lines of a list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from amem.query import Filter
from amem_tui.lists import PAGE, Line
from amem_tui.phrases import GLYPHS, plural, title

if TYPE_CHECKING:
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.note_lists import Card, Shelf

_MAKERS = {"user": ("●", "person"), "agent": ("▲", "agent")}
_MACHINE = ("◆", "machine")


@dataclass(frozen=True, slots=True)
class DayNotes:
    """A day's notes, earliest last; `lines` are the first of them."""

    day: date
    shelf: Shelf
    lines: list[Line]


def filter_of(day: date, zone: tzinfo) -> Filter:
    """The notes of a day from its midnight to the next one, however many hours lie between them."""
    since = datetime.combine(day, time.min, tzinfo=zone)
    until = None if day == date.max else datetime.combine(day + timedelta(days=1), time.min, tzinfo=zone)
    return Filter(since=since, until=until)


def read_day(memory: AgenticMemorySystem, day: date, zone: tzinfo) -> DayNotes:
    """The order of a day's notes, and the first page of them."""
    shelf = memory.shelf(filter_of(day, zone))
    return DayNotes(day, shelf, read_lines(memory, shelf, 0, zone))


def read_lines(memory: AgenticMemorySystem, shelf: Shelf, start: int, zone: tzinfo) -> list[Line]:
    """A page of lines from a place of the shelf on."""
    return [_line(card, zone) for card in memory.cards(shelf, start, start + PAGE)]


def heading(day: date, count: int) -> str:
    """``Sun 22 Nov 2026: 5 notes``."""
    return f"{day:%a} {day.day} {day:%b} {day.year}: {plural(count, 'note')}"


def _line(card: Card, zone: tzinfo) -> Line:
    sign, look = _MAKERS.get(card.author.split(":")[0], _MACHINE)
    pin = (("▪", "machine"),) if card.pinned else ()
    at = card.at.astimezone(zone)
    return Line(
        key=card.id,
        title=f"{GLYPHS[card.kind]} {title(card.text)}",
        head=((f" {at:%H:%M} ", "dim"), (f"{sign} ", look)),
        tail=(*pin, (f" {card.strength:.2f} ", "dim")),
    )
