"""How things are now: the states that an event ends or that do not last, and what a text says of the present.

The table ``words/states.txt`` names the states in English and Chinese: who gave birth is not pregnant. A statement of
one is no yes to whether it is so now where a later note tells of the event, or where it was said longer ago than it
lasts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from typing import TYPE_CHECKING

from amem.language import index_terms
from amem.language.predicates import load_predicates
from amem.language.scripts import Patterns, read_list
from amem.language.times import named_in_note

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

_pattern = Patterns("states")

#: What "…" stands for.
_GAP = r"(?:[\w'’-]+ ){0,3}"
#: In a pattern: what must not follow, flags, and what stands for a letter or for several.
_NO_WORDS = re.compile(r"\(\?!(?:[^()]|\([^()]*\))*\)|\(\?[a-z-]*:|\\.|\[[^\]]*\]|(?<=\w)\?")
_ANYWHERE = frozenset(
    index_terms("a the is are was were am be been had has have her his my their our it that this at in on of for to")
)


@dataclass(frozen=True, slots=True)
class State:
    """One row of the table: `lasts` is None for a state that is so until something ends it; `of_a_thing` tells that
    only what names the thing that is asked about ends it. `stated_terms` and `ended_terms` are index terms of which
    every text holds one that `stated` or `ended` matches."""

    name: str
    lasts: timedelta | None
    of_a_thing: bool
    stated: re.Pattern[str]
    ended: re.Pattern[str]
    stated_terms: frozenset[str]
    ended_terms: frozenset[str]


def states_asked(text: str) -> list[State]:
    """The states that a question names, in the order of the table, but none whose very end it asks for."""
    if any(each.ended.search(text) for each in _table() if not each.of_a_thing):
        return []
    return [each for each in _table() if each.stated.search(text) and not each.ended.search(text)]


@cache
def _table() -> tuple[State, ...]:
    return tuple(_state(line) for _, line in read_list("states.txt"))


def _state(line: str) -> State:
    head, _, sides = line.partition(": ")
    name, length, *thing = head.split(maxsplit=2)
    row = load_predicates().rows.get(length)
    days = row.lasts if row else None if length == "-" else int(length)
    stated, ended = sides.split(" | ")
    lasts = None if days is None else timedelta(days=days)
    return State(name, lasts, bool(thing), _phrases(stated), _phrases(ended), _terms(stated), _terms(ended))


def _phrases(phrases: str) -> re.Pattern[str]:
    """Match any of these phrases, an English one as whole words."""
    listed = [each.strip() for each in re.split(r",(?![^(]*\))", phrases) if each.strip()]
    latin = "|".join(each.replace("… ", _GAP).replace("…", _GAP) for each in listed if each.isascii() or "…" in each)
    chinese = "|".join(each for each in listed if not (each.isascii() or "…" in each))
    return re.compile("|".join(filter(None, (latin and rf"\b(?:{latin})\b", chinese))), re.IGNORECASE)


def _terms(phrases: str) -> frozenset[str]:
    """The index terms of the words of these phrases, those left out that any sentence has."""
    return frozenset(index_terms(_NO_WORDS.sub(" ", phrases))) - _ANYWHERE


# What a question asks of the present, and whether a statement speaks of it.

_AT_MOST = {"day": 31, "天": 31, "week": 120, "周": 120, "星期": 120, "礼拜": 120, "month": 400, "月": 400}


#: Whether a question is for what is so now: "is Tomas in Gothenburg?", 小雅是学生吗.
asks_how_things_are = _pattern.says("is")
#: Whether a question is for what was so at some time.
asks_how_things_were = _pattern.says("was_it")
#: Whether a question is for whether somebody is at a place.
asks_whether_there = _pattern.says("where")
#: Whether a question is for where somebody or something is, not for where they would be.
asks_where_now = _pattern.says("where_now")
#: Whether a text tells of a place where somebody stays until something else is said.
is_settled = _pattern.says("settled")
#: Whether a text bounds or repeats what it tells, so that the days it names are not all of its time.
tells_since_when = _pattern.says("since")


def tells_until_when(text: str, said: date) -> date | None:
    """The last day until which a text of the day `said` tells that it is so; None where it names none."""
    named = [each for each in named_in_note(text, said) if _pattern.until.search(text[: each.start])]
    return max((each.span.last for each in named if each.span is not None), default=None)


def tells_how_long(text: str) -> timedelta | None:
    """How long at most what a text tells lasts, where it says for how many days, weeks or months; else None."""
    found = _pattern.for_so_long.search(text)
    return None if found is None else timedelta(days=_AT_MOST[(found["unit"] or found["zh"]).lower()])


#: Whether a text says that something makes somebody ill: "milk gives me cramps", 喝牛奶就拉肚子.
tells_of_harm = _pattern.says("harmed")
#: Whether a question asks what whoever asks is or was: "am I pregnant?".
is_of_own_state = _pattern.says("own_state")
#: Whether a text begins with a name, and says what its bearer is or has.
names_its_subject = _pattern.says("named_is")


def speaks_of_the_present(text: str, *, event: bool) -> bool:
    """Whether a text tells how things are, or with `event` by what they came to be so, and not how they were."""
    if _pattern.was.search(text) is not None and not tells_since_when(text):
        return False
    return not event or _pattern.became.search(text) is not None


#: Whether a text speaks of whoever says it, or of somebody of theirs.
is_of_the_speaker = _pattern.says("first")
#: Whether a question is for a person.
asks_who = _pattern.says("who")


def clauses(text: str) -> list[str]:
    """The parts of a text between its marks."""
    return _pattern.clauses.split(text)


def tells_of_leaving(text: str, name: str) -> bool:
    """Whether a text says of somebody that they leave, move or retire."""
    parts = [_pattern.remains.sub(" ", each) for each in clauses(text) if name in each]
    return any(_pattern.leaves.search(each, each.index(name)) for each in parts if name in each)


def tells_of_death(text: str, name: str) -> bool:
    """Whether a text says that somebody, or a pet, died."""
    return any(name in each and _pattern.dies.search(each) for each in clauses(text))


#: Whether a text says that what was planned is not done: "the trip is off", 青岛不去了.
calls_off = _pattern.says("called_off")


def leads_on(between: str) -> bool:
    """Whether these words stand between the first and the last of some days: "to" of "from 4 to 9 December"."""
    return _pattern.to.fullmatch(between) is not None


def tells_of_loss(text: str, name: str) -> bool:
    """Whether a text says of a thing or a place that it was sold, stolen, broken beyond use or closed.

    Once it is named it may go on as "it": "The Fabia won't start. Sold it for scrap."
    """
    named = False
    for each in clauses(text):
        told = each.replace(name, "_name_") if name in each else _pattern.as_it.sub("_name_", each) if named else ""
        if _pattern.lost.search(told):
            return True
        named = named or name in each
    return False


def tells_of_leave(text: str) -> bool:
    """Whether a text says that something may be had or done: "Max may eat nuts", 可以吃花生."""
    return any(_pattern.may.search(each) and not _pattern.may_not.search(each) for each in clauses(text))


def _told(name: str) -> Callable[[str], list[str]]:
    found = _pattern(name).finditer
    return lambda text: [each["what"] or each["zh"] for each in found(text)]


#: What a text leaves out of what it tells: "fish" of "vegetarian except for fish".
exceptions = _told("except")
#: What a text tells of as another than before: "boss" of "my new boss", 班主任 of 换了班主任, with what follows.
told_anew = _told("another")


#: The text without its words for being with the speaker, who is not whom it tells of: "stays with me", 住我这里.
without_own_place = partial(_pattern.at_mine.sub, " ")


#: Whether a text tells of something in place of what was to be: "at the pool instead", 改到周四.
tells_instead = _pattern.says("instead")
