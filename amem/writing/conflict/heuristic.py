"""The heuristic: likeness, shared words, turned meaning and preference, added up; never without a reason to differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import Kind
from amem.text import written_in_cjk
from amem.writing.conflict import reasons
from amem.writing.conflict.cues import Cue
from amem.writing.conflict.difference import AT_ONCE, MOST, Difference, How
from amem.writing.conflict.differing import differences
from amem.writing.conflict.ending import quote, stated, states_more
from amem.writing.conflict.likeness import cover, differing, overlap, same_people, shared, without
from amem.writing.conflict.sometimes import only_sometimes
from amem.writing.conflict.statements import read
from amem.writing.conflict.verdict import NO_CONFLICT, Label, Verdict

if TYPE_CHECKING:
    from amem.truth.predicates import Predicates
    from amem.writing.conflict.statement import Statement
    from amem.writing.conflict.verdict import Claim

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
