"""Two statements compared: how far they are about the same thing, and what speaks for a conflict."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from itertools import groupby, takewhile
from typing import TYPE_CHECKING

from amem.conflict.clause_parts import (
    OF,
    RELATIVES,
    THIRD,
    Of,
    is_noun,
    item_of,
    label_of,
    ordinal_of,
    value_places,
    values_of,
)
from amem.conflict.cues import EXPLICIT, Cue, is_state
from amem.conflict.statements import read
from amem.language import normalize, written_in_cjk
from amem.language.lexicon import is_everyday
from amem.language.predicates import USER, WE
from amem.language.scripts import Patterns, word_list, words
from amem.language.sentence_parts import DENIAL, from_then_on, season_of

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from amem.conflict.candidates import Claim
    from amem.conflict.clause_parts import Value
    from amem.conflict.statements import Statement


_pattern = Patterns("conflict/compare")

#: Said within this time, two notes disagree; after it, something may have changed.
AT_ONCE = timedelta(days=1)


_SPEAKERS = frozenset({USER, WE})


def shared(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The weight of the words that both are about."""
    found = [(weight, key if key in other else _held(key, other)) for key, weight in one.items()]
    return sum([min(weight, other[match]) for weight, match in found if match is not None])


def cover(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Share of what `one` is about that `other` is about, too; 0 where it is about nothing."""
    total = sum(one.values())
    if not total:
        return 0.0
    held = [
        weight
        for key, weight in one.items()
        if key in other or not (key.isascii() or _held(key, other) is None)  # most keys are ASCII: ask nobody else
    ]
    return sum(held) / total


def _held(key: str, about: Mapping[str, float]) -> str | None:
    """The word among `about` that has this Chinese word in it, or is a part of it: 篮球, 篮球赛."""
    if key.isascii() or len(key) < 2:
        return None
    return next((word for word in about if len(word) > 1 and not word.isascii() and (word in key or key in word)), None)


def overlap(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """`cover` of the smaller of the two by the other, 0..1."""
    return max(cover(one, other), cover(other, one))


def same_people(earlier: Statement, later: Statement, old: Claim, new: Claim) -> bool:
    """Whether both may be said of the same people: nobody is named, or somebody who stands in the other, too."""
    one, other = _who(earlier, old), _who(later, new)
    if not one or not other or one & other:
        return not namesakes(one, other)
    if one <= _SPEAKERS and other <= _SPEAKERS:
        return WE in one | other  # "I" of two speakers are two people, "we" may be either
    if (one | other) & THIRD:
        return not (one | other) & _SPEAKERS and not (one <= THIRD and other <= THIRD)
    if any(OF in each for each in one | other):
        return _somebody_had(one, other, earlier) or _somebody_had(other, one, later)
    return one <= earlier.names.keys() & later.about.keys() or other <= later.names.keys() & earlier.about.keys()


def namesakes(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether both are relatives of one name, and not the same: "my sister Anna", "my cousin Anna"."""
    first, second = one & RELATIVES, other & RELATIVES
    return bool(first and second) and first.isdisjoint(second) and bool(one & other)


def _somebody_had(people: Iterable[str], owned: Iterable[str], statement: Statement) -> bool:
    """Whether a statement about who belongs to one of these people is about what the other says of them: "Leo has a
    dog", "Leo's dog died"."""
    told = (each.rpartition(OF) for each in owned)
    return any(owner in people and noun in statement.about for owner, _, noun in told)


def _who(statement: Statement, claim: Claim) -> frozenset[str]:
    """The statement's people; who says "I" goes by name, where it is known."""
    if USER in statement.people and claim.speaker is not None:
        return (statement.people - {USER}) | {normalize(claim.speaker)}
    return statement.people


def gained(one: Statement, other: Statement) -> Mapping[str, frozenset[str]]:
    """What `other` has that `one` lacks, by sort: number, year, month, weekday, name.

    A number counts only beside numbers that may number the same: three people are no other value than floor 4.
    """
    swapped = _swapped(one, other)
    if not other.values and not other.names and not swapped:
        return {}
    found: dict[str, frozenset[str]] = {}
    if other.values and other.values != one.values:
        held, kept = _told(one.values), _told(other.values)
        lost = [value for value in one.values if (value.sort, value.text) not in kept]
        came = [
            value
            for value in other.values
            if (value.sort, value.text) not in held and all(map(value.numbers_the_same, lost))
        ]
        found = {each.sort: frozenset([value.text for value in came if value.sort == each.sort]) for each in came}
    if names := [key for key in other.names if key not in one.about] or swapped:
        found["name"] = frozenset(names)
    return found


# A statement is held against many others.
@lru_cache(maxsize=2048)
def _told(values: frozenset[Value]) -> frozenset[tuple[str, str]]:
    return frozenset([(value.sort, value.text) for value in values])


#: Left out where two Chinese clauses are laid side by side; and what stands before what somebody or something is.
_FILLERS = ("现在", "如今", "目前", "已经", "了", "。", "！", "!")
_IS = ("是", "叫", "姓", "属")
_LONGEST_SWAPPED = 8


def _swapped(one: Statement, other: Statement) -> list[str]:
    """What a Chinese clause has where another, else the same, has something else: 工资卡是建行的, 工资卡是招行的了."""
    first, second = _bare(one.text), _bare(other.text)
    if one.frame is not None or other.frame is not None or first[:1] != second[:1]:
        return []  # as of most pairs
    start, end = _common(first, second), _common(first[::-1], second[::-1])
    end = min(end, len(first) - start, len(second) - start)
    mine, yours = first[start : len(first) - end], second[start : len(second) - end]
    told = first[:start].endswith(_IS) and max(len(mine), len(yours)) <= _LONGEST_SWAPPED
    return [yours] if told and mine and yours and not values_of(mine + yours) else []


@lru_cache(maxsize=2048)
def _bare(text: str) -> str:
    for filler in _FILLERS:
        text = text.replace(filler, "")
    return text


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def differing(one: Statement, other: Statement) -> frozenset[str]:
    """Sorts of which each has something that the other lacks."""
    came = gained(one, other)
    return frozenset(came.keys() & gained(other, one).keys()) if came else frozenset()


def without(about: Mapping[str, float], keys: Collection[str]) -> Mapping[str, float]:
    """`about` without some of its words."""
    if about.keys().isdisjoint(keys):
        return about
    return {key: weight for key, weight in about.items() if key not in keys}


# Polarity: whether two statements say the same or the opposite of what both are about.

#: With these a text says that something else is so, though it denies what was denied.
_ANEW = frozenset({Cue.CHANGES, Cue.RETRACTS})
#: Share of what the one is about, from which on both are about the same.
_MOSTLY = 0.75


def opposed(old: Statement, new: Statement) -> list[str]:
    """The pairs of opposites of which the two say the one and the other."""
    return [pair for pair, sign in new.poles.items() if old.poles.get(pair) == -sign]


def _alike(old: Statement, new: Statement) -> bool:
    """Whether both say the same of a pair of opposites."""
    return any(old.poles.get(pair) == sign for pair, sign in new.poles.items())


def turned(old: Statement, new: Statement) -> bool:
    """Whether one denies what the other says: by a pair of opposites that both have, else by a word that denies.

    What has the lesser word of a pair affirms nothing that the other denies: "isn't here", "is absent".
    """
    if old.pending and new.achieved and shared(without(old.about, old.people), new.about) >= 1:
        return True
    if old.poles.keys() & new.poles.keys():
        # Of two pairs that one word denies ("not safe in the dark") it means one.
        return bool(opposed(old, new)) and not (old.negative != new.negative and _alike(old, new))
    if old.negative and new.negative:
        same = min(cover(old.about, new.about), cover(new.about, old.about)) >= _MOSTLY
        return same and _affirms(old) != _affirms(new)
    denying, affirming = (old, new) if old.negative else (new, old)
    return denying.negative and not _affirms(denying) and -1 not in affirming.poles.values()


def _affirms(denying: Statement) -> bool:
    """Whether all that a statement denies is the lesser of two opposites: who was not absent was there."""
    return set(denying.poles.values()) == {1}


def agrees(old: Statement, new: Statement) -> bool:
    """Whether both deny the same, or say the same of a pair of opposites, and no value tells them apart."""
    alike = _alike(old, new)
    if not (alike or (old.negative and new.negative)) or not (old.said and new.said) or (new.cues - old.cues) & _ANEW:
        return False
    if turned(old, new) or differing(old, new):
        return False
    whole = alike and not (old.about and new.about)  # "no longer eat meat", "am a vegetarian"
    return whole or overlap(old.about, new.about) >= _MOSTLY


# Sometimes, or only somewhere: "I don't like jazz in the morning" says nothing against jazz at night.


def only_sometimes(earlier: str, later: str) -> bool:
    """Whether the later text is of a time or place that the earlier one does not name."""
    return not _times_named(later) <= _times_named(earlier)


# A long note has many pairs of facts and of clauses with each of its neighbours.
@lru_cache(maxsize=1024)
def _times_named(text: str) -> frozenset[str]:
    return frozenset(match[0].casefold() for match in _pattern.sometimes.finditer(text))


_DAYS = frozenset({"day", "weekday"})


def only_once(old: Statement, new: Statement, cues: Collection[Cue]) -> bool:
    """Whether the later statement tells of one day only, on which what is so otherwise was not: "this Monday's".

    `cues` are those of its whole sentence.
    """
    day = _day_in(new.around)
    if day is not None and day["this"]:
        usual = {value for value in old.values if value.sort == "weekday"}
        named = {value for value in values_of(new.around[day.end() - 1 :]) if value.sort == "weekday"}
        return bool(usual & named) if usual else not (cues or old.event)
    begins = day if day is not None and not day.start() else _pattern.today.match(new.around)
    if begins is not None and _clocks(old) and _clocks(new) and not from_then_on(new.around, begins.end()):
        return True  # 明天早会改到十点
    if old.event:
        days = all(any(each.sort == "day" for each in one.values) for one in (old, new))
        values = min(sum(map(len, gained(*both).values())) for both in ((old, new), (new, old)))
        return not cues and (days or (new.event and values > 1))
    dated = any(each.sort in _DAYS for each in new.values)
    numbers = all(any(each.sort == "number" for each in one.values) for one in (old, new))
    if new.event and dated and numbers and not set(cues) - {Cue.AFRESH}:
        return True  # "on Friday the class started at nine"
    if new.event and not cues and _pattern.today.search(new.text):
        return True
    return day is not None and (bool(day["of"]) or not cues) and day[0] not in old.around


def _clocks(statement: Statement) -> bool:
    return any("clock" in value.units for value in statement.values)


def only_in_season(old: Statement, new: Statement) -> bool:
    """Whether the later statement is of one season or month of each year, which the earlier one does not name."""
    season = season_of(new.around)
    if season is None or new.event or new.cues & (EXPLICIT | {Cue.NOW}):
        return False
    return season not in old.around.casefold() and not any(each.sort == "month" for each in old.values)


@lru_cache(maxsize=1024)
def _day_in(text: str) -> re.Match[str] | None:
    return _pattern.day.search(text)


def of_one_day(text: str) -> bool:
    """Whether a note begins with the one day that it is of: "Yesterday's stand-up started at ten"."""
    day = _day_in(text)
    return day is not None and bool(day["of"]) and not text[: day.start()].strip()


# Two of a kind: the second batch is not the first, and the kitchen's tap is not the bathroom's.

#: What is numbered and yet replaced by the next: the number is its value.
_VALUES = words("version release build phase stage level age about only just still costs cost")
#: Things of a computer that run side by side.
_RUNNING = word_list("run side by side")
#: They say which one of several in turn, and not which of two.
_WHEN = word_list("which in turn")


def two_of_a_kind(one: Statement, other: Statement) -> bool:
    """Whether both clauses begin with things of one kind that are not the same thing."""
    first, second = one.around, other.around
    if _names_other(one.text) != _names_other(other.text) or _other_item(first, second) or _other_label(first, second):
        return True
    return _other_ordinal(one, other) or _other_thing(one, other)


#: How a clause begins that is said of another than the one meant.
_OTHERS = ("other ", "the other ", "another ", "a different ", "另一", "另外", "别的", "其他", "其它", "隔壁")


def _names_other(text: str) -> bool:
    """Whether a clause is said of another one than that meant: "the other meeting", "the lead of the other team"."""
    said = text.casefold()
    return said.startswith(_OTHERS) or " of the other " in said or " of another " in said


def _other_ordinal(one: Statement, other: Statement) -> bool:
    """Whether both begin with things of a kind in turn, and not the same."""
    first, second = ordinal_of(one.text), ordinal_of(other.text)
    return first is not None and second is not None and first[0] == second[0] and first[1] != second[1]


def _other_item(one: str, other: str) -> bool:
    """Whether both begin with the number of an item, and not the same: of a list, of lockers, of rooms."""
    first, second = item_of(one), item_of(other)
    if first is None or second is None or first.kind != second.kind:
        return False
    words = first.kind.split()
    if not _VALUES.isdisjoint(words):
        return False
    listed = first.listed and second.listed
    if not listed and first.kind.isascii() and not all(is_everyday(each) or each in _RUNNING for each in words):
        return False  # "PostgreSQL 15" and "PostgreSQL 16" are one thing
    return first.which != second.which


def _other_label(one: str, other: str) -> bool:
    """Whether both stand behind a heading that is the same but for its number or date: "Day 2: ...", "日志55：..."."""
    first, second = label_of(one), label_of(other)
    if first is None or second is None or values_of(first) == values_of(second):
        return False
    if one[len(first) : len(first) + 1] == "," and not is_noun(first):
        return False  # "We start at 8, ..."
    return _but_for_values(first) == _but_for_values(second)


def _but_for_values(text: str) -> str:
    for start, end in reversed(value_places(text)):
        text = f"{text[:start]}#{text[end:]}"
    return text


def _other_thing(one: Statement, other: Statement) -> bool:
    """Whether both are said of things that differ: the front door, the back door; the queue, the cache."""
    if not one.thing or not other.thing:
        return False
    (*mine, first), (*yours, second) = one.thing, other.thing
    if first != second:
        changed = other.cues & EXPLICIT or turned(one, other)
        return not (changed or one.people or other.people or first in other.about or second in one.about)
    return bool(mine and yours) and _WHEN.isdisjoint((*mine, *yours)) and set(mine).isdisjoint(yours)


# Reasons to differ: which two statements of two notes may not go together, and what tells of it.

_HONORIFICS = frozenset({"dr", "mr", "mrs", "ms", "prof"})
_CHANGED = frozenset({Cue.CHANGES, Cue.RETURNS})
_ENDS_OR_CHANGES = frozenset({Cue.ENDS, Cue.CHANGES})
OVER = frozenset({Cue.ENDS, Cue.OVER})
_NEWS = frozenset({Cue.CHANGES, Cue.RETURNS})
_SINCE = frozenset({Cue.NOW, Cue.AFRESH})
SAYS_SO = EXPLICIT | {Cue.NOW}
#: Below this cosine two notes that share nothing but a person tell different things of him or her.
_FAR = 0.4
#: What one person does at a time, by the stem.
_BY_ONE = frozenset({"lead", "run", "head", "chair", "manag", "own", "coach", "teach", "handl", "captain", "organ"})


def compared(earlier: Claim, later: Claim, cosine: float) -> Iterator[tuple[Statement, Statement, dict[str, float]]]:
    """Pairs of statements with a reason to differ, each with its features by name, as the trees were fitted on."""
    if _is_over(earlier, later.since) or _is_over(later, later.said):
        return  # "in January I still lived in Lisbon" ends by itself, and ends nothing
    olds, news = _clauses(earlier.content), _clauses(later.content)
    for new in news.ending:
        # The default embedder reads no Chinese, so there the word of an end or a change has to do.
        changes = bool(new.around.cues & _ENDS_OR_CHANGES)
        for old in olds.touched_by(new):
            one, other = old.statement, new.statement
            if not _may_fall(old, new) or not _same_people(one, other, earlier, later):
                continue
            if (cosine < _FAR or (changes and _in_cjk(old.text))) and _only_people(old, new):
                continue
            if not _has_reason(one, other, new.around) or _restated(one, other, read(later.content)):
                continue
            if two_of_a_kind(one, other) or only_in_season(one, other):
                continue
            if not only_once(one, other, new.around.cues):
                yield one, other, _features(one, other, new.around, earlier, later, cosine, (olds.count, news.count))


def _is_over(claim: Claim, moment: datetime) -> bool:
    """Whether all that a note, or each of its facts, says had ended by then, as it says itself."""
    ends = [fact.valid_to for fact in claim.facts] or [claim.until]
    return all(end is not None and end <= moment for end in ends)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """The clauses of a sentence in one: what they are about, of whom, and their cues."""

    about: Mapping[str, float]
    people: frozenset[str]
    cues: frozenset[Cue]


@dataclass(frozen=True, slots=True)
class _Clause:
    """A statement, with what comparing it asks for again and again. `around` are the clauses of its sentence in one;
    `text` is its normal form, `keys` its words and those of its sentence, which begin with a space.
    """

    statement: Statement
    around: _Sentence
    text: str
    keys: frozenset[str]

    @classmethod
    def of(cls, statement: Statement, around: _Sentence) -> _Clause:
        keys = frozenset((*statement.about, *map(" ".__add__, around.about)))
        return cls(statement, around, normalize(statement.text), keys)

    @property
    def may_end(self) -> bool:
        """Whether it could end an earlier one: a reason for something else ends nothing."""
        said = self.statement.said and not self.statement.reason
        return said and (self.statement.negative or not self.statement.past)

    @property
    def may_fall(self) -> bool:
        """Whether a later one could end it."""
        return not self.statement.past and (self.statement.said or self.statement.planned)


class _Clauses:
    """The `count` clauses of a note: those that could end an earlier one, and those that a later one could end.

    Long notes make hundreds of pairs, so the latter are found by words and pairs of opposites: each has a mask of the
    places at which it stands.
    """

    def __init__(self, text: str) -> None:
        around = _sentences(text)
        every = [_Clause.of(each, around[each.sentence]) for each in read(text)]
        self.count = len(every)
        self.ending = [each for each in every if each.may_end]
        self.falling = [each for each in every if each.may_fall]
        self._places: defaultdict[str, int] = defaultdict(int)
        self._opposites: defaultdict[str, int] = defaultdict(int)
        for place, each in enumerate(self.falling):
            for key in each.keys:
                self._places[key] |= 1 << place
            for pair in each.statement.poles:
                self._opposites[pair] |= 1 << place

    def touched_by(self, new: _Clause) -> list[_Clause]:
        """Those that could fall and share a word with a later clause, or whose sentences do, or that are its opposite
        by nothing but a pair of opposites."""
        told = opposed = 0
        for key in self._places.keys() & new.keys:
            told |= self._places[key]
        for pair in new.statement.poles:
            opposed |= self._opposites.get(pair, 0)
        return [
            old
            for place, old in enumerate(self.falling if told or opposed else ())
            if told >> place & 1 or (opposed >> place & 1 and _by_opposites(old.statement, new.statement))
        ]


def _by_opposites(old: Statement, new: Statement) -> bool:
    """Whether a pair of opposites is enough to compare two statements that share no word."""
    return any(map(is_state, old.poles)) or not (old.names or new.names or (old.about and new.about))


_clauses = lru_cache(maxsize=1024)(_Clauses)


def _may_fall(old: _Clause, new: _Clause) -> bool:
    """Whether the earlier statement is one that the later could end: said, or planned and then called off."""
    return old.text != new.text and (old.statement.said or bool(new.statement.cues & EXPLICIT))


def _same_people(old: Statement, new: Statement, earlier: Claim, later: Claim) -> bool:
    return Cue.TAKEOVER in new.cues or _does_instead(old, new) or same_people(old, new, earlier, later)


def _does_instead(old: Statement, new: Statement) -> bool:
    """Whether somebody now does what one does at a time, and somebody else did: "Oskar leads the project now"."""
    if Cue.NOW not in new.cues or old.frame is None or new.frame is None or old.frame.verb != new.frame.verb:
        return False
    told = without(old.about, old.people)
    return new.frame.verb in _BY_ONE and bool(told) and cover(told, new.about) == 1.0


def _has_reason(old: Statement, new: Statement, around: _Sentence) -> bool:
    """Whether anything says that they differ: a word of change or end, a turned meaning, another value."""
    if agrees(old, new) or _comes_true(old, new):
        return False
    if Cue.MORE in new.cues and not new.cues & EXPLICIT and not turned(old, new):
        return False  # "supports iOS as well now"
    news = new.cues & _NEWS or "rising" in new.poles
    if news and not new.cues & OVER and new.negative and DENIAL.search(new.text):
        return False  # "the meeting has not been moved to Friday"
    told = (new.cues | around.cues) - (old.cues & _SINCE)
    if not told & SAYS_SO and not new.ended and contrast(old, new):
        return not turned(old, new) and "name" in differing(old, new)  # what costs more is the other thing
    if differing(old, new):
        return True
    if _is_done(old, new, around):
        return False
    if turned(old, new) and (opposed(old, new) or shared(old.about, new.about)):
        return True  # "no lift" denies nothing of "my flat is in Ottensen"
    if new.cues & EXPLICIT == {Cue.CHANGES} and old.values and not gained(new, old):
        return False  # "8 people" stands, whatever "moved to the third floor"
    if told & OVER or new.ended:
        return not (old.negative or -1 in old.poles.values())
    if Cue.RETURNS in told and told & EXPLICIT == {Cue.RETURNS} and cover(new.about, old.about) == 1.0:
        return False  # "the boiler hums again" beside "the boiler hums"
    return bool(told & SAYS_SO)


def contrast(old: Statement, new: Statement) -> bool:
    """Whether each is about a noun that the other lacks: the invoice from Brandt, the invoice from Keller."""
    people = old.people | new.people
    return _alone(without(old.about, people), new) and _alone(without(new.about, people | new.target), old)


def _alone(about: Mapping[str, float], other: Statement) -> bool:
    for key, weight in about.items():
        if weight >= 1 and key not in other.about and (key.isascii() or _held(key, other.about) is None):
            return True
    return False


def _is_done(old: Statement, new: Statement, around: _Sentence) -> bool:
    """Whether the earlier statement only tells of what happened, and the later one of something else that did.

    "Sold the lamp" ends nothing of "repaired the lamp"; what a person got, joined or began goes on until it ends.
    """
    if (
        not old.event
        or old.negative
        or opposed(old, new)
        or Cue.RETRACTS in new.cues | around.cues
        or _pattern.goes_on.search(old.text)
    ):
        return False
    verbs = {each.frame.verb for each in (old, new) if each.frame is not None and each.frame.verb}
    return bool(old.poles) or len(verbs) > 1 or cover(old.about, around.about) < _MOSTLY


def _comes_true(old: Statement, new: Statement) -> bool:
    """Whether the later statement only says that what was planned has come about: "I moved to Bergen"."""
    planned = old.planned and not old.said and new.cues & EXPLICIT == {Cue.CHANGES}
    return (
        planned
        and not turned(old, new)
        and not differing(old, new)
        and not (new.target & new.about.keys()) - old.about.keys()
    )


def _restated(old: Statement, new: Statement, news: Sequence[Statement]) -> bool:
    """Whether another clause of the later note says the same as the earlier one, in more of its words than `new` has.

    "I stopped using Windows, everything runs on Linux" confirms "I don't use Windows any more".
    """
    if not old.negative and not old.poles:
        return False  # nothing agrees with it, as `agrees` means it
    met, words = cover(old.about, new.about), old.about.keys() & new.about.keys()
    return any(
        (share := cover(old.about, each.about)) >= met
        and (share > met or new.inherited or old.about.keys() & each.about.keys() != words)
        and agrees(old, each)
        for each in news
        if each is not new
    )


def _only_people(old: _Clause, new: _Clause) -> bool:
    """Whether both tell something else of the same person: who left the council, and what he is allergic to."""
    one, other = old.statement, new.statement
    people = old.around.people & new.around.people
    if not people or not (one.about.keys() - people and other.about.keys() - people):
        return False
    words = (each.statement.about.keys() | each.around.about.keys() for each in (old, new))
    return frozenset.intersection(*map(frozenset, words)) <= people and one.poles.keys().isdisjoint(other.poles)


def _features(
    old: Statement,
    new: Statement,
    around: _Sentence,
    earlier: Claim,
    later: Claim,
    cosine: float,
    lengths: tuple[int, int],
) -> dict[str, float]:
    """What tells of a conflict, by name: shares in 0..1, flags 0 or 1. `around` is the later statement's sentence."""
    people = old.people | new.people
    told, fresh = without(old.about, people), without(new.about, people)
    whole = without(around.about, people)
    chinese = _in_cjk(later.content)
    apart = _in_cjk(earlier.content) != chinese
    lost, came = gained(new, old), gained(old, new)
    both = lost.keys() & came.keys()
    one, other = without(old.about, lost.get("name", ())), without(new.about, came.get("name", ()))
    pairs = opposed(old, new)
    days = max((later.since - earlier.since).total_seconds() / 86400, 0.0)
    return {
        "cosine": 0.0 if apart else cosine,
        "languages": apart,
        "old covered": cover(told, new.about),
        "new covered": cover(fresh, old.about),
        "shared": min(shared(told, new.about), 3) / 3,
        "old covered by sentence": cover(told, around.about),
        "sentence covered": cover(whole, old.about),
        "shared with sentence": min(shared(told, around.about), 3) / 3,
        "common words shared": min(shared(without(told, old.names), without(new.about, new.names)), 3) / 3,
        "same but for names": min(cover(one, other), cover(other, one)),
        "old size": min(sum(told.values()), 6) / 6,
        "new size": min(sum(fresh.values()), 6) / 6,
        "old statements": math.log(lengths[0]),
        "new statements": math.log(lengths[1]),
        "changes": bool(new.cues & _CHANGED),
        "ends": bool(new.cues & OVER) or new.ended,
        "now": Cue.NOW in new.cues,
        "afresh": Cue.AFRESH in new.cues,
        "sentence changes": bool(around.cues & _CHANGED),
        "sentence ends": bool(around.cues & OVER),
        "explicit": bool((around.cues | new.cues) & EXPLICIT) or new.ended,
        "old ended": bool(old.cues & OVER) or old.ended,
        "old event": old.event,
        "new event": new.event,
        "turned": turned(old, new),
        "opposed": bool(pairs),
        "state": any(is_state(pair) for pair in pairs),
        "negative": new.negative,
        "number": bool(both - {"name", "day"}),
        "name": "name" in both,
        "gained": bool(came),
        "lost": bool(lost),
        "name lost": "name" in lost,
        "target": bool(new.target - old.about.keys()),
        "another speaker": earlier.speaker != later.speaker,
        "time apart": math.log1p(days) / 7,
        "sometimes": only_sometimes(earlier.content, later.content),
        "thing shared": 0.5 if not new.thing else float(new.thing[-1] in old.about),
        "thing kept": 0.5 if not old.thing else float(old.thing[-1] in new.about),
        "contrast": contrast(old, new),
        "subject stated": bool(_subjects(earlier) & _subjects(later)),
        "claims": old.claims and new.claims,
        "chinese": chinese,
    }


def _subjects(claim: Claim) -> set[str]:
    """Whom the facts of a note are about; the judge learnt from notes of which none said what is not eaten."""
    return {each.subject for each in claim.facts if each.predicate != "avoids"}


#: What is asked of two notes for every pair of their clauses.
_in_cjk = lru_cache(maxsize=1024)(written_in_cjk)


def _sentences(text: str) -> dict[int, _Sentence]:
    """By number, the clauses of each sentence in one, those that state nothing left out unless none does."""
    found: dict[int, _Sentence] = {}
    for number, group in groupby(read(text), key=lambda each: each.sentence):
        clauses = list(group)
        told = [each for each in clauses if each.said and not each.reason] or clauses
        telling = [each for each in told if _tells(each)]
        found[number] = _Sentence(
            about={key: weight for each in telling for key, weight in each.about.items()},
            people=next((each for each in told if each.claims), told[0]).people,
            cues=frozenset[Cue]().union(*[each.cues for each in told]),
        )
    return found


def _tells(statement: Statement) -> bool:
    """Whether what a clause names belongs to what its sentence says: not of "thanks, Bea"."""
    if statement.claims or statement.values or not _HONORIFICS.isdisjoint(statement.about):
        return True
    return statement.frame is not None and statement.frame.of is Of.POINTED_AT and not statement.text.endswith("!")


def confirms(earlier: Claim, later: Claim, fallen: Sequence[str]) -> bool:
    """Whether the later note only says again what these quotes of the earlier one say (without any: all of it).

    "I'm unhappy with the flat" ends nothing of "I am not happy with the flat", whoever judges.
    """
    olds = [each for each in read(earlier.content) if each.said and each.about]
    told = [each for each in olds if not fallen or any(each.text in quote for quote in fallen)]
    return bool(told) and all(any(agrees(old, new) for new in read(later.content)) for old in told)
