"""Notes of a day, and notes that will fade, as lines of a list."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from amem.query import Filter
from amem_tui.formatting import GLYPHS, SIGNS, author, plural, title
from amem_tui.lists import PAGE, Line

if TYPE_CHECKING:
    from datetime import tzinfo

    from amem.maintenance.forgetting_preview import FadePreview, Foreseen
    from amem.memory_system import AgenticMemorySystem
    from amem.storage.note_lists import Card, Shelf


# The notes that speak of one day, in the collection's time zone, as lines of a list.


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
    return [_day_line(card, zone) for card in memory.cards(shelf, start, start + PAGE)]


def day_heading(day: date, count: int) -> str:
    """``Sun 22 Nov 2026: 5 notes``."""
    return f"{day:%a} {day.day} {day:%b} {day.year}: {plural(count, 'note')}"


def _day_line(card: Card, zone: tzinfo) -> Line:
    sign, look = SIGNS[author(card.author)]
    pin = (("▪", "$accent"),) if card.pinned else ()
    at = card.at.astimezone(zone)
    return Line(
        key=card.id,
        title=f"{GLYPHS[card.kind]} {title(card.text)}",
        head=((f" {at:%H:%M} ", "$muted"), (f"{sign} ", look)),
        tail=(*pin, (f" {card.strength:.2f} ", "$muted")),
    )


# What will fade or change layer within so many days, as lines of a list.

#: Days that one looks ahead, in the order of the keys.
STEPS = (7, 30, 90, 365)
FARTHEST = 36_500
#: So many notes of each sort are named; all are counted.
MOST = 500

_SIGNS = {"faded": ("▾ ", "$warning"), "demoted": ("↓ ", "$primary"), "promoted": ("↑ ", "$success")}
_WORDS = {"faded": "fade", "demoted": "fall back", "promoted": "rise"}


def farther(days: int) -> int:
    """The next larger step, or the largest."""
    return next((each for each in STEPS if each > days), max(days, STEPS[-1]))


def nearer(days: int) -> int:
    """The next smaller step, or the smallest."""
    return next((each for each in reversed(STEPS) if each < days), min(days, STEPS[0]))


def counted(preview: FadePreview) -> str:
    """``3 fade, 1 rises``."""
    said = [f"{number:,} {_WORDS[what]}" for what, number in preview.counts.items() if number]
    return ", ".join(sorted(said, key=lambda words: not words.endswith("fade"))) or "nothing"


def fading_heading(days: int) -> str:
    """What stands above the list."""
    return f"What fades within {plural(days, 'day')}"


def lines_of(preview: FadePreview) -> list[Line]:
    """A line for each note that is named, with why below it."""
    lines = [_fading_line(note) for note in preview.notes]
    left = sum(preview.counts.values()) - len(lines)
    if left > 0:
        lines.append(Line("", f"and {left:,} more", look="$muted"))
    return lines


def _fading_line(note: Foreseen) -> Line:
    return Line(
        key=note.id,
        title=f"{GLYPHS[note.kind]} {title(note.content)}",
        head=((" ", ""), _SIGNS[note.what]),
        tail=((f" {note.now.value:.2f}→{note.then.value:.2f} ", "$muted"),),
        below=_why(note),
    )


def _why(note: Foreseen) -> str:
    """What makes it so strong then, in a few words; the curve beside the list has all of it."""
    then = note.then
    used = "never recalled" if not then.recalls else f"recalled {then.recalls}x"
    if math.isinf(then.stability_days):
        return f"does not decay, {used}"
    return f"{then.retention:.0%} kept after {plural(round(then.age_days), 'day')}, {used}"
