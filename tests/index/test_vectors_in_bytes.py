"""Many vectors are scanned in bytes and compared exactly afterwards: the answers are those of an exact scan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from vector_feed import MemoryFeed, clustered

from amem.index import ARCHIVED, GONE, DenseLeg
from amem.index.vector_rows import NAME, ByteRows, read_cache

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def from_two_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amem.index.vector_rows.BYTES_FROM", 200)


def kept(feed: MemoryFeed, folder: Path) -> DenseLeg:
    """The leg of a process that finds the file of another."""
    DenseLeg(feed, folder=folder, base="exact").flush()
    return DenseLeg(feed, folder=folder, base="exact")


@pytest.mark.usefixtures("from_two_hundred")
@pytest.mark.parametrize("k", [1, 10, 80, 5_000])
def test_the_nearest_are_found_among_old_new_archived_and_deleted_notes(feed: MemoryFeed, tmp_path: Path, k: int):
    vectors = clustered(3_000)
    keys = feed.add(vectors[:2_900])
    leg = kept(feed, tmp_path)
    feed.mark(keys[:40], ARCHIVED)
    feed.mark(keys[40:60], GONE)
    feed.add(vectors[2_900:])
    assert leg.rows.digest is not None
    many, few = (np.array(some, dtype=np.int64) for some in (keys[500:2_800], keys[60:2_000:7]))
    for vector in clustered(8, seed=9):
        leg.refresh()
        # Some are looked for alone, and then among what the scan of all has found.
        for allowed in (many, few, None, many, few):
            found = leg.search(vector, k, allowed=allowed)[0].tolist()
            if allowed is None:
                assert found == feed.nearest(vector, k)
            else:
                exact = leg.rows.cosines(vector, leg.rows.find(allowed))
                assert found == allowed[np.lexsort((allowed, -exact))][:k].tolist()


@pytest.mark.usefixtures("from_two_hundred")
def test_notes_that_say_nearly_the_same_keep_their_exact_order(feed: MemoryFeed, tmp_path: Path):
    middle = clustered(1)[0]
    near = middle + 1e-4 * np.random.default_rng(3).standard_normal((600, len(middle))).astype(np.float32)
    feed.add(near / np.linalg.norm(near, axis=1, keepdims=True))
    leg = kept(feed, tmp_path)
    assert leg.search(middle, 20)[0].tolist() == feed.nearest(middle, 20)
    assert leg.rows.digest is not None


@pytest.mark.parametrize("in_bytes", [True, False])
def test_many_questions_at_once_get_what_single_ones_get_of_some_notes_and_from_some_cosine_on(
    feed: MemoryFeed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_bytes: bool
):
    if in_bytes:
        monkeypatch.setattr("amem.index.vector_rows.BYTES_FROM", 200)
    vectors = clustered(1_500)
    keys = feed.add(vectors[:1_450])
    leg = kept(feed, tmp_path)
    feed.mark(keys[:40], ARCHIVED)
    feed.mark(keys[40:60], GONE)
    keys += feed.add(vectors[1_450:])
    leg.refresh()
    assert (leg.rows.digest is not None) is in_bytes
    asked = np.array(keys[20:1_500:30], dtype=np.int64)
    questions = clustered(1_500)[20:1_500:30]
    for allowed in (None, np.array(keys[10:1_480], dtype=np.int64)):
        many = leg.search_many(questions, 10, allowed=allowed)
        least = float(np.median([cosines[-1] for _, cosines in many]))
        near = leg.search_many(questions, 10, allowed=allowed, least=least, without=asked)
        for key, question, every, some in zip(asked.tolist(), questions, many, near, strict=True):
            alone, cosines = leg.search(question, 10, allowed=allowed)
            assert every[0].tolist() == alone.tolist()
            assert every[1].tolist() == cosines.tolist()
            wide, cosines = leg.search(question, 11, allowed=allowed)
            kept_ = [(one, cosine) for one, cosine in zip(wide.tolist(), cosines.tolist(), strict=True) if one != key]
            assert list(zip(*map(np.ndarray.tolist, some), strict=True)) == [
                each for each in kept_[:10] if each[1] >= least
            ]
    assert any(len(keys_) for keys_, _ in near)
    assert not all(len(keys_) == 10 for keys_, _ in near)


def test_a_file_of_before_there_was_such_a_copy_is_read(feed: MemoryFeed, tmp_path: Path):
    feed.add(clustered(500))
    kept(feed, tmp_path).close()
    data = (tmp_path / NAME).read_bytes()
    assert b'"bytes": false' in data
    assert read_cache(tmp_path / NAME).digest is None


@pytest.mark.parametrize("seed", range(5))
def test_two_scores_are_wrong_against_each_other_by_no_more_than_is_said(seed: int):
    random = np.random.default_rng(seed)
    vectors = clustered(2_000, seed=seed)
    vectors[0] = 0.0
    vectors[1] = np.eye(1, vectors.shape[1], 3)
    question = random.standard_normal(vectors.shape[1]).astype(np.float32)
    question /= np.linalg.norm(question)
    found = np.empty(len(vectors), dtype=np.float32)
    slack = ByteRows.of(vectors).scores(question, found)
    wrong = found - vectors @ question
    assert np.ptp(wrong) <= slack
    assert slack < 0.1


@pytest.mark.usefixtures("from_two_hundred")
@pytest.mark.parametrize(("notes", "magic"), [(150, b"amemvec1"), (250, b"amemvec2")])
def test_a_file_with_such_a_copy_is_refused_by_whoever_knows_of_none(
    feed: MemoryFeed, tmp_path: Path, notes: int, magic: bytes
):
    feed.add(clustered(notes))
    kept(feed, tmp_path).close()
    assert (tmp_path / NAME).read_bytes().endswith(magic)
    assert (read_cache(tmp_path / NAME).digest is not None) is (magic == b"amemvec2")
