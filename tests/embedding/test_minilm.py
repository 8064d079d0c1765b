"""The everyday model: its vectors, its order, its limits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pytest

from amem.embedding import make_embedder
from amem.embedding.onnx_embedder import batches_by_length
from amem.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from amem.protocols import Embedder


def test_rows_are_float32_of_length_one_and_in_the_order_of_the_texts(minilm: Embedder) -> None:
    texts = ["a much longer text about the harbour in winter " * 6, "tea", "我们在里斯本住了三年", "", "🙂"]
    vectors = minilm.embed(texts)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        assert float(minilm.embed([text])[0] @ vector) > 0.99999


def test_no_texts_give_no_rows_of_the_right_width(minilm: Embedder) -> None:
    assert minilm.embed([]).shape == (0, minilm.dimension) == (0, 384)


def test_meaning_is_nearer_than_wording(minilm: Embedder) -> None:
    question, answer, other = minilm.embed(
        ["Which database do we use?", "The service stores its data in PostgreSQL.", "Which cake do we bake?"]
    )
    assert question @ answer > question @ other


def test_text_beyond_256_tokens_does_not_count(minilm: Embedder) -> None:
    long = "harbour " * 300
    first, second = minilm.embed([long, long + "and now something completely different"])
    np.testing.assert_allclose(first, second, atol=1e-5)


@pytest.mark.parametrize("lengths", [[], [7], [256] * 20, [3, 90, 4, 88, 3, 90, 12, 5, 250, 11], list(range(200))])
def test_texts_meet_the_model_in_small_batches_of_nearly_one_length(lengths: list[int]) -> None:
    batches = [[lengths[position] for position in batch] for batch in batches_by_length(lengths)]
    # Longest first, so that memory is taken once.
    assert list(chain.from_iterable(batches)) == sorted(lengths, reverse=True)
    assert all(len(batch) <= 8 and min(batch) >= 0.8 * max(batch) for batch in batches)
    assert sorted(chain.from_iterable(batches_by_length(lengths))) == list(range(len(lengths)))


def test_making_an_embedder_reads_no_model(tmp_path: Path) -> None:
    embedder = make_embedder(Settings(cache=tmp_path))
    assert embedder.dimension == 384
    assert embedder.embed([]).shape == (0, 384)
    assert not list(tmp_path.iterdir())


def test_both_spellings_are_one_model(model_cache: Path) -> None:
    short = make_embedder(Settings(cache=model_cache), "all-MiniLM-L6-v2")
    long = make_embedder(Settings(cache=model_cache), "sentence-transformers/all-MiniLM-L6-v2")
    assert short.name == long.name == "all-MiniLM-L6-v2"


def test_threads_share_one_model_and_get_their_own_answers(model_cache: Path) -> None:
    said: list[str] = []
    embedder = make_embedder(Settings(cache=model_cache), notify=said.append)
    texts = [f"note number {number} about {'rain ' * (number % 7)}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda text: embedder.embed([text])[0], texts))
    together = embedder.embed(texts)
    assert min(float(row @ other) for row, other in zip(rows, together, strict=True)) > 0.9999
