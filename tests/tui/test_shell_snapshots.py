"""What help, the form, the switcher and a failing store look like, wide and small."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browser_app import NotesApp
from driving import settled
from textual.widgets import Input, TextArea

from amem.errors import StorageGone

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem

SIZES = [(120, 36), (60, 20)]
pytestmark = [pytest.mark.thorough, pytest.mark.parametrize("size", SIZES, ids=["wide", "small"])]


def without_cursors(pilot: Pilot[None]) -> None:
    for typed in pilot.app.screen.query(Input):
        typed.cursor_blink = False
    for text in pilot.app.screen.query(TextArea):
        text.cursor_blink = False


def taken(memory: AgenticMemorySystem, size: tuple[int, int], snap: Callable[..., bool], *keys: str) -> bool:
    """Whether the screen after these keys looks as it did."""

    async def before(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
        without_cursors(pilot)
        await pilot.pause()

    return snap(NotesApp(memory, follow_every=60), terminal_size=size, run_before=before)


def test_help(memory: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    assert taken(memory, size, snap_compare, "question_mark")


def test_the_form(memory: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    assert taken(memory, size, snap_compare, "e", "!")


def test_the_switcher(memory: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    assert taken(memory, size, snap_compare, "ctrl+k", *"tea")


def test_a_store_that_fails(
    memory: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    async def before(pilot: Pilot[None]) -> None:
        await settled(pilot)
        app = pilot.app
        assert isinstance(app, NotesApp)
        error = StorageGone("memories was moved, removed or replaced while it was open", hint="put it back")
        app.settings = app.settings.model_copy(update={"home": app.settings.home.__class__("/home/ana/notes")})
        app.unreadable(error, for_now=True)
        await settled(pilot)

    assert snap_compare(NotesApp(memory, follow_every=60), terminal_size=size, run_before=before)
