"""What the tests of the assistant share: a memory on real SQLite, and a learner that needs no model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from amem import AgenticMemorySystem
from amem.conversation.assistant import Assistant
from amem.note import NOBODY, Kind, MemoryNote, Message, Role, Scope, Source
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amem.storage.store import Store


def open_memory(home: Path | None, clock: FrozenClock | None = None, **options: Any) -> AgenticMemorySystem:
    given: dict[str, Any] = {"embedder": HashEmbedder(256), "analyst": ScriptedAnalyst(), "timezone": "UTC"} | options
    named = ("timezone", "chat_learning", "llm_context", "max_note_chars")
    settings = {name: given.pop(name) for name in list(given) if name in named}
    if home is not None:
        from amem import load_settings

        given["settings"] = load_settings(home, **settings)
    return AgenticMemorySystem(clock=clock or FrozenClock("2026-03-01T10:00"), **given)


def assistant(memory: AgenticMemorySystem, chat: Any, **options: Any) -> Assistant:
    return Assistant(memory, memory.parts.store, memory.parts.clock, chat=chat, **options)


@dataclass
class Told:
    """What the fake learner reports."""

    operation: int | None = None
    episodes: tuple[str, ...] = ()
    stored: int = 0
    updated: int = 0
    superseded: int = 0
    corroborated: int = 0
    degraded: bool = False
    error: str = ""


@dataclass
class FakeLearner:
    """Makes a note of every sentence of the user's that asks nothing. `fail` is raised once, then forgotten."""

    store: Store
    fail: BaseException | None = None
    degraded: bool = False
    calls: list[dict[str, Any]] = field(default_factory=list)
    made: int = 0

    def remember(
        self,
        messages: Sequence[Message],
        *,
        conversation: str,
        scope: Scope = NOBODY,
        earlier: Sequence[Message] = (),
        episodes: bool = True,
        extract: bool = True,
        replaces: int | None = None,
        cancelled: Any = None,
    ) -> Told:
        self.calls.append(
            {
                "ids": [message.id for message in messages],
                "conversation": conversation,
                "earlier": [message.content for message in earlier],
                "episodes": episodes,
                "extract": extract,
                "replaces": replaces,
            }
        )
        if self.fail is not None:
            error, self.fail = self.fail, None
            raise error
        told = Told(degraded=self.degraded)
        with self.store.write() as session:
            told.operation = session.begin("remember", "user", conversation)
            keys = {}
            for message in messages:
                assert message.id is not None
                source = Source(message.id, "message", conversation, None, message.speaker, message.at, message.content)
                keys[message.id] = session.sources.put(source, told.operation)
            for message in messages if extract else ():
                if message.role is Role.USER and not message.content.endswith(("?", "？")):
                    told.stored += 1
                    self._note(session, message.content, told.operation, [keys[str(message.id)]])
            if episodes:
                text = f"Episode of {len(messages)} messages: {messages[0].content[:20]}"
                told.episodes = (self._note(session, text, told.operation, list(keys.values()), Kind.EPISODE),)
        return told

    def _note(self, session: Any, content: str, operation: int, sources: list[int], kind: Kind = Kind.FACT) -> str:
        self.made += 1
        note = MemoryNote(content, id=f"learnt-{self.made:08d}", timestamp="now", at=session.now, kind=kind)
        key = session.notes.insert(note, operation, reliability=0.9, text_hash=None)
        for source in sources:
            session.sources.attach(key, source, operation)
        return note.id
