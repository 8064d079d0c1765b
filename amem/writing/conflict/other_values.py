"""Another value for the same thing, with no word that says that anything changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.text import written_in_cjk
from amem.writing.conflict import cues
from amem.writing.conflict.cues import Cue
from amem.writing.conflict.difference import AT_ONCE, HALF, MOST, NEARLY_ALL, TELLING, Difference, How
from amem.writing.conflict.frames import one_word_apart
from amem.writing.conflict.grammar import Of
from amem.writing.conflict.likeness import but_for_names, cover, gained, same_people, same_subject, same_verb, shared

if TYPE_CHECKING:
    from amem.writing.conflict.statement import Statement
    from amem.writing.conflict.verdict import Claim

_IT_WAS = re.compile(r"\W*(?:no\W+)?it was\b", re.IGNORECASE)
#: What two sentences count as having in common that are the same but for a word.
_SAME_BUT_FOR_A_WORD = 0.75


def other_value(old: Statement, new: Statement, earlier: Claim, later: Claim) -> Difference | None:
    """One thing, said in the same words but for one value."""
    disagree = later.true_at - earlier.true_at <= AT_ONCE and earlier.speaker != later.speaker
    if disagree and old.said and new.said and _somebody_else(old, new):
        return Difference(How.OTHER_VALUE, old, new, _SAME_BUT_FOR_A_WORD, _explicit(old, new))
    if _pointed_at(old) or _pointed_at(new):
        return None
    if not (old.claims and new.claims and same_subject(old, new) and same_verb(old, new)):
        return None
    if not (old.said and new.said) or old.past or new.past or old.negative != new.negative:
        return None
    if any(old.poles.get(pair, sign) != sign for pair, sign in new.poles.items()):
        return None
    forever = Cue.FOREVER in old.cues and Cue.FOREVER in new.cues
    if old.event and not forever and later.true_at - earlier.true_at > AT_ONCE:
        return None  # it may have happened twice
    if not same_people(old, new, earlier, later):
        return None
    least = _same_but_for_a_value(old, new, forever=forever, disagree=disagree)
    if least is not None:
        return Difference(How.OTHER_VALUE, old, new, least, _explicit(old, new), forever)
    if one_word_apart(old, new, at_once=disagree):
        return Difference(How.OTHER_WORD, old, new, _SAME_BUT_FOR_A_WORD, _explicit(old, new))
    return None


def _pointed_at(statement: Statement) -> bool:
    """ "It shows that everybody has a story": what it is said of is anybody's guess."""
    return statement.frame is not None and statement.frame.of is Of.POINTED_AT


def _same_but_for_a_value(old: Statement, new: Statement, *, forever: bool, disagree: bool) -> float | None:
    """How much of both is the same, where one number, day or (of what never changes) name is not; else None."""
    chinese = written_in_cjk(old.text)
    strict = chinese == written_in_cjk(new.text)  # words for what is counted are hard to tell across languages
    lost, came = gained(new, old, strict=strict), gained(old, new, strict=strict)
    apart = lost.keys() & came.keys()
    if "day" in apart or len(apart) != 1 or any(len(lost[sort]) != 1 or len(came[sort]) != 1 for sort in apart):
        return None
    if "name" in apart and not forever:
        return None
    one, other = but_for_names(old, new)
    least = min(cover(one, other), cover(other, one))
    # "The blue bike" and "the red bike" are two things.
    two_things = one.keys() - other.keys() and other.keys() - one.keys()
    enough = HALF if disagree else MOST if chinese else NEARLY_ALL
    if two_things or least < enough or shared(one, other) < TELLING:
        return None
    return least


def _somebody_else(old: Statement, new: Statement) -> bool:
    """ "It was Oskar who broke the window", where somebody else was said to have."""
    one, other = but_for_names(old, new)
    another = bool(gained(old, new).get("name") and gained(new, old).get("name"))
    return bool(_IT_WAS.match(new.text)) and another and one == other and shared(one, other) >= TELLING


def _explicit(old: Statement, new: Statement) -> bool:
    """Whether the later one says that something changed; "finished in 1998", "in 2001" says the same of both."""
    return bool((new.cues - old.cues) & cues.EXPLICIT)
