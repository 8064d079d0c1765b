"""A collection's notes in Chroma: read by plain chromadb, kept in step by one process, rebuilt when broken."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from amem import AgenticMemorySystem
from amem.errors import InvalidInput, StorageError
from amem.index import chroma_base
from amem.index.chroma import ChromaIndex, close_client
from amem.retrievers import ChromaRetriever
from amem.settings import Settings
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.protocols import Embedder

PROGRAM = """
    import sys
    from amem import AgenticMemorySystem
    from amem.settings import Settings
    from amem.testing import HashEmbedder, ScriptedAnalyst
    settings = Settings(home=sys.argv[1], dense_base=sys.argv[2], timezone="UTC", llm_backend="offline")
    memory = AgenticMemorySystem(settings=settings, embedder=HashEmbedder(64), analyst=ScriptedAnalyst())
"""


def opened(home: Path, base: Any = "auto") -> AgenticMemorySystem:
    settings = Settings(home=home, dense_base=base, timezone="UTC", llm_backend="offline")
    return AgenticMemorySystem(settings=settings, embedder=HashEmbedder(64), analyst=ScriptedAnalyst())


def in_chroma(home: Path, collection: str = "memories") -> dict[str, tuple[str, dict[str, Any]]]:
    """Id to (text, metadata), as any program reads them."""
    import chromadb

    client = chromadb.PersistentClient(home / collection / "chroma")
    try:
        found = client.get_collection("memories").get(include=["documents", "metadatas"])
    finally:
        close_client(client)
    assert found["documents"] is not None
    assert found["metadatas"] is not None
    return {
        id: (text, dict(metadata))
        for id, text, metadata in zip(found["ids"], found["documents"], found["metadatas"], strict=True)
    }


def program(home: Path, code: str, base: str = "exact") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM) + textwrap.dedent(code), str(home), base]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def finding(memory: AgenticMemorySystem, *, repair: bool = False) -> tuple[str, str]:
    (found,) = [each for each in memory.doctor(repair=repair) if each.about == "chroma"]
    return found.level, found.what


def test_plain_chromadb_reads_what_a_program_wrote_and_every_later_change(tmp_path: Path):
    with opened(tmp_path) as memory:
        first = memory.add_note("Ana paints boats", tags=["art", "sea"], keywords=["boats"], context="a hobby")
        gone = memory.add_note("this one goes")
        old = memory.add_note("Ana lives in Porto", time="2026-01-05T10:00")
        assert memory.feed_chroma(60)
    assert set(in_chroma(tmp_path)) == {first, gone, old}
    text, metadata = in_chroma(tmp_path)[first]
    assert text == "Ana paints boats"
    assert metadata["tags"][:2] == ["art", "sea"]
    assert (metadata["keywords"], metadata["context"]) == (["boats"], "a hobby")
    assert in_chroma(tmp_path)[old][1]["time"] == "2026-01-05T10:00:00+00:00"

    with opened(tmp_path) as memory:
        memory.delete(gone)
        new = memory.add_note("Ana lives in Lisbon")
        memory.supersede(old, new)
        memory.update(first, content="Ana paints trains", tags=["rails"], context="")
    found = in_chroma(tmp_path)
    assert set(found) == {first, old, new}
    assert found[first][0] == "Ana paints trains"
    assert found[first][1]["tags"] == ["rails"]
    assert "context" not in found[first][1]
    assert (found[old][1]["status"], found[old][1]["superseded_by"]) == ("superseded", new)
    with opened(tmp_path, "exact") as memory:  # having been read by others is no damage
        assert finding(memory) == ("ok", "every note is in it")
        import chromadb

        client = chromadb.PersistentClient(tmp_path / "memories" / "chroma")
        asked = HashEmbedder(64).embed(["Ana paints trains"])
        (ids,) = client.get_collection("memories").query(query_embeddings=asked, n_results=1)["ids"]
        close_client(client)
    assert ids == [first]
    assert not list((tmp_path / "memories").glob("chroma.broken-*"))


def test_the_program_of_the_documentation_reads_a_collection_offline(
    tmp_path: Path, minilm: Embedder, model_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path, collection="demo", dense_base="auto", timezone="UTC")
    with AgenticMemorySystem(settings=settings, embedder=minilm, analyst=ScriptedAnalyst()) as memory:
        memory.add_note("The bakery is closed on Mondays", tags=["food"])
        memory.add_note("I am allergic to shrimp", tags=["health"])
        memory.add_note("Ana paints boats", tags=["art"])
        assert memory.feed_chroma(60)
    page = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    (code,) = [each for each in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "import chromadb" in each]
    assert "/path/to/home" in code
    monkeypatch.setenv("AMEM_HOME", str(tmp_path))
    monkeypatch.setenv("AMEM_CACHE", str(model_cache))
    command = [sys.executable, "-c", code.replace("/path/to/home", str(tmp_path))]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    counted, found = ran.stdout.splitlines()
    assert counted == "3 ['I am allergic to shrimp']"
    assert found.startswith("[['I am allergic to shrimp', ")


def test_what_another_process_writes_meanwhile_arrives(tmp_path: Path):
    with opened(tmp_path) as memory:
        memory.add_note("the first note")
        assert memory.feed_chroma(60)
        with program(tmp_path, 'memory.add_notes(["from afar", "and once more"])\nmemory.close()') as other:
            assert other.wait(60) == 0
        until(lambda: len(memory.retriever) == 3)
        assert memory.retriever.search("from afar", 1)["documents"] == [["from afar"]]
        with program(
            tmp_path,
            """
            retriever = memory.retriever
            print(retriever.search("from afar", 1)["documents"])
            try:
                retriever.client
            except Exception as error:
                print(type(error).__name__, error)
            """,
            base="auto",
        ) as other:
            output, _ = other.communicate(timeout=60)
        assert output.splitlines()[0] == "[['from afar']]"
        assert "StorageError" in output
        assert "another process" in output
    assert len(in_chroma(tmp_path)) == 3


def test_closing_leaves_what_takes_longer_than_two_seconds_to_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def slow(self: ChromaIndex, *notes: Any) -> None:
        time.sleep(1)
        put(self, *notes)

    put = ChromaIndex.put_notes
    monkeypatch.setattr(ChromaIndex, "put_notes", slow)
    monkeypatch.setattr(chroma_base, "BATCH", 10)
    memory = opened(tmp_path)
    memory.add_notes([f"{number} herons on the river" for number in range(60)])
    began = time.monotonic()
    memory.close()
    assert time.monotonic() - began < 4
    monkeypatch.undo()
    with opened(tmp_path) as memory:
        assert memory.search("17 herons on the river", 1)[0]["content"] == "17 herons on the river"
        assert memory.feed_chroma(60)
    assert len(in_chroma(tmp_path)) == 60


@pytest.mark.parametrize("damage", ["truncated", "garbage"])
def test_a_broken_folder_is_found_by_doctor_and_rebuilt_while_searches_are_right(tmp_path: Path, damage: str):
    with opened(tmp_path) as memory:
        ids = memory.add_notes([f"heron {number} on the river" for number in range(30)])
        assert memory.feed_chroma(60)
    for path in (tmp_path / "memories" / "chroma").rglob("*"):
        if path.is_file() and path.name != "amem.json":
            size = path.stat().st_size
            if damage == "truncated":
                os.truncate(path, size // 2)
            else:
                path.write_bytes(np.random.default_rng(0).bytes(size))
    with opened(tmp_path, "exact") as memory:
        assert finding(memory) == ("warning", "its files are not as they were left")
    with opened(tmp_path) as memory:
        assert memory.search("heron 7 on the river", 1)[0]["content"] == "heron 7 on the river"
        assert finding(memory, repair=True) == ("ok", "in step, 30 notes")
        assert memory.search("heron 7 on the river", 1)[0]["content"] == "heron 7 on the river"
    assert set(in_chroma(tmp_path)) == {receipt.id for receipt in ids}
    assert len(list((tmp_path / "memories").glob("chroma.broken-*"))) == 1


@pytest.mark.thorough
def test_a_feeder_that_is_killed_costs_nothing_but_a_new_copy(tmp_path: Path):
    code = """
        import time
        print("open", flush=True)
        for start in range(0, 20_000, 500):
            memory.add_notes([f"note number {number} of many" for number in range(start, start + 500)])
            print(start, flush=True)
            time.sleep(30 if start == 1_000 else 0)  # Chroma is fed once writing has paused for ten seconds
    """
    with program(tmp_path, code, base="auto") as feeder:
        assert feeder.stdout is not None
        chroma = tmp_path / "memories" / "chroma" / "chroma.sqlite3"
        until(chroma.exists, 120)
        feeder.stdout.readline()
        feeder.send_signal(signal.SIGKILL)
    label = json.loads((chroma.parent / "amem.json").read_text())
    assert label["files"] is None
    with opened(tmp_path) as memory:
        assert memory.search("note number 17 of many", 1)[0]["content"] == "note number 17 of many"
        assert memory.feed_chroma(120)
        count = len(memory.memories)
        assert finding(memory, repair=True)[0] == "ok"
    assert len(in_chroma(tmp_path)) == count


def test_the_retriever_of_a_collection_in_memory_is_an_ephemeral_chroma_that_can_be_reset():
    with AgenticMemorySystem(embedder=HashEmbedder(64), analyst=ScriptedAnalyst()) as memory:
        assert isinstance(memory.retriever, ChromaRetriever)
        id = memory.add_note("Ana paints boats", tags=["art"])
        memory.add_note("the moon is far")
        assert memory.retriever.search("Ana paints boats", 1)["ids"] == [[id]]
        assert memory.retriever.collection.get(ids=[id])["documents"] == ["Ana paints boats"]
        memory.delete(id)
        assert memory.retriever.collection.count() == 1

        with ChromaRetriever(embedder=HashEmbedder(64)) as other:
            other.add_document("theirs", {}, "a")
            assert memory.retriever.client.reset()
            assert other.search("theirs")["ids"] == [["a"]]
            assert other.client.reset()
            assert len(other) == 0
        assert memory.retriever.search("the moon is far")["ids"] == [[]]
        assert memory.search("the moon is far")[0]["content"] == "the moon is far"
        memory.add_note("a note after the reset")
        assert memory.retriever.search("the moon is far")["documents"] == [["a note after the reset"]]
        memory.consolidate_memories()
        assert memory.retriever.search("the moon is far", 1)["documents"] == [["the moon is far"]]
        with pytest.raises(InvalidInput, match="no documents"):
            memory.retriever.add_document("x", {}, "y")


def test_a_reset_of_a_collection_on_disk_is_refused_and_says_what_to_do(tmp_path: Path):
    with opened(tmp_path) as memory:
        memory.add_note("Ana paints boats")
        client = memory.retriever.client
        assert client.get_collection("memories").count() == 1
        with pytest.raises(StorageError, match="SQLite") as refused:
            client.reset()
        assert "doctor --repair" in refused.value.hint
        assert len(memory.retriever) == 1


def test_a_collection_that_is_only_read_never_imports_chroma(tmp_path: Path):
    with opened(tmp_path) as memory:
        memory.add_note("Ana paints boats")
        assert memory.feed_chroma(60)
    code = """
        assert memory.search("boats")[0]["content"] == "Ana paints boats"
        import time; time.sleep(3)
        memory.close()
        assert "chromadb" not in sys.modules
    """
    with program(tmp_path, code, base="auto") as reader:
        assert reader.wait(60) == 0


def in_files(home: Path, text: str) -> list[str]:
    """The files of Chroma's that hold a text."""
    files = [path for path in (home / "memories").rglob("*") if path.is_file() and "chroma" in str(path)]
    return [path.name for path in files if text.encode() in path.read_bytes()]


def test_what_is_purged_is_in_no_file_of_chromas(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        kept, gone = memory.add_note("Ana paints boats"), memory.add_note("the number is seventysevenx")
        assert memory.feed_chroma(60)
        aside = tmp_path / "memories" / "chroma.broken-20260101T000000"
        aside.mkdir()
        (aside / "chroma.sqlite3").write_text("the number is seventysevenx")
        report = memory.purge(gone)
        assert report is not None
        assert report.owed == ""
        assert in_files(tmp_path, "seventysevenx") == []
        assert memory.feed_chroma(60)
    assert set(in_chroma(tmp_path)) == {kept}
    assert in_files(tmp_path, "seventysevenx") == []


def test_a_purge_waits_for_the_process_that_keeps_chroma_to_make_it_anew(tmp_path: Path) -> None:
    with opened(tmp_path, "exact") as memory:
        kept, gone = memory.add_note("Ana paints boats"), memory.add_note("the number is seventysevenx")
        keeper = program(tmp_path, "print(memory.feed_chroma(60), flush=True)\nimport time\ntime.sleep(600)", "chroma")
        try:
            assert keeper.stdout is not None
            assert keeper.stdout.readline() == "True\n"
            assert in_files(tmp_path, "seventysevenx") != []
            report = memory.purge(gone)
            assert report is not None
            assert report.owed == ""
            assert in_files(tmp_path, "seventysevenx") == []
        finally:
            keeper.kill()
            keeper.communicate()
        with opened(tmp_path) as other:
            assert other.feed_chroma(60)
    assert set(in_chroma(tmp_path)) == {kept}
