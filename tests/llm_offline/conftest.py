"""A vocabulary that counts the notes it was given, and an analyst."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from amem.llm.offline import OfflineAnalyst
from amem.text import index_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class CountedVocabulary:
    """The `Vocabulary` of a handful of notes held in memory."""

    def __init__(self, contents: Sequence[str] = (), tags: Mapping[str, int] | None = None) -> None:
        self.total = len(contents)
        self._held = Counter(term for content in contents for term in set(index_terms(content)))
        self._tags = dict(tags or {})

    def document_frequency(self, terms: Sequence[str]) -> Mapping[str, int]:
        return {term: self._held[term] for term in terms}

    def tags(self) -> Mapping[str, int]:
        return self._tags


@pytest.fixture
def analyst() -> OfflineAnalyst:
    return OfflineAnalyst()


@pytest.fixture
def empty() -> CountedVocabulary:
    return CountedVocabulary()


@pytest.fixture
def vocabulary() -> type[CountedVocabulary]:
    return CountedVocabulary
