"""What may be put into a question: each check names the field it is for and says what it takes instead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from numbers import Real
from typing import Any, TypeVar

from amem.errors import InvalidInput

Member = TypeVar("Member", bound=StrEnum)

_MANY = (tuple, list, set, frozenset)
#: What SQLite keeps as a whole number.
_LARGEST = 2**63


def text(field: str, value: Any) -> str:
    """Text that is valid Unicode and can be looked up. Raises InvalidInput."""
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be text, not {_shown(value)}")
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise InvalidInput(
            f"{field} holds a NUL or half of a surrogate pair, which is not text", hint="use valid Unicode"
        )
    return value


def name(field: str, value: Any) -> str:
    """Text that is not blank. Raises InvalidInput: what is to be one's own must not turn out to be nobody's."""
    if not (stripped := text(field, value).strip()):
        raise InvalidInput(f"{field} must not be empty", hint="leave it out to ask for all")
    return stripped


def texts(field: str, value: Any) -> tuple[str, ...]:
    """Several texts. Raises InvalidInput, for a single text too: its letters would pass for several."""
    return tuple(text(f"each of {field}", each) for each in _many(field, value, "texts"))


def members(field: str, value: Any, of: type[Member]) -> tuple[Member, ...]:
    """Several members of an enum, given as such or by name. Raises InvalidInput."""
    return tuple(member(field, each, of) for each in _many(field, value, f"{of.__name__} members"))


def member(field: str, value: Any, of: type[Member]) -> Member:
    """One member of an enum, given as such or by name. Raises InvalidInput."""
    try:
        return of(value.strip().lower() if isinstance(value, str) else value)
    except ValueError:
        raise InvalidInput(
            f"{field}: there is no {of.__name__.lower()} {value!r}", hint=f"the {field} are {', '.join(of)}"
        ) from None


def moment(field: str, value: Any) -> datetime:
    """A time. Raises InvalidInput."""
    if not isinstance(value, datetime):
        raise InvalidInput(f"{field} must be a datetime, not {_shown(value)}", hint="use datetime.fromisoformat(...)")
    return value


def number(field: str, value: Any, least: float, most: float) -> float:
    """A number between two bounds. Raises InvalidInput, for what is no number (NaN) too."""
    if isinstance(value, bool) or not isinstance(value, Real) or not least <= float(value) <= most:
        raise InvalidInput(f"{field} must be a number from {least:g} to {most:g}, not {_shown(value)}")
    return float(value)


def flag(field: str, value: Any) -> bool:
    """True or False. Raises InvalidInput."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{field} must be true or false, not {_shown(value)}")
    return value


def metadata(field: str, value: Any) -> Mapping[str, str | int | float | bool]:
    """What a note's metadata must hold: texts, numbers or truth values by key. Raises InvalidInput."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{field} must be a mapping, not {_shown(value)}", hint='write {"key": "value"}')
    for key, each in value.items():
        if not isinstance(key, str) or '"' in text(field, key):
            raise InvalidInput(f"cannot filter by the {field} key {key!r}")
        if isinstance(each, str):
            text(f"{field} {key!r}", each)
        elif not isinstance(each, bool) and not _countable(each):
            raise InvalidInput(f"can filter {field} {key!r} by text, number or truth value only, not {_shown(each)}")
    return dict(value)


def _many(field: str, value: Any, what: str) -> tuple[Any, ...]:
    if not isinstance(value, _MANY):
        hint = f"write {field}=({value!r},)" if isinstance(value, str) else ""
        raise InvalidInput(f"{field} must be a tuple of {what}, not {_shown(value)}", hint=hint)
    return tuple(value)


def _countable(value: Any) -> bool:
    if isinstance(value, int):
        return -_LARGEST <= value < _LARGEST
    return isinstance(value, float) and math.isfinite(value)


def _shown(value: Any) -> str:
    """A value as an error shows it: whole where it is short, else by its type."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f"a {type(value).__name__}"
