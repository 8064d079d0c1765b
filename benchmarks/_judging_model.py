"""A model that answers every prompt of amem's well enough, by rules that stand in for judgement."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import _judging_answers as answers
from _judging_answers import Asked

from amem.language import written_in_cjk
from amem.retrieval.budget import RECALLED_END, RECALLED_START

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# The rules of `_judging_answers` for prompts that want plain lines: the same answers, written as ``KEYWORDS: a, b``.


def analysis(asked: Asked) -> str:
    """One line for each field."""
    answer = answers.analysis(asked)
    facts = [" | ".join(fact.values()) for fact in answer.pop("facts")]
    fields = [f"{name.upper()}: {_plain(value)}" for name, value in answer.items() if value]
    return "\n".join([*fields, *(f"FACT: {fact}" for fact in facts)])


def evolution(asked: Asked) -> str:
    """A line for each link, two for a rewrite; NONE for neither."""
    answer = answers.evolution(asked)
    lines = [
        f"LINK {link['to']} {link['type']} {link['confidence']}: “{link['quote']}” {link['reason']}"
        for link in answer["links"]
    ]
    for rewrite in answer["rewrites"]:
        if rewrite["context"]:
            lines.append(
                f"CONTEXT {rewrite['note']} {rewrite['confidence']}: “{rewrite['quote']}” {rewrite['context']}"
            )
        lines.append(f"TAGS {rewrite['note']} {rewrite['confidence']}: {_plain(rewrite['tags'])}")
    return "\n".join(lines) or "NONE"


def extraction(asked: Asked) -> str:
    """A line for each statement, several for a procedure; NONE for neither."""
    answer = answers.extraction(asked)
    lines = [f"{said['kind'].upper()} {said['messages'][0]}: {said['text']}" for said in answer["statements"]]
    for procedure in answer["procedures"]:
        lines += _procedure(procedure)
    return "\n".join([f"SUMMARY: {answer['summary']}", *lines]) if lines else "NONE"


def _procedure(procedure: dict[str, Any]) -> Iterator[str]:
    yield f"PROCEDURE {procedure['messages'][0]}: {procedure['name']}"
    yield f"WHEN: {procedure['trigger']}"
    yield from (f"STEP: {step}" for step in procedure["steps"])


def _plain(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


# A model that answers every prompt of amem's well enough: rules that stand in for judgement, so that things can run.
#
# It shows that prompts, schemas and wires fit together. It says nothing about how well a real model would answer.

#: Which rules answer a schema is told by fields that only it has.
_BY_FIELD: dict[str, Callable[[Asked], dict[str, Any]]] = {
    "keywords": answers.analysis,
    "notes": answers.batch,
    "links": answers.evolution,
    "gone": answers.page,
    "statements": answers.extraction,
    "in_memory": answers.answer,
    "best": answers.order,
    "verdicts": answers.verdicts,
    "merged": answers.merge,
    "suffices": answers.suffices,
}
#: The prompts for models that cannot write JSON show the lines they want.
_BY_LINE = (
    (re.compile(r"^(?:KEYWORDS|关键词)[:：]", re.MULTILINE), analysis),
    (re.compile(r"^(?:LINK|链接) n1", re.MULTILINE), evolution),
    (re.compile(r"^(?:SUMMARY|摘要)[:：]", re.MULTILINE), extraction),
)
_RECALLED = re.compile(f"{re.escape(RECALLED_START)}(.*?){re.escape(RECALLED_END)}", re.DOTALL)
_CORE = re.compile(r"^- (\(\w.*)$", re.MULTILINE)
#: Number, date and kind of a note, as lines about it begin.
_BEFORE_NOTE = re.compile(r"^\s*(?:\d+\. )?(?:\[[^\]]*\] ?|\([^)]*\) ?)?")
_LABELLED = re.compile(r"^(?:Question|问题)[:：][ \t]*(.+)$", re.MULTILINE)
_QUESTION = re.compile(r"[?？]|吗|什么|哪|谁|几|^(?:what|who|where|when|which|how|why|do|does|did|is|are|was)\b", re.I)


def judging_model(request: dict[str, Any]) -> str | dict[str, Any]:
    """An answer to the JSON of a chat or generate request, Ollama's or OpenAI's, the same every time.

    Analysis takes keywords from the note; evolution links the notes shown that share a word with the new one and
    rewrites the first of them; extraction quotes what people said; an answer quotes the notes that share a word with
    the question, and an order puts those first that share most. A schema of somebody else's gets values of its types.
    Without a schema, prompts for plain lines get those lines, a question gets the recalled note that fits it best, and
    anything else a short sentence.
    """
    asked = Asked.of(request)
    if asked.schema is None:
        return next((rules(asked) for wanted, rules in _BY_LINE if wanted.search(asked.prompt)), None) or _talk(asked)
    for field, rules in _BY_FIELD.items():
        if field in asked.schema.get("properties", {}):
            return rules(asked)
    filled = _filled(asked.schema)
    return filled if isinstance(filled, dict) else str(filled)


def _talk(asked: Asked) -> str:
    said = _RECALLED.sub(" ", asked.last_said).strip()
    chinese = written_in_cjk(said)
    if "<<<" in said and (labelled := _LABELLED.search(said)):
        # Somebody else's prompt: notes between marks, and a question in a line of its own.
        return answers.fitting(labelled[1], asked.note.splitlines()) or "not mentioned"
    recalled = [
        *_CORE.findall(asked.prompt),
        *(line for block in _RECALLED.findall(asked.prompt) for line in block.splitlines()),
    ]
    if not _QUESTION.search(said):
        return "好的。" if chinese else "All right."
    if line := answers.fitting(said, recalled):
        line = _BEFORE_NOTE.sub("", line)
        return f"你告诉过我：{line}" if chinese else f"You told me: {line}"
    return "我的记忆里没有这个。" if chinese else "That is not in my memory."


def _filled(schema: dict[str, Any]) -> Any:
    """The least that fits a schema."""
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: _filled(item) for name, item in schema.get("properties", {}).items()}
        case "array":
            return []
        case "number" | "integer":
            return 0
        case "boolean":
            return False
    return ""
