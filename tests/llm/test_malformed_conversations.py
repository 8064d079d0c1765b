"""Whatever a model answers about a conversation, what was said is kept and no note that was not shown is touched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from malformed import ANALYSIS, ANSWERS, EXTRACTION, RUNS
from malformed_collection import Collection, readable

from amem.conversation.remember import Learner
from amem.llm.offline import OfflineAnalyst
from amem.message import Message, Role
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem import AgenticMemorySystem

EXAMPLES_REMEMBERED = 60
EXTRACTIONS = st.one_of(ANSWERS, ANSWERS, st.just(json.dumps(EXTRACTION)))


@pytest.fixture(scope="module")
def collection() -> Iterator[Collection]:
    """Shared by the examples of a property."""
    made = Collection()
    yield made
    made.close()


@pytest.fixture
def fresh() -> Iterator[Collection]:
    """With nothing in it but eight notes and one apart."""
    made = Collection()
    yield made
    made.close()


def learner_of(memory: AgenticMemorySystem) -> Learner:
    parts = (memory._store, memory._pipeline, memory._enricher, memory._vectorizer, memory._recall, memory._analyst)
    return Learner(*parts, OfflineAnalyst, memory._predicates, memory.settings, memory._clock, memory._owner)


@given(
    analysis=ANSWERS,
    evolution=ANSWERS,
    extraction=EXTRACTIONS,
    number=st.integers(0, 10**6),
)
@settings(max_examples=EXAMPLES_REMEMBERED, **RUNS)
def test_what_was_said_is_kept_and_no_note_that_was_not_shown_is_touched_whatever_is_extracted(
    collection: Collection, analysis: str, evolution: str, extraction: str, number: int
):
    collection.renew()
    before = collection.notes()
    collection.analysis = analysis.replace("UNSHOWN", collection.bystander)
    collection.evolution = evolution.replace("UNSHOWN", collection.bystander)
    collection.extraction = extraction.replace("UNSHOWN", collection.bystander)
    asked = len(collection.chat.prompts)
    learner = learner_of(collection.memory)
    said = [f"I fired the kiln {number} times, run {collection.added}.", "The celadon came out green.", "And no crack."]
    report = learner.remember(
        [Message(Role.USER, text, speaker="Ana") for text in said], conversation=f"{number} {collection.added}"
    )
    assert [message.content for note in report.episodes for message in learner.expand(note)] == said
    after = collection.notes()
    assert {id: after[id].content for id in before} == {id: note.content for id, note in before.items()}
    collection.contents = {id: note.content for id, note in after.items()}
    touched = {id for id, note in before.items() if after[id].version != note.version}
    asked_about = [prompt for prompt in collection.chat.prompts[asked:] if "MESSAGES" in prompt]
    known = {id for id, note in before.items() if note.kind is Kind.PROCEDURE and "<<<p1: " in asked_about[0]}
    shown = collection.shown(asked)
    assert collection.bystander not in shown
    assert touched <= shown | known
    for note in (after[id] for id in after.keys() - before.keys()):
        readable(*note.tags, *note.keywords, *(line for line in note.content.splitlines()))


def test_an_extraction_that_can_be_used_becomes_notes(fresh: Collection):
    fresh.analysis, fresh.evolution = json.dumps(ANALYSIS), '{"links": []}'
    fresh.extraction = f"```json\n{json.dumps(EXTRACTION)}\n```"
    said = [
        Message(Role.USER, text, speaker="Ana")
        for text in ("I fire at night!", "我喜欢青瓷。", "Load it, then light it.")
    ]
    report = learner_of(fresh.memory).remember(said, conversation="usable")
    assert (len(report.learnt), report.degraded) == (3, False)
