"""Which of two statements about one thing is the later word, where a change is told after it came about.

"I live in Ghent" says how things stand when it is said, and not since when. "I moved to Brugge last week", told after
it, dates its change before that moment and yet is the news. "I moved to Berlin in 2022", told in 2026, is history: it
does not overturn what was said in 2024.
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
    over = told.until is not None and told.until <= told.said
    return told.dated and not over and timedelta(0) <= told.said - told.since <= _FRESH


def overtakes(news: Telling, bare: Telling) -> bool:
    """Whether `bare`, which names no time and was said first, was so only until the change that `news` tells of."""
    return (
        not bare.dated
        and news.since <= bare.since
        and (bare.said, bare.order) < (news.said, news.order)
        and is_news(news)
    )


def placed(members: list[Evidence], *, one: bool) -> list[Evidence]:
    """Evidence on one thing, each that names no time put right before the first change that was told after it.

    `one` tells that there is room for one value only.
    """
    news = sorted((each for each in members if is_news(each)), key=lambda each: (each.since, each.said, each.order))
    if not news:
        return members
    found = []
    for each in members:
        change = next((new for new in news if overtakes(new, each) and _clash(each, new, one=one)), None)
        found.append(each if change is None else replace(each, since=change.since))
    return found


def _clash(old: Evidence, new: Evidence, *, one: bool) -> bool:
    """Whether both cannot be so at a time."""
    if old.holds and new.holds:
        return one and not same_value(old.object, new.object)
    ending = old if new.holds else new
    return old.holds is not new.holds and (not ending.object or same_value(old.object, new.object))
