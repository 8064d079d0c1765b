"""Whatever a model answers, nothing breaks, nothing is lost, and a model touches nothing that it was not shown.

Hypothesis writes the malformed answers, 2,140 in all with `test_malformed_conversations`, the same ones on every run:

* 620 texts, each given as the answer to analyze, to evolve and to extract, through every rung of the ladder
  (`test_no_answer_...`): 1,860 answers;
* 80 pairs, one answer to analyze and one to evolve, through ``add``, each on its copy of one real collection,
  where up to three bad answers a question are read, stored, linked and rewritten (`test_a_note_...`): 160 answers;
* 40 triples, one answer to each question, through ``remember``: 120 answers.
"""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from malformed import ANALYSIS, ANSWERS, EVOLUTION, RUNS
from malformed_collection import UNUSABLE, Ground, readable

from amem.analysis import Analysis, Draft, KnownProcedure, Neighbour, Passage
from amem.analysts.extraction import PROCEDURES, STATEMENT, STATEMENTS, STEPS
from amem.analysts.model_analyst import ModelAnalyst
from amem.errors import AmemError
from amem.note import Enrichment, Kind, Message, Role
from amem.testing import ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malformed_collection import Collection

    from amem.note import MemoryNote

#: Reading an answer costs next to nothing, adding a note does.
EXAMPLES_READ, EXAMPLES_ADDED = 4 * settings.default.max_examples, 80

HANDLES = ("n1", "n2", "n3")
#: Nearest to the one are questions, which the rules link to more notes than a model is shown; to the other statements.
ASKED, STATED = "Does the kiln fire celadon number 7 at night?", "Celadon number 7 comes out of the kiln at night."
#: Neighbours that rules know and a model is not shown, and a note that is nobody's neighbour.
OTHERS = ("n9", "n10", "n11", "[N9]", "UNSHOWN")
TYPES = ("related", "supersedes", "contradicts", "caused_by")


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
def ground() -> Iterator[Ground]:
    """Every example has a copy of it to itself."""
    with closing(Ground()) as made:
        yield made


@pytest.mark.thorough
@given(analysis=ANSWERS, evolution=ANSWERS, text=st.sampled_from([ASKED, STATED]))
@settings(max_examples=EXAMPLES_ADDED, **RUNS)
def test_a_note_is_kept_and_a_model_touches_no_note_that_it_was_not_shown_whatever_it_answers(
    ground: Ground, analysis: str, evolution: str, text: str
):
    with ground.copy() as collection:
        new = added(collection, text, analysis, evolution)
        assert_no_model_reached_what_it_was_not_shown(collection, new)
        assert new.enrichment in (Enrichment.DONE, Enrichment.DEGRADED)
        if collection.links(by="offline"):
            assert new.enrichment is Enrichment.DEGRADED, "rules answer only where the model could not"
        readable(*new.tags, *new.keywords, new.context)


def test_an_answer_that_can_be_used_touches_three_of_the_eight_neighbours_shown(ground: Ground):
    with ground.copy() as collection:
        new = added(collection, STATED, json.dumps(ANALYSIS), f"Sure: {json.dumps(EVOLUTION)},")
        assert_no_model_reached_what_it_was_not_shown(collection, new)
        assert (len(collection.changes()), len(collection.shown() - {new.id})) == (3, 8)
        assert {(link.source, link.made_by) for link in collection.links()} == {(new.id, collection.chat.name)}
        assert len(new.links) == 2
        assert new.tags == ["pottery", "night"]


def test_rules_that_answer_in_a_models_place_see_the_neighbours_it_saw_and_sign_their_links(ground: Ground):
    with ground.copy() as collection:
        new = added(collection, ASKED, UNUSABLE, UNUSABLE)
        made = collection.links()
        assert {link.made_by for link in made} == {"offline"}
        assert {link.target for link in made} <= collection.shown()
        assert new.enrichment is Enrichment.DEGRADED


@pytest.mark.parametrize(
    "answer",
    [
        {"links": [{"to": name, "type": kind, "confidence": 1} for name in OTHERS for kind in TYPES]},
        {"rewrites": [{"note": name, "context": "The kiln.", "tags": ["x"], "confidence": 1} for name in OTHERS]},
        "\n".join(f"LINK {name} supersedes 1: x\nCONTEXT {name} 1: The kiln.\nTAGS {name}: x" for name in OTHERS),
    ],
    ids=["links", "rewrites", "lines"],
)
def test_notes_that_were_not_shown_cannot_be_named(ground: Ground, answer: object):
    with ground.copy() as collection:
        said = answer if isinstance(answer, str) else json.dumps(answer)
        new = added(collection, ASKED, json.dumps(ANALYSIS), said)
        assert_no_model_reached_what_it_was_not_shown(collection, new)
        assert not collection.links(by=collection.chat.name)
        assert not collection.changes()
        assert not collection.memory.reviews()


def added(collection: Collection, text: str, analysis: str, evolution: str) -> MemoryNote:
    """A new note of that text, when the model has answered as it is told to."""
    collection.answers(analysis, evolution)
    receipt = collection.memory.add(text)
    return collection.after[receipt.id]


def assert_no_model_reached_what_it_was_not_shown(collection: Collection, new: MemoryNote) -> None:
    """No note is lost or reworded, and what the model did was done to notes that stood in a prompt.

    What rules do they do to any note, in the model's place and where facts get in each other's way; nobody reaches the
    bystander.
    """
    model, shown = collection.chat.name, collection.shown()
    assert not collection.lost()
    assert collection.bystander not in shown
    touched, links = collection.changes(by=model), collection.links(by=model)
    assert touched.keys() <= shown
    assert sum(each.action == "evolve" for versions in touched.values() for each in versions) <= 3
    assert {end for link in links for end in (link.source, link.target)} <= {new.id} | shown
    assert {review.note for review in collection.memory.reviews() if review.made_by == model} <= shown
    ends = {end for link in collection.links() for end in (link.source, link.target)}
    assert collection.bystander not in ends | collection.changes().keys()
