"""What the start screen looks like, wide and small. ``pytest --snapshot-update`` takes the pictures anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.app import NotesApp
from driving import settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.memory_system import AgenticMemorySystem

SIZES = [(120, 36), (60, 20)]


@pytest.mark.parametrize("size", SIZES, ids=["wide", "small"])
def test_notes_are_listed_and_one_is_open(
    memory: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    app = NotesApp(memory, follow_every=60)
    assert snap_compare(app, terminal_size=size, run_before=settled)
