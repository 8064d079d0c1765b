"""From what a model wrote to clean Python values: finding its JSON, and reading strings, lists and shares in it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from amem.errors import BadModelAnswer

#: No answer to a prompt of ours is longer; what is, is noise, and repairing some of it takes time by the square.
LONGEST_ANSWER = 32_000
#: Objects are looked for this deep, since some models wrap their answer in another object or in a list.
_DEEPEST = 3

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Marks that turn the direction of what follows, and the byte order mark: nothing a note needs, a lot a trick needs.
_INVISIBLE = re.compile("[\u202a-\u202e\u2066-\u2069\ufeff]")
_COMMAS = re.compile("[,;，、；]")


@dataclass(frozen=True, slots=True)
class Found:
    """The object that was found in an answer; `repaired` when the answer was not that object and nothing else."""

    object: dict[str, Any]
    repaired: bool


def find_object(text: str, known: frozenset[str]) -> Found:
    """The JSON object in a model's answer that has most of the `known` fields.

    Thinking, code fences, prose around it, trailing commas, quotes of the wrong kind and a missing end are forgiven.
    Raises BadModelAnswer when no object has any known field.
    """
    answer = without_thinking(text)
    refuse_noise(answer)
    try:
        strict = json.loads(answer)
    except (ValueError, RecursionError):
        return Found(_best(_repair(answer), known), repaired=True)
    best = _best(strict, known)
    return Found(best, repaired=best is not strict or answer is not text)


def read_object(text: str, known: frozenset[str]) -> dict[str, Any]:
    """The same, whether it had to be repaired or not."""
    return find_object(text, known).object


def refuse_noise(text: str) -> None:
    """Raise BadModelAnswer for an answer that is too long to be one."""
    if len(text) > LONGEST_ANSWER:
        raise BadModelAnswer(f"the answer is {len(text)} characters long")


def _best(value: Any, known: frozenset[str]) -> dict[str, Any]:
    # Of equals the outermost and then the last counts: what a model quotes from the prompt comes first.
    ranked = [((len(known & found.keys()), -depth), found) for depth, found in _objects(value, 0)]
    best: tuple[tuple[int, int], dict[str, Any]] = max(reversed(ranked), key=lambda item: item[0], default=((0, 0), {}))
    if not best[0][0]:
        wanted = ", ".join(sorted(known)[:3])
        raise BadModelAnswer(f"the answer holds no JSON object with any of the fields asked for ({wanted}, ...)")
    return best[1]


def _repair(text: str) -> Any:
    from json_repair import repair_json

    try:
        return repair_json(text, return_objects=True)
    except (ValueError, RecursionError) as error:
        raise BadModelAnswer("the answer is not JSON, nor can it be repaired") from error


def without_thinking(text: str) -> str:
    """The answer after a ``<think>`` preamble; nothing is left of a preamble that has no end."""
    start = text.lstrip()
    if start.startswith("<think>"):
        return start.partition("</think>")[2]
    # Some chat templates write the opening mark themselves, so that only the end arrives.
    head, mark, tail = text.partition("</think>")
    return tail if mark and not head.lstrip().startswith(("{", "[", "```")) else text


def _objects(value: Any, depth: int) -> list[tuple[int, dict[str, Any]]]:
    found: list[tuple[int, dict[str, Any]]] = []
    if isinstance(value, dict):
        found.append((depth, value))
        inner = list(value.values())
    else:
        inner = value if isinstance(value, list) else []
    if depth < _DEEPEST:
        for item in inner:
            found += _objects(item, depth + 1)
    return found


def clean(value: Any, limit: int) -> str:
    """One line of at most `limit` characters without control characters; '' for what is neither text nor a number."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15:
        value = str(value)
    if not isinstance(value, str):
        return ""
    # Escapes repaired one by one leave halves of characters; whole pairs are joined and single halves dropped.
    text = value[: 4 * limit].encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    text = " ".join(_INVISIBLE.sub("", _CONTROL.sub(" ", text)).split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def words(value: Any, *, limit: int, most: int) -> tuple[str, ...]:
    """A list of short texts, none twice (in any case); also read from one text with commas in it."""
    if isinstance(value, str):
        value = _COMMAS.split(value)
    if not isinstance(value, list):
        return ()
    unique: dict[str, str] = {}
    for item in value:
        word = clean(item, limit).strip("#\"'“”[] ")
        if word:
            unique.setdefault(word.casefold(), word)
        if len(unique) == most:
            break
    return tuple(unique.values())


def share(value: Any) -> float | None:
    """A number from 0 to 1, also written as ``"0.9"``, ``"90%"`` or ``90``; None for anything else."""
    if isinstance(value, str):
        text = value.strip()
        try:
            value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not 0 <= value <= 100 or 1 < value < 10:  # from 1 to 10 nobody can tell which scale was meant
        return None
    return float(value) if value <= 1 else value / 100
