"""A meaning turned round: denied where it was said, over where it was so, hated where it was loved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.text import normalize, written_in_cjk
from amem.writing.conflict import cues
from amem.writing.conflict.cues import Cue
from amem.writing.conflict.difference import HALF, MOST, NEARLY_ALL, TELLING, Difference, How
from amem.writing.conflict.likeness import (
    cover,
    differing,
    much_shared,
    overlap,
    same_people,
    same_subject,
    same_verb,
    shared,
    without,
)
from amem.writing.conflict.people import THIRD
from amem.writing.conflict.sometimes import only_once

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from amem.writing.conflict.statement import Statement
    from amem.writing.conflict.verdict import Claim

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
