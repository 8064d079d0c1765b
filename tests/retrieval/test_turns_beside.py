"""What the turns around a note lend it: words of the same talk, decayed, as the neighbours are now."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from amem.note import Kind, Status
from amem.query import Filter
from amem.retrieval.legs import Turns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from asking import Collection
    from briefed import Open

    from amem import Hit

WORDS = {"legs": ("lexical",), "k": 20}


def talk(collection: Collection, *said: str, name: str = "talk", first: int = 1, **fields: str) -> list[str]:
    return [
        collection.add(text, conversation_id=name, ordinal=ordinal, kind=Kind.FACT, **fields)
        for ordinal, text in enumerate(said, start=first)
    ]


def scores(collection: Collection, question: str) -> dict[str, float]:
    return {hit.id: hit.score for hit in collection.ask(question, **WORDS)}


@pytest.mark.parametrize(
    ("said", "question"),
    [
        (["The ferry to Setúbal leaves at nine.", "Only on weekdays, mind."], "the ferry to Setúbal"),
        (["去塞图巴尔的渡轮九点开。", "只在工作日哦。"], "塞图巴尔的渡轮"),
    ],
)
def test_a_reply_is_found_by_the_words_of_what_it_replies_to(
    collection: Collection, said: list[str], question: str
) -> None:
    before, reply = talk(collection, *said)
    assert collection.found(question, **WORDS) == [before, reply]


def test_without_a_window_each_note_stands_alone(open_collection: Callable[..., Collection]) -> None:
    alone = open_collection(window=0)
    before, _ = talk(alone, "The ferry leaves at nine.", "Only on weekdays, mind.")
    assert alone.found("ferry", **WORDS) == [before]


def test_what_was_said_before_lends_more_than_what_was_said_after(collection: Collection) -> None:
    earlier, host, later = talk(collection, "Well, well.", "The ferry leaves at nine.", "Good, good.")
    found = scores(collection, "ferry")
    assert found[host] > found[later] > found[earlier] > 0


def test_further_turns_lend_less_and_beyond_the_window_nothing(open_collection: Callable[..., Collection]) -> None:
    collection = open_collection(window=2)
    host, *after = talk(collection, "The ferry leaves at nine.", "One.", "Two.", "Three.")
    found = scores(collection, "ferry")
    assert found[host] > found[after[0]] > found[after[1]] > 0
    assert after[2] not in found


def test_a_word_that_is_said_all_around_counts_once(collection: Collection) -> None:
    talk(collection, "The ferry.", "The ferry.", "Yes.", "The ferry.", "The ferry.", name="all around")
    _, beside = talk(collection, "The ferry.", "Yes, yes.", name="beside")
    found = {hit.content: hit.score for hit in collection.ask("ferry", **WORDS)}
    assert found["Yes."] == pytest.approx(found["Yes, yes."], rel=0.01), beside


def test_a_note_that_holds_the_words_beats_one_that_borrows_them(collection: Collection) -> None:
    talk(collection, "The ferry leaves at nine.", "Only on weekdays, mind.")
    own = collection.add("A ferry on weekdays.")
    assert collection.found("ferry weekdays", **WORDS)[0] == own


def test_what_was_said_over_an_hour_earlier_is_another_talk(collection: Collection) -> None:
    host = talk(collection, "The ferry leaves at nine.", at="2026-01-01T10:00")
    talk(collection, "Good morning.", first=2, at="2026-01-01T12:30")
    assert collection.found("ferry", **WORDS) == host


def test_other_conversations_and_notes_outside_any_lend_nothing(collection: Collection) -> None:
    host = talk(collection, "The ferry leaves at nine.", name="one")
    talk(collection, "Only on weekdays.", name="two", first=2)
    collection.add("Somewhere else entirely.")
    assert collection.found("ferry", **WORDS) == host


def test_an_edited_neighbour_lends_the_words_it_has_now(collection: Collection) -> None:
    host, reply = talk(collection, "The ferry leaves at nine.", "Only on weekdays, mind.")
    collection.change(host, content="The tram leaves at ten.")
    assert collection.found("ferry", **WORDS) == []
    assert collection.found("tram", **WORDS) == [host, reply]


def test_a_neighbour_that_was_superseded_lends_nothing(collection: Collection) -> None:
    host, _ = talk(collection, "The ferry leaves at nine.", "Only on weekdays, mind.")
    newer = collection.add("The boat leaves at ten.")
    collection.supersede(host, newer)
    assert collection.found("ferry", **WORDS) == []


def test_what_another_process_changes_lends_from_the_next_search_on(
    open_collection: Callable[..., Collection], tmp_path: Path
) -> None:
    ours, theirs = open_collection(folder=tmp_path / "one"), open_collection(folder=tmp_path / "one")
    host, reply = talk(theirs, "The ferry leaves at nine.", "Only on weekdays, mind.")
    assert ours.found("ferry", **WORDS) == [host, reply]
    (between,) = talk(theirs, "From the old pier.", first=2)
    theirs.change(reply, ordinal=3)
    assert ours.found("ferry", **WORDS) == [host, between, reply]
    theirs.change(between, status=str(Status.ARCHIVED))
    theirs.change(host, content="The tram leaves at ten.")
    assert ours.found("tram", **WORDS) == [host, reply]
    theirs.change(reply, conversation_id="elsewhere")
    assert ours.found("tram", **WORDS) == [host]
    theirs.change(reply, conversation_id="talk")
    assert ours.found("tram", **WORDS) == [host, reply]
    with theirs.store.write() as session:
        session.notes.purge([host])
    assert ours.found("tram", **WORDS) == []


def test_turns_that_follow_changes_are_those_read_anew(open_collection: Callable[..., Collection]) -> None:
    collection, chance = open_collection(), Random(7)
    with collection.store.read() as session:
        followed = Turns.of(session, 3)
    ids: list[str] = []
    for step in range(60):
        if step % 3 or not ids:
            place = {
                "conversation_id": chance.choice(("a", "b", "c", None)),
                "ordinal": chance.choice((1, 2, 2, 5, 8, -3)),
            }
            ids.append(collection.add(f"turn {step}", at=f"2026-01-0{step % 8 + 1}", **place))
        else:
            place = {"conversation_id": chance.choice(("a", "d")), "ordinal": chance.choice((2, 4, 6))}
            collection.change(chance.choice(ids), **place)
        if step % 4 == 0:
            with collection.store.read() as session:
                followed = Turns.of(session, 3, followed)
                anew = Turns.of(session, 3)
            assert placed(followed) == placed(anew)
    assert len(placed(followed)) > 20


def placed(turns: Turns) -> dict[int, object]:
    """For each turn its conversation, its place, and who stands beside it."""
    names = {number: name for name, number in turns.names.items()}
    found = {}
    for key, talk, ordinal in zip(turns.keys.tolist(), turns.chats.tolist(), turns.ordinals.tolist(), strict=True):
        near = turns.beside(np.array([key]))
        found[key] = names[talk], ordinal, near.neighbours.tolist(), near.steps.tolist()
    return found


def test_nobody_outside_the_scope_lends_words(open_memory: Open) -> None:
    memory = open_memory()
    memory.add("The ferry leaves at nine.", conversation_id="talk", ordinal=1, user_id="ana")
    reply = memory.add("Only on weekdays, mind.", conversation_id="talk", ordinal=2, user_id="ben").id

    def lent(hits: list[Hit]) -> list[str]:
        return [
            word
            for hit in hits
            if hit.id == reply
            for leg in hit.explanation.legs
            for each in leg.lent
            for word in each.words
        ]

    assert lent(memory.search("ferry weekdays", 5)) == ["ferry"]
    assert lent(memory.scoped(user_id="ben").search("ferry weekdays", 5)) == []


def test_a_filter_says_who_may_answer_and_not_who_may_lend(collection: Collection) -> None:
    talk(collection, "The ferry leaves at nine.", speaker="Ana")
    (reply,) = talk(collection, "Only on weekdays, mind.", first=2, speaker="Ben")
    assert collection.found("ferry", filter=Filter(speaker="Ben"), **WORDS) == [reply]


def test_the_explanation_says_who_lent_which_words(collection: Collection) -> None:
    host, reply = talk(collection, "The ferry to Porto leaves at nine.", "Only on weekdays to Porto, mind.")
    hit = next(hit for hit in collection.ask("ferry to Porto", **WORDS) if hit.id == reply)
    (share,) = hit.explanation.legs
    assert share.matched == ("porto",)
    assert [(each.id, each.steps, each.words) for each in share.lent] == [(host, -1, ("ferry",))]


def test_notes_in_no_conversation_score_as_plain_bm25(open_collection: Callable[..., Collection]) -> None:
    windowed, plain = open_collection(), open_collection(window=0)
    texts = ["Tea with Ana.", "Green tea and black tea.", "Coffee for Ben.", "Tea, tea, tea."]
    for each in (windowed, plain):
        for text in texts:
            each.add(text)
    told = [[(hit.content, hit.score) for hit in each.ask("green tea", **WORDS)] for each in (windowed, plain)]
    assert told[0] == told[1]
