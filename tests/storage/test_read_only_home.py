"""A home on a disk that nobody may write to, with the log of a process that was killed: all that was saved is read."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from storing import put

from amem import AgenticMemorySystem
from amem.errors import StorageReadOnly
from amem.settings import load_settings
from amem.storage.store import Store
from amem.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.testing import FrozenClock

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files that bind their owner")
_NOBODY = 65534


@contextmanager
def nobody_in_particular() -> Iterator[None]:
    """As a user whom modes of files bind: whoever is root becomes nobody for as long as the block lasts."""
    if os.geteuid() != 0:
        yield
        return
    groups = os.getgroups()
    os.setgroups([])
    os.setresuid(_NOBODY, _NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setgroups(groups)


@pytest.fixture
def home(folder: Path, clock: FrozenClock, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A home that was copied while its log held the newest note, and locked; with which files is the parameter."""
    kept: tuple[str, ...] = request.param
    with (
        TemporaryDirectory(prefix="locked-", dir="/tmp") as place,
        closing(Store(folder, clock)) as store,
    ):
        with store.write() as session:
            put(session, "Tea.", id="tea")
        with closing(sqlite3.connect(folder / "amem.db")) as raw:
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with store.write() as session:
            put(session, "Rye.", id="rye")
        assert (folder / "amem.db-wal").stat().st_size > 0
        collection = Path(place) / "memories"
        collection.mkdir()
        for end in kept:
            shutil.copyfile(folder / f"amem.db{end}", collection / f"amem.db{end}")
        for path in (*collection.iterdir(), collection, Path(place)):
            path.chmod(0o444 if path.is_file() else 0o555)
        try:
            yield Path(place)
        finally:
            for path in (Path(place), collection):
                path.chmod(0o755)


WITH_LOG = [("", "-wal"), ("", "-wal", "-shm")]


def names(home: Path) -> list[str]:
    return sorted(each.name for each in (home / "memories").iterdir())


@pytest.mark.parametrize("home", WITH_LOG, indirect=True)
def test_what_only_the_log_holds_is_read_and_nothing_is_left_beside_it(home: Path, clock: FrozenClock) -> None:
    before = names(home)
    with nobody_in_particular():
        with pytest.raises(PermissionError):
            (home / "memories" / "new").touch()  # or this test would show nothing
        with closing(Store(home / "memories", clock)) as store:
            assert store.read_only
            with store.read() as session:
                assert session.notes.ids() == ["tea", "rye"]
            with pytest.raises(StorageReadOnly) as caught, store.write():
                pass
            assert "permissions" in caught.value.hint
            assert store.check() == []
    assert names(home) == before


@pytest.mark.parametrize("home", WITH_LOG, indirect=True)
def test_such_a_home_is_searched_and_listed(home: Path, clock: FrozenClock, tmp_path: Path) -> None:
    def found(directory: Path, *, create: bool) -> tuple[list[str], list[str]]:
        settings = load_settings(directory, llm_backend="offline", rerank="off", nli_model="")
        with AgenticMemorySystem(settings=settings, create=create, embedder=HashEmbedder(64), clock=clock) as memory:
            return [note.content for note in memory.list()], [hit.content for hit in memory.search("rye")]

    found(tmp_path / "other", create=True)  # whatever is imported on the way, nobody may not read it
    with nobody_in_particular():
        listed, hits = found(home, create=False)
    assert sorted(listed) == ["Rye.", "Tea."]
    assert hits[0] == "Rye."


@pytest.mark.parametrize("home", [("",)], indirect=True)
def test_without_a_log_the_file_itself_is_read(home: Path, clock: FrozenClock) -> None:
    with nobody_in_particular(), closing(Store(home / "memories", clock)) as store, store.read() as session:
        assert session.notes.get("tea") is not None
    assert names(home) == ["amem.db"]
