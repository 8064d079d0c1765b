"""The late leg: words that mean what the question's words mean, in the note or in the turns around it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from amem import load_settings
from amem.collection import Vectorizer
from amem.embedding.onnx_embedder import MOST, packed
from amem.maintenance.upkeep import reindex
from amem.note import Kind
from amem.protocols import TokenEmbedder
from amem.testing import HashEmbedder
from amem.token_vectors import PACKED, PACKING, WIDTH, Tokens, TokenVector, product, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from asking import Collection
    from briefed import Open

    from amem.protocols import Embedder

#: Words with one meaning have one vector.
SAME = {"vessel": "ferry", "渡": "船"}


class WordEmbedder(HashEmbedder):
    """Each word has the vector of its meaning; the whole text has none that helps."""

    gives_tokens = True

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVector]:
        return [TokenVector.of(row, self._tokens(text)) for row, text in zip(self.embed(texts), texts, strict=True)]

    def _tokens(self, text: str) -> Tokens:
        found = list(re.finditer(r"[a-z]+|[\u4e00-\u9fff]", text.casefold()))
        meanings = [SAME.get(each.group(), each.group()) for each in found]
        hidden = self.embed(meanings) if meanings else np.empty((0, self.dimension), dtype=np.float32)
        return packed(text, hidden, [each.span() for each in found])


@pytest.fixture
def words(open_collection: Callable[..., Collection]) -> Collection:
    """An empty collection whose embedder knows words."""
    return open_collection(embedder=WordEmbedder(256), late_weight=1.0)


def late(collection: Collection, question: str, id: str) -> float:
    """What the leg thinks of a note, on the common scale."""
    (hit,) = [hit for hit in collection.ask(question, k=20) if hit.id == id]
    return next((leg.scaled for leg in hit.explanation.legs if leg.leg == "late"), 0.0)


def test_a_word_of_the_same_meaning_lifts_its_note(words: Collection) -> None:
    near = words.add("The vessel to Setúbal leaves at nine.")
    far = words.add("The bakery to the left opens at nine.")
    assert late(words, "ferry", near) > 0.9
    assert late(words, "ferry", far) < 0.2


def test_each_of_many_notes_is_scored_by_its_own_words(words: Collection) -> None:
    """More words than are multiplied at once, and a note without any among them."""
    for number in range(50):
        words.add(f"The bakery numbered {number} sells seven kinds of bread, cakes, tarts and the best rye rolls.")
    bare, near = words.add("the of and"), words.add("The vessel to Setúbal leaves at nine, before the bakery opens.")
    for number in range(50, 70):
        words.add(f"The bakery numbered {number} sells seven kinds of bread, cakes, tarts and the best rye rolls.")
    hits = {hit.id: hit for hit in words.ask("ferry bakery", k=80)}
    scaled = {id: leg.scaled for id, hit in hits.items() for leg in hit.explanation.legs if leg.leg == "late"}
    assert max(scaled, key=lambda id: scaled[id]) == near
    assert len(scaled) == 71
    assert scaled.get(bare, 0.0) == 0.0


def test_a_turn_lends_the_meaning_of_its_words_to_the_reply(words: Collection) -> None:
    words.add("The vessel leaves at nine.", conversation_id="talk", ordinal=1, kind=Kind.FACT)
    reply = words.add("Only on weekdays, mind.", conversation_id="talk", ordinal=2, kind=Kind.FACT)
    apart = words.add("Only on Sundays, mind.")
    assert late(words, "ferry", reply) > late(words, "ferry", apart)


def test_shares_add_up_with_the_leg_among_them(words: Collection) -> None:
    words.add("The vessel leaves at nine.")
    (hit,) = words.ask("when does the ferry leave")
    assert hit.score == pytest.approx(sum(leg.share for leg in hit.explanation.legs))
    assert "late" in {leg.leg for leg in hit.explanation.legs}
    assert "late" not in hit.matched_by


@pytest.mark.parametrize("settings", [{"late_weight": 0.0}, {"embedder": HashEmbedder(256)}])
def test_without_a_weight_or_a_model_for_it_the_leg_is_silent(
    open_collection: Callable[..., Collection], settings: dict[str, object]
) -> None:
    collection = open_collection(**({"embedder": WordEmbedder(256), "late_weight": 1.0} | settings))
    id = collection.add("The ferry leaves at nine.")
    assert late(collection, "ferry", id) == 0.0


def test_a_collection_made_without_words_gets_them_by_reindexing(
    open_collection: Callable[..., Collection], tmp_path: Path
) -> None:
    embedder = WordEmbedder(256)
    collection = open_collection(embedder=embedder, late_weight=1.0, folder=tmp_path / "notes")
    without = Vectorizer(collection.store, embedder, "content", tokens=False)
    with_words = Vectorizer(collection.store, embedder, "content")
    assert (without.packing(), with_words.packing()) == ("", PACKING)
    id = collection.add("The vessel leaves at nine.")
    reindex(collection.store, without, "user:test")
    collection.dense.refresh()
    assert late(collection, "ferry", id) == 0.0
    reindex(collection.store, with_words, "user:test")
    collection.dense.refresh()
    assert late(collection, "ferry", id) > 0.9


def test_words_are_packed_small_and_bounded() -> None:
    text = " ".join(f"word{number}" for number in range(3 * MOST))
    spans = [each.span() for each in re.finditer(r"\w+", text)]
    tokens = packed(text, np.random.default_rng(1).standard_normal((len(spans), 384)).astype(np.float32), spans)
    assert tokens.vectors.shape == (MOST, WIDTH)
    assert tokens.vectors.dtype == np.int8
    assert np.diag(tokens.cosines(tokens)) == pytest.approx(1.0, abs=1e-5)
    assert len(tokens.packed()) == MOST * PACKED


@pytest.mark.parametrize("width", [0, 128, 1000])
@pytest.mark.parametrize("count", [0, 1, 5, 6, 300])
def test_a_product_by_blocks_is_the_product(count: int, width: int) -> None:
    dice = np.random.default_rng(count)
    rows, columns = (dice.standard_normal((many, 384)).astype(np.float32) for many in (count, width))
    held = np.zeros((count, width + 2), dtype=np.float32)
    assert product(rows, columns.T) == pytest.approx(rows @ columns.T, abs=1e-4)
    product(rows, columns.T, held[:, 1:-1])
    assert held[:, 1:-1] == pytest.approx(rows @ columns.T, abs=1e-4)
    assert not held[:, [0, -1]].any()


def test_words_without_a_meaning_of_their_own_are_left_out() -> None:
    text = "the ferry, of 渡!"
    spans = [each.span() for each in re.finditer(r"\w+|[^\w\s]", text)]
    assert packed(text, np.eye(len(spans), 384, dtype=np.float32), spans).words == ("ferry", "渡")


def test_the_everyday_model_gives_words_with_the_same_vector_of_the_whole(minilm: Embedder) -> None:
    assert isinstance(minilm, TokenEmbedder)
    texts = ["The ferry leaves at nine.", "", "渡轮九点开。", "x " * 400]
    found = minilm.embed_tokens(texts)
    assert np.stack(found) == pytest.approx(minilm.embed(texts), abs=1e-5)
    words = [tokens_of(each) for each in found]
    assert [each is not None for each in words] == [True] * 4
    assert words[0] is not None
    assert words[0].words == ("ferry", "leaves", "nine")


def test_a_person_who_turns_it_on_is_told_to_reindex_and_then_has_it(open_memory: Open, tmp_path: Path) -> None:
    with open_memory(settings=load_settings(tmp_path / "home", late_weight=0.0)) as memory:
        memory.add_note("The ferry to Setúbal leaves at nine.")
    with open_memory(settings=load_settings(tmp_path / "home", late_weight=1.0)) as memory:
        assert "amem reindex makes them" in [each.hint for each in memory.doctor() if each.about == "words"]
        memory.reindex()
        assert not [each for each in memory.doctor() if each.about == "words"]
        (hit,) = memory.search("when does the boat leave?")
        assert "late" in {leg.leg for leg in hit.explanation.legs}


def test_an_embedder_without_words_is_named(open_memory: Open, tmp_path: Path) -> None:
    settings = load_settings(tmp_path / "home", late_weight=1.0)
    with open_memory(settings=settings, embedder=HashEmbedder(256)) as memory:
        (found,) = [each for each in memory.doctor() if each.about == "words"]
    assert "gives no vectors of words" in found.what


def test_words_kept_in_half_a_byte_point_where_they_did() -> None:
    random = np.random.default_rng(4)
    given = Tokens(random.integers(-127, 128, (500, WIDTH), dtype=np.int8))
    given.vectors[7] = 0
    given.vectors[8] = np.eye(1, WIDTH, 3, dtype=np.int8)
    blob = given.packed()
    kept = Tokens.unpacked(blob)
    assert len(blob) == 500 * PACKED
    assert kept.vectors.shape == (500, WIDTH)
    assert not kept.vectors[7].any()
    assert np.flatnonzero(kept.vectors[8]).tolist() == [3]
    cosines = np.diag(given.cosines(kept))
    assert np.delete(cosines, 7).min() > 0.99
    assert Tokens.unpacked(kept.packed()).vectors.tolist() == kept.vectors.tolist()
    assert Tokens(given.vectors[:0]).packed() == b""
