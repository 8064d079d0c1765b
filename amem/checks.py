"""Validate the arguments of public methods by their annotations; each error names the argument.

A method's signature is its rule: every argument is held against its annotation, so that no method has checks of its own
for what may be handed in at all: text that is valid Unicode, numbers that are finite and that SQLite can keep, times
that every zone on earth has, lists of these, and objects of the class that is named. What goes beyond that (a depth
below 0, a name that is taken) the method checks.
"""

from __future__ import annotations

import inspect
import math
import os
import reprlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from functools import cache, wraps
from numbers import Real
from typing import Any, TypeVar, cast

from amem import protocols
from amem.clock import is_datable
from amem.errors import InvalidInput
from amem.labels import is_plain_name

# Single values: each check names the field and says what it takes instead.

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


def is_wordless(text: str) -> bool:
    """Whether a text holds no letter, digit or picture: what is all punctuation and blanks says nothing."""
    return not any(each.isalnum() or unicodedata.category(each) == "So" for each in text)


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


# Public methods whose arguments are held against their annotations.

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])


#: Arguments, of commands too, that hold a note, a question or a document, whose limits are those of what they hold.
LONG_TEXTS = frozenset({"content", "document", "items", "messages", "prompt", "queries", "query", "question", "text"})


def validated(cls: Class, *, constructor: bool = True) -> Class:
    """Check what is handed to the public methods that a class itself defines, and to its `constructor`.

    They then raise InvalidInput, naming the argument, before anything is done.
    """
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and not (constructor and name == "__init__"):
            continue
        if inspect.isfunction(member):
            setattr(cls, name, checked(member))
    return cls


def checked(function: Function) -> Function:
    """The function, raising InvalidInput that names the argument for one that its annotation does not allow."""

    @cache  # not when the class is made: most programs call a few of its methods
    def rule() -> tuple[inspect.Signature, dict[str, tuple[_Type, ...]]]:
        signature = inspect.signature(function)
        return signature, {
            each.name: _types(each.annotation)
            for each in signature.parameters.values()
            if each.annotation not in ("Any", inspect.Parameter.empty)
        }

    @wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        signature, wanted = rule()
        try:
            bound = signature.bind(*args, **given)
        except TypeError:
            return function(*args, **given)  # which says it better
        for name, types in wanted.items():
            if name in bound.arguments:
                bound.arguments[name] = taken = _taken(name, bound.arguments[name], types)
                if name not in LONG_TEXTS:
                    short(name, taken)
        return function(*bound.args, **bound.kwargs)

    return cast("Function", call)


@dataclass(frozen=True, slots=True)
class _Type:
    """One type of an annotation: what it is called, whether a value is meant to be of it, and its check."""

    said: str
    meant: Callable[[Any], bool]
    check: Callable[[str, Any], Any]


def fitting(handed: Any) -> None:
    """Hold the fields of a dataclass that is handed in against their annotations. Raises InvalidInput."""
    for each in fields(handed):
        if (value := getattr(handed, each.name)) is not each.default:
            _taken(each.name, value, _types(str(each.type)))


def _taken(name: str, value: Any, types: tuple[_Type, ...]) -> Any:
    """The value as one of the types takes it. Raises InvalidInput."""
    found = next((each for each in types if each.meant(value)), None)
    if found is None and len(types) > 1:
        said = " or ".join(dict.fromkeys(each.said for each in types if each is not _NONE))
        raise InvalidInput(f"{name} must be {said}, not {shown(value)}")
    return (found or types[0]).check(name, value)


@cache
def _types(annotation: str) -> tuple[_Type, ...]:
    """The types of an annotation, which is written as text and parts them by ``|``; "Any" among them is any."""
    # Text is a path where a path may be given.
    return tuple(sorted((_type(each) for each in _parted(annotation, "|")), key=lambda each: each is not _PATH))


def _type(annotation: str) -> _Type:
    whole, _, inside = annotation.partition("[")
    name = whole.rpartition(".")[2]
    if name in ("Sequence", "tuple"):
        return _several(_types(inside.removesuffix("]").removesuffix(", ...")))
    if name in _PLAIN:
        return _PLAIN[name]
    protocol = getattr(protocols, name, None)
    if protocol is not None:
        return _instance(name, lambda value: _answers(value, protocol))
    return _instance(
        name, lambda value: any(each.__name__ == name for each in type(value).__mro__), whole=name in _WHOLE
    )


def _parted(annotation: str, mark: str) -> list[str]:
    """An annotation cut at a mark, but not inside of brackets."""
    parts, depth = [""], 0
    for char in annotation:
        depth += (char == "[") - (char == "]")
        if char == mark and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def _several(types: tuple[_Type, ...]) -> _Type:
    """Several values of these types: a list of any iterable but text, bytes and mappings."""

    def meant(value: Any) -> bool:
        return isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray | Mapping)

    def check(name: str, value: Any) -> Any:
        if not meant(value):
            hint = f"write [{name}]" if isinstance(value, str) else ""
            raise InvalidInput(f"{name} must be a list, not {shown(value)}", hint=hint)
        held = value if isinstance(value, list | tuple) else list(value)
        return [_taken(f"each of {name}", each, types) for each in held]

    return _Type("a list", meant, check)


def _instance(said: str, meant: Callable[[Any], bool], *, whole: bool = False) -> _Type:
    article = "an" if said[0] in "AEIOU" else "a"

    def check(name: str, value: Any) -> Any:
        if not meant(value):
            raise InvalidInput(f"{name} must be {article} {said}, not {shown(value)}")
        if whole:
            fitting(value)
        return value

    return _Type(f"{article} {said}", meant, check)


def _answers(value: Any, protocol: type) -> bool:
    """Whether an object has all that a protocol asks for; what it computes is not asked for, which may be costly."""
    names = {name for each in protocol.__mro__ for name in vars(each) if not name.startswith("_")}
    return not isinstance(value, type) and all(hasattr(type(value), name) or _has(value, name) for name in names)


def _has(value: Any, name: str) -> bool:
    return name in getattr(value, "__dict__", ()) or hasattr(value, name)


#: Dataclasses whose fields nobody else checks.
_WHOLE = ("Source",)
_NONE = _Type("None", lambda value: value is None, lambda name, value: value)
_TEXT = _Type("text", lambda value: isinstance(value, str), text)
_PATH = _Type("a path", lambda value: isinstance(value, str | os.PathLike), path)
_PLAIN: Mapping[str, _Type] = {
    "None": _NONE,
    "Any": _Type("anything", lambda value: True, lambda name, value: value),
    "str": _TEXT,
    "Order": _TEXT,  # some words, which the method checks
    "int": _Type("a whole number", lambda value: isinstance(value, int), whole),
    "float": _Type("a number", lambda value: isinstance(value, int | float), finite),
    "bool": _Type("true or false", lambda value: isinstance(value, bool), flag),
    "datetime": _Type("a datetime", lambda value: isinstance(value, datetime), moment),
    "PathLike": _PATH,
    "Path": _PATH,
    "Mapping": _instance("Mapping", lambda value: isinstance(value, Mapping)),
    "Callable": _instance("Callable", callable),
}
