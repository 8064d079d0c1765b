"""Opening collections: nothing heavy is imported, a read-only home is readable, damage and strangers are told apart."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from amem import load_settings
from amem.errors import InvalidInput, SchemaTooNew, StorageCorrupt, StorageError, StorageReadOnly
from amem.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]

HEAVY = ("chromadb", "torch", "sentence_transformers", "litellm", "textual", "nltk", "mcp")


def loaded_by(program: str, cwd: Path) -> set[str]:
    """Which of the heavy modules a program has loaded in the end."""
    code = (
        textwrap.dedent(program) + f"\nimport json, sys\nprint(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=cwd, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_amem_loads_none_of_the_heavy_modules(tmp_path: Path):
    assert loaded_by("import amem", tmp_path) == set()


def test_naming_everything_public_loads_none_of_them_either(tmp_path: Path):
    program = """
        import amem
        from amem.errors import AmemError
        for name in amem.__all__:
            getattr(amem, name)
        """
    assert loaded_by(program, tmp_path) == set()


def test_a_day_of_everyday_use_loads_none_of_them(tmp_path: Path):
    program = f"""
        from amem import AgenticMemorySystem
        with AgenticMemorySystem(directory={str(tmp_path / "home")!r}, llm_backend="offline") as memory:
            id = memory.add_note("Mara moved to Lisbon in May")
            memory.add_note("Mara found a flat in Lisbon")
            assert memory.search_agentic("where does Mara live?")
            memory.update(id, tags=["moving"])
            memory.undo()
            memory.doctor()
        """
    assert loaded_by(program, tmp_path) == set()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_a_home_that_cannot_be_written_is_read_and_searched(open_memory: Open, home: Path):
    _read_only_home(open_memory, home)


def test_a_collection_known_to_be_read_only_is_read_and_searched(
    open_memory: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    """As above, also for the superuser: the system's answer to "may I write?" is no."""
    monkeypatch.setattr("amem.storage.database.os.access", lambda path, mode: mode != os.W_OK)
    _read_only_home(open_memory, home, monkeypatch)


def _read_only_home(open_memory: Open, home: Path, monkeypatch: pytest.MonkeyPatch | None = None) -> None:
    if monkeypatch is not None:
        with monkeypatch.context() as allowed:
            allowed.setattr("amem.storage.database.os.access", lambda path, mode: True)
            writer = open_memory()
            id = writer.add_note("the heron stands in the pond")
            writer.close()
    else:
        writer = open_memory()
        id = writer.add_note("the heron stands in the pond")
        writer.close()
        for path in (*home.rglob("*"), home):
            path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
        memory = open_memory()
        assert memory.read_only
        assert memory.memories[id].content == "the heron stands in the pond"
        for leg in ("dense", "lexical"):
            assert [hit.id for hit in memory.ask(Query("heron pond", legs=(leg,)))] == [id]
        assert memory.memories[id].retrieval_count == 0
        assert memory.history(id)
        assert any("read-only" in finding.what for finding in memory.doctor())
        for refused in (
            lambda: memory.add("another"),
            lambda: memory.update(id, category="x"),
            lambda: memory.delete(id),
            lambda: memory.purge(id),
            lambda: memory.undo(),
            lambda: memory.enrich(),
            lambda: memory.reindex(),
        ):
            with pytest.raises(StorageReadOnly) as raised:
                refused()
            assert raised.value.hint
        memory.close()
        assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before
    finally:
        for path in (home, *home.rglob("*")):
            path.chmod(0o700)


def test_files_are_the_owners_alone(open_memory: Open, home: Path):
    memory = open_memory()
    memory.add_note("private matter")
    memory.search("matter")
    for path in (home / "memories", *(home / "memories").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_file_that_is_no_collection_is_said_to_be_damaged_and_left_alone(open_memory: Open, home: Path):
    (home / "memories").mkdir(parents=True)
    database = home / "memories" / "amem.db"
    database.write_bytes(b"this is a text file\n" * 500)
    before = database.read_bytes()
    with pytest.raises(StorageCorrupt) as raised:
        open_memory()
    assert "amem backup --restore" in raised.value.hint
    assert database.read_bytes() == before


def test_a_page_that_was_overwritten_is_found_by_doctor_or_refused(open_memory: Open, home: Path):
    memory = open_memory()
    memory.add_notes([f"note {number} " + "with some length to it " * 40 for number in range(60)])
    memory.close()
    database = home / "memories" / "amem.db"
    data = bytearray(database.read_bytes())
    for page in range(20, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 512] = b"\xa5" * 512
    database.write_bytes(data)
    with pytest.raises(StorageError) as raised:  # noqa: PT012  # either may notice first
        damaged = open_memory()
        errors = [finding for finding in damaged.doctor() if finding.level == "error"]
        assert errors
        raise StorageCorrupt(errors[0].what)
    assert str(raised.value)


def test_a_collection_of_a_newer_amem_is_refused(open_memory: Open, home: Path):
    open_memory().close()
    with sqlite3.connect(home / "memories" / "amem.db") as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(SchemaTooNew, match="999") as raised:
        open_memory()
    assert raised.value.hint == "upgrade amem"


@pytest.mark.parametrize("name", ["../elsewhere", "a/b", "..", ".", "", " ", "con\\aux", "-x", "new\nline", "x" * 101])
def test_a_collection_name_cannot_lead_out_of_the_home(open_memory: Open, home: Path, name: str):
    with pytest.raises(InvalidInput):
        open_memory(collection=name)
    assert not home.exists() or list(home.iterdir()) == []


@pytest.mark.parametrize("name", ["memories", "工作", "a.b-c_d", "2026", "Grüße"])
def test_collection_names_in_any_script(open_memory: Open, home: Path, name: str):
    memory = open_memory(collection=name)
    memory.add_note("something to keep")
    assert memory.collections() == [name]
    assert (home / name / "amem.db").is_file()


def test_a_home_that_is_a_file_is_one_clear_error(open_memory: Open, tmp_path: Path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError) as raised:
        open_memory(directory=tmp_path / "file")
    assert raised.value.hint


def test_a_program_names_its_model_as_before_and_settings_are_checked(home: Path, open_memory: Open):
    with pytest.raises(InvalidInput, match="evo_threshold"):
        open_memory(evo_threshold=0)
    with pytest.raises(InvalidInput, match="llm_backend"):
        open_memory(llm_backend="telepathy")
    with pytest.raises(InvalidInput):
        open_memory(settings=load_settings(home), evo_threshold=-1)
    assert open_memory(settings=load_settings(home), evo_threshold=7).evo_threshold == 7
