"""Plain lines, as small models write them."""

from __future__ import annotations

import pytest

from amem.analysts.extraction import read_extraction
from amem.errors import BadModelAnswer
from amem.llm.answers import read_analysis, read_evolution
from amem.llm.ladder import analysis_lines, evolution_lines, extraction_lines
from amem.note import Fact, Kind, LinkType


@pytest.mark.parametrize(
    "text",
    [
        "KEYWORDS: kiln, night\nCONTEXT: The kiln fires at night.\nTAGS: pottery\nKIND: decision",
        "Sure, here you go.\n\n**Keywords:** kiln, night\n**Context:** The kiln fires at night.\n**Tags:** pottery\n"
        "**Kind:** Decision.\n\nLet me know if you need more!",
        "1. keywords：kiln，night\n2. context：The kiln fires at night.\n3. tags：pottery\n4. kind：决定",
        "- Keywords:\n  - kiln\n  - night\n- Context:\nThe kiln fires\nat night.\n- Tags: #pottery\n- Kind: decision",
        "<think>KEYWORDS: no</think>KEYWORDS: kiln, night\nCONTEXT: The kiln fires at night.\nTAG: pottery\n"
        "KIND: decision",
    ],
)
def test_an_analysis_is_read_from_lines_in_any_usual_dress(text):
    analysis = read_analysis(analysis_lines(text))
    assert analysis.keywords == ("kiln", "night")
    assert analysis.context == "The kiln fires at night."
    assert analysis.tags == ("pottery",)
    assert analysis.kind is Kind.DECISION


def test_facts_and_importance_stand_on_lines_of_their_own():
    text = "KEYWORDS: kiln\nIMPORTANCE: 0.8 (high)\nFACT: kiln | fires | at night\nFACT: kiln | is\n"
    text += "FACTS:\n- 小林 ｜ 住在 ｜ 杭州"
    analysis = read_analysis(analysis_lines(text))
    assert analysis.facts == (Fact("kiln", "fires", "at night"), Fact("小林", "住在", "杭州"))
    assert analysis.importance == 0.8


def test_a_colon_in_a_sentence_does_not_begin_a_new_line():
    analysis = read_analysis(analysis_lines("CONTEXT: Ana said: fire it\nat 12:30\nKIND: fact"))
    assert analysis.context == "Ana said: fire it at 12:30"


@pytest.mark.parametrize("text", ["", "I cannot do that.", "Context matters: it does", "关于这个：没有"])
def test_prose_is_no_analysis(text):
    with pytest.raises(BadModelAnswer):
        read_analysis(analysis_lines(text))


def test_links_rewrites_and_tags_are_read_from_lines():
    text = """LINK n1 supersedes 0.9: Ana moved
- Link N2 (caused by, 80%): the storm
LINK n3: alike
CONTEXT n1 0.95: Ana lived in Porto.
TAGS n1: home, Porto
NEW TAGS: moving"""
    evolution = read_evolution(evolution_lines(text), ("n1", "n2", "n3"))
    assert [(link.handle, link.type, link.confidence) for link in evolution.links] == [
        ("n1", LinkType.SUPERSEDES, 0.9),
        ("n2", LinkType.CAUSED_BY, 0.8),
        ("n3", LinkType.RELATED, 0.5),
    ]
    (rewrite,) = evolution.rewrites
    assert (rewrite.context, rewrite.tags, rewrite.confidence) == ("Ana lived in Porto.", ("home", "Porto"), 0.95)
    assert evolution.tags == ("moving",)


def test_chinese_lines_need_no_spaces():
    text = "链接n1取代0.9：小林搬家了\n说明 n1 0.95：小林以前住在上海。\n标签n1：上海、住处\n新标签：搬家"
    evolution = read_evolution(evolution_lines(text), ("n1",))
    (link,) = evolution.links
    assert (link.type, link.confidence, link.reason) == (LinkType.SUPERSEDES, 0.9, "小林搬家了")
    (rewrite,) = evolution.rewrites
    assert (rewrite.context, rewrite.tags) == ("小林以前住在上海。", ("上海", "住处"))
    assert evolution.tags == ("搬家",)


@pytest.mark.parametrize("text", ["NONE", "none.", "无", "**None**"])
def test_nothing_is_an_answer(text):
    evolution = read_evolution(evolution_lines(text), ("n1",))
    assert (evolution.links, evolution.rewrites, evolution.tags) == ((), (), None)
    assert read_extraction(extraction_lines(text), ("m1",), ()).statements == ()


def test_statements_and_procedures_are_read_from_lines():
    text = """SUMMARY: Ana explained her kiln.
FACT m1: Ana owns a kiln: a big one.
PREFERENCE m2, m3: Ana prefers celadon.
CONSTRAINT: nobody says where this is from
PROCEDURE m4: Firing
WHEN: on Mondays
STEP: load it
STEP: light it
UPDATES: p1
PROCEDURE m4: Nothing to do"""
    extraction = read_extraction(extraction_lines(text), ("m1", "m2", "m3", "m4"), ("p1",))
    assert [(said.text, said.kind, said.handles) for said in extraction.statements] == [
        ("Ana owns a kiln: a big one.", Kind.FACT, ("m1",)),
        ("Ana prefers celadon.", Kind.PREFERENCE, ("m2", "m3")),
    ]
    (procedure,) = extraction.procedures
    assert (procedure.name, procedure.trigger, procedure.steps) == ("Firing", "on Mondays", ("load it", "light it"))
    assert (procedure.handles, procedure.updates) == (("m4",), "p1")
    assert len(extraction.dropped) == 2


def test_chinese_statements_are_read_from_lines():
    text = "摘要：小林谈了搬家。\n事实 m1：小林上周搬到了杭州。\n偏好m2：小林喜欢喝茶。\n"
    text += "流程 m2：泡茶\n触发：早上\n步骤：\n1. 烧水\n2. 放茶叶"
    extraction = read_extraction(extraction_lines(text), ("m1", "m2"), ())
    assert [said.kind for said in extraction.statements] == [Kind.FACT, Kind.PREFERENCE]
    assert extraction.procedures[0].steps == ("烧水", "放茶叶")
    assert extraction.summary == "小林谈了搬家。"
