"""Any metadata as the flat values that Chroma keeps, and back exactly as it was (`retrievers.py`)."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from amem import checks
from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

ENVELOPE = "amem_metadata"
_RESERVED = "chroma:"
#: What A-Mem's own documents, which have no envelope, hold as JSON or as digits; their other values are plain text.
_AMEM_LISTS = frozenset({"keywords", "links", "tags", "evolution_history"})
_AMEM_NUMBERS = frozenset({"retrieval_count"})


def pack(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """All of it as one JSON text, and beside it the values that Chroma can filter by.

    Raises InvalidInput naming the field that JSON cannot hold unchanged. A tuple counts as a list.
    """
    try:
        for name, value in metadata.items():
            if not isinstance(name, str):
                raise InvalidInput(f"metadata field names must be text, not {checks.shown(name)}")
            _check(name, value)
        whole = json.dumps(metadata)
    except RecursionError:
        raise InvalidInput("the metadata is nested too deeply") from None
    except InvalidInput:
        raise
    except ValueError as error:  # a number of more digits than Python writes
        raise InvalidInput(f"cannot keep the metadata: {error}") from error
    flat = {name: value for name, value in metadata.items() if _is_flat(name, value)}
    return {**flat, ENVELOPE: whole}


def unpack(stored: Mapping[str, Any] | None) -> dict[str, Any]:
    """The metadata that `pack` was given; of a document that A-Mem stored, with its known fields read."""
    if stored is None:
        return {}
    if ENVELOPE in stored:
        metadata: dict[str, Any] = json.loads(stored[ENVELOPE])
        return metadata
    return {name: _from_amem(name, value) for name, value in stored.items()}


def _check(name: str, value: object) -> None:
    if value is None or isinstance(value, str | bool | int | float):
        return
    if isinstance(value, list | tuple):
        for item in value:
            _check(name, item)
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInput(f"metadata field {name!r}: a key inside it is {checks.shown(key)}, not text")
            _check(name, item)
        return
    raise InvalidInput(
        f"metadata field {name!r} holds a {type(value).__name__}, which would not come back as it is",
        hint="use text, numbers, true or false, None, lists and dictionaries; times as ISO 8601 text",
    )


def _is_flat(name: str, value: object) -> bool:
    if not name or name.startswith(_RESERVED) or not _is_utf8(name):
        return False
    if isinstance(value, str):
        return _is_utf8(value)
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return isinstance(value, float) and math.isfinite(value)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _from_amem(name: str, value: object) -> object:
    if not isinstance(value, str) or name not in _AMEM_LISTS | _AMEM_NUMBERS:
        return value
    try:
        read = json.loads(value)
    except ValueError:
        return value
    return read if isinstance(read, list if name in _AMEM_LISTS else int) else value
