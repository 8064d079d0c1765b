"""A time that a note names becomes a date, in the zone it was said in; what is open stays open."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from amem.language.times import holds_from

SAID = datetime(2026, 3, 4, 9, 30, tzinfo=ZoneInfo("Europe/Lisbon"))  # a Wednesday


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Yesterday I moved to Porto", "2026-03-03"),
        ("We signed the lease the day before yesterday.", "2026-03-02"),
        ("last Friday the boiler was replaced", "2026-02-27"),
        ("I quit smoking 3 days ago", "2026-03-01"),
        ("I started at the port last month", "2026-02-01"),
        ("I have been ill since last week", "2026-02-23"),
        ("Today I became a member", "2026-03-04"),
        ("I moved to Porto in 2023", "2023-01-01"),
        ("since 2019 she works at the port", "2019-01-01"),
        ("On 3 May 2024 we got married", "2024-05-03"),
        ("The contract was signed on May 3rd, 2024.", "2024-05-03"),
        ("We met in May 2024", "2024-05-01"),
        ("valid since 2024-05-03", "2024-05-03"),
        ("昨天我搬到了波尔图", "2026-03-03"),
        ("昨天到了上海", "2026-03-03"),
        ("上周五换了锅炉", "2026-02-27"),
        ("三天前我戒烟了", "2026-03-01"),
        ("我2023年搬到上海", "2023-01-01"),
        ("2024年5月3日我们结婚了", "2024-05-03"),
        ("从2019年到现在一直在港口工作", "2019-01-01"),
        ("今天我加入了合唱团", "2026-03-04"),
        ("去年开始学量子退火", "2025-01-01"),
    ],
)
def test_the_one_past_time_that_a_note_names_is_its_date(text: str, day: str) -> None:
    found = holds_from(text, SAID)
    assert found is not None
    assert found.isoformat() == f"{day}T00:00:00{'+00:00' if found.month in (1, 2, 3) else '+01:00'}"


@pytest.mark.parametrize(
    "text",
    [
        "I live in Porto",
        "Tomorrow I move to Porto",
        "next month we marry",
        "I worked there until 2023",
        "I worked there from 2019 to 2021",
        "between 2019 and 2021 I studied",
        "we met yesterday or the day before",
        "If I had moved yesterday, you would know",
        "Maybe it began last Tuesday",
        "我们昨天或者前天见过面",
        "如果我昨天搬了家，你会知道的",
        "the report is due by 3 May 2024",
        "last year in May we met",
        "at the end of last month",
        "yesterday I sold it, two days ago I had cleaned it",
        "Yesterday I booked the flight for next week",
        "This year I want to learn Go",
        "the 2023 budget",
        "see config-2024-05-03.json",
        "on 31 February 2024",
        "on May 3 we met",
        "over the last week",
        "I like it very much",
        "In 2030 it will be paid off",
        "明天搬家",
        "我在那里工作到2023年",
        "2019年到2021年我在上学",
        "去年底我们认识了",
        "去年5月我们认识了",
        "2020年以前住在北京",
        "2023年的预算",
        "今年想学围棋",
        "上海很美",
    ],
)
def test_what_is_open_a_range_or_a_plan_gives_no_date(text: str) -> None:
    assert holds_from(text, SAID) is None


def test_late_in_the_evening_yesterday_is_the_day_before_in_the_place_it_was_said() -> None:
    shanghai = ZoneInfo("Asia/Shanghai")
    late = datetime(2026, 3, 4, 23, 30, tzinfo=shanghai)
    early = datetime(2026, 3, 5, 0, 30, tzinfo=shanghai)
    # 23:30 and 00:30 in Shanghai are one day in UTC, and two in Shanghai.
    assert late.astimezone(UTC).date() == early.astimezone(UTC).date()
    assert holds_from("昨天我搬家了", late) == datetime(2026, 3, 3, tzinfo=shanghai)
    assert holds_from("昨天我搬家了", early) == datetime(2026, 3, 4, tzinfo=shanghai)


def test_the_edges_of_the_calendar_are_no_error() -> None:
    assert holds_from("99 years ago", datetime(50, 1, 1, tzinfo=UTC)) is None
    assert holds_from("in 2024", datetime(9999, 12, 31, tzinfo=UTC)) == datetime(2024, 1, 1, tzinfo=UTC)
    assert holds_from("9999年12月", datetime(2024, 1, 1, tzinfo=UTC)) is None
