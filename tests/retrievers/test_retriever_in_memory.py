"""ChromaRetriever: documents in memory, as A-Mem's users know it, without what they tripped over."""

from __future__ import annotations

import gc
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from amem.errors import InvalidInput
from amem.retrievers import ChromaRetriever

if TYPE_CHECKING:
    from amem.protocols import Embedder

EMPTY: dict[str, list[list[Any]]] = {"ids": [[]], "documents": [[]], "metadatas": [[]], "distances": [[]]}


def test_it_has_what_a_mem_programs_use(retriever: ChromaRetriever, words: Embedder):
    assert retriever.client.heartbeat()
    assert retriever.collection.count() == 0
    assert retriever.collection_name == "memories"
    assert retriever.embedder is words
    assert retriever.embedding_function(["a text"])[0].shape == (512,)


def test_a_document_is_found_by_its_words_with_all_that_came_with_it(retriever: ChromaRetriever):
    retriever.add_document("the cat sleeps on the sofa", {"tags": ["pets"]}, "cat")
    retriever.add_document("quarterly revenue grew by four percent", {"tags": ["work"]}, "money")
    retriever.add_document("我喜欢喝龙井茶", {"tags": ["饮食", "偏好"]}, "tea")
    found = retriever.search("where does the cat sleep", k=2)
    assert list(found) == ["ids", "documents", "metadatas", "distances"]
    assert found["ids"][0][0] == "cat"
    assert found["documents"][0][0] == "the cat sleeps on the sofa"
    assert found["metadatas"][0][0] == {"tags": ["pets"]}
    assert found["distances"][0] == sorted(found["distances"][0])
    tea = retriever.search("喝茶", k=1)
    assert (tea["ids"], tea["metadatas"]) == ([["tea"]], [[{"tags": ["饮食", "偏好"]}]])


def test_the_distance_of_a_text_to_itself_is_nothing(retriever: ChromaRetriever):
    retriever.add_document("exactly this", {}, "a")
    assert retriever.search("exactly this", 1)["distances"][0][0] == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(
    "value",
    [
        *("42", "3.14", "-10", "[1, 2]", '{"a": 1}', "None", "True", "", "hello", "'quoted'", "中文 🙂", "\ud800"),
        *(42, -1, 2**70, 0, 3.5, 1e300, math.inf, True, False, None),
        *([], ["tag1", "tag2"], [1, "1", None, [True]], {}, {"nested": {"deep": ["x", 1]}}, {"": 0}),
    ],
    ids=repr,
)
def test_metadata_comes_back_as_it_went_in(retriever: ChromaRetriever, value: object):
    """A-Mem turned "42" into 42 and "[1, 2]" into a list, by guessing."""
    retriever.add_document("a text", {"value": value, "other": "x"}, "id")
    (metadata,) = retriever.search("a text", 1)["metadatas"][0]
    assert metadata == {"value": value, "other": "x"}
    assert type(metadata["value"]) is type(value)


def test_metadata_may_be_missing_or_have_chromas_own_names(retriever: ChromaRetriever):
    retriever.add_document("one", None, "none")
    retriever.add_document("two", {}, "empty")
    odd = {"chroma:document": "mine", "": "no name", "amem_metadata": "mine too"}
    retriever.add_document("three", odd, "odd")
    found = retriever.search("one two three", 3)
    assert dict(zip(found["ids"][0], found["metadatas"][0], strict=True)) == {"none": {}, "empty": {}, "odd": odd}


@pytest.mark.parametrize(
    ("metadata", "words_said"),
    [
        ({"when": datetime(2026, 1, 1, tzinfo=UTC)}, "'when' holds a datetime"),
        ({"tags": {"a", "b"}}, "'tags' holds a set"),
        ({"deep": {"a": [{1: "x"}]}}, "'deep': a key inside it is 1"),
        ({1: "x"}, "must be text, not 1"),
    ],
)
def test_metadata_that_would_change_on_the_way_is_refused(
    retriever: ChromaRetriever, metadata: dict[Any, Any], words_said: str
):
    with pytest.raises(InvalidInput, match=words_said):
        retriever.add_document("a text", metadata, "id")
    assert len(retriever) == 0


def test_flat_values_can_be_filtered_by_chroma_itself(retriever: ChromaRetriever):
    for year in (2024, 2025):
        retriever.add_document("a text", {"year": year, "tags": ["x"]}, str(year))
    assert retriever.collection.get(where={"year": 2025})["ids"] == ["2025"]
    assert retriever.collection.query(query_texts=["a text"], n_results=5, where={"year": 2024})["ids"] == [["2024"]]


def test_the_same_id_again_replaces_text_and_metadata(retriever: ChromaRetriever):
    retriever.add_document("apples and pears", {"colour": "green", "year": 2024}, "id")
    retriever.add_document("trains and ships", {"speed": 80}, "id")
    assert len(retriever) == 1
    found = retriever.search("trains and ships", 5)
    assert found["documents"] == [["trains and ships"]]
    assert found["metadatas"] == [[{"speed": 80}]]
    assert found["distances"][0][0] == pytest.approx(0, abs=1e-5)
    assert retriever.collection.get(where={"colour": "green"})["ids"] == []


def test_deleting_says_whether_there_was_anything(retriever: ChromaRetriever):
    retriever.add_document("a text", {}, "id")
    assert retriever.delete_document("id")
    assert not retriever.delete_document("id")
    assert not retriever.delete_document("never there")
    assert retriever.search("a text", 5) == EMPTY


def test_k_may_be_nothing_or_more_than_there_is(retriever: ChromaRetriever):
    assert retriever.search("anything", 5) == EMPTY
    for number in range(10):
        retriever.add_document(f"document number {number}", {}, f"doc_{number}")
    assert retriever.search("document", 0) == EMPTY
    assert len(retriever.search("document", 3)["ids"][0]) == 3
    assert len(retriever.search("document")["ids"][0]) == 5
    assert len(retriever.search("document", 999)["ids"][0]) == 10
    for bad in (-1, 2.5, "3", True, None):
        with pytest.raises(InvalidInput, match="k must be"):
            retriever.search("document", bad)  # type: ignore[arg-type]


def test_equal_texts_deleted_and_added_leave_none_out_of_sight(retriever: ChromaRetriever, words: Embedder):
    """Chroma alone then finds 17 of 150."""
    texts = ["the very same text"] * 150 + [f"text {number} of its own kind {number * 7}" for number in range(150)]
    names = [str(number) for number in range(300)]
    vectors = words.embed(texts)
    retriever.collection.upsert(ids=names, embeddings=vectors, documents=texts)
    for name in names[::2]:
        retriever.delete_document(name)
    assert set(retriever.search("text", 150)["ids"][0]) == set(names[1::2])
    assert len(retriever.search("the very same text", 60)["ids"][0]) == 60


@pytest.mark.parametrize(("document", "doc_id"), [("text", ""), ("text", 5), (None, "id"), ("\ud800", "id")])
def test_what_chroma_cannot_hold_is_refused(retriever: ChromaRetriever, document: Any, doc_id: Any):
    with pytest.raises(InvalidInput):
        retriever.add_document(document, {}, doc_id)
    assert len(retriever) == 0


def test_two_of_one_name_never_see_each_others_documents(words: Embedder):
    with ChromaRetriever("shared", embedder=words) as first:
        first.add_document("mine", {}, "a")
        with ChromaRetriever("shared", embedder=words) as second:
            assert second.search("mine", 5) == EMPTY
            second.add_document("yours", {}, "a")
            assert first.search("yours", 5)["documents"] == [["mine"]]
        assert first.search("mine", 5)["documents"] == [["mine"]]


def test_a_program_may_use_chroma_itself_beside_it(words: Embedder):
    import chromadb

    with ChromaRetriever(embedder=words) as retriever, chromadb.EphemeralClient() as theirs:
        retriever.add_document("mine", {}, "a")
        theirs.create_collection("memories", embedding_function=None)
        assert len(retriever) == 1
        theirs.delete_collection("memories")


def test_its_documents_go_with_it(words: Embedder):
    with ChromaRetriever(embedder=words) as other:
        retriever = ChromaRetriever(embedder=words)
        inside = retriever.collection.name
        assert inside in [collection.name for collection in other.client.list_collections()]
        del retriever
        gc.collect()
        assert inside not in [collection.name for collection in other.client.list_collections()]


def test_a_name_that_chroma_does_not_take_is_refused(words: Embedder):
    with pytest.raises(InvalidInput, match="记忆"):
        ChromaRetriever("记忆", embedder=words)


def test_with_minilm_a_question_finds_what_it_means(minilm: Embedder):
    with ChromaRetriever(embedder=minilm) as retriever:
        retriever.add_document("Machine learning is fascinating", {}, "doc1")
        retriever.add_document("Deep learning uses neural networks", {}, "doc2")
        retriever.add_document("Cats are fluffy animals", {}, "doc3")
        assert set(retriever.search("artificial intelligence", k=2)["ids"][0]) == {"doc1", "doc2"}


def test_it_makes_its_own_embedder_from_the_models_name():
    with ChromaRetriever(model_name="all-MiniLM-L6-v2") as retriever:
        retriever.add_document("Cats are fluffy animals", {}, "cats")
        retriever.add_document("The bank raised its interest rate", {}, "bank")
        assert retriever.search("pets", k=1)["ids"] == [["cats"]]
