"""How one note is remembered: its retention curve, what its strength is made of, what time will do to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from textual.content import Content

from amem.labels import counted
from amem.maintenance.retention_figure import day_marks
from amem.note import Layer, Status
from amem_tui.formatting import GLYPHS, day, one_line, title
from amem_tui.graph.drawing import Stroke, drawn
from amem_tui.page import Block, Line, Page, lay_out, space

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime, tzinfo

    from numpy.typing import NDArray

    from amem.maintenance.forgetting_preview import Outlook


#: A mark below takes as many cells, with room around it.
_MARK_CELLS = 7


def dots(days: NDArray[np.float64], kept: NDArray[np.float64], width: int, height: int) -> list[str]:
    """The curve of `kept` (0..1) over `days` as `height` lines of `width` cells, 1 at the top."""
    columns = np.linspace(days[0], days[-1], width * 2)
    rows = np.round((height * 4 - 1) * (1 - np.clip(np.interp(columns, days, kept), 0.0, 1.0)))
    curve = [Stroke(one, other, 1) for one, other in pairwise(enumerate(rows.tolist()))]
    return drawn(curve, width, height)[0]


def column_of(day: float, days: NDArray[np.float64], width: int) -> int:
    share = (day - days[0]) / max(days[-1] - days[0], 1e-9)
    return max(0, min(width - 1, int(share * width)))


def marks(first: float, last: float, width: int) -> Sequence[int]:
    """Round numbers of days between two, 0 among them, as many as there is room for in `width` cells."""
    return day_marks(first, last, max(1, width // _MARK_CELLS))


def scale(days: NDArray[np.float64], width: int) -> str:
    """The line below a curve: days from now, each under its column, as many as fit beside each other."""
    line = ""
    for mark in marks(float(days[0]), float(days[-1]), width):
        name = "now" if mark == 0 else f"{mark:+d}"
        start = max(0, min(column_of(mark, days, width) - len(name) // 2, width - len(name)))
        if start > len(line) or not line:
            line = line.ljust(start) + name
    return line


_LAYERS = {Layer.SHORT_TERM: "short-term memory", Layer.LONG_TERM: "long-term memory"}
#: The words of the scale at the left of the curve.
_LEFT = ("100%", " 50%", "  0%")
_LEAST_HEIGHT = 3
#: Lines that the curve takes, with the days below it.
_LOW, _HIGH = 5, 14


@dataclass(frozen=True, slots=True)
class Curve:
    """A part of a page: the curve of one outlook and the days below it, `height` lines in all."""

    outlook: Outlook
    height: int

    def lines(self, width: int) -> Iterator[Line]:
        """The curve, with how much is kept at its left and the present marked."""
        left_cells, height = len(_LEFT[0]), self.height - 1
        days, cells = self.outlook.days, width - left_cells - 1
        if cells < 8 or height < _LEAST_HEIGHT:
            return
        now = column_of(0.0, days, cells)
        words = {0: _LEFT[0], height // 2: _LEFT[1], height - 1: _LEFT[2]}
        for place, line in enumerate(dots(days, self.outlook.kept, cells, height)):
            here = ("┊", "$muted") if line[now] == " " else (line[now], "bold $accent")
            left = f"{words.get(place, ' ' * left_cells)} "
            yield Line(Content.assemble((left + line[:now], "$muted"), here, (line[now + 1 :], "$primary")))
        yield Line(Content.styled(" " * (left_cells + 1) + scale(days, cells), "$muted"))


class Forgetting(Page):
    """The pane; it scrolls where it is too small for all there is to say."""

    def __init__(self, zone: tzinfo, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._zone = zone
        self.outlook: Outlook | None = None

    async def tell(self, outlook: Outlook | None, words: str = "") -> None:
        """Tell of a note, or `words` where there is none."""
        self.outlook = outlook
        if outlook is None:
            await self.say(words)
            return
        head, terms = Block(_head(outlook)), Block(_terms(outlook, self._zone))
        size = self.scrollable_content_region
        room = size.height - len(lay_out([head, terms], size.width).lines) - 2
        curve = Curve(outlook, max(_LOW, min(room, _HIGH)))
        await self.show([head, space(), curve, space(), terms], keep=True)

    def on_resize(self) -> None:
        super().on_resize()
        if self.outlook is not None:
            self.call_later(self.tell, self.outlook)


def _head(outlook: Outlook) -> Content:
    pinned = ("▪ ", "$accent") if outlook.pinned else ""
    return Content.assemble(
        pinned,
        (one_line(title(outlook.content), 110), "bold"),
        (f"\n{GLYPHS[outlook.kind]} {outlook.kind}, {_LAYERS[outlook.now.layer]}", "$muted"),
        (f", {outlook.status}" if outlook.status is not Status.ACTIVE else "", "$warning"),
    )


def _terms(outlook: Outlook, zone: tzinfo) -> Content:
    """The strength as the product it is, and what is to come."""
    now = outlook.now
    used = "never recalled" if not now.recalls else f"recalled {now.recalls}x"
    lasting = math.isinf(now.stability_days)
    kept = "does not decay" if lasting else f"after {counted(round(now.age_days), 'day')}"
    factor = now.value / (now.importance * now.trust * now.retention) if now.value else 1.0 + math.log1p(now.recalls)
    rows = (
        ("importance", f"{now.importance:.2f}", ""),
        ("× trust", f"{now.trust:.2f}", ""),
        ("× recalls", f"{factor:.2f}", used),
        ("× kept", f"{now.retention:.0%}", kept),
    )
    lines = [
        Content.assemble((f"{name:<11}", "$muted"), f"{value:>5}", (f"  {why}", "$muted")) for name, value, why in rows
    ]
    lines.append(Content.assemble((f"{'= strength':<11}", "bold"), (f"{now.value:>5.2f}", "bold $primary")))
    if not lasting:
        lines.append(
            Content.assemble((f"{counted(round(now.stability_days), 'day')} after a use 37% are kept", "$muted"))
        )
    lines += [Content(""), *_to_come(outlook, zone)]
    return Content("\n").join(lines)


def _to_come(outlook: Outlook, zone: tzinfo) -> list[Content]:
    found = []
    first = outlook.fades is None or outlook.moves is None or outlook.moves <= outlook.fades
    if outlook.moves is not None and outlook.moves_to is not None and first:
        verb = "rises to" if outlook.moves_to is Layer.LONG_TERM else "falls back to"
        found.append(Content(f"{verb} {_LAYERS[outlook.moves_to]} {_when(outlook.moves, outlook.at, zone)}"))
    if outlook.fades is not None:
        found.append(
            Content.assemble(("fades", "$warning"), f" into the archive {_when(outlook.fades, outlook.at, zone)}")
        )
    elif outlook.status is Status.ACTIVE and not math.isinf(outlook.now.stability_days):
        never = ("never archived", "$success")
        found.append(Content.assemble("what is kept falls, but the note is ", never, f": {outlook.stays}"))
    else:
        found.append(Content.assemble(("never fades", "$success"), f": {outlook.stays}"))
    return found


def _when(at: datetime, now: datetime, zone: tzinfo) -> str:
    ahead = round((at - now).total_seconds() / 86_400)
    return "with the next maintenance" if ahead <= 0 else f"on {day(at, zone)}, in {counted(ahead, 'day')}"
