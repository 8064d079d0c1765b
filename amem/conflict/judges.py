"""The judges of a pair of notes, in the order in which they are asked: slot rule, model, cross-encoder, heuristic."""

from __future__ import annotations

import json
import logging
import math
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from amem.conflict import cues
from amem.conflict.compare import (
    AT_ONCE,
    OVER,
    compared,
    cover,
    differing,
    namesakes,
    of_one_day,
    only_sometimes,
    opposed,
    overlap,
    same_people,
    shared,
    without,
)
from amem.conflict.cues import Cue
from amem.conflict.ending import bonds, cut, keys_of, naming, part_stating, quote, stated, states_more
from amem.conflict.statements import quotes, read
from amem.errors import AmemError
from amem.language import is_cjk, normalize, written_in_cjk
from amem.language.intervals import may_overtake, overtakes, same_value
from amem.language.lexicon import is_person
from amem.language.predicates import USER, WE, may_be_same, may_lie_in, subject_key
from amem.language.scripts import Patterns, word_list
from amem.language.sentence_parts import DENIAL, limited
from amem.note import NO_CONFLICT, Label, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from amem.conflict.candidates import Claim
    from amem.conflict.clause_parts import Bond
    from amem.conflict.statements import Statement
    from amem.language.predicates import Predicates
    from amem.note import Fact
    from amem.protocols import Entailment
    from amem.settings import Settings


_pattern = Patterns("conflict/judges")

# The slot rule: one subject, one slot, another value. What was true later holds.

SLOT = "slot"
SAID_SO, IMPLIED, DIFFER = 0.95, 0.85, 0.75
#: Within this time two people who say different things disagree; after it, something may have changed.
_DISAGREE_WITHIN = timedelta(days=1)
#: Roles of what everything of ours runs on.
HOSTS = ("cloud", "hosting")
_NAME = "named"
#: So much beside what is known is little: a weak word.
_LITTLE = 0.5
#: Facts a note are compared; nobody states more in one.
_MOST_FACTS = 40


def judge_by_slot(earlier: Claim, later: Claim, predicates: Predicates) -> Verdict | None:
    """What the facts of two notes make of them; None where they do not meet in a slot."""
    if banned := _banned(earlier, later):
        reason = why_differing(*banned, later.content, predicates)
        return Verdict(Label.CONTRADICTS, DIFFER, reason, SLOT, quotes=_quotes(earlier, banned[:1]))
    best: Verdict | None = None
    overturned: list[Fact] = []
    ahead = False
    for old, new in _meetings(earlier, later, predicates):
        verdict = _of(old, new, earlier, later, predicates)
        if verdict is None:
            continue
        overturned.append(old)
        ahead |= new.valid_from is not None and new.valid_from > later.said
        if best is None or _weight(verdict) > _weight(best):
            best = verdict
    if best is None or of_one_day(later.content):
        return None
    quotes = _quotes(earlier, overturned)
    if best.label is not Label.SUPERSEDES:
        return replace(best, quotes=quotes)
    if only_sometimes(earlier.content, later.content):
        return replace(best, whole=False)  # what ended is not the statement, only its being so always
    # What ends on a day to come holds until then: its statement is marked with that day, and its note stays.
    whole = not ahead and _is_all(earlier, overturned, predicates) and not states_more(earlier.content, quotes)
    return replace(best, whole=whole, quotes=quotes)


def _quotes(claim: Claim, facts: Iterable[Fact]) -> tuple[str, ...]:
    """The statements of a note that state these facts, in its words; of a list whose other items hold, the item."""
    fallen = list(facts)
    found = {each: part_stating(claim.content, each.object) for each in fallen}
    for fact, statement in found.items():
        listed = (fact.subject, fact.predicate)
        others = [each for each in claim.facts if each.holds and (each.subject, each.predicate) == listed]
        if statement and any(each not in fallen and each.object in statement for each in others):
            found[fact] = fact.object if fact.object in statement else statement
    return tuple(dict.fromkeys(each for each in found.values() if each is not None))


def _banned(earlier: Claim, later: Claim) -> tuple[Fact, Fact] | None:
    """What one note forbids and the other says is used: a rule that is broken, which ends neither."""
    for old in earlier.facts[:_MOST_FACTS]:
        for new in later.facts[:_MOST_FACTS]:
            apart = {old.predicate, new.predicate} == {"forbids", "uses"} and old.holds and new.holds
            if apart and same_value(old.object, new.object):
                ban, use = (old, new) if old.predicate == "forbids" else (new, old)
                ours = ban.subject == WE and _is_thing(use.subject)
                if ours or subject_key(ban.subject) == subject_key(use.subject):
                    return old, new
    return None


def _is_thing(subject: str) -> bool:
    """Whether a subject may be a thing of ours, which our bans hold for: "client portal", not "Ana" or "user's son"."""
    owned = any(each in subject for each in ("'s ", "’s ", "的"))
    return subject != USER and not owned and not is_person(subject.split()[0])


def _meetings(earlier: Claim, later: Claim, predicates: Predicates) -> Iterator[tuple[Fact, Fact]]:
    """Facts of one subject and predicate that cannot hold at the same time, as far as their times allow."""
    for new in later.facts[:_MOST_FACTS]:
        for old in earlier.facts[:_MOST_FACTS]:
            one = subject_key(old.subject) == subject_key(new.subject) or _given_up_by_us(old, new)
            if one and old.predicate == new.predicate:
                since, began = new.valid_from or later.since, old.valid_from or earlier.since
                past = new.holds and new.valid_to is not None and new.valid_to <= later.said
                over = old.valid_to is not None and old.valid_to <= since
                follows = since >= began or _is_news(old, new, earlier, later)
                apart = not past and not over and follows and _apart(old, new, predicates)
                told_past = new.holds and _told_as_past(later.content, new.object)
                if apart and not told_past and not _of_namesakes(earlier, later, old, new):
                    yield old, new


def _given_up_by_us(old: Fact, new: Fact) -> bool:
    """Whether what a thing of ours uses is given up by us: "We decided on Kafka for the orders", "We dropped Kafka"."""
    return (
        new.subject == WE != old.subject
        and not new.holds
        and old.holds
        and old.predicate == "uses"
        and _is_thing(old.subject)
    )


def _of_namesakes(earlier: Claim, later: Claim, old: Fact, new: Fact) -> bool:
    """Whether the two are said of relatives who share a name: "my sister Anna", "my cousin Anna"."""
    said = ((one, other) for one in naming(earlier.content, old.object) for other in naming(later.content, new.object))
    return any(namesakes(one.people, other.people) for one, other in said)


def _told_as_past(content: str, value: str) -> bool:
    """Whether a note names a value only where it tells of what was: 小何之前，组长是老梁."""
    said = naming(content, value)
    return bool(said) and all(each.past for each in said)


def _is_limited(earlier: Claim, later: Claim, old: Fact, new: Fact) -> bool:
    """Whether the later note says it for a time, of a part or not for sure, or ends less than the earlier says:
    "I don't take metformin with grapefruit juice"."""
    said = naming(later.content, new.object or old.object)
    if any(limited(each.around) for each in said):
        return True
    if new.holds:
        return False
    known = {key: weight for each in read(earlier.content) for key, weight in each.about.items()}
    more = (without(each.about, known.keys() | each.target) for each in said)
    clock = any("clock" in value.units for each in said for value in each.values)  # "I left Tesco at six"
    return clock or any(sum(about.values()) > _LITTLE for about in more)


def _only_asked_for(content: str, value: str) -> bool:
    """Whether a note names a value only where it plans or asks for it: 客户求我们推迟到五月二十号."""
    said = naming(content, value)
    return bool(said) and all(each.planned for each in said)


def _is_news(old: Fact, new: Fact, earlier: Claim, later: Claim) -> bool:
    """Whether the one fact tells of a change after the other was said of no time in particular."""
    return overtakes(_telling(new, later), _telling(old, earlier))


def _telling(fact: Fact, claim: Claim) -> Claim:
    """A claim as of what one of its facts says of a time."""
    dated = claim.dated or fact.valid_from is not None
    return replace(claim, since=fact.valid_from or claim.since, until=fact.valid_to or claim.until, dated=dated)


def _apart(old: Fact, new: Fact, predicates: Predicates) -> bool:
    if old.holds and new.holds:
        slot = predicates.slot(new.predicate, new.object)
        filled = slot is not None and slot == predicates.slot(old.predicate, old.object)
        return filled and not same_value(old.object, new.object) and not _within(old.object, new.object)
    if old.holds == new.holds:
        return False
    ending = old if not old.holds else new
    return same_value(old.object, new.object) or not normalize(ending.object)


def _within(one: str, other: str) -> bool:
    """Whether one Chinese name begins with the other: 杭州 and 杭州西湖区, where no space tells the parts."""
    first, second = sorted((normalize(one), normalize(other)), key=len)
    return is_cjk(first) and second.startswith(first)


def _of(old: Fact, new: Fact, earlier: Claim, later: Claim, predicates: Predicates) -> Verdict | None:
    said_so = cues.replaces(later.content)
    if not said_so and may_overtake(_telling(old, earlier), _telling(new, later)):
        wording = _UNCLEAR_CHANGE if old.holds else _UNCLEAR_END
        return Verdict(Label.CONTRADICTS, DIFFER, _why_of(wording, new, old, later.content, predicates), SLOT)
    if not said_so and (
        _disagree(earlier, later) or all(Cue.FOREVER in cues.cues_of(each.content) for each in (earlier, later))
    ):
        return Verdict(Label.CONTRADICTS, DIFFER, why_differing(old, new, later.content, predicates), SLOT)
    confidence = SAID_SO if said_so else IMPLIED
    asked = new.valid_from is None and _only_asked_for(later.content, new.object)
    # Who moves to Munich may live in Germany as before.
    alike = may_lie_in(new.object, old.object) or (not said_so and _may_be_same(old, new, earlier, later))
    if asked or (old.holds and new.holds and alike) or _is_limited(earlier, later, old, new):
        confidence = DIFFER
    if _given_up_by_us(old, new):  # perhaps for another thing
        confidence = DIFFER
    if not new.holds:
        return Verdict(Label.SUPERSEDES, confidence, _why_of(_ENDED, old, new, later.content, predicates), SLOT)
    if not old.holds:
        return Verdict(Label.SUPERSEDES, IMPLIED, _why_of(_RESUMED, old, new, later.content, predicates), SLOT)
    several = predicates.rows[new.predicate].one is not True
    now = _is_so_now(new, later, predicates) or any(not each.holds and _states(each, old) for each in later.facts)
    if not said_so and (several or new.predicate == _NAME) and not now:
        # "We use Redis" and "we use Memcached" may both be so, and who gives another name is somebody else.
        return None
    return Verdict(Label.SUPERSEDES, confidence, _why_of(_REPLACED, old, new, later.content, predicates), SLOT)


def _states(one: Fact, other: Fact) -> bool:
    """Whether two facts say the same, or one that it is over: "we move the catalogue from PostgreSQL to MySQL"."""
    same = one.predicate == other.predicate and subject_key(one.subject) == subject_key(other.subject)
    return same and same_value(one.object, other.object)


def _may_be_same(old: Fact, new: Fact, earlier: Claim, later: Claim) -> bool:
    """Whether both may name one thing: one is a longer name, or only said to be some company, 一家互联网公司."""
    said = ((old, earlier), (new, later))
    unnamed = any(f"一{each}{fact.object}" in claim.content for fact, claim in said for each in "家所")
    return unnamed or may_be_same(old.object, new.object)


def _is_so_now(new: Fact, later: Claim, predicates: Predicates) -> bool:
    """Whether something is said to run elsewhere now, or to have another name: it has one host, and one name."""
    once = new.predicate == _NAME or predicates.role(new.object) in HOSTS
    return once and Cue.NOW in cues.cues_of(later.content)


def _disagree(earlier: Claim, later: Claim) -> bool:
    """Two speakers, at about one time."""
    return earlier.speaker != later.speaker and abs(later.since - earlier.since) <= _DISAGREE_WITHIN


def _weight(verdict: Verdict) -> tuple[bool, float]:
    return verdict.label is Label.SUPERSEDES, verdict.confidence


def _is_all(claim: Claim, overturned: list[Fact], predicates: Predicates) -> bool:
    """Whether no fact of a note is left when these fall."""
    fallen = {each.predicate for each in overturned}
    rest = [each for each in claim.facts if each not in overturned]
    return all(predicates.hangs_on(each.predicate) in fallen for each in rest)


# Who belongs to somebody no more: what else the clause says stands.

#: What ends between two, and those who may be two; who goes leaves those whom they lived with.
_COUPLE = "couple"
_COUPLES = word_list("couples")


def judge_by_bond(earlier: Claim, later: Claim) -> Verdict | None:
    """What becomes of a note that speaks of somebody beside what it says, where they part: "Wouter and I broke up"."""
    if earlier.speaker != later.speaker:
        return None
    told = bonds(earlier.content)
    news = [each for each in read(later.content) if each.said and not each.reason] if told else []
    ended = {bond.text: bond for old, bond in told if any(_parts(old, bond, new) for new in news)}
    if not ended:
        return None
    quotes = tuple(ended)
    whole = not states_more(earlier.content, quotes)
    reason = _why(_ENDED, quotes[0], "", later.content)
    return Verdict(Label.SUPERSEDES, _SURE, reason, HEURISTIC, whole=whole, quotes=quotes)


def _parts(old: Statement, bond: Bond, new: Statement) -> bool:
    """Whether a later statement parts the two whom a bond of the earlier one joins: a couple, a boss and their own."""
    if limited(new.around) or (Cue.ENDS in new.cues and DENIAL.search(new.text)):
        return False
    if not bond.role and old.poles.get(_COUPLE):
        return False  # of 小贺和小钟在谈恋爱 nothing stands
    keys = keys_of(bond, old)
    own = {USER, WE, *old.people} - keys
    told = {*new.about, *new.people} - own
    parted = new.poles.get(_COUPLE, 0) < 0 and (bond.role in _COUPLES or not bond.role)
    if not told & keys:
        return parted and bond.ours and bool(bond.role) and not told  # "We broke up", 离婚了
    rest = {key for key, weight in new.about.items() if key not in keys | own and weight > _LITTLE}
    over = new.ended or bool(new.cues & OVER)
    if (parted or (over and bond.role in new.about and new.negative)) and not rest:
        return True  # "Karin is not my boss any more"
    # "Luna's phone died", 团团的妈妈
    if new.people - keys or _pattern.possesses.search(new.text) or f"{bond.name}的" in new.text:
        return False
    opens = old.text.startswith(bond.text)
    went = not bond.had and not rest and _pattern.went.search(new.text)
    if (bond.had or not opens) and (went or _pattern.gone.search(new.around)):
        return True
    # "Sami left Nokia", where I work with Sami
    return over and not opens and not bond.had and bool(rest) and rest <= old.about.keys()


# Why two notes do not go together, in the language of the later one.

_REPLACED = "'{new}' replaces '{old}'", "后来是“{new}”，不再是“{old}”"
_ENDED = "'{old}' is no longer so", "“{old}”已不再成立"
_RESUMED = "'{new}' is so again", "“{new}”又成立了"
_DIFFERING = "'{new}' and '{old}' cannot both be so", "“{new}”与“{old}”说法不一"
#: A change of long ago was told of after the other was said of no time; so was an end.
_UNCLEAR_CHANGE = (
    "it was told after '{old}' that '{new}' came about long before: nobody said which is so now",
    "先说“{old}”，后来才说早已是“{new}”：没有人说现在是哪一个",
)
_UNCLEAR_END = (
    "it was told after '{old}' that this had ended long before: nobody said which is so now",
    "先说“{old}”，后来才说这早已结束：没有人说现在是哪一个",
)
_TURNED = "'{new}' is the opposite of '{old}'", "“{new}”与“{old}”相反"
_ANOTHER = "'{new}' where it was '{old}'", "后来是“{new}”，先前是“{old}”"


def _why(wording: tuple[str, str], old: str, new: str, text: str) -> str:
    """A reason in English, or in Chinese where the later `text` is, with the words that it quotes."""
    return wording[written_in_cjk(text)].format(old=cut(old), new=cut(new))


def _why_of(wording: tuple[str, str], old: Fact, new: Fact, text: str, predicates: Predicates) -> str:
    """A reason that quotes two facts."""
    phrase = partial(predicates.phrase, chinese=written_in_cjk(text))
    return _why(wording, phrase(old.predicate, old.object), phrase(new.predicate, new.object), text)


def why_differing(old: Fact, new: Fact, text: str, predicates: Predicates) -> str:
    """Return that two values of one thing cannot both be so, in the language of a `text`."""
    return _why_of(_DIFFERING, old, new, text, predicates)


# A cross-encoder's word on two notes: it knows contradiction, and nothing of who speaks, of plans or of time.

logger = logging.getLogger("amem.writing")

NLI = "nli"
#: Characters of a note that the model reads.
_READ = 1_000


class Inference:
    """Asks the cross-encoder, and does without it from the first time that it cannot be used."""

    def __init__(self, entailment: Callable[[], Entailment | None]) -> None:
        self._entailment = entailment
        self._broken = False

    def judge_all(self, pairs: Sequence[tuple[Claim, Claim]], least: float) -> list[Verdict | None]:
        """The verdicts on pairs, compared in one batch.

        None below the confidence `least`, without a model, and on different subjects.
        """
        try:
            model = None if self._broken else self._entailment()
            asked = [] if model is None else [at for at, pair in enumerate(pairs) if _may_be_compared(*pair)]
            texts = [
                (earlier.content[:_READ], later.content[:_READ]) for earlier, later in map(pairs.__getitem__, asked)
            ]
            answers = dict(zip(asked, model.compare(texts), strict=True)) if model is not None and asked else {}
        except AmemError as error:
            self._broken, answers = True, {}
            logger.warning("notes are judged without a cross-encoder: %s", error)
        return [_inferred(*pair, answers[at], least) if at in answers else None for at, pair in enumerate(pairs)]


def _may_be_compared(earlier: Claim, later: Claim) -> bool:
    """Whether both state something, of the same people, in their own words: no plan, question or quotation."""
    if quotes(earlier.content) or quotes(later.content):
        return False
    olds = [each for each in read(earlier.content) if each.about]
    news = [each for each in read(later.content) if each.about]
    stated = bool(olds and news) and all(each.said and not each.past for each in (*olds, *news))
    return stated and all(same_people(old, new, earlier, later) for old in olds for new in news)


def _inferred(earlier: Claim, later: Claim, found: Mapping[str, float], least: float) -> Verdict | None:
    """What the model found of two notes; by another speaker, or at one time, neither may hide the other."""
    confidence = found["contradiction"]
    if confidence < least:
        return NO_CONFLICT if found["entailment"] >= least else None
    another = earlier.speaker != later.speaker
    at_once = later.since - earlier.since <= AT_ONCE and not cues.replaces(later.content)
    label = Label.CONTRADICTS if another or at_once else Label.SUPERSEDES
    reason = _why(_TURNED, earlier.content, later.content, later.content)
    return Verdict(label, confidence, reason, NLI, whole=len({each.sentence for each in read(earlier.content)}) == 1)


# The heuristic judge: reasons to differ in the words of two notes, weighed by trees fitted on labelled pairs.

HEURISTIC = "heuristic"
#: Where nearly all that the earlier statement is about is in the later one, it may be ended without asking.
_NEARLY_ALL = 0.8
#: Confidence of the surest, and of what is not said outright.
_MOST, _SURE, _PERHAPS = 0.95, 0.85, 0.75
#: Least probability that a statement ends which another denies in the same words.
_OPPOSITE = 0.75
#: Powers that the least score is raised to: a clear reason needs less, any other more; 0 and 1 stay what they are.
_CLEAR, _UNCLEAR = 1.5, 0.5
#: What is planned, or comes on top; what tells of a change.
_NOT_OUTRIGHT = frozenset({Cue.PLANS, Cue.MORE})
_NEWS = frozenset({Cue.CHANGES, Cue.RETURNS})
#: Who changes things, whose they may be all the same: "they raised the limit".
_ANYBODY = frozenset({WE, USER, "they"})
#: Probability from which what is said to be over, in the same words, is over.
_OVER_FROM = 0.2
#: Weight of its words from which a statement can be told from others; differences in probability that tell nothing.
_TELLING, _NEAR = 2.0, 0.2


@dataclass(frozen=True, slots=True)
class Difference:
    """Two statements that may not go together, and the probability that they do not, 0..1. `explicit`: the later one
    says itself that something changed, ended or was wrong. `opposite`: it denies what the earlier one says. `clear`: a
    pair of opposites, a "now", or a word of change or end beside another value or a denial tells it."""

    old: Statement
    new: Statement
    probability: float
    explicit: bool
    opposite: bool
    clear: bool

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


def _says_off(old: Statement, new: Statement) -> bool:
    """Whether the later statement says nothing but that the thing is off of which the earlier one is said."""
    same = bool(new.thing) and new.thing[-1:] == old.thing[-1:] and old.said and not old.event
    return same and bool(new.cues & OVER) and not new.values and new.about.keys() <= {*new.thing}


def _share_a_thing(old: Statement, new: Statement) -> bool:
    """Whether both are about something beside units: "the rent goes up to 1,240 euros" tells nothing of a bike."""
    units = {unit for each in (*old.values, *new.values) for unit in each.units}
    return any(shared({key: weight}, new.about) > 0 for key, weight in old.about.items() if key not in units)


def _difference(old: Statement, new: Statement, features: Mapping[str, float], probability: float) -> Difference:
    if features["turned"] and _says_off(old, new):
        probability = max(probability, _OPPOSITE)
    turned_, explicit = bool(features["turned"]), bool(features["explicit"])
    clear = bool(features["opposed"] or features["now"])
    clear |= explicit and bool(turned_ or ((features["number"] or features["name"]) and _share_a_thing(old, new)))
    clear |= explicit and bool(features["target"]) and features["thing kept"] == 1.0 and Cue.CHANGES in new.cues
    clear |= turned_ and _came_about(old, new)
    clear |= bool(features["name"]) and _ends_in_le(new) and not _ends_in_le(old)  # 工资卡是农行的了
    return Difference(old, new, probability, explicit, turned_, clear)


def _came_about(old: Statement, new: Statement) -> bool:
    """Whether what was sought or awaited is there, or who had no car bought one."""
    told = new.frame is None or new.frame.verb != "be"
    return (old.pending and new.achieved) or (old.negative and told and cover(old.about, new.about) == 1.0)


def _ends_in_le(statement: Statement) -> bool:
    return statement.text.rstrip("。！!").endswith("了")


# The fitted trees: `benchmarks/conflict_fit.py` writes them, with what they were fitted on.


class _Trees:
    """``judge.json``: `start` and `trees`, lists of nodes [feature, threshold, left, right] and leaves [value].

    All nodes stand in one row of arrays, two places each, whose children are the left and the right one; every tree of
    every row of features goes down a level at once, and a leaf leads to itself.
    """

    def __init__(self, start: float, trees: Sequence[Sequence[Sequence[float]]]) -> None:
        import numpy as np  # which a look at what is open does not need

        places = np.cumsum([0, *map(len, trees)])
        nodes = [
            (*node[:2], place + node[2], place + node[3], 0.0) if len(node) > 1 else (0, 0.0, at, at, node[0])
            for tree, place in zip(trees, places.tolist(), strict=False)
            for at, node in enumerate(tree, place)
        ]
        features, thresholds, left, right, values = (np.repeat(each, 2) for each in zip(*nodes, strict=True))
        self._start = start
        self._roots = 2 * places[:-1]
        self._features, self._thresholds, self._values = features.astype(np.intp), thresholds, values
        self._children = 2 * np.where(np.arange(len(left)) % 2, right, left).astype(np.intp)
        self._levels = max(_depth(tree) for tree in trees)

    def probabilities(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """Those of a conflict, 0..1, one for each row of features."""
        import numpy as np

        table = np.array(rows, dtype=np.float64)
        starts = np.arange(len(table))[:, np.newaxis] * table.shape[1]
        values, at = table.ravel(), self._roots[np.newaxis]
        for _ in range(self._levels):
            told = values.take(starts + self._features.take(at))
            at = self._children.take(at + (told > self._thresholds.take(at)))
        # One by one in the order of the trees: another order rounds otherwise.
        totals = [sum(each, self._start) for each in self._values.take(at).tolist()]
        return [1 / (1 + math.exp(-total)) for total in totals]


def _depth(tree: Sequence[Sequence[float]], at: int = 0) -> int:
    """How many splits lead to the deepest leaf."""
    return 0 if len(tree[at]) == 1 else 1 + max(_depth(tree, int(each)) for each in tree[at][2:])


@cache
def _trees() -> _Trees:
    model: dict[str, Any] = json.loads(files("amem.conflict").joinpath("judge.json").read_text("utf-8"))
    return _Trees(model["start"], model["trees"])


# The verdict.


def judge_by_words(pairs: Sequence[tuple[Claim, Claim, float]], least: float) -> list[Verdict]:
    """What the words make of each earlier and later note with this cosine.

    From the probability `least` on, or less where the reason is clear and more where it is not, it is a conflict. Where
    nothing but the words tells, a doubt stays below the confidence at which a note may be hidden.
    """
    return [
        _verdict(*pair[:2], _best([each for each in found if not _tells_of_another(pair[0], each)]), least)
        for pair, found in zip(pairs, differences(pairs), strict=True)
    ]


def _verdict(earlier: Claim, later: Claim, best: Difference | None, least: float) -> Verdict:
    if best is None or best.probability < _least(best, least):
        return NO_CONFLICT
    fallen = _fallen(earlier, best)
    whole = not states_more(earlier.content, fallen)
    beside = _beside(earlier, best) or best.old
    said = _why(_TURNED if best.opposite else _ANOTHER, beside.text, best.new.text, later.content)
    return Verdict(
        _label(best, earlier, later), _confidence(best, earlier, later), said, HEURISTIC, whole=whole, quotes=fallen
    )


def _least(best: Difference, least: float) -> float:
    if _says_over(best):
        return min(least, _OVER_FROM)
    return math.pow(least, _CLEAR if best.clear else _UNCLEAR)


def _best(found: Sequence[Difference]) -> Difference | None:
    """The most probable difference, of those nearly as probable the one that shares most; None without any."""
    most = max((each.probability for each in found), default=0.0)
    near = [each for each in found if each.probability >= most - _NEAR]
    best = max(near, key=lambda each: (shared(each.old.about, each.new.about), each.probability), default=None)
    return best if best is None or best.probability == most else replace(best, probability=most)


def _confidence(best: Difference, earlier: Claim, later: Claim) -> float:
    """The probability; it may settle the matter only where the later note says outright that just this has changed,
    and not where two people tell it differently at one time. What it says is over, in the same words, is over."""
    disputed = earlier.speaker != later.speaker and later.since - earlier.since <= AT_ONCE
    if not _outright(best) or disputed:
        return min(best.probability, _PERHAPS)
    return min(max(best.probability, _SURE if _says_over(best) else 0.0), _MOST)


def _outright(best: Difference) -> bool:
    """Whether the later note says itself that just this has changed, plans or denies no change, and names nobody and
    nothing else: "Leo's classmate is no longer allergic" ends nothing of Leo."""
    old, new = best.old, best.new
    if new.cues & _NOT_OUTRIGHT or not best.explicit or not old.said or new.people - old.people - _ANYBODY:
        return False
    if Cue.ENDS in new.cues and DENIAL.search(new.text):
        return False  # "the concert was not cancelled"
    if limited(new.around):
        return False
    if (best.opposite or old.event) and differing(old, new):
        return False  # "cancelled order 1077" ends nothing of order 1042
    value = new.target.union(*(each.units for each in new.values))
    more = {key: weight for key, weight in new.about.items() if key not in value}
    just_this = cover(more, old.about) == 1.0 if more else True
    return just_this and cover(old.about, new.about) >= _NEARLY_ALL


def _says_over(best: Difference) -> bool:
    """Whether it says in the same words that what the earlier note said is over: "I withdraw from the marathon"."""
    over = bool(best.new.cues & OVER) and best.opposite and sum(best.old.about.values()) >= _TELLING
    return over and _outright(best)


def _label(best: Difference, earlier: Claim, later: Claim) -> Label:
    if best.explicit and not (best.forever and not best.opposite):
        return Label.SUPERSEDES
    at_once = later.since - earlier.since <= AT_ONCE
    return Label.CONTRADICTS if best.forever or at_once or earlier.speaker != later.speaker else Label.SUPERSEDES


def _fallen(earlier: Claim, best: Difference) -> tuple[str, ...]:
    """The statement that fell, in the words of the note; of a sentence the clause that has most in common."""
    old, new = best.old, best.new
    said = [each for each in stated(earlier.content) if each.sentence == old.sentence and each.about]
    if said and old not in said:  # its heading, or what only goes on with another
        old = max(said, key=lambda each: (overlap(each.about, new.about), shared(each.about, new.about)))
    found = quote(earlier.content, old)
    return () if found is None else (found,)


def _beside(earlier: Claim, found: Difference) -> Bond | None:
    """Whom the earlier statement only speaks of beside what it says, where the later one speaks of nobody else."""
    old, new = found.old, found.new
    for statement, bond in bonds(earlier.content):
        if statement.text != old.text or bond.had or old.text.startswith(bond.text):
            continue
        keys = keys_of(bond, old)
        told = {*new.about, *new.people}
        if told & keys and new.people <= keys and not (new.about.keys() & old.about.keys()) - keys:
            return bond
    return None


def _tells_of_another(earlier: Claim, found: Difference) -> bool:
    """Whether the later statement says of somebody what has nothing to do with the earlier one, which only speaks of
    whom it is with: "Wouter quit smoking"."""
    unchanged = not (found.new.cues & _NEWS or opposed(found.old, found.new))
    return unchanged and _beside(earlier, found) is not None


# The judges of a pair of notes, in the order in which they are asked.

#: Probability of a conflict, by the heuristic, from which a model may see one.
_WORTH = 0.25


class Judges:
    """Rules about slots, then a cross-encoder where there is one, then the heuristic. A model's verdict goes between.

    Pairs are given in the order in which they were true (see ``candidates.order``), with the cosine of their vectors.
    """

    def __init__(
        self,
        predicates: Callable[[], Predicates],
        settings: Settings,
        entailment: Callable[[], Entailment | None] = lambda: None,
    ) -> None:
        self._predicates = predicates
        self._settings = settings
        self._inference = Inference(entailment)

    def judge(self, earlier: Claim, later: Claim, cosine: float) -> Verdict:
        """The verdict on one pair: see `judge_all`."""
        return self.judge_all([(earlier, later, cosine)])[0]

    def judge_all(self, pairs: Sequence[tuple[Claim, Claim, float]]) -> list[Verdict]:
        """For each earlier and later note with their cosine the first verdict that any judge is sure of.

        NO_CONFLICT where none is. The cross-encoder, and the heuristic, compare all that they are asked in one batch.
        """
        sure = self._first(pairs)
        rest = [pair for pair, verdict in zip(pairs, sure, strict=True) if verdict is None]
        last = iter(judge_by_words(rest, self._settings.conflict_score))
        return [verdict or next(last) for verdict in sure]

    def rules_first(self, earlier: Claim, later: Claim, cosine: float) -> Verdict | None:
        """What the slot rule, then the cross-encoder, say; None where they say nothing. No model may overrule them."""
        return self._first([(earlier, later, cosine)])[0]

    def _first(self, pairs: Sequence[tuple[Claim, Claim, float]]) -> list[Verdict | None]:
        found = [judge_by_slot(*pair[:2], self._predicates()) or judge_by_bond(*pair[:2]) for pair in pairs]
        near = [at for at, pair in enumerate(pairs) if found[at] is None and pair[2] >= self._settings.conflict_cosine]
        inferred = self._inference.judge_all([pairs[at][:2] for at in near], self._settings.nli_confidence)
        for at, verdict in zip(near, inferred, strict=True):
            found[at] = verdict
        return found

    def may_differ(self, earlier: Claim, later: Claim, cosine: float) -> bool:
        """Whether the words of two notes give a reason why both could not hold, be it too weak for a verdict."""
        best = _best(differences([(earlier, later, cosine)])[0])
        return best is not None and best.probability >= min(_WORTH, _least(best, self._settings.conflict_score))
