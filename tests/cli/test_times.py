"""Every option that takes a time reads the same words."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from amem.clock import zone
from amem.errors import InvalidInput
from amem.language.times import moment_of

if TYPE_CHECKING:
    from conftest import Cli

LISBON = zone("Europe/Lisbon")
#: A Monday.
NOW = datetime(2026, 11, 23, 14, 30, tzinfo=LISBON)

TIMES = {
    "now": "2026-11-23 14:30",
    "today": "2026-11-23 00:00",
    "Yesterday": "2026-11-22 00:00",
    "7d": "2026-11-16 14:30",
    "90m": "2026-11-23 13:00",
    "2 weeks ago": "2026-11-09 00:00",
    "a month  ago": "2026-10-23 00:00",
    "2 hours ago": "2026-11-23 12:30",
    "last week": "2026-11-16 00:00",
    "last Friday": "2026-11-20 00:00",
    "last month": "2026-10-01 00:00",
    "may": "2026-05-01 00:00",
    "3 May 2024": "2024-05-03 00:00",
    "2026-05": "2026-05-01 00:00",
    "2025": "2025-01-01 00:00",
    "2026-05-02T09:30": "2026-05-02 09:30",
    "202605020930": "2026-05-02 09:30",
    "2026-05-02 9:05": "2026-05-02 09:05",
    "yesterday at 14:30": "2026-11-22 14:30",
    "今天": "2026-11-23 00:00",
    "昨天": "2026-11-22 00:00",
    "上周": "2026-11-16 00:00",
    "上周五": "2026-11-20 00:00",
    "两周前": "2026-11-09 00:00",
    "十五天前": "2026-11-08 00:00",
    "2小时前": "2026-11-23 12:30",
    "2026年5月": "2026-05-01 00:00",
    "去年": "2025-01-01 00:00",
}


@pytest.mark.parametrize(("said", "meant"), TIMES.items())
def test_a_time_is_read_as_people_say_it(said: str, meant: str) -> None:
    assert moment_of(said, LISBON, NOW).astimezone(LISBON).strftime("%Y-%m-%d %H:%M") == meant


@pytest.mark.parametrize(
    "said", ["", "whenever", "next friday", "2026-13", "31.12.2026", "yesterday and today", "25:00"]
)
def test_what_names_no_time_is_refused_with_what_would(said: str) -> None:
    with pytest.raises(InvalidInput, match="cannot read") as error:
        moment_of(said, LISBON, NOW)
    assert "2 weeks ago" in error.value.hint


@pytest.mark.parametrize("said", ["99999999999w", "9999 years ago", "9999999天前", "999999 months ago"])
def test_a_time_before_the_calendar_is_too_long_ago(said: str) -> None:
    with pytest.raises(InvalidInput, match="too long ago"):
        moment_of(said, LISBON, NOW)


def test_a_note_added_with_words_for_a_time_is_found_by_them(cli: Cli) -> None:
    cli.add("Tea with Ana", "--time", "2 weeks ago")
    wen = cli.add("和文一起喝茶", "--time", "昨天")
    cli.add("Coffee", "--time", "2024-05-02")
    assert [note["id"] for note in cli.json("list", "--since", "last week")] == [wen]
    assert [note["id"] for note in cli.json("list", "--since", "上周")] == [wen]
    assert [note["content"] for note in cli.json("list", "--until", "2024-06")] == ["Coffee"]
    assert [note["content"] for note in cli.json("list", "--since", "may 2024", "--until", "3 weeks ago")] == ["Coffee"]
    assert cli.json("list", "--known-at", "last month") == []
    assert cli.json("show", wen)["timestamp"] == cli.json("show", wen)["at"][:10]
    assert len(cli.json("log", "--since", "昨天")) == 3
    cli.ok("edit", wen, "--time", "2 weeks ago")
    for words in (("add", "x", "--time"), ("list", "--as-of"), ("facts", "Ana", "--as-of"), ("log", "--since")):
        assert cli.refused(*words, "whenever").startswith("cannot read 'whenever' as a time (use 2026-03-01, ")
