"""The JSON schemas that model answers are held to, where a server can hold them."""

from __future__ import annotations

from typing import Any

from amem.note import Kind, LinkType

#: A topic or an episode summary is made by amem, from many notes; everything else may be one note's kind.
NOTE_KINDS = tuple(kind for kind in Kind if kind is not Kind.TOPIC)

#: What a new note may be to an old one in a model's eyes; ``derived_from`` is for amem to say.
LINK_TYPES = tuple(type_ for type_ in LinkType if type_ is not LinkType.DERIVED_FROM)

_STRING = {"type": "string"}
_STRINGS = {"type": "array", "items": _STRING}
_SHARE = {"type": "number"}


def analysis_schema() -> dict[str, Any]:
    """What `analyze` asks for."""
    return _object(
        keywords=_STRINGS,
        context=_STRING,
        tags=_STRINGS,
        kind=_one_of(NOTE_KINDS),
        importance=_SHARE,
        entities=_STRINGS,
    )


def evolution_schema(handles: tuple[str, ...]) -> dict[str, Any]:
    """What `evolve` asks for; only the notes that were shown can be named."""
    shown = _one_of(handles)
    link = _object(to=shown, type=_one_of(LINK_TYPES), reason=_STRING, confidence=_SHARE)
    rewrite = _object(note=shown, context=_STRING, tags=_STRINGS, reason=_STRING, confidence=_SHARE)
    return _object(links={"type": "array", "items": link}, rewrites={"type": "array", "items": rewrite}, tags=_STRINGS)


def _one_of(values: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "string", "enum": [str(value) for value in values]}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
