"""The timeline, key by key, on real collections."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from amem_tui.browse.note_list import NoteList
from amem_tui.formatting import GLYPHS
from amem_tui.timeline.calendar import HeatMap
from amem_tui.timeline.timeline_room import Forgetting, filter_of
from conftest import CAT, KETTLE, TEA
from driving import opened, screen_text, settled, toasts, wait_until
from textual.widgets import OptionList
from visiting import enter, in_room, visiting

from amem.memory_system import AgenticMemorySystem
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

LINES = ("Nice weather today", "Traceback: out of paper", "我对花生过敏 🥜")


def heat(pilot: Pilot[None]) -> HeatMap:
    return pilot.app.screen.query_one(HeatMap)


def of_day(pilot: Pilot[None]) -> list[str]:
    shown = pilot.app.screen.query_one(NoteList)
    rows = [row for place in range(shown.count) if (row := shown.entry_at(place)) is not None]
    return [f"{GLYPHS[row.card.kind]} {row.title}" for row in rows]


def to_fade(pilot: Pilot[None]) -> list[str]:
    shown = pilot.app.screen.query_one("#fade-list", OptionList)
    return [str(each.prompt).split(" ", 2)[2].partition("\n")[0] for each in shown.options if not each.disabled]


def chosen(pilot: Pilot[None]) -> str | None:
    outlook = pilot.app.screen.query_one(Forgetting).outlook
    return None if outlook is None else outlook.content


def focused(pilot: Pilot[None]) -> str | None:
    return None if pilot.app.focused is None else pilot.app.focused.id


@pytest.fixture
def fading(empty: AgenticMemorySystem) -> AgenticMemorySystem:
    """One note that will fade, one that will later, one that never does; 20 days old."""
    for line, kind, importance in zip(LINES, ("chitchat", "error", "constraint"), (0.3, 0.6, 0.9), strict=True):
        empty.add(line, kind=kind, importance=importance)
    clock = empty.parts.clock
    assert isinstance(clock, FrozenClock)
    clock.advance(timedelta(days=20))
    return empty


def told(pilot: Pilot[None]) -> str:
    """What the pane on forgetting says, wherever its lines end."""
    return " ".join(pilot.app.screen.query_one(Forgetting).text.split())


async def test_it_opens_at_the_day_of_the_open_note_and_draws_its_curve(memory: AgenticMemorySystem) -> None:
    async with visiting(memory, "t", "timeline") as pilot:
        assert heat(pilot).day == date(2026, 3, 3)
        assert of_day(pilot) == [f"+ {KETTLE}"]
        assert chosen(pilot) == KETTLE
        shown = screen_text(pilot)
        assert "Tue 3 Mar 2026: 1 note" in shown
        assert "3 notes on 3 days" in shown
        assert "2026-03-01 to 2026-03-04, 3 days in a row" in shown
        assert "less · ░ ▒ ▓ █ more" in shown
        assert "= strength" in shown


async def test_arrows_move_by_day_and_week_and_the_days_notes_follow(memory: AgenticMemorySystem) -> None:
    memory.add("Long ago", time="2024-02-29T12:00")
    async with visiting(memory, "t", "timeline") as pilot:
        for key, day in (
            ("full_stop", date(2026, 3, 4)),
            ("up", date(2026, 3, 3)),
            ("k", date(2026, 3, 2)),
            ("j", date(2026, 3, 3)),
            ("down", date(2026, 3, 4)),
            ("right", date(2026, 3, 4)),
            ("left", date(2026, 2, 25)),
            ("right", date(2026, 3, 4)),
            ("home", date(2024, 2, 29)),
            ("down", date(2024, 3, 1)),
            ("end", date(2026, 3, 4)),
        ):
            await pilot.press(key)
            assert heat(pilot).day == day, key
        await pilot.press("home")
        await wait_until(pilot, lambda: of_day(pilot) == ["+ Long ago"] or of_day(pilot) == ["• Long ago"])
        assert "Thu 29 Feb 2024: 1 note" in screen_text(pilot)
        await wait_until(pilot, lambda: chosen(pilot) == "Long ago")
        await pilot.press("full_stop")
        await wait_until(pilot, lambda: of_day(pilot) == [])
        assert "No notes on this day." in screen_text(pilot)


@pytest.mark.thorough
async def test_pages_go_a_screenful_of_weeks_back_and_forth(memory: AgenticMemorySystem) -> None:
    memory.add("Long ago", time="2020-05-01")
    async with visiting(memory, "t", "timeline", (80, 24)) as pilot:
        await pilot.press("full_stop")
        weeks = timedelta(weeks=heat(pilot).window.weeks)
        today = heat(pilot).day
        for older, newer in (("left_square_bracket", "right_square_bracket"), ("pageup", "pagedown")):
            await pilot.press(older)
            assert heat(pilot).day == today - weeks
            await pilot.press(newer)
            assert heat(pilot).day == today
        for _ in range(12):
            await pilot.press("left_square_bracket")
        assert heat(pilot).day == date(2020, 5, 1)
        assert "2020-05-01" in screen_text(pilot)
        assert heat(pilot).window.day(0, 4) == date(2020, 5, 1)  # before it there is nothing to see


@pytest.mark.thorough
async def test_enter_leads_from_the_day_to_its_notes_and_from_a_note_to_browse(memory: AgenticMemorySystem) -> None:
    memory.add("Coffee on the same day", time="2026-03-03T07:00")
    async with visiting(memory, "t", "timeline") as pilot:
        await wait_until(pilot, lambda: len(of_day(pilot)) == 2)
        await pilot.press("enter")
        assert focused(pilot) == "day-notes"
        other = next(line for line in (KETTLE, "Coffee on the same day") if line != chosen(pilot))
        await pilot.press("home", "down")
        last = of_day(pilot)[1][2:]
        await wait_until(pilot, lambda: chosen(pilot) == last)
        await pilot.press("enter")
        await wait_until(pilot, lambda: in_room(pilot, "browse") and opened(pilot) == last)
        assert other in (KETTLE, "Coffee on the same day")
        await pilot.press("t")
        await wait_until(pilot, lambda: in_room(pilot, "timeline") and chosen(pilot) == last)
        await pilot.press("escape")
        await wait_until(pilot, lambda: in_room(pilot, "browse"))


@pytest.mark.thorough
async def test_the_mouse_chooses_a_day_and_opens_what_is_clicked_twice(memory: AgenticMemorySystem) -> None:
    async with visiting(memory, "t", "timeline") as pilot:
        window = heat(pilot).window
        column, row = divmod(date(2026, 3, 2).toordinal() - window.first, 7)
        inside = heat(pilot).content_region
        spot = (inside.x + 2 + column * 2 - heat(pilot).region.x, inside.y + 1 + row - heat(pilot).region.y)
        await pilot.click(HeatMap, offset=spot)
        await wait_until(pilot, lambda: of_day(pilot) == [f"+ {CAT}"] or of_day(pilot) == [f"• {CAT}"])
        await pilot.click(HeatMap, offset=spot)
        await wait_until(pilot, lambda: focused(pilot) == "day-notes")
        await pilot.click("#day-notes", offset=(4, 1), times=2)
        await wait_until(pilot, lambda: in_room(pilot, "browse") and opened(pilot) == CAT)


@pytest.mark.thorough
async def test_a_pin_makes_the_curve_flat_and_undo_bends_it_again(fading: AgenticMemorySystem) -> None:
    fading.opened([fading.list()[0].id])
    async with visiting(fading, "t", "timeline") as pilot:
        outlook = pilot.app.screen.query_one(Forgetting).outlook
        assert outlook is not None
        assert f"× recalls {1.6931:.2f} recalled 1x" in told(pilot)
        assert f"= strength {outlook.now.value:.2f}" in told(pilot)
        await pilot.press("enter", "end")
        await wait_until(pilot, lambda: chosen(pilot) == LINES[0])
        assert "fades into the archive on" in told(pilot)
        await pilot.press("p")
        await wait_until(pilot, lambda: "never fades: it is pinned" in told(pilot))
        assert "does not decay" in told(pilot)
        outlook = pilot.app.screen.query_one(Forgetting).outlook
        assert outlook is not None
        assert outlook.kept.min() == 1.0
        await pilot.press("u")
        await wait_until(pilot, lambda: "fades into the archive on" in told(pilot))
        await wait_until(pilot, lambda: "Undone: " in toasts(pilot))


@pytest.mark.thorough
async def test_of_what_falls_and_is_never_archived_both_is_said(fading: AgenticMemorySystem) -> None:
    fading.opened([next(note.id for note in fading.list() if note.content == LINES[2])])
    async with visiting(fading, "t", "timeline") as pilot:
        await wait_until(pilot, lambda: "never archived" in told(pilot))
        assert "what is kept falls, but the note is never archived: a constraint" in told(pilot)
        assert "never fades:" not in told(pilot)


async def test_what_will_fade_is_listed_with_why_as_far_as_one_looks(fading: AgenticMemorySystem) -> None:
    async with visiting(fading, "t", "timeline") as pilot:
        assert "What fades within 30 days" in screen_text(pilot)
        assert to_fade(pilot) == []
        await pilot.press("plus")
        await wait_until(pilot, lambda: len(to_fade(pilot)) == 2)
        shown = screen_text(pilot)
        assert "What fades within 90 days" in shown
        assert "2 fade" in shown
        assert "never recalled" in shown
        await pilot.press("minus", "minus", "minus")
        await wait_until(pilot, lambda: "within 7 days" in screen_text(pilot) and to_fade(pilot) == [])
        await pilot.press("d", "4", "5", "enter")
        await wait_until(pilot, lambda: "within 45 days" in screen_text(pilot) and len(to_fade(pilot)) > 0)
        assert focused(pilot) == "fade-list"
        await pilot.press("d", "escape")
        assert in_room(pilot, "timeline")
        assert focused(pilot) == "fade-list"


@pytest.mark.thorough
async def test_what_would_fade_is_pinned_or_opened_where_it_is_listed(fading: AgenticMemorySystem) -> None:
    async with visiting(fading, "t", "timeline") as pilot:
        await pilot.press("plus", "shift+tab")
        await wait_until(pilot, lambda: focused(pilot) == "fade-list" and len(to_fade(pilot)) == 2)
        first, second = to_fade(pilot)
        await wait_until(pilot, lambda: chosen(pilot) == first[2:])
        await pilot.press("p")
        await wait_until(pilot, lambda: to_fade(pilot) == [second])
        await pilot.press("u")
        await wait_until(pilot, lambda: len(to_fade(pilot)) == 2)
        await pilot.press("end", "enter")
        await wait_until(pilot, lambda: in_room(pilot, "browse") and opened(pilot) == second[2:])


@pytest.mark.thorough
async def test_tab_goes_round_the_panes(memory: AgenticMemorySystem) -> None:
    async with visiting(memory, "t", "timeline") as pilot:
        seen = []
        for _ in range(4):
            await pilot.press("tab")
            seen.append(focused(pilot))
        assert seen == ["day-notes", "forgetting", "fade-list", "heat"]
        await pilot.press("shift+tab", "shift+tab", "j", "k")
        assert focused(pilot) == "forgetting"
        await pilot.press("enter")
        await wait_until(pilot, lambda: in_room(pilot, "browse") and opened(pilot) == KETTLE)


@pytest.mark.thorough
async def test_a_small_terminal_shows_one_pane_at_a_time(memory: AgenticMemorySystem) -> None:
    async with visiting(memory, "t", "timeline", (40, 12)) as pilot:
        assert "M " in screen_text(pilot)
        assert KETTLE[:15] in screen_text(pilot)
        assert "importance" not in screen_text(pilot)
        await pilot.press("tab")
        assert KETTLE[:15] in screen_text(pilot)
        await pilot.press("tab")
        await wait_until(pilot, lambda: "100%" in screen_text(pilot))
        await pilot.click("TabStrip", offset=(24, 0))
        await wait_until(pilot, lambda: "Nothing fades or moves." in screen_text(pilot))
        await pilot.click("TabStrip", offset=(2, 0))
        await wait_until(pilot, lambda: focused(pilot) == "heat")


async def test_an_empty_collection_has_a_calendar_and_says_what_to_do(empty: AgenticMemorySystem) -> None:
    async with visiting(empty, "t", "timeline", (40, 12)) as pilot:
        assert heat(pilot).day == date(2026, 3, 1)
        for key in ("left", "right", "home", "end", "pageup", "enter", "p", "left_square_bracket", "tab", "enter", "p"):
            await pilot.press(key)
        await pilot.press("tab")
        await wait_until(pilot, lambda: "No note is chosen." in screen_text(pilot))
        assert empty.pulse()[1] == 0


@pytest.mark.thorough
async def test_one_note_that_another_process_deletes_is_shown_as_gone(
    empty: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    id = empty.add("Alone").id
    other = open_home("agent")
    async with visiting(empty, "t", "timeline") as pilot:
        assert chosen(pilot) == "Alone"
        other.delete(id)
        await wait_until(pilot, lambda: of_day(pilot) == [])
        await wait_until(pilot, lambda: "it is deleted already" in told(pilot))
        other.purge(id)
        await wait_until(pilot, lambda: "not here any more" in told(pilot))
        await pilot.press("tab", "tab", "p")
        await wait_until(pilot, lambda: "not here any more" in toasts(pilot))


@pytest.mark.thorough
async def test_the_room_stays_as_it_was_while_others_write_and_while_one_is_elsewhere(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home("agent:writer")
    async with visiting(memory, "t", "timeline") as pilot:
        await pilot.press("enter")
        other.add("Written elsewhere", time="2026-03-03T06:00")
        await wait_until(pilot, lambda: len(of_day(pilot)) == 2)
        assert focused(pilot) == "day-notes"
        assert heat(pilot).day == date(2026, 3, 3)
        assert "4 notes on 3 days" in screen_text(pilot)
        await pilot.press("shift+tab", "home", "shift+tab")
        await enter(pilot, "l", "log")
        await enter(pilot, "t", "timeline")
        assert heat(pilot).day == date(2026, 3, 1)
        assert focused(pilot) == "fade-list"
        assert of_day(pilot)[0].endswith(TEA)


@pytest.mark.thorough
async def test_a_day_of_many_notes_is_read_a_page_at_a_time(tmp_path: Path) -> None:
    memory = open_in(tmp_path, "UTC")
    memory.add_notes([f"cat number {number}" for number in range(120)])
    async with visiting(memory, "t", "timeline") as pilot:
        shown = pilot.app.screen.query_one(NoteList)
        assert shown.count == 120
        assert shown.entry_at(110) is None
        await pilot.press("enter", "end")
        await wait_until(pilot, lambda: shown.line is not None)
        await pilot.press("home", "pagedown", "pageup", "j", "k", "down", "up", "G")
        assert shown.cursor == 119
        await settled(pilot)
    memory.close()


@pytest.mark.thorough
async def test_brackets_control_characters_and_wide_letters_stay_what_they_are(empty: AgenticMemorySystem) -> None:
    empty.add("[bold]猫[/bold]\x1b[31m 🐱 \x07 很长的一句话" * 5)
    async with visiting(empty, "t", "timeline", (60, 20)) as pilot:
        assert "[bold]猫[/bold]" in screen_text(pilot)
        await pilot.press("tab", "tab")
        await wait_until(pilot, lambda: "[bold]猫[/bold]" in screen_text(pilot))
        assert not any(char in screen_text(pilot) for char in "\x1b\x07")


# -- midnight ------------------------------------------------------------------------------------------------------


def open_in(home: Path, zone: str) -> AgenticMemorySystem:
    return AgenticMemorySystem(
        settings=Settings(home=home, dense_base="exact", timezone=zone, llm_backend="offline"),
        clock=FrozenClock("2026-03-01T09:00"),
        embedder=HashEmbedder(),
        analyst=ScriptedAnalyst(),
    )


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("America/Sao_Paulo", date(2018, 11, 4), 23),  # begins at one o'clock
        ("America/Havana", date(2025, 11, 2), 25),  # its first hour comes twice
        ("Europe/Lisbon", date(2026, 3, 29), 23),
        ("Europe/Lisbon", date(2025, 10, 26), 25),
        ("Asia/Shanghai", date(2026, 3, 1), 24),
        ("Pacific/Apia", date(2011, 12, 31), 24),  # the day before was left out
    ],
)
def test_a_day_is_from_its_midnight_to_the_next_however_long_that_is(
    tmp_path: Path, zone: str, day: date, hours: int
) -> None:
    local = ZoneInfo(zone)
    period = filter_of(day, local)
    assert period.since is not None
    assert period.until is not None
    assert (period.until.timestamp() - period.since.timestamp()) / 3600 == hours
    edge = [period.since.timestamp(), period.until.timestamp()]
    with open_in(tmp_path, zone) as memory:
        for moment in (edge[0] - 1, edge[0], edge[1] - 1, edge[1]):
            memory.add(f"at {moment}", time=datetime.fromtimestamp(moment, ZoneInfo("UTC")).isoformat())
        shelf = memory.shelf(period)
        assert memory.days()[day] == len(shelf) == 2
        assert sum(memory.days().values()) == 4


@pytest.mark.thorough
async def test_the_day_is_that_of_the_collections_own_zone(tmp_path: Path) -> None:
    with open_in(tmp_path, "Asia/Shanghai") as memory:
        memory.add("Late in the evening in UTC", time="2026-02-28T20:00+00:00")
        async with visiting(memory, "t", "timeline") as pilot:
            assert heat(pilot).day == date(2026, 3, 1)
            assert "04:00" in screen_text(pilot)
