"""Days as weeks in columns, curves as dots, and how far one looks ahead: pure functions."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest
from amem_tui.timeline.calendar import SHADES, Window, days_of, monday, months, streak
from amem_tui.timeline.timeline_room import stepped

from amem.maintenance.forgetting_preview import Curve, as_text
from amem.note import Kind

LEAP = date(2024, 2, 29)


def test_a_leap_day_has_its_place_between_its_neighbours() -> None:
    window = Window(monday(LEAP), 3)
    column, row = divmod(LEAP.toordinal() - window.first, 7)
    assert (column, row) == (2, 3)
    assert window.day(column, row) == LEAP
    assert window.day(column, row + 1) == date(2024, 3, 1)
    assert Window(monday(date(2023, 2, 28)), 1).day(0, 2) == date(2023, 3, 1)


def test_a_window_moves_no_farther_than_it_must() -> None:
    window = Window(monday(date(2026, 3, 4)), 4)
    assert window.moved(date(2026, 3, 1)) == window
    assert window.moved(date(2026, 3, 9)).last == monday(date(2026, 3, 9))
    assert window.moved(date(2025, 12, 31)).first == monday(date(2025, 12, 31))


def test_months_stand_above_the_week_of_their_first_and_a_year_above_january() -> None:
    window = Window(monday(date(2026, 3, 4)), 12)
    named = dict(months(window, 2))
    assert list(named.values()) == ["2026", "Feb", "Mar"]
    for column, name in named.items():
        days = [window.day(column, row) for row in range(7)]
        assert any(day is not None and day.day == 1 for day in days), name


def test_month_names_never_run_into_each_other() -> None:
    for weeks in range(1, 54):
        for cells in (2, 3, 4):
            found = list(months(Window(monday(date(2026, 11, 22)), weeks), cells))
            ends = [column * cells + len(name) for column, name in found]
            assert all(end < column * cells for end, (column, _) in zip(ends, found[1:], strict=False))


def test_the_ends_of_the_calendar_are_no_trouble() -> None:
    assert Window(monday(date.max), 2).day(1, 6) is None
    assert Window(monday(date.min), 2).day(0, 0) is None
    assert list(months(Window(monday(date.max), 9), 2)) == [(0, "Nov"), (4, "Dec")]


@pytest.mark.parametrize("fullest", [1, 3, 4, 5, 40, 100_000])
def test_shades_grow_with_the_notes_and_only_nothing_is_blank(fullest: int) -> None:
    day = date(2026, 3, 1)
    shades = [
        days_of({day: count, day + timedelta(1): fullest}, day).shade(day) for count in {1, 2, 3, fullest} if count
    ]
    assert min(shades) >= 1
    assert max(shades) <= len(SHADES) - 1
    assert days_of({day: fullest}, day).shade(day + timedelta(1)) == 0
    if fullest >= 4:
        assert days_of({day: fullest}, day).shade(day) == len(SHADES) - 1
        assert days_of({day: 1, day + timedelta(1): fullest}, day).shade(day) == 1


def test_one_can_go_to_every_day_from_the_first_note_to_today_or_the_last_note() -> None:
    today = date(2026, 3, 1)
    days = days_of({date(2026, 1, 5): 1, date(2026, 4, 9): 2}, today)
    assert (days.first, days.last) == (date(2026, 1, 5), date(2026, 4, 9))
    assert days.within(0) == days.first
    assert days.within(date.max.toordinal()) == days.last
    alone = days_of({}, today)
    assert (alone.first, alone.last, alone.fullest) == (today, today, 0)


def test_a_streak_lasts_until_yesterday_while_today_is_young() -> None:
    today = date(2026, 3, 1)
    row = {today - timedelta(n): 1 for n in range(1, 4)}
    assert streak(days_of(row, today)) == 3
    assert streak(days_of({**row, today: 1}, today)) == 4
    assert streak(days_of({today - timedelta(2): 1}, today)) == 0


def plotted(days: np.ndarray, kept: np.ndarray, width: int, height: int) -> list[str]:
    """The lines of a curve between its frame, without what stands left of it."""
    curve = Curve("id", Kind.FACT, "tea", days, kept, 0)
    text = as_text([curve], width, colours=False, height=height, markers=("braille",))
    assert all(len(line) <= width for line in text.split("\n"))
    return [line[5:].rstrip("│") for line in text.split("\n") if line[4:5] in "┤│"]


def test_a_curve_that_falls_is_drawn_from_the_upper_left_to_the_lower_right() -> None:
    days = np.linspace(0.0, 60.0, 100)
    drawn = plotted(days, np.exp(-days / 5), 40, 12)
    assert drawn[0][0] != " "
    assert drawn[-1].rstrip()[-1] > "\u2800"
    assert set(drawn[0][15:]) <= {" "}


def test_a_curve_without_decay_is_a_straight_line_at_the_top() -> None:
    drawn = plotted(np.linspace(-10.0, 60.0, 100), np.ones(100), 30, 9)
    assert "\u2824" in drawn[0]
    assert set("".join(drawn[1:])) <= {" ", "┊"}


@pytest.mark.parametrize("width", [20, 34, 100])
@pytest.mark.parametrize(("first", "last"), [(0.0, 60.0), (-5.3, 70.2), (-120.0, 4_562.0), (0.0, 1.0)])
def test_a_curve_fits_whatever_time_it_spans(first: float, last: float, width: int) -> None:
    assert plotted(np.linspace(first, last, 50), np.linspace(1.0, 0.0, 50), width, 8)


def test_looking_ahead_goes_by_steps_and_stays_where_there_are_none() -> None:
    assert [stepped(days, 1) for days in (1, 7, 30, 50, 365, 400)] == [7, 30, 90, 90, 365, 400]
    assert [stepped(days, -1) for days in (400, 365, 90, 30, 7, 3)] == [365, 90, 30, 7, 7, 3]
