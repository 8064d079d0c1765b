"""What the graph shows can be told apart on every theme, and types of links by more than their colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.graph.drawing import LOOKS, GraphCanvas
from amem_tui.graph.graph_room import TypeRow
from amem_tui.themes import AA, CONTRAST, contrast
from driving import browsing, listed, settled
from linked_notes import collection, in_the_graph, move, rested
from textual.color import Color

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.strip import Strip
    from textual.widget import Widget

    from amem.memory_system import AgenticMemorySystem

pytestmark = pytest.mark.thorough

THEMES = ["amem", "amem-light", "amem-contrast", "textual-light", "nord", "ansi-dark"]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgenticMemorySystem]:
    with collection(tmp_path) as opened:
        move(opened)
        yield opened


def shown(widget: Widget, *lines: int) -> Iterator[tuple[str, float]]:
    """The words on these lines of a widget, or on all, each with its contrast to what lies behind it."""
    strips: list[Strip] = [widget.render_line(y) for y in lines or range(widget.size.height)]
    for segment in (each for strip in strips for each in strip):
        style = segment.style
        if segment.text.strip() and style is not None and style.color is not None:
            ground = Color.from_rich_color(style.bgcolor) if style.bgcolor else widget.background_colors[1]
            yield segment.text, contrast(Color.from_rich_color(style.color), ground)


async def test_labels_and_lines_can_be_read_on_every_theme(memory: AgenticMemorySystem) -> None:
    async with in_the_graph(memory, memory.list()[0].id) as pilot:
        canvas = pilot.app.screen.query_one(GraphCanvas)
        await pilot.press("3")
        await rested(pilot)
        for theme in THEMES[:-1]:
            pilot.app.theme = theme
            await pilot.pause()
            for text, found in shown(canvas):
                line = all(0x2800 <= ord(char) <= 0x28FF for char in text)
                sharp = 1.5 if theme == CONTRAST.name else 1.0
                assert found >= (3.0 * sharp if line else 3.0 if text in "▸◂▾▴" else AA) - 0.05, (theme, text, found)
        pilot.app.theme = THEMES[-1]  # the terminal's own colours are left to the terminal
        await rested(pilot)


async def test_signs_on_the_chosen_row_and_hints_can_be_read_on_every_theme(memory: AgenticMemorySystem) -> None:
    async with browsing(memory, notes=len(memory.shelf())) as pilot:
        line = pilot.app.screen.query_one("#search")
        for theme in THEMES[:-1]:
            pilot.app.theme = theme
            await settled(pilot)
            row = list(shown(listed(pilot), 0))
            assert len(row) > 3
            assert min(found for _, found in row) >= AA - 0.05, (theme, row)
            words = [found for text, found in shown(line) if "searches" in text]
            assert words
            assert min(words) >= AA - 0.05, theme


@pytest.mark.parametrize("width", [120, 100, 80, 60])
async def test_the_row_of_types_shows_how_each_is_drawn(memory: AgenticMemorySystem, width: int) -> None:
    async with in_the_graph(memory, memory.list()[0].id, (width, 36)) as pilot:
        row = pilot.app.screen.query_one(TypeRow).render().plain
        for type in LOOKS:
            # Where room is short, types of which there is no link here are named alone.
            drawn = width >= 100 or f"{type} " in row
            assert f"{LOOKS[type].sample + ' ' if drawn else ''}{str(type)[:2]}" in row.replace("prt", "part"), row
