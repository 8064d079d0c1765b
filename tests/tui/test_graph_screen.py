"""The graph room: what a note is linked to, wandering along its links, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.browse_room import BrowseScreen
from amem_tui.dialogs import Prompt
from amem_tui.graph.drawing import GraphCanvas
from amem_tui.graph.graph_room import GraphScreen, TypeRow
from driving import offset_of, said, screen_text, wait_until
from linked_notes import TEXTS, collection, hub, in_the_graph, move, press, rested

from amem.note import LinkType

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amem_tui.graph.drawing import Run
    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgenticMemorySystem]:
    with collection(tmp_path) as memory:
        yield memory


def screen(pilot: Pilot[None]) -> GraphScreen:
    assert isinstance(pilot.app.screen, GraphScreen)
    return pilot.app.screen


def drawn(pilot: Pilot[None]) -> set[str]:
    """The ids of the notes in the picture."""
    return set(screen(pilot).query_one(GraphCanvas).order())


def chosen(pilot: Pilot[None]) -> str | None:
    return screen(pilot).query_one(GraphCanvas).chosen


def about(pilot: Pilot[None]) -> str:
    """What stands below the picture."""
    return said(pilot, "#about")


def offered(pilot: Pilot[None]) -> set[str]:
    """What the footer offers."""
    return {active.binding.description for active in pilot.app.screen.active_bindings.values()}


def label(pilot: Pilot[None], words: str) -> Run:
    """The piece of the picture that says these words."""
    picture = screen(pilot).query_one(GraphCanvas).picture
    assert picture is not None
    return next(run for row in picture for run in row if words in run.text)


@pytest.mark.thorough
async def test_the_notes_around_the_open_one_are_drawn_and_their_links_explained(memory: AgenticMemorySystem) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["move"]) as pilot:
        text = screen_text(pilot)
        assert TEXTS["move"] in text
        assert TEXTS["rotterdam"] in text
        assert "芝麻是只六岁的橘白猫" in text
        assert TEXTS["gone"] not in text
        assert "4 notes · 2 hops" in text  # there is little to see within one
        assert "related 3" in text
        assert "2026-03-01" in about(pilot)
        assert "→ supersedes  I live in Rotterdam" in about(pilot)
        assert "“the city is another”  ● you  100%" in about(pilot)
        assert label(pilot, "I live in Rotterdam").tone == "faded"
        assert "▪" in text  # the cat is pinned
        await press(pilot, "tab")
        assert chosen(pilot) != ids["move"]


@pytest.mark.thorough
async def test_hops_are_one_two_or_three(memory: AgenticMemorySystem) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["move"]) as pilot:
        assert drawn(pilot) == {ids[name] for name in ("move", "rotterdam", "cat", "food")}
        assert "2 hops" not in offered(pilot)
        await press(pilot, "1")
        assert drawn(pilot) == {ids[name] for name in ("move", "rotterdam", "cat")}
        assert "1 hop" not in offered(pilot)
        await press(pilot, "3")
        assert drawn(pilot) == {ids[name] for name in ("move", "rotterdam", "cat", "food", "vet", "biscuits")}
        assert "3 hops" in screen_text(pilot)
        assert "3 hops" not in offered(pilot)
        await press(pilot, "1")
        assert len(drawn(pilot)) == 3


@pytest.mark.thorough
async def test_arrow_keys_and_tab_go_from_note_to_note(memory: AgenticMemorySystem) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["move"]) as pilot:
        await press(pilot, "3")
        seen = {chosen(pilot)}
        for key in ("right", "left", "left", "up", "down", "j", "k", "right", "up", "right", "down", "down", "left"):
            await pilot.press(key)
            seen.add(chosen(pilot))
        assert len(seen) > 3
        await press(pilot, "home")
        assert chosen(pilot) == ids["move"]
        passed = []
        for _ in range(6):
            await pilot.press("tab")
            passed.append(chosen(pilot))
        assert set(passed) == drawn(pilot)
        assert passed[-1] == ids["move"]
        await press(pilot, "shift+tab")
        assert chosen(pilot) == passed[-2]


async def test_enter_makes_a_note_the_centre_and_backspace_leads_back(memory: AgenticMemorySystem) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["move"]) as pilot:
        await press(pilot, "1")
        assert "Back" not in offered(pilot)
        screen(pilot).choose(ids["cat"])
        await press(pilot, "enter")
        assert drawn(pilot) == {ids[name] for name in ("cat", "move", "rotterdam", "food")}
        assert chosen(pilot) == ids["cat"]
        screen(pilot).choose(ids["food"])
        await press(pilot, "enter")
        assert ids["biscuits"] in drawn(pilot)
        assert "← contradicts" not in about(pilot)
        assert "→ contradicts  The cat may eat any biscuit" in about(pilot)
        assert "▲ helper" in about(pilot)
        await press(pilot, "backspace", "backspace")
        assert drawn(pilot) == {ids[name] for name in ("move", "rotterdam", "cat")}
        assert "Back" not in offered(pilot)


@pytest.mark.thorough
async def test_a_step_is_shown_without_animation_where_there_is_none(memory: AgenticMemorySystem) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["move"]) as pilot:
        pilot.app.animation_level = "none"
        screen(pilot).choose(ids["cat"])
        await pilot.press("enter")
        await wait_until(pilot, lambda: ids["food"] in drawn(pilot))
        assert not [worker for worker in pilot.app.workers if worker.group == "turn"]


@pytest.mark.thorough
async def test_a_note_is_opened_in_browse(memory: AgenticMemorySystem) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["move"]) as pilot:
        screen(pilot).choose(ids["cat"])
        await pilot.press("e")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))
        await rested(pilot)
        assert screen_text(pilot).count("芝麻") > 1
        await press(pilot, "g")  # and the graph is the one of that note now
        assert chosen(pilot) == ids["cat"]
        await pilot.press("enter")  # enter on the centre opens it too
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))
        await rested(pilot)
        await press(pilot, "g", "escape")
        assert isinstance(pilot.app.screen, BrowseScreen)


async def test_types_of_links_are_hidden_and_shown_one_by_one(memory: AgenticMemorySystem) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["cat"]) as pilot:
        await press(pilot, "1")
        assert len(drawn(pilot)) == 4
        await press(pilot, "f")
        row = screen(pilot).query_one(TypeRow)
        assert row.has_focus
        assert {"Show or hide"} <= offered(pilot)
        assert "Centre it" not in offered(pilot)
        while row.type is not LinkType.RELATED:
            await pilot.press("right")
        await press(pilot, "space")
        assert drawn(pilot) == {ids["cat"]}
        assert "no link of the types that are shown" in about(pilot)
        await press(pilot, "enter")
        assert len(drawn(pilot)) == 4
        await press(pilot, "left", "tab", "enter", "a")
        assert len(drawn(pilot)) == 4
        await press(pilot, "f")
        assert not row.has_focus
        await press(pilot, "f", "escape")
        assert not row.has_focus
        await press(pilot, "f", "down")
        assert not row.has_focus
        await pilot.click(TypeRow, offset=(offset_of(row, "related") + 1, 0))
        await rested(pilot)
        assert drawn(pilot) == {ids["cat"]}
        await press(pilot, "a")
        assert len(drawn(pilot)) == 4


@pytest.mark.thorough
async def test_the_mouse_chooses_points_and_goes(memory: AgenticMemorySystem) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["move"]) as pilot:
        await press(pilot, "1")
        canvas = screen(pilot).query_one(GraphCanvas)
        assert canvas.laid_out is not None
        spot = canvas.laid_out.spots[ids["cat"]]
        await pilot.hover(GraphCanvas, offset=(spot.left + 2, spot.row))
        assert canvas.hovered == ids["cat"]
        assert chosen(pilot) == ids["move"]
        assert label(pilot, "芝麻").ground == "hovered"
        await pilot.hover(GraphCanvas, offset=(1, 0))
        assert canvas.hovered is None
        await pilot.click(GraphCanvas, offset=(1, 0))
        assert chosen(pilot) == ids["move"]
        await pilot.click(GraphCanvas, offset=(spot.left + 2, spot.row))
        assert chosen(pilot) == ids["cat"]
        assert len(drawn(pilot)) == 3
        await pilot.click(GraphCanvas, offset=(spot.left + 2, spot.row), times=2)
        await rested(pilot)
        assert ids["food"] in drawn(pilot)
        spot = canvas.laid_out.spots[ids["cat"]]
        await pilot.click(GraphCanvas, offset=(spot.left + 2, spot.row), times=2)
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))


@pytest.mark.thorough
async def test_a_hub_shows_forty_of_its_notes_and_says_how_many_there_are(memory: AgenticMemorySystem) -> None:
    id = hub(memory, 1200)
    async with in_the_graph(memory, id) as pilot:
        assert len(drawn(pilot)) == 40
        assert "40 of 1,201 notes" in screen_text(pilot)
        assert "1,161 more links, to notes that are not drawn" in about(pilot)
        assert screen(pilot).query_one("#about-box").scroll_y == 0
        await press(pilot, "pagedown")
        assert screen(pilot).query_one("#about-box").scroll_y > 0
        await press(pilot, "pageup")
        assert screen(pilot).query_one("#about-box").scroll_y == 0
        await pilot.resize_terminal(80, 24)
        await rested(pilot)
        assert 12 <= len(drawn(pilot)) < 30
        assert f"{len(drawn(pilot))} of 1,201" in screen_text(pilot)


async def test_without_an_open_note_the_graph_says_what_to_do(memory: AgenticMemorySystem) -> None:
    async with in_the_graph(memory, None) as pilot:
        assert "No note is open" in screen_text(pilot)
        assert not {"Centre it", "Read it", "2 hops", "Types", "Back"} & offered(pilot)
        await press(pilot, "down", "tab", "home", "enter", "e", "2", "f", "a", "space", "backspace", "pagedown")
        assert "No note is open" in screen_text(pilot)


async def test_a_note_without_links_stands_alone_and_says_so(memory: AgenticMemorySystem) -> None:
    id = memory.add("Alone").id
    async with in_the_graph(memory, id) as pilot:
        assert "Nothing is linked to this note yet" in about(pilot)
        await press(pilot, "up", "down", "left", "right", "tab")
        assert chosen(pilot) == id


@pytest.mark.thorough
async def test_what_others_write_appears_and_the_choice_stays(memory: AgenticMemorySystem, tmp_path: Path) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["move"]) as pilot:
        screen(pilot).choose(ids["cat"])
        with collection(tmp_path, seed="other") as other:
            new = other.add("The cat liked the plane").id
            other.link(new, ids["move"], "supports", "it was there")
        await wait_until(pilot, lambda: new in drawn(pilot))
        assert chosen(pilot) == ids["cat"]
        memory.delete(ids["cat"])
        await wait_until(pilot, lambda: ids["cat"] not in drawn(pilot))
        assert chosen(pilot) == ids["move"]


@pytest.mark.thorough
async def test_a_note_deleted_elsewhere_is_said_to_be_gone(memory: AgenticMemorySystem) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["move"]) as pilot:
        memory.delete(ids["move"])
        await wait_until(pilot, lambda: "not here any more" in screen_text(pilot))
        assert "Read it" not in offered(pilot)
        memory.undo()
        await wait_until(pilot, lambda: TEXTS["move"] in screen_text(pilot))
        assert ids["cat"] in drawn(pilot)


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(120, 36), (40, 12)])
async def test_titles_of_any_length_and_script_keep_to_their_cells(
    memory: AgenticMemorySystem, size: tuple[int, int]
) -> None:
    centre = memory.add("字" * 19_999).id
    for text in ("x" * 20_000, "שלום עולם " * 30, "👨‍👩‍👧 🐱 " * 50, "\x1b[31mred\x1b[0m [bold]not markup[/bold]"):
        memory.link(memory.add(text).id, centre, "related", text[:200])
    async with in_the_graph(memory, centre, size) as pilot:
        for _ in range(5):
            text = screen_text(pilot)  # asserts that every line is as wide as the screen
            assert "\x1b" not in text
            await pilot.press("tab")


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(60, 20), (40, 12)])
async def test_a_small_terminal_shows_a_tree_with_the_same_keys(
    memory: AgenticMemorySystem, size: tuple[int, int]
) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["move"], size) as pilot:
        tree = screen(pilot).query_one("#tree")
        assert tree.display
        assert not screen(pilot).query_one(GraphCanvas).display
        assert "├ →" in screen_text(pilot)
        await press(pilot, "3")
        await pilot.press("down")
        assert chosen(pilot) == ids["rotterdam"]
        await pilot.press("j")
        assert chosen(pilot) == ids["cat"]
        await pilot.press("right")
        assert chosen(pilot) == ids["food"]
        await pilot.press("left", "k", "up", "up")
        assert chosen(pilot) == ids["move"]
        await press(pilot, "tab", "tab", "enter")
        assert "7 notes" in screen_text(pilot)
        assert chosen(pilot) == ids["cat"]
        await press(pilot, "backspace")
        assert chosen(pilot) == ids["move"]
        await pilot.click("#tree", offset=(8, 2))
        await rested(pilot)
        assert chosen(pilot) == ids["cat"]
        await pilot.click("#tree", offset=(8, 2), times=2)
        await rested(pilot)
        assert screen(pilot).view.centre == ids["cat"]
        await press(pilot, "f", "right", "space", "escape", "a")
        await pilot.resize_terminal(120, 36)
        await rested(pilot)
        assert screen(pilot).query_one(GraphCanvas).has_focus
        assert not tree.display
        await press(pilot, "e")
        assert isinstance(pilot.app.screen, BrowseScreen)


async def test_a_wide_picture_becomes_a_tree_when_the_terminal_shrinks(memory: AgenticMemorySystem) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["move"]) as pilot:
        screen(pilot).choose(ids["cat"])
        await pilot.resize_terminal(50, 15)
        await rested(pilot)
        assert screen(pilot).query_one("#tree").has_focus
        assert chosen(pilot) == ids["cat"]
        assert "├ →" in screen_text(pilot)


async def test_the_graph_is_written_as_a_page_with_one_key(
    memory: AgenticMemorySystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ids = move(memory)
    async with in_the_graph(memory, ids["move"]) as pilot:
        await press(pilot, "1")
        await pilot.press("p")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, Prompt))
        await pilot.press("enter")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, Prompt))
    (page,) = tmp_path.glob("*.html")
    text = page.read_text(encoding="utf-8")
    assert all(ids[name] in text for name in ("move", "rotterdam", "cat"))
    assert ids["food"] not in text
