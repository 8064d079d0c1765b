"""A model that gives every prompt an answer of the shape that is asked for, and judges nothing."""

from __future__ import annotations

import re
from typing import Any

from amem.language import query_terms

_BETWEEN_MARKS = re.compile(r"<<<(.*?)>>>", re.DOTALL)
#: Several new notes at once stand under handles, each on a line of its own.
_NEW_NOTES = re.compile(r"^(s\d+) <<<(.*?)>>>", re.MULTILINE | re.DOTALL)
_LETTERS, _WORDS = 160, 4


def willing_model(request: dict[str, Any]) -> str | dict[str, Any]:
    """An answer to the JSON of a chat or generate request, Ollama's or OpenAI's, the same every time.

    It fits the schema: a text is the beginning of what the prompt shows last between ``<<<`` and ``>>>``, a list of
    texts its first words, a choice the first, a list of choices all of them, and no other list holds anything. So a
    note is described in its own words, and nothing is linked, rewritten, learnt or cited. Without a schema it says
    ``All right.``. What is to be judged is for a function of your own, which may hand on everything else.
    """
    said = [str(message.get("content") or "") for message in request.get("messages") or ()]
    prompt = "\n\n".join(said or [str(request.get("prompt", ""))])
    schema = request.get("format")
    if schema is None:
        schema = ((request.get("response_format") or {}).get("json_schema") or {}).get("schema")
    if not isinstance(schema, dict):
        return "All right."
    shown = _BETWEEN_MARKS.findall(prompt)
    answer = _filled(schema, shown[-1] if shown else prompt)
    if not isinstance(answer, dict):
        return str(answer)
    if notes := _NEW_NOTES.findall(prompt) if "notes" in answer else ():
        each = schema["properties"]["notes"]["items"]
        answer["notes"] = [{**_filled(each, text), "note": handle} for handle, text in notes]
    return answer


def _filled(schema: dict[str, Any], text: str) -> Any:
    """What fits a schema, of this text."""
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: _filled(item, text) for name, item in schema.get("properties", {}).items()}
        case "array":
            items = schema.get("items", {})
            return items.get("enum") or (query_terms(text)[:_WORDS] if items.get("type") == "string" else [])
        case "number":
            return 0.5
        case "integer":
            return 0
        case "boolean":
            return True
    return " ".join(text.split())[:_LETTERS]
