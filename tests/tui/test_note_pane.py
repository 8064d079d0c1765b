"""The page that shows a note: its words, what is known about it, and what becomes of it while it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.page import Address, Named, ToNote, Unfold, lay_out
from conftest import CAT, KETTLE, TEA
from driving import browsing, hint, listed, opened, screen_text, settled, toasts, wait_until
from pane_driving import flat, go_to, labels, page, pane, read

from amem.errors import ServiceUnavailable
from amem.note import Fact
from amem.testing import ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from amem_tui.page import Part, Sheet

    from amem.memory_system import AgenticMemorySystem


async def test_a_note_says_what_it_is_and_whose_words_are_whose(memory: AgenticMemorySystem) -> None:
    tea = memory.list()[-1].id
    memory.update(tea, context="How tea is made")
    memory.acting_as("agent:helper").add(
        "Written by an agent",
        tags=["given"],
        speaker="Ana",
        facts=[Fact("Ana", "lives_in", "Lisbon", valid_from=memory.list()[0].at)],
        valid_from="2026-01-05",
        time="2026-04-01",
    )
    async with browsing(memory) as pilot:
        await settled(pilot)
        shown = flat(pilot)
        for words in (
            "2026-04-01",
            "Ana",
            "▲ helper",
            "short-term",
            "tags ▲ #given",
            "keywords ◆ Written, by",
            "facts",
            "Ana lives in Lisbon",
            "since 2026-03-03",
            "valid from 2026-01-05 00:00",
            "trust ▰",
            "analysed by ◆ scripted",
            "written by ▲ helper, recorded 2026-03-04 09:00, version 1",
            "▲ in an agent's",
            "◆ concluded by a model or a rule",
        ):
            assert words in shown
        await go_to(pilot, TEA)
        assert "context ● How tea is made" in flat(pilot)
        assert "● in a person's words" in flat(pilot)
        assert "● you" in flat(pilot)


@pytest.mark.thorough
async def test_strength_tells_its_terms_on_demand(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("enter", "down")
        assert isinstance(page(pilot).chosen, Unfold)
        assert "importance" not in read(pilot)
        await pilot.press("enter")
        await wait_until(pilot, lambda: "importance 0.50, trust" in flat(pilot))
        assert isinstance(page(pilot).chosen, Unfold)
        await pilot.press("enter")
        await wait_until(pilot, lambda: "importance" not in read(pilot))


async def test_a_superseded_note_leads_to_the_one_that_took_its_place(memory: AgenticMemorySystem) -> None:
    kettle, _, tea = (note.id for note in memory.list())
    link = memory.link(kettle, tea, "derived_from")
    memory.supersede(tea, kettle)
    async with browsing(memory, notes=2) as pilot:
        pilot.app.read_note(link.target)
        await wait_until(pilot, lambda: opened(pilot) == TEA)
        await settled(pilot)
        assert f"Superseded by {KETTLE}" in flat(pilot)
        pane(pilot).focus_inside()
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: opened(pilot) == KETTLE)
        await pilot.press("escape")
        await wait_until(pilot, lambda: opened(pilot) == TEA)


async def test_what_casts_doubt_on_a_note_is_said_above_its_words(memory: AgenticMemorySystem) -> None:
    kettle, cat, tea = (note.id for note in memory.list())
    memory.link(cat, tea, "derived_from")
    memory.supersede(tea, kettle)
    assert memory.flags(cat)
    async with browsing(memory, notes=2) as pilot:
        await go_to(pilot, CAT)
        assert "May be out of date" in flat(pilot)
        assert f"— {KETTLE}" in flat(pilot)
        pane(pilot).focus_inside()
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: opened(pilot) == KETTLE)


@pytest.mark.thorough
async def test_links_in_the_text_are_followed_and_come_back(empty: AgenticMemorySystem) -> None:
    empty.add("# Pot\n\nOf clay", time="2026-01-01")
    text = "The [[pot]] and the [[samovar]], see https://tea.example/a"
    empty.add(text, time="2026-01-02")
    async with browsing(empty) as pilot:
        await settled(pilot)
        assert "The pot and the samovar?, see https://tea.example/a" in flat(pilot)
        await pilot.press("enter", "j")
        assert isinstance(page(pilot).chosen, ToNote)
        await pilot.press("j")
        assert isinstance(page(pilot).chosen, Named)
        assert "enter looks for “samovar”" in screen_text(pilot)
        await pilot.press("enter")
        await wait_until(pilot, lambda: "No note is called “samovar”" in toasts(pilot))
        await pilot.press("j")
        assert isinstance(page(pilot).chosen, Address)
        await pilot.press("enter")
        assert pilot.app.clipboard == "https://tea.example/a"
        assert "Copied https://tea.example/a" in toasts(pilot)
        await pilot.press("k", "k", "enter")
        await wait_until(pilot, lambda: (opened(pilot) or "").startswith("# Pot"))
        await pilot.press("escape")
        await wait_until(pilot, lambda: opened(pilot) == text)


async def test_a_click_follows_a_link(empty: AgenticMemorySystem) -> None:
    empty.add("# Pot\n\nOf clay", time="2026-01-01")
    empty.add("[[Pot]] is here", time="2026-01-02")
    async with browsing(empty) as pilot:
        await settled(pilot)
        line = read(pilot).splitlines().index("Pot is here")
        await pilot.click(page(pilot), offset=(2, line))
        await wait_until(pilot, lambda: (opened(pilot) or "").startswith("# Pot"))


@pytest.mark.thorough
async def test_a_long_note_scrolls_by_key_and_keeps_its_place_when_others_write(
    empty: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home("agent")
    id = empty.add("\n\n".join(f"Paragraph {number}" for number in range(1500))[:20_000]).id
    async with browsing(empty) as pilot:
        await settled(pilot)
        await pilot.press("enter", "pagedown", "down", "down")
        await wait_until(pilot, lambda: page(pilot).scroll_offset.y > 20)
        top = page(pilot).scroll_offset.y
        other.add("Something else", time="2025-01-01")
        await wait_until(pilot, lambda: listed(pilot).count == 2)
        await settled(pilot)
        assert page(pilot).scroll_offset.y == top
        other.update(id, context="Changed by an agent", tags=["new"])
        await wait_until(pilot, lambda: "Changed by an agent" in flat(pilot))
        assert page(pilot).scroll_offset.y == top
        await pilot.press("up")
        assert page(pilot).scroll_offset.y == top - 1
        await pilot.press("end")
        await wait_until(pilot, lambda: page(pilot).is_vertical_scroll_end)
        await pilot.press("pageup", "home")
        await wait_until(pilot, lambda: page(pilot).scroll_offset.y == 0)


@pytest.mark.thorough
async def test_new_words_of_another_process_are_shown_while_the_note_is_open(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home("agent")
    async with browsing(memory) as pilot:
        other.update(memory.list()[0].id, content="The kettle is sold")
        await wait_until(pilot, lambda: "The kettle is sold" in read(pilot))
        versions = memory.list()[0].version
        assert versions > 1
        assert any(label.startswith("Hist") and label.endswith(f" {versions}") for label in labels(pilot))
        other.delete(memory.list()[0].id)
        await wait_until(pilot, lambda: hint(pilot) != "")


async def test_words_with_markup_control_characters_and_brackets_are_words(empty: AgenticMemorySystem) -> None:
    empty.add(
        "[bold]x[/bold]\x1b[2J \x9b1m[[a]] [@click=app.quit]q[/]", context="[red]c\x1b]0;t\x07[/red]", tags=["[b]"]
    )
    async with browsing(empty) as pilot:
        await settled(pilot)
        assert "[bold]x[/bold][2J 1ma? [@click=app.quit]q[/]" in flat(pilot)
        assert "[red]c]0;t[/red]" in flat(pilot)
        assert "#[b]" in flat(pilot)
        assert not any(char in screen_text(pilot) for char in "\x1b\x07\x9b")


async def test_a_note_whose_analysis_failed_or_waits_says_how_to_go_on(empty: AgenticMemorySystem) -> None:
    analyst = empty.parts.models.analyst()
    assert isinstance(analyst, ScriptedAnalyst)
    analyst.fail = ServiceUnavailable("the model is down")
    empty.add(TEA)
    async with browsing(empty) as pilot:
        await settled(pilot)
        assert "only rules read it: amem enrich tries again" in flat(pilot)
        analyst.fail = None
        empty.enrich()
        await wait_until(pilot, lambda: "amem enrich" not in flat(pilot))


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 12)], ids=str)
async def test_every_script_and_every_size_shows_the_words(empty: AgenticMemorySystem, size: tuple[int, int]) -> None:
    words = "芝麻🐱 是只猫。 שלום עולם مرحبا"
    empty.add(words)
    async with browsing(empty, size) as pilot:
        await pilot.press("enter")
        await settled(pilot)
        assert words.replace(" ", "") in read(pilot).replace("\n", "").replace(" ", "")
        assert "芝麻" in screen_text(pilot)
        assert page(pilot).size.height >= 2
        assert len(labels(pilot)) == 7


async def test_text_is_laid_out_again_when_the_window_changes(empty: AgenticMemorySystem) -> None:
    empty.add("word " * 200)
    async with browsing(empty, (120, 36)) as pilot:
        await settled(pilot)
        before = len(read(pilot).splitlines())
        await pilot.resize_terminal(160, 36)
        await wait_until(pilot, lambda: len(read(pilot).splitlines()) < before)


@pytest.mark.thorough
async def test_a_page_is_laid_out_only_once_its_width_is_known(
    memory: AgenticMemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    widths: list[int] = []

    def told(parts: Iterable[Part], width: int) -> Sheet:
        widths.append(width)
        return lay_out(parts, width)

    monkeypatch.setattr("amem_tui.page.lay_out", told)
    async with browsing(memory) as pilot:
        await settled(pilot)
        await pilot.press("slash", *"zzz", "enter", "f", *"zzz")
        await wait_until(pilot, lambda: "Nothing was found." in hint(pilot))
        await pilot.press("escape", "slash", *"kettle", "enter", "enter")
        await wait_until(pilot, lambda: KETTLE in flat(pilot))
        await settled(pilot)
    async with browsing(memory, (40, 12)) as pilot:  # where the note is not on the screen at first
        await settled(pilot)
        await pilot.press("enter")
        await wait_until(pilot, lambda: "kettle" in flat(pilot))
        await settled(pilot)
    assert min(widths) > 30


async def test_words_are_selected_with_the_mouse_and_copied(empty: AgenticMemorySystem) -> None:
    empty.add("First line of it\n\nSecond line of it")
    async with browsing(empty) as pilot:
        await settled(pilot)
        place = read(pilot).splitlines().index("First line of it")
        await pilot.mouse_down(page(pilot), offset=(7, place))
        await pilot.hover(page(pilot), offset=(7, place + 2))
        await pilot.mouse_up(page(pilot), offset=(7, place + 2))
        await pilot.press("ctrl+c")
        assert pilot.app.clipboard.rstrip() == "line of it\n\nSecond"
