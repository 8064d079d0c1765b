"""A small collection to ask: the real store and dense leg, a word-based embedder unless a test wants the real model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from amem.clock import parse_time
from amem.collection import StoreFeed
from amem.index import DenseLeg
from amem.note import Link, LinkType, MemoryNote, Source, Status
from amem.query import Query
from amem.retrieval import Recall
from amem.settings import Settings
from amem.storage import Store, text_hash
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from amem.protocols import Embedder
    from amem.retrieval import Explanation, Hit


@dataclass
class Collection:
    """Notes go in by hand, questions go in as in the program."""

    store: Store
    clock: FrozenClock
    embedder: Embedder
    recall: Recall
    dense: DenseLeg

    def add(
        self,
        content: str,
        *,
        at: str = "2026-01-01",
        source: str | None = None,
        embed: bool = True,
        reliability: float = 0.8,
        **fields: Any,
    ) -> str:
        """Store a note as the program would; `source` is the raw text it came from."""
        moment = parse_time(at, self.clock.now().tzinfo)
        note = MemoryNote(content, id=self.clock.new_id(), timestamp=at, at=moment, **fields)
        with self.store.write() as session:
            operation = session.begin("add", "user")
            hashed = text_hash(content) if embed else None
            key = session.notes.insert(note, operation, reliability=reliability, text_hash=hashed)
            if hashed is not None:
                space = session.vectors.space() or session.vectors.add_space(
                    self.embedder.name, self.embedder.dimension, "content", active=True
                )
                session.vectors.put(space, {hashed: self.embedder.embed([content])[0]})
            if source is not None:
                raw = Source(f"s-{note.id}", "message", "talk-1", "D1:3", "Ana", moment, source)
                session.sources.attach(key, session.sources.put(raw, operation))
        return note.id

    def link(
        self, source: str, target: str, type: LinkType = LinkType.RELATED, reason: str = "", confidence: float = 0.9
    ) -> None:
        with self.store.write() as session:
            operation = session.begin("link", "user")
            made = Link(source, target, type, reason, confidence, "user", self.clock.now())
            session.links.put(made, operation)

    def change(self, id: str, **fields: Any) -> None:
        with self.store.write() as session:
            session.notes.change(id, fields, session.begin("update", "user"))

    def supersede(self, old: str, new: str) -> None:
        self.change(old, status=str(Status.SUPERSEDED), superseded_by=new)

    def ask(self, text: str, k: int = 5, **options: Any) -> list[Hit]:
        return self.recall.search(Query(text, k, **options))

    def found(self, text: str, k: int = 5, **options: Any) -> list[str]:
        """The ids of the hits, best first."""
        return [hit.id for hit in self.ask(text, k, **options)]

    def explain(self, text: str, id: str, k: int = 5, **options: Any) -> Explanation:
        return self.recall.explain(Query(text, k, **options), id)


@pytest.fixture
def open_collection(tmp_path: Path) -> Iterator[Callable[..., Collection]]:
    """Opens collections: in memory unless given a folder, by words unless given an embedder."""
    opened: list[Collection] = []

    def make(
        *,
        folder: Path | None = None,
        embedder: Embedder | None = None,
        entities: Callable[[str], tuple[str, ...]] | None = None,
        **settings: Any,
    ) -> Collection:
        clock = FrozenClock("2026-02-01T09:00", seed=f"collection {len(opened)}")
        chosen = Settings(home=tmp_path, **settings)
        store = Store(folder, clock)
        dense = DenseLeg(StoreFeed(store), folder=folder, base="exact")
        by = embedder or HashEmbedder(256)
        made = Collection(store, clock, by, Recall(store, dense, by, chosen, clock, entities=entities), dense)
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
