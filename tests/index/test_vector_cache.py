"""The cache file: read back as written, replaced whole, and never believed when it is damaged."""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from vector_feed import MemoryFeed, clustered

from amem.index import ACTIVE, ARCHIVED, GONE, DenseLeg

if TYPE_CHECKING:
    from pathlib import Path


def cached(feed: MemoryFeed, folder: Path) -> DenseLeg:
    leg = DenseLeg(feed, folder=folder, base="exact")
    leg.flush()
    return leg


def test_a_second_process_reads_only_what_changed_since(feed: MemoryFeed, tmp_path: Path):
    vectors = clustered(300)
    keys = feed.add(vectors[:250])
    feed.mark(keys[:9], ARCHIVED)
    cached(feed, tmp_path).close()
    feed.add(vectors[250:])
    feed.deltas.clear()
    again = DenseLeg(feed, folder=tmp_path, base="exact")
    for vector in vectors[::25]:
        assert again.search(vector, 20)[0].tolist() == feed.nearest(vector, 20)
    assert feed.deltas == [2]


def test_any_numpy_program_can_open_the_matrix(feed: MemoryFeed, tmp_path: Path):
    vectors = clustered(77)
    feed.add(vectors)
    cached(feed, tmp_path)
    assert np.array_equal(np.load(tmp_path / "vectors.npy"), vectors)
    assert (tmp_path / "vectors.npy").stat().st_mode & 0o077 == 0


def test_a_purged_vector_is_in_the_file_no_more_after_a_flush(feed: MemoryFeed, tmp_path: Path):
    vectors = clustered(50)
    keys = feed.add(vectors)
    leg = cached(feed, tmp_path)
    assert vectors[3].tobytes() in (tmp_path / "vectors.npy").read_bytes()
    feed.purge(keys[3])
    leg.flush()
    assert vectors[3].tobytes() not in (tmp_path / "vectors.npy").read_bytes()


def test_a_note_deleted_before_and_restored_after_is_found(feed: MemoryFeed, tmp_path: Path):
    vectors = clustered(50)
    keys = feed.add(vectors)
    feed.mark(keys[:5], GONE)
    cached(feed, tmp_path).close()
    feed.mark(keys[:1], ACTIVE)
    assert DenseLeg(feed, folder=tmp_path, base="exact").search(vectors[0], 1)[0].tolist() == keys[:1]


@pytest.mark.parametrize("part", ["empty", "cut", "zeros", "one bit", "garbage", "short"])
def test_a_damaged_file_is_noticed_and_rebuilt(
    feed: MemoryFeed, tmp_path: Path, part: str, caplog: pytest.LogCaptureFixture
):
    vectors = clustered(1_200)
    feed.add(vectors)
    cached(feed, tmp_path).close()
    path = tmp_path / "vectors.npy"
    good = path.read_bytes()
    half = len(good) // 2
    flipped = bytearray(good)
    flipped[half] ^= 1
    bad = {
        "empty": b"",
        "cut": good[:half],
        "zeros": good[:half] + bytes(4_096) + good[half + 4_096 :],
        "one bit": bytes(flipped),
        "garbage": os.urandom(len(good)),
        "short": good[-9:],
    }[part]
    path.write_bytes(bad)
    with caplog.at_level(logging.WARNING, "amem.index"):
        leg = DenseLeg(feed, folder=tmp_path, base="exact")
        assert leg.search(vectors[5], 10)[0].tolist() == feed.nearest(vectors[5], 10)
    assert "is not used" in caplog.text
    leg.close()
    assert path.read_bytes() == good


def test_a_file_of_another_space_is_not_used(feed: MemoryFeed, tmp_path: Path):
    keys = feed.add(clustered(20))
    cached(feed, tmp_path).close()
    other = clustered(20, seed=3)
    feed.reindex("other", lambda key: other[keys.index(key)])
    leg = DenseLeg(feed, folder=tmp_path, base="exact")
    assert leg.search(other[2], 1)[0].tolist() == [keys[2]]
    leg.close()


def test_it_is_rewritten_once_the_tail_passes_a_tenth(feed: MemoryFeed, tmp_path: Path):
    feed.add(clustered(9_000))
    leg = DenseLeg(feed, folder=tmp_path, base="exact")
    leg.refresh()
    assert leg.status()["tail"] == 0
    feed.add(clustered(900, seed=1))
    leg.refresh()
    assert leg.status()["tail"] == 900
    feed.add(clustered(500, seed=2))
    leg.refresh()
    assert leg.status()["tail"] == 0
    assert len(np.load(tmp_path / "vectors.npy")) == 10_400


def test_a_small_collection_needs_no_file(feed: MemoryFeed, tmp_path: Path):
    feed.add(clustered(100))
    with_few = DenseLeg(feed, folder=tmp_path, base="exact")
    with_few.refresh()
    with_few.close()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_costs_the_cache_and_one_warning(
    feed: MemoryFeed, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    vectors = clustered(1_500)
    feed.add(vectors)
    leg = DenseLeg(feed, folder=tmp_path / "not there", base="exact")
    with caplog.at_level(logging.WARNING, "amem.index"):
        for start in range(3):
            feed.add(clustered(1_500, seed=start))
            assert leg.search(vectors[9], 10)[0].tolist()
            leg.refresh()
            assert leg.search(vectors[9], 10)[0].tolist() == feed.nearest(vectors[9], 10)
        leg.close()
    assert caplog.text.count("going on without") == 1
    assert "cannot be written" in leg.status()["cache"]


def test_what_killed_writers_left_is_swept_up_and_living_ones_are_left_alone(feed: MemoryFeed, tmp_path: Path):
    old, young = tmp_path / "vectors.old.tmp", tmp_path / "vectors.young.tmp"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7_200,) * 2)
    feed.add(clustered(5))
    cached(feed, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"vectors.young.tmp", "vectors.npy"}


def test_another_process_may_replace_the_file_under_a_reader(feed: MemoryFeed, tmp_path: Path):
    vectors = clustered(3_000)
    feed.add(vectors[:2_000])
    reader = cached(feed, tmp_path)
    feed.add(vectors[2_000:])
    cached(feed, tmp_path).close()
    for vector in vectors[::500]:
        assert reader.search(vector, 5)[0].tolist() == [key for key in feed.nearest(vector, 3_000) if key <= 2_000][:5]
        assert len(reader.search(vector, 5)[0]) == 5
