"""Linking the open note to another and taking links away, each undoable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.note_pane import LinkPicker
from amem_tui.rooms import TabStrip
from conftest import CAT, KETTLE, TEA
from driving import browsing, options, said, screen_text, settled, toasts, wait_until
from pane_driving import flat, go_to, pane, turn_to
from textual.widgets import Input, OptionList

from amem.note import Status

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem


async def ask_to_link(pilot: Pilot[None]) -> None:
    await pilot.press("plus")
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, LinkPicker))
    await wait_until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count > 0)


@pytest.mark.thorough
async def test_minus_takes_the_chosen_link_away_and_u_brings_it_back(memory: AgenticMemorySystem) -> None:
    kettle = memory.list()[0].id
    async with browsing(memory) as pilot:
        await settled(pilot)
        await pilot.press("minus")  # no link is chosen on the first page, so that nothing is taken away
        assert len(memory.links(kettle)) == 1
        await turn_to(pilot, "links")
        await pilot.press("minus")
        await wait_until(pilot, lambda: "No note is linked from here." in flat(pilot))
        assert "Unlinked; u links them again" in toasts(pilot)
        assert memory.links(kettle) == []
        await pilot.press("u")
        await wait_until(pilot, lambda: TEA in flat(pilot))
        assert len(memory.links(kettle)) == 1


async def test_a_link_to_the_note_can_be_taken_away_from_its_end(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await go_to(pilot, TEA)
        await turn_to(pilot, "backlinks")
        pane(pilot).focus_inside()
        await pilot.press("minus")
        await wait_until(pilot, lambda: "No note links here." in flat(pilot))
        assert memory.links(memory.list()[0].id) == []


async def test_plus_links_to_a_note_found_by_its_words_with_type_and_reason(memory: AgenticMemorySystem) -> None:
    kettle, cat, _ = (note.id for note in memory.list())
    async with browsing(memory) as pilot:
        await turn_to(pilot, "links")
        await ask_to_link(pilot)
        assert f"Link “{KETTLE}”" in screen_text(pilot)
        assert len(options(pilot, "#choices")) == 2  # itself is not among them
        await pilot.press(*"芝")
        await wait_until(pilot, lambda: len(options(pilot, "#choices")) == 1)
        assert CAT in options(pilot, "#choices")[0]
        await pilot.press("ctrl+t", "tab")  # past the list, to which the arrows lead from here too
        assert pilot.app.focused is pilot.app.screen.query_one("#reason", Input)
        await pilot.press(*"warm", "enter")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, LinkPicker))
        made = [link for link in memory.links(kettle) if link.target == cat]
        assert [(str(link.type), link.reason, link.made_by) for link in made] == [("supports", "warm", "user")]
        assert f"Linked to “{CAT}” as supports; u undoes it" in toasts(pilot)
        await wait_until(pilot, lambda: "● you warm" in flat(pilot))
        await pilot.press("u")
        await wait_until(pilot, lambda: "warm" not in flat(pilot))


@pytest.mark.thorough
async def test_tab_leads_to_the_reason_and_back_and_what_is_typed_there_becomes_the_links(
    memory: AgenticMemorySystem,
) -> None:
    kettle, cat, _ = (note.id for note in memory.list())
    async with browsing(memory) as pilot:
        await ask_to_link(pilot)
        await pilot.press("tab", *"because of", "tab")
        assert pilot.app.focused is pilot.app.screen.query_one("#typed", Input)
        await pilot.press(*"芝", "shift+tab", "end", *" tea", "enter")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, LinkPicker))
        made = [link.reason for link in memory.links(kettle) if link.target == cat]
        assert made == ["because of tea"]


@pytest.mark.thorough
async def test_arrows_choose_among_the_notes_while_one_types(memory: AgenticMemorySystem) -> None:
    kettle, _, tea = (note.id for note in memory.list())
    memory.unlink(kettle, tea, "supports")
    async with browsing(memory) as pilot:
        await ask_to_link(pilot)
        shown = pilot.app.screen.query_one(OptionList)
        await pilot.press("down")
        assert shown.highlighted == 1
        await pilot.press("up", "down", "ctrl+s")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, LinkPicker))
        assert [(link.target, str(link.type)) for link in memory.links(kettle)] == [(tea, "related")]


@pytest.mark.thorough
async def test_types_and_notes_are_chosen_by_click(memory: AgenticMemorySystem) -> None:
    kettle, cat, _ = (note.id for note in memory.list())
    async with browsing(memory) as pilot:
        await ask_to_link(pilot)
        await pilot.click("#types", offset=(12, 0))
        assert pilot.app.screen.query_one(TabStrip).active == "supports"
        await pilot.click("#choices", offset=(4, 0))
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, LinkPicker))
        assert [str(link.type) for link in memory.links(kettle) if link.target == cat] == ["supports"]


@pytest.mark.thorough
async def test_a_link_that_is_there_already_is_refused_and_the_picker_stays(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await ask_to_link(pilot)
        await pilot.press("ctrl+t", *"Green", "enter")  # faster than anything is looked up
        await wait_until(pilot, lambda: "already" in toasts(pilot))
        assert isinstance(pilot.app.screen, LinkPicker)
        await pilot.press(*"zzz")
        await wait_until(pilot, lambda: said(pilot, "#said") == "No note holds these words.")
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, LinkPicker)
        await pilot.press("escape")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, LinkPicker))


@pytest.mark.thorough
async def test_a_note_that_supersedes_another_takes_its_place_until_the_link_goes(memory: AgenticMemorySystem) -> None:
    kettle, _, tea = (note.id for note in memory.list())

    def status() -> Status | None:
        note = memory.read(tea)
        return None if note is None else note.status

    async with browsing(memory) as pilot:
        await ask_to_link(pilot)
        strip = pilot.app.screen.query_one(TabStrip)
        while strip.active != "supersedes":
            await pilot.press("ctrl+t")
        await pilot.press(*"Green", "ctrl+s")
        await wait_until(pilot, lambda: status() is Status.SUPERSEDED)
        await turn_to(pilot, "links")
        place = next(n for n, link in enumerate(memory.links(kettle)) if str(link.type) == "supersedes")
        pane(pilot).focus_inside()
        await pilot.press(*["down"] * place, "minus")
        await wait_until(pilot, lambda: status() is Status.ACTIVE)


async def test_without_a_note_there_is_nothing_to_link(empty: AgenticMemorySystem) -> None:
    async with browsing(empty) as pilot:
        await pilot.press("plus", "minus", "right_square_bracket", "left_square_bracket")
        assert not isinstance(pilot.app.screen, LinkPicker)
        assert "Link" not in screen_text(pilot)


async def test_linking_works_on_a_small_terminal(memory: AgenticMemorySystem) -> None:
    async with browsing(memory, (40, 12)) as pilot:
        await ask_to_link(pilot)
        assert "related" in screen_text(pilot)
        assert "芝麻" in screen_text(pilot)
        await pilot.press("escape")
