"""A question that asks for what is recent lets standing count for more, and says so."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from amem.note import Kind
from amem.retrieval.question import Recency
from amem.retrieval.router import Router
from amem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from asking import Collection


def asks_for_recent(question: str) -> bool:
    return Router(Settings()).read(question, datetime(2026, 2, 1, 9, tzinfo=UTC), UTC).recency is Recency.RECENT


@pytest.mark.parametrize(
    "question",
    [
        "What have I been reading lately?",
        "the most recent invoice from Ana",
        "What did Ruben say recently",
        "latest version of the gateway",
        "What am I up to these days?",
        "what happened in the last few days",
        "我最近在读什么书？",
        "目前最新的版本是多少",
        "这几天有什么安排",
        "近来 Ana 怎么样",
    ],
)
def test_questions_for_what_is_recent(question: str) -> None:
    assert asks_for_recent(question)


@pytest.mark.parametrize(
    "question",
    [
        "When did I move to Lisbon?",
        "What did we decide last year?",
        "where do I work",
        "a recency bias in ranking",
        "我什么时候搬到里斯本的？",
        "去年我们决定了什么",
        "离公司最近的地铁站是哪个",
        "最近的医院在哪里",
    ],
)
def test_questions_for_something_else(question: str) -> None:
    assert not asks_for_recent(question)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which project is Ana working on now?", "now"),
        ("What is my current address?", "now"),
        ("Which book am I reading at the moment?", "now"),
        ("我现在住哪里", "now"),
        ("目前用什么数据库", "now"),
        ("当前的房租是多少", "now"),
        ("When is my next dentist appointment?", "next"),
        ("What is next on the roadmap?", "next"),
        ("下次看牙医是什么时候", "next"),
        ("下一次团队会议在哪里", "next"),
        ("When was the last time I saw Ben?", "last"),
        ("Where did we go on our last trip?", "last"),
        ("When did I visit the dentist last?", "last"),
        ("上次和小王吃饭是在哪里", "last"),
        ("上一次体检结果怎么样", "last"),
        ("What is her last name?", None),
        ("Who sits next to Ana?", None),
        ("What did we do last week?", None),
        ("What is planned for next month?", None),
        ("上个月我们决定了什么", None),
        ("下个月有什么安排", None),
    ],
)
def test_now_next_and_last_are_read_as_such(question: str, expected: str | None) -> None:
    assert Router(Settings()).read(question, datetime(2026, 2, 1, 9, tzinfo=UTC), UTC).recency == expected


def test_recent_is_by_the_time_a_note_is_of_and_not_by_its_import(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection()
    memory.clock.advance(days=400)
    # Imported newest first, all within a moment.
    days = ("2023-09-14", "2023-05-02", "2022-11-20")
    new, middle, old = (memory.add(f"Ana painted picture{n}.", at=_at(day)) for n, day in enumerate(days))

    assert [hit.id for hit in memory.ask("What did Ana paint recently?", touch=False)] == [new, middle, old]
    hits = memory.ask("Ana 最近 painted 了什么", touch=False)
    assert [hit.id for hit in hits] == [new, middle, old]
    assert "as you ask for what is recent (33% timely" in hits[2].explanation.words()
    prior = hits[1].explanation.prior
    assert (prior.floor, prior.recency) == (0.7, "recent")
    assert memory.explain("Ana 最近 painted 了什么", middle).prior == prior
    plain = memory.ask("What did Ana paint?", touch=False)
    assert "as you ask" not in plain[1].explanation.words()


def test_the_next_is_the_nearest_ahead_of_the_clock_and_the_last_the_nearest_behind(
    open_collection: Callable[..., Collection],
) -> None:
    memory = open_collection()  # on 1 February 2026
    told = _at("2026-01-20")
    memory.add("Dentist appointment on 2025-12-03.", at=told)
    just = memory.add("Dentist appointment on 2026-01-28.", at=told)
    memory.add("Dentist appointment on 2026-05-20.", at=told)
    near = memory.add("Dentist appointment on 2026-02-10.", at=told)

    for question in ("When is my next dentist appointment?", "下次 dentist appointment 是什么时候"):
        assert memory.found(question, k=1, touch=False) == [near], question
    for question in ("When was my last dentist appointment?", "上次 dentist appointment 是什么时候"):
        assert memory.found(question, k=1, touch=False) == [just], question


def test_now_prefers_what_has_not_ended(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection()
    over = memory.add("Ana leads the buoy project.", at=_at("2025-12-01"), valid_to=_at("2026-01-15"))
    holds = memory.add("Ana leads the harbour project.", at=_at("2025-06-01"))

    for question in ("Which project does Ana lead now?", "Ana 现在 leads 哪个 project"):
        hits = memory.ask(question, touch=False)
        assert [hit.id for hit in hits] == [holds, over], question
        assert hits[1].explanation.prior.timely == 0.0


def _at(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


def test_both_floors_are_settings(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(prior_floor=0.9, prior_floor_temporal=0.2)
    id = memory.add("Ana read a book about tides.")

    assert memory.explain("book", id).prior.floor == 0.9
    assert memory.explain("最近 book", id).prior.floor == 0.2


def test_cutting_at_k_gives_the_same_as_ranking_everything(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(prior_floor_temporal=0.3)
    for n in range(30):
        kind = (Kind.CHITCHAT, Kind.FACT, Kind.PROCEDURE)[n % 3]
        memory.add("tea " + f"leaf{n % 7} " * (n % 5), kind=kind, reliability=(n * 37 % 11) / 10)
    memory.clock.advance(days=5)

    everything = memory.found("tea leaf3 leaf4 lately", k=30, touch=False)
    assert memory.found("tea leaf3 leaf4 lately", k=5, touch=False) == everything[:5]
