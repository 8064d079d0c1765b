"""Where each node goes: rings around a centre, and cells of a screen, each label on a row of its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from math import atan2, cos, pi, pow, sin, sqrt
from typing import TYPE_CHECKING

from rich.cells import cell_len

from amem_tui.graph.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem_tui.graph.scene import Node


# Where on its ring each node goes: linked nodes side by side, what hangs on a node behind it.
#
# A place on a ring is a share of a turn, 0 at the top and clockwise. Equal shares are equal steps down the screen:
# rows are what labels need, and a circle's top and bottom would crowd them into a few.

#: Between an ellipse (2) and a box: this fills the corners of a screen and still reads as a ring.
_SHAPE = 2.6
#: What hangs on one node takes no more of a turn than this, so that it stays on that node's side.
_WIDEST = 0.5
#: A lone node goes by so much of its share to the side, towards the top or the bottom.
_BESIDE = 0.3


def point(place: float) -> tuple[float, float]:
    """(x, y) of a place on the ring around (0, 0) that reaches from -1 to 1 each way, y downwards."""
    place %= 1.0
    y = -1 + 4 * place if place < 0.5 else 3 - 4 * place
    x = pow(max(0.0, 1 - pow(abs(y), _SHAPE)), 1 / _SHAPE)
    return (x if place < 0.5 else -x), y


def toward(x: float, y: float) -> float:
    """The place on the ring in this direction from its middle; the inverse of `point`."""
    reach = pow(pow(abs(x), _SHAPE) + pow(abs(y), _SHAPE), 1 / _SHAPE)
    if reach == 0:
        return 0.25
    down = max(-1.0, min(1.0, y / reach))
    return (down + 1) / 4 if x >= 0 else (0.5 + (1 - down) / 4) % 1.0


def places(scene: Scene, facing: Mapping[str, float]) -> dict[str, float]:
    """A place for every node but the centre. `facing` are places that nodes should keep as far as possible."""
    return _Places(scene, facing).found


class _Places:
    """Gives each node its part of the ring: the centre's neighbours in turn, and behind each what hangs on it."""

    def __init__(self, scene: Scene, facing: Mapping[str, float]) -> None:
        self._facing = facing
        self._hung: dict[str, list[str]] = {}
        for id, via in scene.via.items():
            self._hung.setdefault(via, []).append(id)
        #: How often two nodes are linked, the centre's links left out: they pull in no direction.
        self._tied: dict[str, Counter[str]] = {id: Counter() for id in scene.nodes}
        for edge in scene.edges:
            if scene.centre not in (edge.source, edge.target):
                self._tied[edge.source][edge.target] += 1
                self._tied[edge.target][edge.source] += 1
        #: How much of a ring each node needs: one share, or what hangs on it does.
        self._size: dict[str, float] = {}
        for id in sorted(scene.nodes, key=lambda id: -scene.nodes[id].hop):
            self._size[id] = max(1.0, 0.8 * sum(self._size[below] for below in self._hung.get(id, [])))
        self.found: dict[str, float] = {}
        first = self._first_ring(self._hung.get(scene.centre, []))
        self._share_out(first, self._turn(first), 1.0)

    def _share_out(self, ids: Sequence[str], start: float, share: float) -> None:
        """Give these nodes that share of a turn from `start` on, each with what hangs on it behind it."""
        total = sum(self._size[id] for id in ids)
        for id in ids:
            part = share * self._size[id] / total
            self.found[id] = middle = (start + part / 2) % 1.0
            start += part
            below, part = self._leaning(id), min(part, _WIDEST)
            begin = middle - part / 2
            if len(below) == 1:  # not straight behind: on the same row there would be no room for either's label
                begin += part * _BESIDE * (1 if (middle % 0.5) > 0.25 else -1)
            self._share_out(below, begin, part)

    def _leaning(self, id: str) -> list[str]:
        """What hangs on a node, those that look elsewhere on the side where that is."""
        middle = self.found[id]

        def lean(below: str) -> float:
            if below in self._facing:
                return _signed(self._facing[below] - middle)
            near = [
                _signed(self.found[each] - middle) for each in self._tied[below] if each in self.found and each != id
            ]
            return sum(near) / len(near) if near else 0.0

        return sorted(self._hung.get(id, []), key=lean)

    def _first_ring(self, ids: Sequence[str]) -> list[str]:
        """The order around the centre: as it was where that is known, else so that links between nodes are short."""
        branch = {below: id for id in ids for below in self._branch(id)}
        between: dict[str, Counter[str]] = {id: Counter() for id in ids}
        for one, others in self._tied.items():
            for other, weight in others.items():
                here, there = branch.get(one), branch.get(other)
                if here is not None and there is not None and here != there:
                    between[here][there] += weight
        if not any(id in self._facing for id in ids):
            return _chained(ids, between)

        def desired(id: str) -> float:
            # Newcomers go beside what they are linked to, and to the end where that is nothing.
            near = [self._facing[other] for other in between[id] if other in self._facing]
            return self._facing.get(id, _mean(near) if near else 0.999)

        return sorted(ids, key=desired)

    def _branch(self, id: str) -> list[str]:
        return [id, *(each for below in self._hung.get(id, []) for each in self._branch(below))]

    def _turn(self, first: Sequence[str]) -> float:
        """Where the first share begins: so that what is known stays where it was; a lone node stands below the centre.

        There both names have the width of the screen.
        """
        total, begin, away = sum(self._size[id] for id in first), 0.0, []
        for id in first:
            if id in self._facing:
                away.append((self._facing[id] - (begin + self._size[id] / total / 2)) % 1.0)
            begin += self._size[id] / total
        return _mean(away) if away and len(first) > 1 else 0.0


def _chained(ids: Sequence[str], between: Mapping[str, Mapping[str, int]]) -> list[str]:
    """One after another, each the one with most links to those just before it."""
    left, chain = list(ids), list[str]()

    def pull(id: str) -> tuple[int, int]:
        links = sum(between[id].get(other, 0) * (place + 1) for place, other in enumerate(chain[-4:]))
        # Without a pull, begin anew with what has fewest links: an end of its own chain.
        return links, 0 if links else -sum(between[id].values())

    while left:
        chain.append(max(left, key=pull))
        left.remove(chain[-1])
    return chain


def _mean(shares: Sequence[float]) -> float:
    """The mean of places on a ring."""
    x, y = sum(cos(2 * pi * each) for each in shares), sum(sin(2 * pi * each) for each in shares)
    if abs(x) < 1e-9 and abs(y) < 1e-9:
        return shares[0] % 1.0
    return (atan2(y, x) / (2 * pi)) % 1.0


def _signed(turn: float) -> float:
    """A turn by the shorter way, from -0.5 to 0.5."""
    return (turn + 0.5) % 1.0 - 0.5


# From places on rings to cells of a screen: each node's label on a row of its own stretch, none over another.

#: A cell is about so many times as high as it is wide.
ASPECT = 2.0
#: Blank cells between two labels on one row.
_GAP = 2
#: Widths to begin with, in cells: the widest at which every node finds room is taken, then labels grow.
_BEGINNINGS = (18, 14, 10, 7, 3)
#: The longest label where there are many, and of a few; the centre's may be so much longer.
_LONGEST, _OF_FEW, _CENTRAL = 30, 60, 10
#: How much of the width is left for labels beside the last ring: of up to so many notes, and of more.
_MARGINS, _MARGIN = ((6, 0.38), (12, 0.3)), 0.16
#: A ring is drawn apart by no more than this.
_STRETCH = 1.7
#: From so many notes on those beyond the only neighbour are placed around that.
_HANGING = 4
#: Rows that rings of a few notes reach up and down, for each of them.
_ROWS_EACH = 2.0
#: How much sooner rings reach the top and the bottom than the sides.
_UPRIGHT = 0.55
#: How far from where it belongs a label may go: rows up or down, steps of two cells to the side.
_ROWS, _STEPS = 6, 16
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
    """A scene on `width` x `height` cells. A node that found no room at all has no spot."""

    scene: Scene
    width: int
    height: int
    spots: Mapping[str, Spot]

    def at(self, x: int, y: int) -> str | None:
        return next((id for id, spot in self.spots.items() if spot.holds(x, y)), None)


def place(scene: Scene, width: int, height: int, *, before: Layout | None = None) -> Layout:
    """Give every node its cells. The same arguments always give the same layout.

    With the layout `before` this one, nodes that it shows stay, seen from the centre, on the side where they were.
    """
    if width < FRAME or height < 1:
        return Layout(scene, width, height, {})
    seen = _from_hub(scene)
    around = places(seen, _facing(seen, before))
    spots: dict[str, Spot] = {}
    for beginning in _BEGINNINGS:
        spots = _placed(seen, around, width, height, beginning)
        if len(spots) == len(scene.nodes):
            break
    spots = _centred(_grown(seen, spots, width), width, height)
    return Layout(scene, width, height, {id: spots[id] for id in scene.nodes if id in spots})


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
    left = min(min(spot.left, spot.port - _across(spot)) for spot in spots.values())
    right = max(max(spot.right, spot.port + _across(spot) + 1) for spot in spots.values())
    top = min(spot.row - int(spot.radius) for spot in spots.values())
    bottom = max(spot.row + int(spot.radius) for spot in spots.values())
    x, y = (width - right - left) // 2, (height - 1 - bottom - top) // 2
    return {id: replace(spot, row=spot.row + y, left=spot.left + x, port=spot.port + x) for id, spot in spots.items()}


def _across(spot: Spot) -> int:
    """Cells of its circle on either side of its port."""
    return round(spot.radius * ASPECT)


def natural(node: Node) -> int:
    """How many cells a label takes that says everything."""
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


class _Rows:
    """Which cells are taken, row by row."""

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width, height
        self._taken: list[list[tuple[int, int]]] = [[] for _ in range(height)]

    def free(self, row: int, left: int, right: int) -> bool:
        """Whether a label fits from `left` to before `right`."""
        if not 0 <= row < self._height or left < 0 or right > self._width:
            return False
        return all(right + _GAP <= start or stop + _GAP <= left for start, stop in self._taken[row])

    def take(self, spot: Spot) -> None:
        """Keep others away from a label and from what is inside its circle."""
        around = round(spot.radius * ASPECT)
        for row in range(spot.row - int(spot.radius), spot.row + int(spot.radius) + 1):
            if 0 <= row < self._height:
                ends = (spot.left, spot.right) if row == spot.row else (spot.port - around, spot.port + around + 1)
                self._taken[row].append(ends)

    def give_back(self, spot: Spot) -> None:
        """Forget a label, to place it anew."""
        self._taken[spot.row].remove((spot.left, spot.right))


def _placed(scene: Scene, around: Mapping[str, float], width: int, height: int, beginning: int) -> dict[str, Spot]:
    """As many spots as there is room for, with labels of at most `beginning` cells; the centre first, ring by ring."""
    rows = _Rows(width, height)
    reaches = _reaches(scene, width, height)
    largest = max((node.weight for node in scene.nodes.values()), default=0)
    spots: dict[str, Spot] = {}
    middle = (width - 1) / 2, (height - 1) / 2
    points = {id: point(each) for id, each in around.items()}
    stretch, shift = _upright([0.0, *(y for _, y in points.values())])
    for node in sorted(scene.nodes.values(), key=lambda node: node.hop):
        across, down = (0.0, 0.0) if node.id == scene.centre else points[node.id]
        reach = reaches[node.hop]
        radius = _radius(node, largest, height, len(scene.nodes))
        label = min(natural(node), beginning, width)
        anchor = 0.5 if node.weight else (1 - across) / 2
        x, y = middle[0] + across * reach[0], middle[1] + down * stretch * reach[1] + shift * reaches[max(reaches)][1]
        spot = _nearest_free(rows, x, y, label, anchor, (width, height), radius)
        if spot is not None:
            rows.take(spot)
            spots[node.id] = spot
    return spots


def _upright(heights: Sequence[float]) -> tuple[float, float]:
    """(by how much to draw rings apart, how far to move them) so that top and bottom of the screen are in use."""
    top, bottom = min(heights, default=0.0), max(heights, default=0.0)
    half = (bottom - top) / 2
    stretch = min(_STRETCH, max(1.0, 0.94 / half)) if half > 0.1 else 1.0
    return stretch, -stretch * (top + bottom) / 2


def _nearest_free(
    rows: _Rows, x: float, y: float, label: int, anchor: float, size: tuple[int, int], radius: float
) -> Spot | None:
    """Where a label of so many cells fits nearest to (x, y), the share `anchor` of it left of there."""
    width, height = size
    around, deep = round(radius * ASPECT), int(radius)
    for down, side in _offsets():
        row, port = round(y) + down, round(x) + side
        if not deep <= row < height - deep or not around <= port < width - around:
            continue
        left = max(0, min(width - label, round(port - anchor * (label - 1))))
        if not rows.free(row, left, left + label) or not left <= port < left + label:
            continue
        if all(
            rows.free(each, port - around, port + around + 1)
            for each in range(row - deep, row + deep + 1)
            if deep and each != row
        ):
            return Spot(row, left, label, port, radius)
    return None


@lru_cache(maxsize=1)
def _offsets() -> tuple[tuple[int, int], ...]:
    """(rows, cells) to try one after the other, the nearest first."""
    every = [(down, 2 * side) for down in range(-_ROWS, _ROWS + 1) for side in range(-_STEPS, _STEPS + 1)]
    return tuple(sorted(every, key=lambda each: ((ASPECT * each[0]) ** 2 + each[1] ** 2, each)))


def _reaches(scene: Scene, width: int, height: int) -> dict[int, tuple[float, float]]:
    """How far each ring reaches from the middle, in cells across and rows down; the last leaves room for labels."""
    hops = [node.hop for node in scene.nodes.values()]
    deepest = max(hops, default=0)
    weighty = any(node.weight for node in scene.nodes.values())
    outermost = [natural(node) for node in scene.nodes.values() if node.hop == deepest]
    # A few may be named at length.
    share = next((share for count, share in _MARGINS if len(hops) <= count), _MARGIN)
    room = min(width * share, max(outermost, default=0))
    across = (width - 1) / 2 - (8 if weighty else max(6.0, room))
    # A few stay near each other in the middle: lines across the whole screen say nothing more.
    down = (height - 3) / 2 if weighty else min((height - 1) / 2, _ROWS_EACH * len(hops))
    found = {0: (0.0, 0.0)}
    for hop in range(1, deepest + 1):
        # A ring with much on it comes nearer to the next one: its labels need the rows.
        inner = sum(0 < each <= hop for each in hops) / max(1, sum(each > 0 for each in hops))
        share = 1.0 if hop == deepest else min(0.74, max(0.4, 0.65 * hop / deepest + 0.35 * inner))
        # Rows are scarce and labels lie along them: inner rings are drawn higher than they are wide.
        found[hop] = (max(1.0, across * share), max(0.0, down * pow(share, _UPRIGHT)))
    return found


def _radius(node: Node, largest: int, height: int, count: int) -> float:
    """Of the circle around what stands for several notes: its area goes with their number."""
    if not node.weight or height < 12:
        return 0.0
    widest = min(4.4, height / 6) * min(1.0, sqrt(12 / count))
    return max(1.0, sqrt(node.weight / max(1, largest)) * widest)


def _grown(scene: Scene, spots: Mapping[str, Spot], width: int) -> dict[str, Spot]:
    """Let the labels take what room there is on their rows, in turn, the nearest to the centre first."""
    found = dict(spots)
    height = 1 + max((spot.row for spot in spots.values()), default=0)
    rows = _Rows(width, height)
    for spot in spots.values():
        rows.take(replace(spot, radius=0.0))
    longest = min(max(_LONGEST, _OF_FEW - 2 * len(spots)), max(width // 4, width * 4 // (3 + len(spots))))
    wanted = {id: min(natural(scene.nodes[id]), longest + (_CENTRAL if id == scene.centre else 0)) for id in spots}
    # The centre first: what stands beside it would leave it no room.
    for growing in ([id for id in spots if id == scene.centre], list(spots)):
        while growing:
            growing = [id for id in growing if found[id].width < wanted[id] and _grow(found, id, rows, scene)]
    return found


def _grow(found: dict[str, Spot], id: str, rows: _Rows, scene: Scene) -> bool:
    """Make a label one cell wider, at the end that keeps its port where it belongs if that is free."""
    spot = found[id]
    rows.give_back(spot)
    # The port stays at the end where the label began; in the middle it stays in the middle.
    before, after = spot.port - spot.left, spot.right - 1 - spot.port
    balanced = scene.nodes[id].weight or abs(before - after) <= 1
    leftward = before <= after if balanced else before > after
    lefts = [spot.left - 1, spot.left] if leftward else [spot.left, spot.left - 1]
    # Towards the middle are its lines: it goes over these only for as much as it takes to be read at all.
    for left in lefts if balanced or spot.width < _BEGINNINGS[0] else lefts[:1]:
        if rows.free(spot.row, left, left + spot.width + 1):
            found[id] = replace(spot, left=left, width=spot.width + 1)
            break
    rows.take(replace(found[id], radius=0.0))
    return found[id] is not spot
