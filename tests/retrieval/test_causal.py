"""Whoever asks why is told what led to it, though it shares no word with the question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.note import LinkType, Status
from amem.query import Filter
from amem.storage.links import Links

if TYPE_CHECKING:
    from collections.abc import Callable

    from asking import Collection

CAUSED, DERIVED, SUPPORTS = LinkType.CAUSED_BY, LinkType.DERIVED_FROM, LinkType.SUPPORTS
ENGLISH = "why did we choose SQLite?"
CHINESE = "为什么选择 SQLite？"


@pytest.fixture(params=["english", "chinese"])
def told(request: pytest.FixtureRequest, collection: Collection) -> tuple[Collection, str, list[str]]:
    """A collection, a question, and a decision with its cause and that one's; noise shares more words than they do."""
    if request.param == "english":
        texts = ["We choose SQLite for the labels.", "Nobody looks after servers at night.", "Tomas moved to Hamburg."]
        noise, question = ("Choose a font for slide {}.", "SQLite release 3.{}."), ENGLISH
    else:
        texts = ["标签缓存选择 SQLite。", "夜里没有人照看服务器。", "托马斯搬去了汉堡。"]
        noise, question = ("第 {} 页幻灯片选择字体。", "SQLite 3.{} 发布。"), CHINESE
    notes = [collection.add(text) for text in texts]
    for number in range(12):
        collection.add(noise[number % 2].format(number))
    collection.link(notes[0], notes[1], CAUSED, "it gives the servers as the cause")
    collection.link(notes[1], notes[2], CAUSED)
    return collection, question, notes


def test_a_why_finds_the_cause_right_behind_what_it_caused(told: tuple[Collection, str, list[str]]) -> None:
    memory, question, (decision, cause, root) = told
    hits = memory.ask(question, k=3)
    assert [hit.id for hit in hits] == [decision, cause, root]
    assert [step.to_dict() for step in hits[1].via] == [
        {"from": decision, "type": "caused_by", "hop": 1, "reason": "it gives the servers as the cause"}
    ]
    assert [(step.from_id, step.hop) for step in hits[2].via] == [(cause, 2), (decision, 1)]
    assert hits[1].is_neighbor


def test_without_the_router_the_cause_is_not_found(
    open_collection: Callable[..., Collection], told: tuple[Collection, str, list[str]]
) -> None:
    deaf = open_collection(router=False)
    decision = deaf.add("We choose SQLite for the labels. 标签缓存选择 SQLite。")
    cause = deaf.add("Nobody looks after servers at night.")
    for number in range(12):
        deaf.add(f"Choose a font for SQLite slide {number}. 第 {number} 页幻灯片选择什么字体介绍 SQLite？")
    deaf.link(decision, cause, CAUSED)
    _, question, _ = told
    assert cause not in deaf.found(question, k=3)


def test_other_questions_neither_find_it_nor_look_for_it(
    told: tuple[Collection, str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked(*_: object) -> None:
        raise AssertionError("links were read")

    monkeypatch.setattr(Links, "behind", looked)
    memory, _, (_, cause, _) = told
    assert cause not in memory.found("choose SQLite 选择", k=5)


def test_the_numbers_of_a_cause_add_up(told: tuple[Collection, str, list[str]]) -> None:
    memory, question, (_, cause, root) = told
    for id in (cause, root):
        why = memory.explain(question, id, k=5)
        assert why.kept_out is None
        assert why.link_share > 0
        assert sum(leg.share for leg in why.legs) + why.link_share == pytest.approx(why.score, abs=1e-6)


def test_what_supports_and_what_it_was_derived_from_answer_a_why_as_well(collection: Collection) -> None:
    memory = collection
    decision, source, witness, effect = (
        memory.add(text) for text in ("We choose SQLite.", "Minutes of Monday.", "A benchmark.", "Backups are files.")
    )
    memory.link(decision, source, DERIVED)
    memory.link(witness, decision, SUPPORTS)
    memory.link(effect, decision, CAUSED)
    found = memory.found(ENGLISH, k=3)
    assert set(found) == {decision, source, witness}


def test_where_nothing_is_embedded_the_words_give_the_seeds(collection: Collection) -> None:
    decision = collection.add("We choose SQLite.", embed=False)
    cause = collection.add("Servers stand still at night.", embed=False)
    collection.link(decision, cause, CAUSED)
    assert collection.found(ENGLISH, k=2) == [decision, cause]


def test_a_cause_behind_a_superseded_one_is_found_and_that_one_only_when_asked_for(
    told: tuple[Collection, str, list[str]],
) -> None:
    memory, question, (decision, cause, root) = told
    newer = memory.add("Somebody looks after the machines at any time.")
    memory.supersede(cause, newer)
    assert memory.found(question, k=2) == [decision, root]
    both = Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED))
    assert memory.found(question, k=3, filter=both) == [decision, cause, root]


def test_a_cause_passes_the_filter_or_stays_out(told: tuple[Collection, str, list[str]]) -> None:
    memory, question, (decision, cause, root) = told
    for id in (decision, root):
        memory.change(id, tags=["labels"])
    assert memory.found(question, k=9, filter=Filter(tags=("labels",))) == [decision, root]
    memory.change(root, status=str(Status.DELETED))
    assert memory.found(question, k=9, filter=Filter(tags=("labels",))) == [decision]
    assert cause in memory.found(question, k=3)


def test_a_doubtful_cause_stands_lower_than_a_sure_one(collection: Collection) -> None:
    decision, doubtful, sure = (collection.add(text) for text in ("We choose SQLite.", "Rumour.", "Outage."))
    collection.link(decision, doubtful, CAUSED, confidence=0.5)
    collection.link(decision, sure, CAUSED, confidence=0.9)
    assert collection.found(ENGLISH, k=3) == [decision, sure, doubtful]


def test_thirty_origins_of_one_note_do_not_take_the_page_from_what_was_found(collection: Collection) -> None:
    summary = collection.add("Summary: we choose SQLite.")
    for number in range(30):
        collection.link(summary, collection.add(f"Minutes number {number}."), DERIVED, confidence=1.0)
    direct = [collection.add(f"The reasons to choose SQLite, part {number}.") for number in range(4)]
    assert set(collection.found(ENGLISH, k=5)) == {summary, *direct}


def test_notes_that_cause_each_other_are_found_once(collection: Collection) -> None:
    one, other = collection.add("We choose SQLite."), collection.add("Rain.")
    collection.link(one, other, CAUSED)
    collection.link(other, one, CAUSED)
    assert collection.found(ENGLISH, k=9) == [one, other]


def test_the_short_list_of_causes_is_the_head_of_the_long_one(told: tuple[Collection, str, list[str]]) -> None:
    memory, question, _ = told
    everything = memory.found(question, k=50)
    for k in (1, 2, 3, 7):
        assert memory.found(question, k=k) == everything[:k]
