"""Whether a text states a time at all, at a fraction of what it takes to read which."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from amem.language.calendar import MONTHS, WEEKDAYS

if TYPE_CHECKING:
    from collections.abc import Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNITS = _words("day days week weeks weekend weekends month months year years night morning evening")
_WEEKDAYS = frozenset(WEEKDAYS)
_SEASONS = _words("spring summer autumn fall winter")
#: Two months are words of their own as well, and need another beside them.
_MONTHS = frozenset(MONTHS)
_ALONE = _words("yesterday today tonight tomorrow ago") | (_MONTHS - {"may", "march"})
_WHICH = _words("last this next past other")
_AT = _words("on since until in during early late mid of")
_COUNTS = _words("a an one two three four five six seven eight nine ten few several")
_WORD = re.compile(r"[a-z]+|\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_CHINESE = re.compile(
    r"(?:19|20)\d\d年|\d{1,2}月|\d{1,2}[号日](?!码)|[一二三四五六七八九十]月|[昨今明前后]天|[去前今明]年|昨晚|今[早晚]"
    r"|[上这下本]个?(?:周|星期|礼拜|月)|(?:周|星期|礼拜)[一二三四五六日天末]"
    r"|(?:\d{1,3}|[一二两三四五六七八九十几半])个?(?:天|周|星期|礼拜|月|年)[前后多了]?|春节|国庆|中秋|端午|元旦"
)


_BESIDE = _UNITS | _WEEKDAYS | _SEASONS | _MONTHS


def states_a_time(text: str) -> bool:
    """Whether the text says when something is, or for how long: "last week", "for two years", 5月3日."""
    words = _WORD.findall(text.casefold())
    if not _ALONE.isdisjoint(words) or (_tells(words) and any(_beside(*pair) for pair in pairwise(words))):
        return True
    return not text.isascii() and _CHINESE.search(text) is not None


def _tells(words: Sequence[str]) -> bool:
    """Whether any two of them could state a time."""
    return not _BESIDE.isdisjoint(words) or any(_YEAR.fullmatch(word) for word in words)


def _beside(one: str, two: str) -> bool:
    """Whether these two words, side by side, state a time."""
    if two in _UNITS:
        return one in _COUNTS or one in _WHICH or one.isdigit()
    if two in _WEEKDAYS or two in _SEASONS or two in _MONTHS:
        return one in _WHICH or one in _AT or (one.isdigit() and two in _MONTHS)
    if _YEAR.fullmatch(two) is not None:
        return one in _AT
    return two.isdigit() and (one in _MONTHS or (len(two) == 2 and _YEAR.fullmatch(one) is not None))
