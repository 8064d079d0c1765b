"""Collections to ask: the real store and dense leg, a word-based embedder unless a test wants the real model."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from asking import Collection

from amem import AgenticMemorySystem
from amem import collection as collections
from amem.analysts.rules import OfflineAnalyst
from amem.collection import Vectorizer
from amem.index import DenseLeg
from amem.language.predicates import load_predicates
from amem.retrieval.recall import Recall
from amem.settings import Settings
from amem.storage.store import Store
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from briefed import Open

    from amem.protocols import Embedder


@pytest.fixture
def open_collection(tmp_path: Path) -> Iterator[Callable[..., Collection]]:
    """Opens collections: in memory unless given a folder, by words unless given an embedder."""
    opened: list[Collection] = []

    def make(
        *,
        folder: Path | None = None,
        embedder: Embedder | None = None,
        **settings: Any,
    ) -> Collection:
        clock = FrozenClock("2026-02-01T09:00", seed=f"collection {len(opened)}")
        chosen = Settings(home=tmp_path, **settings)
        store = Store(folder, clock)
        dense = DenseLeg(collections.StoreFeed(store), folder=folder, base="exact")
        by = embedder or HashEmbedder(256)
        by_notes = Vectorizer(store, by, chosen.embed_recipe)
        legs = (lambda: dense), (lambda: by_notes)
        inside = collections.Collection(store, *legs, chosen, clock, cache(load_predicates), folder)
        made = Collection(store, clock, by, Recall(inside), dense)
        opened.append(made)
        return made

    yield make
    for each in opened:
        each.dense.close()
        each.store.close()


@pytest.fixture
def collection(open_collection: Callable[..., Collection]) -> Collection:
    """An empty collection in memory."""
    return open_collection()


@pytest.fixture
def open_memory(tmp_path: Path, minilm: Embedder) -> Iterator[Open]:
    """Opens whole memory systems: the real model for meaning, the offline rules for judgement."""
    opened: list[AgenticMemorySystem] = []

    def open_(**options: Any) -> AgenticMemorySystem:
        clock = FrozenClock("2026-03-01T10:00")
        given: dict[str, Any] = {"embedder": minilm, "analyst": OfflineAnalyst(), "clock": clock}
        if "settings" not in options:
            given["directory"] = tmp_path / "home"
        opened.append(AgenticMemorySystem(**(given | options)))
        return opened[-1]

    yield open_
    for memory in opened:
        memory.close()
