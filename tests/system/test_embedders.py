"""One collection, one embedder and recipe: refused otherwise, changed by reindex, and pending when it fails."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from amem import AgenticMemorySystem, load_settings
from amem.analysis import Analysis, Evolution, Rewrite
from amem.errors import EmbedderMismatch, MissingModel, ServiceUnavailable
from amem.query import Query
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amem.protocols import Embedder, Matrix

    Open = Callable[..., AgenticMemorySystem]


class Failing(HashEmbedder):
    """Fails while `error` is set, at every text or at that one alone; counts the texts it embedded."""

    def __init__(self, error: Exception | None = None, *, at: str | None = None) -> None:
        super().__init__(256)
        self.error = error
        self.at = at
        self.embedded = 0

    def embed(self, texts: Sequence[str]) -> Matrix:
        if self.error is not None and (self.at is None or self.at in texts):
            raise self.error
        self.embedded += len(texts)
        return super().embed(texts)


def finds(memory: AgenticMemorySystem, text: str, id: str) -> bool:
    hits = memory.ask(Query(text, 1, legs=("dense",), touch=False))
    return [hit.id for hit in hits] == [id]


def test_another_embedder_is_refused_with_both_names_and_the_command(open_memory: Open):
    memory = open_memory(embedder=HashEmbedder(256))
    id = memory.add_note("the heron stands in the pond")
    memory.close()
    other = open_memory(embedder=HashEmbedder(64))
    for refused in (
        lambda: other.search("heron"),
        lambda: other.add("another note"),
        lambda: other.update(id, content="changed"),
        lambda: other.search_batch(["heron"]),
        lambda: other.explain("heron", id),
        lambda: other.find_related_memories("heron"),
        lambda: other.retriever.search("heron"),
        lambda: other.consolidate_memories(),
    ):
        with pytest.raises(EmbedderMismatch) as raised:
            refused()
        assert "hash-256" in str(raised.value)
        assert "hash-64" in str(raised.value)
        assert "amem reindex" in raised.value.hint
    # What needs no vectors goes on, so that the notes can still be read and left.
    assert other.memories[id].content == "the heron stands in the pond"
    assert len(other.list()) == 1
    assert "error" in {finding.level for finding in other.doctor() if finding.about == "embedder"}


def test_what_another_embedder_cannot_finish_is_refused_before_anything_changes(open_memory: Open):
    """`undo` told of a mismatch after it had taken a note back; run again, it took back the next one."""
    memory = open_memory(embedder=HashEmbedder(256))
    first, second = memory.add_note("the heron stands in the pond"), memory.add_note("the tractor is in the barn")
    gone = memory.add_note("the kettle is on the stove")
    memory.update(first, content="the kingfisher stands in the pond")
    memory.delete(gone)
    memory.pin(second)
    undone = memory.undo().operation
    memory.close()
    other = open_memory(embedder=HashEmbedder(64))
    before = other.log(limit=100)
    for refused in (
        other.undo,
        other.redo,
        lambda: other.redo(undone),
        lambda: other.restore(gone),
        lambda: other.rollback(first, 1),
    ):
        with pytest.raises(EmbedderMismatch):
            refused()
    assert other.log(limit=100) == before
    assert other.memories[first].content == "the kingfisher stands in the pond"
    assert not other.memories[second].pinned
    assert other.read(gone) is None


def test_reindex_moves_the_collection_to_the_new_embedder(open_memory: Open):
    memory = open_memory(embedder=HashEmbedder(256))
    texts = [f"bird number {number} is a heron" for number in range(30)]
    ids = [receipt.id for receipt in memory.add_notes(texts)]
    gone = memory.add_note("deleted before the move")
    memory.delete(gone)
    memory.close()

    moved = open_memory(embedder=HashEmbedder(64))
    heard: list[tuple[int, int]] = []
    assert moved.reindex(progress=lambda done, total: heard.append((done, total))) == 30
    assert heard[-1] == (30, 30)
    assert all(finds(moved, text, id) for text, id in zip(texts, ids, strict=True))
    new = moved.add_note("a bird that came later")
    assert finds(moved, "a bird that came later", new)
    moved.restore(gone)
    assert finds(moved, "deleted before the move", gone)
    back = open_memory(embedder=HashEmbedder(256))
    with pytest.raises(EmbedderMismatch):
        back.search("heron")


@pytest.mark.parametrize("other", [64, 256])
def test_a_process_that_was_open_during_a_reindex_is_told(open_memory: Open, other: int):
    before = open_memory(embedder=HashEmbedder(256))
    before.add_note("the heron stands in the pond")
    assert before.search("heron")
    # Vectors of another model that are as long could be compared, and would mean nothing.
    open_memory(embedder=_Named(HashEmbedder(other))).reindex()
    for search in (before.search, before.retriever.search):
        with pytest.raises(EmbedderMismatch):
            search("heron")
    with pytest.raises(EmbedderMismatch):
        before.add("the heron is gone")
    assert len(before.memories) == 1


def test_search_and_writing_go_on_while_a_reindex_runs(open_memory: Open):
    class Slow(HashEmbedder):
        """Waits in the middle until it may go on."""

        name = "slow-64"  # type: ignore[assignment]

        def embed(self, texts: Sequence[str]) -> Matrix:
            reached.set()
            assert go_on.wait(30)
            return super().embed(texts)

    reached, go_on = threading.Event(), threading.Event()
    serving = open_memory(embedder=HashEmbedder(256))
    ids = [serving.add_note(f"bird number {number} is a heron") for number in range(5)]
    moving = open_memory(embedder=Slow(64))
    thread = threading.Thread(target=moving.reindex)
    thread.start()
    assert reached.wait(30)
    assert finds(serving, "bird number 3 is a heron", ids[3])
    late = serving.add_note("a note from the middle of the move")
    assert finds(serving, "a note from the middle of the move", late)
    serving.update(ids[0], content="bird number 0 is a crane")
    go_on.set()
    thread.join(30)
    assert finds(moving, "a note from the middle of the move", late)
    assert finds(moving, "bird number 0 is a crane", ids[0])
    assert moving.doctor()[0].level == "ok"


def test_a_reindex_that_fails_leaves_the_old_vectors_in_use(open_memory: Open):
    memory = open_memory(embedder=HashEmbedder(256))
    id = memory.add_note("the heron stands in the pond")
    broken = open_memory(embedder=_Named(Failing(ServiceUnavailable("the server went away"))))
    with pytest.raises(ServiceUnavailable):
        broken.reindex()
    assert finds(memory, "the heron stands in the pond", id)
    assert finds(open_memory(embedder=HashEmbedder(256)), "the heron stands in the pond", id)


class _Named:
    """An embedder under another name."""

    def __init__(self, embedder: Embedder, name: str = "another-model") -> None:
        self._embedder, self.name = embedder, name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> Matrix:
        return self._embedder.embed(texts)


def test_another_recipe_is_refused_and_reindexed_the_same_way(open_memory: Open, home: Path):
    plain = open_memory()
    id = plain.add_note("the heron stands in the pond", tags=["ornithology"], keywords=["wader"], context="At dawn.")
    paper = open_memory(settings=load_settings(home, embed_recipe="paper"))
    with pytest.raises(EmbedderMismatch, match="paper"):
        paper.search("heron")
    paper.reindex()
    assert finds(paper, "the heron stands in the pond At dawn. wader ornithology", id)
    (hit,) = paper.ask(Query("ornithology wader", 1, legs=("dense",)))
    assert hit.explanation.legs[0].raw > 0.2


def test_with_the_papers_recipe_every_change_of_tags_or_context_reaches_the_vector(open_memory: Open, home: Path):
    evolving = Evolution(rewrites=(Rewrite("n1", None, ("ornithology",), "x", 0.95),), tags=("evolved",))
    memory = open_memory(
        settings=load_settings(home, embed_recipe="paper"),
        analyst=ScriptedAnalyst(Analysis(context="c"), [evolving, *[Evolution()] * 9]),
    )
    first = memory.add_note("the heron stands in the pond")
    second = memory.add_note("the heron flies over the pond")
    # Seen by another process too, which has only what is stored.
    late = open_memory(settings=load_settings(home, embed_recipe="paper"))
    for each in (memory, late):
        assert finds(each, "the heron stands in the pond c  ornithology", first)
        assert finds(each, "the heron flies over the pond c  evolved", second)
    memory.update(first, tags=["waders"])
    assert finds(late, "the heron stands in the pond c  waders", first)
    memory.rename_tag("waders", "shorebirds")
    assert finds(late, "the heron stands in the pond c  shorebirds", first)
    memory.undo()
    assert finds(late, "the heron stands in the pond c  waders", first)
    assert all(finding.level == "ok" for finding in late.doctor() if finding.about == "vectors")


def test_a_note_is_kept_when_embedding_fails_and_enrich_finishes_it(open_memory: Open):
    embedder = Failing(ServiceUnavailable("the embedding server is down"))
    memory = open_memory(embedder=embedder)
    receipt = memory.add("the heron stands in the pond")
    assert receipt.stored
    assert receipt.enrichment != "done"
    assert "embedding server is down" in (receipt.error or "")
    assert [hit.id for hit in memory.ask(Query("heron", legs=("lexical",)))] == [receipt.id]
    embedder.error = None
    assert memory.enrich().done == 1
    assert memory.memories[receipt.id].enrichment == "done"
    assert finds(memory, "the heron stands in the pond", receipt.id)


def test_many_notes_are_kept_when_embedding_fails_in_the_middle(open_memory: Open, home: Path):
    embedder = Failing(ServiceUnavailable("gone"), at="bird 5")
    memory = open_memory(settings=load_settings(home, batch_size=4), embedder=embedder)
    receipts = memory.add_notes([f"bird {number}" for number in range(12)])
    assert len(receipts) == len(memory.memories) == 12
    assert [receipt.error is None for receipt in receipts] == [True] * 4 + [False] * 4 + [True] * 4
    embedder.error = None
    assert memory.enrich().done == 4
    late = open_memory(embedder=HashEmbedder(256))
    for each in (memory, late):
        assert all(finds(each, note.content, id) for id, note in memory.memories.items())


def test_a_model_that_is_not_installed_stores_nothing_and_says_what_to_do(open_memory: Open):
    error = MissingModel("all-MiniLM-L6-v2 is not on this machine", hint="amem setup fetches it")
    memory = open_memory(embedder=Failing(error))
    with pytest.raises(MissingModel):
        memory.add("the heron stands in the pond")
    assert len(memory.memories) == 0


def test_the_same_text_is_embedded_once(open_memory: Open):
    embedder = Failing()
    memory = open_memory(embedder=embedder)
    id = memory.add_note("the heron stands in the pond")
    memory.update(id, content="the heron flew away")
    memory.undo()
    memory.redo()
    memory.delete(id)
    memory.add_note("the heron flew away")
    assert embedder.embedded == 2


def test_a_vector_that_is_not_a_number_never_gets_in(open_memory: Open):
    class Broken(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Matrix:
            return np.full((len(texts), 64), np.nan, dtype=np.float32)

    memory = open_memory(embedder=Broken(64))
    receipt = memory.add("the heron stands in the pond")
    assert receipt.enrichment != "done"
    assert "embedding" in (receipt.error or "")
    assert [hit.id for hit in memory.ask(Query("heron", legs=("lexical",)))] == [receipt.id]
