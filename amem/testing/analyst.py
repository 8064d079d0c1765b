"""An analyst that answers what it was told to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from amem.analysis import Analysis, Draft, Evolution, Extraction, Neighbour, Passage
from amem.testing.script import Script
from amem.text import query_terms

if TYPE_CHECKING:
    from amem.protocols import Vocabulary

Analyses: TypeAlias = Analysis | Sequence[Analysis] | Callable[[Draft], Analysis]
Evolutions: TypeAlias = Evolution | Sequence[Evolution] | Callable[[Draft, Analysis, Sequence[Neighbour]], Evolution]
Extractions: TypeAlias = Extraction | Sequence[Extraction] | Callable[[Passage], Extraction]


class ScriptedAnalyst:
    """Answers from `analyses`, `evolutions` and `extractions`: one value for every call, a list used up in order, or a
    function.

    Without `analyses`, keywords are the note's first terms and the context repeats its beginning; without `evolutions`,
    nothing evolves; without `extractions`, no conversation teaches anything. While `fail` is set (it may be changed at
    any time) every call raises it. `drafts`, `shown` and `passages` keep what was asked. A list that is used up raises
    LookupError: the test asked more than it scripted.
    """

    def __init__(
        self,
        analyses: Analyses | None = None,
        evolutions: Evolutions | None = None,
        extractions: Extractions | None = None,
        *,
        fail: Exception | None = None,
        local: bool = True,
        name: str = "scripted",
    ) -> None:
        self.fail = fail
        self.drafts: list[Draft] = []
        self.shown: list[tuple[Neighbour, ...]] = []
        self.passages: list[Passage] = []
        self._analyses = Script[Analysis]("analyses", _plain if analyses is None else analyses)
        self._evolutions = Script[Evolution]("evolutions", Evolution() if evolutions is None else evolutions)
        self._extractions = Script[Extraction]("extractions", Extraction() if extractions is None else extractions)
        self._local = local
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def local(self) -> bool:
        return self._local

    def analyze(self, draft: Draft, vocabulary: Vocabulary) -> Analysis:
        self.drafts.append(draft)
        if self.fail is not None:
            raise self.fail
        return self._analyses.next(draft)

    def evolve(
        self, draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour], vocabulary: Vocabulary
    ) -> Evolution:
        self.shown.append(tuple(neighbours))
        if self.fail is not None:
            raise self.fail
        return self._evolutions.next(draft, analysis, neighbours)

    def extract(self, passage: Passage) -> Extraction:
        self.passages.append(passage)
        if self.fail is not None:
            raise self.fail
        return self._extractions.next(passage)


def _plain(draft: Draft) -> Analysis:
    return Analysis(keywords=tuple(query_terms(draft.content)[:3]), context=draft.content[:80], tags=("scripted",))
