"""Explanations: shares that add up, words for people, and what kept a note out."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from amem.errors import NoteNotFound
from amem.note import Kind, Layer, LinkType, Overturned, Status
from amem.query import Filter
from amem.retrieval.explanation import ordinal

if TYPE_CHECKING:
    from collections.abc import Callable

    from asking import Collection

    from amem.protocols import Embedder

DAY = datetime(2026, 1, 15, tzinfo=UTC)


def test_words_say_which_leg_found_it_where_and_by_what(collection: Collection) -> None:
    collection.add("We will keep MySQL for the blog.")
    wanted = collection.add("We moved the invoices from MySQL to PostgreSQL.", entities=["PostgreSQL"])
    for n in range(9):
        collection.add(f"Something else {n}.")
    words = collection.explain("Why PostgreSQL and not MySQL?", wanted).words()
    assert "1st by words (postgresql, mysql)" in words
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


def test_a_chain_of_successors_is_followed_to_the_note_that_holds_now(collection: Collection) -> None:
    ids = [collection.add(f"The office is in {town}.") for town in ("Porto", "Lisbon", "Faro", "Braga")]
    for old, new in pairwise(ids):
        collection.supersede(old, new)
    kept = collection.explain("where is the office", ids[0]).kept_out
    assert kept is not None
    assert kept.by == tuple(ids[1:])
    assert kept.detail == f"it was superseded by {ids[1][:8]} and then by {ids[2][:8]} and then by {ids[3][:8]}"
    # A circle, which undoing in an odd order can leave, is walked once.
    collection.supersede(ids[3], ids[0])
    again = collection.explain("where is the office", ids[0]).kept_out
    assert again is not None
    assert again.by == tuple(ids[1:])


def test_what_the_filter_asks_for_and_the_note_is_instead_are_said(collection: Collection) -> None:
    id = collection.add("Tea.", tags=["drinks"], speaker="Ana", kind=Kind.FACT, metadata={"user_id": "ana"})
    why = collection.explain("tea", id, filter=Filter(tags=("food",), speaker="ana"))
    assert why.kept_out is not None
    assert why.kept_out.reason == "filtered"
    assert why.kept_out.conditions == ("tags",)
    assert why.words().startswith("It does not carry #food.")
    assert {leg.leg for leg in why.legs} >= {"dense", "lexical"}


@pytest.mark.parametrize(
    ("conditions", "detail"),
    [
        ({"tags": ("drinks", "food", "fun")}, "it does not carry #food or #fun"),
        ({"kinds": (Kind.EPISODE, Kind.ERROR)}, "it is a fact, not an episode or an error"),
        ({"layers": (Layer.LONG_TERM,)}, "it is in short-term memory, not in long-term memory"),
        ({"category": "work"}, "its category is Home, not work"),
        ({"speaker": "Bo"}, "it was said by Ana, not by Bo"),
        ({"conversation": "talk-2"}, "it is of the conversation talk-1, not of talk-2"),
        ({"user_id": "bo"}, "its user_id is ana, not bo"),
        ({"session_id": "monday"}, "it has no session_id, and monday was asked for"),
        ({"metadata": {"project": "apollo"}}, "its metadata does not say project=apollo"),
        ({"since": DAY}, "it is about 2026-01-01, before 2026-01-15"),
        ({"until": DAY - timedelta(days=20)}, "it is about 2026-01-01, not before 2025-12-26"),
        ({"as_of": DAY - timedelta(days=20)}, "it does not hold on 2025-12-26"),
        ({"known_at": DAY}, "it was not known yet on 2026-01-15"),
        ({"statuses": (Status.ARCHIVED,)}, "it is active, and others were asked for"),
        ({"tags": ("food",), "speaker": "Bo"}, "it does not carry #food; it was said by Ana, not by Bo"),
    ],
)
def test_each_condition_that_fails_says_what_the_note_is(
    collection: Collection, conditions: dict[str, Any], detail: str
) -> None:
    id = collection.add(
        "Tea.",
        tags=["drinks"],
        category="Home",
        speaker="Ana",
        conversation_id="talk-1",
        metadata={"user_id": "ana", "project": "gemini"},
    )
    kept = collection.explain("tea", id, filter=Filter(**conditions)).kept_out
    assert kept is not None
    assert (kept.reason, kept.detail, kept.conditions) == ("filtered", detail, tuple(conditions))


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
    far = collection.add("green trains go somewhere else altogether")
    near_only = collection.explain("green tea", far, filter=Filter(minimum_cosine=0.9)).kept_out
    good_only = collection.explain("green tea", far, minimum_score=0.99).kept_out
    assert near_only is not None
    assert good_only is not None
    assert (near_only.reason, good_only.reason) == ("below_cosine", "below_score")


def test_a_note_in_which_nothing_answers_still_learns_how_near_it_was(
    open_collection: Callable[..., Collection],
) -> None:
    memory = open_collection(candidates=2)
    for n in range(5):
        memory.add(f"green tea {n}")
    far = memory.add("a train to somewhere else altogether")
    why = memory.explain("green tea", far)
    assert why.kept_out is not None
    assert why.kept_out.reason == "no_match"
    assert [(leg.leg, leg.rank) for leg in why.legs if leg.raw] == [("dense", None)]


def test_a_note_that_others_beat_by_every_leg_is_told_so_and_what_it_has(
    open_collection: Callable[..., Collection],
) -> None:
    memory = open_collection(candidates=2)
    ids = [memory.add("green tea " + "and more " * n) for n in range(6)]
    order = memory.found("green tea", k=6)
    (worst, *_) = [id for id in ids if id not in order]
    why = memory.explain("green tea", worst, k=6)
    assert why.kept_out is not None
    assert (why.kept_out.reason, why.place, why.score) == ("no_candidate", None, 0.0)
    assert "green, tea" in why.words()


def test_turns_that_lent_their_words_are_named(collection: Collection) -> None:
    asked = collection.add("Where did the invoices go?", conversation_id="talk", ordinal=1, at="2026-01-01T10:00")
    reply = collection.add("Into the blue folder.", conversation_id="talk", ordinal=2, at="2026-01-01T10:01")
    for n in range(6):
        collection.add(f"Something else {n}.")
    why = collection.explain("invoices", reply)
    (lexical,) = (leg for leg in why.legs if leg.leg == "lexical")
    assert [(lent.id, lent.steps, lent.words) for lent in lexical.lent] == [(asked, -1, ("invoices",))]
    assert "(invoices from the turn before)" in why.words()
    assert not collection.explain("invoices", asked).legs[0].lent


def test_the_sentence_that_matched_is_shown_with_its_words(collection: Collection) -> None:
    id = collection.add("We met on Monday. The invoices moved to PostgreSQL. Then we had lunch.")
    part = collection.explain("where were invoices moved", id).passage
    assert part.text == "The invoices moved to PostgreSQL."
    assert [part.text[start:end] for start, end in part.spans] == ["invoices", "moved"]


def test_of_a_note_without_a_word_asked_for_the_sentence_nearest_in_meaning_is_shown(
    open_collection: Callable[..., Collection], minilm: Embedder
) -> None:
    memory = open_collection(embedder=minilm)
    id = memory.add("The meeting began late. Afterwards everybody had pizza and salad. The bus was full.")
    why = memory.explain("What food was eaten?", id)
    assert why.passage.text == "Afterwards everybody had pizza and salad."
    assert why.passage.spans == ()


def test_a_hit_shows_where_it_matched_and_one_found_by_meaning_alone_its_nearest_sentence(
    open_collection: Callable[..., Collection], minilm: Embedder
) -> None:
    memory = open_collection(embedder=minilm)
    lunch = memory.add(f"The meeting began late and {'went on ' * 30}. Afterwards all had pizza and salad.")
    cat = memory.add(f"今天{'很累' * 90}。芝麻是只橘白猫，怕吸尘器。")

    (meant,) = memory.ask("What food was eaten?", k=1, passages=True)
    assert (meant.id, meant.passage.text) == (lunch, "Afterwards all had pizza and salad.")
    hits = {hit.id: hit for hit in memory.ask("芝麻怕什么", k=2, passages=True)}
    assert hits[cat].passage.text == "芝麻是只橘白猫，怕吸尘器。"
    assert ("芝麻", True) in hits[cat].passage.pieces()


def test_what_no_longer_holds_is_marked_in_what_a_hit_shows(collection: Collection) -> None:
    collection.add(f"{'We talked for hours. ' * 12}I live in Rome. I like opera.")
    (hit,) = collection.ask("Rome", k=1)
    hit = replace(hit, overturned=(Overturned("I live in Rome.", datetime(2026, 6, 22, tzinfo=UTC)),))
    assert "I live in Rome (until 2026-06-22, taken back)." in hit.passage.text


def test_how_the_question_was_read_is_part_of_the_explanation(collection: Collection) -> None:
    id = collection.add("We chose SQLite because it needs no server.")
    told = collection.explain("为什么选择 SQLite?", id).to_dict()["reading"]
    assert told["question"] == "为什么选择 SQLite?"
    assert told["intents"] == ["causal"]
    assert "为什么" not in told["lexical"]


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
