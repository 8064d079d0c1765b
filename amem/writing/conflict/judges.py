"""The judges of a pair of notes, in the order in which they are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.writing.conflict import heuristic, slot
from amem.writing.conflict.nli import Inference
from amem.writing.conflict.verdict import Label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.protocols import Entailment
    from amem.settings import Settings
    from amem.truth.predicates import Predicates
    from amem.writing.conflict.verdict import Claim, Verdict


class Judges:
    """Rules about slots, then a cross-encoder where there is one, then the heuristic. A model's verdict goes between.

    Pairs are given in the order in which they were true (see ``claims.order``); `cosine` is that of their embeddings.
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
        """The first verdict that any of them is sure of; NO_CONFLICT when none is."""
        return self.rules_first(earlier, later, cosine) or self.rules_last(earlier, later, cosine)

    def rules_first(self, earlier: Claim, later: Claim, cosine: float) -> Verdict | None:
        """What the slot rule, then the cross-encoder, say; None where they say nothing. No model may overrule them."""
        verdict = slot.judge(earlier, later, self._predicates())
        if verdict is None and cosine >= self._settings.conflict_cosine:
            verdict = self._inference.judge(earlier, later, self._settings.nli_confidence)
        return verdict

    def foresee(self, pairs: Sequence[tuple[Claim, Claim]]) -> None:
        """Let the cross-encoder compare pairs that are to be judged, all in one batch; without one, do nothing."""
        self._inference.foresee(pairs)

    def rules_last(self, earlier: Claim, later: Claim, cosine: float) -> Verdict:
        """What is left to say when nobody better has said anything."""
        return heuristic.judge(earlier, later, cosine, self._predicates(), self._settings.conflict_score)

    def doubtful(self, earlier: Claim, later: Claim, cosine: float) -> bool:
        """Whether the rules see a reason to differ and cannot tell: worth asking a model."""
        if cosine < self._settings.conflict_cosine or self.rules_first(earlier, later, cosine) is not None:
            return False
        verdict = self.rules_last(earlier, later, cosine)
        if verdict.label in (Label.CONTRADICTS, Label.SUPERSEDES):
            return verdict.confidence < self._settings.supersede_confidence
        return heuristic.strongest(earlier, later, self._predicates()) is not None
