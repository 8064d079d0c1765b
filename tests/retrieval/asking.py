"""A small collection to fill by hand and to ask as the program does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.clock import parse_time
from amem.note import Link, LinkType, MemoryNote, Source, Status
from amem.protocols import TokenEmbedder
from amem.query import Query
from amem.storage.vectors import text_hash
from amem.token_vectors import PACKING

if TYPE_CHECKING:
    from amem.index import DenseLeg
    from amem.protocols import Embedder
    from amem.retrieval.explanation import Explanation
    from amem.retrieval.hit import Hit
    from amem.retrieval.recall import Recall
    from amem.storage.store import Store
    from amem.testing import FrozenClock


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
                by, words = self.embedder, isinstance(self.embedder, TokenEmbedder)
                space = session.vectors.space() or session.vectors.add_space(
                    by.name, by.dimension, "content", active=True, tokens=PACKING if words else ""
                )
                vectors = by.embed_tokens([content]) if isinstance(by, TokenEmbedder) else by.embed([content])
                session.vectors.put(space, {hashed: vectors[0]})
            if source is not None:
                raw = Source(f"s-{note.id}", "message", "talk-1", "D1:3", "Ana", moment, source)
                session.sources.attach(key, session.sources.put(raw, operation), operation)
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
