"""A cross-encoder's word on two notes: it knows contradiction, and nothing of who speaks, of plans or of time."""

from __future__ import annotations

import logging
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from amem.errors import AmemError
from amem.writing.conflict import cues, reasons
from amem.writing.conflict.difference import AT_ONCE
from amem.writing.conflict.likeness import same_people
from amem.writing.conflict.statements import quotes, read
from amem.writing.conflict.verdict import Label, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from amem.protocols import Entailment
    from amem.writing.conflict.verdict import Claim

logger = logging.getLogger("amem.writing")

JUDGE = "nli"
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
            return Verdict(Label.SUPPORTS, found["entailment"], reasons.again(later.content), JUDGE)
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
    return Verdict(label, confidence, reason, JUDGE, whole=len({each.sentence for each in read(earlier.content)}) == 1)


def _texts(earlier: Claim, later: Claim) -> tuple[str, str]:
    return earlier.content[:_READ], later.content[:_READ]
