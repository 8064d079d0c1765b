"""A layout as a picture or as an indented tree, and the widgets that show them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import cos, floor, pi, sin
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from amem.note import LinkType
from amem_tui.formatting import SIGNS, link_words
from amem_tui.graph.layout import FRAME, Layout, Spot, place, tail
from amem_tui.lists import CursorList, fit
from amem_tui.themes import CONTRAST, toned, towards

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from textual import events

    from amem_tui.graph.scene import Edge, Node, Scene


#: Unicode's numbering of the 2 x 4 dots in a cell, by row and column.
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
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


def dots(cell: tuple[float, float]) -> tuple[float, float]:
    return cell[0] * 2 + 0.5, cell[1] * 4 + 1.5


def drawn(strokes: Iterable[Stroke], width: int, height: int) -> tuple[list[str], list[list[int]]]:
    """The strokes on so many cells as lines of text, and the rank of each cell's colour, 0 where there is nothing."""
    bits, ranks = ([[0] * width for _ in range(height)] for _ in range(2))
    for stroke in strokes:
        (x, y), (right, bottom) = stroke.start, stroke.stop
        steps = max(1, round(max(abs(right - x), abs(bottom - y))))
        pattern = [place % 2 == 0 for place, length in enumerate(stroke.dashes) for _ in range(length)]
        for step in range(steps + 1):
            # Not round(): it takes halves to the even number, and every second dot would be missed.
            column, row = floor(x + (right - x) * step / steps + 0.5), floor(y + (bottom - y) * step / steps + 0.5)
            if pattern[step % len(pattern)] and 0 <= column < width * 2 and 0 <= row < height * 4:
                at = row // 4, column // 2
                bits[at[0]][at[1]] |= _BITS[row % 4][column % 2]
                ranks[at[0]][at[1]] = max(ranks[at[0]][at[1]], stroke.rank)
    return ["".join(chr(_BLANK + cell) if cell else " " for cell in line) for line in bits], ranks


def circle(middle: tuple[float, float], radius: float, rank: int) -> list[Stroke]:
    """A circle around a point, `radius` in dots (which are as high as wide), as short strokes."""
    count = max(12, int(radius * 3))
    turns = [2 * pi * turn / count for turn in range(count + 1)]
    points = [(middle[0] + radius * cos(turn), middle[1] + radius * sin(turn)) for turn in turns]
    return [Stroke(one, other, rank) for one, other in pairwise(points)]


class Look(NamedTuple):
    """How links of a type are drawn and named: in a theme colour, with dashes as in `sample`; shorter names of it."""

    colour: str
    dashes: tuple[int, ...]
    sample: str
    half: str
    short: str


#: Each type is drawn otherwise, for whoever cannot tell the colours; the later ones lie over the earlier.
LOOKS: Mapping[LinkType, Look] = {
    LinkType.RELATED: Look("$muted", SOLID, "⠤⠤⠤", "relate", "rel"),
    LinkType.PART_OF: Look("$foreground", DOTTED, "⠠ ⠄", "part", "prt"),
    LinkType.DERIVED_FROM: Look("$secondary", LONG_DASHED, "⠤⠤ ", "derive", "der"),
    LinkType.SUPPORTS: Look("$success", DASH_DOT, "⠤⠤⠠", "support", "sup"),
    LinkType.CAUSED_BY: Look("$primary", DASH_DOT_DOT, "⠤⠠⠠", "cause", "cau"),
    LinkType.SUPERSEDES: Look("$warning", PAIRS, "⠤⠠⠄", "supers", "spd"),
    LinkType.CONTRADICTS: Look("$error", DASHED, "⠤ ⠤", "contra", "con"),
}
#: How much a line matters now: one among others, one of the centre's, one of the chosen node's.
FAINT, PLAIN, LIT = 0, 1, 2
_CIRCLE = "circle"
#: Of more lines than this none is thick: they would run into one.
_THICK = 24
_TONES = (_CIRCLE, *(str(type) for type in LOOKS))
_PIN = "▪"
#: Narrower than this a label shows no number behind its name.
_ROOM_FOR_TAIL = 13
_HEADS = {(1, 0): "▸", (-1, 0): "◂", (0, 1): "▾", (0, -1): "▴"}


@dataclass(frozen=True, slots=True)
class Run:
    """Some cells of a row: `tone` names the colour, `level` how strong it is, `ground` what lies behind it."""

    text: str
    tone: str = ""
    level: int = PLAIN
    ground: str = ""


#: Rows from the top, each of runs that fill the width.
Picture: TypeAlias = tuple[tuple[Run, ...], ...]


def draw(layout: Layout, chosen: str | None = None, hovered: str | None = None) -> Picture:
    """The layout with one node chosen, whose links shine, and the pointer over another."""
    scene, spots = layout.scene, layout.spots
    chosen = chosen if chosen in spots else None
    strokes = [stroke for edge in scene.edges for stroke in _line(layout, edge, chosen, hovered)]
    for id, spot in spots.items():
        if spot.radius:
            lit = LIT if id in (chosen, hovered) else PLAIN
            strokes += circle(dots((spot.port, spot.row)), spot.radius * 4, _rank(_CIRCLE, lit))
    lines, ranks = drawn(strokes, layout.width, layout.height)
    over: list[list[tuple[int, int, Sequence[Run]]]] = [[] for _ in range(layout.height)]
    for id in sorted(spots, key=lambda id: (id != chosen, id != scene.centre, scene.nodes[id].hop)):
        spot = spots[id]
        if all(spot.right <= start or stop <= spot.left for start, stop, _ in over[spot.row]):
            ground = "centre" if id == scene.centre else "faded" if scene.nodes[id].faded else "node"
            ground = "chosen" if id == chosen else "hovered" if id == hovered else ground
            over[spot.row].append((spot.left, spot.right, label(scene.nodes[id], spot.width, ground)))
    for x, y, head in _heads(layout, chosen):
        if all(not start <= x < stop for start, stop, _ in over[y]):
            over[y].append((x, x + 1, (head,)))
    labelled = (sorted(labels, key=itemgetter(0)) for labels in over)
    return tuple(map(_row, lines, ranks, labelled))


def label(node: Node, width: int, ground: str) -> tuple[Run, ...]:
    """A node's name in exactly so many cells: its glyph in the colour of whoever wrote it, a pin, what is behind it."""
    weak = "faded" if node.faded else ground
    if width < FRAME:
        return (Run(fit(node.glyph, width), node.voice, LIT, ground),)
    pin = f" {_PIN}" if node.pinned and width > FRAME + 4 else ""
    behind = tail(node) if width >= _ROOM_FOR_TAIL or node.weight else ""
    room = width - FRAME - cell_len(pin)
    behind = behind if cell_len(behind) < room else ""
    name = fit(node.name, max(0, room - cell_len(behind)))
    voice = "faded" if node.faded else node.voice
    parts = ((node.glyph, voice), (f" {name}", weak), (behind, "behind"), (pin, "pin"))
    blank = Run(" ", ground=ground)
    return (blank, *(Run(text, tone, LIT, ground) for text, tone in parts if text), blank)


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
    line = Stroke(start, stop, _rank(edge.type, level), LOOKS[edge.type].dashes)
    if not edge.strong or len(layout.scene.edges) > _THICK:
        return [line]
    # The same line a dot to its side: both together look thick.
    x, y = (0, 1) if abs(stop[0] - start[0]) >= abs(stop[1] - start[1]) else (1, 0)
    return [line, replace(line, start=(start[0] + x, start[1] + y), stop=(stop[0] + x, stop[1] + y))]


def _outside(start: tuple[float, float], toward: tuple[float, float], radius: float) -> tuple[float, float]:
    x, y = toward[0] - start[0], toward[1] - start[1]
    length = (x * x + y * y) ** 0.5
    if length <= radius * 4:
        return start
    share = radius * 4 / length
    return start[0] + x * share, start[1] + y * share


def _heads(layout: Layout, chosen: str | None) -> list[tuple[int, int, Run]]:
    """Which way a link points, where there is room: the chosen node's, and those that say what replaces what."""
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
            found.append((*cell, Run(_HEADS[way], str(edge.type), level)))
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


def _row(line: str, ranks: Sequence[int], over: Collection[tuple[int, int, Sequence[Run]]]) -> tuple[Run, ...]:
    runs: list[Run] = []
    x = 0
    for start, stop, labels in [*over, (len(line), len(line), ())]:
        for rank, cells in groupby(range(x, start), key=ranks.__getitem__):
            level, tone = divmod(rank - 1, len(_TONES))
            dots = "".join(line[cell] for cell in cells)
            runs.append(Run(dots, _TONES[tone], level) if rank else Run(dots))
        runs += labels
        x = max(x, stop)
    return tuple(runs)


def _rank(tone: str, level: int) -> int:
    """A line's weight among those that cross it; 0 is no line."""
    return 1 + level * len(_TONES) + _TONES.index(str(tone))


#: From this width on a row has room for what its link is called.
_ROOMY = 56
_CALLED = 12
_WEIGHT = {type: weight for weight, type in enumerate(LOOKS)}


@dataclass
class NodeClicked(Message):
    """A node was clicked, in the picture or in the tree; `entered` when twice."""

    id: str
    entered: bool


@dataclass(frozen=True, slots=True)
class Branch:
    """A row: `lead` is the lines before it; `edge` the link by which it hangs on the row above it."""

    node: Node
    lead: str
    edge: Edge | None


def branches(scene: Scene) -> list[Branch]:
    """The scene from its centre, each node below the one through which it was reached. Topics are a plain list."""
    hung: dict[str, list[Node]] = {}
    for node in scene.nodes.values():
        hung.setdefault(scene.via.get(node.id, ""), []).append(node)
    if any(node.weight for node in scene.nodes.values()):
        return [Branch(node, "", None) for node in scene.nodes.values()]
    between: dict[frozenset[str], Edge] = {}
    for edge in scene.edges:
        ends = frozenset((edge.source, edge.target))
        held = between.get(ends)
        if edge.type is not None and (held is None or _WEIGHT[edge.type] > _WEIGHT[held.type or edge.type]):
            between[ends] = edge
    found: list[Branch] = []

    def grow(node: Node, lead: str, below: str) -> None:
        found.append(Branch(node, lead, between.get(frozenset((node.id, scene.via.get(node.id, ""))))))
        twigs = hung.get(node.id, [])
        for number, twig in enumerate(twigs):
            last = number == len(twigs) - 1
            grow(twig, below + ("└ " if last else "├ "), below + ("  " if last else "│ "))

    grow(scene.nodes[scene.centre], "", "")
    return found


class GraphTree(CursorList, inherit_bindings=False):
    """A row for each node; whoever owns it decides what `chosen` becomes when one is clicked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._scene: Scene | None = None

    @property
    def chosen(self) -> str | None:
        return None if self.line is None else self.line.node.id

    @chosen.setter
    def chosen(self, id: str) -> None:
        self.put_cursor(self.order().index(id))

    def show(self, scene: Scene, chosen: str) -> None:
        self._scene, self.entries = scene, branches(scene)
        self._resized()
        self.chosen = chosen

    def beyond(self, way: Way) -> str | None:
        """Up and down by rows; left to what a row hangs on, right to the first that hangs on it."""
        ids = self.order()
        if self._scene is None or self.chosen is None:
            return None
        if way == "left":
            return self._scene.via.get(self.chosen)
        if way == "right":
            return next((id for id in ids if self._scene.via.get(id) == self.chosen), None)
        there = self.cursor + (1 if way == "down" else -1)
        return ids[there] if 0 <= there < len(ids) else None

    def order(self) -> Sequence[str]:
        return tuple(branch.node.id for branch in self.entries)

    def on_resize(self) -> None:
        self.reveal()

    def clicked(self, x: int, *, again: bool, double: bool) -> None:
        if self.chosen is not None:
            self.post_message(NodeClicked(self.chosen, entered=double))

    def content(self, place: int, part: int, width: int) -> Content:
        branch = self.entries[place]
        node = branch.node
        shown = [(f" {branch.lead}", "$muted")]
        if branch.edge is not None and branch.edge.type is not None:
            way = "←" if branch.edge.source == node.id else "→"
            called = fit(link_words(branch.edge.type), _CALLED) + " " if width >= _ROOMY else ""
            shown.append((f"{way} {called}", LOOKS[branch.edge.type].colour))
        look = "italic $muted" if node.faded else ""
        shown.append((f"{node.glyph} ", look or SIGNS[node.voice][1]))
        behind = tail(node) + (" ▪" if node.pinned else "")
        room = max(4, width - sum(cell_len(text) for text, _ in shown) - cell_len(behind) - 1)
        return Content.assemble(*shown, (fit(node.name, min(room, cell_len(node.name))), look), (behind, "$muted"))


Way = Literal["up", "down", "left", "right"]


def beyond(layout: Layout, here: str, way: Way) -> str | None:
    """The node to which an arrow key leads: by rows within a side, sideways through the middle, which leads to all."""
    spots, middle = layout.spots, layout.spots[layout.middle]
    one, sign = spots[here], -1 if way in ("up", "left") else 1

    def side(id: str) -> int:
        return 0 if id == layout.middle else 1 if spots[id].port >= middle.port else -1

    mine = [id for id in spots if id not in (here, layout.middle) and side(here) in (0, side(id))]
    if way in ("up", "down"):
        found = [id for id in mine if (spots[id].row - one.row) * sign > 0]
        through = (middle.row - one.row) * sign > 0
    else:
        found = [id for id in mine if (spots[id].port - one.port) * sign > 0 and side(id) in (side(here), sign)]
        through = side(here) == -sign
        if through:  # inwards along the row, then to the middle
            found = [id for id in found if spots[id].row == one.row]
    near = {id: (abs(spots[id].row - one.row), abs(spots[id].port - one.port)) for id in found}
    return min(near, key=near.__getitem__, default=layout.middle if through else None)


_NAMES = ("person", "agent", "machine", "behind", "pin", "node", "centre", "chosen", "hovered", "faded", *_TONES)
#: How much of a line's colour is left on the background, and how well it is told from it in any theme at least.
_STRENGTH = {FAINT: 0.38, PLAIN: 0.7, LIT: 1.0}
_LEAST = {FAINT: 3.0, PLAIN: 4.5, LIT: 4.5}
#: So many times as much where the theme is chosen for its contrast.
_SHARPER = 1.5


class GraphCanvas(Widget, can_focus=True):
    """Shows a scene; whoever owns it decides what `chosen` becomes when a node is clicked."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"graph--{name}" for name in _NAMES}

    chosen: reactive[str | None] = reactive(None)
    hovered: reactive[str | None] = reactive(None)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._scene: Scene | None = None
        self.laid_out: Layout | None = None
        self.picture: Picture | None = None
        self._styles: dict[tuple[str, int, str], Style] = {}

    def show(self, scene: Scene, chosen: str) -> None:
        """Show another scene; what stays in it stays on its side."""
        self._scene, self.hovered = scene, None
        self.set_reactive(GraphCanvas.chosen, chosen)
        self._lay_out()

    def beyond(self, way: Way) -> str | None:
        """The node to which an arrow key leads from the chosen one."""
        layout, chosen = self.laid_out, self.chosen
        if layout is None or chosen is None or chosen not in layout.spots:
            return None
        return beyond(layout, chosen, way)

    def order(self) -> Sequence[str]:
        return () if self.laid_out is None else tuple(self.laid_out.spots)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.hovered = None if self.laid_out is None else self.laid_out.at(event.x, event.y)

    def on_leave(self) -> None:
        self.hovered = None

    def on_click(self, event: events.Click) -> None:
        found = None if self.laid_out is None else self.laid_out.at(event.x, event.y)
        if found is not None:
            self.post_message(NodeClicked(found, entered=event.chain == 2))

    def on_resize(self) -> None:
        if self._scene is not None:
            self._lay_out()

    def watch_chosen(self) -> None:
        if self.laid_out is not None:
            self.picture = draw(self.laid_out, self.chosen, self.hovered)
            self.refresh()

    watch_hovered = watch_chosen

    def notify_style_update(self) -> None:
        self._styles.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        if self.picture is None or y >= len(self.picture):
            return Strip.blank(self.size.width, self.rich_style)
        segments = [Segment(run.text, self._style(run)) for run in self.picture[y]]
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)

    def _lay_out(self) -> None:
        if self._scene is not None and self.size:
            held = self.laid_out if self.laid_out is not None and self.laid_out.spots else None
            self.laid_out = place(self._scene, self.size.width, self.size.height, before=held)
            self.watch_chosen()

    def _style(self, run: Run) -> Style:
        key = run.tone, run.level, run.ground
        if key not in self._styles:
            self._styles[key] = self._mixed(*key)
        return self._styles[key]

    def _mixed(self, tone: str, level: int, ground: str) -> Style:
        base = self.get_component_rich_style(f"graph--{ground}") if ground else self.rich_style
        if not tone or tone == ground:
            return base
        if ground:
            return toned(base, self.get_component_rich_style(f"graph--{tone}", partial=True))
        colour = self.get_component_styles(f"graph--{tone}").color
        behind = self.background_colors[1]
        faded = behind.blend(colour, _STRENGTH[level], 1.0)
        least = _LEAST[level] * (_SHARPER if self.app.theme == CONTRAST.name else 1)
        return base + Style(color=towards(faded, colour, behind, least).rich_color)
