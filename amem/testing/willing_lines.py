"""The rules of `willing_answers` for prompts that want plain lines: the same answers, written as ``KEYWORDS: a, b``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.testing import willing_answers as answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.testing.reading_prompts import Asked


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
