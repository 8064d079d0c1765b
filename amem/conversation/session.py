"""A conversation as every front end holds it: who answers, what is said, what was learnt, what is changed by hand.

The shell and the browser draw it and ask what only a person knows; neither keeps a model of its own.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from amem.conversation.ports import Collection, answering, check
from amem.conversation.reply import Forgotten, Learnt, Piece, Recalled, Reply, best, was_shown
from amem.errors import AmemError
from amem.labels import title
from amem.note import Receipt, Status
from amem.query import Filter
from amem.storage.chats import ChatSession, Learning, Turn, TurnState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from amem.conversation.assistant import Assistant
    from amem.conversation.chat_learning import Taught
    from amem.settings import Settings
    from amem.storage.undo import UndoReport


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat as far as it is kept; `session` is None while there is none.

    `titles` are those of the notes that stand in place of an answer where no model gave one.
    """

    session: str | None = None
    turns: tuple[Turn, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnDetail:
    """What belongs to one turn but is not said in it. `number` is None for a turn that is not kept.

    `unanswered` says that no model answered, `shown` that one surely read what was recalled.
    """

    number: int | None = None
    recalled: tuple[Recalled, ...] = ()
    in_memory: bool | None = None
    learning: Learning = Learning.OFF
    taught: tuple[Taught, ...] = ()
    unanswered: bool = False
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Answering:
    """Who answers, in words; or why nobody does (`problem`) and what to do about it (`hint`). `notes` are counted."""

    who: str = ""
    problem: str = ""
    hint: str = ""
    notes: int = 0


class Conversation:
    """One chat at a time of the collection `memory`.

    `session` is the id (or its beginning) of the chat to go on with, None to begin one; `settings` name the model;
    `on_learnt` hears from another thread what came of a turn. The assistant is opened when it is first used.

    What answers (`say`, `open`, `resume`, `undo`, commands) is called from one thread. `stop`, `remember`, `forget` and
    all that reads may be called from any. Close it before the collection, or use it in a ``with`` statement.
    """

    def __init__(
        self,
        memory: Collection,
        *,
        session: str | None = None,
        incognito: bool = False,
        settings: Settings | None = None,
        on_learnt: Callable[[Learnt], None] | None = None,
    ) -> None:
        self.memory = memory
        self.incognito = incognito
        #: The settings that name the model.
        self.settings = settings or memory.settings
        #: Operations by which a person remembered or forgot something here.
        self.by_hand: list[int] = []
        #: Why no model answers, as it was found last; '' when one does.
        self.problem = ""
        self._session = session
        self._on_learnt = on_learnt
        self._assistant: Assistant | None = None
        self._left: list[Assistant] = []
        self._stopping = threading.Event()
        self._why_unlearnt = ""

    # -- talking -----------------------------------------------------------------------------------------------

    def open(self) -> Assistant:
        """The assistant of this chat. Raises SessionNotFound or AmbiguousId."""
        if self._assistant is None:
            self._assistant = self.memory.assistant(session=self._session, on_learnt=self._on_learnt)
            self._choose_model()
        self._assistant.incognito = self.incognito
        return self._assistant

    def say(self, text: str) -> Iterator[Piece]:
        """The reply as it is written; see ``Assistant.stream``."""
        return self._followed(self.open().stream(text, stopped=self._stopping))

    def _followed(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        for piece in pieces:
            if piece.reply is not None and piece.reply.state is not TurnState.INTERRUPTED:
                if piece.reply.state is TurnState.UNANSWERED:
                    self.problem = piece.reply.error
                elif piece.reply.model:  # memory answers alone, too, where no model does
                    self.problem = ""
            yield piece

    def stop(self) -> None:
        """End the answer that is being written."""
        self._stopping.set()

    def get_ready(self) -> None:
        """Forget an earlier `stop`."""
        self._stopping.clear()

    def use(self, settings: Settings) -> None:
        """Have the model that these settings name answer from the next message on."""
        self.settings = settings
        self._choose_model()

    def _choose_model(self) -> None:
        if self._assistant is not None:
            self._assistant.use(lambda: self.memory.chat_model(self.settings, cancelled=self._stopping))

    def resume(self, session: str | None) -> None:
        """Go on with that chat from the next message on, or begin a new one."""
        self._session = session
        self.by_hand.clear()
        if self._assistant is not None:
            # It goes on learning what it still learns; closing would wait for that.
            self._left.append(self._assistant)
            self._assistant = None
        for each in [each for each in self._left if each.wait(0)]:
            each.close(0)
            self._left.remove(each)

    def close(self, timeout: float = 10.0) -> None:
        """Wait so many seconds for what is being learnt; what is not done then stays queued."""
        for each in (*self._left, *([self._assistant] if self._assistant else [])):
            each.close(timeout)

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- who answers, what was learnt --------------------------------------------------------------------------

    def answering(self) -> Answering:
        """Whether the chosen model is there; a server is asked for 0.3 s at most."""
        notes = self.memory.count(Filter())  # what a search looks at
        try:
            model = self.memory.chat_model(self.settings).name
            check(self.settings, model)
        except AmemError as error:
            self.problem = str(error)
            return Answering(problem=str(error), hint=error.hint, notes=notes)
        self.problem = ""
        return Answering(who=answering(self.settings, model), notes=notes)

    def news(self, learnt: Learnt) -> Learnt:
        """What was learnt; an error that was told before reads ``as before``."""
        error, before = learnt.error, self._why_unlearnt
        self._why_unlearnt = error or before
        return replace(learnt, error="as before") if error and error == before else learnt

    # -- notes by hand -----------------------------------------------------------------------------------------

    def remember(self, text: str) -> Receipt:
        """Keep a text as it is worded. Raises InvalidInput while incognito, EmptyNote, NoteTooLong."""
        with self._beside(incognito=self.incognito) as assistant:
            receipt = assistant.remember(text)
        if receipt.operation is not None:
            self.by_hand.append(receipt.operation)
        return receipt

    def forget(self, what: str) -> Forgotten:
        """Hide the note of that id, or tell which notes these words may mean. Raises AmbiguousId, InvalidInput."""
        with self._beside() as assistant:
            forgotten = assistant.forget(what)
        if forgotten.operation is not None:
            self.by_hand.append(forgotten.operation)
        return forgotten

    def undo(self) -> UndoReport:
        """Take back what was last learnt here, remembered by hand or forgotten. Raises NothingToUndo."""
        return self.open().undo(self.by_hand)

    def _beside(self, *, session: str | None = None, incognito: bool = True) -> Assistant:
        """Another assistant for this chat, for a thread in which none answers."""
        return self.memory.assistant(session=session or self._session, incognito=incognito)

    # -- reading -----------------------------------------------------------------------------------------------

    def chats(self, limit: int = 200) -> list[ChatSession]:
        """The collection's chats, the last used first."""
        with self.memory.assistant(incognito=True) as reader:
            return reader.sessions(limit)

    def newest(self) -> Chat:
        """The chat used last; an empty one where there is none."""
        found = self.chats(1)
        return self.read(found[0].id) if found else Chat()

    def read(self, session: str) -> Chat:
        """A chat turn by turn. Raises SessionNotFound."""
        with self._beside(session=session) as reader:
            turns = tuple(reader.turns())
        instead = (each.note for turn in turns if turn.state is TurnState.UNANSWERED for each in best(turn.recalled))
        cards = self.memory.cards_of(list(dict.fromkeys(instead)))
        held = {id: title(card.text) for id, card in cards.items() if card.status is not Status.DELETED}
        return Chat(session, turns, held)

    def detail(self, session: str, number: int) -> TurnDetail:
        """What was recalled for a turn, learnt from it and done by hand. Raises SessionNotFound."""
        with self._beside(session=session) as reader:
            (found,) = reader.replay(turn=number)
            turn = found.turn
            operations = [*([] if turn.learnt_by is None else [turn.learnt_by]), *self.by_hand]
            return TurnDetail(
                number,
                found.recalled,
                turn.supported,
                turn.learning,
                _taught(reader, operations),
                unanswered=turn.state is TurnState.UNANSWERED,
                shown=was_shown(turn.state, turn.model),
            )

    def unkept_detail(self, recalled: tuple[Recalled, ...], reply: Reply | None) -> TurnDetail:
        """The same for a turn that is not kept, or has no `reply` yet."""
        taught: tuple[Taught, ...] = ()
        if self.by_hand:
            with self._beside() as reader:
                taught = _taught(reader, self.by_hand)
        if reply is None:
            return TurnDetail(recalled=recalled, taught=taught)
        return TurnDetail(
            recalled=recalled,
            in_memory=reply.in_memory,
            taught=taught,
            unanswered=reply.state is TurnState.UNANSWERED,
            shown=was_shown(reply.state, reply.model),
        )


def _taught(reader: Assistant, operations: Sequence[int]) -> tuple[Taught, ...]:
    return tuple(reader.taught(each) for each in operations)
