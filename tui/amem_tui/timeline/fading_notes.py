"""What will fade or change layer within so many days, as lines of a list."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from amem_tui.lists import Line
from amem_tui.phrases import GLYPHS, plural, title

if TYPE_CHECKING:
    from amem.maintenance.forgetting_preview import FadePreview, Foreseen


#: Days that one looks ahead, in the order of the keys.
STEPS = (7, 30, 90, 365)
FARTHEST = 36_500
#: So many notes of each sort are named; all are counted.
MOST = 500

_SIGNS = {"faded": ("▾ ", "watch"), "demoted": ("↓ ", "agent"), "promoted": ("↑ ", "good")}
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


def heading(days: int) -> str:
    """What stands above the list."""
    return f"What fades within {plural(days, 'day')}"


def lines_of(preview: FadePreview) -> list[Line]:
    """A line for each note that is named, with why below it."""
    lines = [_line(note) for note in preview.notes]
    left = sum(preview.counts.values()) - len(lines)
    if left > 0:
        lines.append(Line("", f"and {left:,} more", look="dim"))
    return lines


def _line(note: Foreseen) -> Line:
    return Line(
        key=note.id,
        title=f"{GLYPHS[note.kind]} {title(note.content)}",
        head=((" ", ""), _SIGNS[note.what]),
        tail=((f" {note.now.value:.2f}→{note.then.value:.2f} ", "dim"),),
        below=_why(note),
    )


def _why(note: Foreseen) -> str:
    """What makes it so strong then, in a few words; the curve beside the list has all of it."""
    then = note.then
    used = "never recalled" if not then.recalls else f"recalled {then.recalls}x"
    if math.isinf(then.stability_days):
        return f"does not decay, {used}"
    return f"{then.retention:.0%} kept after {plural(round(then.age_days), 'day')}, {used}"
