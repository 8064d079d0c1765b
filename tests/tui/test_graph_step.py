"""The step to another centre: seen on its way where the terminal wants movement, and soon over."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from amem_tui.graph.drawing import GraphCanvas, draw
from driving import burst, wait_until
from linked_notes import collection, in_the_graph, move, press, rested

if TYPE_CHECKING:
    from pathlib import Path

    from amem_tui.graph.drawing import Picture
    from textual.pilot import Pilot


def canvas(pilot: Pilot[None]) -> GraphCanvas:
    return pilot.app.screen.query_one(GraphCanvas)


async def pictures_of_a_step(pilot: Pilot[None]) -> list[Picture]:
    """Everything that is drawn from Enter on to where the notes come to rest."""
    seen: list[Picture] = []
    burst(pilot, "enter")
    resting = asyncio.create_task(rested_at_another(pilot))
    while not resting.done():
        picture = canvas(pilot).picture
        if picture is not None and picture not in seen:
            seen.append(picture)
        await asyncio.sleep(0.005)
    await resting
    return seen


async def rested_at_another(pilot: Pilot[None]) -> None:
    before = canvas(pilot).laid_out
    await wait_until(pilot, lambda: canvas(pilot).laid_out is not before)
    await rested(pilot)


@pytest.mark.thorough
@pytest.mark.parametrize("level", ["full", "none"])
async def test_notes_move_to_their_new_places_and_stay_there(tmp_path: Path, level: str) -> None:
    with collection(tmp_path) as memory:
        ids = move(memory)
        async with in_the_graph(memory, ids["move"]) as pilot:
            pilot.app.animation_level = level
            await press(pilot, "tab")
            seen = await pictures_of_a_step(pilot)
            layout = canvas(pilot).laid_out
            assert layout is not None
            assert layout.scene.centre == canvas(pilot).chosen != ids["move"]
            # Without movement these are the picture before Enter and the one that stays.
            assert (len(seen) > 2) == (level == "full")
            assert canvas(pilot).picture == draw(layout, canvas(pilot).chosen, None)
