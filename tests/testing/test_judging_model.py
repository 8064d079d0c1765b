"""The model that answers every prompt of amem's, over the wire and by the same code that asks a real one."""

from __future__ import annotations

import pytest
from _judging_model import judging_model
from hypothesis import given
from hypothesis import strategies as st

from amem.analysis import Analysis, Draft, Neighbour, Passage
from amem.analysts.model_analyst import ModelAnalyst
from amem.llm.ollama_chat import OllamaChat
from amem.llm.prompts import load_prompt
from amem.llm.schemas import (
    analysis_schema,
    answer_schema,
    evolution_schema,
    extraction_schema,
    judge_schema,
    merge_schema,
)
from amem.note import Fact, Kind, LinkType, Message, Role
from amem.retrieval.budget import as_recalled
from amem.testing import FakeOllama, ScriptedChat


class Words:
    """A collection that uses two tags."""

    total = 0

    def document_frequency(self, terms):
        return {}

    def tags(self):
        return {"billing": 3, "过敏": 2}


class Forgetful:
    """The judging model behind a server that has never heard of schemas, so that every question goes down to lines."""

    def __init__(self):
        self.asked = []

    def __call__(self, prompt):
        self.asked.append(prompt)
        answer = judging_model({"prompt": prompt})
        return answer if isinstance(answer, str) else "no lines were wanted"


@pytest.fixture
def over_the_wire():
    with FakeOllama(judging_model) as ollama:
        yield ModelAnalyst(OllamaChat("llama3.2", host=ollama.host, timeout=20))


@pytest.fixture
def in_lines():
    return ModelAnalyst(ScriptedChat(Forgetful()))


@pytest.fixture(params=["over_the_wire", "in_lines"])
def analyst(request):
    return request.getfixturevalue(request.param)


def shown(handle, content, tags=()):
    return Neighbour(handle, content, content, (), tags, (), Kind.FACT, None, 0.5)


def test_a_note_gets_its_own_words_and_tags_that_are_known(analyst):
    analysis = analyst.analyze(Draft("The team chose PostgreSQL 16 for billing."), Words())
    assert analysis.keywords[0] == "PostgreSQL 16"
    assert analysis.context == "The team chose PostgreSQL 16 for billing."
    assert (analysis.kind, analysis.importance) == (Kind.DECISION, 0.8)


def test_known_tags_are_preferred(over_the_wire):
    assert over_the_wire.analyze(Draft("Billing uses PostgreSQL 16."), Words()).tags == ("billing",)
    assert over_the_wire.analyze(Draft("妈妈对花生过敏，点菜时要注意。"), Words()).tags == ("过敏",)


def test_a_note_in_chinese_stays_chinese(analyst):
    analysis = analyst.analyze(Draft("妈妈对花生过敏，点菜时要注意。"), Words())
    assert "花生过敏" in analysis.keywords
    assert analysis.kind is Kind.CONSTRAINT
    assert "妈妈对花生过敏" in analysis.context


def test_facts_are_read_where_a_sentence_is_one(analyst):
    assert analyst.analyze(Draft("Ana lives in Lisbon."), Words()).facts == (Fact("Ana", "lives in", "Lisbon"),)


def test_a_note_is_linked_with_what_shares_its_words_and_the_first_such_note_is_rewritten(analyst):
    old = [shown("n1", "It rains."), shown("n2", "模拟退火是一种随机搜索。", ("算法",)), shown("n3", "退火温度很高。")]
    draft = Draft("量子退火是一种优化算法，用于量子计算。")
    evolution = analyst.evolve(draft, Analysis(tags=("优化算法", "量子计算")), old, Words())
    assert [(link.handle, link.type) for link in evolution.links] == [("n2", "related"), ("n3", "related")]
    (rewrite,) = evolution.rewrites
    assert rewrite.handle == "n2"
    assert "模拟退火是一种随机搜索" in rewrite.context
    assert rewrite.tags[0] == "算法"
    assert evolution.dropped == ()


def test_what_no_longer_holds_is_superseded(analyst):
    old = [shown("n1", "Ana lives in Porto.")]
    evolution = analyst.evolve(Draft("Ana moved to Lisbon."), Analysis(), old, Words())
    assert [(link.handle, link.type) for link in evolution.links] == [("n1", LinkType.SUPERSEDES)]
    assert evolution.rewrites == ()


def test_only_the_note_most_like_it_is_superseded(analyst):
    old = [shown("n1", "Ana lives in Porto."), shown("n2", "Ana likes tea.")]
    evolution = analyst.evolve(Draft("Ana moved to Lisbon."), Analysis(), old, Words())
    assert [link.type for link in evolution.links] == [LinkType.SUPERSEDES, LinkType.RELATED]
    assert evolution.rewrites == ()


def test_strangers_are_left_alone(analyst):
    evolution = analyst.evolve(Draft("Tea is hot."), Analysis(), [shown("n1", "It rains.")], Words())
    assert (evolution.links, evolution.rewrites) == ((), ())


def test_people_s_messages_are_quoted_and_the_assistant_s_are_not(analyst):
    said = [
        Message(Role.USER, "Hello!", speaker="Ana"),
        Message(Role.USER, "I moved to Lisbon last week.", speaker="Ana"),
        Message(Role.ASSISTANT, "You must love the sea in Lisbon."),
        Message(Role.USER, "To deploy, first run the tests, then push the tag.", speaker="Ana"),
        Message(Role.USER, "我不能吃花生，会过敏。", speaker="小林"),
    ]
    learnt = analyst.extract(Passage(said=tuple(said)))
    assert [(item.text, item.kind, item.handles) for item in learnt.statements] == [
        ("I moved to Lisbon last week.", Kind.FACT, ("m2",)),
        ("我不能吃花生，会过敏。", Kind.CONSTRAINT, ("m5",)),
    ]
    (procedure,) = learnt.procedures
    assert (procedure.steps, procedure.handles) == (("run the tests", "push the tag"), ("m4",))
    assert learnt.summary.startswith("Hello!")


def test_small_talk_teaches_nothing(analyst):
    assert analyst.extract(Passage(said=(Message(Role.USER, "谢谢"),))).statements == ()


@pytest.mark.parametrize("language", ["", "zh"])
def test_a_question_is_answered_from_the_numbered_notes_or_not_at_all(language):
    prompt = load_prompt("answer", None, language)
    notes = "[1] 2026-01-01 <<<Bob likes tea.>>>\n[2] 2026-01-02 <<<安娜住在里斯本 (Lisbon).>>>"
    for question, cites in (("Who is in Lisbon?", [2]), ("安娜住哪里？", [2]), ("What is the dog called?", [])):
        asked = prompt.render(question=question, notes=notes, when="now")
        answer = judging_model({"messages": [{"role": "user", "content": asked}], "format": answer_schema()})
        assert (answer["in_memory"], answer["cites"]) == (bool(cites), cites)
        assert ("里斯本" in answer["answer"]) is bool(cites)
        assert "<<<" not in answer["answer"]


def test_judging_and_merging_are_answered_too():
    pairs = load_prompt("judge").render(
        pairs="c1 OLDER <<<a>>> NEWER <<<b>>>\nc2 OLDER <<<a>>> NEWER <<<b>>>",
    )
    judged = judging_model({"prompt": pairs, "format": judge_schema(("c1", "c2"))})
    assert [(item["pair"], item["verdict"]) for item in judged["verdicts"]] == [("c1", "related"), ("c2", "related")]
    twice = load_prompt("merge").render(notes="<<<Tomatoes need compost.>>> <<<Tomatoes need much compost.>>>")
    assert judging_model({"prompt": twice, "format": merge_schema()})["merged"] == "Tomatoes need much compost."


def test_a_second_try_is_answered_like_the_first():
    asked = load_prompt("merge").render(notes="<<<Tomatoes need compost.>>> <<<Tomatoes need much compost.>>>")
    again = load_prompt("retry").render(prompt=asked, answer="<think>", error="it is no JSON")
    assert judging_model({"prompt": again, "format": merge_schema()})["merged"] == "Tomatoes need much compost."


def test_a_chat_is_answered_from_what_was_recalled_and_what_always_holds():
    recalled = as_recalled(
        "1. [2026-01-01, fact, confidence 0.60] Ana lives in Lisbon.\n2. [2026-01-02] 鲍勃喜欢喝茶。"
    )
    system = load_prompt("chat").render(user="Ana", now="now", core="- (constraint) 我不能吃花生，会过敏。")

    def answer(said):
        messages = [{"role": "system", "content": f"{system}\n{recalled}"}, {"role": "user", "content": said}]
        return judging_model({"messages": messages})

    assert answer("Where does Ana live?") == "You told me: Ana lives in Lisbon."
    assert answer("鲍勃喜欢什么？") == "你告诉过我：鲍勃喜欢喝茶。"
    assert answer("我对什么过敏？") == "你告诉过我：我不能吃花生，会过敏。"
    assert answer("What is the dog called?") == "That is not in my memory."
    assert answer("I bought a kite.") == "All right."
    assert answer("今天下雨了。") == "好的。"


def test_a_prompt_with_a_labelled_question_is_answered_from_its_notes():
    prompt = (
        "Notes:\n<<<\n[8 May] Ana: I painted a sunrise.\n[9 May] Bob: 我喜欢喝茶。\n>>>\nQuestion: {}\nShort answer:"
    )
    assert judging_model({"prompt": prompt.format("What did Ana paint?")}) == "[8 May] Ana: I painted a sunrise."
    assert judging_model({"prompt": prompt.format("How old is the dog?")}) == "not mentioned"


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "prompt": st.text(),
            "messages": st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": st.text()})),
            "format": st.sampled_from([analysis_schema(), evolution_schema(("n1",)), extraction_schema(("m1",))]),
        },
    )
)
def test_whatever_is_asked_is_answered(request):
    assert isinstance(judging_model(request), (str, dict))


def test_a_schema_of_somebody_else_s_gets_values_of_its_types():
    properties = {
        "name": {"type": "string"},
        "size": {"enum": ["s", "m"]},
        "count": {"type": "integer"},
        "items": {"type": "array", "items": {"type": "string"}},
        "good": {"type": "boolean"},
    }
    response_format = {"json_schema": {"name": "x", "schema": {"type": "object", "properties": properties}}}
    expected = {"name": "", "size": "s", "count": 0, "items": [], "good": False}
    assert judging_model({"messages": [{"content": "x"}], "response_format": response_format}) == expected
