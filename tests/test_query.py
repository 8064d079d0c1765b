"""Questions and filters take what can be asked and refuse the rest by the name of the field, whoever asks."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from amem.errors import InvalidInput
from amem.note import Kind, Layer, Status
from amem.query import Filter, Query

NOON = datetime(2026, 3, 1, 12)
ELSEWHERE = timezone(timedelta(hours=8))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tags", "food"),
        ("tags", ("food", 1)),
        ("tags", {"food": True}),
        ("tags", ("half a pair \ud83d",)),
        ("tags", None),
        ("kinds", "fact"),
        ("kinds", ("gossip",)),
        ("kinds", (3,)),
        ("layers", ("middle_term",)),
        ("statuses", ("gone",)),
        ("statuses", ()),
        ("statuses", Status.ACTIVE),
        ("category", 7),
        ("category", "nul \x00"),
        ("speaker", ["Ana"]),
        ("conversation", b"talk"),
        ("since", "2026-03-01"),
        ("until", 20260301),
        ("as_of", NOON.date()),
        ("known_at", 0),
        ("metadata", [("key", "value")]),
        ("metadata", {1: "value"}),
        ("metadata", {'ke"y': "value"}),
        ("metadata", {"key": None}),
        ("metadata", {"key": ["a", "b"]}),
        ("metadata", {"key": math.nan}),
        ("metadata", {"key": 2**80}),
        ("minimum_cosine", math.nan),
        ("minimum_cosine", 1.5),
        ("minimum_cosine", "0.5"),
        ("minimum_cosine", True),
        ("user_id", ""),
        ("user_id", "  "),
        ("agent_id", 42),
        ("session_id", ("monday",)),
    ],
)
def test_a_filter_names_the_field_it_cannot_use(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        Filter(**{field: value})
    assert field in str(refused.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("k", -1),
        ("k", 2.0),
        ("k", True),
        ("text", None),
        ("text", "half a pair \ud83d"),
        ("filter", {"tags": ("food",)}),
        ("expand", "yes"),
        ("touch", 1),
        ("minimum_score", math.nan),
        ("minimum_score", 80),
        ("minimum_score", "high"),
        ("legs", "dense"),
        ("diversity", -0.1),
        ("rerank", "auto"),
    ],
)
def test_a_question_names_the_field_it_cannot_use(field: str, value: Any) -> None:
    named = "question" if field == "text" else field
    with pytest.raises(InvalidInput, match=named):
        Query(**{"text": "tea", field: value})


def test_names_stand_for_kinds_and_any_collection_for_a_tuple() -> None:
    wanted = Filter(kinds=["fact", " Decision "], layers={"long_term"}, statuses=["active"], tags=["food"])
    assert wanted.kinds == (Kind.FACT, Kind.DECISION)
    assert wanted.layers == (Layer.LONG_TERM,)
    assert wanted == Filter(
        kinds=(Kind.FACT, Kind.DECISION), layers=(Layer.LONG_TERM,), statuses=(Status.ACTIVE,), tags=("food",)
    )


def test_only_a_filter_that_lets_every_active_note_through_is_the_default_one() -> None:
    assert Filter().is_default
    assert Filter(tags=[], metadata={}, statuses=("active",)).is_default
    assert not Filter(user_id="ana").is_default
    assert not Filter(layers=("short_term",)).is_default


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(InvalidInput) as refused:
        Filter(kinds=("gossip",))
    assert str(refused.value) == "kinds: there is no kind 'gossip'"
    assert refused.value.hint.startswith("the kinds are episode, fact, preference")


def test_a_period_that_ends_before_it_begins_is_refused() -> None:
    Filter(since=NOON, until=NOON)
    with pytest.raises(InvalidInput, match="since"):
        Filter(since=NOON, until=NOON - timedelta(days=1))


def test_a_time_without_a_zone_gets_the_one_that_is_given_and_others_keep_theirs() -> None:
    aware = NOON.replace(tzinfo=UTC)
    placed = Query("tea", filter=Filter(since=NOON, as_of=aware)).in_zone(ELSEWHERE).filter
    assert placed.since == NOON.replace(tzinfo=ELSEWHERE)
    assert placed.as_of == aware
    kept = Query("tea", filter=Filter(since=aware))
    assert kept.in_zone(ELSEWHERE) is kept
    # The order of two times shows once both have a zone.
    mixed = Filter(since=NOON, until=aware - timedelta(hours=6))
    mixed.in_zone(ELSEWHERE)
    with pytest.raises(InvalidInput, match="since"):
        mixed.in_zone(UTC)
