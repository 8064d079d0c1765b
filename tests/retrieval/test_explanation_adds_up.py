"""Whatever is asked of whatever collection: shares add up to the score, and `explain` agrees with `search`."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from amem.clock import parse_time, zone
from amem.note import Kind, Layer, LinkType, Status
from amem.query import Filter, Query
from amem.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

    from asking import Collection

    from amem.retrieval.explanation import Explanation

WORDS = [
    "tea",
    "coffee",
    "Lisbon",
    "server",
    "postgres",
    "garden",
    "猫",
    "花生过敏",
    "invoice",
    "train",
    "moved",
    "Ana",
]
ASKING = [
    "why",
    "when",
    "how do",
    "recently",
    "tell me about",
    "为什么",
    "last week",
    "in January 2026",
    "上个月",
    "谁",
]
TYPES = (*LinkType,)
#: Most notes are active; every other standing comes up.
STANDINGS = (*[Status.ACTIVE] * 8, Status.SUPERSEDED, Status.ARCHIVED, Status.DELETED)
KINDS = (*[Kind.FACT] * 4, Kind.QUESTION, Kind.PROCEDURE, Kind.DECISION, Kind.TOPIC)
CONDITIONS: dict[str, tuple[Any, ...]] = {
    "tags": (("food",), ("food", "work")),
    "kinds": ((Kind.FACT, Kind.QUESTION), (Kind.TOPIC,)),
    "layers": ((Layer.LONG_TERM,),),
    "category": ("home",),
    "speaker": ("ana",),
    "conversation": ("talk",),
    "since": (parse_time("2026-01-20", zone("UTC")),),
    "until": (parse_time("2026-01-30", zone("UTC")),),
    "as_of": (parse_time("2026-01-25", zone("UTC")), parse_time("2025-01-01", zone("UTC"))),
    "known_at": (parse_time("2026-01-25", zone("UTC")), parse_time("2026-03-01", zone("UTC"))),
    "metadata": ({"project": "apollo"},),
    "user_id": ("ana",),
    "statuses": ((Status.ACTIVE, Status.SUPERSEDED), tuple(Status), (Status.ARCHIVED,)),
    "minimum_cosine": (-0.1, 0.1, 0.4),
}
REASONS = {
    *("deleted", "superseded", "archived", "page", "filtered", "no_match", "no_candidate"),
    *("below_cosine", "below_score", "below_k"),
}


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(4, 30))]
)
def test_shares_add_up_and_explain_agrees_with_search(open_collection: Callable[..., Collection], seed: int) -> None:
    chance = Random(seed)
    memory = open_collection(embedder=HashEmbedder(64), **settings(chance))
    ids = fill(memory, chance)
    for query in (a_question(chance) for _ in range(6)):
        hits = {hit.id: hit.explanation for hit in memory.recall.search(query)}
        assert len(hits) <= query.k
        for id in ids:
            why = memory.recall.explain(query, id)
            assert_adds_up(why)
            if id in hits:
                assert_agrees(why, hits[id])
                continue
            assert why.kept_out is not None
            assert why.kept_out.reason in REASONS
            assert why.words().startswith(why.kept_out.detail[:1].upper())
            assert why.place is None or why.place > query.k or why.kept_out.reason == "below_score"


def settings(chance: Random) -> dict[str, Any]:
    """A set-up of any kind, the extremes included."""
    return {
        "fusion": chance.choice(["convex", "rrf"]),
        "window": chance.choice([0, 2]),
        "lexical": chance.choice(["fts5", "fts5", "rank-bm25"]),
        "candidates": chance.choice([80, 3]),
        "prior_floor": chance.choice([0.95, 0.0, 1.0]),
        "prior_floor_temporal": chance.choice([0.7, 0.2]),
        "router": chance.random() < 0.7,
    }


def fill(memory: Collection, chance: Random) -> list[str]:
    """Notes of a talk and others, a few minutes or days apart, linked, of all kinds and standings."""
    ids: list[str] = []
    gone: list[str] = []
    anas: set[str] = set()
    for ordinal in range(chance.randint(3, 16)):
        words = chance.choices(WORDS, k=chance.randint(1, 6))
        talk = chance.random() < 0.6
        metadata = chance.choice([{}, {"user_id": "ana"}, {"project": "apollo"}])
        ids.append(
            memory.add(
                ". ".join(" ".join(words[start : start + 2]) for start in range(0, len(words), 2))
                + chance.choice(["", "", "?"]),
                at=f"2026-01-31T10:{ordinal:02}" if talk else f"2026-01-{chance.randint(1, 31):02}",
                speaker=chance.choice(["Ana", "Bo", None]),
                conversation_id="talk" if talk else None,
                ordinal=ordinal if talk else None,
                kind=chance.choice(KINDS),
                layer=chance.choice([*Layer]),
                category=chance.choice(["home", "Uncategorized"]),
                embed=chance.random() < 0.9,
                tags=chance.sample(["food", "work"], chance.randint(0, 2)),
                metadata=metadata,
                entities=["Ana"] if "Ana" in words else [],
                source="what was said of tea" if chance.random() < 0.1 else None,
            )
        )
        anas |= {ids[-1]} if "user_id" in metadata else set()
        if (status := chance.choice(STANDINGS)) is not Status.ACTIVE:
            memory.change(ids[-1], status=str(status))
            gone += [ids[-1]] if status is Status.SUPERSEDED else []
    for id in gone:
        memory.change(id, superseded_by=chance.choice(ids))
    for _ in range(chance.randint(0, 2 * len(ids))):
        source, target = chance.choices(ids, k=2)
        if source != target and (source in anas) is (target in anas):
            memory.link(source, target, chance.choice(TYPES), confidence=chance.uniform(0.3, 1))
    return ids


def a_question(chance: Random) -> Query:
    """Some words, as a question of some sort, often with a condition or a bound."""
    words = [*chance.sample(ASKING, chance.randint(0, 2)), *chance.choices(WORDS, k=chance.randint(1, 3))]
    names = chance.sample([*CONDITIONS], chance.choice([0, 0, 1, 2]))
    return Query(
        " ".join(words),
        k=chance.choice([0, 1, 3, 8, 20]),
        filter=Filter(**{name: chance.choice(CONDITIONS[name]) for name in names}),
        expand=chance.random() < 0.6,
        touch=False,
        minimum_score=chance.choice([None, None, None, 0.05, 0.4]),
        diversity=chance.choice([None, None, 0.3]),
    )


def assert_adds_up(why: Explanation) -> None:
    """What an explanation promises of its numbers and its shape."""
    assert sum(leg.share for leg in why.legs) + why.link_share == pytest.approx(why.score, abs=1e-6)
    assert why.relevance * why.prior.factor == pytest.approx(why.score, abs=1e-6)
    assert 0 <= why.score <= 1
    assert 0 <= why.relevance <= 1
    for leg in why.legs:
        assert 0 <= leg.scaled <= 1
        assert 0 <= leg.weight <= 1
        if leg.share:
            assert leg.weight * leg.scaled * why.prior.factor == pytest.approx(leg.share, abs=1e-6)
        assert leg.share >= 0
    assert len({leg.leg for leg in why.legs}) == len(why.legs)
    part = why.passage
    assert why.content[part.start : part.end] == part.text
    # As every program reads it: no NaN, no infinity.
    assert json.loads(json.dumps(why.to_dict(), allow_nan=False))["words"] == why.words()


def assert_agrees(why: Explanation, found: Explanation) -> None:
    """`explain` tells of a hit what the hit tells of itself."""
    assert why.kept_out is None
    assert (why.place, why.via, why.reading) == (found.place, found.via, found.reading)
    assert why.score == pytest.approx(found.score, abs=1e-9)
    told = {leg.leg: leg for leg in why.legs}
    for leg in found.legs:
        assert told[leg.leg].share == pytest.approx(leg.share, abs=1e-9)
        assert (told[leg.leg].matched, told[leg.leg].lent) == (leg.matched, leg.lent)
    assert_adds_up(found)
