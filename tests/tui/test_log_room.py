"""The log: who did what and when, what exactly it changed, and taking any of it back."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest
from amem_tui.browse.browse_room import BrowseScreen
from amem_tui.dialogs import Picker
from amem_tui.history.history_room import HistoryScreen
from amem_tui.log.log_room import LogList, LogScreen, Outline, OutlineLine
from amem_tui.page import Page
from conftest import CAT, KETTLE, TEA
from driving import browsing, opened, options, screen_text, settled, titles, toasts, wait_until
from textual.widgets import Input

from amem.storage.operations import LogOrder

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem
    from amem.testing import FrozenClock


async def enter(pilot: Pilot[None]) -> LogList:
    await pilot.press("l")
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, LogScreen) and bool(pilot.app.screen.query(LogList)))
    log = pilot.app.screen.query_one(LogList)
    await wait_until(pilot, lambda: log.outline is not None and (log.row is not None or not log.outline.count))
    await settled(pilot)
    return log


def lines(pilot: Pilot[None]) -> list[str]:
    """The list as it is drawn, without the pane beside it."""
    log = pilot.app.screen.query_one(LogList)
    return [log.render_line(y).text for y in range(log.size.height)]


def has(pilot: Pilot[None], *words: str) -> bool:
    """Whether one line of the list holds all of these."""
    return any(all(word in line for word in words) for line in lines(pilot))


def detail(pilot: Pilot[None]) -> str:
    return " ".join(pilot.app.screen.query_one(Page).text.split())


async def go_to(pilot: Pilot[None], log: LogList, *words: str) -> None:
    """Put the cursor on the line that holds all of these, key by key."""
    place = next(at for at, line in enumerate(lines(pilot)) if all(word in line for word in words))
    while log.cursor != place:
        await pilot.press("down" if log.cursor < place else "up")
    await settled(pilot)


async def test_the_log_tells_people_agents_and_machines_apart_under_their_days(memory: AgenticMemorySystem) -> None:
    memory.acting_as("agent:helper").add("Written by an agent")
    async with browsing(memory) as pilot:
        await enter(pilot)
        assert has(pilot, "▲ helper", "wrote", "Written by an agent")
        assert has(pilot, "└ ◆ scripted", "linked", KETTLE[:14])
        assert has(pilot, "▾ ● you", "wrote", KETTLE[:14])
        assert has(pilot, "● you", CAT[:8])
        assert [line.split() for line in lines(pilot) if "2026-" in line] == [
            ["2026-03-04", "Wednesday"],
            ["2026-03-03", "Tuesday"],
            ["2026-03-02", "Monday"],
            ["2026-03-01", "Sunday"],
        ]


@pytest.mark.thorough
async def test_what_an_operation_did_is_told_in_full_beside_it(memory: AgenticMemorySystem) -> None:
    tea = memory.list()[-1].id
    memory.update(tea, context="About tea at 75", tags=["tea", "hot"])
    async with browsing(memory) as pilot:
        log = await enter(pilot)
        await go_to(pilot, log, "edited")
        await wait_until(pilot, lambda: "tea at 75" in detail(pilot))
        assert "tea, hot" in detail(pilot)
        assert "● you edited" in detail(pilot)
        await go_to(pilot, log, "linked")
        await wait_until(pilot, lambda: "◆ scripted linked" in detail(pilot))
        assert f"+ supports {KETTLE} → {TEA}" in detail(pilot)
        assert "both are about tea" in detail(pilot)
        assert f"proposed for {TEA}" in detail(pilot)
        assert f"“{KETTLE}” arrived" in detail(pilot)
        await go_to(pilot, log, "▾ ● you", KETTLE[:14])
        await wait_until(pilot, lambda: f"wrote {KETTLE}" in detail(pilot))


async def test_any_operation_can_be_undone_and_redone_and_looks_undone(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        log = await enter(pilot)
        await go_to(pilot, log, "wrote", CAT[:8])
        number = log.line.id if log.line is not None else 0
        await pilot.press("u")
        await wait_until(pilot, lambda: has(pilot, "undone", CAT[:8]))
        assert "Undone: " in toasts(pilot)
        assert log.line is not None
        assert log.line.id == number  # though a line was added above
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, TEA])
        await pilot.press("u")  # offered no more
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, CAT, TEA])
        await wait_until(pilot, lambda: not has(pilot, "wrote", "undone", CAT[:8]))


@pytest.mark.thorough
async def test_why_something_was_done_is_told_with_short_ids(memory: AgenticMemorySystem) -> None:
    memory.remember([{"role": "user", "content": "Good morning!"}], conversation="4e6ff025-f198-4639-aed4-93618a463a1a")
    async with browsing(memory) as pilot:
        log = await enter(pilot)
        await go_to(pilot, log, "learnt")
        await wait_until(pilot, lambda: "1 message of 4e6ff025" in detail(pilot))
        assert "4e6ff025-" not in detail(pilot)


async def test_an_undo_says_what_later_work_it_left_alone(memory: AgenticMemorySystem) -> None:
    tea = memory.list()[-1].id
    memory.update(tea, context="Mine", tags=["mine"])
    later = memory.history(tea)[-1].operation + 1
    memory.acting_as("agent:helper").update(tea, tags=["agent"])
    async with browsing(memory) as pilot:
        log = await enter(pilot)
        await go_to(pilot, log, "● you", "edited")
        await pilot.press("u")
        await wait_until(pilot, lambda: f"Left alone: tags of “{TEA}”, changed" in toasts(pilot))
        assert f"operation {later}" in toasts(pilot)


@pytest.mark.thorough
async def test_what_was_undone_elsewhere_meanwhile_is_refused_in_words(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home()
    async with browsing(memory) as pilot:
        log = await enter(pilot)
        await go_to(pilot, log, "wrote", CAT[:8])
        assert log.line is not None
        screen = pilot.app.screen
        assert isinstance(screen, LogScreen)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(screen, "reload", lambda: None)  # the news has not come yet
            other.undo(log.line.id)
            await pilot.press("u")
            await wait_until(pilot, lambda: "is undone already" in toasts(pilot))
        screen.reload()  # the news may have come while it was held back
        await wait_until(pilot, lambda: has(pilot, "undone", CAT[:8]))


async def test_an_empty_log_says_so(empty: AgenticMemorySystem) -> None:
    async with browsing(empty) as pilot:
        await enter(pilot)
        await wait_until(pilot, lambda: "Nothing has happened yet." in detail(pilot))
        await pilot.press("u", "enter", "space", "left", "right", "j", "k", "end", "home", "pagedown")
        await settled(pilot)
        assert isinstance(pilot.app.screen, LogScreen)


@pytest.mark.thorough
async def test_the_log_is_narrowed_to_an_actor_and_to_a_time_and_widened_again(memory: AgenticMemorySystem) -> None:
    memory.acting_as("agent:helper").add("Written by an agent")
    clock: FrozenClock = memory.parts.clock
    clock.advance(timedelta(days=60))
    memory.add("Much later")
    async with browsing(memory) as pilot:
        log = await enter(pilot)

        async def choose(key: str) -> None:
            await pilot.press(key)
            await wait_until(pilot, lambda: isinstance(pilot.app.screen, Picker))

        async def since(*keys: str) -> None:
            await choose("s")
            await pilot.press(*keys)
            await wait_until(pilot, lambda: isinstance(pilot.app.screen, LogScreen))
            await settled(pilot)

        assert log.outline is not None
        everything = log.outline.count
        await choose("a")
        choices = options(pilot, "#choices")
        assert "All authors" in choices[0]
        assert any("1  ▲ helper" in choice for choice in choices)
        place = next(at for at, choice in enumerate(choices) if "helper" in choice)
        await pilot.press(*["j"] * place, "enter")
        await wait_until(pilot, lambda: log.outline is not None and log.outline.count == 1)
        await wait_until(pilot, lambda: has(pilot, "Written by an agent"))
        assert "▲ helper, all time" in screen_text(pilot)
        await choose("a")
        await pilot.press("home", "enter")
        await wait_until(pilot, lambda: log.outline is not None and log.outline.count == everything > 4)
        await settled(pilot)

        await since("down", "enter")
        assert 0 < log.outline.count < 3
        await wait_until(pilot, lambda: "All authors, today" in screen_text(pilot))
        await since("home", "enter")
        assert log.outline.count == everything
        await since("tab", *"2026-03-03", "enter")
        assert 1 < log.outline.count < everything
        await wait_until(pilot, lambda: "since 2026-03-03" in screen_text(pilot))
        await since("tab", *"soon", "enter")
        await wait_until(pilot, lambda: "use 2026-03-01" in toasts(pilot))
        await since("escape")
        await wait_until(pilot, lambda: "since 2026-03-03" in screen_text(pilot))
        await since("tab", *"2999-01-01", "enter")
        await wait_until(pilot, lambda: "Nothing has happened since 2999-01-01." in detail(pilot))

        await choose("s")
        await pilot.click("#typed")
        assert isinstance(pilot.app.screen.focused, Input)
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, LogScreen))


@pytest.mark.thorough
async def test_what_an_operation_set_off_is_folded_and_unfolded(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        log = await enter(pilot)
        await go_to(pilot, log, "▾ ● you", KETTLE[:14])
        assert has(pilot, "linked")
        await pilot.press("space")
        assert not has(pilot, "linked")
        assert has(pilot, "▸ ● you", KETTLE[:10], "+1")
        await pilot.press("right")
        assert has(pilot, "linked")
        await pilot.press("down", "left")  # first to what set it off,
        assert log.row is not None
        assert log.row.operation.action == "add"
        await pilot.press("left")  # then that is folded
        assert not has(pilot, "linked")
        other = memory.acting_as("agent:helper")
        other.add("Something new")
        await wait_until(pilot, lambda: has(pilot, "Something new"))
        assert not has(pilot, "linked", KETTLE[:10])  # what was folded stays so
        await go_to(pilot, log, "▸ ● you")
        await pilot.click(LogList, offset=(14, log.cursor + 1))  # the sign before who did it
        await settled(pilot)
        assert has(pilot, "linked", KETTLE[:10])


async def test_enter_opens_the_note_and_the_history_of_one_that_was_deleted(memory: AgenticMemorySystem) -> None:
    cat = memory.list()[1].id
    memory.delete(cat)
    async with browsing(memory) as pilot:
        log = await enter(pilot)
        await go_to(pilot, log, "wrote", TEA[:12])
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))
        await wait_until(pilot, lambda: opened(pilot) == TEA)
        log = await enter(pilot)
        await go_to(pilot, log, "deleted", CAT[:8])
        await pilot.click(LogList, offset=(30, log.cursor + 1))
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))
        await wait_until(pilot, lambda: len(options(pilot, "#version-list")) == 2)


@pytest.mark.thorough
async def test_a_note_destroyed_meanwhile_is_said_to_be_gone(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        log = await enter(pilot)
        await go_to(pilot, log, "wrote", CAT[:8])
        screen = pilot.app.screen
        assert isinstance(screen, LogScreen)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(screen, "reload", lambda: None)
            memory.purge(memory.list()[1].id)
            await pilot.press("enter")
            await wait_until(pilot, lambda: "destroyed for good" in toasts(pilot))
        screen.reload()
        await wait_until(pilot, lambda: not has(pilot, CAT[:8]))


@pytest.mark.thorough
async def test_what_others_write_appears_on_top_and_the_cursor_stays(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home("agent:other")
    async with browsing(memory) as pilot:
        log = await enter(pilot)
        await go_to(pilot, log, "wrote", TEA[:12])
        before = log.line
        other.add("From another process")
        await wait_until(pilot, lambda: has(pilot, "▲ other", "From another process"))
        assert log.line == before
        await pilot.press("home")
        before = log.line
        other.add("And once more")
        await wait_until(pilot, lambda: has(pilot, "And once more"))
        assert log.line == before


@pytest.mark.thorough
async def test_a_long_log_is_read_a_screenful_at_a_time(memory: AgenticMemorySystem) -> None:
    tea = memory.list()[-1].id
    for place in range(250):
        memory.pin(tea, place % 2 == 0)
    async with browsing(memory) as pilot:
        log = await enter(pilot)
        assert len(log.rows) < 200
        await pilot.press("pagedown", "pageup", "end")
        await wait_until(pilot, lambda: has(pilot, "wrote", TEA[:12]))
        await pilot.press("k", "j", "home")
        await settled(pilot)
        assert log.cursor == 1
        assert has(pilot, "unpin")


@pytest.mark.thorough
async def test_a_small_terminal_shows_what_happened_above_what_it_did(memory: AgenticMemorySystem) -> None:
    async with browsing(memory, size=(40, 12)) as pilot:
        await enter(pilot)
        assert has(pilot, "●", "wrote", KETTLE[:8])
        assert "Operation" in screen_text(pilot)
        await pilot.press("tab")
        await wait_until(pilot, lambda: pilot.app.screen.query_one(Page).has_focus)
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))


def outline_of(pairs: list[tuple[int, int]], toggled: frozenset[int] = frozenset()) -> Outline:
    """Operations (id, parent), newest first, all of one day."""
    ids, parents = (np.array(each, dtype=np.int64) for each in zip(*pairs, strict=True))
    return Outline(LogOrder(ids, parents, np.full(len(ids), 7, dtype=np.int32)), toggled)


def test_what_set_off_much_is_folded_from_the_first() -> None:
    much = [(id, 1) for id in range(6, 1, -1)]
    assert outline_of([*much, (1, 0)]).lines == [OutlineLine(0, 7), OutlineLine(1, 7, 0, 5, True)]
    opened = outline_of([*much, (1, 0)], frozenset({1}))
    assert [line.id for line in opened.lines] == [0, 1, 2, 3, 4, 5, 6]
    opened.toggle(1)
    assert opened.lines == [OutlineLine(0, 7), OutlineLine(1, 7, 0, 5, True)]


def test_steps_of_steps_stand_below_them_and_strays_by_themselves() -> None:
    outline = outline_of([(9, 4), (3, 2), (2, 1), (1, 0)])  # what set 9 off is not among them
    assert [(line.id, line.depth) for line in outline.lines] == [(0, 0), (9, 0), (1, 0), (2, 1), (3, 2)]
    assert outline.above(4) == 3
    assert outline.above(3) == 2
    assert outline.above(2) == 2
    assert outline.place(3) == 4
    assert outline.place(99) is None
    outline.toggle(4)  # nothing to fold
    outline.toggle(2)
    assert [line.id for line in outline.lines] == [0, 9, 1]


@pytest.mark.thorough
async def test_a_long_title_without_spaces_is_shown_whole_in_the_detail(memory: AgenticMemorySystem) -> None:
    memory.delete(memory.add("波尔图马拉松跑完了" * 8).id)
    async with browsing(memory, (100, 36)) as pilot:
        await enter(pilot)
        await wait_until(pilot, lambda: "deleted" in detail(pilot))
        assert f"changed {'波尔图马拉松跑完了' * 8}" in "".join(pilot.app.screen.query_one(Page).text.split("\n"))
