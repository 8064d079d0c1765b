"""Retention curves in the terminal, by plotext, with a line below for each curve that says whose it is."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from amem.cli.render import console, on_terminal, one_line, print_wrapped, short_id, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.maintenance.forgetting_preview import Curve

_HEIGHT, _WIDEST = 16, 100
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: The terminal's own bright colours first.
_COLOURS = (12, 10, 9, 13, 14, 11, 4, 2)
_LETTERS = "abcdefgh"
#: How far apart, in days, the marks below may be.
_STEPS = (1, 2, 5, 7, 10, 14, 30, 60, 90, 180, 365, 3_650)


def print_curves(curves: Sequence[Curve]) -> None:
    """What is kept of each note, by days from now; nothing for no notes."""
    if not curves:
        return
    colours = on_terminal() and not os.environ.get("NO_COLOR")
    print(drawn(curves, min(shutil.get_terminal_size().columns, _WIDEST), colours=colours))
    out = console()
    for letter, colour, curve in zip(_LETTERS, _COLOURS, curves, strict=False):
        mark = ("━━ ", f"color({colour})") if colours else f"{letter} "
        alike = f" (and {curve.alike:,} like it)" if curve.alike else ""
        named = styled(mark, (short_id(curve.id), "cyan"), f"{alike}  {one_line(curve.content, 60)}")
        print_wrapped(out, named, indent=1, hanging=3)


def drawn(curves: Sequence[Curve], width: int, *, colours: bool) -> str:
    """The first eight curves as text, `width` cells wide; without colours, each is made of a letter of its own."""
    from plotext import figure, marker

    # plotext draws on one canvas of its own, which is ours for as long as the command runs.
    figure.clear.all()
    figure.theme("simple" if colours else "colorless")
    today = figure.signal([0, 0], [0, 1], marker="┊")
    figure.draw(today.lines())
    for letter, colour, curve in zip(_LETTERS, _COLOURS, curves, strict=False):
        look = marker("braille", colour) if colours else letter
        figure.draw(figure.signal(curve.days.tolist(), curve.kept.tolist(), marker=look).lines())
    figure.plot_size(width, _HEIGHT)
    figure.ruler("y").lim(0, 1)
    figure.ruler("y").ticks(list(_QUARTERS), [f"{each:.0%}" for each in _QUARTERS])
    marks = _marks(min(curve.days[0] for curve in curves), max(curve.days[-1] for curve in curves), width // 9)
    figure.ruler("x").ticks(marks, [str(mark) for mark in marks])
    figure.label("kept, by days from now")
    text: str = figure.build().string(colorless=not colours)
    return "\n".join(line.rstrip() for line in text.rstrip("\n").splitlines())


def _marks(first: float, last: float, most: int) -> list[int]:
    """Round numbers of days between two, 0 among them, no more than `most`."""
    step = next((each for each in _STEPS if (last - first) / each <= most), _STEPS[-1])
    return [day for day in range(-step * int(-first // step), int(last) + 1, step) if day >= first]
