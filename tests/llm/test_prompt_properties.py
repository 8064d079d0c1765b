"""What every prompt must have for a model of three to eight billion parameters, and that its example is no answer."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from amem.analysis import Analysis, Draft, Neighbour, PageNote, Pair, Passage
from amem.analysts.model_analyst import ModelAnalyst
from amem.errors import BadModelAnswer
from amem.language import is_cjk
from amem.language.predicates import load_predicates
from amem.llm import schemas
from amem.llm.answering import Answerer, Orderer, Sufficer
from amem.llm.prompts import CHINESE, load_prompt
from amem.note import Kind, Message, Role
from amem.testing import ScriptedChat

JSON = (
    *("analyze", "analyze_all", "evolve", "extract", "answer", "rerank", "judge", "merge", "suffices"),
    "topic_page",
)
LINES = ("analyze_sections", "evolve_sections", "extract_sections")
LANGUAGES = ("", CHINESE)
#: An example is an input between marks, and the answer to it in the line below.
_JSON_EXAMPLE = re.compile(r"^(?:Example \d|例子[一二])[^\n]+\n(\{[^\n]*\})$", re.MULTILINE)
_EXAMPLE = re.compile(r"^(?:Example \d|例子[一二])[:：].", re.MULTILINE)
NOTE = {"": "The ferry to Cacilhas leaves at nine.", CHINESE: "去卡西利亚什的渡轮九点开。"}


class Words:
    total = 1

    def document_frequency(self, terms):
        return dict.fromkeys(terms, 0)

    def tags(self):
        return {}


def examples(name: str, language: str) -> list[dict]:
    """The answers that a prompt gives as examples."""
    return [json.loads(found) for found in _JSON_EXAMPLE.findall(load_prompt(name, language=language).text)]


def empty(answer: dict) -> bool:
    """Whether an answer says no, or that nothing belongs, is stated or helps."""
    if "kind" in answer:
        return answer["kind"] == "chitchat" and not answer["facts"]
    if "verdicts" in answer:
        return all(each["verdict"] == "none" for each in answer["verdicts"])
    if "merged" in answer:
        return answer["verdict"] == "different" and not answer["merged"]
    if "gone" in answer:  # nothing is new: the page stays as it is
        return not answer["gone"]
    for name in ("suffices", "in_memory"):
        if name in answer:
            return answer[name] is False
    lists = [value for name, value in answer.items() if name in ("links", "rewrites", "statements", "best", "gone")]
    return not any(lists) if lists else not answer["title"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", JSON)
def test_every_prompt_shows_two_contrasted_examples_with_their_inputs_one_of_them_empty(name: str, language: str):
    found = examples(name, language)
    assert len(found) >= 2
    assert {empty(answer) for answer in found} == {True, False}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", [*LINES, "chat"])
def test_prompts_for_lines_and_for_chats_have_two_examples_too(name: str, language: str):
    text = load_prompt(name, language=language).text
    assert len(_EXAMPLE.findall(text)) == 2
    assert re.search(r"^(?:NONE|无)$|CHITCHAT|类型：闲聊|KIND: chitchat|not in memory|记忆里没有", text, re.MULTILINE)


@pytest.mark.parametrize("name", [*JSON, *LINES, "chat", "retry"])
def test_a_prompt_has_the_rules_of_one_language_only(name: str):
    assert not any(map(is_cjk, load_prompt(name).text))
    for line in load_prompt(name, language=CHINESE).text.splitlines():
        # Names of fields and the values that a schema allows are in English; no sentence is.
        outside = re.sub(r"[{\[].*[}\]]|\$\w+|<<<|>>>|[“\"]\w*[”\"]", " ", line)
        assert len(re.findall(r"\b[A-Za-z]{2,}(?: [a-z]{2,}){2,}", outside)) == 0, line


def test_every_schema_asks_for_the_quote_and_the_reason_before_what_follows_from_them():
    evolution = schemas.evolution_schema(("n1",))["properties"]
    batch = schemas.batch_schema(("s1",), ("n1",))["properties"]
    items = [
        each["items"] for part in (evolution, batch) for name, each in part.items() if name in ("links", "rewrites")
    ]
    items += [schemas.judge_schema(("c1",))["properties"]["verdicts"]["items"], schemas.suffices_schema()]
    items.append(schemas.merge_schema())
    assert len(items) == 7
    for item in items:
        names = list(item["properties"])
        decided = [names.index(name) for name in ("type", "verdict", "confidence", "suffices") if name in names]
        assert names.index("quote") < names.index("reason") < min(decided)
        assert item["required"] == names
        if "confidence" in names:
            assert item["properties"]["confidence"]["enum"] == ["sure", "likely", "unsure"]


def test_kinds_are_defined_in_six_words_each_and_twenty_predicates_are_listed():
    text = load_prompt("analyze").text
    defined = dict(re.findall(r"^  (\w+): (.+)$", text, re.MULTILINE))
    assert set(defined) == {str(kind) for kind in Kind if kind is not Kind.TOPIC}
    assert {len(words.split()) for words in defined.values()} == {6}
    chinese = load_prompt("analyze", language=CHINESE).text
    assert set(re.findall(r"^  (\w+)：", chinese, re.MULTILINE)) == set(defined)
    predicates = load_predicates()
    for listed in (
        re.search(r"predicate: (.*), or another", text)[1].split(", "),
        re.search(r"predicate 用：(.*)，或别的词", chinese)[1].split("、"),
    ):
        assert len(listed) == 20
        assert {predicates.canonical(name) for name in listed} <= set(predicates.rows)


# -- a model that only repeats the example ---------------------------------------------------------------------------


def old(language: str) -> list[Neighbour]:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    text = "The harbour office closes at five." if not language else "港务局五点关门。"
    return [Neighbour(f"n{n}", text, text, (), ("harbour",), (), Kind.FACT, at, 0.6) for n in (1, 2)]


def parrot(name: str, language: str, number: int) -> ScriptedChat:
    """A model that answers with an example of the prompt, its handles changed to those that are shown."""
    answer = json.dumps(examples(name, language)[number], ensure_ascii=False)
    return ScriptedChat(re.sub(r'"([nmsc])9(\d)"', r'"\1\2"', answer))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_parrot_of_the_examples_changes_nothing(language: str):
    note, words = NOTE[language], Words()
    for number in (0, 1):
        with pytest.raises(BadModelAnswer, match="have a word of the note"):
            ModelAnalyst(parrot("analyze", language, number)).analyze(Draft(note), words)
        evolved = ModelAnalyst(parrot("evolve", language, number)).evolve(Draft(note), Analysis(), old(language), words)
        assert (evolved.links, evolved.rewrites) == ((), ())
        with pytest.raises(BadModelAnswer):
            ModelAnalyst(parrot("analyze_all", language, number)).analyze_all(
                [Draft(note)], old(language), words, again=0
            )
        pairs = [Pair("c1", old(language)[0].content, note)]
        (verdict,) = ModelAnalyst(parrot("judge", language, number)).judge(pairs).verdicts
        assert verdict.verdict == "none" or verdict.confidence < 0.5
        # Notes that the model did not quote are neither merged with its words nor kept apart.
        assert ModelAnalyst(parrot("merge", language, number)).merge([note, note]).confidence < 0.5
        said = Sufficer(parrot("suffices", language, number)).judge("When does the ferry leave?", [note])
        assert said is not None
        assert said[0] is False


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_parrot_that_keeps_the_handles_of_the_example_names_nothing_that_was_shown(language: str):
    note = NOTE[language]
    answer = json.dumps(examples("answer", language)[0])
    assert not Answerer(ScriptedChat(answer)).answer(note, [note, note]).in_memory
    with pytest.raises(BadModelAnswer):
        Orderer(ScriptedChat(json.dumps(examples("rerank", language)[0]))).order(note, [note, note])
    page = json.dumps(examples("topic_page", language)[0])
    with pytest.raises(BadModelAnswer):
        ModelAnalyst(ScriptedChat(page)).page("x", "", [PageNote("n1", note)])
    said = json.dumps(examples("extract", language)[0], ensure_ascii=False)
    with pytest.raises(BadModelAnswer):
        ModelAnalyst(ScriptedChat(said)).extract(Passage((Message(Role.USER, note),)))
