"""The picture on the screen: lines of dots, drawn by rows, with a chosen node, followed by the mouse."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.segment import Segment
from rich.style import Style
from textual import work
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from amem_tui.graph.drawing import FAINT, LIT, LOOKS, PLAIN, NodeClicked, Picture, Run, draw
from amem_tui.graph.layout import Layout, Spot, place
from amem_tui.themes import CONTRAST, toned, towards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from amem_tui.graph.scene import Scene


Way = Literal["up", "down", "left", "right"]


def beyond(layout: Layout, here: str, way: Way) -> str | None:
    """The node to which an arrow key leads: by rows within a side, and sideways through the middle.

    From the middle every node can be reached.
    """
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


_NAMES = (
    *("circle", "person", "agent", "machine", "behind", "pin"),
    *("node", "centre", "chosen", "hovered", "faded"),
    *(str(type) for type in LOOKS),
)
#: How much of a line's colour is left on the background, and how well it is told from it in any theme at least.
_STRENGTH = {FAINT: 0.38, PLAIN: 0.7, LIT: 1.0}
_LEAST = {FAINT: 3.0, PLAIN: 4.5, LIT: 4.5}
#: So many times as much where the theme is chosen for its contrast.
_SHARPER = 1.5
#: A step to another centre takes so many pictures, and so many seconds for each.
_FRAMES, _PAUSE = 6, 0.035


class GraphCanvas(Widget, can_focus=True):
    """Shows a scene; whoever owns it decides what `chosen` becomes when a node is clicked."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"graph--{name}" for name in _NAMES}

    chosen: reactive[str | None] = reactive(None)
    hovered: reactive[str | None] = reactive(None)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._scene: Scene | None = None
        #: Where everything is.
        self.laid_out: Layout | None = None
        self.picture: Picture | None = None
        self._styles: dict[tuple[str, int, str], Style] = {}

    def show(self, scene: Scene, chosen: str, *, turn: bool = False) -> None:
        """Show another scene; what stays in it stays on its side. With `turn` it moves there in a few steps."""
        before, self._scene = self.laid_out, scene
        self.hovered = None
        self.set_reactive(GraphCanvas.chosen, chosen)
        self._lay_out(before)
        if turn and before is not None and self.laid_out is not None and self.app.animation_level != "none":
            self._turn(before, self.laid_out)

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
            self._lay_out(self.laid_out)

    def watch_chosen(self) -> None:
        self._draw(self.laid_out)

    watch_hovered = watch_chosen

    def notify_style_update(self) -> None:
        self._styles.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        if self.picture is None or y >= len(self.picture.rows):
            return Strip.blank(self.size.width, self.rich_style)
        segments = [Segment(run.text, self._style(run)) for run in self.picture.rows[y]]
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)

    def _lay_out(self, before: Layout | None) -> None:
        if self._scene is None or not self.size:
            return
        held = before if before is not None and before.spots else None
        self.laid_out = place(self._scene, self.size.width, self.size.height, before=held)
        self._draw(self.laid_out)

    def _draw(self, layout: Layout | None) -> None:
        if layout is not None:
            self.picture = draw(layout, self.chosen, self.hovered)
            self.refresh()

    @work(exclusive=True, group="turn")
    async def _turn(self, before: Layout, after: Layout) -> None:
        for frame in range(1, _FRAMES):
            if self.laid_out is not after:
                return
            # Quick at first, then slower: the eye follows to where things come to rest.
            share = 1 - (1 - frame / _FRAMES) ** 2
            self._draw(_between(before, after, share))
            await asyncio.sleep(_PAUSE)
        if self.laid_out is after:
            self._draw(after)

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


def _between(before: Layout, after: Layout, share: float) -> Layout:
    """A layout on the way from one to another; what is new comes from where what it hangs on was."""
    spots: dict[str, Spot] = {}
    for id, spot in after.spots.items():
        start = (
            before.spots.get(id)
            or before.spots.get(after.scene.via.get(id, ""))
            or spots.get(after.scene.via.get(id, ""), spot)
        )
        port = round(start.port + (spot.port - start.port) * share)
        row = min(after.height - 1, round(start.row + (spot.row - start.row) * share))
        left = max(0, min(after.width - spot.width, spot.left + port - spot.port))
        spots[id] = replace(spot, row=row, left=left, port=port)
    return replace(after, spots=spots)
