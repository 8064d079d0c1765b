"""What the assistant needs of the rooms around it: something to recall with, and something that learns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from threading import Event

    from amem.message import Message
    from amem.note import MemoryNote, Scope
    from amem.query import Filter, Query
    from amem.receipt import Receipt
    from amem.retrieval import Hit
    from amem.retrieval.core_safety import Core
    from amem.retrieval.slots import Filled
    from amem.settings import Settings
    from amem.storage import UndoReport
    from amem.truth.intervals import Interval


class Memory(Protocol):
    """A collection as the assistant uses it; ``AgenticMemorySystem`` is one."""

    @property
    def settings(self) -> Settings: ...

    def ask(self, query: Query) -> list[Hit]: ...

    def facts_asked(self, question: str) -> Filled: ...

    def wording(self, found: Sequence[Interval], *, chinese: bool = False) -> str: ...

    def doubted_by(self, ids: Sequence[str]) -> list[str]: ...

    def add(self, content: str, *, time: str | datetime | None = None, **fields: Any) -> Receipt: ...

    def read(self, id: str) -> MemoryNote | None: ...

    def resolve(self, prefix: str, *, deleted: bool = False) -> str: ...

    def delete(self, id: str) -> bool: ...

    def undo(self, operation: int | None = None) -> UndoReport: ...

    def core_chosen(self, most: int, count: Callable[[str], int] = ...) -> list[Core]: ...

    def list(
        self, filter: Filter | None = None, *, limit: int = 50, offset: int = 0, order: str = "time"
    ) -> list[MemoryNote]: ...


class Answered(Protocol):
    """One answer with the numbers of the lines it rests on (from 1); no text where they do not hold one."""

    @property
    def text(self) -> str: ...
    @property
    def cites(self) -> Sequence[int]: ...
    @property
    def in_memory(self) -> bool: ...


class Answerer(Protocol):
    """Answers a question from numbered lines alone; ``amem.llm.answering.Answerer`` is one."""

    @property
    def name(self) -> str:
        """The model's."""
        ...

    def answer(
        self, question: str, notes: Sequence[str], when: datetime | None = None, *, support: str = ""
    ) -> Answered: ...


class Ordered(Protocol):
    """Which of the lines that were shown help to answer, by their places from 0, the most helpful first."""

    @property
    def places(self) -> Sequence[int]: ...


class Orderer(Protocol):
    """Puts lines in order for a question; ``amem.llm.ordering.Orderer`` is one."""

    @property
    def name(self) -> str:
        """The model's."""
        ...

    def order(self, question: str, notes: Sequence[str]) -> Ordered: ...


class Remembered(Protocol):
    """What a learner did, as one operation that can be undone (None when there was nothing to do)."""

    @property
    def operation(self) -> int | None: ...
    @property
    def episodes(self) -> Sequence[str]:
        """Ids of the notes that sum up episodes."""
        ...

    @property
    def stored(self) -> int:
        """Notes made of what was stated."""
        ...

    @property
    def updated(self) -> int: ...
    @property
    def superseded(self) -> int: ...
    @property
    def corroborated(self) -> int: ...
    @property
    def degraded(self) -> bool: ...
    @property
    def error(self) -> str: ...


class Learner(Protocol):
    """Makes notes of what a conversation states (see ``amem.conversation.remember``)."""

    def remember(
        self,
        messages: Sequence[Message],
        *,
        conversation: str,
        scope: Scope,
        earlier: Sequence[Message] = (),
        episodes: bool = True,
        extract: bool = True,
        replaces: int | None = None,
        cancelled: Event | None = None,
    ) -> Remembered: ...

    def learn_from(self, episode: str, *, cancelled: Event | None = None) -> Remembered: ...
