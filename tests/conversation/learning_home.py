"""A collection with a learner on it, as tests of learning from conversations use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem import AgenticMemorySystem, load_settings
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from amem.note import Link, MemoryNote, Message
    from amem.protocols import Analyst


class LearningHome:
    """An open collection in `home` that learns with `analyst`; give the same collection opened again another seed."""

    def __init__(self, home: Path, analyst: Analyst, *, seed: str = "first") -> None:
        self.clock = FrozenClock("2026-03-02T12:00", seed=seed)
        self.memory = AgenticMemorySystem(
            settings=load_settings(home, timezone="UTC", llm_backend="offline"),
            clock=self.clock,
            embedder=HashEmbedder(),
            analyst=analyst,
        )
        self.store = self.memory.parts.store
        self.learner = self.memory.parts.learner

    def __enter__(self) -> LearningHome:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.memory.close()

    def notes(self) -> dict[str, MemoryNote]:
        """Every note that stands, by its content."""
        return {note.content: note for note in self.memory.list(limit=1000)}

    def facts(self) -> dict[str, MemoryNote]:
        """Every note that stands but those that sum up episodes."""
        return {text: note for text, note in self.notes().items() if "episode" not in note.metadata}

    def links(self, note: MemoryNote) -> list[Link]:
        return self.memory.links(note.id)

    def expanded(self, note: str) -> list[Message]:
        return self.learner.expand(note)

    def waiting(self) -> int:
        """Episodes that wait to be learnt from."""
        with self.store.read() as session:
            return session.jobs.count("extract")
