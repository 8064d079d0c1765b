"""Turns next to a hit: replies are read with their questions, other neighbours come in as links do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from amem.note import Status
from amem.query import Filter

if TYPE_CHECKING:
    from collections.abc import Callable

    from asking import Collection


def talk(memory: Collection, *turns: str, at: str = "2026-01-05T10:00", start: int = 1, **fields: Any) -> list[str]:
    """One conversation of two who take turns, "Ana" first."""
    return [
        memory.add(
            text, at=at, conversation_id="talk", ordinal=start + place, speaker=("Ana", "Ben")[place % 2], **fields
        )
        for place, text in enumerate(turns)
    ]


def noise(memory: Collection, count: int = 12) -> None:
    for number in range(count):
        memory.add(f"Pottery shop, shelf {number}, opens at nine.")


@pytest.fixture(params=["english", "chinese"])
def exchange(request: pytest.FixtureRequest, collection: Collection) -> tuple[Collection, str, list[str]]:
    """A question, and a talk whose second turn answers it in other words; much else shares words with the question."""
    if request.param == "english":
        notes = talk(
            collection, "How long have you been doing pottery?", "Three years in March!", "That is quite a while."
        )
        noise(collection)
        return collection, "How long has Ben been doing pottery?", notes
    notes = talk(collection, "你学陶艺学了多久？", "到三月就满三年了。", "时间真不短。")
    for number in range(12):
        collection.add(f"陶艺店第 {number} 排架子，九点开门。")
    return collection, "他学陶艺多久了？", notes


def test_a_reply_comes_with_its_question_in_a_plain_search(exchange: tuple[Collection, str, list[str]]) -> None:
    memory, question, (asked, reply, _) = exchange
    hits = memory.ask(question, k=3)
    assert [hit.id for hit in hits[:2]] == [asked, reply]
    assert [step.to_dict() for step in hits[1].via] == [{"from": asked, "type": "next", "hop": 1, "reason": ""}]


def test_the_numbers_of_a_reply_add_up(exchange: tuple[Collection, str, list[str]]) -> None:
    memory, question, (_, reply, _) = exchange
    why = memory.explain(question, reply)
    (hit,) = (hit for hit in memory.ask(question, k=5) if hit.id == reply)
    assert why.score == pytest.approx(hit.score, abs=1e-9)
    assert why.link_share > 0
    assert sum(leg.share for leg in why.legs) + why.link_share == pytest.approx(why.score, abs=1e-6)


def test_a_reply_that_answers_by_itself_is_no_mere_neighbour(collection: Collection) -> None:
    talk(collection, "Are there pottery classes?", "Pottery classes? On Tuesdays.")
    talk(collection, "Any pottery classes?", "Every Friday.", start=10)
    near = {hit.content: hit.is_neighbor for hit in collection.ask("pottery classes", k=9)}
    assert not near["Pottery classes? On Tuesdays."]
    assert not near["Any pottery classes?"]


def test_where_turns_stand_alone_replies_do_too(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(window=0)
    _, reply = talk(memory, "How long have you been doing pottery?", "Three years in March!")
    noise(memory)
    assert reply not in memory.found("How long has Ben been doing pottery?", k=5)


def ways(memory: Collection, id: str, **options: Any) -> list[tuple[str, str]]:
    """(type, from) of the way that lifts the note when pottery classes are asked for; empty when none does."""
    hits = [hit for hit in memory.ask("pottery classes", k=50, **options) if hit.id == id]
    return [(step.type, step.from_id) for hit in hits for step in hit.via]


def test_a_turn_that_tells_lifts_none_in_a_plain_search(collection: Collection) -> None:
    told, comment = talk(collection, "The pottery classes are on Tuesdays.", "How nice!")
    assert ways(collection, comment) == []
    assert ways(collection, comment, expand=True) == [("next", told)]


def test_with_links_the_turn_before_comes_too(collection: Collection) -> None:
    before, told = talk(collection, "What are you up to on Tuesdays?", "I go to pottery classes.")
    assert ways(collection, before) == []
    assert ways(collection, before, expand=True) == [("previous", told)]


def test_nobody_replies_to_themselves(collection: Collection) -> None:
    first = collection.add("Are there pottery classes?", conversation_id="talk", ordinal=1, speaker="Ana")
    second = collection.add("On Tuesdays.", conversation_id="talk", ordinal=2, speaker="Ana")
    assert ways(collection, second) == []
    collection.change(second, speaker="Ben")
    assert ways(collection, second) == [("next", first)]


def test_where_no_speaker_is_known_the_next_turn_counts_as_the_reply(collection: Collection) -> None:
    first = collection.add("有 pottery classes 吗？", conversation_id="talk", ordinal=1)
    second = collection.add("星期二有。", conversation_id="talk", ordinal=2)
    assert ways(collection, second) == [("next", first)]


@pytest.mark.parametrize(
    ("at", "start", "conversation"),
    [("2026-01-05T11:01", 2, "talk"), ("2026-01-05T10:00", 3, "talk"), ("2026-01-05T10:00", 2, "another")],
    ids=["an hour later", "a turn in between", "another conversation"],
)
def test_only_the_turn_right_after_in_the_same_talk_replies(
    collection: Collection, at: str, start: int, conversation: str
) -> None:
    talk(collection, "Are there pottery classes?", at="2026-01-05T10:00")
    later = collection.add("On Tuesdays.", at=at, conversation_id=conversation, ordinal=start, speaker="Ben")
    assert ways(collection, later) == []
    assert ways(collection, later, expand=True) == []


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.ARCHIVED, Status.DELETED])
def test_a_reply_that_is_out_stays_out(collection: Collection, status: Status) -> None:
    _, reply = talk(collection, "Are there pottery classes?", "On Tuesdays.")
    collection.change(reply, status=str(status))
    for expand in (False, True):
        assert reply not in collection.found("pottery classes", k=9, expand=expand)


def test_a_reply_passes_the_filter_too(collection: Collection) -> None:
    asked, reply = talk(collection, "Are there pottery classes?", "On Tuesdays.")
    collection.change(asked, tags=["classes"])
    only = Filter(tags=("classes",))
    assert collection.found("pottery classes", k=9, filter=only) == [asked]
    collection.change(reply, tags=["classes"])
    assert collection.found("pottery classes", k=9, filter=only) == [asked, reply]


def test_a_note_without_a_conversation_is_as_it_was(collection: Collection) -> None:
    ids = [collection.add(text) for text in ("Are there pottery classes?", "On Tuesdays.", "Pottery is fun.")]
    for expand in (False, True):
        assert all(ways(collection, id, expand=expand) == [] for id in ids)


def test_the_short_list_of_turns_is_the_head_of_the_long_one(collection: Collection) -> None:
    noise(collection, 5)
    talk(collection, *(f"Is shelf {n} of the pottery full?" if n % 2 else f"Number {n} is." for n in range(1, 9)))
    for expand in (False, True):
        everything = collection.found("pottery shelf", k=50, expand=expand)
        for k in (1, 2, 5, 9):
            assert collection.found("pottery shelf", k=k, expand=expand) == everything[:k]
