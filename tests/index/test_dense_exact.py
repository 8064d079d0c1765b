"""The dense leg without Chroma: the right answers, kept up to date."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from vector_feed import DIMENSION, MemoryFeed, clustered

from amem.errors import InvalidInput
from amem.index import ACTIVE, ARCHIVED, GONE, SUPERSEDED, DenseLeg

if TYPE_CHECKING:
    from numpy.typing import NDArray


@pytest.fixture
def leg(feed: MemoryFeed) -> DenseLeg:
    return DenseLeg(feed, folder=None)


def found(leg: DenseLeg, vector: NDArray[np.float32], k: int, allowed: list[int] | None = None) -> list[int]:
    leg.refresh()
    keys, cosines = leg.search(vector, k, allowed=None if allowed is None else np.array(allowed, dtype=np.int64))
    assert keys.dtype == np.int64
    assert cosines.dtype == np.float32
    assert np.all(np.diff(cosines) <= 0)
    return keys.tolist()


def test_an_empty_collection_answers_with_nothing(leg: DenseLeg):
    assert found(leg, clustered(1)[0], 5) == []
    assert [len(keys) for keys, _ in leg.search_many(clustered(2), 5)] == [0, 0]
    assert np.isnan(leg.cosines(clustered(1)[0], [1])).all()
    assert len(leg) == 0


@pytest.mark.parametrize("k", [0, 1, 7, 80, 5_000])
def test_the_nearest_come_first_at_any_k(feed: MemoryFeed, leg: DenseLeg, k: int):
    feed.add(clustered(3_000))
    for vector in clustered(5, seed=9):
        assert found(leg, vector, k) == feed.nearest(vector, k)


def test_a_note_is_found_once_its_write_is_committed(feed: MemoryFeed, leg: DenseLeg):
    vectors = clustered(300)
    feed.add(vectors[:200])
    leg.refresh()
    for vector in vectors[200:]:
        (key,) = feed.add(vector[None])
        assert found(leg, vector, 1) == [key]
    assert leg.seq == feed.seq


def test_equal_vectors_have_equal_cosines_and_come_by_key_wherever_they_lie(feed: MemoryFeed, leg: DenseLeg):
    twin = clustered(1, seed=5)[0]
    first = feed.add(np.concatenate((clustered(997), [twin])))[-1]
    leg.refresh()
    second = feed.add(np.concatenate((clustered(13, seed=6), [twin])))[-1]
    leg.refresh()
    third = feed.add(twin[None])[0]
    leg.refresh()
    for question in clustered(20, seed=7):
        keys, cosines = leg.search(question, 2_000)
        at = [keys.tolist().index(key) for key in (first, second, third)]
        assert at == [at[0], at[0] + 1, at[0] + 2]
        assert len(set(cosines[at].tolist())) == 1


def test_another_vector_for_a_note_hides_the_old_one(feed: MemoryFeed, leg: DenseLeg):
    vectors = clustered(50)
    keys = feed.add(vectors)
    leg.refresh()
    feed.replace(keys[3], -vectors[3])
    assert keys[3] not in found(leg, vectors[3], 40)
    assert found(leg, -vectors[3], 1) == [keys[3]]
    assert leg.cosines(-vectors[3], [keys[3]])[0] == pytest.approx(1, abs=1e-6)
    assert len(leg) == 50


def test_only_active_notes_answer_unless_others_are_allowed(feed: MemoryFeed, leg: DenseLeg):
    vectors = clustered(40)
    keys = feed.add(vectors)
    leg.refresh()
    feed.mark(keys[:10], SUPERSEDED)
    feed.mark(keys[10:20], ARCHIVED)
    feed.mark(keys[20:30], GONE)
    assert set(found(leg, vectors[0], 40)) == set(keys[30:])
    assert set(found(leg, vectors[0], 40, allowed=keys)) == {*keys[:20], *keys[30:]}
    feed.mark(keys[:30], ACTIVE)
    assert set(found(leg, vectors[0], 40)) == set(keys)


def test_allowed_keys_may_be_many_repeated_or_unknown(feed: MemoryFeed, leg: DenseLeg):
    keys = feed.add(clustered(6_000))
    question = clustered(1, seed=3)[0]
    for allowed in (keys[::2], keys[5:90], [keys[4]] * 3 + [10**9, -1], []):
        assert found(leg, question, 20, allowed=allowed) == feed.nearest(question, 20, allowed)


def test_a_deleted_note_is_gone_and_a_restored_one_is_back(feed: MemoryFeed, leg: DenseLeg):
    vectors = clustered(20)
    keys = feed.add(vectors)
    leg.refresh()
    feed.mark([keys[0]], GONE)
    assert keys[0] not in found(leg, vectors[0], 20)
    assert np.isnan(leg.vectors([keys[0]])).all()
    feed.mark([keys[0]], ACTIVE)
    assert found(leg, vectors[0], 1) == [keys[0]]


def test_a_restored_note_is_back_even_after_its_vector_was_packed_away(feed: MemoryFeed, leg: DenseLeg):
    vectors = clustered(4_000)
    keys = feed.add(vectors)
    leg.refresh()
    feed.mark(keys[:3_000], GONE)
    leg.refresh()
    assert len(leg.rows.keys) == 1_000
    feed.mark([keys[7]], ACTIVE)
    assert found(leg, vectors[7], 1) == [keys[7]]


def test_a_purged_note_never_comes_back(feed: MemoryFeed, leg: DenseLeg):
    keys = feed.add(clustered(20))
    leg.refresh()
    feed.purge(keys[2])
    assert keys[2] not in found(leg, clustered(20)[2], 20)
    assert len(leg) == 19


def test_many_questions_at_once_get_the_answers_that_single_ones_get(feed: MemoryFeed, leg: DenseLeg):
    keys = feed.add(clustered(2_000))
    leg.refresh()
    feed.add(clustered(300, seed=1))
    feed.mark(keys[::7], SUPERSEDED)
    leg.refresh()
    questions = clustered(130, seed=2)
    for question, (keys_, cosines) in zip(questions, leg.search_many(questions, 10), strict=True):
        alone, same = leg.search(question, 10)
        assert keys_.tolist() == alone.tolist()
        assert cosines.tolist() == same.tolist()


def test_cosines_and_vectors_are_given_by_key_and_nan_where_there_is_none(feed: MemoryFeed, leg: DenseLeg):
    vectors = clustered(10)
    keys = feed.add(vectors)
    question = clustered(1, seed=4)[0]
    asked = [keys[3], 999, keys[0], keys[3]]
    cosines = leg.cosines(question, asked)
    assert cosines[[0, 2, 3]] == pytest.approx(vectors[[3, 0, 3]] @ question, abs=1e-6)
    assert np.isnan(cosines[1])
    assert np.array_equal(
        leg.vectors(asked), [vectors[3], [np.nan] * DIMENSION, vectors[0], vectors[3]], equal_nan=True
    )


def test_a_reindexed_collection_is_read_anew(feed: MemoryFeed, leg: DenseLeg):
    keys = feed.add(clustered(30))
    leg.refresh()
    other = clustered(30, seed=8, dimension=48)
    feed.reindex("other 48 content #2", lambda key: other[keys.index(key)])
    assert found(leg, other[4], 1) == [keys[4]]
    with pytest.raises(InvalidInput, match="32 numbers cannot be compared with vectors of 48"):
        leg.search(clustered(1)[0], 1)


def test_a_collection_restored_from_an_older_copy_is_read_anew(feed: MemoryFeed, leg: DenseLeg):
    vectors = clustered(30)
    feed.add(vectors[:10])
    older = MemoryFeed()
    older.add(vectors[20:])
    feed.add(vectors[10:20])
    leg.refresh()
    feed.notes, feed.changed, feed.seq = older.notes, older.changed, older.seq
    assert found(leg, vectors[25], 1) == [6]
    assert len(leg) == 10


def test_nothing_is_read_while_nothing_changes(feed: MemoryFeed, leg: DenseLeg):
    feed.add(clustered(30))
    for _ in range(5):
        leg.refresh()
        leg.search(clustered(1)[0], 3)
    assert feed.deltas == [0]


def test_searches_never_see_half_a_change(feed: MemoryFeed, leg: DenseLeg):
    """A writer moves a pair of notes together, again and again; readers must always find exactly that pair."""
    here, there = np.eye(2, DIMENSION, dtype=np.float32)
    pair = feed.add(np.stack((here, here)))
    leg.refresh()
    stop, wrong = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            rows = leg.rows
            top = rows.search(here, 2)[1].tolist(), rows.search(there, 2)[1].tolist()
            if top not in (([1, 1], [0, 0]), ([0, 0], [1, 1])):
                wrong.append(top)
            keys, _ = leg.search(here, 5)
            if sorted(keys.tolist()) != pair:
                wrong.append(keys.tolist())

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(300):
        feed.reindex(feed.name, lambda key, vector=(there, here)[turn % 2]: vector)
        leg.refresh()
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == []


def test_a_question_of_the_wrong_shape_is_refused(feed: MemoryFeed, leg: DenseLeg):
    feed.add(clustered(3))
    with pytest.raises(InvalidInput, match="31 numbers"):
        leg.search(np.ones(31), 1)
    with pytest.raises(InvalidInput, match="1 x 32"):
        leg.search(np.ones((1, 32)), 1)
