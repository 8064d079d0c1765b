"""Told once, never recalled, asked a year later: what matters is found by the everyday search, small talk is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import Filter, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem
    from amem.protocols import Embedder
    from amem.testing import FrozenClock

    Open = Callable[..., AgenticMemorySystem]

ENGLISH = {
    "allergy": ("I am allergic to peanuts.", "Which food must I not eat because of an allergy?"),
    "decision": (
        "We decided to use PostgreSQL for the billing service.",
        "What did we decide on for billing?",
    ),
    "small talk": ("Haha, good morning, what a lovely sunny day!", "good morning, lovely sunny day"),
}
CHINESE = {
    "allergy": ("我对花生过敏，一点都不能吃。", "我对什么过敏？"),
    "decision": ("我们决定计费服务使用 PostgreSQL 数据库。", "计费服务决定用什么数据库？"),
    "small talk": ("哈哈，早上好，今天天气真好呀！", "早上好，今天天气真好"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("told", [ENGLISH, CHINESE], ids=["English", "Chinese"])
def test_what_matters_is_found_a_year_later_and_small_talk_is_not(
    open_memory: Open, clock: FrozenClock, minilm: Embedder, told: dict[str, tuple[str, str]]
) -> None:
    memory = open_memory(embedder=minilm, analyst=None, llm_backend="offline")
    ids = {what: memory.add(text).id for what, (text, _) in told.items()}
    for month in range(13):
        # Life goes on: there is other small talk, and the nights' work is done.
        memory.add(f"Month {month}: hi, how are you? Fine, thanks!", kind="chitchat")
        clock.advance(days=30)
        memory.maintain()

    def found(what: str, filter: Filter | None = None) -> bool:
        hits = memory.search(told[what][1], k=3, filter=filter, touch=False)
        return ids[what] in [hit.id for hit in hits]

    assert {what: found(what) for what in told} == {"allergy": True, "decision": True, "small talk": False}
    assert found("small talk", Filter(statuses=(Status.ARCHIVED,)))


@pytest.mark.parametrize("told", [ENGLISH, CHINESE], ids=["English", "Chinese"])
def test_small_talk_is_below_a_tenth_after_a_month_and_a_use_lifts_it(
    open_memory: Open, clock: FrozenClock, told: dict[str, tuple[str, str]]
) -> None:
    memory = open_memory(analyst=None, llm_backend="offline")
    ids = {what: memory.add(text).id for what, (text, _) in told.items()}
    first = {what: memory.strength(id).value for what, id in ids.items()}
    clock.advance(days=30)

    later = {what: memory.strength(id).value for what, id in ids.items()}
    assert later["small talk"] < first["small talk"] / 10
    assert later["allergy"] > first["allergy"] / 2

    memory.opened([ids["small talk"], ids["allergy"]])
    assert memory.strength(ids["small talk"]).value > first["small talk"]
    assert memory.strength(ids["allergy"]).value > later["allergy"]
