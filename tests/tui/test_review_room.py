"""The review room: rewrites that machines proposed, notes that disagree, notes that may be out of date."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.browse_room import BrowseScreen
from amem_tui.history.history_room import Lines
from amem_tui.page import Page
from amem_tui.review.review_room import ReviewScreen
from amem_tui.rooms import RoomBar
from conftest import TEA
from driving import browsing, opened, options, said, screen_text, settled, toasts, wait_until
from textual.widgets import TabbedContent

from amem.note import Fact, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem


async def enter(pilot: Pilot[None], section: str = "rewrites") -> None:
    await pilot.press("r")
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen))
    await settled(pilot)
    while at(pilot) != section:
        before = at(pilot)
        await pilot.press("right")
        await wait_until(pilot, lambda before=before: at(pilot) != before)
        await settled(pilot)


def at(pilot: Pilot[None]) -> str:
    return pilot.app.screen.query_one("#sections", TabbedContent).active


def tabs(pilot: Pilot[None]) -> list[str]:
    found = pilot.app.screen.query_one("#sections", TabbedContent)
    return [str(found.get_tab(name).label) for name in ("rewrites", "conflicts", "flags")]


def beside(pilot: Pilot[None], section: str = "rewrites") -> str:
    return " ".join(pilot.app.screen.query_one(f"#{section}-view", Page).text.split())


def lives(memory: AgenticMemorySystem, city: str, year: int) -> str:
    """Somebody says on New Year's Day where they live; what they said before is superseded."""
    return memory.add(f"I moved to {city}.", time=f"{year}-01-01", facts=[Fact("user", "lives_in", city)]).id


def at_odds(memory: AgenticMemorySystem) -> tuple[str, str]:
    """Two notes that contradict each other, the earlier first."""
    early = memory.add_note("The kiln fires at 900 degrees", time="2026-01-01")
    late = memory.add_note("The glaze needs a cold oven", time="2026-02-01")
    memory.link(late, early, "contradicts", "one wants heat")
    return early, late


def status(memory: AgenticMemorySystem, id: str) -> Status:
    return memory.cards_of([id])[id].status


# -- rewrites ----------------------------------------------------------------------------------------------------


@pytest.mark.thorough
async def test_a_proposal_says_who_made_it_how_sure_and_what_it_would_change(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await enter(pilot)
        (line,) = options(pilot, "#rewrites-list")
        assert TEA in line
        assert "◆ scripted  50% sure  context" in line
        text = beside(pilot)
        assert "proposed by ◆ scripted, 50% sure" in text
        assert "because seen together" in text
        assert "open until 2026-04-02" in text
        assert "How tea is made here" in text
        assert "About Green tea" in text
        assert tabs(pilot) == ["Rewrites 1", "Conflicts", "May be out of date"]
        assert "1 to decide" in pilot.app.screen.query_one(RoomBar).render().plain


async def test_accepting_changes_the_note_and_undo_takes_back_one_s_own_step(memory: AgenticMemorySystem) -> None:
    tea = memory.list()[-1].id
    async with browsing(memory) as pilot:
        await enter(pilot)
        await pilot.press("a")
        await wait_until(pilot, lambda: options(pilot, "#rewrites-list") == ["No rewrite waits for you."])
        assert "Accepted: set context" in toasts(pilot)
        note = memory.read(tea)
        assert note is not None
        assert note.context == "How tea is made here"
        memory.acting_as("agent:helper").add("Written meanwhile by an agent")
        await pilot.press("u")
        await wait_until(pilot, lambda: TEA in options(pilot, "#rewrites-list")[0])
        assert memory.count() == 4  # the agent's note stands
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: TEA not in options(pilot, "#rewrites-list")[0])


async def test_rejecting_leaves_the_note_and_the_cursor_goes_on_to_the_next(memory: AgenticMemorySystem) -> None:
    memory.add("The tea pot of green tea is cracked")
    assert len(memory.reviews()) >= 2
    async with browsing(memory) as pilot:
        await enter(pilot)
        before = options(pilot, "#rewrites-list")
        await pilot.press("r")
        await wait_until(pilot, lambda: options(pilot, "#rewrites-list") == before[1:])
        assert "Rejected" in toasts(pilot)
        assert pilot.app.screen.query_one("#rewrites-list", Lines).highlighted == 0
        await pilot.press("j", "down", "k", "up", "w", "w", "enter")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))


@pytest.mark.thorough
async def test_a_proposal_decided_elsewhere_disappears_and_one_out_of_date_is_refused(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home()
    async with browsing(memory) as pilot:
        await enter(pilot)
        tea = memory.reviews()[0].note
        other.update(tea, context="A person's own words")
        await pilot.press("a")
        await wait_until(pilot, lambda: "changed since review" in toasts(pilot))
        other.reject(other.reviews()[0].id)
        await wait_until(pilot, lambda: options(pilot, "#rewrites-list") == ["No rewrite waits for you."])


@pytest.mark.thorough
async def test_nothing_waits_in_an_empty_collection_and_every_key_does_nothing(empty: AgenticMemorySystem) -> None:
    async with browsing(empty) as pilot:
        await enter(pilot)
        assert "Nothing waits" in pilot.app.screen.query_one(RoomBar).render().plain
        keys = ("a", "r", "w", "1", "2", "equals_sign", "x", "s", "u", "enter", "j")
        for section in ("rewrites", "conflicts", "flags"):
            await enter(pilot, section)
            await pilot.press(*keys)
            await settled(pilot)
            assert isinstance(pilot.app.screen, ReviewScreen)
            assert at(pilot) == section
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))


# -- conflicts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "becomes"),
    [
        ("1", (Status.ACTIVE, Status.SUPERSEDED)),
        ("2", (Status.SUPERSEDED, Status.ACTIVE)),
        ("equals_sign", (Status.ACTIVE, Status.ACTIVE)),
    ],
)
async def test_a_conflict_is_decided_and_the_decision_can_be_undone(
    empty: AgenticMemorySystem, key: str, becomes: tuple[Status, Status]
) -> None:
    early, late = at_odds(empty)
    async with browsing(empty) as pilot:
        await enter(pilot, "conflicts")  # where something waits is where one comes in
        assert tabs(pilot)[1] == "Conflicts 1"
        (line,) = options(pilot, "#conflicts-list")
        assert "The kiln fires at 900 degrees" in line
        assert "contradicts  The glaze needs a cold oven" in line
        assert "They contradict each other" in said(pilot, "#dispute-head")
        assert "one wants heat" in said(pilot, "#dispute-head")
        first, second = options(pilot, "#chain")
        assert "1  2026-01-01 – now  ? disputed" in first
        assert "2  2026-02-01 – now  ? disputed" in second
        await pilot.press(key)
        await wait_until(pilot, lambda: tabs(pilot)[1] == "Conflicts")
        assert (status(empty, early), status(empty, late)) == becomes
        assert empty.conflicts_open() == []
        await settled(pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: tabs(pilot)[1] == "Conflicts 1")
        assert (status(empty, early), status(empty, late)) == (Status.ACTIVE, Status.ACTIVE)


async def test_a_supersession_is_a_timeline_and_an_earlier_note_can_be_right_after_all(
    empty: AgenticMemorySystem,
) -> None:
    cities = {"Porto": 2018, "Lisbon": 2020, "Berlin": 2022}
    porto, lisbon, berlin = (lives(empty, city, year) for city, year in cities.items())
    async with browsing(empty, notes=1) as pilot:
        await enter(pilot, "conflicts")
        lines = options(pilot, "#conflicts-list")
        assert lines[0] == "Decided: what took whose place"
        assert "I moved to Berlin." in lines[1]
        assert "in place of  I moved to Lisbon." in lines[1]
        first, second, third = options(pilot, "#chain")
        assert "1  2018-01-01 – 2020-01-01  ○ superseded" in first
        assert "2  2020-01-01 – 2022-01-01  ○ superseded" in second
        assert "3  2022-01-01 – now  ● current" in third
        assert "Decided: " in said(pilot, "#dispute-head")
        assert "= Both are current" in screen_text(pilot)
        await pilot.press("3")
        await wait_until(pilot, lambda: "is current already, nothing changes" in toasts(pilot))
        await pilot.press("1")
        await wait_until(
            pilot,
            lambda: (
                "Decided anew: “I moved to Porto.” is current now, in place of “I moved to Berlin.”" in toasts(pilot)
            ),
        )
        assert [status(empty, id) for id in (porto, lisbon, berlin)] == ["active", "superseded", "superseded"]
        await settled(pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: status(empty, berlin) is Status.ACTIVE)
        assert status(empty, porto) is Status.SUPERSEDED


@pytest.mark.thorough
async def test_both_notes_of_a_supersession_may_hold(empty: AgenticMemorySystem) -> None:
    lisbon, berlin = lives(empty, "Lisbon", 2020), lives(empty, "Berlin", 2022)
    async with browsing(empty, notes=1) as pilot:
        await enter(pilot, "conflicts")
        await pilot.press("equals_sign")
        await wait_until(pilot, lambda: "Both are current: “I moved to Lisbon.” is current again" in toasts(pilot))
        assert (status(empty, lisbon), status(empty, berlin)) == (Status.ACTIVE, Status.ACTIVE)
        # They fill one place, so that they are listed until somebody says which is right.
        await wait_until(pilot, lambda: tabs(pilot)[1] == "Conflicts 1")
        await settled(pilot)
        await pilot.press("2")
        await wait_until(pilot, lambda: status(empty, lisbon) is Status.SUPERSEDED)


@pytest.mark.thorough
async def test_a_decision_leads_to_what_is_not_decided_and_never_to_what_is(empty: AgenticMemorySystem) -> None:
    def chosen() -> str:
        return str(pilot.app.screen.query_one("#conflicts-list", Lines).chosen)

    for year, what in enumerate(("kiln", "boat", "garden"), start=2020):
        early = empty.add_note(f"The {what} is red", time=f"{year}-01-01")
        empty.link(empty.add_note(f"The {what} is blue", time=f"{year}-02-01"), early, "contradicts")
    async with browsing(empty, notes=6) as pilot:
        await enter(pilot, "conflicts")
        await pilot.press("j")
        await settled(pilot)
        names = [line.id for line in pilot.app.screen.query_one("#conflicts-list", Lines).options]
        assert chosen() == names[1]
        for left, onward in ((2, names[2]), (1, names[0]), (0, "None")):
            await pilot.press("2")
            await wait_until(pilot, lambda left=left: tabs(pilot)[1] == f"Conflicts {left or ''}".strip())
            await settled(pilot)
            assert chosen() == onward
        await pilot.press("1", "2", "equals_sign")
        await settled(pilot)
        assert len(empty.supersessions()) == 3
        await pilot.press("u")
        await wait_until(pilot, lambda: chosen() == names[0])


@pytest.mark.thorough
async def test_each_visit_begins_where_something_waits_unless_a_section_was_chosen(empty: AgenticMemorySystem) -> None:
    async with browsing(empty) as pilot:
        await enter(pilot)
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))
        at_odds(empty)
        for review in empty.reviews():
            empty.reject(review.id)
        await pilot.press("r")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen) and at(pilot) == "conflicts")
        await settled(pilot)
        await enter(pilot, "flags")
        empty.pin(empty.list()[0].id)
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, ReviewScreen))
        await pilot.press("escape")
        await settled(pilot)
        assert at(pilot) == "flags"
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))
        await pilot.press("r")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen) and at(pilot) == "conflicts")


@pytest.mark.thorough
async def test_enter_goes_to_the_notes_of_a_conflict_and_opens_one(empty: AgenticMemorySystem) -> None:
    at_odds(empty)
    async with browsing(empty) as pilot:
        await enter(pilot, "conflicts")
        await pilot.press("enter")
        await wait_until(pilot, lambda: pilot.app.screen.query_one("#chain", Lines).has_focus)
        await pilot.press("j", "enter")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))
        await wait_until(pilot, lambda: opened(pilot) == "The glaze needs a cold oven")


@pytest.mark.thorough
async def test_the_chain_of_the_open_note_is_shown_on_request(empty: AgenticMemorySystem) -> None:
    lisbon = lives(empty, "Lisbon", 2020)
    lives(empty, "Berlin", 2022)
    async with browsing(empty, notes=1) as pilot:
        pilot.app.read_note(lisbon)
        await wait_until(pilot, lambda: pilot.app.client.note == lisbon)
        await enter(pilot)
        await pilot.press("s")
        await wait_until(pilot, lambda: at(pilot) == "conflicts")
        await wait_until(pilot, lambda: options(pilot, "#conflicts-list")[:2] == ["The open note", "  its chain"])
        await wait_until(pilot, lambda: len(options(pilot, "#chain")) == 2)
        assert pilot.app.screen.query_one("#conflicts-list", Lines).chosen == f"chain {lisbon}"


@pytest.mark.thorough
async def test_a_note_of_a_conflict_that_is_destroyed_meanwhile_takes_it_off_the_list(
    empty: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    early, _ = at_odds(empty)
    other = open_home()
    async with browsing(empty) as pilot:
        await enter(pilot, "conflicts")
        other.purge(early)
        await wait_until(pilot, lambda: options(pilot, "#conflicts-list") == ["No notes disagree."])
        await wait_until(pilot, lambda: options(pilot, "#chain") == [])


# -- what may be out of date -------------------------------------------------------------------------------------


def doubted(memory: AgenticMemorySystem) -> str:
    """A note that leans on where somebody lived before."""
    lisbon = lives(memory, "Lisbon", 2020)
    lease = memory.add_note("The lease ends in May", time="2021-01-01")
    memory.link(lease, lisbon, "part_of")
    lives(memory, "Berlin", 2022)
    assert [flag.note for flag in memory.doubted()] == [lease]
    return lease


@pytest.mark.thorough
async def test_of_a_note_that_waits_among_the_conflicts_the_page_says_that_it_is_disputed(
    empty: AgenticMemorySystem,
) -> None:
    early, late = at_odds(empty)
    with empty.parts.store.write() as session:
        session.flags.put(early, late, "cold, not hot", session.begin("evolve", "scripted", "seen together"))
    async with browsing(empty) as pilot:
        pilot.app.read_note(early)
        await wait_until(pilot, lambda: opened(pilot).startswith("The kiln"))
        await wait_until(pilot, lambda: "Disputed, to be decided" in screen_text(pilot))
        assert "May be out of date" not in screen_text(pilot)
        await enter(pilot, "conflicts")
        assert tabs(pilot)[1:] == ["Conflicts 1", "May be out of date"]


@pytest.mark.thorough
async def test_a_doubted_note_is_kept_or_taken_back(empty: AgenticMemorySystem) -> None:
    lease = doubted(empty)
    async with browsing(empty, notes=2) as pilot:
        await enter(pilot, "flags")
        (line,) = options(pilot, "#flags-list")
        assert "The lease ends in May" in line
        assert "because of I moved to Berlin." in beside(pilot, "flags")
        assert tabs(pilot)[2] == "May be out of date 1"
        await pilot.press("equals_sign")
        await wait_until(pilot, lambda: tabs(pilot)[2] == "May be out of date")
        assert "Kept “The lease ends in May”" in toasts(pilot)
        await settled(pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: tabs(pilot)[2] == "May be out of date 1")
        await settled(pilot)
        await pilot.press("x")
        await wait_until(pilot, lambda: status(empty, lease) is Status.SUPERSEDED)
        await wait_until(pilot, lambda: not options(pilot, "#flags-list")[0].startswith("The lease"))
        await settled(pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: options(pilot, "#flags-list")[0].startswith("The lease"))
        await settled(pilot)
        await pilot.press("enter")
        await wait_until(pilot, lambda: opened(pilot) == "The lease ends in May")


@pytest.mark.thorough
async def test_sections_are_turned_by_key_and_by_mouse(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await enter(pilot)
        for key, section in (("right", "conflicts"), ("right_square_bracket", "flags"), ("left", "conflicts")):
            await pilot.press(key)
            await wait_until(pilot, lambda section=section: at(pilot) == section)
            await wait_until(pilot, lambda section=section: pilot.app.screen.focused.id == f"{section}-list")  # type: ignore[misc,union-attr]
        await pilot.press("left_square_bracket")
        await wait_until(pilot, lambda: at(pilot) == "rewrites")
        await pilot.click("#--content-tab-flags")
        await wait_until(pilot, lambda: at(pilot) == "flags")


async def test_a_small_terminal_shows_list_and_decision(memory: AgenticMemorySystem) -> None:
    async with browsing(memory, size=(40, 12)) as pilot:
        await enter(pilot)
        text = screen_text(pilot)
        assert TEA[:20] in text
        assert "proposed by" in text
        assert "a Accept" in text
