"""Times that a text names, resolved against the day it was said: the one place where amem reads them.

What is taken from a statement (`mentions`, `bare`) is only what can mean one thing; a question may name its time more
loosely (`named`), since nothing is written down of it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, time, timedelta
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from amem.language.numerals import MONTHS, WEEKDAYS
from amem.language.scripts import words
from amem.language.times.asked import WEEKDAY, tells_what_was
from amem.language.times.dates import MONTH, bare, mentions, stretches
from amem.language.times.relative import festivals, holds, seasons, with_dates
from amem.language.times.spans import Named, Span, before, iso, longest, month_of, same_day, weekday_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

__all__ = [
    "MONTH",
    "Named",
    "Span",
    "bare",
    "before",
    "holds_from",
    "iso",
    "longest",
    "may_name_a_time",
    "mentions",
    "month_of",
    "named",
    "named_in_note",
    "states_a_time",
    "weekday_of",
    "with_dates",
]


#: One of these is in every time there is; most questions have none.
_HINT = re.compile(
    r"\d|\b(?:\w+ties\b|noughties|week|month|quarter|year|decade|coming|previous|boxing"
    r"|yester|today|tomorrow|this|last|past|next|ago\b|the day|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
    r"|mon|tues|wednes|thurs|fri|satur|sun|spring|summer|autumn|fall|winter|christmas|new year|valentine|halloween"
    r"|thanksgiving|easter|chinese|lunar|mid|dragon)|[年月日号天周季节旬昨晚早明春夏秋冬末]|星期|礼拜|除夕|平安夜|元[旦宵]|端午"
    r"|中秋|清明|五一|十一|国庆|万圣|圣诞",
    re.IGNORECASE,
)
#: Behind what looks like a year: then it counts something ("in 2000 words").
_COUNTED = re.compile(r" (?:words?|char|token|line|step|user|people|note|item|row|dollar|euro|km|mile|met|ms\b)")
_YEAR = re.compile(r"\d{4}$")
#: "Want to march", not "up to March".
_VERB = re.compile(r"\bto (?=(?:march|may)\b)")


def may_name_a_time(text: str) -> bool:
    """Whether anything in the text is a part of a time; soon seen, and false for most questions."""
    return _HINT.search(text) is not None


def named(text: str, today: date) -> list[Named]:
    """Every time that a question names, in order, without a span for what cannot be told."""
    if not may_name_a_time(text):
        return []
    every = (mentions(text, today), bare(text, today), seasons(text, today), festivals(text, today))
    found = longest(chain(*every, stretches(text, today)))
    return [each for each in found if not (_counts(text, each) or _VERB.match(text, each.start - 3, each.end))]


#: What is beside a day or a season that a note may name without what `mentions` asks for.
_MAY_DATE = re.compile(
    r"\d\s?[月日号]|[一二三四五六七八九十]月"
    r"|\d(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|(?:uary|march|april|may|june|july|august|ber) \d|(?:spring|summer|autumn|winter)(?: of)? \d|\d年的?[春夏秋冬]"
    r"|(?:[nseirt])day\b|(?:周|星期|礼拜)[一二三四五六日天]",
    re.IGNORECASE,
)
#: One of these is in whatever of that is ASCII, which is sooner seen: keep both in step.
_DATED = (
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "uary", "ber"),
    *("spring", "summer", "autumn", "winter", "day"),
)


def named_in_note(text: str, said: date) -> list[Named]:
    """Every time that a note of that day names, in order, for whoever looks for it by its time.

    Beside what it `mentions` these are days without their year, of which the nearest is meant ("dinner on
    25 November"), months of a year that is told by the present one (明年三月), seasons of a year, and weekdays: the
    last one of a note that tells what was, else the next.
    """
    found = mentions(text, said)
    if (text.isascii() and not holds(text, _DATED)) or _MAY_DATE.search(text) is None:
        return found
    more: list[Named] = []
    for each in chain(bare(text, said), seasons(text, said)):
        if each.span is None:
            continue
        if WEEKDAY.search(text, each.start, each.end):
            ahead = each.span.first < said and not tells_what_was(text)
            more.append(replace(each, span=replace(each.span, first=each.span.first + timedelta(weeks=ahead))))
        # A month without a year may mean any of them.
        elif each.span.unit == "day" if each.bare else not each.relative:
            more.append(_nearest(each, each.span, said))
    return longest([*found, *more])


def _nearest(each: Named, span: Span, said: date) -> Named:
    """A day without its year in the year in which it is nearest."""
    if not each.bare:
        return each
    try:
        spans = [replace(span, first=same_day(span.first, 12 * step)) for step in (-1, 0, 1)]
    except (ValueError, OverflowError):
        return each
    return replace(each, span=min(spans, key=lambda span: _days_between(span, said)))


def _days_between(span: Span, day: date) -> int:
    return max((span.first - day).days, (day - span.last).days, 0)


def _counts(text: str, each: Named) -> bool:
    return _YEAR.search(text, each.start, each.end) is not None and _COUNTED.match(text, each.end) is not None


# Since when what a note states has been so: a time that its text names, read against the hour it was said.
#
# One reader for every analyst, since a model that is asked for dates makes some up. A date is taken only from a text
# that names exactly one time, and that one past or today: "yesterday", "上周五", "on 3 May 2024", "since 2019". Of a
# week, month or year its first day counts, the earliest that is meant. Nothing is taken from what may mean something
# else: a range, an end ("until 2023"), a plan, a guess, two times, a part of a period ("去年底", "May last year").

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


# Whether a text states a time at all, at a fraction of what it takes to read which.

_UNITS = words("day days week weeks weekend weekends month months year years night morning evening")
_WEEKDAYS = frozenset(WEEKDAYS)
_SEASONS = words("spring summer autumn fall winter")
#: Two months are words of their own as well, and need another beside them.
_MONTHS = frozenset(MONTHS)
_ALONE = words("yesterday today tonight tomorrow ago") | (_MONTHS - {"may", "march"})
_WHICH = words("last this next past other")
_AT = words("on since until in during early late mid of")
_COUNTS = words("a an one two three four five six seven eight nine ten few several")
_WORD = re.compile(r"[a-z]+|\d+")
_THIS_ERA = re.compile(r"(?:19|20)\d\d")
_CHINESE = re.compile(
    r"(?:19|20)\d\d年|\d{1,2}月|\d{1,2}[号日](?!码)|[一二三四五六七八九十]月|[昨今明前后]天|[去前今明]年|昨晚|今[早晚]"
    r"|[上这下本]个?(?:周|星期|礼拜|月)|(?:周|星期|礼拜)[一二三四五六日天末]"
    r"|(?:\d{1,3}|[一二两三四五六七八九十几半])个?(?:天|周|星期|礼拜|月|年)[前后多了]?|春节|国庆|中秋|端午|元旦"
)


_BESIDE = _UNITS | _WEEKDAYS | _SEASONS | _MONTHS


def states_a_time(text: str) -> bool:
    """Whether the text says when something is, or for how long: "last week", "for two years", 5月3日."""
    said = _WORD.findall(text.casefold())
    if not _ALONE.isdisjoint(said) or (_tells(said) and any(_beside(*pair) for pair in pairwise(said))):
        return True
    return not text.isascii() and _CHINESE.search(text) is not None


def _tells(words: Sequence[str]) -> bool:
    """Whether any two of them could state a time."""
    return not _BESIDE.isdisjoint(words) or any(_THIS_ERA.fullmatch(word) for word in words)


def _beside(one: str, two: str) -> bool:
    """Whether these two words, side by side, state a time."""
    if two in _UNITS:
        return one in _COUNTS or one in _WHICH or one.isdigit()
    if two in _WEEKDAYS or two in _SEASONS or two in _MONTHS:
        return one in _WHICH or one in _AT or (one.isdigit() and two in _MONTHS)
    if _THIS_ERA.fullmatch(two) is not None:
        return one in _AT
    return two.isdigit() and (one in _MONTHS or (len(two) == 2 and _THIS_ERA.fullmatch(one) is not None))
