"""The heuristic judge: reasons to differ in the words of two notes, weighed by trees fitted on labelled pairs."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.analysis import NO_CONFLICT, Label, Verdict
from amem.conflict import cues, reasons
from amem.conflict.clauses import Of
from amem.conflict.cues import EXPLICIT, Cue
from amem.conflict.ending import quote, stated, states_more
from amem.conflict.likeness import (
    AT_ONCE,
    agrees,
    cover,
    differing,
    gained,
    only_once,
    only_sometimes,
    opposed,
    overlap,
    same_people,
    shared,
    turned,
    two_of_a_kind,
    without,
)
from amem.conflict.statements import read
from amem.language import normalize, written_in_cjk
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from amem.conflict.candidates import Claim
    from amem.conflict.statements import Statement

JUDGE = "heuristic"
_HONORIFICS = frozenset({"dr", "mr", "mrs", "ms", "prof"})
_CHANGED = frozenset({Cue.CHANGES, Cue.RETURNS})
_OVER = frozenset({Cue.ENDS, Cue.OVER})
_SINCE = frozenset({Cue.NOW, Cue.AFRESH})
#: What one person does at a time, by the stem.
_BY_ONE = frozenset({"lead", "run", "head", "chair", "manag", "own", "coach", "teach", "handl", "captain", "organ"})
#: Where nearly all that the earlier statement is about is in the later one, it may be ended without asking.
_NEARLY_ALL = 0.8
#: Confidence of the surest, and of what is not said outright.
_MOST, _SURE, _PERHAPS = 0.95, 0.85, 0.75
#: Least probability that a statement ends which another denies in the same words.
_OPPOSITE = 0.75
#: Probability from which what is said to be over, in the same words, is over.
_OVER_FROM = 0.2
#: Weight of its words from which a statement can be told from others; differences in probability that tell nothing.
_TELLING, _NEAR = 2.0, 0.2
#: From this cosine on, two notes with so much of the same words say the same.
_ALIKE, _SAME_WORDS = 0.8, 0.75


@dataclass(frozen=True, slots=True)
class Difference:
    """Two statements that may not go together, and the probability that they do not, 0..1. `explicit`: the later one
    says itself that something changed, ended or was wrong. `opposite`: it denies what the earlier one says."""

    old: Statement
    new: Statement
    probability: float
    explicit: bool
    opposite: bool

    @property
    def forever(self) -> bool:
        """Whether both tell of what does not change, such as a birthday."""
        return Cue.FOREVER in self.old.cues and Cue.FOREVER in self.new.cues


def differences(pairs: Iterable[tuple[Claim, Claim, float]]) -> list[list[Difference]]:
    """Of each earlier and later note with their cosine, every two statements that give a reason against each other."""
    found = [list(compared(*pair)) for pair in pairs]
    rows = [list(features.values()) for each in found for *_, features in each]
    likely = iter(_trees().probabilities(rows) if rows else ())
    return [[_difference(old, new, features, next(likely)) for old, new, features in each] for each in found]


def _difference(old: Statement, new: Statement, features: Mapping[str, float], probability: float) -> Difference:
    if features["turned"] and features["claims"] and not features["sometimes"] and _says_just_this(old, new):
        probability = max(probability, _OPPOSITE)
    return Difference(old, new, probability, bool(features["explicit"]), bool(features["turned"]))


def compared(earlier: Claim, later: Claim, cosine: float) -> Iterator[tuple[Statement, Statement, dict[str, float]]]:
    """Pairs of statements with a reason to differ, each with its features by name, as the trees were fitted on."""
    if _is_over(earlier, later.true_at) or _is_over(later, later.said_at):
        return  # "in January I still lived in Lisbon" ends by itself, and ends nothing
    olds, news = _clauses(earlier.content), _clauses(later.content)
    for new in news.ending:
        for old in olds.touched_by(new):
            one, other = old.statement, new.statement
            if not _may_fall(old, new) or not _same_people(one, other, earlier, later):
                continue
            if not _has_reason(one, other, new.around) or _restated(one, other, read(later.content)):
                continue
            if not two_of_a_kind(one, other) and not only_once(one, other, new.around.cues):
                yield one, other, _features(one, other, new.around, earlier, later, cosine, (olds.count, news.count))


def _is_over(claim: Claim, moment: datetime) -> bool:
    """Whether all that a note, or each of its facts, says had ended by then, as it says itself."""
    ends = [fact.valid_to for fact in claim.facts] or [claim.until]
    return all(end is not None and end <= moment for end in ends)


@dataclass(frozen=True, slots=True)
class _Clause:
    """A statement, with what comparing it asks for again and again. `around` are the clauses of its sentence in one;
    `text` is its normal form.
    """

    statement: Statement
    around: Statement
    text: str

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

    Notes of many clauses make hundreds of pairs, so the latter are found by their words and pairs of opposites: each
    has a bit in the masks of its own words, of those of its sentence, and of its opposites.
    """

    def __init__(self, text: str) -> None:
        around = _sentences(text)
        every = [_Clause(each, around[each.sentence], normalize(each.text)) for each in read(text)]
        self.count = len(every)
        self.ending = [each for each in every if each.may_end]
        self._falling = [each for each in every if each.may_fall]
        self._about = _masks(each.statement.about for each in self._falling)
        self._around = _masks(each.around.about for each in self._falling)
        self._poles = _masks(each.statement.poles for each in self._falling)

    def touched_by(self, new: _Clause) -> list[_Clause]:
        """Those that a later clause, or its sentence, shares a word with, or a pair of opposites and nothing else."""
        told = _mask(self._about, new.statement.about) | _mask(self._around, new.around.about)
        opposed = _mask(self._poles, new.statement.poles) & ~told
        return [
            each
            for place, each in enumerate(self._falling)
            if told >> place & 1 or (opposed >> place & 1 and _by_opposites(each.statement, new.statement))
        ]


def _masks(keys: Iterable[Iterable[str]]) -> dict[str, int]:
    """By key, a mask of the places at which it stands."""
    found: dict[str, int] = {}
    for place, each in enumerate(keys):
        for key in each:
            found[key] = found.get(key, 0) | 1 << place
    return found


def _mask(masks: Mapping[str, int], keys: Iterable[str]) -> int:
    found = 0
    for key in keys:
        found |= masks.get(key, 0)
    return found


def _by_opposites(old: Statement, new: Statement) -> bool:
    """Whether a pair of opposites is enough to compare two statements that share no word."""
    return any(map(cues.is_state, old.poles)) or not (old.names or new.names or (old.about and new.about))


_clauses = lru_cache(maxsize=1024)(_Clauses)


def _says_just_this(old: Statement, new: Statement) -> bool:
    """Whether both are about the same and nothing else: one that denies the other leaves little doubt."""
    same = min(cover(old.about, new.about), cover(new.about, old.about)) == 1.0 and old.values == new.values
    return same and sum(old.about.values()) >= 1 and old.said


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


def _has_reason(old: Statement, new: Statement, around: Statement) -> bool:
    """Whether anything says that they differ: a word of change or end, a turned meaning, another value."""
    if agrees(old, new) or _comes_true(old, new):
        return False
    if Cue.MORE in new.cues and not new.cues & EXPLICIT and not turned(old, new):
        return False  # "supports iOS as well now"
    if turned(old, new) or (differing(old, new) and not _of_other_things(old, new)):
        return True
    told = (new.cues | around.cues) - (old.cues & _SINCE)
    if new.cues & EXPLICIT == {Cue.CHANGES} and old.values and not gained(new, old):
        return False  # "8 people" stands, whatever "moved to the third floor"
    if told & _OVER or new.ended:
        return not (old.negative or -1 in old.poles.values())
    if Cue.RETURNS in told and told & EXPLICIT == {Cue.RETURNS} and cover(new.about, old.about) == 1.0:
        return False  # "the boiler hums again" beside "the boiler hums"
    return bool(told & (EXPLICIT | _SINCE))


def _of_other_things(old: Statement, new: Statement) -> bool:
    """Whether the two say the same of things that have nothing to do with each other: of the flat, of the cellar."""
    if old.frame is None or new.frame is None or old.frame.verb != new.frame.verb:
        return False
    one, other = set(old.thing), set(new.thing)
    return bool(one and other) and one.isdisjoint(new.about) and other.isdisjoint(old.about)


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


def _features(
    old: Statement,
    new: Statement,
    around: Statement,
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
    days = max((later.true_at - earlier.true_at).total_seconds() / 86400, 0.0)
    found: dict[str, float] = {
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
        "names shared": min(len(old.names.keys() & new.about.keys() - people), 2) / 2,
        "old size": min(sum(told.values()), 6) / 6,
        "new size": min(sum(fresh.values()), 6) / 6,
        "old statements": math.log(lengths[0]),
        "new statements": math.log(lengths[1]),
        "changes": bool(new.cues & _CHANGED),
        "ends": bool(new.cues & _OVER) or new.ended,
        "returns": Cue.RETURNS in new.cues,
        "takes over": Cue.TAKEOVER in new.cues,
        "retracts": Cue.RETRACTS in around.cues,
        "now": Cue.NOW in new.cues,
        "afresh": Cue.AFRESH in new.cues,
        "more": Cue.MORE in new.cues | old.cues,
        "sentence changes": bool(around.cues & _CHANGED),
        "sentence ends": bool(around.cues & _OVER),
        "explicit": bool((around.cues | new.cues) & EXPLICIT) or new.ended,
        "old ended": bool(old.cues & _OVER) or old.ended,
        "old planned": old.planned,
        "old event": old.event,
        "new event": new.event,
        "turned": turned(old, new),
        "opposed": bool(pairs),
        "state": any(cues.is_state(pair) for pair in pairs),
        "negative": new.negative,
        "old negative": old.negative,
        "number": bool(both - {"name", "day"}),
        "name": "name" in both,
        "gained": bool(came),
        "lost": bool(lost),
        "name lost": "name" in lost,
        "target": bool(new.target - old.about.keys()),
        "given up": bool(new.given_up & old.about.keys()),
        "forever": Cue.FOREVER in old.cues and Cue.FOREVER in new.cues,
        "another speaker": earlier.speaker != later.speaker,
        "time apart": math.log1p(days) / 7,
        "sometimes": _sometimes(earlier.content, later.content),
        "preference": Kind.PREFERENCE in (earlier.kind, later.kind),
        "inherited": old.inherited or new.inherited,
        "thing shared": 0.5 if not new.thing else float(new.thing[-1] in old.about),
        "subject named": not new.people.isdisjoint(old.names) or not old.people.isdisjoint(new.names),
        "subject stated": bool({each.subject for each in earlier.facts} & {each.subject for each in later.facts}),
        "same people": same_people(old, new, earlier, later),
        "claims": old.claims and new.claims,
        "chinese": chinese,
    }
    return {name: float(value) for name, value in found.items()}


#: What is asked of two notes for every pair of their clauses.
_in_cjk = lru_cache(maxsize=1024)(written_in_cjk)
_sometimes = lru_cache(maxsize=256)(only_sometimes)


@lru_cache(maxsize=1024)
def _sentences(text: str) -> dict[int, Statement]:
    """By number, the clauses of each sentence in one, those that state nothing left out unless none does."""
    found: dict[int, Statement] = {}
    for number, group in groupby(read(text), key=lambda each: each.sentence):
        clauses = list(group)
        told = [each for each in clauses if each.said and not each.reason] or clauses
        telling = [each for each in told if _tells(each)]
        found[number] = replace(
            next((each for each in told if each.claims), told[0]),
            text=told[0].around,
            about={key: weight for each in telling for key, weight in each.about.items()},
            cues=frozenset(cue for each in told for cue in each.cues),
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


# The fitted trees: `benchmarks/conflict_fit.py` writes them, with what they were fitted on.


class _Trees:
    """``judge.json``: `start` and `trees`, lists of nodes [feature, threshold, left, right] and leaves [value].

    All nodes stand in one row of arrays, and every tree of every row of features goes down a level at once; a leaf
    leads to itself.
    """

    def __init__(self, start: float, trees: Sequence[Sequence[Sequence[float]]]) -> None:
        places = np.cumsum([0, *map(len, trees)])
        nodes = [
            (*node[:2], place + node[2], place + node[3], 0.0) if len(node) > 1 else (0, 0.0, at, at, node[0])
            for tree, place in zip(trees, places.tolist(), strict=False)
            for at, node in enumerate(tree, place)
        ]
        features, thresholds, left, right, values = zip(*nodes, strict=True)
        self._start = start
        self._roots = places[:-1]
        self._features = np.array(features, dtype=np.intp)
        self._thresholds = np.array(thresholds)
        self._left, self._right = np.array(left, dtype=np.intp), np.array(right, dtype=np.intp)
        self._values = np.array(values)
        self._levels = max(_depth(tree) for tree in trees)

    def probabilities(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """Those of a conflict, 0..1, one for each row of features."""
        table = np.array(rows, dtype=np.float64)
        starts = np.arange(len(table))[:, np.newaxis] * table.shape[1]
        values, at = table.ravel(), self._roots[np.newaxis]
        for _ in range(self._levels):
            at = np.where(values[starts + self._features[at]] <= self._thresholds[at], self._left[at], self._right[at])
        # One by one in the order of the trees: another order rounds otherwise.
        totals = [sum(each, self._start) for each in self._values[at].tolist()]
        return [1 / (1 + math.exp(-total)) for total in totals]


def _depth(tree: Sequence[Sequence[float]], at: int = 0) -> int:
    """How many splits lead to the deepest leaf."""
    return 0 if len(tree[at]) == 1 else 1 + max(_depth(tree, int(each)) for each in tree[at][2:])


@cache
def _trees() -> _Trees:
    model: dict[str, Any] = json.loads(files("amem.conflict").joinpath("judge.json").read_text("utf-8"))
    return _Trees(model["start"], model["trees"])


# The verdict.


def judge(pairs: Sequence[tuple[Claim, Claim, float]], least: float) -> list[Verdict]:
    """What the words make of each earlier and later note with this cosine.

    From the probability `least` on it is a conflict, else support or nothing. Where nothing but the words tells, a
    doubt stays below the confidence at which a note may be hidden.
    """
    return [_verdict(*pair, _best(found), least) for pair, found in zip(pairs, differences(pairs), strict=True)]


def _verdict(earlier: Claim, later: Claim, cosine: float, best: Difference | None, least: float) -> Verdict:
    if best is None or best.probability < (min(least, _OVER_FROM) if _says_over(best) else least):
        return _alike(earlier, later, cosine)
    fallen = _fallen(earlier, best)
    whole = not states_more(earlier.content, fallen)
    reason = reasons.turned if best.opposite else reasons.another
    said = reason(best.old.text, best.new.text, later.content)
    return Verdict(
        _label(best, earlier, later), _confidence(best, earlier, later), said, JUDGE, whole=whole, quotes=fallen
    )


def strongest(earlier: Claim, later: Claim, cosine: float) -> Difference | None:
    """The most probable difference, of those nearly as probable the one that shares most; None without any."""
    return _best(differences([(earlier, later, cosine)])[0])


def _best(found: Sequence[Difference]) -> Difference | None:
    most = max((each.probability for each in found), default=0.0)
    near = [each for each in found if each.probability >= most - _NEAR]
    best = max(near, key=lambda each: (shared(each.old.about, each.new.about), each.probability), default=None)
    return None if best is None else replace(best, probability=most)


def _confidence(best: Difference, earlier: Claim, later: Claim) -> float:
    """The probability; it may settle the matter only where the later note says outright that just this has changed,
    and not where two people tell it differently at one time. What it says is over, in the same words, is over."""
    disputed = earlier.speaker != later.speaker and later.true_at - earlier.true_at <= AT_ONCE
    if not _outright(best) or disputed:
        return min(best.probability, _PERHAPS)
    return min(max(best.probability, _SURE if _says_over(best) else 0.0), _MOST)


def _outright(best: Difference) -> bool:
    """Whether the later note says itself that just this has changed."""
    return best.explicit and best.old.said and cover(best.old.about, best.new.about) >= _NEARLY_ALL


def _says_over(best: Difference) -> bool:
    """Whether it says in the same words that what the earlier note said is over: "I withdraw from the marathon"."""
    over = bool(best.new.cues & _OVER) and best.opposite and sum(best.old.about.values()) >= _TELLING
    return over and _outright(best)


def _label(best: Difference, earlier: Claim, later: Claim) -> Label:
    if best.explicit and not (best.forever and not best.opposite):
        return Label.SUPERSEDES
    at_once = later.true_at - earlier.true_at <= AT_ONCE
    return Label.CONTRADICTS if best.forever or at_once or earlier.speaker != later.speaker else Label.SUPERSEDES


def _fallen(earlier: Claim, best: Difference) -> tuple[str, ...]:
    """The statement that fell, in the words of the note; of a sentence the clause that has most in common."""
    old, new = best.old, best.new
    said = [each for each in stated(earlier.content) if each.sentence == old.sentence and each.about]
    if said and old not in said:  # its heading, or what only goes on with another
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
    if not (old.said and new.said) or old.past != new.past or turned(old, new) or differing(old, new):
        return False
    return cover(old.about, new.about) >= _SAME_WORDS and same_people(old, new, earlier, later)
