"""The second reading of the best candidates: what it does to their scores, and what happens when it cannot be done."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from amem.errors import InvalidInput, MissingModel
from amem.query import Query
from amem.retrieval.fusion import Part, Reranking, Reread
from amem.settings import Settings
from amem.testing import WordReranker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from asking import Collection

    from amem.protocols import Reranker

QUESTION = "where does the cat sleep"


@dataclass
class Reader(WordReranker):
    """Scores by words; says how it was asked; each passage takes `seconds` of a clock that only it moves."""

    seconds: float = 0.0
    unknown: str = ""
    fails_at: int = -1
    now: float = 0.0
    loads: int = 0
    read: list[str] = field(default_factory=list)

    def load(self) -> None:
        self.loads += 1
        self.now += 60  # a model that is slow to load

    def knows(self, text: str) -> float:
        return 0.0 if self.unknown and self.unknown in text else 1.0

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        if 0 <= self.fails_at <= len(self.read):
            raise RuntimeError("out of memory")
        self.read += passages
        self.now += self.seconds * len(passages)
        return super().score(question, passages)


def reranking(reader: Reranker | None, **settings: Any) -> Reranking:
    clock: Callable[[], float] = (lambda: reader.now) if isinstance(reader, Reader) else time.monotonic
    return Reranking(lambda fetch: reader, Settings(timezone="UTC", **settings), clock=clock)


def read(collection: Collection, made: Reranking, ids: Sequence[str], text: str = QUESTION, **query: Any) -> Reread:
    question = Query(text, **query)
    made.prepare([question])
    with collection.store.read() as session:
        return made.read(session, question, {id: 1 - 0.01 * place for place, id in enumerate(ids)})


def rained(collection: Collection, count: int) -> list[str]:
    return [collection.add(f"It rained on day {n}.") for n in range(count)]


def test_a_passage_tells_when_it_is_from_and_who_said_it(collection: Collection) -> None:
    reader = Reader()
    said = collection.add("The cat sleeps here.", at="2026-01-05T10:00", speaker="Ana")
    page = collection.add("Cats\n\nThey sleep.\n\n- everything else that is known", kind="topic")
    read(collection, reranking(reader), [said, page])
    assert reader.read == ["(2026-01-05) Ana: The cat sleeps here.", "(2026-01-01) Cats\n\nThey sleep."]


def test_what_was_read_is_scored_by_the_reading_and_by_what_it_was_worth_before(collection: Collection) -> None:
    cat, rain = collection.add("the cat does sleep"), collection.add("rain")
    reread = read(collection, reranking(Reader(), rerank_weight=0.6), [rain, cat])
    assert reread.scores[cat] == 1
    assert reread.scores[rain] == 0
    assert reread.relevance(cat, 0.5) == pytest.approx(0.4 * 0.5 + 0.6)
    assert reread.relevance(rain, 0.9) == pytest.approx(0.4 * 0.9)


def test_no_more_than_the_first_candidates_are_read(collection: Collection) -> None:
    ids = rained(collection, 20)
    reread = read(collection, reranking(Reader(), rerank_candidates=12), ids)
    assert list(reread.scores) == ids[:12]
    assert reread.notes == ()


def test_reading_stops_when_the_next_passages_would_not_be_read_in_time(collection: Collection) -> None:
    reader = Reader(seconds=0.015)  # four passages: 60 ms
    ids = rained(collection, 80)
    reread = read(collection, reranking(reader, rerank_ms=500), ids)
    assert list(reread.scores) == ids[:32]
    assert reread.notes == ("reranking stopped after 32 of 80: 500 ms",)
    assert reader.now - 60 <= 0.5


def test_loading_the_model_takes_nothing_of_the_time_and_is_done_once(collection: Collection) -> None:
    reader = Reader(seconds=0.001)
    made = reranking(reader)
    for _ in range(3):
        assert len(read(collection, made, rained(collection, 16)).scores) == 16
    assert reader.loads == 1


def test_some_are_read_however_little_time_there_is(collection: Collection) -> None:
    reread = read(collection, reranking(Reader(seconds=10), rerank_ms=1), rained(collection, 30))
    assert len(reread.scores) == 4
    assert reread.notes == ("reranking stopped after 4 of 30: 1 ms",)


def test_what_was_not_read_neither_overtakes_what_was_nor_loses_its_order(collection: Collection) -> None:
    ids = rained(collection, 40)  # the reader finds nothing in any of them
    fused = {id: 0.9 - 0.01 * place for place, id in enumerate(ids)}
    for weight in (0.3, 0.7, 1.0):
        reread = read(collection, reranking(Reader(seconds=0.03), rerank_weight=weight), ids)
        assert 0 < len(reread.scores) < 40
        assert sorted(ids, key=lambda id: -reread.relevance(id, fused[id])) == ids


@hypothesis_settings(deadline=None)
@given(
    weight=st.floats(0, 1),
    scores=st.lists(st.floats(0, 1), min_size=1, max_size=20),
    fused=st.lists(st.floats(0, 1), min_size=20, max_size=40),
)
def test_no_reading_lifts_what_was_not_read_above_what_was(
    weight: float, scores: list[float], fused: list[float]
) -> None:
    ids = [f"n{n}" for n in range(len(fused))]
    before = dict(zip(ids, sorted(fused, reverse=True), strict=True))
    reread = Reread(weight, dict(zip(ids, scores, strict=False)))
    after = {id: reread.relevance(id, before[id]) for id in ids}
    assert all(0 <= value <= 1 + 1e-9 for value in after.values())
    read, rest = ids[: len(scores)], ids[len(scores) :]
    assert min(after[id] for id in read) >= max((after[id] for id in rest), default=0) - 1e-9


@given(
    weight=st.floats(0, 1),
    score=st.floats(0, 1),
    shares=st.lists(st.floats(0, 0.3), max_size=3),
    link=st.floats(0, 0.1),
)
def test_shares_still_add_up(weight: float, score: float, shares: list[float], link: float) -> None:
    parts = {f"leg {n}": Part(1, share, share, 1.0) for n, share in enumerate(shares)}
    fused = sum(shares) + link
    for reread in (Reread(weight, {"a": score}), Reread(weight, {"b": 1.0}), Reread(weight, {"b": 1.0}, {"a": score})):
        new = sum(part.share for part in reread.parts("a", parts).values())
        assert new + (1 - weight) * link == pytest.approx(reread.relevance("a", fused), abs=1e-9)


def test_a_question_in_a_language_that_the_model_cannot_read_is_left_as_it_is(collection: Collection) -> None:
    reader = Reader(unknown="猫")
    reread = read(collection, reranking(reader), rained(collection, 3), "猫在哪里睡觉？")
    assert (reread.weight, reader.read) == (0, [])
    assert reread.notes == ("not reranked: words cannot read the question's language",)


def test_notes_in_such_a_language_change_as_what_is_read_does_all_together(collection: Collection) -> None:
    cat, rain = collection.add("the cat does sleep"), collection.add("rain")
    first, last = collection.add("猫在沙发上睡觉"), collection.add("猫在家")
    fused = {first: 0.7, cat: 0.5, rain: 0.3, last: 0.0}
    made, question = reranking(Reader(unknown="猫"), rerank_weight=0.5), Query(QUESTION)
    made.prepare([question])
    with collection.store.read() as session:
        reread = made.read(session, question, fused)
    after = {id: reread.relevance(id, value) for id, value in fused.items()}
    proportion = (after[cat] + after[rain]) / (fused[cat] + fused[rain])
    assert after[first] == pytest.approx(0.7 * proportion)
    assert after[last] == 0
    assert first not in reread.scores
    part = reread.parts(first, {})["rerank"]
    assert part.rank is None
    assert part.share == pytest.approx(after[first] - 0.5 * fused[first])
    assert reread.notes == ("2 of 4 not reranked: words cannot read their language",)


def test_where_it_can_read_none_of_them_nothing_changes(collection: Collection) -> None:
    ids = [collection.add(f"猫在沙发上睡觉 {n}") for n in range(3)]
    reread = read(collection, reranking(Reader(unknown="猫")), ids)
    assert reread.relevance(ids[0], 0.7) == 0.7
    assert len(reread.notes) == 1


@pytest.mark.parametrize("at", [0, 8])
def test_a_model_that_fails_costs_its_reading_and_not_the_search(
    collection: Collection, caplog: pytest.LogCaptureFixture, at: int
) -> None:
    made = reranking(Reader(fails_at=at))
    for _ in range(3):
        reread = read(collection, made, rained(collection, 20))
        assert reread.weight == 0
        assert reread.relevance("any", 0.4) == 0.4
        assert reread.notes == ("not reranked: words failed (out of memory)",)
    (record,) = caplog.records  # once, with where it came from
    assert record.levelno == logging.WARNING
    assert record.exc_info is not None


@pytest.mark.parametrize("scores", [[float("nan")], [1.5], [-0.1], [], [0.5, 0.5], [float("inf")]])
def test_scores_that_are_none_count_as_failing(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, scores: list[float]
) -> None:
    reader = Reader()
    monkeypatch.setattr(reader, "score", lambda question, passages: scores)
    reread = read(collection, reranking(reader), rained(collection, 1))
    assert reread.weight == 0
    assert "did not give 1 passages a score" in reread.notes[0]


def test_off_means_that_nobody_is_even_looked_for(collection: Collection) -> None:
    def looked(fetch: bool) -> Reranker | None:
        raise AssertionError("looked for a model")

    made = Reranking(looked, Settings(rerank="off"))
    assert read(collection, made, rained(collection, 2)) == Reread()
    assert read(collection, Reranking(looked, Settings()), rained(collection, 2), rerank=False) == Reread()


def test_without_a_model_nothing_happens_by_default_and_nothing_is_said(collection: Collection) -> None:
    looked: list[bool] = []
    made = Reranking(lambda fetch: looked.append(fetch), Settings())
    for _ in range(3):
        assert read(collection, made, rained(collection, 2)) == Reread()
    assert looked == [False]  # once, and nothing may be fetched


@pytest.mark.parametrize(("setting", "asked"), [("on", None), ("auto", True), ("off", True)])
def test_whoever_asks_for_a_reading_hears_why_there_is_none(
    collection: Collection, setting: str, asked: bool | None
) -> None:
    class Gone(Reader):
        def load(self) -> None:
            raise MissingModel("no weights", hint="get them")

    made = reranking(Gone(), rerank=setting)
    for _ in range(2):
        with pytest.raises(MissingModel, match="no weights"):
            read(collection, made, [], rerank=asked)


def test_a_model_that_is_here_and_of_no_use_is_done_without_by_default_and_that_is_said(
    collection: Collection, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(fetch: bool) -> Reranker | None:
        raise InvalidInput("nli cannot rerank: it has 3 outputs")

    made = Reranking(refused, Settings())
    for _ in range(2):
        reread = read(collection, made, rained(collection, 2))
        assert reread.notes == ("not reranked: nli cannot rerank: it has 3 outputs",)
    assert len(caplog.records) == 1


def test_nothing_found_is_nothing_to_read(collection: Collection) -> None:
    assert read(collection, reranking(Reader()), []) == Reread()
