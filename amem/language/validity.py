"""Since when what a note states has been so: a time that its text names, read against the hour it was said.

The same rules for every analyst, since a model that is asked for dates makes some up. A date is taken only from a text
that names exactly one time, and that one past or today: "yesterday", "上周五", "on 3 May 2024", "since 2019". Of a
week, month or year its first day counts, the earliest that is meant. Nothing is taken from what may mean something
else: a range, an end ("until 2023"), a plan, a guess, two times, a part of a period ("去年底", "May last year").
"""

from __future__ import annotations

import re
from datetime import datetime, time

from amem.language.times import MONTH, Span, mentions

#: What names a time but not which one: with it, a week, month or year is only part of what was said.
_OPEN = re.compile(
    rf"\b(?:{MONTH}|(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|fall|winter)\b"
    r"|\d{1,2}月|\d{1,2}[日号]|(?:周|星期|礼拜)[一二三四五六日天]|[春夏秋冬][天季]",
    re.IGNORECASE,
)
#: Characters before a time among which its preposition is looked for.
_NEARBY = 200
#: With these nothing is stated: it may be so, or may have been so.
_PERHAPS = re.compile(
    r"\b(?:if|unless|maybe|perhaps|probably|possibly|might)\b|如果|假如|要是|也许|可能|大概|好像|或许", re.IGNORECASE
)
#: "Their daughter was born on 14 February 2021", "a Skoda Fabia from 2014": since when somebody or something exists.
_CAME_TO_BE = re.compile(
    r"(?:\b(?:born|died|founded|built|made|published|released|manufactured)(?: on| in)?(?: the)?\s+"
    r"|\ban? (?:[\w-]+ ){1,4}from\s+|(?:生于|出生于|建于|成立于|摄于)\s*)$",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"(?:from|in|on)\s+(?:the\s+)?", re.IGNORECASE)
_BORN_ZH = re.compile(r"(?:年|月|日|号)?(?:出生|生的|出厂|上牌|建成|成立)")
#: Before a time these make it an end, an aim or a part of it; after it, a range or a part.
_BEFORE = re.compile(
    r"(?:\b(?:until|till|before|after|by|through|to|for|than|between|due|expires?|every|(?:end|middle|start|half) of)"
    r"(?: on| in| the)?\s+|(?:[直截]?[到至]|截止|早于|晚于))$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s*(?:-|–|—|~|to|until|till|through|and|or)\s*(?:\d|last|yester|the day)"
    r"|(?:[到至和或]|还是|或者)(?:\d|今|昨|去年|前天|前年|上周|上个)|(?:之前|以前|为止|以后|之后|前后|前|后|左右|底|末|初|中旬|的时候?要)",
    re.IGNORECASE,
)


def holds_from(text: str, said: datetime) -> datetime | None:
    """The beginning, in the zone it was said in, of the day or period since which `text` says something is so.

    None when it names no time, or more than one, or one that may mean something else (see above).
    """
    if _PERHAPS.search(text):
        return None
    found: set[Span] = set()
    named: list[tuple[int, int]] = []
    for each in mentions(text, said.date()):
        # What makes it an end or an aim stands right before it.
        nearby = max(0, each.start - _NEARBY)
        before = text[nearby : each.start]
        if each.span is None or _BEFORE.search(before) or _AFTER.match(text, each.end):
            return None
        preposition = _PREPOSITION.match(text, each.start)
        bare = preposition.end() if preposition else each.start
        if _CAME_TO_BE.search(text[nearby:bare]) or _BORN_ZH.match(text, each.end):
            return None
        found.add(each.span)
        named.append((each.start, each.end))
    if len(found) != 1:
        return None
    (span,) = found
    if span.unit != "day" and _OPEN.search(_without(text, named)):
        return None
    today = said.date()
    try:
        past = span.last < today or (span.unit == "day" and span.first == today)
    except OverflowError:
        past = False
    return datetime.combine(span.first, time(), tzinfo=said.tzinfo) if past else None


def _without(text: str, named: list[tuple[int, int]]) -> str:
    """Return the text with white space in the place of these parts, which follow each other."""
    ends = [0, *(end for _, end in named)]
    starts = [*(start for start, _ in named), len(text)]
    return " ".join(text[end:start] for end, start in zip(ends, starts, strict=True))
