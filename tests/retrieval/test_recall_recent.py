"""A question that asks for what is recent lets standing count for more, and says so."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from amem.note import Kind
from amem.retrieval.router import Router
from amem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from asking import Collection


def asks_for_recent(question: str) -> bool:
    return Router(Settings()).read(question, datetime(2026, 2, 1, 9, tzinfo=UTC), UTC).recent


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


def test_of_two_equal_notes_the_one_that_is_better_remembered_wins_by_more(
    open_collection: Callable[..., Collection],
) -> None:
    memory = open_collection()
    old = memory.add("Ana read a book about tides.", kind=Kind.EPISODE)
    memory.clock.advance(days=60)
    new = memory.add("Ana read a book about winds.", kind=Kind.EPISODE)

    plain = memory.ask("Ana read a book", touch=False)
    lately = memory.ask("Ana read a book lately", touch=False)

    assert [hit.id for hit in plain] == [hit.id for hit in lately] == [new, old]
    assert plain[1].score / plain[0].score > 0.95 > lately[1].score / lately[0].score
    prior = lately[1].explanation.prior
    assert (prior.floor, prior.recent) == (0.7, True)
    assert "as you ask for what is recent" in lately[1].explanation.words()
    assert "as you ask" not in plain[1].explanation.words()
    assert memory.explain("Ana read a book lately", old).prior == prior


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
