"""Counting use: once a day, never for browsing, never in the way of an answer."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from amem.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from asking import Collection


def recalls(memory: Collection, id: str) -> int:
    with memory.store.read() as session:
        return session.notes.get_many([id])[id].retrieval_count


def test_a_use_is_counted_once_a_day(collection: Collection) -> None:
    id = collection.add("Tea.")
    collection.ask("tea")
    collection.ask("tea")
    assert recalls(collection, id) == 1
    collection.clock.advance(days=1)
    collection.ask("tea")
    assert recalls(collection, id) == 2


def test_only_the_notes_given_are_counted(collection: Collection) -> None:
    given, other = collection.add("green tea"), collection.add("a train")
    assert collection.found("green tea", k=1) == [given]
    assert (recalls(collection, given), recalls(collection, other)) == (1, 0)


def test_browsing_and_explaining_count_nothing(collection: Collection) -> None:
    id = collection.add("Tea.")
    collection.ask("tea", touch=False)
    collection.explain("tea", id)
    assert recalls(collection, id) == 0


def test_a_use_does_not_move_the_change_counter(collection: Collection) -> None:
    collection.add("Tea.")
    with collection.store.read() as session:
        before = session.counter
    collection.ask("tea")
    with collection.store.read() as session:
        assert session.counter == before


def test_a_batch_counts_all_its_hits(collection: Collection) -> None:
    ids = [collection.add("tea"), collection.add("train")]
    collection.recall.search_batch([Query("tea", 1), Query("train", 1, touch=False)])
    assert [recalls(collection, id) for id in ids] == [1, 0]


def test_a_writer_that_holds_the_lock_does_not_hold_up_an_answer(
    open_collection: Callable[..., Collection], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory, writer = open_collection(folder=tmp_path / "c"), open_collection(folder=tmp_path / "c")
    id = memory.add("Tea.")
    with caplog.at_level(logging.WARNING, "amem.retrieval"), writer.store.write() as session:
        session.begin("import", "user")
        assert memory.found("tea") == [id]
    assert "not counted" in caplog.text
    assert recalls(memory, id) == 0
    memory.ask("tea")
    assert recalls(memory, id) == 1


def test_a_read_only_collection_answers(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    id = collection.add("Tea.")
    monkeypatch.setattr(type(collection.store), "read_only", property(lambda _: True))
    assert collection.found("tea") == [id]
    assert recalls(collection, id) == 0
