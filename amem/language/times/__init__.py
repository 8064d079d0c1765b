"""Times that a text names, resolved against the day it was said: the one place where amem reads them.

What is taken from a statement (`mentions`, `bare`) is only what can mean one thing; a question may name its time more
loosely (`named`), since nothing is written down of it.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from amem.language.times.dates import MONTH, bare, mentions, stretches
from amem.language.times.relative import festivals, with_dates
from amem.language.times.seasons import seasons
from amem.language.times.spans import Named, Span, before, iso, longest, month_of, weekday_of
from amem.language.times.stating import states_a_time

if TYPE_CHECKING:
    from datetime import date

__all__ = [
    "MONTH",
    "Named",
    "Span",
    "bare",
    "before",
    "iso",
    "longest",
    "mentions",
    "month_of",
    "named",
    "states_a_time",
    "weekday_of",
    "with_dates",
]


#: One of these is in every time there is; most questions have none.
_HINT = re.compile(
    r"\d|\b(?:yester|today|tomorrow|this|last|past|next|ago\b|the day|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
    r"|mon|tues|wednes|thurs|fri|satur|sun|spring|summer|autumn|fall|winter|christmas|new year|valentine|halloween"
    r"|thanksgiving|easter|chinese|lunar|mid|dragon)|[年月日号天周季节昨晚早明春夏秋冬末]|星期|礼拜|除夕|元[旦宵]|端午"
    r"|中秋|清明|五一|十一|国庆|万圣|圣诞",
    re.IGNORECASE,
)
#: Behind what looks like a year: then it counts something ("in 2000 words").
_COUNTED = re.compile(r" (?:words?|char|token|line|step|user|people|note|item|row|dollar|euro|km|mile|met|ms\b)")
_YEAR = re.compile(r"\d{4}$")
#: "Want to march", not "up to March".
_VERB = re.compile(r"\bto (?=(?:march|may)\b)")


def named(text: str, today: date) -> list[Named]:
    """Every time that a question names, in order, without a span for what cannot be told."""
    if _HINT.search(text) is None:
        return []
    every = (mentions(text, today), bare(text, today), seasons(text, today), festivals(text, today))
    found = longest(chain(*every, stretches(text, today)))
    return [each for each in found if not (_counts(text, each) or _VERB.match(text, each.start - 3, each.end))]


def _counts(text: str, each: Named) -> bool:
    return _YEAR.search(text, each.start, each.end) is not None and _COUNTED.match(text, each.end) is not None
