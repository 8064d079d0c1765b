"""The same scene as an indented tree, for screens on which no picture would fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from amem_tui.cells import fit
from amem_tui.graph.drawing import STROKES
from amem_tui.graph.placing import tail
from amem_tui.toned import toned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style
    from textual import events

    from amem_tui.graph.moving import Way
    from amem_tui.graph.scene import Edge, Node, Scene

_NAMES = ("person", "agent", "machine", "behind", "pin", "node", "chosen", "faded", *(str(type) for type in STROKES))
#: From this width on a row has room for what its link is called.
_ROOMY = 56
_CALLED = 12
_WEIGHT = {type: weight for weight, type in enumerate(STROKES)}


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
        for place, twig in enumerate(twigs):
            last = place == len(twigs) - 1
            grow(twig, below + ("└ " if last else "├ "), below + ("  " if last else "│ "))

    grow(scene.nodes[scene.centre], "", "")
    return found


class GraphTree(ScrollView, can_focus=True, inherit_bindings=False):
    """A row for each node; whoever owns it decides what `chosen` becomes when one is clicked."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"graph--{name}" for name in _NAMES}

    chosen: reactive[str | None] = reactive(None)

    @dataclass
    class Chosen(Message):
        """A row was clicked; `entered` when twice."""

        id: str
        entered: bool

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._scene: Scene | None = None
        self._branches: Sequence[Branch] = ()

    def show(self, scene: Scene, chosen: str) -> None:
        """Show another scene."""
        self._scene, self._branches = scene, branches(scene)
        self.virtual_size = Size(0, len(self._branches))
        self.set_reactive(GraphTree.chosen, chosen)
        self._reveal()
        self.refresh()

    def beyond(self, way: Way) -> str | None:
        """Up and down by rows; left to what a row hangs on, right to the first that hangs on it."""
        ids = self.order()
        if self._scene is None or self.chosen is None or self.chosen not in ids:
            return None
        here = ids.index(self.chosen)
        if way == "left":
            return self._scene.via.get(self.chosen)
        if way == "right":
            return next((id for id in ids if self._scene.via.get(id) == self.chosen), None)
        there = here + (1 if way == "down" else -1)
        return ids[there] if 0 <= there < len(ids) else None

    def order(self) -> Sequence[str]:
        """Every node, from the top."""
        return tuple(branch.node.id for branch in self._branches)

    def watch_chosen(self) -> None:
        self._reveal()
        self.refresh()

    def on_resize(self) -> None:
        self._reveal()

    def on_click(self, event: events.Click) -> None:
        place = event.y + int(self.scroll_y)
        if place < len(self._branches):
            self.post_message(self.Chosen(self._branches[place].node.id, entered=event.chain == 2))

    def _reveal(self) -> None:
        ids = self.order()
        if self.chosen in ids:
            self.scroll_to_region(Region(0, ids.index(self.chosen), 1, 1), animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        place = y + int(self.scroll_y)
        if place >= len(self._branches):
            return Strip.blank(self.size.width, self.rich_style)
        branch = self._branches[place]
        node, width = branch.node, self.size.width
        on = node.id == self.chosen
        base = self.get_component_rich_style("graph--chosen" if on else "graph--node")
        if not on:
            base += self.rich_style.background_style
        segments = [Segment(f" {branch.lead}", self._over("behind", base))]
        if branch.edge is not None and branch.edge.type is not None:
            way = "←" if branch.edge.source == node.id else "→"
            called = fit(str(branch.edge.type).replace("_", " "), _CALLED) + " " if width >= _ROOMY else ""
            segments.append(Segment(f"{way} {called}", self._over(str(branch.edge.type), base)))
        segments.append(Segment(f"{node.glyph} ", self._over("faded" if node.faded else node.voice, base)))
        behind = tail(node) + (" ▪" if node.pinned else "")
        room = max(4, width - sum(segment.cell_length for segment in segments) - cell_len(behind) - 1)
        shown = fit(node.name, min(room, cell_len(node.name)))
        segments.append(Segment(shown, self._over("faded", base) if node.faded else base))
        segments.append(Segment(behind, self._over("behind", base)))
        return Strip(segments).adjust_cell_length(width, base).simplify()

    def _over(self, name: str, base: Style) -> Style:
        return toned(base, self.get_component_rich_style(f"graph--{name}", partial=True))
