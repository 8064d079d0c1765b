"""Times that a text names, resolved against the day it was said: the one place where amem reads them.

What is taken from a statement (`mentions`, `bare`) is only what can mean one thing; a question may name its time more
loosely (`named`), since nothing is written down of it. Also how a question asks about a time, and the time that a
person types for an option (`moment_of`): ``2026-05``, ``7d``, ``yesterday``, ``2 weeks ago``, 上周.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime, time, timedelta, tzinfo
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING

from amem.clock import is_datable, parse_time, start_of_day
from amem.errors import InvalidInput
from amem.language.numerals import SPELLED, value_of
from amem.language.scripts import Patterns, read_list
from amem.language.times.dates import FOUR_DIGITS, MONTH, bare, mentions, stretches
from amem.language.times.relative import (
    MARKS,
    Named,
    Span,
    before,
    festivals,
    holds,
    iso,
    longest,
    month_of,
    same_day,
    seasons,
    weekday_of,
    with_dates,
)

if TYPE_CHECKING:
    from collections.abc import Callable

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
    "weekday_of",
    "with_dates",
]

_pattern = Patterns("times", month=MONTH, counts="|".join(filter(str.isascii, SPELLED)))

# Is it about what is to come?

WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:周|星期|礼拜)[一二三四五六日天]", re.IGNORECASE)
"""A weekday and nothing else."""


#: Whether a question may be for what is yet to be, so that a time to come need not be an earlier one.
may_be_ahead = lru_cache(maxsize=16)(_pattern.says("to_come"))


@lru_cache(maxsize=16)
def asks_ahead(text: str) -> bool:
    """Whether a question is for what is yet to be: "what am I doing in December?", 周三有什么安排."""
    return _pattern.ahead.search(text) is not None and _pattern.behind.search(text) is None


# Does it ask for everything of a time?


def asks_for_all(rest: str, *, roughly: bool = False) -> bool:
    """Whether a question asks for all of a time, where `rest` is the question without the words of that time.

    `roughly` takes one for whom one met or where one was as such, too.
    """
    rest = _pattern.roughly.sub("", rest) if roughly else rest
    if re.search(r"\b(?:who|where|when|why|how|which)\b|谁|哪[里儿个天家位]|为什么|多少|几", rest, re.IGNORECASE):
        return False
    return not any(map(str.isalnum, _pattern.all_zh.sub("", _pattern.all.sub("", rest))))


def tells_what_was(note: str) -> bool:
    """Whether a note tells of what is over."""
    return _pattern.behind.search(note) is not None or tells_of_deed(note)


#: Whether a note tells what was done, though it may name a day to come: "Booked the train for 12 December".
tells_of_deed = _pattern.says("done")


# Does it ask for all of a sort: what was done with somebody, which books were read?

#: A work that a question names by its sort, what a note has that names one, and that it was read or seen.
_PATTERNS = [line.partition("  ")[2] for _, line in read_list("works.txt")]
_WORKS = [
    (re.compile(asked, re.IGNORECASE), re.compile(named), re.compile(enjoyed, re.IGNORECASE))
    for asked, named, enjoyed in zip(_PATTERNS[::3], _PATTERNS[1::3], _PATTERNS[2::3], strict=True)
]


_IRREGULAR = {
    **{"buy": "bought", "sell": "sold", "see": "saw", "write": "wrote", "make": "made", "pay": "paid", "win": "won"},
    **{"lose": "lost", "break": "broke", "give": "gave", "build": "built", "send": "sent", "sign": "signed"},
}


def past_of(verb: str) -> str:
    """The past form of an English verb, as far as it is regular or common; a past form itself as it is."""
    if verb in _IRREGULAR.values():
        return verb
    doubled = verb[-1] if _pattern.doubles.fullmatch(verb) else ""  # "stop", "stopped"
    return _IRREGULAR.get(verb) or f"{verb.removesuffix('e')}{doubled}ed"


def deed_asked(question: str) -> Callable[[str], bool] | None:
    """What tells whether a note is of the deed that a question, without its time, asks for; None where it asks none."""
    found = _pattern.deed.search(question)
    if found is None:
        return None
    if found["zh"]:
        told = re.compile(rf"(?<![想要该不没去]){found['zh']}(?:[了过]|到|下)")
    else:
        past = past_of(found["verb"].casefold())
        told = re.compile(rf"(?:^|[.,;!:] |\b(?:I|we|and|have|['’]ve|finally|just) ){past}\b", re.IGNORECASE)
    return lambda note: told.search(note) is not None


#: Whether a question is for what was done: "what did I do with Otto?".
asks_for_deeds = _pattern.says("deeds")


def tells_of_work(question: str) -> Callable[[str], bool] | None:
    """What tells whether a note is of a book that was read, or a film that was seen; None where none is asked for."""
    for asked, named, enjoyed in _WORKS:
        if asked.search(question):
            return lambda note: named.search(note) is not None and enjoyed.search(note) is not None
    return None


# What more a question wants than to know what was so.


#: Whether a question is for the day, the reason or what was done: nothing that was so for a while answers it.
asks_for_a_day_or_deed = _pattern.says("day_or_deed")


def without_earlier(text: str) -> str | None:
    """The question without the words by which it asks for what was so before what is; None where it does not."""
    return _pattern.earlier.sub(" ", text) if _pattern.earlier.search(text) else None


#: The question without the verbs that say no more than that it is about the past.
without_tense = partial(_pattern.tense.sub, " ")


# Parts of times, as regular expressions for whoever reads the words around a time.

PART = _pattern("part")
"""So many of a span's first or last parts, before the span: "the last two months of 2022"."""
PART_ZH = _pattern("part_zh")
"""The same behind the span: 2022年的最后两个月."""
A_DAY = re.compile(r"今[天日]|昨[天日]|明天|today|yesterday|tomorrow", re.IGNORECASE)
"""A day that is reckoned from today: with a year beside it, that day of the year (去年的今天)."""
THIS_DAY = re.compile(r"\b(?:on )?(?:this|the same)(?: very)? day(?: of| in)? (?:the )?$", re.IGNORECASE)
"""The same before the year: "on this day last year"."""


def part_count(match: re.Match[str]) -> int:
    """How many parts a match of `PART` or `PART_ZH` says."""
    said = match["count"].casefold()
    return {"few": 3, "几": 3, "couple of": 2}.get(said) or SPELLED.get(said) or int(said)


_YEAR = re.compile(r"\d{4}$")


#: Whether anything in the text is a part of a time; soon seen, and false for most questions.
may_name_a_time = _pattern.says("hint")


def named(text: str, today: date) -> list[Named]:
    """Every time that a question names, in order, without a span for what cannot be told."""
    if not may_name_a_time(text):
        return []
    every = (mentions(text, today), bare(text, today), seasons(text, today), festivals(text, today))
    found = longest(chain(*every, stretches(text, today)))
    return [each for each in found if not (_counts(text, each) or _pattern.verb.match(text, each.start - 3, each.end))]


#: One of these is in whatever of that is ASCII, which is sooner seen: keep both in step.
_DATED = (
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "uary", "ber"),
    *("spring", "summer", "autumn", "winter", "day"),
)


#: An ASCII text that holds none of these and no year names no time.
_NAMES = (*MARKS, *_DATED)


def named_in_note(text: str, said: date) -> list[Named]:
    """Every time that a note of that day names, in order, for whoever looks for it by its time.

    Beside what it `mentions` these are days without their year, of which the nearest is meant ("dinner on
    25 November"), months of a year that is told by the present one (明年三月), seasons of a year, and weekdays: the
    last one of a note that tells what was, else the next.
    """
    if text.isascii() and not holds(text, _NAMES) and FOUR_DIGITS.search(text) is None:
        return []
    found = mentions(text, said)
    if (text.isascii() and not holds(text, _DATED)) or _pattern.may_date.search(text) is None:
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
    days = {span: max((span.first - said).days, (said - span.last).days, 0) for span in spans}
    return replace(each, span=min(days, key=days.__getitem__))


def _counts(text: str, each: Named) -> bool:
    return _YEAR.search(text, each.start, each.end) is not None and _pattern.counted.match(text, each.end) is not None


# Since when what a note states has been so: a time that its text names, read against the hour it was said.
#
# One reader for every analyst, since a model that is asked for dates makes some up. A date is taken only from a text
# that names exactly one time, and that one past or today: "yesterday", "上周五", "on 3 May 2024", "since 2019". Of a
# week, month or year its first day counts, the earliest that is meant. Nothing is taken from what may mean something
# else: a range, an end ("until 2023"), a plan, a guess, two times, a part of a period ("去年底", "May last year").

#: Characters before a time among which its preposition is looked for.
_NEARBY = 200


#: What says that something is so from a time on, before it and after it.
_FROM = re.compile(r"(?:\b(?:from|as of|starting|beginning|effective)(?: on| in)?(?: the)?\s+|[从自])$", re.IGNORECASE)


def starts_ahead(text: str, said: date) -> date | None:
    """The first day from which a text of the day `said` says that something is to be so; None where it names none."""
    days = []
    for each in named(text, said):
        nearby = text[max(0, each.start - _NEARBY) : each.start]
        whole = _FROM.search(nearby) or _FROM.match(text, each.start) or _pattern.on_zh.match(text, each.end)
        if whole and each.span is not None and (first := _nearest(each, each.span, said).span) is not None:
            days.append(first.first)
    return min((day for day in days if day > said), default=None)


def holds_from(text: str, said: datetime) -> datetime | None:
    """The beginning, in the zone it was said in, of the day or period since which `text` says something is so.

    None when it names no time, or more than one, or one that may mean something else (see above).
    """
    if _pattern.perhaps.search(text):
        return None
    found: set[Span] = set()
    named: list[tuple[int, int]] = []
    for each in mentions(text, said.date()):
        # What makes it an end or an aim stands right before it.
        nearby = max(0, each.start - _NEARBY)
        before = text[nearby : each.start]
        if each.span is None or _pattern.before.search(before) or _pattern.after.match(text, each.end):
            return None
        preposition = _pattern.preposition.match(text, each.start)
        bare = preposition.end() if preposition else each.start
        if _pattern.came_to_be.search(text[nearby:bare]) or _pattern.born_zh.match(text, each.end):
            return None
        found.add(each.span)
        named.append((each.start, each.end))
    if len(found) != 1:
        return None
    (span,) = found
    if span.unit != "day" and _pattern.open.search(_without(text, named)):
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


def states_a_time(text: str) -> bool:
    """Whether the text says when something is, or for how long: "last week", "for two years", 5月3日."""
    return _pattern.stated.search(text.casefold()) is not None or (
        not text.isascii() and _pattern.stated_zh.search(text) is not None
    )


#: Characters of what is no time that an error shows.
_SHOWN = 60
_MINUTES = {"m": 1, "h": 60, "d": 1_440, "w": 10_080, "min": 1, "minute": 1, "hour": 60}
_MINUTES |= {"分钟": 1, "小时": 60, "钟头": 60}
_DAYS = {"day": 1, "week": 7, "天": 1, "周": 7, "星期": 7, "礼拜": 7}
_IN_MONTHS = {"month": 1, "year": 12, "月": 1, "年": 12}
_NOW = ("now", "现在")
_FORMS = "use 2026-03-01, 2026-03-01T09:30, 2026-03, 7d, 12h, today, yesterday, 2 weeks ago, last month, 昨天 or 上周"


def moment_of(text: str, zone: tzinfo, now: datetime) -> datetime:
    """Return the time that `text` names, aware; of a day, week, month or year the beginning, in `zone`.

    ``12h`` and ``7d`` are so long before `now`, to the minute; ``3 days ago`` is the beginning of that day.
    Raises InvalidInput for what names no time, or one outside the calendar.
    """
    said = " ".join(text.lower().split())
    try:
        found = _read(said, zone, now)
    except (OverflowError, ValueError) as error:
        raise InvalidInput(f"{text[:_SHOWN]!r} is too long ago") from error
    if found is None:
        try:
            return parse_time(text, zone)
        except InvalidInput as error:
            raise InvalidInput(str(error), hint=_FORMS) from error
    if not is_datable(found):
        raise InvalidInput(f"{text[:_SHOWN]!r} is too long ago")
    return found


def _read(said: str, zone: tzinfo, now: datetime) -> datetime | None:
    """The time that is said in words; None for what may be ISO 8601, or nothing."""
    if said in _NOW:
        return now
    match = _pattern.short.fullmatch(said)
    if match is not None:
        return now - timedelta(minutes=int(match["count"]) * _MINUTES[match["unit"]])
    today = start_of_day(now, zone)
    match = _pattern.ago.fullmatch(said) or _pattern.ago_zh.fullmatch(said)
    if match is not None:
        return _before(now, today, _number(match["count"]), match["unit"])
    match = _pattern.month.fullmatch(said)
    if match is not None:
        return today.replace(year=int(match["year"]), month=int(match["month"] or 1), day=1)
    match = _pattern.day_and_hour.fullmatch(said)
    if match is not None:
        day = _day(match["day"], today)
        return None if day is None else day.replace(hour=int(match["hour"]), minute=int(match["minute"]))
    return _day(said, today)


def _number(word: str) -> int:
    if word.isdecimal():
        return int(word)
    spelled = {"a": 1, "an": 1, "a couple of": 2} | SPELLED
    return spelled.get(word) or value_of(word) or 0


def _before(now: datetime, today: datetime, count: int, unit: str) -> datetime:
    if unit in _MINUTES:
        return now - timedelta(minutes=count * _MINUTES[unit])
    if unit in _DAYS:
        return today - timedelta(days=count * _DAYS[unit])
    return datetime.combine(same_day(today.date(), -count * _IN_MONTHS[unit]), time.min, today.tzinfo)


def _day(said: str, today: datetime) -> datetime | None:
    """The beginning of the one day, week, month or year that these words name and nothing else."""
    # A month or a weekday alone is only read as one behind such a word.
    for lead in ("", "in ", "on "):
        found = named(lead + said, today.date())
        if len(found) == 1 and found[0].start in (0, len(lead)) and found[0].end == len(lead + said):
            span = found[0].span
            return None if span is None else datetime.combine(span.first, time.min, today.tzinfo)
    return None
