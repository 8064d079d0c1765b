"""The browser in a real terminal, as the ``amem`` program: search, open, look at the graph, undo."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import pytest
from real_terminal import Terminal

from amem import AgenticMemorySystem

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(not shutil.which("tmux"), reason="needs tmux")]

AMEM = [sys.executable, "-c", "import sys; sys.argv[0] = 'amem'; from amem.cli import main; main()"]
TEA, KETTLE, CAT = "Green tea at 80 degrees, never boiling", "The kettle keeps tea at 80 degrees", "芝麻怕吸尘器 🐱"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Three notes, two of them linked."""
    with AgenticMemorySystem(directory=tmp_path, llm_backend="offline") as memory:
        tea, kettle, _ = memory.add_notes([TEA, KETTLE, CAT])
        memory.link(kettle.id, tea.id, "supports", "both are about tea")
    return tmp_path


def test_search_open_graph_undo(home: Path) -> None:
    with Terminal([*AMEM, "--home", str(home), "tui"]) as terminal:
        screen = terminal.wait_for(CAT[:6])
        assert TEA[:16] in screen
        # Search, with what earned each hit its place.
        terminal.press("/")
        terminal.press("kettle", "Enter")
        terminal.wait_for("by words")
        terminal.wait_for(f"─ {KETTLE}")  # is open
        # The local graph of what is open.
        terminal.press("g")
        terminal.wait_for("both are about tea")
        terminal.press("b")
        terminal.wait_for(TEA[:16])
        # A change, and back.
        terminal.press("p")
        terminal.wait_for("Pinned")
        with AgenticMemorySystem(directory=home) as memory:
            assert [note.content for note in memory.list() if note.pinned] != []
        terminal.press("u")
        terminal.wait_for("Undone: ")
        with AgenticMemorySystem(directory=home) as memory:
            assert [note.content for note in memory.list() if note.pinned] == []
        terminal.press("q")
        assert "Traceback" not in terminal.wait_for("ended with 0")


@pytest.mark.parametrize("exported", [[], ["env", "COLUMNS=80", "LINES=24"]], ids=["", "exported"])
def test_a_window_that_shrinks_and_grows_is_drawn_anew(home: Path, exported: list[str]) -> None:
    with Terminal([*exported, *AMEM, "--home", str(home), "tui"], width=100, height=30) as terminal:
        terminal.wait_for(lambda screen: TEA[:16] in screen and screen.rstrip().endswith("? Help"))
        # A terminal cuts and pads what was there: only the frame's corners and the footer's end tell that it was drawn.
        for width, height in ((40, 12), (140, 40)):
            terminal.resize(width, height)
            terminal.wait_for(lambda screen, end=width: _fills(screen, end) and "Green tea" in screen)


def _fills(screen: str, width: int) -> bool:
    """Whether the footer and the frame above it, on the last line but one, go up to the last column."""
    *_, frame, footer = "", "", *screen.rstrip().splitlines()
    return len(frame) == width and frame.endswith("╯") and footer.endswith("? Help") and len(footer) > width - 3


def test_without_a_terminal_it_says_so_in_one_line(home: Path) -> None:
    import subprocess

    run = subprocess.run([*AMEM, "--home", str(home), "tui"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert len(run.stderr.strip().splitlines()) <= 2
    assert "needs a terminal" in run.stderr
