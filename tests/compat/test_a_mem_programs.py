"""Programs written for the original A-Mem, run after changing their import from ``agentic_memory`` to ``amem``.

Nothing here is handed a test double where such a program would not: the embedding model is the real one, and where a
model server is named, none is there.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from amem.llm_controller import LLMController
from amem.memory_system import AgenticMemorySystem, MemoryNote
from amem.retrievers import ChromaRetriever, CopiedChromaRetriever, PersistentChromaRetriever

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def memory_system() -> Iterator[AgenticMemorySystem]:
    """What A-Mem's README makes, without a key in the environment and without a server anywhere."""
    system = AgenticMemorySystem(model_name="all-MiniLM-L6-v2", llm_backend="openai", llm_model="gpt-4o-mini")
    yield system
    system.close()


def test_notes_are_kept_when_the_model_has_no_key_and_the_receipt_says_why(memory_system: AgenticMemorySystem):
    id = memory_system.add_note("Deep learning neural networks")
    note = memory_system.read(id)
    assert note is not None
    assert note.content == "Deep learning neural networks"
    # The offline rules have filled in what the model could not.
    assert note.keywords
    assert note.tags
    assert note.context
    receipt = memory_system.add("Neural network architectures")
    assert receipt.stored
    assert receipt.enrichment == "degraded"
    assert receipt.error is not None
    assert "openai/gpt-4o-mini" in receipt.error
    assert memory_system.search("architectures of neural networks", k=1)[0]["id"] == receipt.id
    report = memory_system.enrich()
    assert (report.done, report.failed, report.remaining) == (0, 2, 2)
    assert len(memory_system.memories) == 2


def test_a_note_with_all_its_attributes_is_stored_and_read_back(memory_system: AgenticMemorySystem):
    first = memory_system.add_note("Memory 1 for linking")
    second = memory_system.add_note("A second one, on gardening")
    for links in ([first, second], [second, first]):
        id = memory_system.add_note(
            content=f"Quarterly report, starting from {links[0]}",
            tags=["work", "finance"],
            keywords=["report", "quarter"],
            links=links,
            context="Finance review",
            category="Reports",
            timestamp="202403021022",
        )
        note = memory_system.read(id)
        assert note is not None
        assert (note.tags, note.keywords) == (["work", "finance"], ["report", "quarter"])
        assert (note.context, note.category, note.timestamp) == ("Finance review", "Reports", "202403021022")
        assert note.links[:2] == links
        assert isinstance(note.id, str)


def test_what_another_program_had_counted_is_taken_over(memory_system: AgenticMemorySystem):
    id = memory_system.add_note(
        "An old memory from elsewhere",
        time="202401010800",
        retrieval_count=7,
        last_accessed="202402020900",
        evolution_history=["first seen", "retagged"],
    )
    note = memory_system.read(id)
    assert note is not None
    assert note.retrieval_count == 7
    assert note.last_accessed.startswith("2024-02-0")
    assert note.metadata["evolution_history"] == ["first seen", "retagged"]
    memory_system.search("An old memory from elsewhere")
    again = memory_system.read(id)
    assert again is not None
    assert again.retrieval_count == 8


def test_search_results_are_read_like_dictionaries(memory_system: AgenticMemorySystem):
    memory_system.add_note("Python is used for data science", tags=["python"], time="202403021022")
    memory_system.add_note("Machine learning with Python and numpy")
    for results in (memory_system.search("Python data", k=2), memory_system.search_agentic("Python data", k=2)):
        assert len(results) == 2
        for result in results:
            assert isinstance(result, Mapping)
            line = f"{result['id']} {result['content']} {result['context']} {result['timestamp']} {result['category']}"
            assert line
            assert isinstance(result["tags"], list)
            assert isinstance(result["keywords"], list)
            assert isinstance(result["score"], float)
            assert result.get("is_neighbor") in (True, False)
            assert result.get("nothing_of_the_kind", "default") == "default"
            assert dict(result)["content"] == result["content"]
            json.dumps(dict(result))
        assert results[0]["content"] == "Python is used for data science"
        assert results[0]["timestamp"] == "202403021022"
    assert [result["id"] for result in memory_system.search("Python")] == [
        result["id"] for result in memory_system.search("Python", 5)
    ]


def test_update_and_delete_answer_true_and_false(memory_system: AgenticMemorySystem):
    id = memory_system.add_note("Initial content")
    assert (
        memory_system.update(id, content="Updated content on whales", tags=["updated"], context="New context") is True
    )
    (result,) = memory_system.search_agentic("whales", k=1)
    assert (result["content"], result["tags"], result["context"]) == (
        "Updated content on whales",
        ["updated"],
        "New context",
    )
    assert memory_system.update("nobody", content="x") is False
    assert memory_system.delete(id) is True
    assert memory_system.delete(id) is False
    assert memory_system.read(id) is None
    assert memory_system.search_agentic("Updated content on whales", k=1) == []


def test_memories_is_a_live_mapping_of_ids_to_notes(memory_system: AgenticMemorySystem):
    memories = memory_system.memories
    assert len(memories) == 0
    ids = [memory_system.add_note(text) for text in ("First memory", "Second thing", "Third matter")]
    assert list(memories) == ids
    assert ids[0] in memories
    assert "nobody" not in memories
    assert memories.get("nobody") is None
    with pytest.raises(KeyError):
        memories["nobody"]
    assert {id: note.content for id, note in memories.items()}[ids[1]] == "Second thing"
    assert all(isinstance(note, MemoryNote) for note in memories.values())
    memory_system.delete(ids[1])
    assert list(memories) == [ids[0], ids[2]]


def test_links_are_edited_through_the_note_and_update(memory_system: AgenticMemorySystem):
    one, two, three = (memory_system.add_note(text) for text in ("First memory", "Second thing", "Third matter"))
    note = memory_system.read(two)
    assert note is not None
    note.links.append(one)
    note.links.append(three)
    memory_system.update(two, links=note.links)
    read = memory_system.read(two)
    assert read is not None
    assert set(read.links) >= {one, three}
    results = memory_system.search_agentic("Second thing", k=3)
    assert {result["id"] for result in results} == {one, two, three}


def test_the_retriever_answers_in_chromas_nested_lists(memory_system: AgenticMemorySystem):
    ids = [memory_system.add_note(text) for text in ("Cats are fluffy animals", "Deep learning uses neural networks")]
    found = memory_system.retriever.search("kittens", 5)
    assert found["ids"] == [ids]
    assert found["documents"][0][0] == "Cats are fluffy animals"
    assert found["distances"][0] == sorted(found["distances"][0])
    assert found["metadatas"][0][0]["tags"] == memory_system.memories[ids[0]].tags
    assert len(memory_system.retriever.search("kittens", 1)["ids"][0]) == 1


def test_related_memories_come_as_text_for_a_prompt_and_ids(memory_system: AgenticMemorySystem):
    assert memory_system.find_related_memories("Python") == ("", [])
    id = memory_system.add_note("Python programming language", time="202403021022")
    memory_system.add_note("Web development with JavaScript")
    text, ids = memory_system.find_related_memories("Python", k=1)
    assert ids == [id]
    assert "memory content:Python programming language" in text
    assert "talk start time:202403021022" in text
    raw = memory_system.find_related_memories_raw("Python", k=2)
    assert isinstance(raw, str)
    assert "Python programming language" in raw


def test_process_memory_tells_whether_it_evolved_and_gives_the_note(memory_system: AgenticMemorySystem):
    id = memory_system.add_note("Training deep neural networks")
    note = memory_system.read(id)
    assert note is not None
    evolved, processed = memory_system.process_memory(note)
    assert evolved in (True, False)
    assert isinstance(processed, MemoryNote)
    assert (processed.id, processed.content) == (id, note.content)

    _, fresh = memory_system.process_memory(MemoryNote(content="A note that was never added", tags=["new"]))
    assert memory_system.memories[fresh.id].tags == ["new"]


def test_evolutions_are_counted_and_consolidation_can_be_asked_for(memory_system: AgenticMemorySystem):
    assert memory_system.evo_cnt == 0
    assert memory_system.evo_threshold == 100
    for text in ("Ana trains for the Lisbon marathon", "Ana ran 30 km for the Lisbon marathon", "Ana finished Lisbon"):
        memory_system.add_note(text)
    assert 0 <= memory_system.evo_cnt <= 3
    memory_system.consolidate_memories()
    for note in memory_system.memories.values():
        assert memory_system.search_agentic(note.content, k=1)[0]["content"] == note.content


def test_analyze_content_gives_the_papers_three_fields():
    with AgenticMemorySystem(llm_backend="offline") as system:
        analysis = system.analyze_content("We deploy the Python service with Docker")
    assert analysis["keywords"]
    assert analysis["context"]
    assert analysis["tags"]


def test_attributes_of_the_original_exist(memory_system: AgenticMemorySystem):
    assert memory_system.model_name == "all-MiniLM-L6-v2"
    assert isinstance(memory_system.llm_controller, LLMController)
    assert memory_system.llm_controller.llm is not None
    positional = AgenticMemorySystem("all-MiniLM-L6-v2", "openai", "gpt-4o-mini", 5, "sk-not-a-key")
    assert positional.evo_threshold == 5
    assert "sk-not-a-key" not in repr(positional.settings)
    positional.close()


def test_a_memory_note_is_made_from_its_content_alone():
    note = MemoryNote("Test content")
    assert note.content == "Test content"
    assert (note.links, note.tags, note.keywords, note.retrieval_count) == ([], [], [], 0)
    assert len(note.id) > 8
    assert note.id != MemoryNote("Test content").id
    note.links = ["memory1", "memory2"]
    assert MemoryNote(content="c", id="mine", keywords=["k"], tags=["t"], category="C", context="x").id == "mine"


def test_the_retrievers_work_alone_and_together(tmp_path: Path):
    plain = ChromaRetriever(collection_name="program", model_name="all-MiniLM-L6-v2")
    plain.add_document("Cats are fluffy animals", {"tags": ["pets"], "count": 42, "version": "42"}, "doc1")
    plain.add_document("Deep learning uses neural networks", {"tags": ["ml"], "count": 1, "version": "1"}, "doc2")
    found = plain.search("kittens", k=1)
    assert found["ids"] == [["doc1"]]
    assert found["metadatas"][0][0]["version"] == "42"
    assert found["metadatas"][0][0]["count"] == 42
    plain.delete_document("doc1")
    assert plain.search("kittens", k=5)["ids"] == [["doc2"]]

    persistent = PersistentChromaRetriever(
        directory=str(tmp_path / "chroma"), collection_name="program", model_name="all-MiniLM-L6-v2"
    )
    persistent.add_document("Cats are fluffy animals", {"tags": ["pets"]}, "doc1")
    with pytest.raises(ValueError, match="program"):
        PersistentChromaRetriever(directory=str(tmp_path / "chroma"), collection_name="program", extend=False)
    with CopiedChromaRetriever(
        directory=str(tmp_path / "chroma"), collection_name="program", model_name="all-MiniLM-L6-v2"
    ) as copied:
        copied.add_document("Dogs bark at night", {"tags": ["pets"]}, "doc2")
        assert len(copied.search("animals at night", k=5)["ids"][0]) == 2
    assert persistent.search("animals at night", k=5)["ids"] == [["doc1"]]


def test_a_whole_program_runs_with_nothing_but_its_import_changed(tmp_path: Path):
    program = textwrap.dedent(
        """
        from agentic_memory.memory_system import AgenticMemorySystem
        from datetime import datetime

        memory_system = AgenticMemorySystem(
            model_name='all-MiniLM-L6-v2', llm_backend="openai", llm_model="gpt-4o-mini")
        memory_id = memory_system.add_note("The deployment script lives in tools/deploy.sh")
        memory_id2 = memory_system.add_note(
            content="Deployments happen on Thursdays", tags=["ops"], category="Work",
            timestamp=datetime(2024, 3, 2, 10, 22).strftime("%Y%m%d%H%M"))
        memory = memory_system.read(memory_id)
        print(f"Content: {memory.content}")
        print(f"Tags: {memory.tags} Context: {memory.context} Keywords: {memory.keywords}")
        for result in memory_system.search_agentic("deployment", k=5):
            print(f"ID: {result['id']} Content: {result['content']} Tags: {result['tags']}")
        memory_system.update(memory_id, content="The deployment script moved to ci/deploy.sh")
        memory_system.delete(memory_id2)
        print(len(memory_system.memories), memory_system.read(memory_id).content)
        """
    )
    ported = re.sub(r"\bagentic_memory\b", "amem", program)
    done = subprocess.run([sys.executable, "-c", ported], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Content: The deployment script lives in tools/deploy.sh" in done.stdout
    assert done.stdout.endswith("1 The deployment script moved to ci/deploy.sh\n")
    assert list(tmp_path.iterdir()) == []
