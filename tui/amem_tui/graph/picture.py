"""From the notes around one to a picture of them in two steps, each a pure function of what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem_tui.graph.drawing import Picture, draw
from amem_tui.graph.layout import Layout, place
from amem_tui.graph.scene import scene_of

if TYPE_CHECKING:
    from amem.neighbourhood import LocalGraph

__all__ = ["Layout", "Picture", "draw", "layout"]


def layout(graph: LocalGraph, width: int, height: int) -> Layout:
    """Where each note goes on so many cells."""
    return place(scene_of(graph), width, height)
