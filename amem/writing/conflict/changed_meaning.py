"""Two statements that differ by a turned meaning or a replacement."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.language import normalize, written_in_cjk
from amem.language.lexicon import lexicon, stem
from amem.writing.conflict import cues
from amem.writing.conflict.changed_value import has_many
from amem.writing.conflict.cues import Cue
from amem.writing.conflict.grammar import Of
from amem.writing.conflict.likeness import (
    HALF,
    MOST,
    NEARLY_ALL,
    TELLING,
    Difference,
    How,
    but_for_names,
    cover,
    differing,
    gained,
    much_shared,
    overlap,
    same_people,
    same_subject,
    same_verb,
    shared,
    sorts,
    without,
)
from amem.writing.conflict.statements import THIRD

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from amem.language.predicates import Predicates
    from amem.writing.conflict.candidates import Claim
    from amem.writing.conflict.statements import Statement


# Sometimes, or only somewhere: "I don't like jazz in the morning" says nothing against jazz at night.

_SOMETIMES = re.compile(
    r"\b(?:in the (?:morning|evening|afternoon)|at (?:night|work|home|school)|on (?:\w+days|weekends)"
    r"|during the (?:week|day)|for (?:breakfast|lunch|dinner))\b"
    r"|早上|晚上|周末|平时|工作日|周[一二三四五六日]|在(?:公司|家里)",
    re.IGNORECASE,
)


_ONE_TIME = re.compile(
    r"\b(?:this|next|today|tonight|tomorrow)(?: \w+)?['’]s\b|\bthis (?:time|week|once)\b(?! on)"
    r"|[这本今明下][次周天晚回](?!起|开始)",
    re.IGNORECASE,
)
_EVERY_TIME = re.compile(
    r"\b(?:every|each|weekly|monthly|daily)\b|\bon \w+days\b|每|周[一二三四五六日天]", re.IGNORECASE
)


def only_once(earlier: str, later: str) -> bool:
    """Whether the later text is of one time of what the earlier says is so every time: "this Monday's is cancelled"."""
    return _EVERY_TIME.search(earlier) is not None and _ONE_TIME.search(later) is not None


def only_sometimes(earlier: str, later: str) -> bool:
    """Whether the later text is of a time or place that the earlier one does not name."""
    named = {match[0].casefold() for match in _SOMETIMES.finditer(earlier)}
    return any(match[0].casefold() not in named for match in _SOMETIMES.finditer(later))


# A meaning turned round: denied where it was said, over where it was so, hated where it was loved.

#: Share of what the larger of two statements is about; an explicit end may name little of what it ends.
_ALL = 0.95
_OF_LARGER, _OF_LARGER_ENDED = 0.3, 0.15
_RESTRICTED = re.compile(
    r"\b(?:after(?! all)|before|when|unless|except|during|outside|without)\b|的时候|以外|之前|之后|除了", re.IGNORECASE
)


def turned(
    old: Statement, new: Statement, around_old: Statement, around_new: Statement, earlier: Claim, later: Claim
) -> Difference | None:
    """The later clause says the opposite of the earlier; `around_...` are the sentences that they stand in."""
    explicit = new.ended or bool(new.cues & cues.EXPLICIT)
    if not (old.claims and new.claims) or not (same_subject(old, new) or much_shared(old, new)):
        return None
    if not new.said or not (old.said or (old.planned and explicit)) or (old.past and Cue.RETURNS not in new.cues):
        return None
    if Cue.MORE in new.cues | old.cues:
        return None  # "another painting" is not the one before
    if only_once(old.text, new.text):
        return None
    pairs = [pair for pair, sign in new.poles.items() if old.poles.get(pair) == -sign]
    if not pairs and (old.negative == new.negative or _only_attitude(old, new)):
        return None
    if not pairs and Cue.ENDS in old.cues and not new.cues & (cues.EXPLICIT | {Cue.NOW}):
        return None  # "they finished their homework" says nothing against the next one
    if (new.past and not new.negative) or not same_people(old, new, earlier, later):
        return None
    if _lexical_state(pairs, old, new) and not _others(old, new):
        return Difference(How.TURNED, old, new, 1.0, explicit)
    if differing(old, new) or (
        not explicit
        and ((not pairs and _only_partly(old, new)) or _narrower(old, new, pairs, _speakers(earlier, later)))
    ):
        return None
    one, other = old.about, new.about
    if pairs and min(sum(one.values()), sum(other.values())) < TELLING:
        one, other = around_old.about, around_new.about
    common, larger = overlap(one, other), min(cover(one, other), cover(other, one))
    if pairs and max(sum(one.values()), sum(other.values())) <= HALF and old.people & new.people:
        return Difference(How.TURNED, old, new, 1.0, explicit)  # "he came", "he did not come"
    denies = Cue.DENIES in old.cues | new.cues
    if (
        not pairs
        and not (same_verb(old, new) or much_shared(old, new))
        and not ((explicit or denies) and (larger >= HALF or cover(other, one) >= _ALL))
    ):
        return None
    least = _OF_LARGER_ENDED if explicit else _OF_LARGER
    telling = HALF if pairs or larger >= NEARLY_ALL else TELLING
    # That both are about Nina is no reason.
    told = without(one, [*old.people, *new.people])
    if common < MOST or larger < least or shared(told, other) < telling:
        return None
    if not pairs and _only_its_owner(old, new):
        return None
    return Difference(How.TURNED, old, new, common, explicit, forever=Cue.FOREVER in old.cues)


def _only_partly(old: Statement, new: Statement) -> bool:
    """ "Not after 4 pm" denies only a part; "my right knee" is not the left one."""
    if new.negative and not old.negative and _RESTRICTED.search(new.around):
        return True
    two_things = old.about.keys() - new.about.keys() and new.about.keys() - old.about.keys()
    return bool(two_things) and overlap(old.about, new.about) < NEARLY_ALL


def _only_its_owner(old: Statement, new: Statement) -> bool:
    """ "I left the airline" says nothing of a plan to try its seating problem: all that they share is a name."""
    rest = without(old.about, [*old.names, *old.people])
    return old.planned and sum(rest.values()) > TELLING and not shared(rest, new.about)


def _speakers(*claims: Claim) -> list[str]:
    return [normalize(claim.speaker) for claim in claims if claim.speaker]


def _narrower(old: Statement, new: Statement, pairs: Sequence[str], named: Collection[str]) -> bool:
    """Whether what is denied, or disliked, is only a part or a sort of what the other is about: "I hate dog hair"."""
    no, yes = (old, new) if (old.poles[pairs[0]] < 0 if pairs else old.negative) else (new, old)
    if yes.people & THIRD or no.inherited or sum(yes.about.values()) < TELLING:
        return False
    more = without(no.about, [*yes.about, *no.people, *named])
    least = HALF if written_in_cjk(no.text) else TELLING
    return any(weight >= least for weight in more.values())


def _only_attitude(old: Statement, new: Statement) -> bool:
    """ "I like running" and "I don't run today" are not opposites: only one of them tells of liking."""
    if new.cues & cues.EXPLICIT or Cue.DENIES in old.cues | new.cues:
        return False
    return bool(old.poles.keys() ^ new.poles.keys())


def _others(old: Statement, new: Statement) -> bool:
    """Whether each tells of somebody or something else: to leave one firm says nothing against working for another."""
    people = [*old.people, *new.people]
    mine, yours = without(old.about, [*new.about, *people]), without(new.about, [*old.about, *people])
    return any(weight >= 1 for weight in mine.values()) and any(weight >= 1 for weight in yours.values())


def _lexical_state(pairs: Sequence[str], old: Statement, new: Statement) -> bool:
    """Whether the words themselves say that the subject is in another state: married, then divorced."""
    return any(cues.is_state(pair) for pair in pairs) and not old.turned and not new.turned


# A value replaced: another thing, day or number where there was one, and a word that says so.

#: Of what is said to have changed, as much has to be what the earlier one is about.
_MOSTLY = 0.75
#: Where nothing but "now" tells of a change, share of what the larger of two statements is about.
_OF_LARGER_REPLACED = 0.3
#: What two things of one role count as having in common.
_SAME_ROLE = 0.75
_SPEAKS_OF_US = re.compile(r"\b(?:we|our|us|i|my)\b|我|咱", re.IGNORECASE)


def replaced(old: Statement, new: Statement, earlier: Claim, later: Claim, predicates: Predicates) -> Difference | None:
    """Something else where the earlier one had its value: another database, another day, another place."""
    if not (old.claims and new.claims):
        return None
    explicit = bool(new.cues & {Cue.CHANGES, Cue.RETURNS})
    if new.given_up and new.given_up.isdisjoint(old.about):
        return None  # "running instead of cycling" says nothing of swimming
    if old.negative and not new.negative and Cue.RETURNS not in new.cues:
        return None  # what is not so, or is over, has no value that another could take the place of
    fresh = bool(new.cues & {Cue.NOW, Cue.AFRESH})
    if not new.said or not (explicit or fresh) or new.past or old.past or not (old.said or (old.planned and explicit)):
        return None
    if not same_people(old, new, earlier, later) and Cue.TAKEOVER not in new.cues:
        return None
    if explicit and old.said and _same_role(old, new, predicates):
        return Difference(How.REPLACED, old, new, max(_SAME_ROLE, overlap(old.about, new.about)), explicit=True)
    # Where the words say that something changed, they may make up for grammar.
    much = (explicit or Cue.NOW in new.cues) and much_shared(old, new)
    if not shared(old.about, new.about) or not (same_subject(old, new) or much):
        return None
    common = _instead(old, new) or _changed_to(old, new) or _other_of_a_sort(old, new, explicit=explicit)
    if common is None and (same_verb(old, new) or much):
        common = _other_words(old, new)
    return None if common is None else Difference(How.REPLACED, old, new, common, explicit)


def _instead(old: Statement, new: Statement) -> float | None:
    """How far the old statement is about what the new one has given up for something else, and of what; else None."""
    given_up = new.given_up & old.about.keys()
    topic = without(new.about, [*new.given_up, *new.people])
    if new.event or _happened(old) or not given_up or shared(topic, old.about) < TELLING:
        return None
    return max(MOST, overlap(old.about, new.about))


def _changed_to(old: Statement, new: Statement) -> float | None:
    """How far the old statement is about what, by the new one, changed to something else; None where it does not."""
    if not new.target - old.about.keys() or _happened(old):
        return None
    topic = without(new.about, [*new.target, *new.people])
    if shared(topic, old.about) < TELLING or not old.about.keys() - topic.keys() or not _of_a_sort(old, new):
        return None
    covered = cover(topic, old.about)
    return covered if covered >= _MOSTLY else None


def _other_of_a_sort(old: Statement, new: Statement, *, explicit: bool) -> float | None:
    """The share of what both are about where each has a number, a day or a name that the other lacks."""
    if not explicit and _happened(old):
        return None  # it may have happened twice
    now = explicit or Cue.NOW in new.cues
    fresh = gained(old, new).keys() & (sorts(old) if now else gained(new, old).keys()) - {"day"}
    if not explicit and fresh - {"name"} and "name" in differing(old, new):
        return None  # the classes of two schools have sizes of their own
    if fresh == {"name"} and not (explicit or same_verb(old, new)):
        return None  # "23 buoys between Peniche and Sines", "I lead the buoy team at Marulho now"
    if fresh == {"name"} and (Cue.MORE in new.cues or (not explicit and has_many(old.text) and has_many(new.text))):
        return None
    one, other = but_for_names(old, new)
    topic = without(one, [*old.people, *new.people])
    common, least = overlap(one, other), min(cover(one, other), cover(other, one))
    # "I wake up at 7", "at 5:30 now": all the same but the number.
    telling = HALF if least >= NEARLY_ALL else TELLING
    enough = 0.0 if explicit else _OF_LARGER_REPLACED if now else HALF
    if not fresh or common < HALF or shared(topic, other) < telling or least < enough:
        return None
    return common


def _other_words(old: Statement, new: Statement) -> float | None:
    """The share of what both are about where each goes on in words of its own: "the dog sleeps in our bedroom now"."""
    if Cue.MORE in new.cues or _happened(old) or old.negative != new.negative:
        return None
    if new.frame is not None and new.frame.verb == "be" and not new.target:
        return None  # "life is wild", "life is rough": both may be
    topic = without(old.about, [*old.people, *new.people])
    both = old.about.keys() - new.about.keys() and new.about.keys() - old.about.keys()
    back = Cue.RETURNS in new.cues and Cue.CHANGES in old.cues
    if not both or shared(old.about if back else topic, new.about) < TELLING or not _of_a_sort(old, new):
        return None
    common = overlap(old.about, new.about)
    if back:
        return max(common, MOST)
    directed = Cue.NOW in new.cues or bool(new.target)
    return common if common >= (HALF if directed else MOST) else None


def _of_a_sort(old: Statement, new: Statement) -> bool:
    """Whether what each has for itself may be values of one thing: names of names, numbers of numbers."""
    if Cue.TAKEOVER in new.cues:
        return True  # "I lead the team", "Priya took over the team"
    mine, yours = sorts(old) - {"name"}, sorts(new) - {"name"}
    if old.text.isascii() and new.text.isascii():  # elsewhere a name is hard to tell from a word
        mine |= {"name"} if any(key not in new.about for key in old.names) else set()
        yours |= {"name"} if any(key not in old.about for key in new.names) else set()
    return bool(mine & yours) or not (mine or yours)


def _happened(statement: Statement) -> bool:
    """Whether it tells of what happened once, and not of how something came to be what it is."""
    return statement.event and not statement.cues & {Cue.CHANGES, Cue.RETURNS}


def _same_role(old: Statement, new: Statement, predicates: Predicates) -> bool:
    """Whether the later one names something of a role that the earlier has something else in: two databases."""
    subject = without(new.about, [*new.target, *new.names, *new.people])
    if new.target and subject and not shared(subject, old.about) and not _SPEAKS_OF_US.search(new.text):
        return False
    if all(each.frame is not None and each.frame.of is Of.THING for each in (old, new)) and not same_subject(old, new):
        return False  # what the parser is written in says nothing of the report page
    before = _roles(old.text, predicates)
    after = _roles(new.text, predicates) if before else {}
    return any(after[role] - values for role, values in before.items() if role in after)


def _roles(text: str, predicates: Predicates) -> dict[str, set[str]]:
    """What the text names of each role in the table; "go" and "linear" only where they are written as names."""
    found: dict[str, set[str]] = {}
    folded = text.casefold()
    for value, role in predicates.roles.items():
        if value not in folded:
            continue
        match = re.search(rf"(?<![a-z0-9]){re.escape(value)}(?![a-z])", text, re.IGNORECASE)
        if match is not None and (match[0] != value or not value.isascii() or stem(value) not in lexicon().known):
            found.setdefault(role, set()).add(value)
    return found
