"""How far two statements speak of the same thing, and how they differ."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from amem.language import normalize
from amem.language.subjects import USER, WE
from amem.writing.conflict.grammar import Of
from amem.writing.conflict.statements import OF, THIRD

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from amem.writing.conflict.candidates import Claim
    from amem.writing.conflict.statements import Statement


# What a judge by words finds against a note: two statements that do not go together, and how.

#: Shares of what the smaller of two statements is about that the other has to be about, too: half, most, nearly all.
HALF, MOST, NEARLY_ALL = 0.5, 0.6, 0.8
#: What two statements are both about has to weigh as much as one telling word.
TELLING = 1.0
#: Said within this time, two notes disagree; after it, something may have changed.
AT_ONCE = timedelta(days=1)


class How(StrEnum):
    """The reason."""

    TURNED = "turned"
    REPLACED = "replaced"
    OTHER_VALUE = "other value"
    OTHER_WORD = "other word"
    TAKEN_BACK = "taken back"


@dataclass(frozen=True, slots=True)
class Difference:
    """Two statements that do not go together. `explicit`: the later one says itself that something changed, ended or
    was wrong. `forever`: it is of a sort that does not change. `overlap` in 0..1."""

    how: How
    old: Statement
    new: Statement
    overlap: float
    explicit: bool
    forever: bool = False


# How far two statements speak of the same thing: shared words, the same people, and what only one of them has.

_MUCH = 2.0
#: "The hut has electricity", "there is electricity in the hut".
_BEING = frozenset({"have", "be", "there"})
_SPEAKERS = frozenset({USER, WE})


def shared(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The weight of the words that both are about."""
    found = ((weight, _held(key, other)) for key, weight in one.items())
    return sum(min(weight, other[match]) for weight, match in found if match is not None)


def cover(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Share of what `one` is about that `other` is about, too; 0 where it is about nothing."""
    total = sum(one.values())
    return sum(weight for key, weight in one.items() if _held(key, other) is not None) / total if total else 0.0


def _held(key: str, words: Mapping[str, float]) -> str | None:
    """The word among `words` that is this one; of two Chinese words one may be part of the other: 篮球, 篮球赛."""
    if key in words:
        return key
    if len(key) < 2 or key.isascii():
        return None
    return next((word for word in words if len(word) > 1 and not word.isascii() and (word in key or key in word)), None)


def same_subject(old: Statement, new: Statement) -> bool:
    """Whether the thing that one is said of is what the other is said of, or about; True where grammar cannot tell."""
    one, other = old.frame, new.frame
    if one is None or other is None:
        return True
    things = (Of.THING, Of.NOTED)
    if one.of not in things and other.of not in things:
        return True  # two people: who they are is another question
    if one.of in things and other.of in things:
        return bool(one.subject & other.subject) or _all_in(one.subject, new) or _all_in(other.subject, old)
    thing, person, said_of_thing, said_of_person = (
        (one, other, old, new) if one.of in things else (other, one, new, old)
    )
    if thing.verb == "be" and any(name in said_of_person.about for name in said_of_thing.names):
        return True  # "my team is Bayern", "I'm no fan of Bayern"
    if said_of_person.people and said_of_person.people <= THIRD:
        return True
    return any(key in said_of_person.about for key in thing.subject) or _all_in(person.subject, said_of_thing)


def much_shared(old: Statement, new: Statement) -> bool:
    """Whether they share so many telling words that grammar has no say: two, names aside."""
    return shared(without(old.about, old.names), new.about) >= _MUCH


def _all_in(subject: frozenset[str], statement: Statement) -> bool:
    return bool(subject) and all(key in statement.about for key in subject)


def same_verb(old: Statement, new: Statement) -> bool:
    """Whether both say it with the same verb; always, where grammar cannot tell."""
    if old.frame is None or new.frame is None:
        return True
    verbs = {old.frame.verb, new.frame.verb}
    return "" not in verbs and (len(verbs) == 1 or verbs <= _BEING)


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


def gained(one: Statement, other: Statement, *, strict: bool = False) -> Mapping[str, frozenset[str]]:
    """What `other` has that `one` lacks, by sort: number, year, month, weekday, name.

    A number counts only beside numbers that may number the same: three people are no other value than floor 4. With
    `strict` they must: 10 is no other value than 30 minutes.
    """
    held = {value.text for value in one.values}
    found: dict[str, set[str]] = {}
    for value in other.values:
        beside = all(value.numbers_the_same(each, strict=strict) for each in one.values)
        if value.text not in held and beside:
            found.setdefault(value.sort, set()).add(value.text)
    if names := [key for key in other.names if key not in one.about]:
        found["name"] = set(names)
    return {sort: frozenset(values) for sort, values in found.items()}


def differing(one: Statement, other: Statement) -> frozenset[str]:
    """Sorts of which each has something that the other lacks."""
    return frozenset(gained(one, other).keys() & gained(other, one).keys())


def sorts(statement: Statement) -> frozenset[str]:
    """The sorts of which a statement has anything."""
    return frozenset({value.sort for value in statement.values} | ({"name"} if statement.names else set()))


def without(about: Mapping[str, float], keys: Collection[str]) -> dict[str, float]:
    """`about` without some of its words."""
    return {key: weight for key, weight in about.items() if key not in keys}


def but_for_names(old: Statement, new: Statement) -> tuple[dict[str, float], dict[str, float]]:
    """What both are about, without the names that only one of them has."""
    lost, came = gained(new, old).get("name", frozenset()), gained(old, new).get("name", frozenset())
    return without(old.about, lost), without(new.about, came)
