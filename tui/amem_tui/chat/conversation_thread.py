"""The conversation in a thread of its own: the screen puts questions and reads pieces of the reply."""

from __future__ import annotations

from concurrent.futures import Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from amem.conversation.background import Background

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.conversation.reply import Piece
    from amem.conversation.session import Conversation

    Pieces: TypeAlias = SimpleQueue[Piece | Exception]
T = TypeVar("T")

#: Seconds that closing waits for an answer that is being stopped, and then for what is being learnt.
_STOPPING, _LEARNING = 0.8, 0.2


class ConversationThread:
    """Calls a conversation in order, from one thread. Close it before the collection."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._thread: Background[Callable[[], None]] = Background(lambda job: job(), "amem-chat")

    def call(self, job: Callable[[], T]) -> Future[T]:
        """Do this when what was asked for before is done."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(job())
            except Exception as error:  # for whoever waits
                future.set_exception(error)

        self._thread.put(run)
        return future

    def question(self, text: str) -> Pieces:
        """Ask; the queue gets the reply's pieces as they come, the last one its end, or the error that ended it."""
        self._conversation.get_ready()
        pieces: Pieces = SimpleQueue()

        def answer() -> None:
            try:
                for piece in self._conversation.say(text):
                    pieces.put(piece)
            except Exception as error:  # the screen, which waits for the end, says or raises it
                pieces.put(error)

        self._thread.put(answer)
        return pieces

    def close(self) -> None:
        """Stop the answer, keep what there is of it, and leave what was not learnt for later; two seconds at most."""
        self._conversation.stop()
        self._thread.close(_STOPPING)
        self._conversation.close(_LEARNING)
