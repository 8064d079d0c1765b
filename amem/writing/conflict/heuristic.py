"""The heuristic judge: likeness, shared words, turned meaning and preference, added up; never without a reason."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from amem.language import written_in_cjk
from amem.note import Kind
from amem.verdict import NO_CONFLICT, Label, Verdict
from amem.writing.conflict import reasons
from amem.writing.conflict.changed_meaning import only_sometimes, replaced, turned
from amem.writing.conflict.changed_value import items_of, other_value, two_of_a_kind
from amem.writing.conflict.cues import Cue
from amem.writing.conflict.ending import quote, stated, states_more
from amem.writing.conflict.grammar import Of
from amem.writing.conflict.likeness import (
    AT_ONCE,
    HALF,
    MOST,
    TELLING,
    Difference,
    How,
    cover,
    differing,
    overlap,
    same_people,
    shared,
    without,
)
from amem.writing.conflict.statements import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.language.predicates import Predicates
    from amem.writing.conflict.candidates import Claim
    from amem.writing.conflict.statements import Statement


# Reasons to differ in the words of two notes: a turned meaning, a replacement, another value, a retraction.

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


# The heuristic: likeness, shared words, turned meaning and preference, added up; never without a reason to differ.

JUDGE = "heuristic"
_COSINE, _OVERLAP, _POLARITY, _PREFERENCE = 0.45, 0.25, 0.25, 0.15
#: From here on, two notes with the same words say the same.
_ALIKE, _SAME_WORDS = 0.8, 0.75
_NEARLY_ALL = 0.75
_MOST, _CERTAIN, _LIKELY, _PERHAPS = 0.95, 0.9, 0.8, 0.75


def score(cosine: float, overlap: float, *, polarity: bool, preference: bool) -> float:
    """How much two notes look like a conflict, 0..1: what they have in common and what sets them apart, added up.

    The weights are amem's own choice, no paper's: likeness in meaning counts for nearly half, and none of the four is
    enough by itself with the default `conflict_score`.
    """
    points = _COSINE * max(cosine, 0.0) + _OVERLAP * overlap + _POLARITY * polarity + _PREFERENCE * preference
    return min(1.0, points)


def judge(earlier: Claim, later: Claim, cosine: float, predicates: Predicates, least: float) -> Verdict:
    """The verdict on a pair; `least` is the score from which it is a conflict."""
    best = strongest(earlier, later, predicates)
    if best is None:
        return _alike(earlier, later, cosine)
    preference = Kind.PREFERENCE in (earlier.kind, later.kind)
    # Embeddings of two languages tell little of each other, and that of several statements little of one of them, where
    # the later note says outright that something changed; what the words share has to do.
    several = best.explicit and len(stated(earlier.content)) > 1
    apart = several or written_in_cjk(earlier.content) != written_in_cjk(later.content)
    alike = max(cosine, best.overlap) if apart else cosine
    reached = score(alike, best.overlap, polarity=True, preference=preference)
    if reached < least:
        return NO_CONFLICT
    label, fallen = _label(best, earlier, later), _fallen(earlier, best)
    whole = not states_more(earlier.content, fallen)
    return Verdict(label, _confidence(best, reached), _reason(best, later), JUDGE, whole=whole, quotes=fallen)


def _confidence(difference: Difference, reached: float) -> float:
    if not difference.explicit and difference.how in (How.REPLACED, How.OTHER_WORD):
        return min(reached, _PERHAPS)  # nothing says that it is instead of what was
    if not _covers(difference):
        return min(reached, _PERHAPS)
    least = _CERTAIN if difference.explicit else _LIKELY
    return min(max(reached, least) if difference.overlap >= _SAME_WORDS else reached, _MOST)


def _covers(difference: Difference) -> bool:
    """Whether the later note speaks of nearly all that the earlier one says: only then may it hide it."""
    old, new = difference.old, difference.new
    if difference.how is How.TAKEN_BACK:
        return True
    if difference.how is not How.TURNED:
        return _of_the_same(old, new)
    if new.negative and only_sometimes(old.around, new.around):
        return False  # not in the morning
    told = without(old.about, [*old.people, *new.people])
    if not told:
        return bool(old.people) and old.people == new.people
    extra = sum(weight for key, weight in new.about.items() if key not in old.about and key not in new.people)
    return cover(told, new.about) >= _NEARLY_ALL and (extra < 1 or old.negative or new.ended)


def _of_the_same(old: Statement, new: Statement) -> bool:
    """Whether the later note itself says what changed to what, of the very thing: not the scheduler's database for the
    app's, and not this week's reading of a meter for last week's."""
    if Cue.CHANGES not in new.cues and Cue.RETURNS not in new.cues:
        return False
    people = [*old.people, *new.people]
    told = without(old.about, [*people, *(old.names.keys() - new.about.keys())])
    fresh = without(new.about, [*people, *new.target, *(new.names.keys() - old.about.keys())])
    left = old.names.keys() & new.about.keys() - new.target - set(people)  # "from Postgres to MySQL"
    if not left and not new.target:
        return False
    return cover(told, new.about) >= MOST and (bool(left) or cover(fresh, old.about) >= MOST)


def strongest(earlier: Claim, later: Claim, predicates: Predicates) -> Difference | None:
    """The best reason to differ that the texts give; None without any."""
    return max(differences(earlier, later, predicates), key=lambda each: (each.explicit, each.overlap), default=None)


def _label(difference: Difference, earlier: Claim, later: Claim) -> Label:
    if difference.explicit and not (difference.forever and difference.how is How.OTHER_VALUE):
        return Label.SUPERSEDES
    if difference.forever or earlier.speaker != later.speaker:
        return Label.CONTRADICTS
    return Label.CONTRADICTS if later.true_at - earlier.true_at <= AT_ONCE else Label.SUPERSEDES


def _reason(difference: Difference, later: Claim) -> str:
    old, new = difference.old.text, difference.new.text
    if difference.how is How.TURNED:
        return reasons.turned(old, new, later.content)
    return reasons.another(old, new, later.content)


def _fallen(earlier: Claim, difference: Difference) -> tuple[str, ...]:
    """The statement that fell, in the words of the note: of a sentence the clause that has most in common."""
    old, new = difference.old, difference.new
    said = [each for each in stated(earlier.content) if each.sentence == old.sentence and each.about]
    if said and old not in said:  # a whole sentence, or its heading
        old = max(said, key=lambda each: (overlap(each.about, new.about), shared(each.about, new.about)))
        if len(said) > 1 and not shared(old.about, new.about):
            return ()
    found = quote(earlier.content, old)
    return () if found is None else (found,)


def _alike(earlier: Claim, later: Claim, cosine: float) -> Verdict:
    if cosine >= _ALIKE and any(
        _says(old, new, earlier, later) for new in read(later.content) for old in read(earlier.content)
    ):
        return Verdict(Label.SUPPORTS, cosine, reasons.again(later.content), JUDGE)
    return NO_CONFLICT


def _says(old: Statement, new: Statement, earlier: Claim, later: Claim) -> bool:
    """Whether the later statement says what the earlier one does, with or without more."""
    if not (old.said and new.said) or old.negative != new.negative or old.past != new.past or differing(old, new):
        return False
    turned = any(old.poles.get(pair, sign) != sign for pair, sign in new.poles.items())
    return not turned and cover(old.about, new.about) >= _SAME_WORDS and same_people(old, new, earlier, later)
