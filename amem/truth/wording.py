"""Facts as sentences, said to the user: "You live in Lisbon, since 2026-06-06", 你住在里斯本（2026-06-06 起）."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.truth.subjects import USER, WE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, tzinfo

    from amem.truth.intervals import Interval
    from amem.truth.predicates import Predicates

#: What predicates say that are no nouns: an English verb, and a Chinese clause for the value. All others are nouns
#: ("Your manager is Priya").
_VERBS: Mapping[str, tuple[str, str]] = {
    "works_at": ("work at", "在{}工作"),
    "lives_in": ("live in", "住在{}"),
    "uses": ("use", "用{}"),
    "married_to": ("be married to", "和{}结了婚"),
    "prefers": ("prefer", "更喜欢{}"),
    "likes": ("like", "喜欢{}"),
    "dislikes": ("dislike", "不喜欢{}"),
    "allergic_to": ("be allergic to", "对{}过敏"),
    "knows": ("know", "认识{}"),
    "owns": ("own", "有{}"),
    "named": ("be called", "叫{}"),
    "drives": ("drive", "开{}"),
    "intolerant_to": ("be intolerant to", "对{}不耐受"),
    "cannot_eat": ("be unable to eat", "不能吃{}"),
    "takes_medication": ("take", "服用{}"),
    "has_condition": ("have", "患有{}"),
    "forbids": ("forbid", "禁止{}"),
    "succeeded_by": ("be succeeded by", "由{}接替"),
}
_ABBREVIATIONS = frozenset(("ceo", "cto"))
_THIRD = {"have": "has"}
_OWNED = re.compile(rf"{USER}(?:'s |的)(?P<what>.+)")


def wording(
    found: Sequence[Interval], predicates: Predicates, now: datetime, zone: tzinfo, *, chinese: bool = False
) -> str:
    """What is so at `now` of the one subject and predicate of these intervals, as a clause: no capital, no full stop.

    Where nothing is so any more, what was so last, and that it ended; '' for no intervals at all.
    """
    if not found:
        return ""
    holding = [each for each in found if each.at(now)]
    said = holding or [max(found, key=lambda each: (each.until is None, each.until or now))]
    objects = list(dict.fromkeys(each.object for each in said))
    first, last = min(each.since for each in said), max((each.until for each in said if each.until), default=None)
    since, until = (f"{at.astimezone(zone):%Y-%m-%d}" if at is not None else "" for at in (first, last))
    subject, predicate = said[0].subject, said[0].predicate
    if chinese:
        sentence = _chinese(subject, predicate, objects, predicates)
        if not holding:
            return f"{until} 起{'' if said[0].certain else '大概'}不再如此，之前{sentence}"
        return f"{sentence}（{since} 起）"
    sentence = _english(subject, predicate, objects, predicates, past=not holding)
    ended = f"but {'' if said[0].certain else 'presumably '}not since {until}"
    return f"{sentence}, {f'since {since}' if holding else ended}"


def _english(subject: str, predicate: str, objects: Sequence[str], predicates: Predicates, *, past: bool) -> str:
    value = " and ".join([", ".join(objects[:-1]), objects[-1]] if len(objects) > 1 else objects)
    verb = _VERBS.get(predicate, ("", ""))[0]
    if not verb and predicate not in predicates.rows:
        return f"{_you(subject)}: {predicates.phrase(predicate, value)}"
    if not verb:
        noun = predicate.upper() if predicate in _ABBREVIATIONS else predicates.words(predicate)
        return f"{_your(subject)} {noun} {'used to be' if past else 'is'} {value}"
    if past:
        return f"{_you(subject)} used to {verb} {value}"
    first, _, rest = verb.partition(" ")
    am, does = ("are", first) if subject in (USER, WE) else ("is", _THIRD.get(first, f"{first}s"))
    return " ".join(filter(None, (_you(subject), am if first == "be" else does, rest, value)))


def _chinese(subject: str, predicate: str, objects: Sequence[str], predicates: Predicates) -> str:
    value = "和".join(["、".join(objects[:-1]), objects[-1]] if len(objects) > 1 else objects)
    if clause := _VERBS.get(predicate, ("", ""))[1]:
        return f"{_ni(subject)}{clause.format(value)}"
    if predicate not in predicates.rows:
        return f"{_ni(subject)}：{predicates.phrase(predicate, value, chinese=True)}"
    return f"{_ni(subject)}的{predicates.words(predicate, chinese=True)}是{value}"


def _you(subject: str) -> str:
    if owned := _OWNED.fullmatch(subject):
        return f"your {owned['what']}"
    return {USER: "you", WE: "we"}.get(subject, subject)


def _your(subject: str) -> str:
    name = _you(subject)
    return {"you": "your", "we": "our"}.get(name, f"{name}'s")


def _ni(subject: str) -> str:
    if owned := _OWNED.fullmatch(subject):
        return f"你的{owned['what']}"
    return {USER: "你", WE: "我们"}.get(subject, subject)
