"""The assistant: recalls, answers, and learns from what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from amem.clock import Clock
    from amem.conversation.ports import Learner, Memory
    from amem.conversation.reply import Forgotten, Learnt, Piece, Recalled, Replayed, Reply
    from amem.protocols import ChatModel
    from amem.receipt import Receipt
    from amem.storage import Store, UndoReport
    from amem.storage.chats import ChatSession, Turn


class Assistant:
    """A chat that remembers.

    `chat` is the model, or a function that finds one when it is first needed (and may raise). `session` is the id of
    a chat to go on with; None begins a new one. `incognito` recalls but stores and learns nothing. `on_learnt` hears
    what came of learning from a turn, from another thread.
    """

    def __init__(
        self,
        memory: Memory,
        store: Store,
        clock: Clock,
        *,
        chat: ChatModel | Callable[[], ChatModel],
        learner: Learner | None = None,
        session: str | None = None,
        incognito: bool = False,
        on_learnt: Callable[[Learnt], None] | None = None,
    ) -> None:
        raise NotImplementedError

    @property
    def session(self) -> str:
        """Id of this chat."""
        raise NotImplementedError

    incognito: bool
    """While True, nothing is stored, learnt or counted as used; may be switched at any time."""

    def use(self, chat: ChatModel | Callable[[], ChatModel]) -> None:
        """Go on with another model."""
        raise NotImplementedError

    @property
    def model(self) -> str:
        """The model's full name. Raises what finding one raises."""
        raise NotImplementedError

    def say(self, text: str) -> Reply:
        """The whole reply at once."""
        raise NotImplementedError

    def stream(self, text: str) -> Iterator[Piece]:
        """The reply as it is written; the last piece is ``done`` and carries the `Reply`.

        Ctrl-C while the model writes ends the answer, not the program: the last piece then says ``interrupted``.
        Closing the iterator keeps what had been written, too.
        """
        raise NotImplementedError

    def why(self) -> tuple[Recalled, ...]:
        """What was recalled for the last reply, and why."""
        raise NotImplementedError

    def remember(self, text: str) -> Receipt:
        """Keep a note exactly as worded."""
        raise NotImplementedError

    def forget(self, what: str) -> Forgotten:
        """Hide the note of that id (or its beginning); for other text, the notes it may mean, none of them hidden."""
        raise NotImplementedError

    def undo(self) -> UndoReport:
        """Take back what was learnt last in this chat. Raises NothingToUndo."""
        raise NotImplementedError

    def replay(self, session: str | None = None, turn: int | None = None) -> list[Replayed]:
        """Turns as they were: what was recalled, with the words notes had then, what was shown, what was learnt."""
        raise NotImplementedError

    def turns(self) -> list[Turn]:
        """This chat so far."""
        raise NotImplementedError

    def sessions(self, limit: int = 50) -> list[ChatSession]:
        """The collection's chats, the last used first."""
        raise NotImplementedError

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until what was said has been learnt from; False when that takes longer than `timeout` seconds."""
        raise NotImplementedError

    def close(self) -> None:
        """Wait for what is being learnt; the rest stays queued."""
        raise NotImplementedError
