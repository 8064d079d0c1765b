"""Lines made of dots: every cell has 2 x 4 of them, and one colour, that of the weightiest line through it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Unicode's numbering of the dots in a cell, by row and column.
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], dtype=np.uint8)
_BLANK = 0x2800
#: Along a line: how many dots are drawn, and how many are not, in turn.
SOLID, DASHED, LONG_DASHED, DOTTED = (1, 0), (4, 3), (8, 3), (1, 2)
DASH_DOT, DASH_DOT_DOT, PAIRS = (8, 2, 2, 2), (6, 2, 1, 2, 1, 2), (3, 2, 3, 5)


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line between two points in dots. Of the strokes through a cell the one with the greatest `rank` colours it."""

    start: tuple[float, float]
    stop: tuple[float, float]
    rank: int
    dashes: tuple[int, ...] = SOLID


@dataclass(frozen=True, slots=True)
class Dots:
    """By row and column of cells: the character, blank where there is nothing, and the rank of its colour."""

    characters: NDArray[np.uint32]
    ranks: NDArray[np.int32]


def dots(cell: tuple[float, float]) -> tuple[float, float]:
    """The point in the middle of a cell."""
    return cell[0] * 2 + 0.5, cell[1] * 4 + 1.5


def drawn(strokes: Sequence[Stroke], width: int, height: int) -> Dots:
    """The strokes on so many cells; what is outside is cut off. Strokes of rank 0 are taken for none."""
    bits = np.zeros((height, width), dtype=np.uint8)
    ranks = np.zeros((height, width), dtype=np.int32)
    if strokes:
        x, y, rank = _points(strokes)
        inside = (x >= 0) & (x < width * 2) & (y >= 0) & (y < height * 4)
        x, y, rank = x[inside], y[inside], rank[inside]
        np.bitwise_or.at(bits, (y // 4, x // 2), _BITS[y % 4, x % 2])
        np.maximum.at(ranks, (y // 4, x // 2), rank)
    return Dots(np.where(bits > 0, _BLANK + bits.astype(np.uint32), ord(" ")).astype(np.uint32), ranks)


def circle(middle: tuple[float, float], radius: float, rank: int) -> list[Stroke]:
    """A circle around a point, `radius` in dots (which are as high as wide), as short strokes."""
    turns = np.linspace(0, 2 * np.pi, max(12, int(radius * 3)) + 1)
    points = [(middle[0] + radius * float(np.cos(turn)), middle[1] + radius * float(np.sin(turn))) for turn in turns]
    return [Stroke(one, other, rank) for one, other in pairwise(points)]


def _points(strokes: Sequence[Stroke]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int32]]:
    """Every dot of every stroke at once: column, row and rank."""
    start = np.array([stroke.start for stroke in strokes], dtype=float)
    stop = np.array([stroke.stop for stroke in strokes], dtype=float)
    length = np.maximum(1, np.abs(stop - start).max(axis=1).round().astype(np.intp))
    which = np.repeat(np.arange(len(strokes)), length + 1)
    along = np.arange(len(which)) - np.repeat(np.cumsum(length + 1) - (length + 1), length + 1)
    share = (along / length[which])[:, None]
    # Not round(): it takes halves to the even number, and every second dot would be missed.
    at = np.floor(start[which] + (stop - start)[which] * share + 0.5).astype(np.intp)
    kept = np.empty(len(which), dtype=np.bool_)
    for dashes in {stroke.dashes for stroke in strokes}:
        drawn_so = np.array([stroke.dashes == dashes for stroke in strokes])[which]
        pattern = np.repeat(np.arange(len(dashes)) % 2 == 0, dashes)
        kept[drawn_so] = pattern[along[drawn_so] % len(pattern)]
    rank = np.array([stroke.rank for stroke in strokes], dtype=np.int32)[which]
    return at[kept, 0], at[kept, 1], rank[kept]
