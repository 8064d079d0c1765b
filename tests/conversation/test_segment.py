"""Conversations cut into episodes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from amem.conversation.episodes import Began, segment
from amem.errors import InvalidInput
from amem.interop.locomo import session_time
from amem.language.terms import tokens
from amem.note import Message, Role

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo_dev.json"
NINE = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

GARDEN = (
    "The tomato seedlings in the greenhouse need more water, the soil of the seedlings dries out every afternoon.",
    "I would plant the tomato seedlings deeper in the soil and water them in the morning, before the greenhouse heats.",
    "Good idea: deeper soil for the seedlings, and the greenhouse window open so that the tomato leaves stay dry.",
)
CODE = (
    "The deployment pipeline fails since the database migration: PostgreSQL refuses the new index in the container.",
    "Then the migration runs before the database container is healthy; add a health check to the deployment pipeline.",
    "With the health check the PostgreSQL container starts first and the migration of the index passes the pipeline.",
)


def said(*texts: str, at: datetime | None = NINE, role: Role = Role.USER, every: int = 1) -> list[Message]:
    return [
        Message(role, text, None if at is None else at + timedelta(minutes=every * place))
        for place, text in enumerate(texts)
    ]


def sizes(messages: list[Message], **limits: object) -> list[int]:
    episodes = segment(messages, **limits)
    assert [message for episode in episodes for message in episode.messages] == messages
    return [len(episode.messages) for episode in episodes]


def test_two_topics_of_three_and_two_short_messages_two_hours_apart_are_two_episodes() -> None:
    messages = [
        *said("Booked the flight to Lisbon", "Window seat?", "Yes, row 12"),
        *said("The sink drips again", "Call the plumber", at=NINE + timedelta(hours=2)),
    ]
    assert sizes(messages) == [3, 2]
    assert [episode.why for episode in segment(messages)] == [Began.START, Began.GAP]


def test_a_stray_one_liner_inside_a_topic_joins_it() -> None:
    long = [text for text in GARDEN for _ in range(6)]
    assert sizes(said(*long[:9], "By the way, did the parcel from the bookshop arrive yet?", *long[9:])) == [19]
    assert sizes(said(*GARDEN[:2], "ok thanks!", GARDEN[2])) == [4]


def test_a_change_of_topic_cuts_once_where_enough_is_said_on_both_sides() -> None:
    garden, code = [text for text in GARDEN for _ in range(8)], [text for text in CODE for _ in range(8)]
    assert sizes(said(*garden, *code)) == [24, 24]
    assert segment(said(*garden, *code))[1].why is Began.TOPIC


def test_a_change_of_topic_followed_by_a_stray_one_liner_does_not_cut_twice() -> None:
    garden, code = [text for text in GARDEN for _ in range(8)], [text for text in CODE for _ in range(8)]
    stray = "What a lovely sunset over the bay tonight, by the way!"
    assert sizes(said(*garden, code[0], stray, *code[1:])) == [24, 25]
    assert sizes(said(*garden, stray, *code)) in ([24, 25], [25, 24])


def test_what_follows_a_change_of_topic_in_few_words_stays_with_what_came_before() -> None:
    assert sizes(said(*GARDEN, *CODE)) == [6]
    garden = [text for text in GARDEN for _ in range(8)]
    assert sizes(said(*garden, *CODE)) == [27]


def test_a_change_of_topic_is_seen_in_chinese_too() -> None:
    garden = [
        "温室里的番茄幼苗需要更多的水，幼苗的土壤每天下午都会变干。",
        "我会把番茄幼苗种得更深，早上在温室升温之前浇水。",
    ]
    code = [
        "数据库迁移之后部署流水线一直失败，容器里的索引建不起来。",
        "给部署流水线加一个健康检查，数据库容器就绪后再迁移索引。",
    ]
    assert sizes(said(*garden * 12, *code * 12)) == [24, 24]
    assert sizes(said(*garden * 12, "今晚海边的日落真是太漂亮了，你看到了没有？", *garden * 4)) == [33]
    assert sizes([*said("订好去里斯本的机票了", "靠窗吗"), *said("水槽又漏了", at=NINE + timedelta(hours=2))]) == [2, 1]


def test_a_system_message_begins_an_episode_and_is_never_merged_away() -> None:
    messages = [*said("hello"), Message(Role.SYSTEM, "You are terse."), *said("hi"), *said("bye")]
    assert sizes(messages) == [1, 3]
    assert segment(messages)[1].why is Began.SYSTEM
    assert sizes([Message(Role.SYSTEM, "You are terse."), *said("hi")]) == [2]
    assert sizes([*said("a"), Message(Role.SYSTEM, "one"), Message(Role.SYSTEM, "two"), *said("b")]) == [1, 3]


def test_a_pause_of_an_hour_is_no_gap_and_a_second_more_is() -> None:
    def pair(pause: timedelta) -> list[Message]:
        return [*said("one"), *said("two", at=NINE + pause)]

    assert sizes(pair(timedelta(hours=1))) == [2]
    assert sizes(pair(timedelta(hours=1, seconds=1))) == [1, 1]
    assert sizes(pair(timedelta(hours=3)), gap=timedelta(hours=4)) == [2]


def test_messages_without_a_time_have_no_gap_but_do_not_hide_one() -> None:
    assert sizes(said("one", "two", "three", at=None)) == [3]
    assert sizes([*said("one"), *said("two", at=None), *said("three", at=NINE + timedelta(hours=5))]) == [2, 1]


def test_a_clock_that_goes_back_a_little_is_ignored_and_one_that_goes_back_far_is_a_gap() -> None:
    assert sizes([*said("one"), *said("two", at=NINE - timedelta(minutes=2)), *said("three")]) == [3]
    assert sizes([*said("one"), *said("two", at=NINE - timedelta(days=2))]) == [1, 1]


def test_times_with_and_without_a_zone_cannot_be_compared_and_are_refused() -> None:
    with pytest.raises(InvalidInput, match="zone") as refused:
        segment([*said("one"), *said("two", at=datetime(2026, 3, 2, 9, 1))])
    assert refused.value.hint


def test_an_episode_holds_at_most_twenty_thousand_tokens_in_chinese_as_in_english() -> None:
    text = "一段没有任何停顿的长谈" * 100
    assert tokens(text) == 1100
    episodes = segment(said(*[text] * 40, every=0))
    assert [sum(tokens(message.content) for message in episode.messages) for episode in episodes] == [19_800] * 2 + [
        4_400
    ]
    assert [episode.why for episode in episodes] == [Began.START, Began.LENGTH, Began.LENGTH]
    assert sizes(said("word " * 30_000, "short")) == [1, 1]


def test_no_messages_are_no_episodes_and_one_is_one() -> None:
    assert segment([]) == []
    assert sizes(said("hello")) == [1]


def test_tokens_are_counted_for_english_chinese_and_code_alike() -> None:
    english = "The quick brown fox jumps over the lazy dog and then internationalisation happens, naturally."
    assert 15 <= tokens(english) <= 22
    assert tokens("我对花生过敏") == 6
    assert tokens("") == 0
    assert tokens("x = foo_bar(42)") == 8


@pytest.mark.locomo
@pytest.mark.skipif(not LOCOMO.is_file(), reason=f"the LoCoMo development file is not at {LOCOMO}")
def test_a_real_conversation_of_nineteen_sessions_falls_into_about_as_many_episodes() -> None:
    conversation = json.loads(LOCOMO.read_text(encoding="utf-8"))[0]["conversation"]
    names = [name for name in conversation if name.startswith("session_") and isinstance(conversation[name], list)]
    sessions = sorted(names, key=lambda name: int(name.split("_")[1]))
    messages = [
        Message(Role.USER, turn["text"], session_time(conversation[f"{name}_date_time"]).replace(tzinfo=UTC))
        for name in sessions
        for turn in conversation[name]
    ]
    episodes = segment(messages)
    assert [message for episode in episodes for message in episode.messages] == messages
    assert len(sessions) <= len(episodes) <= 1.5 * len(sessions)
    assert all(len({message.at for message in episode.messages}) == 1 for episode in episodes)
