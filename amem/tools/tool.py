"""The definition of a tool and the validation of a model's arguments, which are untrusted."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from amem import checks
from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
FLAG = {"type": "boolean"}
LABELS = {"type": "array", "items": {"type": "string"}}
_ID = "The note's id, or the beginning of it."
Id = Annotated[str, _ID]
IdOrNone = Annotated[str | None, _ID]
MOMENT = "ISO 8601, such as 2026-03-01 or 2026-03-01T09:30."
#: The schema of each type that a tool takes; what may be left out is None then.
_SCHEMAS: dict[Any, Mapping[str, Any]] = {str: TEXT, int: WHOLE, float: NUMBER, bool: FLAG, list[str]: LABELS}
_SCHEMAS |= {list[Any]: {"type": "array"}}
_SCHEMAS |= {each | None: schema for each, schema in _SCHEMAS.items()}
_PYTHON_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
}


def objects(properties: Mapping[str, Any], *, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """The schema of an object that has these properties and no others, all but the `optional` ones always."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def lists(items: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a list of these."""
    return {"type": "array", "items": dict(items)}


def or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of this, or of null."""
    return {**schema, "type": [schema["type"], "null"]}


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: what a model is told of it, the schema of its `result`, and the function that runs it.

    `run` takes the memory and the arguments by their names. `reads` tells that it changes no note, `adds` that what it
    changes only comes on top of what is there, `repeats` that a second call with the same arguments does nothing more.
    A tool that is not `confined` works on the whole collection, and so is not for a toolbox that is confined to ids.
    """

    name: str
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    run: Callable[..., Any]
    result: Mapping[str, Any]
    reads: bool = False
    adds: bool = False
    repeats: bool = False
    confined: bool = True

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return objects(
            {name: dict(schema) for name, schema in self.parameters.items()},
            optional=tuple(name for name in self.parameters if name not in self.required),
        )

    def checked(self, arguments: Mapping[str, Any] | str | None) -> dict[str, Any]:
        """The arguments, an object or its JSON text, as `run` takes them. Raises InvalidInput that names the fault."""
        takes = f"it takes {', '.join(self.parameters) or 'no arguments'}"
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments or "{}")
            except (ValueError, RecursionError) as error:
                raise InvalidInput(f"the arguments are not JSON: {error}", hint=takes) from error
        if not isinstance(arguments, dict):
            raise InvalidInput("the arguments must be an object", hint=takes)
        for name, value in arguments.items():
            if name not in self.parameters:
                raise InvalidInput(f"there is no argument {checks.shown(name)}", hint=takes)
            wanted = str(self.parameters[name]["type"])
            if not isinstance(value, _PYTHON_TYPES[wanted]) or isinstance(value, bool) is not (wanted == "boolean"):
                raise InvalidInput(f"{name!r} must be of type {wanted}, not {checks.shown(value)}", hint=takes)
        for name in self.required:
            if name not in arguments:
                raise InvalidInput(f"the argument {name!r} is missing", hint=takes)
        return arguments


def tool(description: str, result: Mapping[str, Any], **how: bool) -> Callable[[Callable[..., Any]], Tool]:
    """Make a tool of the function that runs it: its name (with no ``_`` behind it) and what it takes are the tool's.

    A parameter's annotation says its type, in words what it means, and in a dictionary what else its schema holds. The
    first one is the memory; those without a default have to be given. `how` are the flags of `Tool`.
    """

    def made(run: Callable[..., Any]) -> Tool:
        _, *taken = inspect.signature(run).parameters.values()
        parameters = {each.name: _schema_of(each.annotation) for each in taken}
        required = tuple(each.name for each in taken if each.default is each.empty)
        return Tool(run.__name__.removesuffix("_"), description, parameters, required, run, result, **how)

    return made


def _schema_of(annotation: Any) -> dict[str, Any]:
    type, *said = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    schema = dict(_SCHEMAS[type])
    for each in said:
        schema |= {"description": each} if isinstance(each, str) else each
    return schema
