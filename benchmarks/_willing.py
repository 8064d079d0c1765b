"""A chat model that answers any schema, as willingly as a model may, so that every call is made at its full size.

What it says means nothing: its words are the note's own. Figures taken with it are about prompts, never about answers.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from amem.llm.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from amem.message import Message

#: Words of a sentence, and of a name or tag, that it writes.
_SENTENCE, _NAME = 25, 2
_ITEMS = 4
_SENTENCES = ("context", "reason", "summary", "text", "content", "statement")
_BETWEEN_MARKS = re.compile(r"<<<(.*?)>>>", re.DOTALL)


class WillingChat:
    """Answers from the schema; `heard` is told every prompt, its schema and the answer."""

    def __init__(self, heard: Callable[[str, Mapping[str, object] | None, str], None]) -> None:
        self._heard = heard
        self._usage = Usage()

    @property
    def name(self) -> str:
        return "benchmark/willing"

    @property
    def usage(self) -> Usage:
        return self._usage

    def complete(self, prompt: str, *, schema: Mapping[str, object] | None = None, temperature: float = 0.0) -> str:
        answer = willing_answer(prompt, schema)
        self._heard(prompt, schema, answer)
        self._usage.add()
        return answer

    def stream(self, messages: Sequence[Message], *, temperature: float = 0.7) -> Iterator[str]:
        yield self.complete("\n".join(message.content for message in messages))


def willing_answer(prompt: str, schema: Mapping[str, object] | None) -> str:
    """Something that `schema` allows, in the words of the last note of the prompt; of no schema, those words."""
    notes = [note for note in _BETWEEN_MARKS.findall(prompt) if note.strip()]
    note = " ".join((notes[-1] if notes else prompt[-400:]).split())
    if schema is None:
        return _first(note, _NAME * 3)
    return json.dumps(_fill(schema, schema, "", 0, note), ensure_ascii=False)


def _fill(schema: Mapping[str, Any], root: Mapping[str, Any], name: str, turn: int, note: str) -> Any:
    if "$ref" in schema:
        return _fill(root["$defs"][schema["$ref"].rpartition("/")[2]], root, name, turn, note)
    if "anyOf" in schema:
        return _fill(schema["anyOf"][0], root, name, turn, note)
    if "enum" in schema:
        return schema["enum"][turn % len(schema["enum"])]
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            # The type of a link stays the first, so that willingness supersedes nothing.
            return {
                key: _fill(each, root, key, turn if key in ("to", "note") else 0, note)
                for key, each in properties.items()
            }
        case "array":
            items = range(min(_ITEMS, schema.get("maxItems", _ITEMS)))
            return [_fill(schema["items"], root, name, number, _rest(note, number)) for number in items]
        case "number":
            return 0.95
        case "integer":
            return 1
        case "boolean":
            return True
    return _first(note, _SENTENCE if name in _SENTENCES else _NAME)


def _first(text: str, words: int) -> str:
    """So many words; where there are no spaces, twice as many characters."""
    cut = " ".join(text.split()[:words])
    return cut if len(cut) <= 12 * words and " " in text else cut[: 2 * words]


def _rest(text: str, number: int) -> str:
    words = text.split()
    if len(words) > 4 * _ITEMS:
        return " ".join(words[2 * number :])
    return text[2 * number :] or text
