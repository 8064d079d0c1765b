"""Near-identical notes become one, with the real embedder, and one undo takes all of it back."""

from __future__ import annotations

import random
from datetime import timedelta
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from amem import NewNote
from amem.maintenance.merge_candidates import Candidates
from amem.maintenance.sameness import OTHER_WORDS, difference
from amem.note import LinkType, Source, Status
from amem.query import Filter
from amem.testing import HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.protocols import Embedder
    from amem.testing import FrozenClock
    from tests.conftest import Open

EVERY = Filter(statuses=tuple(Status))
HOURS = "The office closes at 6 pm on Fridays"
AGAIN = "On Fridays the office closes at 6 pm"


@pytest.fixture
def memory(open_memory: Open, minilm: Embedder) -> AgenticMemorySystem:
    return open_memory(embedder=minilm, llm_backend="offline", analyst=None)


def state(memory: AgenticMemorySystem) -> dict[str, object]:
    """All that a reader sees of every note, but for how many versions there are."""
    found: dict[str, object] = {}
    for note in memory.list(EVERY, limit=1000):
        links = [(link.source, link.target, link.type, link.reason) for link in memory.links(note.id)]
        fields = {name: getattr(note, name) for name in type(note).__slots__ if name != "version"}
        if note.status is not Status.DELETED:
            found[note.id] = (fields, sorted(links))
    return found


def test_two_wordings_become_one_note_and_the_parts_step_back(memory: AgenticMemorySystem) -> None:
    first, second = memory.add_note(HOURS, tags=["office"]), memory.add_note(AGAIN, tags=["hours"])
    third = memory.add_note("The office opens at 8 am on Fridays")
    report = memory.maintain()

    assert report.consolidated == 2
    assert {(reason.id, reason.what) for reason in report.reasons if reason.what == "merged"} == {
        (first, "merged"),
        (second, "merged"),
    }
    (made,) = [note for note in memory.list() if note.id != third and "consolidated" in note.tags]
    assert {"office", "hours", "consolidated"} <= set(made.tags)
    for id in (first, second):
        part = memory.read(id)
        assert part is not None
        assert (part.status, part.superseded_by) == (Status.SUPERSEDED, made.id)
        assert memory.history(id)[-1].cause == "merged"
    derived = {link.target for link in memory.links(made.id) if link.type is LinkType.DERIVED_FROM}
    assert derived == {first, second}
    hit = memory.search("when does the office close on Friday?", 1, touch=False)[0]
    assert hit.id == made.id


def test_undoing_the_maintenance_restores_every_note(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    for text in (HOURS, AGAIN, "Ana feeds the office cat on Fridays", "我对虾过敏。", "记住：我对虾过敏"):
        memory.add_note(text)
    before = state(memory)
    report = memory.maintain()
    assert report.consolidated >= 2
    assert state(memory) != before

    undone = memory.undo(report.operation)

    assert undone.kept == ()
    assert state(memory) == before
    clock.advance(days=1)
    assert memory.maintain().consolidated == 0, "what somebody took back is left alone"


def test_a_dry_run_says_what_would_be_and_writes_nothing(memory: AgenticMemorySystem) -> None:
    memory.add_notes([HOURS, AGAIN])
    before = state(memory), memory.log()
    report = memory.maintain(dry_run=True)
    assert report.consolidated == 2
    assert (state(memory), memory.log()) == before
    assert memory.maintain().consolidated == 2
    assert memory.maintain().consolidated == 0


def test_links_sources_witnesses_and_uses_come_along(memory: AgenticMemorySystem) -> None:
    other = memory.add_note("The caretaker locks the gate")
    note = Source("s1", "file", None, "handbook.md", None, None, HOURS)
    first = memory.add(HOURS, source=note).id
    second = memory.add_note(AGAIN)
    memory.link(first, other, "supports", "the gate is locked then")
    memory.link(other, second, "caused_by", "closing time")
    memory.search(AGAIN, 1)
    used = memory.read(memory.search(AGAIN, 1, touch=False)[0].id)
    assert used is not None
    memory.maintain()

    (made,) = [each for each in memory.list() if "consolidated" in each.tags]
    assert (other, LinkType.SUPPORTS) in {(link.target, link.type) for link in memory.links(made.id)}
    assert (other, LinkType.CAUSED_BY) in {(link.source, link.type) for link in memory.backlinks(made.id)}
    assert made.id not in {link.target for link in memory.links(made.id)}
    assert [source.id for source in memory.sources([made.id])[made.id]] == ["s1"]
    assert made.retrieval_count == used.retrieval_count == 1
    # The document and the user both say so: one witness besides the first.
    lone = memory.read(first)
    assert lone is not None
    assert made.trust > lone.trust


def test_what_a_person_edited_or_pinned_is_never_merged_away(memory: AgenticMemorySystem) -> None:
    first, second = memory.add_note(HOURS), memory.add_note(AGAIN)
    memory.update(first, context="As the caretaker wrote it")
    assert memory.maintain().consolidated == 0
    third = memory.add_note("The office closes at 6pm on Fridays!")
    memory.pin(third)
    assert memory.maintain().consolidated == 0
    assert {note.id for note in memory.list()} == {first, second, third}


def test_a_note_that_comes_later_joins_the_merged_one(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    memory.add_notes([HOURS, AGAIN])
    memory.maintain()
    clock.advance(days=10)
    memory.add_note("Remember: the office closes on Fridays at 6 pm.")
    assert memory.maintain().consolidated == 2
    (made,) = memory.list()
    assert "consolidated" in made.tags
    assert made.at is not None
    assert clock.now() - made.at == timedelta(days=10)


def test_chinese_texts_that_only_sound_alike_to_the_embedder_stay(memory: AgenticMemorySystem) -> None:
    texts = ["小林住在上海的老房子里", "小张住在上海的老房子里", "小林的妹妹住在上海的老房子里"]
    same = [memory.add_note(text) for text in (texts[0], "记住：小林住在上海的老房子里")]
    others = [memory.add_note(text) for text in texts[1:]]
    merged = {reason.id for reason in memory.maintain().reasons if reason.what == "merged"}
    assert merged == set(same)
    assert {note.id for note in memory.list()} >= set(others)


def test_every_pair_that_the_rules_call_the_same_is_compared(open_memory: Open, clock: FrozenClock) -> None:
    memory = open_memory(embedder=HashEmbedder(), llm_backend="offline", analyst=None)
    chance = random.Random(5)
    forms = ("{} feeds the {} at 6 pm", "Remember: {} feeds the {} at 6 pm", "{}对{}过敏", "记住：{}对{}过敏")
    things = (("office cat", "虾"), ("old dog", "花生"), ("two hens", "牛奶"), ("neighbour's goat", "鸡蛋"))
    given = [
        NewNote(
            form.format(who, thing["对" in form]),
            (clock.now() - timedelta(days=chance.randrange(60))).isoformat(),
            fields={"user_id": "u2"} if chance.random() < 0.2 else {},
        )
        for form in forms
        for who in ("Ana", "Bruno", "Carla", "小林", "小张")
        for thing in things
    ]
    memory.add_notes(given)
    collection = memory.parts.collection
    settings = collection.settings
    with collection.store.read() as session:
        keys = session.notes.keys(Filter())
    candidates = Candidates(collection.dense, keys, cosine=settings.merge_cosine, days=settings.merge_days)
    with collection.store.read() as session:
        notes = {key: note for key, (note, _) in session.notes.bare(keys).items()}
        candidates.refresh(session)
    collection.dense.refresh()
    matrix = collection.dense.vectors(keys)
    near = {
        (keys[one], keys[other])
        for one, other in combinations(range(len(keys)), 2)
        if matrix[one] @ matrix[other] >= settings.merge_cosine
    }
    alike = {
        pair for pair in near if difference(*(notes[key] for key in pair), settings.merge_days) in ("", OTHER_WORDS)
    }
    assert len(alike) > 10
    assert alike <= candidates.pairs(keys) <= near
    pages = [candidates.pairs(keys[start : start + 9]) for start in range(0, len(keys), 9)]
    assert alike <= set().union(*pages) <= near
    assert sum(map(len, pages)) < 2 * len(set().union(*pages))


def test_a_killed_run_goes_on_without_merging_twice(home: Path, open_memory: Open, minilm: Embedder) -> None:
    memory = open_memory(embedder=minilm, llm_backend="offline", analyst=None)
    memory.add_notes([HOURS, AGAIN])
    memory.maintain()
    memory.close()
    again = open_memory(embedder=minilm, llm_backend="offline", analyst=None)
    assert again.maintain().consolidated == 0
    assert again.count() == 3
