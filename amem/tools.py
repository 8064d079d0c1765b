"""Memory as tools: JSON-schema definitions for function-calling agents and a dispatcher that runs their calls.

A model's arguments are untrusted: they are checked against the schema and the errors go back to it as text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem import checks
from amem.clock import parse_time, zone
from amem.errors import AmbiguousId, AmemError, InvalidInput, NoteNotFound
from amem.note import Kind
from amem.query import Filter
from amem.storage.rows import overturned_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote

_TEXT = {"type": "string"}
_LABELS = {"type": "array", "items": {"type": "string"}}
_ID = {"type": "string", "description": "The note's id, or the beginning of it."}
_MOMENT = "ISO 8601, such as 2026-03-01 or 2026-03-01T09:30."
#: Longer texts do an agent no good: it can ask again.
_MOST_TOKENS = 20_000
_PYTHON_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "array": list,
}


@dataclass(frozen=True, slots=True)
class _Scope:
    """The notes that a toolbox may touch: all of a collection, or those with these ids in their metadata."""

    memory: AgenticMemorySystem
    ids: Mapping[str, str]

    def note(self, prefix: str) -> MemoryNote:
        """The note of that id. Raises NoteNotFound, for a note outside the scope too, or AmbiguousId."""
        try:
            note = self.memory.read(self.memory.resolve(prefix))
        except AmbiguousId as error:
            # Which others there are is not to be told where not all of them are one's own.
            raise (AmbiguousId(f"{prefix!r} fits several notes", hint=error.hint) if self.ids else error) from None
        if note is None or not self.holds(note):
            raise NoteNotFound(f"no note {prefix!r}")
        return note

    def holds(self, note: MemoryNote) -> bool:
        """Whether the note is one of those."""
        return all(str(note.metadata.get(name)) == id for name, id in self.ids.items())


@dataclass(frozen=True, slots=True)
class _Tool:
    name: str
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    run: Callable[[_Scope, Mapping[str, Any]], Any]

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
    """The memory tools of one collection. What they change is logged as done by ``agent`` and can be undone.

    With a `user_id`, `agent_id` or `session_id` they add notes under these ids, and find, show and change no others:
    whose notes they are is for the program to say, not for the model. Raises InvalidInput for an id that is none.
    """

    def __init__(
        self,
        memory: AgenticMemorySystem,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
    ) -> None:
        given = {"user_id": user_id, "agent_id": agent_id, "session_id": session_id}
        ids = {name: checks.name(name, id) for name, id in given.items() if id is not None}
        self._scope = _Scope(memory, ids)
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
            return {"ok": True, "result": tool.run(self._scope, _checked(tool, arguments))}
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


def _add(scope: _Scope, given: Mapping[str, Any]) -> Any:
    fields: dict[str, Any] = dict(scope.ids)
    fields |= {name: given[name] for name in ("tags", "keywords", "context") if name in given}
    return scope.memory.acting_as("agent").add(given["content"], time=given.get("time"), **fields).to_dict()


def _search(scope: _Scope, given: Mapping[str, Any]) -> Any:
    k = given.get("k", 5)
    if not 1 <= k <= 50:
        raise InvalidInput(f"k must be from 1 to 50, not {k}")
    local = zone(scope.memory.settings.timezone)
    wanted: dict[str, Any] = dict(scope.ids)
    wanted |= {name: given[name] for name in ("tags", "kinds", "speaker") if name in given}
    wanted |= {name: parse_time(given[name], local) for name in ("since", "until", "as_of") if name in given}
    hits = scope.memory.search_agentic(
        given["query"], k, filter=Filter(**wanted), minimum_confidence=given.get("minimum_confidence")
    )
    shown = ("id", "content", "context", "tags", "timestamp", "score", "confidence", "support", "matched_by")
    return [{**{name: hit[name] for name in shown}, "content": hit.text, "doubts": list(hit.doubts)} for hit in hits]


def _context(scope: _Scope, given: Mapping[str, Any]) -> Any:
    budget = given.get("budget_tokens", scope.memory.settings.context_tokens)
    if not 50 <= budget <= _MOST_TOKENS:
        raise InvalidInput(f"budget_tokens must be from 50 to {_MOST_TOKENS}, not {budget}")
    ids: dict[str, Any] = dict(scope.ids)
    made = scope.memory.context(given["query"], budget, filter=Filter(**ids))
    return {"text": made.text, "notes": [note.id for note in made.notes], "support": made.support}


def _read(scope: _Scope, given: Mapping[str, Any]) -> Any:
    note = scope.note(given["id"])
    scope.memory.opened([note.id])
    return _plain(note)


def _update(scope: _Scope, given: Mapping[str, Any]) -> Any:
    fields = {name: value for name, value in given.items() if name != "id"}
    if not fields:
        raise InvalidInput("memory_update needs something to change")
    id = scope.note(given["id"]).id
    scope.memory.acting_as("agent").update(id, **fields)
    return _read(scope, {"id": id})


def _delete(scope: _Scope, given: Mapping[str, Any]) -> Any:
    id = scope.note(given["id"]).id
    scope.memory.acting_as("agent").delete(id)
    return {"deleted": id}


def _links(scope: _Scope, given: Mapping[str, Any]) -> Any:
    id = scope.note(given["id"]).id
    links = (*scope.memory.links(id), *scope.memory.backlinks(id))
    if scope.ids:
        # The reason of a link may tell what its other end says.
        ends = {end: scope.memory.read(end) for link in links for end in (link.source, link.target)}
        links = tuple(
            link for link in links if all(n and scope.holds(n) for n in (ends[link.source], ends[link.target]))
        )
    return [
        {"source": link.source, "target": link.target, "type": str(link.type), "reason": link.reason} for link in links
    ]


def _plain(note: MemoryNote) -> dict[str, Any]:
    names = ("id", "content", "context", "keywords", "tags", "links", "timestamp", "category", "version")
    overturned = [overturned_plain(each) for each in note.overturned]
    said = {name: getattr(note, name) for name in names} | {"kind": str(note.kind)}
    return said | {"overturned": overturned, "doubts": list(note.doubts)}


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
        "Find remembered notes that answer a question, with those they are linked to, best first. `support` tells how"
        " well a note supports an answer: strong, weak or none.",
        {
            "query": _TEXT | {"description": "The question in the user's own words."},
            "k": {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many notes; default 5."},
            "tags": _LABELS | {"description": "Only notes that carry all of these tags."},
            "kinds": {
                "type": "array",
                "items": {"type": "string", "enum": [str(kind) for kind in Kind]},
                "description": "Only notes of one of these kinds.",
            },
            "speaker": _TEXT | {"description": "Only what this person said."},
            "since": _TEXT | {"description": f"Only what is about this time or later: {_MOMENT}"},
            "until": _TEXT | {"description": f"Only what is about a time before this: {_MOMENT}"},
            "as_of": _TEXT | {"description": f"Only what was true at this time: {_MOMENT}"},
            "minimum_confidence": {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "description": "Only notes at least this likely to hold the answer.",
            },
        },
        ("query",),
        _search,
    ),
    _Tool(
        "memory_context",
        "All that is known about a question as one text that fits a budget, with what always holds about the user.",
        {
            "query": _TEXT | {"description": "The question in the user's own words."},
            "budget_tokens": {
                "type": "integer",
                "minimum": 50,
                "maximum": _MOST_TOKENS,
                "description": "Most tokens of the text; default 2000.",
            },
        },
        ("query",),
        _context,
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
