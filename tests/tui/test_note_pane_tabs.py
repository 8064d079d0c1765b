"""The pages beside the note's words: links, what is near, history, sources, reasons; read when they are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.note_pages import NAMES
from amem_tui.history.history_room import HistoryScreen
from amem_tui.page import ToNote
from amem_tui.rooms import tab_labels
from conftest import CAT, KETTLE, TEA
from driving import browsing, listed, opened, screen_text, settled, titles, toasts, wait_until
from pane_driving import TABS, flat, go_to, labels, page, pane, read, turn_to

from amem.errors import ServiceUnavailable
from amem.memory_system import AgenticMemorySystem
from amem.note import Source

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.thorough
async def test_keys_and_clicks_lead_from_page_to_page(memory: AgenticMemorySystem) -> None:
    async with browsing(memory, (160, 36)) as pilot:
        for tab in (*TABS[1:], TABS[0]):
            await pilot.press("right_square_bracket")
            assert pane(pilot).tab == tab
        await pilot.press("left_square_bracket")
        assert pane(pilot).tab == "why"
        await pilot.press("enter", "left")
        assert pane(pilot).tab == "sources"
        await pilot.press("right", "right")
        assert pane(pilot).tab == "note"
        listed(pilot).focus()
        await pilot.click("#tabs", offset=(len(labels(pilot)[0]) + 4, 0))
        assert pane(pilot).tab == "links"
        assert page(pilot).has_focus
        await settled(pilot)
        assert labels(pilot)[:3] == ["Note", "Links 1", "Backlinks"]


async def test_only_the_page_that_is_looked_at_is_read(
    memory: AgenticMemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    for name in ("links", "backlinks", "similar", "history", "sources", "ancestors"):

        def told(self: AgenticMemorySystem, *given: object, name: str = name, real: object = None) -> object:
            asked.append(name)
            return real(self, *given)

        real = getattr(AgenticMemorySystem, name)
        monkeypatch.setattr(
            AgenticMemorySystem, name, lambda self, *given, told=told, real=real: told(self, *given, real=real)
        )
    async with browsing(memory) as pilot:
        await settled(pilot)
        await pilot.press("down")
        await wait_until(pilot, lambda: opened(pilot) == CAT)
        await settled(pilot)
        assert asked == []
        await turn_to(pilot, "links")
        assert set(asked) == {"links"}


async def test_links_say_type_title_reason_maker_and_certainty(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await turn_to(pilot, "links")
        assert flat(pilot) == f"supports → {TEA} ◆ scripted 90% sure both are about tea"
        await pilot.press("enter", "enter")
        await wait_until(pilot, lambda: opened(pilot) == TEA)
        await settled(pilot)
        await turn_to(pilot, "links")
        assert "No note is linked from here. + links one." in flat(pilot)
        await turn_to(pilot, "backlinks")
        assert flat(pilot) == f"supports ← {KETTLE} ◆ scripted 90% sure both are about tea"


@pytest.mark.thorough
async def test_a_note_that_a_link_led_to_opens_on_its_words_and_escape_leads_back_to_the_page(
    memory: AgenticMemorySystem,
) -> None:
    async with browsing(memory) as pilot:
        await turn_to(pilot, "links")
        await pilot.press("enter", "enter")
        await wait_until(pilot, lambda: opened(pilot) == TEA and pane(pilot).tab == "note")
        await settled(pilot)
        await turn_to(pilot, "backlinks")
        await pilot.press("enter")
        await wait_until(pilot, lambda: opened(pilot) == KETTLE and pane(pilot).tab == "note")
        await settled(pilot)
        await pilot.press("escape")
        await wait_until(pilot, lambda: opened(pilot) == TEA and pane(pilot).tab == "backlinks")
        await pilot.press("escape")
        await wait_until(pilot, lambda: opened(pilot) == KETTLE and pane(pilot).tab == "links")
        await settled(pilot)
        assert flat(pilot) == f"supports → {TEA} ◆ scripted 90% sure both are about tea"
        await pilot.press("escape", "down")  # the cursor keeps the page
        await wait_until(pilot, lambda: opened(pilot) == CAT)
        assert pane(pilot).tab == "links"


async def test_ends_that_are_superseded_or_not_there_are_marked(memory: AgenticMemorySystem) -> None:
    kettle, cat, tea = (note.id for note in memory.list())
    memory.supersede(tea, cat)
    async with browsing(memory, notes=2) as pilot:
        await turn_to(pilot, "links")
        assert f"{TEA} superseded" in flat(pilot)
        assert memory.links(kettle)


async def test_arrows_go_from_link_to_link(memory: AgenticMemorySystem) -> None:
    kettle, cat, _ = (note.id for note in memory.list())
    memory.link(kettle, cat, reason="both are warm")
    async with browsing(memory) as pilot:
        await turn_to(pilot, "links")
        await pilot.press("enter")
        ends = []
        for key in ("down", "j", "up", "end", "home"):
            await pilot.press(key)
            chosen = page(pilot).chosen
            assert isinstance(chosen, ToNote)
            ends.append(chosen.id == cat)
        assert ends == [True, True, False, True, False]
        assert "enter opens it, - unlinks" in screen_text(pilot)


async def test_similar_notes_come_nearest_first_with_their_cosine(memory: AgenticMemorySystem) -> None:
    near = memory.similar(memory.list()[0].id)
    async with browsing(memory) as pilot:
        await turn_to(pilot, "similar")
        shown = flat(pilot)
        for card, cosine in near:
            assert f"{cosine:.2f} " in shown
            assert card.text in shown
        await pilot.press("enter", "enter")
        await wait_until(pilot, lambda: opened(pilot) == near[0][0].text)


async def test_without_a_vector_the_page_says_why_nothing_is_near(empty: AgenticMemorySystem) -> None:
    empty.add(TEA)
    async with browsing(empty) as pilot:
        await turn_to(pilot, "similar")
        assert "Nothing to compare with yet." in flat(pilot)
        assert "amem reindex" in flat(pilot)


async def test_history_shows_what_changed_word_by_word_newest_first(memory: AgenticMemorySystem) -> None:
    tea = memory.list()[-1].id
    memory.update(tea, context="Steeping for long")
    memory.acting_as("agent:helper").update(tea, context="Steeping for two minutes")
    async with browsing(memory) as pilot:
        await go_to(pilot, TEA)
        assert "History 3" in labels(pilot) or "Hist 3" in labels(pilot)
        await turn_to(pilot, "history")
        shown = flat(pilot)
        assert shown.index("v3") < shown.index("v2") < shown.index("v1")
        assert "▲ helper" in shown
        assert "● you" in shown
        assert "Steeping for longtwo minutes" in shown
        pane(pilot).focus_inside()
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))
        await settled(pilot)


async def test_pages_with_nothing_on_them_say_so_kindly(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await go_to(pilot, CAT)
        for tab, words in (
            ("links", "No note is linked from here. + links one."),
            ("backlinks", "No note links here."),
            ("sources", "there is no source behind it"),
            ("why", "No link says what this note rests on. Search (/)"),
        ):
            await turn_to(pilot, tab)
            assert words in flat(pilot)


async def test_sources_are_shown_word_for_word_with_the_sentence_that_was_taken(empty: AgenticMemorySystem) -> None:
    said = "It rained all day. Green tea at 80 degrees tastes best\x1b[2J. Then we left."
    source = Source("m1", "message", "chat-7", "D1:3", "Ana", None, said)
    empty.add("Green tea at 80 degrees tastes best", source=source)
    async with browsing(empty) as pilot:
        await settled(pilot)
        assert {"Src 1", "Source 1", "Sources 1"} & set(labels(pilot))
        await turn_to(pilot, "sources")
        assert "Ana message chat-7 D1:3" in flat(pilot)
        assert "It rained all day." in flat(pilot)
        assert "\x1b" not in read(pilot)
        marked = [
            line.plain[span.start : span.end]
            for line in page(pilot).sheet.lines
            for span in line.spans
            if "accent" in str(span.style)
        ]
        assert "Green tea" in " ".join(marked)
        assert "rained" not in " ".join(marked)


async def test_an_episode_shows_the_messages_it_was_made_from(empty: AgenticMemorySystem) -> None:
    empty.remember(
        [
            {"role": "user", "content": "My cat Sesame turned six today.", "speaker": "Ana"},
            {"role": "assistant", "content": "Happy birthday to Sesame!"},
        ]
    )
    async with browsing(empty) as pilot:
        await settled(pilot)
        await turn_to(pilot, "sources")
        assert "My cat Sesame turned six today." in flat(pilot)
        assert "Happy birthday to Sesame!" in flat(pilot)


async def test_why_tells_leg_by_leg_while_a_search_is_on_and_else_what_the_note_rests_on(
    memory: AgenticMemorySystem,
) -> None:
    kettle, cat, tea = (note.id for note in memory.list())
    memory.link(tea, cat, "derived_from", "the cat told us")
    async with browsing(memory) as pilot:
        await go_to(pilot, TEA)
        await turn_to(pilot, "why")
        shown = flat(pilot)
        assert shown.startswith("It rests on")
        # In the words of whoever made the links, what the note's ground rests on in turn below it.
        assert f"supported by {KETTLE} ◆ scripted both are about tea" in shown
        assert "derived from 芝麻" in shown
        assert "● you the cat told us" in shown
        pane(pilot).focus_inside()
        await pilot.press("enter")
        await wait_until(pilot, lambda: opened(pilot) in (KETTLE, CAT))
        await pilot.press("escape", "escape")
        await pilot.press("slash", *"kettle", "enter")
        await wait_until(pilot, lambda: titles(pilot)[:1] == [KETTLE])
        await settled(pilot)
        await wait_until(pilot, lambda: opened(pilot) == KETTLE and "freshness" in flat(pilot))
        why = memory.explain("kettle", kettle)
        assert f"{why.score:.2f}" in flat(pilot)
        assert "1st of" in flat(pilot)
        assert "words" in flat(pilot)
        assert "kettle" in flat(pilot)
        assert "meaning" in flat(pilot)
        assert f"= {why.score:.3f}" in flat(pilot)


async def test_a_page_that_cannot_be_read_says_so_and_the_others_work(
    memory: AgenticMemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(self: AgenticMemorySystem, id: str, k: int = 10) -> object:
        raise ServiceUnavailable("the model is down", hint="start it")

    monkeypatch.setattr(AgenticMemorySystem, "similar", down)
    async with browsing(memory) as pilot:
        await turn_to(pilot, "similar")
        assert flat(pilot) == "the model is down start it"
        await turn_to(pilot, "links")
        assert TEA in flat(pilot)


async def test_pages_of_a_note_that_goes_meanwhile_are_no_traceback(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home("agent")
    async with browsing(memory) as pilot:
        await turn_to(pilot, "links")
        other.purge(memory.list()[0].id)
        await pilot.press("right_square_bracket", "right_square_bracket", "right_square_bracket")
        await wait_until(pilot, lambda: pane(pilot).opened_note is None or opened(pilot) != KETTLE)
        assert "Traceback" not in toasts(pilot)


async def test_a_narrow_pane_shortens_its_tabs_and_moves_them_into_sight(memory: AgenticMemorySystem) -> None:
    async with browsing(memory, (36, 12)) as pilot:
        await pilot.press("enter")
        await settled(pilot)
        assert " Note " in screen_text(pilot)
        assert "›" in screen_text(pilot)
        await turn_to(pilot, "why")
        assert "‹" in screen_text(pilot)
        assert " Why " in screen_text(pilot)
        await turn_to(pilot, "similar")
        assert "Sim" in screen_text(pilot)


def test_with_less_room_names_of_pages_stand_closer_and_are_shortened_from_the_right() -> None:
    counts = {"links": 2, "backlinks": 1, "history": 10, "sources": 1}
    for width, shown in (
        (65, "Note  Links 2  Backlinks 1  Similar  History 10  Sources 1  Why"),
        (58, "Note Links 2 Backlinks 1 Similar History 10 Sources 1 Why"),
        (49, "Note Links 2 Linked 1 Sim Hist 10 Source 1 Why"),
        (46, "Note Links 2 Linked 1 Sim Hist 10 Src 1 Why"),
    ):
        labels, gap = tab_labels(NAMES, counts, "note", width)
        assert (" " * gap).join(labels) == shown
        assert len(shown) + gap <= width
    assert "History 10" in tab_labels(NAMES, counts, "history", 49)[0]
