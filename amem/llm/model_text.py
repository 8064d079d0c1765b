"""Parse a model's text: find its JSON, clean its strings, read shares and the names of kinds and link types."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.errors import BadModelAnswer
from amem.llm.schemas import LINK_TYPES, NOTE_KINDS, VERDICTS
from amem.note import Kind, LinkType
from amem.rendering import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


# From what a model wrote to clean Python values: finding its JSON, and reading strings, lists and shares in it.

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
    return one_line(_INVISIBLE.sub("", _CONTROL.sub(" ", text)), limit)


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


# Kinds, link types and verdicts as models write them: in any case, with spaces for underscores, and in Chinese.

CHINESE_KINDS = {
    "事实": Kind.FACT,
    "偏好": Kind.PREFERENCE,
    "决定": Kind.DECISION,
    "约束": Kind.CONSTRAINT,
    "配置": Kind.CONFIG,
    "代码": Kind.CODE,
    "错误": Kind.ERROR,
    "问题": Kind.QUESTION,
    "闲聊": Kind.CHITCHAT,
    "流程": Kind.PROCEDURE,
    "经历": Kind.EPISODE,
}
CHINESE_LINK_TYPES = {
    "相关": LinkType.RELATED,
    "支持": LinkType.SUPPORTS,
    "矛盾": LinkType.CONTRADICTS,
    "取代": LinkType.SUPERSEDES,
    "起因": LinkType.CAUSED_BY,
    "属于": LinkType.PART_OF,
}

_KINDS: Mapping[str, Kind] = {**{str(kind): kind for kind in NOTE_KINDS}, **CHINESE_KINDS}
_LINK_TYPES: Mapping[str, LinkType] = {**{str(type_): type_ for type_ in LINK_TYPES}, **CHINESE_LINK_TYPES}
_VERDICTS: Mapping[str, str] = {
    **{verdict: verdict for verdict in VERDICTS},
    **{word: str(type_) for word, type_ in CHINESE_LINK_TYPES.items() if str(type_) in VERDICTS},
    "无": "none",
    "无关": "none",
}


def spelled(value: Any) -> str:
    """The word as it is looked up; '' for what is no text."""
    return clean(value, 20).casefold().strip(" .。*`\"'").replace(" ", "_").replace("-", "_")


def kind_named(value: Any) -> Kind | None:
    """The kind of note that `value` names."""
    return _KINDS.get(spelled(value))


def link_type_named(value: Any) -> LinkType | None:
    """The type of link that `value` names."""
    return _LINK_TYPES.get(spelled(value))


def verdict_named(value: Any) -> str | None:
    """The verdict that `value` names."""
    return _VERDICTS.get(spelled(value))


# What a model was shown, and what of its answer was refused: the two things every reader of answers keeps.

#: An answer that goes wrong a hundred times needs no hundred sentences.
_MOST_DROPPED = 20


class Handles:
    """The short names (``n1``, ``m1``, ``p1``) under which things were shown; nothing else can be named."""

    def __init__(self, handles: Iterable[str]) -> None:
        self._handles = {handle.casefold(): handle for handle in handles}

    def find(self, value: Any) -> str | None:
        """The handle that `value` names, in any case and with brackets around it or not; None for any other."""
        return self._handles.get(clean(value, 20).strip("[]<>()【】 ").casefold()) if isinstance(value, str) else None


class Dropped:
    """What was refused, in sentences."""

    def __init__(self) -> None:
        self._sentences: list[str] = []

    def add(self, sentence: str) -> None:
        """Keep one more sentence, while there are few."""
        if len(self._sentences) < _MOST_DROPPED:
            self._sentences.append(sentence)

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(self._sentences)

    def objects(self, answer: dict[str, Any], name: str) -> list[dict[str, Any]]:
        """The objects in the list that `answer` has under `name`; what is no list or no object is dropped."""
        value = answer.get(name)
        if value is not None and not isinstance(value, list):
            self.add(f"{name}, which is no list")
        items = value if isinstance(value, list) else []
        for item in items:
            if not isinstance(item, dict):
                self.add(f"an item of {name} that is no object")
        return [item for item in items if isinstance(item, dict)]


def quoted(value: Any) -> str:
    """`value` as it stands in a sentence about it, however odd it is."""
    return repr(clean(value, 40)) if isinstance(value, (str, int, float)) else f"a {type(value).__name__}"
