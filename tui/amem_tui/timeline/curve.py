"""A retention curve drawn with braille dots, two across and four down in each cell. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_BLANK = 0x2800
#: The bit of each dot, by row and column.
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
#: How far apart, in days, the marks below may be.
_STEPS = (1, 2, 5, 7, 10, 14, 30, 60, 90, 180, 365, 3_650)
#: A mark below takes as many cells, with room around it.
_MARK_CELLS = 7


def dots(days: NDArray[np.float64], kept: NDArray[np.float64], width: int, height: int) -> list[str]:
    """The curve of `kept` (0..1) over `days` as `height` lines of `width` cells, 1 at the top."""
    columns = np.linspace(days[0], days[-1], width * 2)
    rows = (height * 4 - 1) * (1 - np.clip(np.interp(columns, days, kept), 0.0, 1.0))
    places = np.round(rows).astype(int)
    cells = np.full((height, width), _BLANK)
    for column, place in enumerate(places):
        # A steep curve has no gaps: each column reaches down to where the next one begins.
        following = places[column + 1] if column + 1 < len(places) else place
        for row in range(place, max(place, following - 1) + 1):
            cells[row // 4, column // 2] |= _BITS[row % 4][column % 2]
    return ["".join(chr(cell) for cell in line) for line in cells]


def column_of(day: float, days: NDArray[np.float64], width: int) -> int:
    """The cell that a day falls in."""
    share = (day - days[0]) / max(days[-1] - days[0], 1e-9)
    return max(0, min(width - 1, int(share * width)))


def marks(first: float, last: float, width: int) -> Sequence[int]:
    """Round numbers of days between two, 0 among them, as many as there is room for in `width` cells."""
    most = max(1, width // _MARK_CELLS)
    step = next((each for each in _STEPS if (last - first) / each <= most), _STEPS[-1])
    return [day for day in range(-step * int(-first // step), int(last) + 1, step) if day >= first]


def scale(days: NDArray[np.float64], width: int) -> str:
    """The line below a curve: days from now, each under its column, as many as fit beside each other."""
    line = ""
    for mark in marks(float(days[0]), float(days[-1]), width):
        name = "now" if mark == 0 else f"{mark:+d}"
        start = max(0, min(column_of(mark, days, width) - len(name) // 2, width - len(name)))
        if start > len(line) or not line:
            line = line.ljust(start) + name
    return line
