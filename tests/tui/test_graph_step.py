"""The step to another centre: through places on the way, and to rest where the layout says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.graph.drawing import GraphCanvas, draw
from driving import wait_until
from linked_notes import collection, in_the_graph, move, press, rested

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.thorough
@pytest.mark.parametrize("level", ["full", "none"])
async def test_notes_move_to_their_new_places_and_stay_there(tmp_path: Path, level: str) -> None:
    with collection(tmp_path) as memory:
        ids = move(memory)
        async with in_the_graph(memory, ids["move"]) as pilot:
            pilot.app.animation_level = level
            await press(pilot, "tab")
            canvas = pilot.app.screen.query_one(GraphCanvas)
            before = canvas.laid_out
            await pilot.press("enter")
            await wait_until(pilot, lambda: canvas.laid_out is not before)
            await rested(pilot)
            layout = canvas.laid_out
            assert layout is not None
            assert layout.scene.centre == canvas.chosen != ids["move"]
            there = draw(layout, canvas.chosen, None)
            assert canvas.picture == there
            canvas.turned = 0.5
            assert canvas.picture != there
            canvas.turned = 1.0
            assert canvas.picture == there
