"""What models answer, and what is made of it."""

from __future__ import annotations

import json

import pytest

from amem.errors import BadModelAnswer
from amem.llm import answers
from amem.llm.answers import CONTEXT, EVOLUTION_FIELDS
from amem.llm.model_text import find_object
from amem.llm.schemas import analysis_schema
from amem.note import Kind, LinkType

HANDLES = ("n1", "n2", "n3")
GOOD = {
    "keywords": ["PostgreSQL 16", "billing service"],
    "context": "The team chose the database of its billing service.",
    "tags": ["databases"],
    "kind": "decision",
    "importance": 0.8,
    "entities": ["PostgreSQL"],
}


def read_analysis(text: str):
    return answers.read_analysis(find_object(text, frozenset(analysis_schema()["properties"])).object)


def read_evolution(text: str, handles):
    return answers.read_evolution(find_object(text, EVOLUTION_FIELDS).object, handles)


def test_a_clean_answer_is_read_as_it_is():
    analysis = read_analysis(json.dumps(GOOD))
    assert analysis.keywords == ("PostgreSQL 16", "billing service")
    assert analysis.context == GOOD["context"]
    assert (analysis.kind, analysis.importance, analysis.entities) == (Kind.DECISION, 0.8, ("PostgreSQL",))


@pytest.mark.parametrize(
    "wrap",
    [
        "Sure! Here it is:\n```json\n{}\n```\nAnything else?",
        "<think>The user wants {{json}} with [keywords]...</think>\n{}",
        "Okay, first {{I}} think about it.</think>\n\n{}",
        '{{"analysis": {}}}',
        "[{}]",
        "{},",
    ],
)
def test_what_models_put_around_their_answer_is_forgiven(wrap):
    body = json.dumps(GOOD)
    analysis = read_analysis(wrap.format(body))
    assert analysis.keywords == ("PostgreSQL 16", "billing service")
    assert analysis.kind is Kind.DECISION


def test_an_answer_cut_off_in_the_middle_keeps_what_came():
    analysis = read_analysis(json.dumps(GOOD)[:90])
    assert analysis.keywords == ("PostgreSQL 16", "billing service")


def test_chinese_quotes_and_commas_are_read():
    analysis = read_analysis("{“keywords”：“量子退火，优化算法”，“context”：“介绍量子退火”}")
    assert analysis.keywords == ("量子退火", "优化算法")


def test_the_answer_wins_over_the_example_it_repeats():
    example = {**GOOD, "keywords": ["example"]}
    assert read_analysis(f"{json.dumps(example)}\n{json.dumps(GOOD)}").keywords[0] == "PostgreSQL 16"


@pytest.mark.parametrize(
    "text", ["", "I cannot help with that.", "[]", "null", "{}", '{"keywords": [], "context": " "}']
)
def test_an_answer_with_nothing_in_it_is_refused(text):
    with pytest.raises(BadModelAnswer):
        read_analysis(text)


def test_a_preamble_of_thinking_without_an_end_is_no_answer():
    with pytest.raises(BadModelAnswer):
        read_analysis(f"<think>Perhaps {json.dumps(GOOD)}")


def test_a_megabyte_of_noise_and_bottomless_nesting_are_refused():
    for text in ("[" * 50_000, '{"keywords":' * 5_000, "lorem ipsum " * 90_000):
        with pytest.raises(BadModelAnswer):
            read_analysis(text)


def test_wrong_types_cost_only_their_own_field():
    analysis = read_analysis(
        json.dumps({"keywords": ["ok", {"a": 1}, None, 42, True], "context": ["no"], "kind": 7, "importance": "high"})
    )
    assert analysis.keywords == ("ok", "42")
    assert (analysis.context, analysis.kind, analysis.importance) == ("", Kind.FACT, 0.5)


def test_control_characters_and_half_characters_never_reach_a_note():
    analysis = read_analysis(
        '{"keywords": ["a\\u0000b", "\\ud83d\\ude00 ok", "\\ud800"], "context": "x\\u202ey\\n\\u001b[31mz",}'
    )
    assert analysis.keywords == ("a b", "😀 ok")
    assert analysis.context == "xy [31mz"
    analysis.context.encode()


def test_strings_are_cut_to_a_sane_length():
    analysis = read_analysis(json.dumps({"context": "word " * 5_000, "keywords": [f"k{n}" for n in range(500)]}))
    assert len(analysis.context) <= CONTEXT
    assert len(analysis.keywords) == 12


@pytest.mark.parametrize(
    ("stated", "read"), [(0.7, 0.7), ("0.7", 0.7), ("70%", 0.7), (70, 0.7), (1, 1.0), (7, 0.5), (-1, 0.5), (True, 0.5)]
)
def test_importance_is_read_in_any_usual_notation(stated, read):
    assert read_analysis(json.dumps({**GOOD, "importance": stated})).importance == pytest.approx(read)


def test_links_and_rewrites_name_notes_by_their_handles():
    answer = {
        "links": [{"to": "N1", "type": "supports", "reason": "same topic", "confidence": 0.9}],
        "rewrites": [{"note": "n2", "context": "new", "tags": [], "reason": "because", "confidence": 0.95}],
        "tags": ["#Databases", "databases"],
    }
    evolution = read_evolution(json.dumps(answer), HANDLES)
    (link,) = evolution.links
    assert (link.handle, link.type, link.confidence) == ("n1", LinkType.SUPPORTS, 0.9)
    (rewrite,) = evolution.rewrites
    assert (rewrite.handle, rewrite.context, rewrite.tags) == ("n2", "new", None)
    assert evolution.tags == ("Databases",)
    assert evolution.dropped == ()


def test_one_bad_item_does_not_cost_the_others():
    answer = {
        "links": [
            {"to": "n9", "type": "related", "reason": "?", "confidence": 1},
            {"to": 1, "type": "related"},
            "n1",
            {"to": "n1", "type": "similar", "reason": "alike", "confidence": "lots"},
            {"to": "n1", "type": "related"},
        ],
        "rewrites": [{"note": "n2"}, {"note": "n2", "tags": ["a"]}, {"note": "n2", "tags": ["b"]}],
        "tags": {"not": "a list"},
    }
    evolution = read_evolution(json.dumps(answer), HANDLES)
    assert [(link.handle, link.type, link.confidence) for link in evolution.links] == [("n1", LinkType.RELATED, 0.5)]
    assert [(rewrite.handle, rewrite.tags) for rewrite in evolution.rewrites] == [("n2", ("a",))]
    assert evolution.tags is None
    assert len(evolution.dropped) == 7
    assert "a link to 'n9', which was not shown" in evolution.dropped


def test_an_evolution_that_proposes_nothing_is_an_answer():
    assert read_evolution('{"links": [], "rewrites": [], "tags": []}', HANDLES).dropped == ()


def test_an_evolution_without_any_list_is_refused():
    with pytest.raises(BadModelAnswer):
        read_evolution('{"links": "n1 and n2"}', HANDLES)
