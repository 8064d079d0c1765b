"""What tests of the retrievers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from word_embedder import WordEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.retrievers import ChromaRetriever


@pytest.fixture
def words() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def retriever(words: WordEmbedder) -> Iterator[ChromaRetriever]:
    from amem.retrievers import ChromaRetriever

    with ChromaRetriever(embedder=words) as made:
        yield made
