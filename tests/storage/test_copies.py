"""Copies and backups: whole while others write, checked, and never half there."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from storing import put

from amem.collection_folders import collection_names, existing_folder, restore_backup
from amem.errors import CollectionExists, CollectionNotFound, InvalidInput, SchemaTooNew, StorageCorrupt
from amem.storage import copies
from amem.storage.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from amem.testing import FrozenClock


@pytest.fixture
def store(folder: Path, clock: FrozenClock) -> Store:
    store = Store(folder, clock)
    with store.write() as session:
        for n in range(40):
            put(session, f"note {n}", id=f"n{n}")
    yield store
    store.close()


def ids(folder: Path, clock: FrozenClock) -> set[str]:
    with closing(Store(folder, clock)) as held, held.read() as session:
        return set(session.notes.ids())


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def test_a_copy_that_is_killed_leaves_no_collection_and_the_next_one_sweeps_what_it_left(
    store: Store, clock: FrozenClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setattr(copies.shutil, "rmtree", lambda *_, **__: None)  # a killed process cleans nothing up
    monkeypatch.setattr(copies, "row_counts", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.copy_to(home / "other")
    monkeypatch.undo()

    assert ".other.part" in names(home)
    assert "other" not in names(home)
    assert "other" not in collection_names(home)
    with pytest.raises(CollectionNotFound):
        existing_folder(home, "other")
    store.copy_to(home / "third")
    assert not [name for name in names(home) if name.endswith(".part")]
    assert ids(home / "third", clock) == {f"n{n}" for n in range(40)}


def test_a_copy_to_a_name_that_is_taken_changes_nothing(store: Store, clock: FrozenClock, tmp_path: Path) -> None:
    store.copy_to(tmp_path / "home" / "other")
    with store.write() as session:
        put(session, "later")
    with pytest.raises(CollectionExists):
        store.copy_to(tmp_path / "home" / "other")
    assert len(ids(tmp_path / "home" / "other", clock)) == 40


def test_a_backup_is_one_file_that_its_checksum_vouches_for(store: Store, tmp_path: Path) -> None:
    with store.read() as session:
        session.notes.count()
        with store.write() as writing:
            put(writing, "written while another reads")
        made = store.back_up(tmp_path / "kept.db")
    assert (made.path, made.notes, made.size) == (tmp_path / "kept.db", 41, (tmp_path / "kept.db").stat().st_size)
    assert names(tmp_path) >= {"kept.db", "kept.db.sha256"}
    assert not [name for name in names(tmp_path) if "-wal" in name or "-shm" in name or ".part" in name]
    assert made.sha256 == sha256((tmp_path / "kept.db").read_bytes()).hexdigest()
    if os.name == "posix":
        assert (tmp_path / "kept.db").stat().st_mode & 0o777 == 0o600
        subprocess.run(["sha256sum", "--check", "kept.db.sha256"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)


def test_a_backup_replaces_another_only_when_told_to(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "kept.db"
    first = store.back_up(file)
    with store.write() as session:
        put(session, "later")
    with pytest.raises(InvalidInput, match="already"):
        store.back_up(file)
    assert sha256(file.read_bytes()).hexdigest() == first.sha256
    assert store.back_up(file, replace=True).notes == 41
    assert (tmp_path / "kept.db.sha256").read_text() == f"{sha256(file.read_bytes()).hexdigest()}  kept.db\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows makes links for nobody")
def test_a_backup_is_written_through_no_link(store: Store, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "kept.db").symlink_to(tmp_path / "precious")
    with pytest.raises(InvalidInput, match="plain file"):
        store.back_up(tmp_path / "kept.db", replace=True)
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_backup_of_a_damaged_collection_is_refused_and_leaves_the_one_before(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "kept.db"
    first = store.back_up(file)
    database = store.folder / "amem.db"
    with closing(sqlite3.connect(database)) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'notes_at'").fetchone()
    with database.open("r+b") as stream:
        stream.seek((page - 1) * 4096 + 100)
        stream.write(b"\xff" * 3000)
    with pytest.raises(StorageCorrupt):
        store.back_up(file, replace=True)
    assert sha256(file.read_bytes()).hexdigest() == first.sha256


def test_a_backup_is_restored_as_a_collection(store: Store, clock: FrozenClock, tmp_path: Path) -> None:
    store.back_up(tmp_path / "kept.db")
    assert restore_backup(tmp_path / "kept.db", tmp_path / "elsewhere", "notes") == tmp_path / "elsewhere" / "notes"
    assert ids(tmp_path / "elsewhere" / "notes", clock) == {f"n{n}" for n in range(40)}


def test_restoring_over_a_collection_keeps_that_one_under_another_name(
    store: Store, clock: FrozenClock, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    store.back_up(tmp_path / "kept.db")
    with store.write() as session:
        put(session, "since the backup", id="late")
    with pytest.raises(CollectionExists) as caught:
        restore_backup(tmp_path / "kept.db", home, store.folder.name)
    assert "replace=True" in caught.value.hint
    store.close()

    restore_backup(tmp_path / "kept.db", home, store.folder.name, replace=True)

    (before,) = set(collection_names(home)) - {store.folder.name}
    assert before.startswith(f"{store.folder.name}.before-")
    assert "late" in ids(home / before, clock)
    assert "late" not in ids(store.folder, clock)


def test_a_database_with_the_log_that_a_crash_left_is_restored_with_what_the_log_holds(
    store: Store, clock: FrozenClock, tmp_path: Path
) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in ("amem.db", "amem.db-wal"):
        (crashed / name).write_bytes((store.folder / name).read_bytes())
    before = {each.name: each.read_bytes() for each in crashed.iterdir()}
    assert len(before["amem.db-wal"]) > 0
    restore_backup(crashed / "amem.db", tmp_path / "elsewhere", "notes")
    assert len(ids(tmp_path / "elsewhere" / "notes", clock)) == 40
    assert {each.name: each.read_bytes() for each in crashed.iterdir()} == before


@pytest.mark.parametrize("what", ["changed", "cut", "text", "other", "empty", "newer", "gone", "folder"])
def test_what_is_no_whole_backup_is_refused_and_makes_no_collection(store: Store, tmp_path: Path, what: str) -> None:
    file = tmp_path / "kept.db"
    store.back_up(file)
    if what == "changed":
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        file.write_bytes(data)
    else:
        (tmp_path / "kept.db.sha256").unlink()
    if what == "cut":
        file.write_bytes(file.read_bytes()[:50_000])
    elif what == "text":
        file.write_bytes(b"no database at all " * 500)
    elif what == "empty":
        file.write_bytes(b"")
    elif what == "newer":
        with closing(sqlite3.connect(file)) as raw:
            raw.execute("PRAGMA user_version = 999")
    elif what in ("other", "gone", "folder"):
        file.unlink()
    if what == "other":
        with closing(sqlite3.connect(file)) as raw:
            raw.execute("CREATE TABLE notes (id)")
    elif what == "folder":
        file.mkdir()
    with pytest.raises((InvalidInput, StorageCorrupt, SchemaTooNew)) as caught:
        restore_backup(file, tmp_path / "elsewhere", "notes")
    assert "kept.db" in str(caught.value) or what == "newer"
    assert not (tmp_path / "elsewhere" / "notes").exists()
    assert collection_names(tmp_path / "elsewhere") == []
