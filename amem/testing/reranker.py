"""A reranker without a model: a passage answers as well as it has the question's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.text import index_terms, query_terms

if TYPE_CHECKING:
    from collections.abc import Sequence


class WordReranker:
    """Scores a passage by the share of the question's words that are in it; reads every language."""

    @property
    def name(self) -> str:
        return "words"

    def load(self) -> None:
        """Nothing is to be loaded."""

    def knows(self, text: str) -> float:
        """1: any text."""
        return 1.0

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """For each passage the share, 0..1; 0 for a question without a word."""
        wanted = set(query_terms(question))
        return [len(wanted & set(index_terms(passage))) / max(1, len(wanted)) for passage in passages]
