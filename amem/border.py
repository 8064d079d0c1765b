"""The border of the public API: every argument of a public method is held against its annotation.

The signature is the rule, so that no method has checks of its own for what may be handed in at all: text that is valid
Unicode, numbers that are finite and that SQLite can keep, times that every zone on earth has, lists of these, and
objects of the class that is named. What goes beyond that (a depth below 0, a name that is taken) the method checks.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache, wraps
from typing import Any, TypeVar, cast

from amem import checks, protocols
from amem.errors import InvalidInput

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])


#: Arguments, of commands too, that hold a note, a question or a document, whose limits are those of what they hold.
LONG_TEXTS = frozenset({"content", "document", "items", "messages", "prompt", "queries", "query", "question", "text"})


def bordered(cls: Class, *, constructor: bool = True) -> Class:
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
                    checks.short(name, taken)
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
        _taken(each.name, getattr(handed, each.name), _types(str(each.type)))


def _taken(name: str, value: Any, types: tuple[_Type, ...]) -> Any:
    """The value as one of the types takes it. Raises InvalidInput."""
    found = next((each for each in types if each.meant(value)), None)
    if found is None and len(types) > 1:
        said = " or ".join(dict.fromkeys(each.said for each in types if each is not _NONE))
        raise InvalidInput(f"{name} must be {said}, not {checks.shown(value)}")
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
            raise InvalidInput(f"{name} must be a list, not {checks.shown(value)}", hint=hint)
        held = value if isinstance(value, list | tuple) else list(value)
        return [_taken(f"each of {name}", each, types) for each in held]

    return _Type("a list", meant, check)


def _instance(said: str, meant: Callable[[Any], bool], *, whole: bool = False) -> _Type:
    article = "an" if said[0] in "AEIOU" else "a"

    def check(name: str, value: Any) -> Any:
        if not meant(value):
            raise InvalidInput(f"{name} must be {article} {said}, not {checks.shown(value)}")
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
_TEXT = _Type("text", lambda value: isinstance(value, str), checks.text)
_PATH = _Type("a path", lambda value: isinstance(value, str | os.PathLike), checks.path)
_PLAIN: Mapping[str, _Type] = {
    "None": _NONE,
    "Any": _Type("anything", lambda value: True, lambda name, value: value),
    "str": _TEXT,
    "Order": _TEXT,  # some words, which the method checks
    "int": _Type("a whole number", lambda value: isinstance(value, int), checks.whole),
    "float": _Type("a number", lambda value: isinstance(value, int | float), checks.finite),
    "bool": _Type("true or false", lambda value: isinstance(value, bool), checks.flag),
    "datetime": _Type("a datetime", lambda value: isinstance(value, datetime), checks.moment),
    "PathLike": _PATH,
    "Path": _PATH,
    "Mapping": _instance("Mapping", lambda value: isinstance(value, Mapping)),
    "Callable": _instance("Callable", callable),
}
