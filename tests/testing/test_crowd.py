"""A crowd of notes is what it would be had each note been written by itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from crowd import ENDS, make_crowd

from amem.collection import embedded_text
from amem.memory_system import AgenticMemorySystem
from amem.note import Kind, Layer, Status
from amem.settings import Settings
from amem.storage.note_reading import normal_hash
from amem.storage.search_tables import columns_of
from amem.storage.vectors import text_hash
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgenticMemorySystem]:
    home = tmp_path_factory.mktemp("crowd")
    assert make_crowd(home, 700, dimension=32) == 750
    settings = Settings(home=home, dense_base="exact", timezone="UTC", llm_backend="offline")
    with AgenticMemorySystem(
        settings=settings, clock=FrozenClock(ENDS), embedder=HashEmbedder(32), analyst=ScriptedAnalyst()
    ) as memory:
        yield memory


@pytest.mark.thorough
def test_a_check_up_finds_nothing_wrong_with_it(memory: AgenticMemorySystem) -> None:
    found = {finding.about: finding.level for finding in memory.doctor()}
    assert {about: found[about] for about in ("database", "index", "analysis", "links")} == dict.fromkeys(
        ("database", "index", "analysis", "links"), "ok"
    )
    assert "vectors" not in found
    assert "error" not in found.values()


def test_it_holds_every_kind_layer_and_status_over_three_years(memory: AgenticMemorySystem) -> None:
    census = memory.census()
    assert sum(census.statuses.values()) == 750
    assert set(census.kinds) == set(Kind)
    assert set(census.layers) == set(Layer)
    assert set(census.statuses) == set(Status)
    days = list(memory.days())
    assert (days[-1] - days[0]).days > 1_000
    assert len({card.id for card in memory.cards(memory.shelf(), 0, 750)}) == len(memory.shelf())


def test_its_indexes_are_those_of_its_texts(memory: AgenticMemorySystem) -> None:
    with memory.parts.store.read() as session:
        held = {row[0]: row[1:] for row in session.connection.execute("SELECT rowid, * FROM note_text")}
        rows = session.connection.execute("SELECT key, text_hash, normal FROM notes").fetchall()
        for key, (note, _) in session.notes.bare([key for key, _, _ in rows]).items():
            hashes = next(row[1:] for row in rows if row[0] == key)
            assert hashes == (text_hash(embedded_text(note, "content")), normal_hash(note.content))
            if note.status is Status.DELETED:
                assert key not in held
                continue
            made = [Counter(text.split()) for text in columns_of(note).values()]
            assert [Counter(text.split()) for text in held[key]] == made


def test_its_notes_are_found_changed_and_taken_back_as_any_other(memory: AgenticMemorySystem) -> None:
    (hit, *_) = memory.search("green tea in Leeds", 3, touch=False)
    assert "green tea" in hit.content
    memory.update(hit.id, context="Looked at")
    memory.undo()
    assert memory.read(hit.id).context != "Looked at"
    assert len(memory.history(hit.id)) >= 3
