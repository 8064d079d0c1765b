"""Where each node goes: on which side of its centre and in which order, then to cells of a screen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from math import atan2, cos, pi, pow, sqrt
from typing import TYPE_CHECKING

from rich.cells import cell_len

from amem_tui.graph.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from amem_tui.graph.scene import Node


# The order of nodes around their centre: linked nodes side by side, what hangs on a node beside it.


def toward(x: float, y: float) -> float:
    """The share of a turn, 0 at the top and clockwise, in this direction from the middle of a ring, y downwards."""
    return (atan2(x, -y) / (2 * pi)) % 1.0


def sides(scene: Scene, facing: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """The nodes right and left of the centre, from the top. `facing` are shares of a turn where nodes were before."""
    hung: dict[str, list[str]] = {}
    for id, via in scene.via.items():
        hung.setdefault(via, []).append(id)

    def branch(id: str) -> list[str]:
        below = [branch(each) for each in hung.get(id, [])]
        return [*chain(*below[: len(below) // 2]), id, *chain(*below[len(below) // 2 :])]

    first = hung.get(scene.centre, [])
    order = [id for each in _first_ring(scene, {id: branch(id) for id in first}, facing) for id in each]

    def kept(turn: int) -> float:
        around = enumerate([*order[turn:], *order[:turn]])
        return sum(cos(2 * pi * (facing[id] - (place + 0.5) / len(order))) for place, id in around if id in facing)

    turn = max(range(len(order)), key=kept, default=0)
    turned, half = [*order[turn:], *order[:turn]], len(order) // 2
    return turned[:half], turned[half:][::-1]


def _first_ring(scene: Scene, branches: Mapping[str, list[str]], facing: Mapping[str, float]) -> list[list[str]]:
    """The branches in their order: as it was where that is known, else so that links between them are short."""
    root = {below: id for id, branch in branches.items() for below in branch}
    between: dict[str, Counter[str]] = {id: Counter() for id in branches}
    for edge in scene.edges:
        here, there = root.get(edge.source), root.get(edge.target)
        if here is not None and there is not None and here != there:
            between[here][there] += 1
            between[there][here] += 1

    def desired(id: str) -> float:
        # Newcomers go beside what they are linked to, and to the end where that is nothing.
        return next((facing[each] for each in (id, *between[id]) if each in facing), 0.999)

    known = any(id in facing for id in branches)
    return [branches[id] for id in (sorted(branches, key=desired) if known else _chained(list(branches), between))]


def _chained(ids: Sequence[str], between: Mapping[str, Mapping[str, int]]) -> list[str]:
    left, row = list(ids), list[str]()

    def pull(id: str) -> tuple[int, int]:
        links = sum(between[id].get(other, 0) * (place + 1) for place, other in enumerate(row[-4:]))
        # Without a pull, begin anew with what has fewest links: an end of its own chain.
        return links, 0 if links else -sum(between[id].values())

    while left:
        row.append(max(left, key=pull))
        left.remove(row[-1])
    return row


# From sides to cells of a screen: every label on a row of its own on its side of the centre, as long as there are rows.
# So none is over another, each may be as long as there is room to the edge, and nothing is searched for.

#: A cell is about so many times as high as it is wide.
ASPECT = 2.0
#: Rings are between an ellipse (2) and a box: this fills the corners of a screen and still reads as a ring.
_SHAPE = 2.6
#: Blank cells between two labels on one row, and the fewest that a label takes there.
_GAP, _NARROWEST = 2, 3
#: The longest label where there are many, and of a few; the centre's may be so much longer.
_LONGEST, _OF_FEW, _CENTRAL = 30, 60, 10
#: How much of the width is left for labels beside the last ring: of up to so many notes, and of more.
_MARGINS, _MARGIN = ((6, 0.38), (12, 0.3)), 0.16
#: Rows for each of a few notes on a side, which stay near each other in the middle: longer lines say nothing more.
_ROWS_EACH = 5.0
#: From so many notes on those beyond the only neighbour are placed around that.
_HANGING = 4
#: How far below the centre its only neighbour is, in rows.
_BELOW = 3
#: By how much circles are drawn smaller until there are rows for all.
_SMALLER = (1.0, 0.8, 0.6, 0.4, 0.0)
#: A label's cells beside the name: a blank at each end, the glyph and a blank after it.
FRAME = 4


@dataclass(frozen=True, slots=True)
class Spot:
    """A label: `width` cells from `left` on `row`; lines end at the cell `port`. `radius` (rows) is of its circle."""

    row: int
    left: int
    width: int
    port: int
    radius: float = 0.0

    @property
    def right(self) -> int:
        return self.left + self.width

    def holds(self, x: int, y: int) -> bool:
        return y == self.row and self.left <= x < self.right


@dataclass(frozen=True, slots=True)
class Layout:
    """A scene on `width` x `height` cells around the node `middle`. A node that found no room at all has no spot."""

    scene: Scene
    width: int
    height: int
    spots: Mapping[str, Spot]
    middle: str

    def at(self, x: int, y: int) -> str | None:
        return next((id for id, spot in self.spots.items() if spot.holds(x, y)), None)


def place(scene: Scene, width: int, height: int, *, before: Layout | None = None) -> Layout:
    """Give every node its cells, always the same for the same arguments; what `before` shows stays on its side."""
    if width < FRAME or height < 1:
        return Layout(scene, width, height, {}, scene.centre)
    seen = _from_hub(scene)
    both = sides(seen, _facing(seen, before))
    for smaller in _SMALLER:
        radii = {id: smaller * _radius(node, seen, height) for id, node in seen.nodes.items()}
        if all(sum(_rows(radii[id]) for id in side) <= height for side in both):
            break
    spots = _Halves(seen, radii, width, height).spots(*both)
    placed = _centred({id: spots[id] for id in scene.nodes if id in spots}, width, height)
    return Layout(scene, width, height, placed, seen.centre)


class _Halves:
    """Places labels in the two halves of a screen, the centre's in the middle."""

    def __init__(self, scene: Scene, radii: Mapping[str, float], width: int, height: int) -> None:
        self._scene, self._radii, self._height = scene, radii, height
        count = len(scene.nodes)
        self._longest = min(max(_LONGEST, _OF_FEW - 2 * count), max(width // 4, width * 4 // (3 + count)))
        most = width if count <= 2 else width // 2
        label = min(natural(scene.nodes[scene.centre]), self._longest + _CENTRAL, most)
        self._middle, self._half = width // 2, (width - 1) // 2
        self._centre = Spot((height - 1) // 2, self._middle - label // 2, label, self._middle, radii[scene.centre])
        self._deepest = max(node.hop for node in scene.nodes.values())
        outer = max(natural(node) for node in scene.nodes.values() if node.hop == self._deepest)
        share = next((share for least, share in _MARGINS if count <= least), _MARGIN)
        #: How far the last ring reaches, in cells from the middle.
        self._reach = self._half - (8 if any(radii.values()) else max(6, min(width * share, outer)))

    def spots(self, right: Sequence[str], left: Sequence[str]) -> dict[str, Spot]:
        """Where each node goes, by sides from the top; what finds no room is left out."""
        found = {self._scene.centre: self._centre}
        if len(right) + len(left) == 1 and self._centre.row + _BELOW < self._height:
            (id,) = (*right, *left)  # below the centre both names have the width of the screen
            label = min(natural(self._scene.nodes[id]), self._longest, 2 * self._half)
            at = self._middle - label // 2
            return found | {id: Spot(self._centre.row + _BELOW, at, label, self._middle, self._radii[id])}
        found |= dict(self._side(right))
        for id, spot in self._side(left):
            found[id] = replace(spot, left=2 * self._middle - spot.right + 1, port=2 * self._middle - spot.port)
        return found

    def _side(self, ids: Sequence[str]) -> Iterator[tuple[str, Spot]]:
        """The nodes of one side, as if it were the right one."""
        if len(ids) > self._height:
            yield from self._crowded(ids)
            return
        heights = {id: _rows(self._radii[id]) for id in ids}
        total = sum(heights.values())
        span = min(self._height, total * _ROWS_EACH)
        step, y = (span - total) / max(1, len(ids)), (self._height - span) / 2
        for id, rows in heights.items():
            row = int(y + (step + rows) / 2)
            spot = self._spot(id, row)
            if row == self._centre.row and step >= 1 and spot.width < natural(self._scene.nodes[id]):
                spot = self._spot(id, row + 1)  # beside the centre there is less room for a name
            yield id, spot
            y += rows + step

    def _spot(self, id: str, row: int) -> Spot:
        """A label as near to its ring as there is room for it between the centre and the edge."""
        node, radius, centre = self._scene.nodes[id], self._radii[id], self._centre
        around = round(radius * ASPECT)
        beside = abs(row - centre.row) <= int(centre.radius) + int(radius)
        least = 2 + (max(centre.width // 2, round(centre.radius * ASPECT)) + 1 if beside else 0)
        high = abs(row - centre.row) / max(1, self._height // 2)
        shape = pow(max(0.0, 1 - pow(high, _SHAPE)), 1 / _SHAPE)
        wanted = round(self._reach * (0.25 + 0.75 * node.hop / self._deepest) * shape)
        label = min(natural(node), self._longest, self._half - least + 1)
        before = label // 2 if radius else 0
        inner, outer = max(around, before), max(around, label - before - 1)
        port = max(least + inner, min(wanted, self._half - outer))
        return Spot(row, self._middle + port - before, label, self._middle + port, radius)

    def _crowded(self, ids: Sequence[str]) -> Iterator[tuple[str, Spot]]:
        """More nodes than rows: several on each row but the centre's, the nearest to the centre first."""
        rows = [row for row in range(self._height) if row != self._centre.row]
        most = self._half // (_NARROWEST + _GAP)
        each = min(most, -(-len(ids) // max(1, len(rows))))
        for row, start in zip(rows, range(0, len(ids), max(1, each)), strict=False):
            beside = sorted(ids[start : start + each], key=lambda id: self._scene.nodes[id].hop)
            for place, id in enumerate(beside):
                left = self._middle + 2 + place * (self._half // each)
                label = min(natural(self._scene.nodes[id]), self._half // each - _GAP)
                yield id, Spot(row, left, label, left)


def _rows(radius: float) -> int:
    return 2 * int(radius) + 1


def _radius(node: Node, scene: Scene, height: int) -> float:
    """Of the circle around what stands for several notes, in rows: its area goes with their number."""
    if not node.weight or height < 12:
        return 0.0
    largest = max(each.weight for each in scene.nodes.values())
    widest = min(4.4, height / 6) * min(1.0, sqrt(12 / len(scene.nodes)))
    return max(1.0, sqrt(node.weight / largest) * widest)


def _from_hub(scene: Scene) -> Scene:
    """The scene as seen from the only neighbour of its centre, if others hang on that: they would crowd one side."""
    near = [node.id for node in scene.nodes.values() if node.hop == 1]
    if len(near) != 1 or len(scene.nodes) < _HANGING or any(node.weight for node in scene.nodes.values()):
        return scene
    hub = near[0]
    nodes = {id: replace(node, hop=1 if id == scene.centre else node.hop - 1) for id, node in scene.nodes.items()}
    via = {id: through for id, through in scene.via.items() if id != hub} | {scene.centre: hub}
    return Scene(hub, nodes, scene.edges, via)


def _centred(spots: Mapping[str, Spot], width: int, height: int) -> dict[str, Spot]:
    """The spots moved so that as much room is left on each side of them."""
    if not spots:
        return {}
    across = {spot: round(spot.radius * ASPECT) for spot in spots.values()}
    left = min(min(spot.left, spot.port - cells) for spot, cells in across.items())
    right = max(max(spot.right, spot.port + cells + 1) for spot, cells in across.items())
    top = min(spot.row - int(spot.radius) for spot in across)
    bottom = max(spot.row + int(spot.radius) for spot in across)
    x, y = (width - right - left) // 2, (height - 1 - bottom - top) // 2
    return {id: replace(spot, row=spot.row + y, left=spot.left + x, port=spot.port + x) for id, spot in spots.items()}


def natural(node: Node) -> int:
    return FRAME + cell_len(node.name) + cell_len(tail(node)) + 2 * node.pinned


def tail(node: Node) -> str:
    """What stands behind a name: how many notes it is, or how many links lead out of the picture."""
    if node.weight:
        return f" {node.weight:,}"
    return f" +{node.more:,}" if node.more else ""


def _facing(scene: Scene, before: Layout | None) -> dict[str, float]:
    """Where nodes were, as places on a ring around where the centre was."""
    if before is None or scene.centre not in before.spots:
        return {}
    middle = before.spots[scene.centre]
    found: dict[str, float] = {}
    for id, spot in before.spots.items():
        if id in scene.nodes and id != scene.centre:
            x, y = spot.port - middle.port, spot.row - middle.row
            found[id] = toward(x / (before.width / 2), y / (before.height / 2))
    return found
