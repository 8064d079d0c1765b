"""A layout as rows of text with the names of their colours: lines of dots, labels over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from amem.note import LinkType
from amem_tui.cells import fit
from amem_tui.graph import braille
from amem_tui.graph.braille import Stroke, circle, dots
from amem_tui.graph.placing import FRAME, Layout, Spot, tail

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from amem_tui.graph.braille import Dots
    from amem_tui.graph.scene import Edge, Node

#: How a link of each type is drawn, each otherwise, for whoever cannot tell the colours; the later ones lie over the
#: earlier.
STROKES: Mapping[LinkType, tuple[int, ...]] = {
    LinkType.RELATED: braille.SOLID,
    LinkType.PART_OF: braille.DOTTED,
    LinkType.DERIVED_FROM: braille.LONG_DASHED,
    LinkType.SUPPORTS: braille.DASH_DOT,
    LinkType.CAUSED_BY: braille.DASH_DOT_DOT,
    LinkType.SUPERSEDES: braille.PAIRS,
    LinkType.CONTRADICTS: braille.DASHED,
}
#: How much a line matters now: one among others, one of the centre's, one of the chosen node's.
FAINT, PLAIN, LIT = 0, 1, 2
_CIRCLE = "circle"
#: Of more lines than this none is thick: they would run into one.
_THICK = 24
_TONES = (_CIRCLE, *(str(type) for type in STROKES))
_PIN = "▪"
#: Narrower than this a label shows no number behind its name.
_ROOM_FOR_TAIL = 13
_HEADS = {(1, 0): "▸", (-1, 0): "◂", (0, 1): "▾", (0, -1): "▴"}


@dataclass(frozen=True, slots=True)
class Run:
    """Some cells of a row: `tone` names the colour, `level` how strong it is, `ground` what lies behind it."""

    text: str
    width: int
    tone: str = ""
    level: int = PLAIN
    ground: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """`rows` from the top, each of runs that fill the width."""

    rows: tuple[tuple[Run, ...], ...]

    @property
    def text(self) -> str:
        """Without its colours."""
        return "\n".join("".join(run.text for run in row) for row in self.rows)


def draw(layout: Layout, chosen: str | None = None, hovered: str | None = None) -> Picture:
    """The layout with one node chosen, whose links shine, and the pointer over another."""
    scene, spots = layout.scene, layout.spots
    chosen = chosen if chosen in spots else None
    strokes = [stroke for edge in scene.edges for stroke in _line(layout, edge, chosen, hovered)]
    for id, spot in spots.items():
        if spot.radius:
            lit = LIT if id in (chosen, hovered) else PLAIN
            strokes += circle(dots((spot.port, spot.row)), spot.radius * 4, _rank(_CIRCLE, lit))
    found = braille.drawn(strokes, layout.width, layout.height)
    over: list[list[tuple[int, int, Sequence[Run]]]] = [[] for _ in range(layout.height)]
    # The chosen one first: on the way from one layout to the next labels may meet, and then it is the one to be seen.
    for id in sorted(spots, key=lambda id: (id != chosen, id != scene.centre, scene.nodes[id].hop)):
        spot = spots[id]
        if all(spot.right <= start or stop <= spot.left for start, stop, _ in over[spot.row]):
            ground = _ground(scene.nodes[id], id == scene.centre, id == chosen, id == hovered)
            over[spot.row].append((spot.left, spot.right, label(scene.nodes[id], spot.width, ground)))
    for x, y, head in _heads(layout, chosen):
        if all(not start <= x < stop for start, stop, _ in over[y]):
            over[y].append((x, x + 1, (head,)))
    return Picture(tuple(_row(found, y, layout.width, sorted(over[y], key=_start)) for y in range(layout.height)))


def label(node: Node, width: int, ground: str) -> tuple[Run, ...]:
    """A node's name in exactly so many cells: its glyph in the colour of whoever wrote it, a pin, what is behind it."""
    weak = "faded" if node.faded else ground
    if width < FRAME:
        return (Run(fit(node.glyph, width), width, node.voice, LIT, ground),)
    pin = f" {_PIN}" if node.pinned and width > FRAME + 4 else ""
    behind = tail(node) if width >= _ROOM_FOR_TAIL or node.weight else ""
    room = max(0, width - FRAME - cell_len(pin) - cell_len(behind))
    behind = behind if room else ""
    room = width - FRAME - cell_len(pin) - cell_len(behind)
    name = fit(node.name, room) if room else ""
    runs = [
        Run(" ", 1, ground=ground),
        Run(node.glyph, 1, "faded" if node.faded else node.voice, LIT, ground),
        Run(f" {name}", room + 1, weak, LIT, ground),
    ]
    if behind:
        runs.append(Run(behind, cell_len(behind), "behind", LIT, ground))
    if pin:
        runs.append(Run(pin, 2, "pin", LIT, ground))
    return (*runs, Run(" ", 1, ground=ground))


def _ground(node: Node, centre: bool, chosen: bool, hovered: bool) -> str:
    if chosen:
        return "chosen"
    if hovered:
        return "hovered"
    if centre:
        return "centre"
    return "faded" if node.faded else "node"


def _line(layout: Layout, edge: Edge, chosen: str | None, hovered: str | None) -> list[Stroke]:
    """A link from label to label; nothing when one of them has no room."""
    one, other = layout.spots.get(edge.source), layout.spots.get(edge.target)
    if one is None or other is None:
        return []
    ends = (edge.source, edge.target)
    level = LIT if chosen in ends or hovered in ends else PLAIN if layout.scene.centre in ends else FAINT
    start, stop = dots((one.port, one.row)), dots((other.port, other.row))
    if edge.quiet and level != LIT:
        return []
    if edge.type is None:
        level = max(level, PLAIN)
        start, stop = _outside(start, stop, one.radius), _outside(stop, start, other.radius)
        return [Stroke(start, stop, _rank(LinkType.RELATED, level))]
    line = Stroke(start, stop, _rank(edge.type, level), STROKES[edge.type])
    thick = edge.strong and len(layout.scene.edges) <= _THICK
    return [line, _beside(line)] if thick else [line]


def _beside(line: Stroke) -> Stroke:
    """The same line a dot to its side: both together look thick."""
    across, down = abs(line.stop[0] - line.start[0]), abs(line.stop[1] - line.start[1])
    x, y = (0, 1) if across >= down else (1, 0)
    return replace(line, start=(line.start[0] + x, line.start[1] + y), stop=(line.stop[0] + x, line.stop[1] + y))


def _outside(start: tuple[float, float], toward: tuple[float, float], radius: float) -> tuple[float, float]:
    """Where the way from a circle's middle leaves it; `radius` in rows."""
    x, y = toward[0] - start[0], toward[1] - start[1]
    length = (x * x + y * y) ** 0.5
    if length <= radius * 4:
        return start
    share = radius * 4 / length
    return start[0] + x * share, start[1] + y * share


def _heads(layout: Layout, chosen: str | None) -> list[tuple[int, int, Run]]:
    """Which way a link points: for the chosen node's links, beside their other ends, where there is room for it; and
    for those that say what replaces what, beside what was replaced.
    """
    found: list[tuple[int, int, Run]] = []
    for edge in layout.scene.edges:
        mine = chosen in (edge.source, edge.target)
        one, other = layout.spots.get(edge.source), layout.spots.get(edge.target)
        if edge.type is None or one is None or other is None or not (mine or edge.type is LinkType.SUPERSEDES):
            continue
        cell = _before(other, one) if edge.target == chosen else _before(one, other)
        if cell is not None:
            x, y = one.port - other.port, (one.row - other.row) * 2
            way = (-1 if x > 0 else 1, 0) if abs(x) >= abs(y) else (0, -1 if y > 0 else 1)
            level = LIT if mine else PLAIN if layout.scene.centre in (edge.source, edge.target) else FAINT
            found.append((*cell, Run(_HEADS[way], 1, str(edge.type), level)))
    return sorted(found, key=lambda each: -each[2].level)


def _before(one: Spot, other: Spot) -> tuple[int, int] | None:
    """The last cell of the line from one label to another that is under neither; None when they touch."""
    x, y = one.port - other.port, one.row - other.row
    steps = max(abs(x), abs(y) * 2, 1)
    for step in range(1, steps):
        cell = round(other.port + x * step / steps), round(other.row + y * step / steps)
        if not other.holds(*cell):
            return None if one.holds(*cell) else cell
    return None


def _row(found: Dots, y: int, width: int, over: Collection[tuple[int, int, Sequence[Run]]]) -> tuple[Run, ...]:
    """One row: dots, and labels in their place."""
    characters, ranks = found.characters[y].tolist(), found.ranks[y].tolist()
    runs: list[Run] = []
    x = 0
    for start, stop, labels in [*over, (width, width, ())]:
        while x < start:
            end = x + 1
            while end < start and ranks[end] == ranks[x]:
                end += 1
            tone, level = _tone(ranks[x])
            runs.append(Run("".join(map(chr, characters[x:end])), end - x, tone, level))
            x = end
        runs += labels
        x = max(x, stop)
    return tuple(runs)


def _rank(tone: str, level: int) -> int:
    """A line's weight among those that cross it; 0 is no line."""
    return 1 + level * len(_TONES) + _TONES.index(str(tone))


def _tone(rank: int) -> tuple[str, int]:
    if rank == 0:
        return "", PLAIN
    level, tone = divmod(rank - 1, len(_TONES))
    return _TONES[tone], level


def _start(labelled: tuple[int, int, Sequence[Run]]) -> int:
    return labelled[0]
