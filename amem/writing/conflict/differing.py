"""Reasons to differ in the words of two notes: a turned meaning, a replacement, another value, a retraction."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from amem.writing.conflict.another import items_of, two_of_a_kind
from amem.writing.conflict.cues import Cue
from amem.writing.conflict.difference import HALF, TELLING, Difference, How
from amem.writing.conflict.grammar import Of
from amem.writing.conflict.likeness import overlap, shared, without
from amem.writing.conflict.other_values import other_value
from amem.writing.conflict.replacing import replaced
from amem.writing.conflict.statements import read
from amem.writing.conflict.turning import turned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.truth.predicates import Predicates
    from amem.writing.conflict.statement import Statement
    from amem.writing.conflict.verdict import Claim

_HONORIFICS = frozenset({"dr", "mr", "mrs", "ms", "prof"})


def differences(earlier: Claim, later: Claim, predicates: Predicates) -> Iterator[Difference]:
    """Every reason that the later note gives against the earlier one."""
    olds, news = _sentences(earlier.content), _sentences(later.content)
    items = [*items_of(read(earlier.content)), *items_of(read(later.content))]
    for new in read(later.content):
        for old in read(earlier.content):
            if _touch(old, new):
                found = turned(old, new, olds[old.sentence], news[new.sentence], earlier, later)
                if found is None and old not in items and new not in items:
                    found = other_value(old, new, earlier, later)
                found = found or replaced(old, new, earlier, later, predicates)
                # Another item of a list ends none of it, unless it says so or is of the same name.
                of_it = old not in items or not old.names.keys().isdisjoint(new.names)
                if found is not None and (found.explicit or found.forever or of_it):
                    yield found
    for whole_new in news.values():
        for whole_old in olds.values():
            if _touch(whole_old, whole_new):
                found = _taken_back(whole_old, whole_new)
                if found is None and not items:
                    found = other_value(whole_old, whole_new, earlier, later)
                found = found or replaced(whole_old, whole_new, earlier, later, predicates)
                if found is not None and (found.explicit or not items):
                    yield found


def _touch(old: Statement, new: Statement) -> bool:
    """Whether two statements have anything to do with each other: most have not, and need no closer look."""
    if two_of_a_kind(old, new):
        return False
    if shared(old.about, new.about) or not old.poles.keys().isdisjoint(new.poles):
        return True
    return bool(new.cues & {Cue.CHANGES, Cue.RETURNS})


@lru_cache(maxsize=1024)
def _sentences(text: str) -> dict[int, Statement]:
    """By number, the clauses of each sentence in one, those that state nothing left out unless none does."""
    found: dict[int, Statement] = {}
    for number, group in groupby(read(text), key=lambda each: each.sentence):
        clauses = list(group)
        told = [each for each in clauses if each.said] or clauses
        first = next((each for each in told if each.claims), told[0])
        found[number] = replace(
            first,
            text=first.around,
            negative=any(each.negative for each in told),
            about={key: weight for each in told if _tells(each) for key, weight in each.about.items()},
            names={key: name for each in told if _tells(each) for key, name in each.names.items()},
            values=frozenset(value for each in told for value in each.values),
            poles={pair: sign for each in told for pair, sign in each.poles.items()},
            target=frozenset(key for each in told for key in each.target),
            given_up=frozenset(key for each in told for key in each.given_up),
            cues=frozenset(cue for each in told for cue in each.cues),
            planned=all(each.planned for each in clauses),
        )
    return found


def _tells(statement: Statement) -> bool:
    """Whether what a clause names belongs to what its sentence says: not of "thanks, Bea"."""
    if statement.claims or statement.values or not _HONORIFICS.isdisjoint(statement.about):
        return True
    return statement.frame is not None and statement.frame.of is Of.POINTED_AT and not statement.text.endswith("!")


def _taken_back(old: Statement, new: Statement) -> Difference | None:
    topic = without(old.about, old.names)
    if Cue.RETRACTS not in new.cues or not old.claims or shared(topic, new.about) < TELLING:
        return None
    common = overlap(old.about, new.about)
    return Difference(How.TAKEN_BACK, old, new, common, explicit=True) if common >= HALF else None
