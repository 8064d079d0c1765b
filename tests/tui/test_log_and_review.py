"""The log and the review queue: who did what, and taking it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem_tui.log.screen import LogScreen
from amem_tui.review.screen import ReviewScreen
from conftest import CAT, KETTLE, TEA
from driving import browsing, options, titles, toasts, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.memory_system import AgenticMemorySystem


async def test_the_log_tells_people_agents_and_machines_apart(memory: AgenticMemorySystem) -> None:
    memory.acting_as("agent:helper").add("Written by an agent")
    async with browsing(memory) as pilot:
        await pilot.press("l")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, LogScreen))
        await wait_until(pilot, lambda: len(options(pilot, "#operations")) > 1)
        lines = options(pilot, "#operations")
        assert any("▲ helper" in line and "Written by an agent" in line for line in lines)
        assert any("└ ◆ scripted" in line and "evolve" in line and KETTLE in line for line in lines)
        assert any("● you" in line and CAT in line for line in lines)


async def test_any_operation_of_the_log_can_be_undone_and_redone(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("l")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, LogScreen))
        await wait_until(pilot, lambda: len(options(pilot, "#operations")) > 1)
        place = next(n for n, line in enumerate(options(pilot, "#operations")) if CAT in line)
        await pilot.press(*["down"] * place, "u")
        await wait_until(pilot, lambda: any("undone" in line and CAT in line for line in options(pilot, "#operations")))
        assert "Undid operation" in toasts(pilot)
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, TEA])
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, CAT, TEA])


async def test_an_operation_that_is_undone_already_is_refused_in_words(memory: AgenticMemorySystem) -> None:
    memory.undo()
    async with browsing(memory) as pilot:
        await pilot.press("l")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, LogScreen))
        await wait_until(pilot, lambda: any("undone" in line for line in options(pilot, "#operations")))
        place = next(n for n, line in enumerate(options(pilot, "#operations")) if "undone" in line and "add" in line)
        await pilot.press(*["down"] * place, "u")
        await wait_until(pilot, lambda: "is undone already" in toasts(pilot))


async def test_an_empty_log_says_so(empty: AgenticMemorySystem) -> None:
    async with browsing(empty) as pilot:
        await pilot.press("l")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, LogScreen))
        await wait_until(pilot, lambda: options(pilot, "#operations") == ["Nothing has happened yet."])
        await pilot.press("u")


async def test_accepting_a_proposal_changes_the_note_and_undo_takes_it_back(memory: AgenticMemorySystem) -> None:
    tea = memory.list()[-1].id
    async with browsing(memory) as pilot:
        await pilot.press("r")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen))
        await wait_until(pilot, lambda: len(options(pilot, "#proposals")) == 1)
        proposal = options(pilot, "#proposals")[0]
        assert TEA in proposal
        assert "◆ scripted" in proposal
        assert "50% sure" in proposal
        assert "+ How tea is made here" in proposal
        await pilot.press("a")
        await wait_until(pilot, lambda: options(pilot, "#proposals") == ["Nothing waits for you."])
        assert "Accepted: set context" in toasts(pilot)
        note = memory.read(tea)
        assert note is not None
        assert note.context == "How tea is made here"
        await pilot.press("u")
        await wait_until(pilot, lambda: TEA in options(pilot, "#proposals")[0])


async def test_rejecting_a_proposal_leaves_the_note(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("r")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen))
        await wait_until(pilot, lambda: TEA in options(pilot, "#proposals")[0])
        await pilot.press("r")
        await wait_until(pilot, lambda: options(pilot, "#proposals") == ["Nothing waits for you."])
    assert "How tea is made here" not in [note.context for note in memory.list()]
    assert memory.reviews() == []


async def test_a_proposal_decided_elsewhere_disappears(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home()
    async with browsing(memory) as pilot:
        await pilot.press("r")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen))
        await wait_until(pilot, lambda: TEA in options(pilot, "#proposals")[0])
        other.reject(other.reviews()[0].id)
        await wait_until(pilot, lambda: options(pilot, "#proposals") == ["Nothing waits for you."])
