"""What is accepted of an extraction: statements and procedures that name messages that were shown."""

from __future__ import annotations

import json

import pytest

from amem.analysts.extraction import NAME, PROCEDURES, STATEMENT, STATEMENTS, STEPS, read_extraction
from amem.errors import BadModelAnswer
from amem.llm.model_text import find_object
from amem.llm.schemas import extraction_schema
from amem.note import Kind

SHOWN = ("m1", "m2", "m3")
GOOD = {
    "summary": "Ana moved and told how she brews tea.",
    "statements": [{"text": "Ana moved to Lisbon yesterday.", "kind": "fact", "messages": ["m1"]}],
    "procedures": [
        {
            "name": "Tea",
            "trigger": "in the morning",
            "steps": ["1. boil", "- pour"],
            "messages": ["m2"],
            "updates": "p1",
        }
    ],
}


def read(answer, procedures=("p1",)):
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return read_extraction(find_object(text, frozenset(extraction_schema(())["properties"])).object, SHOWN, procedures)


def said(text="Ana likes tea.", **fields):
    return {"text": text, "kind": "preference", "messages": ["m1"], **fields}


def test_a_clean_answer_is_read_as_it_is():
    extraction = read(GOOD)
    assert extraction.summary == GOOD["summary"]
    (statement,) = extraction.statements
    assert (statement.text, statement.kind, statement.handles) == ("Ana moved to Lisbon yesterday.", Kind.FACT, ("m1",))
    (procedure,) = extraction.procedures
    assert (procedure.steps, procedure.updates) == (("boil", "pour"), "p1")
    assert extraction.dropped == ()


def test_an_answer_cut_off_in_the_middle_keeps_what_came():
    assert [statement.handles for statement in read(json.dumps(GOOD)[:180]).statements] == [("m1",)]


def test_messages_that_were_not_shown_are_refused_one_by_one():
    answer = {"statements": [said(messages=["m9", "M2", "[m3]", "m2", 1]), said("Ana is rich.", messages=["m9"])]}
    extraction = read(answer)
    assert [statement.handles for statement in extraction.statements] == [("m2", "m3")]
    assert "the statement 'Ana is rich.' names no message that was shown" in extraction.dropped


def test_messages_may_come_as_one_text():
    assert read({"statements": [said(messages="m1, m3、m2")]}).statements[0].handles == ("m1", "m3", "m2")


def test_only_known_procedures_are_updated():
    procedure = {**GOOD["procedures"][0], "updates": "p7"}
    extraction = read({"procedures": [procedure]})
    assert extraction.procedures[0].updates is None
    assert extraction.dropped == ("an update of 'p7', which was not shown; 'Tea' is new",)
    for nothing in ("", None, "none", "new"):
        assert read({"procedures": [{**procedure, "updates": nothing}]}).dropped == ()


@pytest.mark.parametrize("kind", ["topic", "episode", "procedure", "opinion", 7])
def test_a_kind_outside_the_list_is_that_of_the_rules_and_none_that_cannot_fade(kind):
    extraction = read({"statements": [said(kind=kind)]})
    assert extraction.statements[0].kind is Kind.PREFERENCE
    assert read({"statements": [said(text="Haha, nice!", kind=kind)]}).statements[0].kind is Kind.CHITCHAT
    assert len(extraction.dropped) == 1


def test_the_same_is_not_stated_twice():
    assert len(read({"statements": [said(), said("ANA LIKES TEA.")]}).statements) == 1


def test_everything_has_a_bound_and_what_is_over_it_is_said():
    step = {"name": "n" * 500, "steps": [f"step {n}" for n in range(99)], "messages": ["m1"]}
    answer = {
        "statements": [said(f"{n} " + "long " * 150) for n in range(20)],
        "procedures": [{**step, "name": f"{n}" + step["name"]} for n in range(9)],
    }
    extraction = read(answer)
    assert len(extraction.statements) == STATEMENTS
    assert max(len(statement.text) for statement in extraction.statements) <= STATEMENT
    assert len(extraction.procedures) == PROCEDURES
    assert len(extraction.procedures[0].steps) == STEPS
    assert len(extraction.procedures[0].name) <= NAME
    assert extraction.dropped == ("8 of 20 statements: at most 12 at a time", "5 of 9 procedures: at most 4 at a time")


def test_a_procedure_without_steps_or_a_statement_without_text_is_dropped():
    answer = {"statements": [said(), said(" "), "m1"], "procedures": [{"name": "Tea", "steps": [], "messages": ["m1"]}]}
    extraction = read(answer)
    assert (len(extraction.statements), extraction.procedures) == (1, ())
    assert len(extraction.dropped) == 3


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "[]",
        {"summary": "Just talk."},
        {"statements": "none", "procedures": None},
        {"statements": [said(messages=[])]},
    ],
)
def test_an_answer_of_which_nothing_can_be_used_is_refused(answer):
    with pytest.raises(BadModelAnswer):
        read(answer)


def test_that_nothing_was_stated_is_an_answer():
    assert read({"summary": "Small talk.", "statements": [], "procedures": []}).summary == "Small talk."
