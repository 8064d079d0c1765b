"""The dense leg on the real Chroma: the same answers as the exact scan, whatever happens to Chroma's folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest
from filelock import FileLock
from vector_feed import DIMENSION, MemoryFeed, clustered

from amem.index import ACTIVE, ARCHIVED, GONE, DenseLeg
from amem.index.chroma_folder import ChromaFolder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 1_500


@contextmanager
def on_chroma(feed: MemoryFeed, folder: Path) -> Iterator[DenseLeg]:
    leg = DenseLeg(feed, folder=folder, base="chroma", pause=0)
    try:
        yield leg
    finally:
        leg.close()


def agrees(leg: DenseLeg, feed: MemoryFeed, k: int = 10, questions: int = 30) -> bool:
    """Whether the leg answers as the exact scan does; HNSW may miss a few of the last ranks, and nothing else."""
    exact = DenseLeg(feed, folder=None)
    random = np.random.default_rng(7)
    stored = [vector for vector, state in feed.notes.values() if state == ACTIVE]
    missed = 0
    for at in random.integers(len(stored), size=questions):
        question = stored[at] + 0.02 * random.standard_normal(len(stored[at])).astype(np.float32)
        keys, cosines = leg.search(question, k)
        right, best = exact.search(question, k)
        if len(keys) != len(right) or keys[0] != right[0] or len(set(keys.tolist())) != len(keys):
            return False
        if cosines.tolist() != exact.cosines(question, keys).tolist() or np.any(cosines > best):
            return False
        if any(feed.notes[key][1] != ACTIVE for key in keys.tolist()):
            return False
        missed += len(set(right.tolist()) - set(keys.tolist()))
    return missed <= 0.03 * k * questions


def serving(leg: DenseLeg) -> bool:
    return leg.status()["base"] == "chroma"


def test_its_answers_are_the_exact_ones_after_adds_updates_and_deletes(feed: MemoryFeed, tmp_path: Path):
    vectors = clustered(COUNT)
    keys = feed.add(vectors)
    with on_chroma(feed, tmp_path) as leg:
        assert agrees(leg, feed)
        assert leg.wait_for_chroma(60), leg.status()
        assert serving(leg)
        assert agrees(leg, feed)

        feed.add(clustered(300, seed=1))
        for key, vector in zip(keys[:200], clustered(200, seed=2), strict=True):
            feed.replace(key, vector)
        feed.mark(keys[200:400], GONE)
        feed.mark(keys[400:600], ARCHIVED)
        feed.purge(keys[600])
        leg.refresh()
        assert agrees(leg, feed)

        assert leg.wait_for_chroma(60), leg.status()
        assert agrees(leg, feed)
        feed.mark(keys[200:300], ACTIVE)
        leg.refresh()
        assert agrees(leg, feed)
        assert leg.wait_for_chroma(60), leg.status()
        assert agrees(leg, feed)
        assert serving(leg)


def test_a_note_is_found_before_chroma_has_it(feed: MemoryFeed, tmp_path: Path):
    feed.add(clustered(COUNT))
    with on_chroma(feed, tmp_path) as leg:
        assert leg.wait_for_chroma(60), leg.status()
        for vector in clustered(20, seed=4):
            (key,) = feed.add(vector[None])
            leg.refresh()
            assert leg.search(vector, 1)[0].tolist() == [key]
            feed.mark([key], ARCHIVED)
            leg.refresh()
            assert leg.search(vector, 1)[0].tolist() != [key]
        assert serving(leg)


def test_hidden_notes_all_around_do_not_starve_the_answer(feed: MemoryFeed, tmp_path: Path):
    vectors = clustered(COUNT)
    keys = feed.add(vectors)
    with on_chroma(feed, tmp_path) as leg:
        assert leg.wait_for_chroma(60), leg.status()
        feed.mark([key for key in keys if key % 10], ARCHIVED)
        leg.refresh()
        assert agrees(leg, feed, k=10)
        assert agrees(leg, feed, k=200, questions=5)


def test_a_second_run_opens_what_the_first_one_left(feed: MemoryFeed, tmp_path: Path):
    keys = feed.add(clustered(COUNT))
    with on_chroma(feed, tmp_path) as leg:
        assert leg.wait_for_chroma(60), leg.status()
    label = json.loads((tmp_path / "chroma" / "amem.json").read_text())
    assert label["seq"] == feed.seq
    assert any(name.endswith("data_level0.bin") for name in label["files"])
    feed.replace(keys[1], clustered(1, seed=77)[0])
    feed.mark(keys[2:30], GONE)
    feed.add(clustered(40, seed=5))
    with on_chroma(feed, tmp_path) as leg:
        assert leg.wait_for_chroma(60), leg.status()
        assert agrees(leg, feed)
        assert serving(leg)
    assert list(tmp_path.glob("chroma.broken-*")) == []


def test_another_process_with_the_lock_means_an_exact_scan_and_no_complaint(
    feed: MemoryFeed, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    feed.add(clustered(COUNT))
    with FileLock(tmp_path / "chroma.lock"), on_chroma(feed, tmp_path) as leg:
        assert not leg.wait_for_chroma(30)
        assert agrees(leg, feed)
        assert "another process" in leg.status()["chroma"]
    assert caplog.text == ""
    assert not (tmp_path / "chroma").exists()


def test_two_legs_of_one_process_share_a_folder_without_harm(feed: MemoryFeed, tmp_path: Path):
    feed.add(clustered(COUNT))
    with on_chroma(feed, tmp_path) as first:
        assert first.wait_for_chroma(60), first.status()
        with on_chroma(feed, tmp_path) as second:
            assert not second.wait_for_chroma(30)
            assert agrees(first, feed)
            assert agrees(second, feed)
            assert serving(first)


def truncate(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "amem.json":
            os.truncate(path, path.stat().st_size // 2)


def garble(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "amem.json":
            path.write_bytes(np.random.default_rng(0).bytes(path.stat().st_size))


def lose_database(folder: Path) -> None:
    (folder / "chroma.sqlite3").unlink()


def lose_vectors(folder: Path) -> None:
    segments = [path for path in folder.iterdir() if path.is_dir()]
    assert segments
    for path in segments:
        shutil.rmtree(path)


def garble_label(folder: Path) -> None:
    (folder / "amem.json").write_text("{")


def one_bit(folder: Path) -> None:
    (path,) = folder.glob("*/data_level0.bin")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [truncate, garble, lose_database, lose_vectors, garble_label, one_bit])
def test_a_broken_folder_is_moved_aside_and_rebuilt_while_search_goes_on(
    feed: MemoryFeed, tmp_path: Path, damage, caplog: pytest.LogCaptureFixture
):
    feed.add(clustered(COUNT))
    with on_chroma(feed, tmp_path) as leg:
        assert leg.wait_for_chroma(60), leg.status()
    damage(tmp_path / "chroma")
    with on_chroma(feed, tmp_path) as leg:
        assert agrees(leg, feed)
        assert leg.wait_for_chroma(60), leg.status()
        assert serving(leg)
        assert agrees(leg, feed)
    assert len(list(tmp_path.glob("chroma.broken-*"))) == 1
    assert "moved aside" in caplog.text


def test_ids_that_outlived_their_vectors_are_noticed(feed: MemoryFeed, tmp_path: Path):
    feed.add(clustered(COUNT))
    with on_chroma(feed, tmp_path) as leg:
        assert leg.wait_for_chroma(60), leg.status()
    folder = ChromaFolder(tmp_path)
    folder.open(feed.name, DIMENSION)
    folder.close()
    lose_vectors(tmp_path / "chroma")
    folder.settle(feed.seq)
    with on_chroma(feed, tmp_path) as leg:
        assert leg.wait_for_chroma(60), leg.status()
        assert agrees(leg, feed)
    assert len(list(tmp_path.glob("chroma.broken-*"))) == 1


def test_only_the_newest_broken_folder_is_kept(feed: MemoryFeed, tmp_path: Path):
    feed.add(clustered(200))
    (tmp_path / "chroma.broken-20200101T000000").mkdir()
    (tmp_path / "chroma").mkdir()
    garble_label(tmp_path / "chroma")
    with on_chroma(feed, tmp_path) as leg:
        assert leg.wait_for_chroma(60), leg.status()
    (broken,) = tmp_path.glob("chroma.broken-*")
    assert "2020" not in broken.name


class PanicException(BaseException):
    """As pyo3 throws it: not an Exception."""


def test_a_panic_while_opening_is_survived(feed: MemoryFeed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import chromadb

    real, left = chromadb.PersistentClient, [2]

    def panicky(*args: object, **kwargs: object) -> object:
        left[0] -= 1
        if left[0] >= 0:
            raise PanicException("called `Option::unwrap()` on a `None` value")
        return real(*args, **kwargs)

    monkeypatch.setattr(chromadb, "PersistentClient", panicky)
    feed.add(clustered(COUNT))
    with on_chroma(feed, tmp_path) as leg:
        assert agrees(leg, feed)
        assert leg.wait_for_chroma(60), leg.status()
        assert agrees(leg, feed)


def test_a_folder_that_never_opens_is_given_up_and_search_goes_on(
    feed: MemoryFeed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import chromadb

    def broken(*args: object, **kwargs: object) -> object:
        raise PanicException("no")

    monkeypatch.setattr(chromadb, "PersistentClient", broken)
    feed.add(clustered(COUNT))
    with on_chroma(feed, tmp_path) as leg:
        assert not leg.wait_for_chroma(30)
        assert "given up" in leg.status()["chroma"]
        assert agrees(leg, feed)


def test_a_query_that_fails_is_answered_exactly_and_has_the_folder_rebuilt(
    feed: MemoryFeed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from amem.index.chroma import ChromaIndex

    feed.add(clustered(COUNT))
    with on_chroma(feed, tmp_path) as leg:
        assert leg.wait_for_chroma(60), leg.status()
        real = ChromaIndex.nearest

        def panicky(self: ChromaIndex, vector: object, k: int) -> object:
            monkeypatch.setattr(ChromaIndex, "nearest", real)
            raise PanicException("index out of bounds")

        monkeypatch.setattr(ChromaIndex, "nearest", panicky)
        assert agrees(leg, feed)
        assert leg.wait_for_chroma(60), leg.status()
        assert serving(leg)
        assert agrees(leg, feed)
    assert len(list(tmp_path.glob("chroma.broken-*"))) == 1


def test_a_reindexed_collection_is_rebuilt_in_chroma(feed: MemoryFeed, tmp_path: Path):
    keys = feed.add(clustered(COUNT))
    with on_chroma(feed, tmp_path) as leg:
        assert leg.wait_for_chroma(60), leg.status()
        other = clustered(COUNT, seed=8, dimension=48)
        feed.reindex("other 48", lambda key: other[keys.index(key)])
        leg.refresh()
        assert leg.search(other[5], 1)[0].tolist() == [keys[5]]
        assert leg.wait_for_chroma(60), leg.status()
        assert serving(leg)
        for at in range(0, COUNT, 300):
            assert leg.search(other[at], 10)[0].tolist() == feed.nearest(other[at], 10)


def test_rows_packed_meanwhile_are_fed_all_the_same(feed: MemoryFeed, tmp_path: Path):
    feed.add(clustered(3_000))
    with on_chroma(feed, tmp_path) as leg:
        for seed in range(1, 4):
            keys = feed.add(clustered(1_500, seed=seed))
            feed.mark(keys[:300], GONE)
            leg.refresh()
            leg.flush()
            assert agrees(leg, feed, questions=5)
        assert leg.wait_for_chroma(60), leg.status()
        assert serving(leg)
        assert agrees(leg, feed)


def test_readers_and_a_writer_do_not_disturb_each_other(feed: MemoryFeed, tmp_path: Path):
    feed.add(clustered(COUNT))
    wrong: list[str] = []
    stop = threading.Event()
    with on_chroma(feed, tmp_path) as leg:
        assert leg.wait_for_chroma(60), leg.status()

        def read() -> None:
            while not stop.is_set():
                for vector in clustered(5, seed=1):
                    if len(leg.search(vector, 10)[0]) != 10:
                        wrong.append("too few")

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        for vector in clustered(60, seed=3):
            (key,) = feed.add(vector[None])
            leg.refresh()
            if leg.search(vector, 1)[0].tolist() != [key]:
                wrong.append("not found at once")
        leg.flush()
        stop.set()
        for reader in readers:
            reader.join()
        assert agrees(leg, feed)
    assert wrong == []


def test_auto_feeds_chroma_from_the_first_note_and_asks_it_only_from_its_size_on(feed: MemoryFeed, tmp_path: Path):
    feed.add(clustered(400))
    leg = DenseLeg(feed, folder=tmp_path, chroma_from=500, pause=0)
    assert leg.wait_for_chroma(60), leg.status()
    assert not serving(leg)
    assert "400 notes" in leg.status()["chroma"]
    feed.add(clustered(200, seed=1))
    assert leg.wait_for_chroma(60), leg.status()
    assert serving(leg)
    leg.close()


@pytest.mark.parametrize(("seconds", "kept"), [(2.0, False), (60.0, True)])
def test_what_cannot_be_stored_in_time_at_closing_is_not_begun(
    feed: MemoryFeed, tmp_path: Path, seconds: float, kept: bool
):
    feed.add(clustered(COUNT))
    leg = DenseLeg(feed, folder=tmp_path)
    leg.refresh()
    leg.close(seconds)
    assert (tmp_path / "chroma").exists() is kept


def test_while_somebody_writes_for_long_chroma_is_fed_only_where_it_is_asked_for(feed: MemoryFeed, tmp_path: Path):
    import chromadb  # noqa: F401  # which the thread would wait for

    feed.add(clustered(COUNT))
    with on_chroma(feed, tmp_path) as leg, leg.fed_later():
        leg.refresh()
        time.sleep(1.5)
        assert not (tmp_path / "chroma").exists()
        assert leg.wait_for_chroma(60), leg.status()


def test_an_exact_base_never_imports_chroma(tmp_path: Path):
    code = """
        import sys
        import numpy as np
        from amem.index import DenseLeg, VectorDelta
        class Feed:
            def counter(self): return 1
            def delta(self, after):
                keys = np.arange(2000)
                return VectorDelta(1, "s", keys, np.zeros(2000, np.uint8), keys, np.eye(2000, 8, dtype=np.float32))
        leg = DenseLeg(Feed(), folder=__import__("pathlib").Path(sys.argv[1]), base="exact", chroma_from=1)
        assert len(leg.search(np.ones(8), 3)[0]) == 3
        leg.close()
        assert not {"chromadb", "filelock"} & set(sys.modules)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], check=True)
    assert not (tmp_path / "chroma").exists()


FEEDING = """
    import sys, pathlib
    sys.path.insert(0, sys.argv[1])
    from vector_feed import DIMENSION, MemoryFeed, clustered
    from amem.index import DenseLeg
    feed = MemoryFeed()
    feed.add(clustered(6_000))
    leg = DenseLeg(feed, folder=pathlib.Path(sys.argv[2]), base="chroma", pause=0)
    leg.refresh()
    print("feeding", flush=True)
    leg.wait_for_chroma(60)
    print("fed", flush=True)
    for seed in range(1, 100):
        feed.add(clustered(1_000, seed=seed))
        leg.wait_for_chroma(60)
"""


RESTING = """
    import json, pathlib, sys, time
    sys.path.insert(0, sys.argv[1])
    from vector_feed import MemoryFeed, clustered
    from amem.index import DenseLeg
    feed = MemoryFeed()
    feed.add(clustered(6_000))
    leg = DenseLeg(feed, folder=pathlib.Path(sys.argv[2]), base="chroma", pause=0)
    assert leg.wait_for_chroma(60)
    while json.loads(pathlib.Path(sys.argv[3]).read_text())["files"] is None:
        time.sleep(0.05)
    print("at rest", flush=True)
    time.sleep(60)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("delay", [0.7, 1.6, 2.5, 3.4])
def test_a_process_killed_while_it_feeds_chroma_costs_nothing(feed: MemoryFeed, tmp_path: Path, delay: float):
    feed.add(clustered(6_000))
    arguments = [sys.executable, "-c", textwrap.dedent(FEEDING), os.path.dirname(__file__), str(tmp_path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "feeding\n"
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
    with on_chroma(feed, tmp_path) as leg:
        assert agrees(leg, feed)
        assert leg.wait_for_chroma(120), leg.status()
        assert serving(leg)
        assert agrees(leg, feed)


@pytest.mark.thorough
def test_a_process_killed_while_it_rests_leaves_a_folder_that_is_used_again(feed: MemoryFeed, tmp_path: Path):
    feed.add(clustered(6_000))
    label = tmp_path / "chroma" / "amem.json"
    arguments = [sys.executable, "-c", textwrap.dedent(RESTING), os.path.dirname(__file__), str(tmp_path), str(label)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "at rest\n"
        process.send_signal(signal.SIGKILL)
    left = {path.name for path in (tmp_path / "chroma").iterdir() if path.is_dir()}
    with on_chroma(feed, tmp_path) as leg:
        assert leg.wait_for_chroma(60), leg.status()
        assert agrees(leg, feed)
        assert left == {path.name for path in (tmp_path / "chroma").iterdir() if path.is_dir()}
    assert list(tmp_path.glob("chroma.broken-*")) == []


@pytest.mark.thorough
def test_a_process_that_ends_without_closing_leaves_it_in_order(feed: MemoryFeed, tmp_path: Path):
    feed.add(clustered(6_000))
    code = textwrap.dedent(RESTING).split("while")[0]
    subprocess.run([sys.executable, "-c", code, os.path.dirname(__file__), str(tmp_path), ""], check=True)
    assert json.loads((tmp_path / "chroma" / "amem.json").read_text())["files"]
