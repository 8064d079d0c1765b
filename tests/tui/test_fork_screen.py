"""The diff of a collection and its fork, and the merge, from the list of collections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browser_app import NotesApp
from amem_tui.collections_screen import CollectionsScreen, ForkScreen
from amem_tui.dialogs import Question
from amem_tui.page import Page
from conftest import CAT, KETTLE, TEA, clock_of
from driving import browsing, opened, options, said, screen_text, toasts, wait_until
from test_shell_switching import front, listing, opening
from textual.widgets import OptionList

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem

BALCONY = "芝麻搬到阳台上睡觉了"
WEAKER = "Green tea at 75 degrees, never boiling"


@pytest.fixture
def forked(memory: AgenticMemorySystem) -> AgenticMemorySystem:
    """A collection and its fork called draft, both worked on since, and an unrelated third one."""
    ids = {note.content: note.id for note in memory.list()}
    with opening(memory.settings.replaced(collection="garden")) as other:
        other.add("Tomatoes in May")
    with memory.fork("draft") as fork:
        balcony = fork.add(BALCONY).id
        fork.link(balcony, ids[CAT], "supports", "同一只猫")
        fork.update(ids[TEA], content=WEAKER)
        fork.update(ids[CAT], context="邻居的猫")
        fork.delete(ids[KETTLE])
    clock_of(memory).advance(days=1)
    memory.update(ids[CAT], context="我们家的猫")
    memory.add("Only in memories")
    return memory


async def comparing(pilot: Pilot[None], name: str) -> None:
    """Until the diff of the open collection and that one is in front, by keys."""
    await pilot.press("ctrl+o")
    await front(pilot, CollectionsScreen)
    await wait_until(pilot, lambda: all("note" in line for line in options(pilot, "#choices")))
    places = [option.id for option in pilot.app.screen.query_one("#choices", OptionList).options]
    await pilot.press("home", *["down"] * places.index(name))
    await wait_until(pilot, lambda: "d Diff" in screen_text(pilot))
    await pilot.press("d")
    await front(pilot, ForkScreen)
    await wait_until(pilot, lambda: bool(changed(pilot)))


def changed(pilot: Pilot[None]) -> list[str]:
    return [" ".join(line.split()) for line in options(pilot, "#fork-list")]


async def turn_to(pilot: Pilot[None], words: str) -> None:
    """Move the cursor to the line that begins so."""
    place = next(place for place, line in enumerate(changed(pilot)) if line.startswith(words))
    pilot.app.screen.query_one("#fork-list", OptionList).highlighted = place
    await pilot.pause()


async def test_the_diff_of_a_fork_is_shown_merged_and_undone(forked: AgenticMemorySystem) -> None:
    async with browsing(forked, (80, 24)) as pilot:
        await pilot.press("ctrl+o")
        await front(pilot, CollectionsScreen)
        await wait_until(pilot, lambda: "fork of memories" in options(pilot, "#choices")[0])
        await pilot.press("home", "down")  # a collection that is no fork, and then the open one
        assert "d Diff" not in screen_text(pilot)
        await pilot.press("down")
        assert "d Diff" not in screen_text(pilot)
        await pilot.press("escape")

        await comparing(pilot, "draft")
        lines = changed(pilot)
        assert lines[0] == "draft"
        assert f"added {BALCONY}" in lines
        assert f"changed {WEAKER}" in lines
        assert f"removed {KETTLE}" in lines
        assert any(line.startswith(f"linked {BALCONY} → 芝麻是只") for line in lines)
        assert lines.index("memories") < lines.index("added Only in memories")
        assert lines.count(f"changed {CAT}") == 2

        await turn_to(pilot, "changed Green tea")
        await wait_until(pilot, lambda: "content" in screen_text(pilot))
        page = pilot.app.screen.query_one(Page)
        assert "at 80 degrees" in page.text
        assert "at 75 degrees" in page.text
        await turn_to(pilot, "linked 芝麻搬到")
        await wait_until(pilot, lambda: "supports" in screen_text(pilot) and "同一只猫" in screen_text(pilot))
        merge_line = said(pilot, "#fork-merge")
        assert merge_line.startswith("Would merge: 1 note added, 1 note changed, 1 note removed")
        assert "1 conflict, left for you to decide: review 1, ours 0, theirs 0, newest 0" in merge_line
        assert "newest 0" in screen_text(pilot)

        await turn_to(pilot, f"added {BALCONY}")
        await pilot.press("enter")
        await wait_until(pilot, lambda: f"“{BALCONY}” is no note of memories now; open draft" in toasts(pilot))

        await pilot.press("m")
        await front(pilot, Question)
        assert "Merge draft into memories?" in screen_text(pilot)
        await pilot.press("escape")
        await front(pilot, ForkScreen)
        assert BALCONY not in {note.content for note in forked.list()}
        await pilot.press("m", "y")
        await wait_until(pilot, lambda: "Merged draft: 1 note added" in toasts(pilot))
        assert "1 conflict for you in Review; u undoes it" in toasts(pilot)
        assert {BALCONY, WEAKER} <= {note.content for note in forked.list()}
        await wait_until(pilot, lambda: changed(pilot) == ["draft: nothing", "memories: nothing"])
        assert said(pilot, "#fork-merge") == "Nothing to merge"
        assert "m Merge" not in screen_text(pilot)

        await pilot.press("u")
        await wait_until(pilot, lambda: f"added {BALCONY}" in changed(pilot))
        assert "Undone" in toasts(pilot)
        assert TEA in {note.content for note in forked.list()}

        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: changed(pilot)[0] == "draft: nothing")
        assert BALCONY in {note.content for note in forked.list()}
        await pilot.press("u")
        await wait_until(pilot, lambda: f"removed {KETTLE}" in changed(pilot))

        await turn_to(pilot, f"removed {KETTLE}")
        await pilot.press("enter")
        await wait_until(pilot, lambda: opened(pilot) == KETTLE)


async def test_a_fork_that_is_open_is_merged_into_its_source(forked: AgenticMemorySystem) -> None:
    settings = forked.settings.replaced(collection="draft")
    app = NotesApp(settings=settings, opening=opening, follow_every=0.1)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await listing(pilot, 3)
        await comparing(pilot, "memories")
        assert "draft, a fork of memories" in screen_text(pilot)
        await pilot.press("m", "y")
        await wait_until(pilot, lambda: "Merged draft: 1 note added" in toasts(pilot))
        assert "1 conflict for you in Review of memories" in toasts(pilot)
        assert "-c memories undo " in toasts(pilot)
        assert {BALCONY, WEAKER} <= {note.content for note in forked.list()}
        assert "u Undo" not in screen_text(pilot)
        await pilot.press("escape", "escape")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, CollectionsScreen | ForkScreen))


async def test_a_fork_that_can_no_longer_be_read_is_said(forked: AgenticMemorySystem) -> None:
    async with browsing(forked, (80, 24)) as pilot:
        await pilot.press("ctrl+o")
        await front(pilot, CollectionsScreen)
        await wait_until(pilot, lambda: "fork of memories" in options(pilot, "#choices")[0])
        (forked.settings.home / "draft").rename(forked.settings.home / "elsewhere")
        await pilot.press("home", "d")
        await front(pilot, ForkScreen)
        await wait_until(pilot, lambda: "draft" in said(pilot, "#fork-merge") and "draft" in toasts(pilot))
        assert "m Merge" not in screen_text(pilot)
