"""Which of two statements about one thing is the later word, where a change is told after it came about.

"I live in Ghent" says how things stand when it is said, and not since when. "I moved to Brugge last week", told after
it, dates its change before that moment and yet is the news. "I moved to Berlin in 2022", told in 2026, is history: it
does not overturn what was said in 2024. Between the two, "I moved to Brugge in May", told in November right after "I
live in Ghent", may be either, and no rule can tell.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from amem.truth.values import same_value

if TYPE_CHECKING:
    from datetime import datetime

    from amem.truth.evidence import Evidence

#: A change is news for as long after it came about: "three months ago" still is.
_FRESH = timedelta(days=92)
#: Of what was said longer ago than this one may have spoken as of its own time; what is told since is about others.
_RECENT = timedelta(days=366)


class Telling(Protocol):
    """What was said, and of when: `since` is the moment `said` where it names no time of its own (`dated` False)."""

    @property
    def since(self) -> datetime: ...
    @property
    def until(self) -> datetime | None: ...
    @property
    def said(self) -> datetime: ...
    @property
    def order(self) -> int: ...
    @property
    def dated(self) -> bool: ...


def is_news(told: Telling) -> bool:
    """Whether it dates a change shortly before it was told, and says of no end that is over."""
    return _lasts(told) and timedelta(0) <= told.said - told.since <= _FRESH


def overtakes(news: Telling, bare: Telling) -> bool:
    """Whether `bare`, which names no time and was said first, was so only until the change that `news` tells of."""
    return _comes_after(news, bare) and is_news(news)


def may_overtake(told: Telling, bare: Telling) -> bool:
    """Whether `told`, too late to be news, may yet be the later word on what `bare` said not long before it."""
    late = _lasts(told) and told.said - told.since > _FRESH
    return late and _comes_after(told, bare) and told.said - bare.said <= _RECENT


def _comes_after(told: Telling, bare: Telling) -> bool:
    """Whether it was told after `bare`, which names no time, of a time before that."""
    return not bare.dated and told.since <= bare.since and (bare.said, bare.order) < (told.said, told.order)


def _lasts(told: Telling) -> bool:
    """Whether it says since when something is so, and of no end that is over."""
    return told.dated and (told.until is None or told.until > told.said)


def placed(members: list[Evidence], *, one: bool) -> list[Evidence]:
    """Evidence on one thing, each that names no time put right before the first change that was told after it.

    `one` tells that there is room for one value only.
    """
    replacing = {each.successor for each in members}
    changes = [each for each in members if each.dated and (is_news(each) or each.note in replacing)]
    if not changes:
        return members
    changes.sort(key=lambda each: (each.since, each.said, each.order))
    found = []
    for each in members:
        change = next((new for new in changes if _ends(new, each) and _clash(each, new, one=one)), None)
        found.append(each if change is None else replace(each, since=change.since))
    return found


def _ends(change: Evidence, each: Evidence) -> bool:
    """Whether a change is the later word: it is news, or it was decided that what is in doubt gave way to it."""
    return overtakes(change, each) or (each.successor == change.note and may_overtake(change, each))


def _clash(old: Evidence, new: Evidence, *, one: bool) -> bool:
    """Whether both cannot be so at a time."""
    if old.holds and new.holds:
        return one and not same_value(old.object, new.object)
    ending = old if new.holds else new
    return old.holds is not new.holds and (not ending.object or same_value(old.object, new.object))
