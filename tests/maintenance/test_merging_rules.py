"""Which notes say the same: precision first, in English and Chinese."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from amem.maintenance.merge_drafts import merged
from amem.maintenance.merge_phase import groups_of
from amem.maintenance.sameness import difference, may_merge
from amem.note import Enrichment, Fact, Kind, Layer, MemoryNote

SAID = datetime(2026, 3, 1, 9, tzinfo=UTC)


def note(content: str, **fields: Any) -> MemoryNote:
    given: dict[str, Any] = {"at": SAID, "timestamp": SAID.isoformat(), "enrichment": Enrichment.DONE}
    return MemoryNote(content, **(given | fields))


def apart(one: str, other: str) -> str:
    return difference(note(one), note(other), 45)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The office closes at 6 pm on Fridays", "On Fridays the office closes at 6 pm."),
        ("I am allergic to shrimp", "Remember that I'm allergic to shrimps"),
        ("I take 3 tablets a day", "I take three tablets a day"),
        ("Zhima takes a kidney tablet every morning", "Every morning Zhima takes her kidney tablet"),
        ("I'm allergic to shrimp", "I am allergic to shrimp. I carry an adrenaline pen."),
        ("The kiln needs a thermocouple", "The kiln needs a thermocouple for the second shelf"),
        ("会议改到三点", "会议改到3点。"),
        ("二〇二六年三月三日交房租", "2026年3月3日交房租"),
        ("记住：我喜欢绿茶", "我喜欢绿茶"),
        ("我对虾过敏。", "我对虾过敏，出门带肾上腺素笔"),
    ],
)
def test_the_same_said_again_is_the_same(one: str, other: str) -> None:
    assert apart(one, other) == apart(other, one) == ""


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("Meeting on 3 May at 10", "Meeting on 4 May at 10", "another time"),
        ("The shop opens at 9 am", "The shop opens at 9 pm", "another time"),
        ("We deploy on Mondays", "We deploy on Tuesdays", "another time"),
        ("Leave from 3 May to 4 May", "Leave from 4 May to 3 May", "another time"),
        ("v1.2 is deployed", "v1.3 is deployed", "another number"),
        ("The run was 5 km", "The run was 5 miles", "other words"),
        ("Ana is allergic", "Ana is not allergic", "one denies or asks what the other states"),
        ("We deploy on Mondays", "We never deploy on Mondays", "one denies or asks what the other states"),
        ("The kiln is hot", "The kiln is hot?", "one denies or asks what the other states"),
        ("I prefer tea to coffee", "I prefer coffee to tea", "other words"),
        ("The office door is open", "The office door is closed", "other words"),
        ("Ana lives in Lisbon", "Ana's sister lives in Lisbon", "other words"),
        ("Ana lives in Lisbon", "Ana used to live in Lisbon", "other words"),
        ("My dog barks at night", "His dog barks at night", "other words"),
        ("Her kiln is hot", "His kiln is hot", "other words"),
        ("We ship to Porto", "We ship to Porto unless it rains", "other words"),
        ("I drink coffee", "I drink coffee. But seldom.", "one denies or asks what the other states"),
        ("会议改到三点", "会议改到四点", "another time"),
        ("下周三开会", "下周四开会", "another time"),
        ("请假从5月3日到5月4日", "请假从5月4日到5月3日", "another time"),
        ("我对虾过敏", "我对虾不过敏", "one denies or asks what the other states"),
        ("我住在上海", "我妹妹住在上海", "other words"),
        ("小林住在上海", "小张住在上海", "other words"),
        ("项目使用 PostgreSQL", "项目使用 MySQL", "other words"),
        ("每天吃三片药", "每天吃两片药", "another number"),
        ("我吃素", "我吃素，但鱼除外", "other words"),
    ],
)
def test_what_differs_in_one_word_that_matters_is_left_apart(one: str, other: str, why: str) -> None:
    assert apart(one, other) == why
    assert apart(other, one) == why


def test_another_verb_for_the_same_fact_is_the_same_and_without_the_fact_it_is_not() -> None:
    stated = [Fact("Ana", "likes", "window seats")]
    one, other = "In trains Ana loves window seats", "In trains Ana enjoys a window seat"
    assert difference(note(one), note(other), 45) == "other words"
    assert difference(note(one, facts=stated), note(other, facts=stated), 45) == ""


def test_facts_names_speakers_kinds_and_times_that_differ_keep_notes_apart() -> None:
    base = note("The team uses Redis", speaker="Ana", entities=["Redis"], facts=[Fact("we", "uses", "Redis")])
    for changed, why in (
        (replace(base, speaker="Ben"), "another speaker"),
        (replace(base, entities=["Redis", "Ana"]), "another name"),
        (replace(base, kind=Kind.QUESTION), "another kind"),
        (replace(base, facts=[Fact("we", "uses", "Valkey")]), "another fact"),
        (replace(base, valid_to=SAID), "true at another time"),
        (replace(base, at=SAID + timedelta(days=46)), "too long between them"),
    ):
        assert difference(base, changed, 45) == why
    assert difference(base, replace(base, entities=["redis"], at=SAID + timedelta(days=44)), 45) == ""


@pytest.mark.parametrize("text", ["Ana is ill today", "今天芝麻没吃饭", "I start next week"])
def test_today_is_another_day_on_another_day(text: str) -> None:
    later = SAID + timedelta(days=7)
    again = note(text, at=later, timestamp=later.isoformat())
    assert difference(note(text), again, 45) == "another day"
    assert difference(note(text), note(text + "."), 45) == ""


def test_what_happened_twice_in_the_same_words_happened_twice() -> None:
    later = SAID + timedelta(days=7)
    first = note("The disk of the build server was full", kind=Kind.ERROR)
    assert difference(first, replace(first, at=later, timestamp=later.isoformat()), 45) == "another day"


def test_a_persons_edits_pins_and_what_is_made_of_notes_are_never_merged() -> None:
    plain = note("The kiln is hot")
    assert may_merge(plain, {"tags": "given"})
    assert not may_merge(plain, {"content": "edited"})
    for kept in (
        replace(plain, pinned=True),
        replace(plain, kind=Kind.TOPIC),
        replace(plain, kind=Kind.PROCEDURE),
        replace(plain, metadata={"episode": {}}),
        replace(plain, enrichment=Enrichment.DEGRADED),
    ):
        assert not may_merge(kept, {})


def test_in_a_group_every_two_are_a_pair_and_the_order_of_pairs_does_not_matter() -> None:
    pairs = [(1, 2), (2, 3), (1, 3), (3, 4), (5, 6)]
    assert groups_of(pairs) == groups_of(reversed(pairs)) == [(1, 2, 3), (5, 6)]


def test_the_merged_note_takes_the_best_and_earliest_of_its_parts() -> None:
    first = note("I'm allergic to shrimp", importance=0.4, tags=["health"], keywords=["shrimp"], layer=Layer.LONG_TERM)
    second = note(
        "I am allergic to shrimp. I carry a pen.",
        at=SAID + timedelta(days=3),
        timestamp="later",
        importance=0.9,
        tags=["Health", "food"],
        keywords=["pen"],
        facts=[Fact("user", "allergic_to", "shrimp")],
    )
    made = merged([first, second])
    assert made.content == second.content
    assert made.tags == ["Health", "food", "consolidated"]
    assert made.keywords == ["pen", "shrimp"]
    assert (made.importance, made.at, made.timestamp) == (0.9, SAID, first.timestamp)
    assert made.layer is Layer.LONG_TERM
    assert made.facts == second.facts


def test_nothing_that_was_said_is_lost_in_a_merge() -> None:
    assert merged([note("我对虾过敏，医生说的"), note("我对虾过敏")]).content == "我对虾过敏，医生说的"
    longer = merged([note("The kiln is hot. The kiln needs a part."), note("The kiln needs a part for the shelf")])
    assert longer.content == "The kiln is hot. The kiln needs a part for the shelf"


def test_a_place_in_a_conversation_is_kept_when_all_parts_share_it() -> None:
    one = note("The kiln is hot", conversation_id="c", ordinal=3)
    assert merged([one, replace(one)]).ordinal == 3
    elsewhere = merged([one, replace(one, ordinal=4)])
    assert (elsewhere.conversation_id, elsewhere.ordinal) == ("c", None)
    assert merged([one, replace(one, conversation_id="d")]).conversation_id is None
