"""The one sentence around a note."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest

from amem.analysis import Draft
from amem.language.times import with_dates

if TYPE_CHECKING:
    from amem.analysts.rules import OfflineAnalyst

SAID = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)  # a Wednesday


def context(analyst: OfflineAnalyst, vocabulary, content: str, **fields) -> str:
    return analyst.analyze(Draft(content, **{"at": SAID, **fields}), vocabulary).context


def test_it_says_who_decided_what_when_and_about_what(analyst: OfflineAnalyst, empty) -> None:
    said = context(analyst, empty, "We decided to move the catalogue from PostgreSQL to MySQL.", speaker="Ana")
    assert said == "Ana's decision of 2026-03-04 about databases."


def test_it_speaks_chinese_of_a_chinese_note(analyst: OfflineAnalyst, empty) -> None:
    said = context(analyst, empty, "我们决定把数据库从 PostgreSQL 换成 MySQL。", speaker="小王")
    assert said == "小王2026年3月4日关于数据库的决定。"


def test_a_user_without_a_name_is_not_named(analyst: OfflineAnalyst, empty) -> None:
    said = context(analyst, empty, "We decided to move the catalogue from PostgreSQL to MySQL.", speaker="user")
    assert said == "A decision of 2026-03-04 about databases."
    assert context(analyst, empty, "我们决定把数据库换成 MySQL。", speaker="user").startswith("2026年3月4日")


def test_yesterday_gets_its_date(analyst: OfflineAnalyst, empty) -> None:
    said = context(analyst, empty, "I went to a pottery class yesterday.", speaker="Bea")
    assert said == "Bea's account of 2026-03-04 about art; yesterday: 2026-03-03."


def test_without_a_date_it_invents_none(analyst: OfflineAnalyst, empty) -> None:
    said = context(analyst, empty, "I went to a pottery class yesterday.", at=None)
    assert not any(character.isdigit() for character in said)


def test_a_reaction_says_what_it_reacts_to(analyst: OfflineAnalyst, empty) -> None:
    before = ("Livia: I swam in a charity race across the harbour.",)
    said = context(analyst, empty, "Wow, that's so cool!", speaker="Bea", previous=before)
    assert said.startswith("Bea's reaction of 2026-03-04 to Livia on ")
    assert "charity race" in said


@pytest.mark.parametrize("greeting", ["Hello!", "你好", "Bye, see you tomorrow!", "晚安"])
def test_a_greeting_takes_nothing_from_what_was_said_before_it(analyst: OfflineAnalyst, empty, greeting: str) -> None:
    before = ("Ana: I am allergic to peanuts and on a diet.", "Ana: 我对花生过敏，在控制饮食。")
    told = analyst.analyze(Draft(greeting, SAID, "Bea", before), empty)
    alone = analyst.analyze(Draft(greeting, SAID, "Bea"), empty)
    assert (told.tags, told.context) == (alone.tags, alone.context)
    assert not {"health", "food", "健康", "饮食"} & set(told.tags)


def test_an_answer_carries_its_question(analyst: OfflineAnalyst, empty) -> None:
    before = ("Bea: Hi!", "Livia: How long have you been keeping bees?")
    said = context(analyst, empty, "Three years now!", speaker="Bea", previous=before)
    expected = "Bea's answer of 2026-03-04 to Livia's question \"How long have you been keeping bees?\""
    assert said == f"{expected}."


def test_a_chinese_answer_carries_its_question(analyst: OfflineAnalyst, empty) -> None:
    said = context(analyst, empty, "三年了。", speaker="小王", previous=("李雷：你学陶艺多久了？",))
    assert "李雷的问题“你学陶艺多久了？”" in said


@pytest.mark.parametrize(
    "content",
    [
        "Hey Bea! We are planning a camping trip to the mountains with the scouts next week.",
        "The gateway drops buoys behind the cape when the keepalive is shorter than 120 seconds. "
        "The port authority pays for the hosting. A dolphin emoji broke the import last week.",
        "昨天下午和李雷在里斯本老城区的一家小餐馆吃了葡式蛋挞。",
    ],
)
def test_the_note_is_not_repeated(analyst: OfflineAnalyst, empty, content: str) -> None:
    said = context(analyst, empty, content, speaker="Bea")
    words, size = (list(content), 8) if ord(content[0]) > 0x2000 else (content.split(), 5)
    joint = "" if size == 8 else " "
    assert not any(joint.join(words[at : at + size]) in said for at in range(len(words) - size + 1))
    assert "Bea" in said
    assert "2026" in said


def test_words_of_time_get_the_days_they_mean(analyst: OfflineAnalyst, empty) -> None:
    assert "上周五：2026年2月27日" in context(analyst, empty, "上周五去了博物馆。")
    said = context(analyst, empty, "She arrived last Friday and leaves next month.")
    assert said.endswith("; last Friday: 2026-02-27, next month: 2026-04.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yesterday", "yesterday (2026-03-03)"),
        ("the day before yesterday", "the day before yesterday (2026-03-02)"),
        ("last night", "last night (2026-03-03)"),
        ("last Friday", "last Friday (2026-02-27)"),
        ("last week", "last week (week of 2026-02-23)"),
        ("last weekend", "last weekend (2026-02-28 to 2026-03-01)"),
        ("two weeks ago", "two weeks ago (week of 2026-02-16)"),
        ("3 days ago", "3 days ago (2026-03-01)"),
        ("next month", "next month (2026-04)"),
        ("last year", "last year (2025)"),
        ("five years ago", "five years ago (2021)"),
        ("昨天", "昨天（2026年3月3日）"),
        ("前天", "前天（2026年3月2日）"),
        ("上周五", "上周五（2026年2月27日）"),
        ("下周三", "下周三（2026年3月11日）"),
        ("上个月", "上个月（2026年2月）"),
        ("两周前", "两周前（2026年2月16日那周）"),
        ("去年", "去年（2025年）"),
    ],
)
def test_relative_times_are_resolved(text: str, expected: str) -> None:
    assert with_dates(text, date(2026, 3, 4)) == expected


@pytest.mark.parametrize("text", ["next Friday", "soon", "on Monday", "over the last week", "周末", "上海", "一年"])
def test_open_times_stay_open(text: str) -> None:
    assert with_dates(text, date(2026, 3, 4)) == text


def test_a_date_out_of_range_is_not_named() -> None:
    assert with_dates("99 years ago", date(50, 1, 1)) == "99 years ago"
