"""What may be handed in: each check names the field it is for and says what it takes instead."""

from __future__ import annotations

import math
import os
import reprlib
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from numbers import Real
from typing import Any, TypeVar

from amem.clock import is_datable
from amem.errors import InvalidInput
from amem.visible import is_plain_name

Member = TypeVar("Member", bound=StrEnum)

_MANY = (tuple, list, set, frozenset)
#: What SQLite keeps as a whole number.
_LARGEST = 2**63
#: Seconds and days: 30 years are that many seconds, and no system waits for 300.
_GREATEST = 1e9
_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60


def text(field: str, value: Any) -> str:
    """Text that is valid Unicode and can be looked up. Raises InvalidInput."""
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be text, not {shown(value)}")
    if not is_text(value):
        raise InvalidInput(
            f"{field} holds a NUL or half of a surrogate pair, which is not text", hint="use valid Unicode"
        )
    return value


#: Longest text that is no note, question or document, in characters: a reason, a name, a context, a word of a command.
LONGEST_LINE = 4_000


def short(field: str, value: Any) -> None:
    """Hold a text, or each of a list, against `LONGEST_LINE`; what else is handed in passes. Raises InvalidInput."""
    several = isinstance(value, list | tuple)
    for each in value if several else (value,):
        if isinstance(each, str) and len(each) > LONGEST_LINE:
            named = f"one of the {field}" if several else field
            raise InvalidInput(f"{named} has {len(each):,} characters; at most {LONGEST_LINE:,} are allowed")


def is_text(value: str) -> bool:
    """Whether a text is valid Unicode without NUL, as a database and a model's server take it."""
    try:
        return b"\x00" not in value.encode()
    except UnicodeEncodeError:
        return False


def name(field: str, value: Any) -> str:
    """Text that is not blank. Raises InvalidInput: what is to be one's own must not turn out to be nobody's."""
    if not (stripped := text(field, value).strip()):
        raise InvalidInput(f"{field} must not be empty", hint="leave it out to ask for all")
    return stripped


#: Longest id, in characters.
_LONGEST_ID = 200


def identifier(field: str, value: Any) -> str:
    """An id: short, one line, without characters that drive a terminal or disguise a text. Raises InvalidInput."""
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_ID:
        raise InvalidInput(f"{field} must be a short text, not {shown(value)}", hint=f"up to {_LONGEST_ID} characters")
    if not is_plain_name(value):
        raise InvalidInput(
            f"{field} holds control characters or marks of direction: {value!r}", hint="an id is plain text on one line"
        )
    return value


def texts(field: str, value: Any) -> tuple[str, ...]:
    """Several texts. Raises InvalidInput, for a single text too: its letters would pass for several."""
    return tuple(text(f"each of {field}", each) for each in _many(field, value, "texts"))


def members(field: str, value: Any, of: type[Member]) -> tuple[Member, ...]:
    """Several members of an enum, given as such or by name. Raises InvalidInput."""
    return tuple(member(field, each, of) for each in _many(field, value, f"{of.__name__} members"))


def member(field: str, value: Any, of: type[Member]) -> Member:
    """One member of an enum, given as such or by name. Raises InvalidInput."""
    found = of.__members__.get(value.strip().upper()) if isinstance(value, str) else None
    if found is None:
        one = of.__name__.lower()
        where, plural = ("", f"{one}s") if field == one else (f"{field}: ", field)
        raise InvalidInput(f"{where}there is no {one} {shown(value)}", hint=f"the {plural} are {', '.join(of)}")
    return found


def moment(field: str, value: Any) -> datetime:
    """A time that every zone on earth has. Raises InvalidInput."""
    if not isinstance(value, datetime):
        raise InvalidInput(f"{field} must be a datetime, not {shown(value)}", hint="use datetime.fromisoformat(...)")
    if not is_datable(value):
        raise InvalidInput(f"{field} is out of range: {shown(value.isoformat())}", hint="leave out a time without end")
    return value


def number(field: str, value: Any, least: float, most: float) -> float:
    """A number between two bounds. Raises InvalidInput, for what is no number (NaN) too."""
    # Compared before it is made a float, which not every whole number can be.
    if not _is_real(value) or not least <= value <= most:
        raise InvalidInput(f"{field} must be a number from {least:g} to {most:g}, not {shown(value)}")
    return float(value)


def finite(field: str, value: Any) -> float:
    """A number (of seconds, of days) that a clock can count. Raises InvalidInput, for NaN and infinity too."""
    if not _is_real(value) or not -_GREATEST <= value <= _GREATEST:
        raise InvalidInput(f"{field} must be a number up to a billion, not {shown(value)}")
    return float(value)


def whole(field: str, value: Any, least: int = -_LARGEST) -> int:
    """A whole number that SQLite can keep, of at least so much. Raises InvalidInput."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < _LARGEST:
        bound = "" if least == -_LARGEST else f" of at least {least}"
        raise InvalidInput(f"{field} must be a whole number{bound}, not {shown(value)}")
    return value


def path(field: str, value: Any) -> Any:
    """A path that is not blank, as text or as an object. Raises InvalidInput: blank, it would be the current folder."""
    if not isinstance(value, str | os.PathLike) or not isinstance(named := os.fspath(value), str):
        raise InvalidInput(f"{field} must be a path, not {shown(value)}")
    if not text(field, named).strip():
        raise InvalidInput(f"{field} must not be empty", hint="name a folder; . is the current one")
    return value


def flag(field: str, value: Any) -> bool:
    """True or False. Raises InvalidInput."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{field} must be true or false, not {shown(value)}")
    return value


def metadata(field: str, value: Any) -> Mapping[str, str | int | float | bool]:
    """What a note's metadata must hold: texts, numbers or truth values by key. Raises InvalidInput."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{field} must be a mapping, not {shown(value)}", hint='write {"key": "value"}')
    for key, each in value.items():
        if not isinstance(key, str) or '"' in text(field, key):
            raise InvalidInput(f"cannot filter by the {field} key {key!r}")
        if isinstance(each, str):
            text(f"{field} {key!r}", each)
        elif not isinstance(each, bool) and not _countable(each):
            raise InvalidInput(f"can filter {field} {key!r} by text, number or truth value only, not {shown(each)}")
    return dict(value)


def _many(field: str, value: Any, what: str) -> tuple[Any, ...]:
    if not isinstance(value, _MANY):
        hint = f"write {field}=({shown(value)},)" if isinstance(value, str) else ""
        raise InvalidInput(f"{field} must be a tuple of {what}, not {shown(value)}", hint=hint)
    return tuple(value)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _countable(value: Any) -> bool:
    if isinstance(value, int):
        return -_LARGEST <= value < _LARGEST
    return isinstance(value, float) and math.isfinite(value)


def shown(value: Any) -> str:
    """A value as an error shows it: whole where it is short, else by its type; never an error itself."""
    try:
        said = _REPR.repr(value)
    except Exception:  # whatever somebody's __repr__ raises
        said = ""
    return said if 0 < len(said) <= 60 and said.isprintable() else f"a {type(value).__name__}"
