"""Whatever a model answers, nothing breaks, nothing is lost, and nothing that was not shown is touched.

Hypothesis writes the malformed answers, 2,340 in all with `test_malformed_conversations`, the same ones on every run:

* 620 texts, each given as the answer to analyze, to evolve and to extract, through every rung of the ladder
  (`test_no_answer_...`): 1,860 answers;
* 150 pairs, one answer to analyze and one to evolve, through ``add`` on real collections in memory, where up to three
  bad answers a question are read, stored, linked and rewritten (`test_a_note_...`): 300 answers;
* 60 triples, one answer to each question, through ``remember``: 180 answers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from malformed import ANALYSIS, ANSWERS, EVOLUTION, RUNS
from malformed_collection import Collection, readable

from amem.analysis import Analysis, Draft, KnownProcedure, Neighbour, Passage
from amem.errors import AmemError
from amem.llm.analyst import ModelAnalyst
from amem.llm.extraction_answers import PROCEDURES, STATEMENT, STATEMENTS, STEPS
from amem.message import Message, Role
from amem.note import Enrichment, Kind
from amem.testing import ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.note import MemoryNote

EXAMPLES_READ, EXAMPLES_ADDED = 620, 150

HANDLES = ("n1", "n2", "n3")


class NoTags:
    total = 0

    def document_frequency(self, terms):
        return dict.fromkeys(terms, 0)

    def tags(self):
        return {}


DRAFT = Draft("The kiln fires at night, 青瓷")
SHOWN = tuple(Neighbour(handle, f"old {handle}", "", (), (), (), Kind.FACT, None, 0.5) for handle in HANDLES)
PASSAGE = Passage(
    said=tuple(Message(Role.USER, text) for text in ("I fire at night", "我喜欢青瓷", "and celadon")),
    procedures=(KnownProcedure("p1", "Firing", "nightly", ("load",)),),
)


@given(answer=ANSWERS)
@settings(max_examples=EXAMPLES_READ, **RUNS)
def test_no_answer_whatever_breaks_the_ladder_or_names_what_was_not_shown(answer):
    model = ModelAnalyst(ScriptedChat(answer))
    try:
        analysis = model.analyze(DRAFT, NoTags())
    except AmemError:
        pass
    else:
        assert 0 <= analysis.importance <= 1
        readable(*analysis.keywords, *analysis.tags, *analysis.entities, analysis.context)
        readable(*(part for fact in analysis.facts for part in (fact.subject, fact.predicate, fact.object)))
        assert len(analysis.facts) <= 5
    try:
        evolution = model.evolve(DRAFT, Analysis(), SHOWN, NoTags())
    except AmemError:
        pass
    else:
        handles = [rewrite.handle for rewrite in evolution.rewrites]
        assert {link.handle for link in evolution.links} | set(handles) <= set(HANDLES)
        assert len(handles) == len(set(handles))
        for proposal in (*evolution.links, *evolution.rewrites):
            assert 0 <= proposal.confidence <= 1
            readable(proposal.reason)
        readable(*evolution.dropped)
    try:
        extraction = model.extract(PASSAGE)
    except AmemError:
        return
    assert len(extraction.statements) <= STATEMENTS
    assert len(extraction.procedures) <= PROCEDURES
    for learnt in (*extraction.statements, *extraction.procedures):
        assert learnt.handles
        assert set(learnt.handles) <= {"m1", "m2", "m3"}
    for statement in extraction.statements:
        assert 0 < len(statement.text) <= STATEMENT
        readable(statement.text)
    for procedure in extraction.procedures:
        assert procedure.updates in (None, "p1")
        assert 0 < len(procedure.steps) <= STEPS
        readable(procedure.name, procedure.trigger, *procedure.steps)
    readable(extraction.summary, *extraction.dropped)


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


@given(analysis=ANSWERS, evolution=ANSWERS, number=st.integers(0, 10**6))
@settings(max_examples=EXAMPLES_ADDED, **RUNS)
def test_a_note_is_kept_and_no_note_that_was_not_shown_is_touched_whatever_is_answered(
    collection: Collection, analysis: str, evolution: str, number: int
):
    collection.renew()
    touched, shown, new = added(collection, analysis, evolution, number)
    assert touched <= shown
    assert len(touched) <= 3
    assert new.enrichment in (Enrichment.DONE, Enrichment.DEGRADED)
    assert set(new.links) <= shown
    readable(*new.tags, *new.keywords, new.context)


def test_an_answer_that_can_be_used_touches_three_of_the_five_neighbours_shown(fresh: Collection):
    touched, shown, new = added(fresh, json.dumps(ANALYSIS), f"Sure: {json.dumps(EVOLUTION)},", 7)
    assert (len(touched), len(shown)) == (3, 5)
    assert touched < shown
    assert len(new.links) == 2
    assert new.tags == ["pottery", "night"]


def added(collection: Collection, analysis: str, evolution: str, number: int) -> tuple[set[str], set[str], MemoryNote]:
    """Add a note: the old ones that changed, those that were shown, and the new one; none may be lost or reworded."""
    before = collection.notes()
    collection.analysis = analysis.replace("UNSHOWN", collection.bystander)
    collection.evolution = evolution.replace("UNSHOWN", collection.bystander)
    asked = len(collection.chat.prompts)
    new = collection.add(f"Does the kiln fire celadon number {number} at night, again {collection.added}?")
    after = collection.notes()
    assert {id: note.content for id, note in after.items()} == collection.contents
    touched = {id for id, note in before.items() if after[id].version != note.version}
    shown = collection.shown(asked) - {new}
    assert collection.bystander not in shown
    return touched, shown, after[new]
