"""Explanations: shares that add up, words for people, and what kept a note out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amem.errors import NoteNotFound
from amem.note import LinkType, Status
from amem.query import Filter
from amem.retrieval.explanation import ordinal

if TYPE_CHECKING:
    from collections.abc import Callable

    from asking import Collection

WORDS = ["tea", "coffee", "lisbon", "server", "postgres", "garden", "猫", "茶", "invoice", "train"]
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
links = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from(list(LinkType)), st.floats(0.05, 1)), max_size=8
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(sentences, min_size=1, max_size=8), sentences, links, st.floats(0, 1))
def test_shares_add_up_to_the_score(
    open_collection: Callable[..., Collection],
    notes: list[str],
    question: str,
    ties: list[tuple[int, int, LinkType, float]],
    floor: float,
) -> None:
    memory = open_collection(prior_floor=floor)
    ids = [memory.add(text, entities=text.split()[:1]) for text in notes]
    for source, target, type, confidence in ties:
        if source != target and max(source, target) < len(ids):
            memory.link(ids[source], ids[target], type, confidence=confidence)
    for hit in memory.ask(question, k=8, expand=True, touch=False):
        why = hit.explanation
        assert sum(leg.share for leg in why.legs) + why.link_share == pytest.approx(hit.score, abs=1e-9)
        assert why.relevance * why.prior.factor == pytest.approx(hit.score, abs=1e-9)
        assert 0 < hit.score <= 1
        again = memory.explain(question, hit.id, k=8, expand=True)
        assert again.score == pytest.approx(hit.score, abs=1e-9)
        assert (again.place, again.kept_out) == (why.place, None)
    memory.store.close()


def test_words_say_which_leg_found_it_where_and_by_what(collection: Collection) -> None:
    collection.add("We will keep MySQL for the blog.")
    wanted = collection.add("We moved the invoices from MySQL to PostgreSQL.", entities=["PostgreSQL"])
    for n in range(9):
        collection.add(f"Something else {n}.")
    words = collection.explain("Why PostgreSQL and not MySQL?", wanted).words()
    assert "1st by words (postgresql, mysql)" in words
    assert "1st by name (postgresql)" in words
    assert "by meaning (cosine 0." in words
    assert words.endswith(".")


def test_words_name_chinese_matches(collection: Collection) -> None:
    wanted = collection.add("妈妈对花生过敏。")
    assert "过敏" in collection.explain("谁对花生过敏？", wanted).words()


def test_words_name_the_link_and_its_reason(collection: Collection) -> None:
    hit = collection.add("The invoices database moved to PostgreSQL.")
    other = collection.add("Backups run nightly.", embed=False)
    collection.link(hit, other, LinkType.SUPPORTS, "both are about the database")
    words = collection.explain("PostgreSQL invoices", other, expand=True).words()
    assert words == f"Linked from {hit[:8]} (supports: both are about the database)."


def test_an_explanation_is_json(collection: Collection) -> None:
    wanted = collection.add("Tea with Ana.", source="tea w/ ana")
    other = collection.add("Coffee.")
    collection.link(wanted, other)
    hits = collection.ask("tea", expand=True)
    held = json.loads(json.dumps([hit.to_dict() for hit in hits]))
    assert held[0]["id"] == wanted
    assert set(held[0]["explanation"]) >= {"score", "relevance", "prior", "legs", "via", "words", "place"}
    assert json.loads(json.dumps(dict(hits[0]))) == held[0]


@pytest.mark.parametrize(
    ("status", "reason"),
    [(Status.SUPERSEDED, "superseded"), (Status.ARCHIVED, "archived"), (Status.DELETED, "deleted")],
)
def test_status_that_kept_a_note_out_is_named(collection: Collection, status: Status, reason: str) -> None:
    id = collection.add("The wifi password is swordfish.")
    collection.change(id, status=str(status))
    kept = collection.explain("wifi password", id).kept_out
    assert kept is not None
    assert kept.reason == reason


def test_what_superseded_a_note_is_named(collection: Collection) -> None:
    old, new = collection.add("The office is in Porto."), collection.add("The office is in Lisbon.")
    collection.supersede(old, new)
    assert new[:8] in collection.explain("where is the office", old).words()


def test_the_filter_field_that_kept_a_note_out_is_named(collection: Collection) -> None:
    id = collection.add("Tea.", tags=["drinks"], speaker="Ana")
    why = collection.explain("tea", id, filter=Filter(tags=("food",), speaker="ana"))
    assert why.kept_out is not None
    assert why.kept_out.reason == "filtered"
    assert "tags" in why.kept_out.detail
    assert "speaker" not in why.kept_out.detail
    assert {leg.leg for leg in why.legs} >= {"dense", "lexical"}


def test_a_note_below_k_is_told_its_place(collection: Collection) -> None:
    ids = [collection.add("green tea " + "and more " * n) for n in range(6)]
    order = collection.found("green tea", k=6)
    assert set(order) == set(ids)
    why = collection.explain("green tea", order[4], k=3)
    assert (why.place, why.kept_out.reason if why.kept_out else None) == (5, "below_k")
    assert why.score > 0
    assert "5th" in why.words()


def test_minimums_that_kept_a_note_out_are_named(collection: Collection) -> None:
    collection.add("green tea")
    far = collection.add("a train to somewhere else altogether")
    near_only = collection.explain("green tea", far, filter=Filter(minimum_cosine=0.9)).kept_out
    good_only = collection.explain("green tea", far, minimum_score=0.99).kept_out
    assert near_only is not None
    assert good_only is not None
    assert (near_only.reason, good_only.reason) == ("below_cosine", "below_score")


def test_a_note_that_no_leg_had_still_learns_how_near_it_was(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(candidates=2)
    for n in range(5):
        memory.add(f"green tea {n}")
    far = memory.add("a train to somewhere else altogether")
    why = memory.explain("green tea", far)
    assert why.kept_out is not None
    assert why.kept_out.reason == "no_candidate"
    assert [leg.leg for leg in why.legs] == ["dense"]
    assert why.legs[0].rank is None


def test_an_empty_question_and_an_unknown_note_are_told_apart(collection: Collection) -> None:
    id = collection.add("Tea.")
    kept = collection.explain(" ", id).kept_out
    assert kept is not None
    assert kept.reason == "no_question"
    with pytest.raises(NoteNotFound):
        collection.explain("tea", "nobody")


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (21, "21st"), (113, "113th")],
)
def test_ordinals_read_as_english(number: int, text: str) -> None:
    assert ordinal(number) == text
