"""The judges of a pair of notes, in the order in which they are asked: slot rule, model, cross-encoder, heuristic."""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from dataclasses import replace
from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING

from amem.analysis import Label, Verdict
from amem.conflict import cues, heuristic, reasons
from amem.conflict.ending import statement_of, states_more
from amem.conflict.likeness import AT_ONCE, of_one_day, only_sometimes, same_people
from amem.conflict.statements import quotes, read
from amem.errors import AmemError
from amem.language import is_cjk, normalize
from amem.language.intervals import may_overtake, overtakes, same_value
from amem.language.lexicon import is_person
from amem.language.subjects import USER, WE, subject_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from amem.conflict.candidates import Claim
    from amem.language.predicates import Predicates
    from amem.note import Fact
    from amem.protocols import Entailment
    from amem.settings import Settings


# The slot rule: one subject, one slot, another value. What was true later holds.

SLOT = "slot"
SAID_SO, IMPLIED, DIFFER = 0.95, 0.85, 0.75
#: Within this time two people who say different things disagree; after it, something may have changed.
_AT_ONCE = timedelta(days=1)
#: Roles of what everything of ours runs on.
HOSTS = ("cloud", "hosting")
_NAME = "named"
#: Facts a note are compared; nobody states more in one.
_MOST = 40


def judge(earlier: Claim, later: Claim, predicates: Predicates) -> Verdict | None:
    """What the facts of two notes make of them; None where they do not meet in a slot."""
    if banned := _banned(earlier, later):
        reason = reasons.differing(*banned, later.content, predicates)
        return Verdict(Label.CONTRADICTS, DIFFER, reason, SLOT, quotes=_quotes(earlier, banned[:1]))
    best: Verdict | None = None
    overturned: list[Fact] = []
    for old, new in _meetings(earlier, later, predicates):
        verdict = _of(old, new, earlier, later, predicates)
        if verdict is None:
            continue
        overturned.append(old)
        if best is None or _weight(verdict) > _weight(best):
            best = verdict
    if best is None or of_one_day(later.content):
        return None
    quotes = _quotes(earlier, overturned)
    if best.label is not Label.SUPERSEDES:
        return replace(best, quotes=quotes)
    if only_sometimes(earlier.content, later.content):
        return replace(best, whole=False)  # what ended is not the statement, only its being so always
    whole = _is_all(earlier, overturned, predicates) and not states_more(earlier.content, quotes)
    return replace(best, whole=whole, quotes=quotes)


def _quotes(claim: Claim, facts: Iterable[Fact]) -> tuple[str, ...]:
    """The statements of a note that state these facts, in its words; of a list whose other items hold, the item."""
    fallen = list(facts)
    found = {each: statement_of(claim.content, each.object) for each in fallen}
    for fact, statement in found.items():
        listed = (fact.subject, fact.predicate)
        others = [each for each in claim.facts if each.holds and (each.subject, each.predicate) == listed]
        if statement and any(each not in fallen and each.object in statement for each in others):
            found[fact] = fact.object if fact.object in statement else statement
    return tuple(dict.fromkeys(each for each in found.values() if each is not None))


def _banned(earlier: Claim, later: Claim) -> tuple[Fact, Fact] | None:
    """What one note forbids and the other says is used: a rule that is broken, which ends neither."""
    for old in earlier.facts[:_MOST]:
        for new in later.facts[:_MOST]:
            apart = {old.predicate, new.predicate} == {"forbids", "uses"} and old.holds and new.holds
            if apart and same_value(old.object, new.object):
                ban, use = (old, new) if old.predicate == "forbids" else (new, old)
                ours = ban.subject == WE and _is_thing(use.subject)
                if ours or subject_key(ban.subject) == subject_key(use.subject):
                    return old, new
    return None


def _is_thing(subject: str) -> bool:
    """Whether a subject may be a thing of ours, which our bans hold for: "client portal", not "Ana" or "user's son"."""
    return subject != USER and not re.search("['’]s |的", subject) and not is_person(subject.split()[0])


def _meetings(earlier: Claim, later: Claim, predicates: Predicates) -> Iterator[tuple[Fact, Fact]]:
    """Facts of one subject and predicate that cannot hold at the same time, as far as their times allow."""
    for new in later.facts[:_MOST]:
        for old in earlier.facts[:_MOST]:
            if old.predicate == new.predicate and subject_key(old.subject) == subject_key(new.subject):
                since, began = new.valid_from or later.true_at, old.valid_from or earlier.true_at
                past = new.holds and new.valid_to is not None and new.valid_to <= later.said_at
                over = old.valid_to is not None and old.valid_to <= since
                follows = since >= began or _is_news(old, new, earlier, later)
                if follows and not past and not over and _apart(old, new, predicates):
                    yield old, new


def _is_news(old: Fact, new: Fact, earlier: Claim, later: Claim) -> bool:
    """Whether the one fact tells of a change after the other was said of no time in particular."""
    return overtakes(_telling(new, later), _telling(old, earlier))


def _telling(fact: Fact, claim: Claim) -> Claim:
    """A claim as of what one of its facts says of a time."""
    dated = claim.dated or fact.valid_from is not None
    return replace(claim, true_at=fact.valid_from or claim.true_at, until=fact.valid_to or claim.until, dated=dated)


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
        return Verdict(Label.CONTRADICTS, DIFFER, reasons.unclear(old, new, later.content, predicates), SLOT)
    never_changes = all(cues.forever(claim.content) for claim in (earlier, later))
    if not said_so and (never_changes or _disagree(earlier, later)):
        return Verdict(Label.CONTRADICTS, DIFFER, reasons.differing(old, new, later.content, predicates), SLOT)
    confidence = SAID_SO if said_so else IMPLIED
    if not new.holds:
        return Verdict(Label.SUPERSEDES, confidence, reasons.ended(old, later.content, predicates), SLOT)
    if not old.holds:
        return Verdict(Label.SUPERSEDES, IMPLIED, reasons.resumed(new, later.content, predicates), SLOT)
    several = predicates.rows[new.predicate].one is not True and not cues.main(later.content)
    if not said_so and (several or new.predicate == _NAME) and not _is_so_now(new, later, predicates):
        # "We use Redis" and "we use Memcached" may both be so, and who gives another name is somebody else.
        return None
    return Verdict(Label.SUPERSEDES, confidence, reasons.replaced(old, new, later.content, predicates), SLOT)


def _is_so_now(new: Fact, later: Claim, predicates: Predicates) -> bool:
    """Whether something is said to run elsewhere now, or to have another name: it has one host, and one name."""
    once = new.predicate == _NAME or predicates.role(new.object) in HOSTS
    return once and cues.now(later.content)


def _disagree(earlier: Claim, later: Claim) -> bool:
    """Two speakers, at about one time."""
    return earlier.speaker != later.speaker and abs(later.true_at - earlier.true_at) <= _AT_ONCE


def _weight(verdict: Verdict) -> tuple[bool, float]:
    return verdict.label is Label.SUPERSEDES, verdict.confidence


def _is_all(claim: Claim, overturned: list[Fact], predicates: Predicates) -> bool:
    """Whether no fact of a note is left when these fall."""
    fallen = {each.predicate for each in overturned}
    rest = [
        each for each in claim.facts if each not in overturned and not (not each.holds and each.predicate in fallen)
    ]
    return all(predicates.hangs_on(each.predicate) in fallen for each in rest)


# A cross-encoder's word on two notes: it knows contradiction, and nothing of who speaks, of plans or of time.

logger = logging.getLogger("amem.writing")

NLI = "nli"
#: Comparisons that are remembered: a pair is looked at more than once on its way.
_REMEMBERED = 512
#: Characters of a note that the model reads.
_READ = 1_000


class Inference:
    """Asks the cross-encoder, each pair once, and does without it from the first time that it cannot be used."""

    def __init__(self, entailment: Callable[[], Entailment | None]) -> None:
        self._entailment = entailment
        self._known: OrderedDict[tuple[str, str], Mapping[str, float]] = OrderedDict()
        self._broken = False
        self._lock = Lock()

    def foresee(self, pairs: Sequence[tuple[Claim, Claim]]) -> None:
        """Compare those of the pairs that may be judged, in one batch."""
        if self._model() is not None:
            self._ask([_texts(*pair) for pair in pairs if may_differ(*pair)])

    def judge(self, earlier: Claim, later: Claim, least: float) -> Verdict | None:
        """The verdict on a pair; None below the confidence `least`, without a model, or on different subjects."""
        if self._model() is None or not may_differ(earlier, later):
            return None
        texts = _texts(earlier, later)
        self._ask([texts])
        found = self._known.get(texts)
        if found is None:
            return None
        if found["contradiction"] >= least:
            return _conflict(earlier, later, found["contradiction"])
        if found["entailment"] >= least:
            return Verdict(Label.SUPPORTS, found["entailment"], reasons.again(later.content), NLI)
        return None

    def _model(self) -> Entailment | None:
        if self._broken:
            return None
        try:
            return self._entailment()
        except AmemError as error:
            self._give_up(error)
            return None

    def _ask(self, pairs: Iterable[tuple[str, str]]) -> None:
        fresh = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        model = self._model() if fresh else None
        if model is None:
            return
        try:
            answers = model.compare(fresh)
        except AmemError as error:
            self._give_up(error)
            return
        with self._lock:
            self._known.update(zip(fresh, answers, strict=True))
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)

    def _give_up(self, error: AmemError) -> None:
        self._broken = True
        logger.warning("notes are judged without a cross-encoder: %s", error)


def may_differ(earlier: Claim, later: Claim) -> bool:
    """Whether both state something, of the same people, in their own words: no plan, question or quotation."""
    if quotes(earlier.content) or quotes(later.content):
        return False
    olds = [each for each in read(earlier.content) if each.about]
    news = [each for each in read(later.content) if each.about]
    stated = bool(olds and news) and all(each.said and not each.past for each in (*olds, *news))
    return stated and all(same_people(old, new, earlier, later) for old in olds for new in news)


def _conflict(earlier: Claim, later: Claim, confidence: float) -> Verdict:
    """By another speaker, or at one time, neither may hide the other."""
    another = earlier.speaker != later.speaker
    at_once = later.true_at - earlier.true_at <= AT_ONCE and not cues.replaces(later.content)
    label = Label.CONTRADICTS if another or at_once else Label.SUPERSEDES
    reason = reasons.turned(earlier.content, later.content, later.content)
    return Verdict(label, confidence, reason, NLI, whole=len({each.sentence for each in read(earlier.content)}) == 1)


def _texts(earlier: Claim, later: Claim) -> tuple[str, str]:
    return earlier.content[:_READ], later.content[:_READ]


# The judges of a pair of notes, in the order in which they are asked.

#: Probability of a conflict, by the heuristic, from which a model is worth asking.
_WORTH_ASKING = 0.25


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
        by_slot = [judge(earlier, later, self._predicates()) for earlier, later, _ in pairs]
        self._inference.foresee(
            [
                pair[:2]
                for pair, verdict in zip(pairs, by_slot, strict=True)
                if verdict is None and self._is_near(pair[2])
            ]
        )
        sure = [verdict or self._inferred(*pair) for pair, verdict in zip(pairs, by_slot, strict=True)]
        rest = [pair for pair, verdict in zip(pairs, sure, strict=True) if verdict is None]
        last = iter(heuristic.judge(rest, self._settings.conflict_score))
        return [verdict or next(last) for verdict in sure]

    def rules_first(self, earlier: Claim, later: Claim, cosine: float) -> Verdict | None:
        """What the slot rule, then the cross-encoder, say; None where they say nothing. No model may overrule them."""
        return judge(earlier, later, self._predicates()) or self._inferred(earlier, later, cosine)

    def _inferred(self, earlier: Claim, later: Claim, cosine: float) -> Verdict | None:
        near = self._is_near(cosine)
        return self._inference.judge(earlier, later, self._settings.nli_confidence) if near else None

    def _is_near(self, cosine: float) -> bool:
        return cosine >= self._settings.conflict_cosine

    def rules_last(self, earlier: Claim, later: Claim, cosine: float) -> Verdict:
        """What is left to say when nobody better has said anything."""
        return heuristic.judge([(earlier, later, cosine)], self._settings.conflict_score)[0]

    def doubtful(self, earlier: Claim, later: Claim, cosine: float) -> bool:
        """Whether the rules see a reason to differ and cannot tell: worth asking a model."""
        if cosine < self._settings.conflict_cosine or self.rules_first(earlier, later, cosine) is not None:
            return False
        verdict = self.rules_last(earlier, later, cosine)
        if verdict.label in (Label.CONTRADICTS, Label.SUPERSEDES):
            return verdict.confidence < self._settings.supersede_confidence
        best = heuristic.strongest(earlier, later, cosine)
        return best is not None and best.probability >= _WORTH_ASKING
