"""How far two statements are about the same thing, and what only one of them has."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.conflict.clauses import OF, THIRD, is_noun, value_places, values_of
from amem.conflict.cues import Cue
from amem.language import normalize
from amem.language.lexicon import is_everyday
from amem.language.scripts import CJK, words
from amem.language.subjects import USER, WE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from amem.conflict.candidates import Claim
    from amem.conflict.statements import Statement


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
    return sum([weight for key, weight in one.items() if key in other or _held(key, other) is not None]) / total


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
        return True
    if one <= _SPEAKERS and other <= _SPEAKERS:
        return WE in one | other  # "I" of two speakers are two people, "we" may be either
    if (one | other) & THIRD:
        return not (one | other) & _SPEAKERS and not (one <= THIRD and other <= THIRD)
    if any(OF in each for each in one | other):
        return False
    return one <= earlier.names.keys() & later.about.keys() or other <= later.names.keys() & earlier.about.keys()


def _who(statement: Statement, claim: Claim) -> frozenset[str]:
    """The statement's people; who says "I" goes by name, where it is known."""
    if USER in statement.people and claim.speaker is not None:
        return (statement.people - {USER}) | {normalize(claim.speaker)}
    return statement.people


def gained(one: Statement, other: Statement) -> Mapping[str, frozenset[str]]:
    """What `other` has that `one` lacks, by sort: number, year, month, weekday, name.

    A number counts only beside numbers that may number the same: three people are no other value than floor 4.
    """
    if not other.values and not other.names:
        return {}
    held = {(value.sort, value.text) for value in one.values}
    found: dict[str, set[str]] = {}
    for value in other.values:
        beside = all(value.numbers_the_same(each) for each in one.values)
        if (value.sort, value.text) not in held and beside:
            found.setdefault(value.sort, set()).add(value.text)
    if names := [key for key in other.names if key not in one.about]:
        found["name"] = set(names)
    return {sort: frozenset(values) for sort, values in found.items()}


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

_SOMETIMES = re.compile(
    r"\b(?:in the (?:morning|evening|afternoon)|at (?:night|work|home|school)|on (?:\w+days|weekends)"
    r"|during the (?:week|day)|for (?:breakfast|lunch|dinner))\b"
    r"|早上|晚上|周末|平时|工作日|周[一二三四五六日]|在(?:公司|家里)",
    re.IGNORECASE,
)


def only_sometimes(earlier: str, later: str) -> bool:
    """Whether the later text is of a time or place that the earlier one does not name."""
    named = {match[0].casefold() for match in _SOMETIMES.finditer(earlier)}
    return any(match[0].casefold() not in named for match in _SOMETIMES.finditer(later))


#: "This Monday" is one of the Mondays; "yesterday's" were of yesterday, and "this morning" is over tonight.
_DAY = re.compile(
    r"(?P<this>\bthis (?=(?:mon|tues|wednes|thurs|fri|satur|sun)day)|[这本](?:周|星期|礼拜)(?=[一二三四五六日天]))"
    r"|(?P<of>\b(?:yesterday|today|tonight|this (?:morning|afternoon|evening))['’]s\b|[昨今]天的"
    r"|\bon (?:christmas|new year['’]?s|easter|good friday)\b|除夕|元旦|国庆节|中秋节|圣诞节)"
    r"|\b(?:yesterday|last night|this (?:morning|afternoon|evening))\b"
    r"|昨[天晚]|今早|今天(?:早上|上午|中午|下午|晚上)|今晚",
    re.IGNORECASE,
)
_ROUTINE = ("usually", "normally", "mostly", "always", "every", "一般", "多半", "平时", "通常", "总是", "每")
_DAYS = frozenset({"day", "weekday"})


def only_once(old: Statement, new: Statement, cues: Collection[Cue]) -> bool:
    """Whether the later statement tells of one day only, on which what is so otherwise was not: "this Monday's".

    `cues` are those of its whole sentence.
    """
    day = _day_in(new.around)
    if day is not None and day["this"]:
        return any(value in old.values for value in values_of(new.around[day.end() - 1 :]) if value.sort == "weekday")
    if old.event:
        days = all(any(each.sort == "day" for each in one.values) for one in (old, new))
        values = min(sum(map(len, gained(*both).values())) for both in ((old, new), (new, old)))
        return not cues and (days or (new.event and values > 1))
    dated = not cues and any(each.sort in _DAYS for each in new.values)
    if dated and new.event and any(word in old.around.casefold() for word in _ROUTINE):
        return True
    return day is not None and (bool(day["of"]) or not cues) and day[0] not in old.around


@lru_cache(maxsize=1024)
def _day_in(text: str) -> re.Match[str] | None:
    return _DAY.search(text)


def of_one_day(text: str) -> bool:
    """Whether a note begins with the one day that it is of: "Yesterday's stand-up started at ten"."""
    day = _day_in(text)
    return day is not None and bool(day["of"]) and not text[: day.start()].strip()


# Two of a kind: the second batch is not the first, and the kitchen's tap is not the bathroom's.

_ENGLISH = re.compile(
    r"\W*(?:(?:and|but|so|also|now)\W+)?(?:the|my|our|his|her|their|its) "
    r"(?P<which>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|next|\d+(?:st|nd|rd|th)) "
    r"(?P<kind>(?!of\b)[a-z]{2,})",
    re.IGNORECASE,
)
#: 第三次, and which month or year it is of: 三月电费, 2023 年营收.
_CHINESE = re.compile(
    r"\W*(?:(?:这是?|我们?的?|[他她]的?)?第(?P<which>[一二三四五六七八九十百\d]{1,4})(?P<kind>[^\W\d层楼名])"
    r"|(?P<when>(?:20)?\d\d\s?年|[一二三四五六七八九十\d]{1,2}\s?月份?)的?(?![我他她你它咱起就开底初中去要在会能将])"
    rf"(?P<of>[{CJK}]{{2}}))"
)
#: "Seat 4 is ...", "Locker 12: ...", "4. ...", 12号柜……: which one it is that is spoken of, by its number.
_NUMBERED = re.compile(
    r"\W*(?:the )?(?P<kind>(?:[a-z]+ (?:[a-z]|\d+) )?[a-z]{3,}) (?:no\.? |number |#)?"
    r"(?P<which>\d+[a-z]?|(?-i:[A-HJ-Z]))(?=:| [a-z]|,|\s*[-–—])"
    rf"|\W*(?P<kind_before>[{CJK}]{{2,4}})(?P<which_after>\d+(?=[：:])|[甲乙丙丁A-HJ-Z](?=[：:{CJK}]))"
    r"|\W*(?P<list>\d+)[.)、](?=\D)|\W*(?P<which_zh>[一二三四五六七八九十\d]+)(?P<kind_zh>号[\u4e00-\u9fff]?|房|室|柜|层|栋)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[^:：,，]{3,60}(?=[:：]\D|[:：]\s)|(?:[a-z]+ ){1,3}\d+(?=, )", re.IGNORECASE)
#: What is numbered and yet replaced by the next: the number is its value.
_VALUES = words("version release build phase stage level age about only just still costs cost")
#: Things of a computer that run side by side.
_RUNNING = words("worker node server host instance replica shard parallel process thread agent locker")
#: They say which one of several in turn, and not which of two.
_WHEN = words(
    """
    new old current present former next last latest main usual whole same 新 旧 现在 目前 如今 以前 从前 原来 最新 最近
    公司 团队 项目
    """
)


def two_of_a_kind(one: Statement, other: Statement) -> bool:
    """Whether both clauses begin with things of one kind that are not the same thing."""
    first, second = one.around or one.text, other.around or other.text
    if _other_item(first, second) or _other_label(first, second):
        return True
    return _other_number(one.text, other.text) or _other_thing(one, other)


def _other_number(one: str, other: str) -> bool:
    first, second = _number_of(one), _number_of(other)
    return first is not None and second is not None and first[0] == second[0] and first[1] != second[1]


@lru_cache(maxsize=2048)
def _number_of(text: str) -> tuple[str, str] | None:
    """What kind of thing a text begins with, and which of its kind it is, by its number; None for other texts."""
    match = _ENGLISH.match(text)
    if match is not None:
        return match["kind"].casefold(), match["which"].casefold()
    match = _CHINESE.match(text)
    return None if match is None else (_first(match, "kind", "of"), _first(match, "which", "when"))


def _other_item(one: str, other: str) -> bool:
    """Whether both begin with the number of an item, and not the same: of a list, of lockers, of rooms."""
    first, second = _item_of(one), _item_of(other)
    if not (first and second):
        return False
    mine, yours = (_first(each, "kind", "kind_zh", "kind_before").casefold() for each in (first, second))
    if mine != yours or not _VALUES.isdisjoint(mine.split()):
        return False
    listed = all(text[found.end() : found.end() + 1] in (":", "：") for text, found in ((one, first), (other, second)))
    if not listed and mine.isascii() and not all(is_everyday(each) or each in _RUNNING for each in mine.split()):
        return False  # "PostgreSQL 15" and "PostgreSQL 16" are one thing
    which = ("which", "which_zh", "which_after", "list")
    return _first(first, *which) != _first(second, *which)


@lru_cache(maxsize=2048)
def _item_of(text: str) -> re.Match[str] | None:
    return _NUMBERED.match(text)


def _first(match: re.Match[str], *groups: str) -> str:
    return next((match[name] for name in groups if match[name]), "")


def _other_label(one: str, other: str) -> bool:
    """Whether both stand behind a heading that is the same but for its number or date: "Day 2: ...", "日志55：..."."""
    first, second = _label_of(one), _label_of(other)
    if not (first and second) or values_of(first[0]) == values_of(second[0]):
        return False
    if first.end() < len(one) and one[first.end()] == "," and not is_noun(first[0]):
        return False  # "We start at 8, ..."
    return _but_for_values(first[0]) == _but_for_values(second[0])


@lru_cache(maxsize=2048)
def _label_of(text: str) -> re.Match[str] | None:
    return _LABEL.match(text)


def _but_for_values(text: str) -> str:
    for start, end in reversed(value_places(text)):
        text = f"{text[:start]}#{text[end:]}"
    return text


def _other_thing(one: Statement, other: Statement) -> bool:
    """Whether both are said of things that one word tells apart: the front door, the back door."""
    (*mine, first), (*yours, second) = (each.thing or ("",) for each in (one, other))
    return (
        first == second
        and bool(mine)
        and bool(yours)
        and _WHEN.isdisjoint((*mine, *yours))
        and set(mine).isdisjoint(yours)
    )
