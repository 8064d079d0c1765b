"""The assistant: recalls, answers, and learns from what was said.

A turn is committed before its model is asked and again when the answer ended, however it ended, so that a killed
terminal loses at most the words that had not been stored; whoever opens the session next goes on from there.
"""

from __future__ import annotations

import re
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from amem.checks import validated
from amem.conversation.chat_learning import ChatLearning, Taught, taught
from amem.conversation.extractive import NAMES_NO_MODEL
from amem.conversation.messages import check_asked
from amem.conversation.prompt import Prepared, Prompting
from amem.conversation.reply import Forgotten, Learnt, Piece, PieceKind, Recalled, Replayed, Reply, last_learnt, replay
from amem.conversation.revocation import meant
from amem.conversation.rule_file import Rules, load_rules
from amem.errors import AmemError, BadModelAnswer, Cancelled, InvalidInput, NoteNotFound, NothingToUndo
from amem.language.terms import tokens
from amem.note import EVERYONE, Receipt, Scope
from amem.protocols import ChatModel
from amem.rendering import text_of
from amem.storage.chats import ChatSession, Learning, Turn, TurnState

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from threading import Event
    from types import TracebackType

    from amem.clock import Clock
    from amem.conversation.ingest import Learner
    from amem.conversation.ports import Memory
    from amem.storage.jobs import Owner
    from amem.storage.store import Session, Store
    from amem.storage.undo import UndoReport

#: A model that babbles on is cut off here; no answer is meant to be as long as a book.
_LONGEST_ANSWER = 100_000
#: What a terminal would obey and no database or learner takes as text.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]+")
#: Ids are shown by so many characters.
_SHOWN_ID = 8


@dataclass(slots=True)
class _Saying:
    """A turn on its way: the `question` as it was typed; `rules`, if it is kept, say what of it is not."""

    turn: Turn
    question: str
    rules: Rules | None
    prepared: Prepared | None = None
    model: str = ""
    said: list[str] = field(default_factory=list)
    size: int = 0

    @property
    def text(self) -> str:
        return "".join(self.said)

    @property
    def kept(self) -> bool:
        return self.rules is not None


@partial(validated, constructor=False)
class Assistant:
    """A chat that remembers.

    `chat` is the model, or a function that finds one when it is first needed (and may raise). `session` is the id of
    a chat to go on with, or its beginning; None begins a new one. While `incognito` (which may be switched at any
    time) nothing is stored, learnt or counted as used. `learner` makes notes of what was said; `on_learnt` hears what
    came of it, from another thread; `owner` is what turns are held by meanwhile. `memory` is that of the `scope`, whose
    chats it knows and under whose ids it begins them. Secrets (see
    ``amem.conversation.rule_file``) are read by the model in the turn they are said in, and not stored. Raises
    SessionNotFound or AmbiguousId.

    One conversation at a time: use it from one thread, and close it (or use it in a ``with`` statement).
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
        owner: Owner | None = None,
        scope: Scope = EVERYONE,
    ) -> None:
        self._scope = scope
        self._memory = memory
        self._store = store
        self._clock = clock
        self._prompting = Prompting(memory, store, clock)
        self._learning = ChatLearning(
            store, clock, learner, memory.settings, on_learnt=on_learnt, owner=owner, scope=scope
        )
        self.incognito = incognito
        self._chat = chat
        self._last: Reply | None = None
        self._unkept: list[Turn] = []
        self._by_hand: list[int] = []
        self._session = clock.new_id() if session is None else self._resolve(session)

    # -- the chat ----------------------------------------------------------------------------------------------

    @property
    def session(self) -> str:
        """Id of this chat."""
        return self._session

    @property
    def model(self) -> str:
        """The model's full name. Raises what finding one raises."""
        return self._model().name

    def use(self, chat: ChatModel | Callable[[], ChatModel]) -> None:
        """Go on with another model."""
        self._chat = chat

    @property
    def learning(self) -> ChatLearning:
        """What learns from this and the collection's other chats."""
        return self._learning

    def turns(self) -> list[Turn]:
        """This chat so far, as far as it is kept."""
        with self._store.read() as session:
            return session.chats.turns(self._session)

    def sessions(self, limit: int = 50) -> list[ChatSession]:
        """The collection's (or scope's) chats, the last used first."""
        with self._store.read() as session, session.within(self._scope):
            return session.chats.sessions(limit)

    def say(self, text: str) -> Reply:
        """The whole reply at once; see `stream`."""
        for piece in self.stream(text):
            if piece.reply is not None:
                return piece.reply
        raise AssertionError("a stream ends with its reply")

    def stream(self, text: str, *, stopped: Event | None = None) -> Iterator[Piece]:
        """The reply as it is written; the last piece is ``done`` and carries the `Reply`.

        That no model answers (or breaks off) is told by the reply, not raised. Ctrl-C while the model writes ends the
        answer, not the program: the reply is then ``interrupted``; so does setting `stopped`, from any thread, at the
        model's next word (at once where the same event calls the model off). Closing the iterator keeps what had been
        written, too. Raises InvalidInput for a text that is empty or longer than ``max_note_chars``, or a rule file
        that cannot be read, and StorageError when the turn cannot be stored.
        """
        check_asked(text, self._memory.settings.max_note_chars)
        return self._stream(text, stopped)

    def _stream(self, text: str, stopped: Event | None) -> Generator[Piece, None, None]:
        past, saying = self._begin(text)
        extracted: Piece | None = None
        try:
            with closing(self._answer(saying, past)) as pieces:
                for piece in pieces:
                    if stopped is not None and stopped.is_set():
                        raise Cancelled("the answer was stopped")
                    yield piece
        except GeneratorExit:
            self._end(saying, TurnState.INTERRUPTED)
            raise
        except KeyboardInterrupt:
            reply = self._end(saying, TurnState.INTERRUPTED)
        except AmemError as error:
            called_off = isinstance(error, Cancelled)
            state = TurnState.INTERRUPTED if saying.size or called_off else TurnState.UNANSWERED
            if state is TurnState.UNANSWERED and saying.prepared is not None and not saying.prepared.notice:
                extracted = self._extracted(saying)
            by_hand = called_off and stopped is not None and stopped.is_set()
            reply = self._end(saying, state, None if by_hand else error)
        except BaseException as error:  # no failure of a model but of a program: keep what there is, and let it be seen
            self._end(saying, TurnState.INTERRUPTED if saying.size else TurnState.UNANSWERED, error)
            raise
        else:
            reply = self._end(saying, TurnState.ANSWERED)
        if extracted is not None:
            yield extracted
        yield Piece(PieceKind.DONE, reply=reply)

    def _begin(self, text: str) -> tuple[list[Turn], _Saying]:
        learns = self._memory.settings.chat_learning != "off" and self._learning.can_learn
        at = self._clock.now()
        if self.incognito:
            turn = Turn(0, self._session, 0, at, text, "", TurnState.ASKED, Learning.OFF)
            with self._store.read() as session:
                return [*self._past(session), *self._unkept], _Saying(turn, text, None)
        rules = load_rules(self._memory.settings.home)
        with self._store.write() as session:
            session.chats.begin(self._session, Scope.of(self._scope.ids))
            past = self._past(session)
            learning = Learning.WAITING if learns else Learning.OFF
            # The model reads what was typed; what is stored holds no secrets.
            turn = session.chats.ask(self._session, rules.without_secrets(text), at, learning=learning)
            return past, _Saying(turn, text, rules)

    def _past(self, session: Session) -> list[Turn]:
        """The turns that may have to do with the next one: however long the chat is, these are not more and more."""
        return session.chats.turns(self._session, last=self._prompting.most_turns, recalled=False)

    def _answer(self, saying: _Saying, past: list[Turn]) -> Generator[Piece, None, None]:
        prepared = saying.prepared = self._prompting.prepare(saying.question, past)
        if saying.kept:
            self._keep(saying, prepared)
        yield Piece(PieceKind.RECALLED, recalled=prepared.recalled)
        if prepared.refused is not None:
            raise prepared.refused
        try:
            model = self._model()
        except AmemError:
            if self._memory.settings.llm_backend not in NAMES_NO_MODEL:
                raise
            # Nobody was promised a model: memory answers for itself.
            saying.prepared = replace(prepared, notice="")
            yield self._extracted(saying)
            return
        if prepared.notice:
            yield Piece(PieceKind.NOTICE, prepared.notice)
        saying.model = model.name
        pieces: Any = model.stream(prepared.messages)
        # Closing ends the call when the answer is not wanted any more; a plain iterator has nothing to close.
        with closing(pieces) if hasattr(pieces, "close") else nullcontext():
            for raw in pieces:
                piece = _UNPRINTABLE.sub("\ufffd", raw)
                saying.said.append(piece)
                saying.size += len(piece)
                yield Piece(PieceKind.TEXT, piece)
                if saying.size > _LONGEST_ANSWER:
                    raise BadModelAnswer(
                        f"{model.name} did not come to an end; its answer was cut off", hint="try another model"
                    )
        if not saying.text.strip():
            raise BadModelAnswer(f"{model.name} answered with nothing", hint="ask again, or try another model")

    def _extracted(self, saying: _Saying) -> Piece:
        """What memory answers by itself."""
        assert saying.prepared is not None
        learns = saying.kept and saying.turn.learning is Learning.WAITING
        cut = saying.turn.question != saying.question
        text = self._prompting.extract(saying.question, saying.prepared, learns=learns, cut=cut)
        saying.said.append(text)
        saying.size += len(text)
        return Piece(PieceKind.TEXT, text)

    def _keep(self, saying: _Saying, prepared: Prepared) -> None:
        """Write down what was recalled, before the model is asked."""
        with self._store.write() as session:
            session.chats.recalled(
                saying.turn.key,
                [each.kept() for each in prepared.recalled],
                supported=prepared.in_memory,
                prompt=prepared.prompt,
            )

    def _end(self, saying: _Saying, state: TurnState, error: BaseException | None = None) -> Reply:
        """Write down how the turn ended, and have it learnt from."""
        prepared, text = saying.prepared, saying.text
        reply = Reply(
            text=text,
            state=state,
            recalled=prepared.recalled if prepared else (),
            notice=prepared.notice if prepared else "",
            error="" if error is None else str(error) or type(error).__name__,
            hint=error.hint if isinstance(error, AmemError) else "",
            model=saying.model,
            in_memory=prepared.in_memory if prepared else None,
            session=self._session,
            turn=saying.turn.number if saying.kept else None,
        )
        self._last = reply
        ended = replace(saying.turn, state=state, answer=text, model=saying.model, error=reply.error)
        if saying.rules is None:
            self._unkept.append(ended)
            return reply
        kept = saying.rules.without_secrets(text, told=saying.question)
        ended = replace(ended, answer=kept)
        with self._store.write() as session:
            session.chats.answer(
                ended.key,
                state,
                kept,
                model=saying.model,
                error=reply.error,
                tokens_in=prepared.fitted.size if prepared and prepared.fitted and saying.model else 0,
                tokens_out=tokens(text),
            )
            # What nobody answered from was of no use yet; what is asked again would count twice.
            if prepared is not None and text.strip():
                session.usage.touch(list(session.notes.keys_of(prepared.used).values()))
        if ended.learning is Learning.WAITING:
            self._learning.soon(ended)
        return reply

    def _model(self) -> ChatModel:
        if isinstance(self._chat, ChatModel):
            return self._chat
        # Kept only once found: a server that was down may be up for the next message.
        self._chat = found = self._chat()
        return found

    def _resolve(self, prefix: str) -> str:
        with self._store.read() as session, session.within(self._scope):
            return session.chats.resolve(prefix)

    # -- what it was about -------------------------------------------------------------------------------------

    def why(self) -> tuple[Recalled, ...]:
        """What was recalled for the last reply, and why; after a restart, for the last turn that was kept."""
        last = self.last()
        return () if last is None else last.recalled

    def last(self) -> Reply | None:
        """The last reply; after a restart that of the last turn that was kept, without notice and hint."""
        if self._last is not None:
            return self._last
        turns = self.turns()
        return self.replay(turn=turns[-1].number)[0].reply() if turns else None

    def replay(self, session: str | None = None, turn: int | None = None) -> list[Replayed]:
        """Turns as they were: what was recalled, with the words notes had then, what was shown, what was learnt.

        Raises SessionNotFound or AmbiguousId.
        """
        with self._store.read() as read, read.within(self._scope):
            chat = self._session if session is None else read.chats.resolve(session)
            turns = replay(read, chat, turn)
        return [replace(each, recalled=tuple(map(self._found, each.recalled))) for each in turns]

    def _found(self, recalled: Recalled) -> Recalled:
        """A recalled note that the collection does not hold, as a catalog has it now."""
        note = self._memory.read(recalled.note) if recalled.purged else None
        if note is None:
            return recalled
        return replace(recalled, text=text_of(note), trust=note.trust, kind=note.kind, at=note.at, purged=False)

    def taught(self, operation: int) -> Taught:
        """What learning from a turn (its ``learnt_by``), remembering or forgetting by hand did to which notes.

        Raises OperationNotFound.
        """
        with self._store.read() as session, session.within(self._scope):
            return taught(session, operation)

    # -- memory by hand ----------------------------------------------------------------------------------------

    def remember(self, text: str) -> Receipt:
        """Keep a note as it is worded. Raises InvalidInput while incognito, EmptyNote, NoteTooLong or StorageError."""
        if self.incognito:
            raise InvalidInput(
                "incognito: nothing is stored, so nothing can be remembered",
                hint="switch it off first, in a terminal with /incognito off",
            )
        receipt = self._memory.add(text, speaker=self._memory.settings.user_name)
        if receipt.operation is not None:
            self._by_hand.append(receipt.operation)
        return receipt

    def forget(self, what: str) -> Forgotten:
        """Hide the note of that id (or its beginning); for any other text, the notes it may mean, none of them hidden.

        No note is offered where none has the words or comes near. Hidden notes come back with `undo`. Raises
        AmbiguousId, and InvalidInput for an empty text.
        """
        if not isinstance(what, str):
            raise InvalidInput(f"what to forget must be text, not {type(what).__name__}")
        named = what.strip()
        if not named:
            raise InvalidInput("say which note to forget", hint="give its id, or words to look for")
        # "cafe" is a word and the beginning of an id alike: what is shorter than ids are shown must be a whole one.
        if len(named) >= _SHOWN_ID or self._memory.read(named) is not None:
            try:
                id = self._memory.resolve(named)
            except NoteNotFound:
                pass  # words, then
            else:
                return self._hide(id)
        return meant(self._memory, self._store, named)

    def _hide(self, id: str) -> Forgotten:
        self._memory.delete(id)
        with self._store.read() as session:
            operation = session.operations.history(id)[-1].operation
        self._by_hand.append(operation)
        return Forgotten(id, operation=operation)

    def undo(self, by_hand: Sequence[int] = ()) -> UndoReport:
        """Take back what was last learnt in this chat, remembered by hand or forgotten. Raises NothingToUndo.

        `by_hand` are operations by which a person remembered or forgot something beside this assistant.
        """
        self._learning.wait(self._memory.settings.llm_timeout)
        with self._store.read() as session:
            learnt = last_learnt(session, session.chats.turns(self._session))
            found = [each for each in (*self._by_hand, *by_hand) if not session.operations.get(each).undone]
        if learnt is not None:
            found.append(learnt)
        if not found:
            raise NothingToUndo("nothing was learnt in this chat that could be taken back", hint="amem log shows more")
        return self._memory.undo(max(found))

    # -- the end -----------------------------------------------------------------------------------------------

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until what was said has been learnt from; False when that takes longer than `timeout` seconds."""
        return self._learning.wait(timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Wait so many seconds for what is being learnt; what is not done then stays queued."""
        self._learning.close(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
