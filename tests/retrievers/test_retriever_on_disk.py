"""PersistentChromaRetriever and CopiedChromaRetriever: collections that last, and private copies of them."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amem.errors import CollectionExists, CollectionNotFound, EmbedderMismatch, InvalidInput, StorageError
from amem.retrievers import ChromaRetriever, CopiedChromaRetriever, PersistentChromaRetriever

if TYPE_CHECKING:
    from amem.protocols import Embedder, Matrix


def filled(folder: Path, words: Embedder, count: int = 3) -> None:
    with PersistentChromaRetriever(folder, "shared", embedder=words) as retriever:
        for number in range(count):
            retriever.add_document(f"document number {number}", {"n": number, "text": str(number)}, f"doc{number}")


def test_documents_are_there_the_next_time(tmp_path: Path, words: Embedder):
    filled(tmp_path / "new" / "folder", words)
    with PersistentChromaRetriever(str(tmp_path / "new" / "folder"), "shared", extend=True, embedder=words) as again:
        found = again.search("document number 2", 1)
        assert found["ids"] == [["doc2"]]
        assert found["metadatas"] == [[{"n": 2, "text": "2"}]]
        assert again.collection_name == again.collection.name == "shared"
        assert again.collection.query(query_texts=["document number 1"], n_results=1)["ids"] == [["doc1"]]


def test_an_existing_collection_is_not_extended_by_accident_nor_harmed(tmp_path: Path, words: Embedder):
    filled(tmp_path, words)
    with pytest.raises(CollectionExists, match="'shared' already exists") as refused:
        PersistentChromaRetriever(tmp_path, "shared", embedder=words)
    assert isinstance(refused.value, ValueError)
    assert "extend=True" in refused.value.hint
    with PersistentChromaRetriever(tmp_path, "shared", extend=True, embedder=words) as again:
        assert len(again) == 3


def test_a_collection_of_another_model_is_refused(tmp_path: Path, words: Embedder):
    filled(tmp_path, words)

    class Other:
        name = "another-model"
        dimension = 512
        embed = words.embed

    with pytest.raises(EmbedderMismatch, match="embedded with words, not with another-model"):
        PersistentChromaRetriever(tmp_path, "shared", extend=True, embedder=Other())


def test_a_mems_own_folders_can_be_opened(tmp_path: Path, words: Embedder):
    """They hold squared L2 distances, an embedding function of Chroma's, and lists as JSON text."""
    import chromadb

    with chromadb.PersistentClient(tmp_path) as client:
        old = client.create_collection("memories", embedding_function=None)
        texts = ["cats and dogs", "trains and ships"]
        metadata = {"keywords": '["a", "b"]', "retrieval_count": "3", "content": "[1, 2]", "context": "42"}
        old.add(ids=["a", "b"], documents=texts, embeddings=words.embed(texts), metadatas=[metadata] * 2)
    with PersistentChromaRetriever(tmp_path, extend=True, embedder=words) as retriever:
        found = retriever.search("trains and ships", 2)
        assert found["ids"] == [["b", "a"]]
        assert found["distances"][0][0] == pytest.approx(0, abs=1e-5)
        assert found["distances"][0][1] < 1
        read = {"keywords": ["a", "b"], "retrieval_count": 3, "content": "[1, 2]", "context": "42"}
        assert found["metadatas"][0][0] == read


def test_a_folder_that_is_broken_says_so(tmp_path: Path, words: Embedder):
    (tmp_path / "chroma.sqlite3").write_bytes(b"nonsense" * 1_000)
    with pytest.raises(StorageError, match="Chroma could not open"):
        PersistentChromaRetriever(tmp_path, embedder=words)
    (tmp_path / "chroma.sqlite3").unlink()
    with PersistentChromaRetriever(tmp_path, embedder=words) as retriever:
        assert len(retriever) == 0


def test_a_bad_name_is_refused_and_the_folder_is_closed_again(tmp_path: Path, words: Embedder):
    with pytest.raises(InvalidInput, match="collection name 'x'"):
        PersistentChromaRetriever(tmp_path, "x", embedder=words)
    filled(tmp_path, words)


def test_a_copy_has_everything_and_what_is_done_to_it_stays_there(tmp_path: Path, words: Embedder):
    filled(tmp_path, words, 25)
    with CopiedChromaRetriever(tmp_path, "shared", _copy_batch_size=10, embedder=words) as copy:
        assert len(copy) == 25
        assert copy.collection_name == copy.collection.name == "shared__clone"
        assert isinstance(copy, PersistentChromaRetriever)
        assert isinstance(copy, ChromaRetriever)
        assert copy.search("document number 7", 1)["metadatas"] == [[{"n": 7, "text": "7"}]]
        copy.add_document("mine alone", {}, "private")
        copy.delete_document("doc7")
    with PersistentChromaRetriever(tmp_path, "shared", extend=True, embedder=words) as original:
        assert len(original) == 25
        assert original.search("document number 7", 1)["ids"] == [["doc7"]]


@pytest.mark.thorough
def test_a_copy_may_be_named_and_holds_more_than_chroma_takes_at_once(tmp_path: Path, words: Embedder):
    texts = [f"text {number}" for number in range(6_000)]
    vectors: Matrix = words.embed(texts)
    with PersistentChromaRetriever(tmp_path, "large", embedder=words) as large:
        for start in range(0, 6_000, 5_000):
            part = slice(start, start + 5_000)
            large.collection.upsert(
                ids=texts[part],
                documents=texts[part],
                embeddings=vectors[part],
                metadatas=[{"x": 1}] * len(texts[part]),
            )
        with CopiedChromaRetriever(
            tmp_path, "large", _dest_collection_name="mine", _copy_batch_size=100_000, embedder=words
        ) as copy:
            assert len(copy) == 6_000
            assert copy.collection.name == "mine"
            assert len(copy.search("text 5", 5_900)["ids"][0]) == 5_900


def temporary_folders() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("amem-copy-*"))


def test_a_copy_is_removed_on_close_and_with_the_object(
    tmp_path: Path, words: Embedder, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    filled(tmp_path / "source", words)
    copy = CopiedChromaRetriever(tmp_path / "source", "shared", embedder=words)
    assert len(temporary_folders()) == 1
    copy.close()
    copy.close()
    assert temporary_folders() == set()
    copy = CopiedChromaRetriever(tmp_path / "source", "shared", embedder=words)
    del copy
    gc.collect()
    assert temporary_folders() == set()


@pytest.mark.thorough
def test_a_copy_is_removed_when_the_process_ends(tmp_path: Path, words: Embedder):
    filled(tmp_path / "source", words)
    code = """
        import json, sys, tempfile
        sys.path.insert(0, sys.argv[1])
        tempfile.tempdir = sys.argv[2]
        from word_embedder import WordEmbedder
        from pathlib import Path
        from amem.retrievers import CopiedChromaRetriever
        copy = CopiedChromaRetriever(sys.argv[2] + "/source", "shared", embedder=WordEmbedder())
        print(json.dumps([len(copy), len(list(Path(sys.argv[2]).glob("amem-copy-*")))]))
    """
    arguments = [sys.executable, "-c", textwrap.dedent(code), str(Path(__file__).parent), str(tmp_path)]
    answer = subprocess.run(arguments, check=True, capture_output=True, text=True)
    assert json.loads(answer.stdout) == [3, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


@pytest.mark.parametrize("there", [False, True])
def test_a_copy_of_nothing_is_refused_and_leaves_nothing(
    tmp_path: Path, words: Embedder, monkeypatch: pytest.MonkeyPatch, there: bool
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if there:
        filled(tmp_path / "source", words)
    with pytest.raises(CollectionNotFound, match="no collection 'other'"):
        CopiedChromaRetriever(tmp_path / "source", "other", embedder=words)
    assert (tmp_path / "source").exists() == there
    assert temporary_folders() == set()
