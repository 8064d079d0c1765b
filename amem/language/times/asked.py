"""How a question asks about a time: what is to come, what was done, the same day of another year, a part of a span."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.language.numerals import SPELLED

if TYPE_CHECKING:
    from collections.abc import Callable

# Is it about what is to come?

_AHEAD = re.compile(
    r"\b(?:will|shall|going to|plan(?:s|ned|ning)?|due|scheduled|booked|upcoming|coming up|lined up"
    r"|what(?:['’]s| is| are) (?:on|up|next|happening)|(?:do|have) (?:I|we)\b[^?.!]* on|do (?:I|we) (?:have|need)"
    r"|have (?:I|we) (?:got|any)|(?:am|are) (?:I|we) \w+ing|when (?:is|are|does|do))\b|['’]ll\b"
    r"|要(?!是)|打算|计划|安排|准备",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"\b(?:did|was|were|had|happened|made|went|ago|last)\b|了|过(?!来)", re.IGNORECASE)
WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:周|星期|礼拜)[一二三四五六日天]", re.IGNORECASE)
"""A weekday and nothing else."""

_TO_COME = re.compile(
    r"\b(?:will|shall|is|are|am|must|should|can|due|plan(?:s|ned)?|going to)\b|['’]ll\b"
    r"|^[^了过]*(?:要|准备|打算|计划|安排|得|该)[^了过]*$",
    re.IGNORECASE,
)


@lru_cache(maxsize=16)
def may_be_ahead(text: str) -> bool:
    """Whether a question may be for what is yet to be, so that a time to come need not be an earlier one."""
    return _TO_COME.search(text) is not None


@lru_cache(maxsize=16)
def asks_ahead(text: str) -> bool:
    """Whether a question is for what is yet to be: "what am I doing in December?", 周三有什么安排."""
    return _AHEAD.search(text) is not None and _BEHIND.search(text) is None


# Does it ask for everything of a time?

_ALL = re.compile(
    r"\b(?:and|so|ok(?:ay)?|please|what(?:['’]s|['’]ve|['’]re)?|which|anything|everything|something|all|list|show|tell|about|there"
    r"|i|we|my|our|me|us|you|is|are|am|was|were|be|been|did|do|does|doing|done|have|has|had|got|get|will|would|should|shall"
    r"|going|go|on|up|for|to|in|the|a|an|of|at|happen(?:s|ed|ing)?|plan(?:s|ned|ning)?|schedul(?:e|ed)|booked|due|coming|lined"
    r"|agenda|calendar|diary|events?|appointments?|notes?|new|news|else|need|everything|note|noted|wrote|written|write|down"
    r"|lately|recently|recent|latest|these days|exactly|again|remember|next|upcoming|soon|ahead)\b"
    r"|['’](?:s|ll|ve|re|m)\b",
    re.IGNORECASE,
)
_ALL_ZH = re.compile(
    r"我们?|咱们|你|请|告诉|列出|都|全部|所有|做|干|弄|忙|过得|过|了|些|什么|[啥哪]些?|事情?|发生|有没有|有|没有|安排|计划|打算|日程|活动|约"
    r"|要|会|得|准备|写|记录?|笔记|的|吗|呢|吧|在|是|情况|经历|新鲜|大|怎么样?|一下|期间|时候?|那[天段]|接下来|最近|近来|近期|将来|以后|[\s，。？！?!,.]"
)


#: Beside that only whom one met, where one was and the like: all of the time is what may hold the answer.
_ROUGHLY = re.compile(
    r"\b(?:who|whom|where|which|places?|people|meet|met|see|saw|seen|go|went|gone|travel(?:led)?|visit(?:ed)?|been)\b"
    r"|谁|哪[里儿]|哪些|地方|人|去|到|见|玩|逛",
    re.IGNORECASE,
)


def asks_for_all(rest: str, *, roughly: bool = False) -> bool:
    """Whether a question asks for all of a time, where `rest` is the question without the words of that time.

    `roughly` takes one for whom one met or where one was as such, too.
    """
    rest = _ROUGHLY.sub("", rest) if roughly else rest
    if re.search(r"\b(?:who|where|when|why|how|which)\b|谁|哪[里儿个天家位]|为什么|多少|几", rest, re.IGNORECASE):
        return False
    return not any(map(str.isalnum, _ALL_ZH.sub("", _ALL.sub("", rest))))


_DONE = re.compile(
    r"^(?:(?:I|we|my \w+) )?(?:\w{2,}ed|bought|sold|made|got|went|met|sent|wrote|paid|told|gave|found)\b|了|过",
    re.IGNORECASE,
)


def tells_what_was(note: str) -> bool:
    """Whether a note tells of what is over."""
    return _BEHIND.search(note) is not None or tells_of_deed(note)


def tells_of_deed(note: str) -> bool:
    """Whether a note tells what was done, though it may name a day to come: "Booked the train for 12 December"."""
    return _DONE.search(note) is not None


# Does it ask for all of a sort: what was done with somebody, which books were read?

_DEEDS = re.compile(
    r"\bwhat (?:all )?(?:did|have|has|had) \w+(?: and \w+)? (?:do|done)\b|\bwhat happened\b"
    r"|[做干][了过]?些?什么|发生[了过]?些?什么",
    re.IGNORECASE,
)
#: A work that a question names by its sort, what a note has that names one, and that it was read or seen.
_WORKS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(named), re.compile(enjoyed, re.IGNORECASE))
    for asked, named, enjoyed in (
        (
            r"\b(?:books?|novels?) (?:did|have|has|had)\b.*\bread\b|(?:读|看)[过完了]?(?:哪些|什么|几本)书",
            r"《[^》]+》|[\"“][A-Z][^\"”]+[\"”]|\b[Bb]ook\b|\bnovel\b|小说",
            r"\b(?:re-?)?read(?:ing)?\b|\bfinished\b|读|看[完过了]",
        ),
        (
            r"\b(?:films?|movies?) (?:did|have|has|had)\b.*\b(?:see|seen|watch(?:ed)?)\b"
            r"|看[过完了]?(?:哪些|什么|几部)(?:电影|片子)",
            r"《[^》]+》|[\"“][A-Z][^\"”]+[\"”]|\b[Ff]ilm\b|\b[Mm]ovie\b|\b[Cc]inema\b|电影",
            r"\b(?:saw|seen|see|watch(?:ed|ing)?|cinema)\b|看",
        ),
    )
)


def asks_for_deeds(text: str) -> bool:
    """Whether a question is for what was done: "what did I do with Otto?"."""
    return _DEEDS.search(text) is not None


def tells_of_work(question: str) -> Callable[[str], bool] | None:
    """What tells whether a note is of a book that was read, or a film that was seen; None where none is asked for."""
    for asked, named, enjoyed in _WORKS:
        if asked.search(question):
            return lambda note: named.search(note) is not None and enjoyed.search(note) is not None
    return None


# What more a question wants than to know what was so.

_DAY_OR_DEED = re.compile(
    r"\b(?:when|why|how (?:long|often|many)|since when)\b|\bhappen|为什么"
    r"|\b(?:did|do|does|have|has|had) \w+ (?:do|done|eat|eaten|cook|cooked|drink|drunk)\b"
    r"|什么时候|多久|哪一?天|几号|多少次|几次|[做干][了过]?些?[什啥]|发生|[吃喝][了过]",
    re.IGNORECASE,
)
_EARLIER = re.compile(
    r"\b(?:previous(?:ly)?|former(?:ly)?|earlier|used to|before)\b|前任|以前的?|之前的?|原来的?|原先的?|上一任",
    re.IGNORECASE,
)
_TENSE = re.compile(r"\b(?:did|was|were)\b", re.IGNORECASE)


def asks_for_a_day_or_deed(text: str) -> bool:
    """Whether a question is for the day, the reason or what was done: nothing that was so for a while answers it."""
    return _DAY_OR_DEED.search(text) is not None


def without_earlier(text: str) -> str | None:
    """The question without the words by which it asks for what was so before what is; None where it does not."""
    return _EARLIER.sub(" ", text) if _EARLIER.search(text) else None


def without_tense(text: str) -> str:
    """The question without the verbs that say no more than that it is about the past."""
    return _TENSE.sub(" ", text)


# Parts of times, as regular expressions for whoever reads the words around a time.

_FEW = "two|three|four|five|six|seven|eight|nine|ten"
PART = re.compile(
    rf"\b(?:the )?(?P<end>first|last|final) (?P<count>(?:{_FEW}|\d{{1,2}}|few|couple of))"
    r" (?P<unit>day|week|month)s? of (?:the )?$",
    re.IGNORECASE,
)
"""So many of a span's first or last parts, before the span: "the last two months of 2022"."""
PART_ZH = re.compile(
    r"的?(?P<end>最后|末尾|开头|头)(?P<count>\d{1,2}|[两二三四五六七八九十几])个?(?P<unit>天|周|星期|月)"
)
"""The same behind the span: 2022年的最后两个月."""
A_DAY = re.compile(r"今[天日]|昨[天日]|明天|today|yesterday|tomorrow", re.IGNORECASE)
"""A day that is reckoned from today: with a year beside it, that day of the year (去年的今天)."""
THIS_DAY = re.compile(r"\b(?:on )?(?:this|the same)(?: very)? day(?: of| in)? (?:the )?$", re.IGNORECASE)
"""The same before the year: "on this day last year"."""


def part_count(match: re.Match[str]) -> int:
    """How many parts a match of `PART` or `PART_ZH` says."""
    said = match["count"].casefold()
    return {"few": 3, "几": 3, "couple of": 2}.get(said) or SPELLED.get(said) or int(said)
