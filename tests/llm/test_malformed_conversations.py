"""Whatever a model answers about a conversation, what was said is kept and no note that it was not shown is touched."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from malformed import ANALYSIS, ANSWERS, EXTRACTION, RUNS
from malformed_collection import NO_LINKS, Ground, readable

from amem.note import Message, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem import AgenticMemorySystem
    from amem.conversation.ingest import Learner

pytestmark = pytest.mark.thorough

EXAMPLES_REMEMBERED = 40
EXTRACTIONS = st.one_of(ANSWERS, ANSWERS, st.just(json.dumps(EXTRACTION)))


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    """Every example has a copy of it to itself."""
    with closing(Ground()) as made:
        yield made


def learner_of(memory: AgenticMemorySystem) -> Learner:
    return memory.parts.learner


@given(analysis=ANSWERS, evolution=ANSWERS, extraction=EXTRACTIONS, number=st.integers(0, 10**6))
@settings(max_examples=EXAMPLES_REMEMBERED, **RUNS)
def test_what_was_said_is_kept_and_a_model_touches_no_note_that_it_was_not_shown_whatever_it_extracts(
    ground: Ground, analysis: str, evolution: str, extraction: str, number: int
):
    with ground.copy() as collection:
        collection.answers(analysis, evolution, extraction)
        learner = learner_of(collection.memory)
        said = [f"I fired the kiln {number} times.", "The celadon came out green.", "And no crack."]
        report = learner.remember([Message(Role.USER, text, speaker="Ana") for text in said], conversation="kilns")
        assert [message.content for note in report.episodes for message in learner.expand(note)] == said
        assert not collection.lost()
        model, shown = collection.chat.name, collection.shown()
        assert collection.changes(by=model).keys() <= shown
        assert {link.target for link in collection.links(by=model)} & collection.old <= shown
        assert collection.bystander not in shown | collection.changes().keys()
        for note in collection.new():
            readable(*note.tags, *note.keywords, *note.content.splitlines())


def test_an_extraction_that_can_be_used_becomes_notes(ground: Ground):
    with ground.copy() as collection:
        collection.answers(json.dumps(ANALYSIS), NO_LINKS, f"```json\n{json.dumps(EXTRACTION)}\n```")
        said = [
            Message(Role.USER, text, speaker="Ana")
            for text in ("I fire at night!", "我喜欢青瓷。", "Load it, then light it.")
        ]
        report = learner_of(collection.memory).remember(said, conversation="usable")
        assert (len(report.learnt), report.degraded) == (3, False)
