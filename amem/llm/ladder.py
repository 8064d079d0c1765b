"""Structured output from a model: a constrained call, repair, a retry, and plain lines as the last rung."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from amem.errors import BadModelAnswer
from amem.llm import prompts as showing
from amem.llm.guarded import Metered, Usage
from amem.llm.model_text import CHINESE_KINDS, find_object, link_type_named, refuse_noise, share, without_thinking
from amem.llm.prompts import load_prompt
from amem.llm.schemas import STATEMENT_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from amem.protocols import ChatModel


# Plain lines instead of JSON, for models too small to write JSON: ``KEYWORDS: a, b``, ``LINK n2 supersedes 0.9:
# why``.
#
# What is found becomes the same objects that the JSON readers take, so that every answer passes the same checks.
# Forgiven: any case, Chinese colons and commas, bullets, numbers and stars around a name, lists over several lines.

# Before the first colon stands a name, and in some lines handles and a number after it.
_LINE = re.compile(r"[\s>*#•–-]*(?:\d{1,2}[.)、]\s*)?(?P<head>[^:：\n]{1,60})[:：]\**(?P<value>.*)\Z", re.DOTALL)
_HANDLE = re.compile(r"(?<![a-z0-9])[nmp]\d{1,3}(?![0-9])", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![a-z0-9.])\d+(?:\.\d+)?%?(?![a-z0-9.])", re.IGNORECASE)
_BULLET = re.compile(r"\A\s*(?:[-*•]|\d{1,2}[.)、])\s*")
_NOTHING = re.compile(r"\W*(?:none|nothing|无|没有)\W*\Z", re.IGNORECASE)
_QUOTE = re.compile('["“「『](?P<quote>[^"”」』\n]{1,300})["”」』]')
_CERTAINTY = re.compile(
    r"(?<![a-z])(?:unsure|likely|sure)(?![a-z])|不确定|没把握|很可能|可能|确定|有把握", re.IGNORECASE
)
_MARKS = " *_`[]<>()【】,，、.。"

_ANALYSIS = {
    "keywords": "keywords", "keyword": "keywords", "关键词": "keywords", "关键字": "keywords",
    "context": "context", "说明": "context", "语境": "context",
    "tags": "tags", "tag": "tags", "标签": "tags",
    "kind": "kind", "类型": "kind", "类别": "kind",
    "importance": "importance", "重要性": "importance", "重要程度": "importance",
    "entities": "entities", "entity": "entities", "实体": "entities", "名称": "entities",
    "facts": "facts", "fact": "facts", "事实": "facts",
}  # fmt: skip
_EVOLUTION = {
    "link": "link", "links": "link", "链接": "link",
    "context": "context", "说明": "context",
    "new tags": "tags", "tags": "tags", "新标签": "tags", "标签": "tags",
}  # fmt: skip
_EXTRACTION = {
    **{str(kind): str(kind) for kind in STATEMENT_KINDS},
    **{word: str(kind) for word, kind in CHINESE_KINDS.items() if kind in STATEMENT_KINDS},
    "summary": "summary", "摘要": "summary", "总结": "summary",
    "procedure": "procedure", "流程": "procedure",
    "when": "trigger", "trigger": "trigger", "何时": "trigger", "触发": "trigger",
    "steps": "step", "step": "step", "步骤": "step",
    "updates": "updates", "update": "updates", "更新": "updates",
}  # fmt: skip


@dataclass(slots=True)
class _Line:
    """``NAME about: value``, with the lines that continue it."""

    name: str
    about: str
    values: list[str]

    @property
    def text(self) -> str:
        return " ".join(self.values)

    @property
    def items(self) -> list[str]:
        """The value as a list, from commas or from one item a line."""
        return [item for value in self.values for item in re.split("[,;，、；]", _BULLET.sub("", value))]

    @property
    def handles(self) -> list[str]:
        return [handle.casefold() for handle in _HANDLE.findall(self.about)]

    @property
    def confidence(self) -> float | str | None:
        """A number, or one of the words for how sure the model is."""
        number = _NUMBER.search(_HANDLE.sub(" ", self.about))
        if number is not None:
            return share(number.group())
        word = _CERTAINTY.search(self.about)
        return None if word is None else word.group()


def analysis_lines(text: str) -> dict[str, Any]:
    """The answer to `analyze_sections` as an object. Raises BadModelAnswer when no line of it is known."""
    found: dict[str, Any] = {"facts": []}
    for line in _lines(text, _ANALYSIS):
        if line.about.strip(_MARKS):  # "Context matters: ..." is prose
            continue
        if line.name == "facts":
            found["facts"] += [re.split(r"\s*[|｜]\s*", _BULLET.sub("", value).strip()) for value in line.values]
        elif line.name in ("keywords", "tags", "entities"):
            found.setdefault(line.name, []).extend(line.items)
        elif line.name == "importance":
            number = _NUMBER.search(line.text)
            found.setdefault(line.name, number and number.group())
        else:
            found.setdefault(line.name, line.text)
    return found


def evolution_lines(text: str) -> dict[str, Any]:
    """The answer to `evolve_sections`; ``NONE`` proposes nothing."""
    found: dict[str, Any] = {"links": [], "rewrites": [], "tags": []}
    rewrites: dict[str, dict[str, Any]] = {}
    for line in _lines(text, _EVOLUTION):
        if line.name == "link":
            found["links"] += [
                {"to": handle, "type": _link_type(line), **_grounds(line), "confidence": line.confidence}
                for handle in line.handles
            ]
        elif not line.handles:
            found["tags"] += line.items if line.name == "tags" else []
        else:
            rewrite = rewrites.setdefault(line.handles[0], {"note": line.handles[0]})
            rewrite[line.name] = line.items if line.name == "tags" else line.text
            rewrite["confidence"] = rewrite.get("confidence", line.confidence)
            if line.name == "context" and _QUOTE.match(line.text):
                grounds = _grounds(line)
                rewrite |= {"quote": grounds["quote"], "context": grounds["reason"]}
    return {**found, "rewrites": list(rewrites.values())}


def extraction_lines(text: str) -> dict[str, Any]:
    """The answer to `extract_sections`; ``NONE`` states nothing."""
    found: dict[str, Any] = {"summary": "", "statements": [], "procedures": []}
    for line in _lines(text, _EXTRACTION):
        if line.name == "summary":
            found["summary"] = found["summary"] or line.text
        elif line.name == "procedure":
            found["procedures"].append({"name": line.text, "steps": [], "messages": line.handles})
        elif line.name in ("trigger", "step", "updates"):
            if found["procedures"]:
                _add_to(found["procedures"][-1], line)
        elif line.handles or not line.about.strip(_MARKS):
            found["statements"].append({"text": line.text, "kind": line.name, "messages": line.handles})
    return found


def _add_to(procedure: dict[str, Any], line: _Line) -> None:
    if line.name == "step":
        procedure["steps"] += line.values
    else:
        procedure[line.name] = line.text.strip(_MARKS) if line.name == "updates" else line.text


def _grounds(line: _Line) -> dict[str, str]:
    """The words of the old note that a line quotes, and what it says besides."""
    quote = _QUOTE.search(line.text)
    return {"quote": quote["quote"] if quote else "", "reason": _QUOTE.sub("", line.text, count=1).strip(" -–,，;；")}


def _link_type(line: _Line) -> str | None:
    """The type among what stands between ``LINK n1`` and the colon: all of it, or one word of it."""
    words = _NUMBER.sub(" ", _HANDLE.sub(" ", line.about)).strip(_MARKS)
    named = (link_type_named(word.strip(_MARKS)) for word in (words, *words.split()))
    return next((str(type_) for type_ in named if type_), None)


def _lines(text: str, names: Mapping[str, str]) -> list[_Line]:
    answer = without_thinking(text)
    refuse_noise(answer)
    found: list[_Line] = []
    open_ = False  # whether the line above may go on: a blank one ends it
    for raw in answer.splitlines():
        match = _LINE.match(raw)
        known = _name(match["head"], names) if match else None
        if match and known:
            found.append(_Line(*known, values=[match["value"].strip()] if match["value"].strip() else []))
        elif open_ and raw.strip():
            found[-1].values.append(raw.strip())
        open_ = bool(found) and bool(raw.strip())
    if not found and not _NOTHING.match(answer.strip()):
        raise BadModelAnswer(f"no line of the answer begins with {', '.join(sorted({*names.values()})[:3])}, ...")
    return found


def _name(head: str, names: Mapping[str, str]) -> tuple[str, str] | None:
    """The longest known name that `head` begins with, and what stands after it."""
    plain = head.strip(_MARKS).casefold()
    for name in sorted(names, key=len, reverse=True):
        if plain.startswith(name):
            rest = plain[len(name) :]
            # English names end where the word does; Chinese is written without spaces.
            if not rest or not name.isascii() or not rest[0].isalnum():
                return names[name], rest
    return None


# From a question to a value, whatever the model: the rungs that structured output climbs down.
#
# 1. ``constrained``: a call held to a JSON schema, whose answer is that JSON and nothing else. 2. ``repaired``: the
# same answer, after json-repair found the JSON in it (fences, prose, thinking, a missing end). 3. ``retried``: a
# second call that shows the model its answer and what was wrong with it. 4. ``sections``: a prompt that asks for
# plain lines instead of JSON, which models of a billion parameters can follow.
#
# What every rung finds is validated by the same reader, item by item: one wrong item is dropped with a sentence that
# says so instead of costing the whole answer. Below the last rung is BadModelAnswer; whoever asked then turns to the
# offline rules. Which rung held is counted in `Usage`.

Answer = TypeVar("Answer")

CONSTRAINED, REPAIRED, RETRIED, SECTIONS = "constrained", "repaired", "retried", "sections"

#: Calls after the first that unusable answers may cost: one for each rung below.
MOST_AGAIN = 2

#: How much of an answer that could not be used the model is shown again, in characters and in words.
_SHOWN_AGAIN, _WORDS_AGAIN = 4_000, 120


@dataclass(frozen=True, slots=True)
class Question(Generic[Answer]):
    """One thing asked of a model.

    `prompt` names the prompt file, `values` fills it; `read` makes a value of the object that has most of the fields of
    the `schema`, or raises BadModelAnswer. `sections` makes such an object of plain lines; with it,
    ``<prompt>_sections`` is asked last. `again` bounds the calls after the first: a note whose analysis took two of
    them has none left for its links.
    """

    prompt: str
    values: Mapping[str, str]
    schema: Mapping[str, Any]
    read: Callable[[dict[str, Any]], Answer]
    sections: Callable[[str], dict[str, Any]] | None = None
    language: str = ""
    again: int = MOST_AGAIN

    @property
    def fields(self) -> frozenset[str]:
        """What tells an answer from other objects."""
        return frozenset(self.schema["properties"])


@dataclass(frozen=True, slots=True)
class Answered(Generic[Answer]):
    """What was read, the name and version of the prompt that was answered, and how many calls it took."""

    value: Answer
    prompt: str
    calls: int = 1


class Ladder:
    """Asks `chat`. `prompts` is a folder whose files stand in for amem's own. Safe in many threads when `chat` is."""

    def __init__(self, chat: ChatModel, *, prompts: Path | None = None) -> None:
        self._chat = chat
        self._prompts = prompts
        #: The model's.
        self.name = chat.name
        #: What the calls cost; of a chat model that does not say, only the calls are counted.
        self.usage = chat.usage if isinstance(chat, Metered) else Usage()

    def ask(self, question: Question[Answer]) -> Answered[Answer]:
        """The answer from the first rung that holds.

        Raises BadModelAnswer when none does, and what `ChatModel.complete` raises when there is nobody to ask.
        """
        prompt = load_prompt(question.prompt, self._prompts, question.language)
        text = prompt.render(**question.values)
        answer = self._complete(text, question.schema)
        try:
            value, repaired = _read(question, answer)
        except BadModelAnswer as error:
            problem = str(error)
        else:
            self.usage.rung(REPAIRED if repaired else CONSTRAINED)
            return Answered(value, prompt.label)
        if question.again < 1:
            raise self._gave_up("once", BadModelAnswer(problem))
        if question.again == 1 and question.sections is not None:
            # The last chance is the one that the smallest models manage.
            return self._sections(question, BadModelAnswer(problem), 2)
        try:
            value = self._retry(question, text, answer, problem)
        except BadModelAnswer as error:
            return self._sections(question, error, 3)
        self.usage.rung(RETRIED)
        return Answered(value, prompt.label, 2)

    def _retry(self, question: Question[Answer], asked: str, answer: str, problem: str) -> Answer:
        again = load_prompt("retry", self._prompts, question.language).render(
            prompt=asked, answer=showing.line(answer[:_SHOWN_AGAIN], _WORDS_AGAIN), error=showing.line(problem, 40)
        )
        return _read(question, self._complete(again, question.schema))[0]

    def _sections(self, question: Question[Answer], refused: BadModelAnswer, calls: int) -> Answered[Answer]:
        if question.sections is None:
            raise self._gave_up("twice", refused) from refused
        prompt = load_prompt(f"{question.prompt}_sections", self._prompts, question.language)
        answer = self._complete(prompt.render(**question.values), None)
        try:
            value = question.read(_lines_or_json(question, question.sections, answer))
        except BadModelAnswer as error:
            raise self._gave_up("three times" if calls == 3 else "twice", error) from error
        self.usage.rung(SECTIONS)
        return Answered(value, prompt.label, calls)

    def _gave_up(self, times: str, error: BadModelAnswer) -> BadModelAnswer:
        return BadModelAnswer(
            f"{self.name} answered {times} outside its schema: {error}",
            hint="try a larger model (AMEM_LLM_MODEL)",
        )

    def _complete(self, prompt: str, schema: Mapping[str, object] | None) -> str:
        answer = self._chat.complete(prompt, schema=schema)
        if not isinstance(self._chat, Metered):
            self.usage.add()
        return answer


def _read(question: Question[Answer], answer: str) -> tuple[Answer, bool]:
    found = find_object(answer, question.fields)
    return question.read(found.object), found.repaired


def _lines_or_json(
    question: Question[Answer], sections: Callable[[str], dict[str, Any]], answer: str
) -> dict[str, Any]:
    try:
        return sections(answer)
    except BadModelAnswer as no_lines:
        try:  # asked for lines, some models come up with JSON at last
            return find_object(answer, question.fields).object
        except BadModelAnswer:
            raise no_lines from None
