"""Memory as tools: JSON-schema definitions for function-calling agents and a dispatcher that runs their calls.

A model's arguments are untrusted: they are checked against the schema and the errors go back to it as text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote

_TEXT = {"type": "string"}
_LABELS = {"type": "array", "items": {"type": "string"}}
_ID = {"type": "string", "description": "The note's id, or the beginning of it."}
_PYTHON_TYPES: Mapping[str, type | tuple[type, ...]] = {"string": str, "integer": int, "array": list}


@dataclass(frozen=True, slots=True)
class _Tool:
    name: str
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    run: Callable[[AgenticMemorySystem, Mapping[str, Any]], Any]

    def definition(self) -> dict[str, Any]:
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": {
                    "type": "object",
                    "properties": {name: dict(schema) for name, schema in self.parameters.items()},
                    "required": list(self.required),
                    "additionalProperties": False,
                },
            },
        }


class Toolbox:
    """The memory tools of one collection. What they change is logged as done by ``agent`` and can be undone."""

    def __init__(self, memory: AgenticMemorySystem) -> None:
        self._memory = memory
        self._tools = {tool.name: tool for tool in _TOOLS}

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """The tools in the shape that function-calling models are given."""
        return [tool.definition() for tool in self._tools.values()]

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
        """Run one call; `arguments` is an object or its JSON text.

        Returns ``{"ok": true, "result": ...}``, or ``{"ok": false, "error": ..., "hint": ...}`` for whatever a model
        can get wrong, so that it can be handed back as it is.
        """
        try:
            tool = self._tools.get(name)
            if tool is None:
                raise InvalidInput(f"there is no tool {name!r}", hint=f"the tools are {', '.join(self._tools)}")
            return {"ok": True, "result": tool.run(self._memory, _checked(tool, arguments))}
        except AmemError as error:
            return {"ok": False, "error": str(error), "hint": error.hint}


def _checked(tool: _Tool, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"the arguments of {tool.name} are not JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise InvalidInput(f"the arguments of {tool.name} must be an object")
    for name in tool.required:
        if name not in arguments:
            raise InvalidInput(f"{tool.name} needs {name!r}")
    for name, value in arguments.items():
        if name not in tool.parameters:
            raise InvalidInput(f"{tool.name} takes no {name!r}", hint=f"it takes {', '.join(tool.parameters)}")
        wanted = str(tool.parameters[name]["type"])
        if isinstance(value, bool) or not isinstance(value, _PYTHON_TYPES[wanted]):
            raise InvalidInput(f"{name!r} of {tool.name} must be of type {wanted}, not {value!r}")
    return arguments


def _add(memory: AgenticMemorySystem, given: Mapping[str, Any]) -> Any:
    fields = {name: given[name] for name in ("tags", "keywords", "context") if name in given}
    return memory.acting_as("agent").add(given["content"], time=given.get("time"), **fields).to_dict()


def _search(memory: AgenticMemorySystem, given: Mapping[str, Any]) -> Any:
    k = given.get("k", 5)
    if not 1 <= k <= 50:
        raise InvalidInput(f"k must be from 1 to 50, not {k}")
    return [
        {name: hit[name] for name in ("id", "content", "context", "tags", "timestamp", "score", "matched_by")}
        for hit in memory.search_agentic(given["query"], k)
    ]


def _read(memory: AgenticMemorySystem, given: Mapping[str, Any]) -> Any:
    note = memory.read(memory.resolve(given["id"]))
    assert note is not None
    memory.opened([note.id])
    return _plain(note)


def _update(memory: AgenticMemorySystem, given: Mapping[str, Any]) -> Any:
    fields = {name: value for name, value in given.items() if name != "id"}
    if not fields:
        raise InvalidInput("memory_update needs something to change")
    id = memory.resolve(given["id"])
    memory.acting_as("agent").update(id, **fields)
    return _read(memory, {"id": id})


def _delete(memory: AgenticMemorySystem, given: Mapping[str, Any]) -> Any:
    id = memory.resolve(given["id"])
    memory.acting_as("agent").delete(id)
    return {"deleted": id}


def _links(memory: AgenticMemorySystem, given: Mapping[str, Any]) -> Any:
    id = memory.resolve(given["id"])
    return [
        {"source": link.source, "target": link.target, "type": str(link.type), "reason": link.reason}
        for link in (*memory.links(id), *memory.backlinks(id))
    ]


def _plain(note: MemoryNote) -> dict[str, Any]:
    names = ("id", "content", "context", "keywords", "tags", "links", "timestamp", "category", "version")
    return {name: getattr(note, name) for name in names} | {"kind": str(note.kind)}


_TOOLS = (
    _Tool(
        "memory_add",
        "Remember one thing: a fact, decision, preference, procedure or event, in a sentence or a short paragraph.",
        {
            "content": _TEXT | {"description": "What to remember, understandable by itself."},
            "time": _TEXT | {"description": "When it was said or happened, ISO 8601; default now."},
            "tags": _LABELS,
            "keywords": _LABELS,
            "context": _TEXT,
        },
        ("content",),
        _add,
    ),
    _Tool(
        "memory_search",
        "Find remembered notes that answer a question, with those they are linked to, best first.",
        {
            "query": _TEXT | {"description": "The question in the user's own words."},
            "k": {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many notes; default 5."},
        },
        ("query",),
        _search,
    ),
    _Tool("memory_read", "Read one note with all its fields.", {"id": _ID}, ("id",), _read),
    _Tool(
        "memory_update",
        "Correct a note. The old version is kept.",
        {"id": _ID, "content": _TEXT, "tags": _LABELS, "keywords": _LABELS, "context": _TEXT},
        ("id",),
        _update,
    ),
    _Tool("memory_delete", "Forget a note; a person can restore it.", {"id": _ID}, ("id",), _delete),
    _Tool("memory_links", "The links from and to a note, with their reasons.", {"id": _ID}, ("id",), _links),
)
