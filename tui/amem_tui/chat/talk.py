"""The assistant in a thread of its own, as it wants to be used: the screen puts questions and hears pieces."""

from __future__ import annotations

import threading
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

from amem.conversation.background import Background

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.conversation.assistant import Assistant
    from amem.conversation.reply import Learnt, Piece
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings

    Pieces: TypeAlias = SimpleQueue[Piece | Exception]

#: Seconds that closing waits for an answer that is being stopped, and then for what is being learnt.
_STOPPING, _LEARNING = 0.8, 0.2


class Talk:
    """One chat at a time of `memory`; `heard` is told from another thread what was learnt from it.

    Nothing is opened before it is first used. Close it before the collection.
    """

    def __init__(self, memory: AgenticMemorySystem, heard: Callable[[Learnt], None]) -> None:
        self._memory = memory
        self._heard = heard
        self._thread: Background[Callable[[], None]] = Background(_do, "amem-chat")
        self._stopping = threading.Event()
        self._assistant: Assistant | None = None
        self._left: list[Assistant] = []
        self._session: str | None = None
        self.incognito = False
        #: The settings that name the model.
        self.settings: Settings = memory.settings

    def resume(self, session: str | None) -> None:
        """Go on with that chat from the next question on, or begin a new one."""
        self._thread.put(partial(self._change, session))

    def use(self, settings: Settings) -> None:
        """Have the next question answered by the model that these settings name."""
        self.settings = settings
        self._thread.put(self._choose)

    def question(self, text: str) -> Pieces:
        """Ask; the queue gets the reply's pieces as they come, the last one its end, or the error that ended it."""
        self._stopping.clear()
        pieces: Pieces = SimpleQueue()
        self._thread.put(partial(self._answer, text, pieces))
        return pieces

    def stop(self) -> None:
        """End the answer that is being written."""
        self._stopping.set()

    def close(self) -> None:
        """Stop the answer, keep what there is of it, and leave what was not learnt for later; two seconds at most."""
        self._stopping.set()
        self._thread.close(_STOPPING)
        for each in (*self._left, *([self._assistant] if self._assistant else [])):
            each.close(_LEARNING)

    # -- in the thread -----------------------------------------------------------------------------------------

    def _open(self) -> Assistant:
        if self._assistant is None:
            self._assistant = self._memory.assistant(session=self._session, on_learnt=self._heard)
            self._choose()
        self._assistant.incognito = self.incognito
        return self._assistant

    def _choose(self) -> None:
        if self._assistant is not None:
            self._assistant.use(lambda: self._memory.chat_model(self.settings, cancelled=self._stopping))

    def _change(self, session: str | None) -> None:
        self._session = session
        if self._assistant is not None:
            # What it still learns it goes on learning; closing would wait for that.
            self._left.append(self._assistant)
            self._assistant = None
        for each in [each for each in self._left if each.wait(0)]:
            each.close(0)
            self._left.remove(each)

    def _answer(self, text: str, pieces: Pieces) -> None:
        try:
            for piece in self._open().stream(text, stopped=self._stopping):
                pieces.put(piece)
        except Exception as error:  # the screen, which waits for the end, says or raises it
            pieces.put(error)


def _do(job: Callable[[], None]) -> None:
    job()
