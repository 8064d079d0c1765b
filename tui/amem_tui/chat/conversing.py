"""A conversation on the screen: a question asked in a thread of its own, the answer shown as it comes."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from textual import events, on, work
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from amem.conversation.background import Background
from amem.conversation.reply import PieceKind, was_shown
from amem.errors import AmemError
from amem.storage.chats import Learning, TurnState
from amem_tui.chat import chat_reading as reading
from amem_tui.chat.chat_reading import Aside, Chat, Standing
from amem_tui.chat.composer import Composer
from amem_tui.chat.recall_panel import Panel
from amem_tui.chat.turn_view import Exchange, Transcript
from amem_tui.formatting import one_line, plural
from amem_tui.rooms import NotesScreen

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from amem.conversation.assistant import Assistant
    from amem.conversation.reply import Learnt, Piece, Recalled, Reply
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings
    from amem_tui.desk import Desk


# The assistant in a thread of its own, as it wants to be used: the screen puts questions and hears pieces.

if TYPE_CHECKING:
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


# A conversation on the screen: a chat is opened, a question asked, the answer shown as it comes, lessons as they are
# learnt.

#: Seconds between two looks at what the model wrote: often enough to read along, seldom enough to leave time for keys.
_TICK, _LONGEST_TICK = 0.06, 0.4
#: Characters shown at a time; what a model pours out is shown over a few seconds rather than stopping the keys.
_GULP = 2_000
_GREETING = """What you tell the assistant becomes notes; what you ask is looked up in them first.
What was recalled for an answer, and learnt from what you said, stands beside it (p)."""


class ConversingScreen(NotesScreen):
    """What every key of the room works on."""

    @dataclass
    class Heard(Message):
        """Something was learnt from a turn, or could not be."""

        learnt: Learnt

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._talk = Talk(desk.memory, self._hear)
        # Held, since looking them up among all blocks of a long conversation takes its time.
        self._transcript = Transcript(desk.zone)
        self._composer = Composer()
        self._panel = Panel(desk.zone)
        self._who, self._problem = Static(id="who"), Static(id="problem")
        self._session: str | None = None
        self._opened = False
        self._stale = self._missed = False
        self._reading = asyncio.Lock()
        self._answering: Exchange | None = None
        self._standing = Standing()
        #: Turns whose lesson is on its way, and what a person did by hand, as operations.
        self._awaited: list[int] = []
        self._by_hand: list[int] = []
        self._why_unlearnt = ""

    def furnish(self) -> ComposeResult:
        yield self._who
        with Horizontal(id="chat"):
            with Vertical(id="talking"):
                yield self._transcript
                yield self._problem
                yield self._composer
            yield self._panel

    def on_mount(self) -> None:
        # At once: letters typed right behind the key that leads here are not to be taken for keys.
        self.set_focus(self._composer)

    async def on_unmount(self) -> None:
        await asyncio.to_thread(self._talk.close)

    # -- the chat ----------------------------------------------------------------------------------------------

    @on(events.ScreenResume)
    def _ask_who(self) -> None:
        self._look_who_answers()

    def reload(self) -> None:
        if not self._stale:
            self._stale = True
            self._read()

    @work(group="chat")
    async def _read(self) -> None:
        """Open the chat used last, or show what others did to the open one."""
        async with self._reading:
            self._stale = False
            with self._desk.refusals():
                if not self._opened:
                    await self._show(await self.ask(partial(reading.newest_chat, self.memory)))
                elif self._session is not None:
                    await self._follow_chat(self._session)
                notes = await self.ask(self.memory.count)
                self._stand(replace(self._standing, notes=notes))
        self._show_aside()

    async def _follow_chat(self, session: str) -> None:
        """Show what others did to it; while an answer is being written that would push it away, so it waits."""
        chat = None if self._answering is not None else await self.ask(partial(reading.read_chat, self.memory, session))
        self._missed = self._answering is not None
        if chat is None or self._missed or self._session != session:
            return
        looked_at = self._transcript.looked_at
        await self._transcript.follow(chat)
        if self._panel.has_focus:  # whoever is busy with what a turn taught goes on with that turn
            self._transcript.choose(looked_at)
        self._tell()

    async def _show(self, chat: Chat) -> None:
        """Go on with another chat."""
        self._session = chat.session
        self._talk.resume(chat.session)
        self._awaited.clear()
        self._by_hand.clear()
        await self._transcript.show(chat)
        self._composer.said([turn.question for turn in chat.turns])
        self._opened = True
        self._tell()

    def _tell(self) -> None:
        turns = sum(1 for each in self._transcript.exchanges if each.number is not None)
        last = self._transcript.last
        number = turns if last is None or last.number is None else last.number
        self.bar.tell(f"{plural(number, 'turn')} " if number else "new chat ")
        self._transcript.greet(Content.assemble((_GREETING, "$muted")))
        self.refresh_bindings()

    # -- who answers -------------------------------------------------------------------------------------------

    @work(exclusive=True, group="who")
    async def _look_who_answers(self) -> None:
        with self._desk.refusals():
            self._stand(await self.ask(partial(reading.standing, self.memory, self._talk.settings)))

    def _stand(self, found: Standing) -> None:
        self._standing = found
        self.set_class(self._talk.incognito, "-incognito")
        parts = [Content.assemble(("◆ ", "$accent"), one_line(found.who))] if found.who else []
        parts.append(Content.assemble((plural(found.notes, "note"), "$muted")))
        if self._talk.incognito:
            parts.insert(
                0, Content.assemble((" INCOGNITO ", "bold $warning"), "nothing is stored or learnt; x ends it")
            )
        self._who.update(Content("   ").join(parts))
        self._problem.set_class(bool(found.problem), "-said")
        hint = one_line(found.hint)
        todo = f"\n{hint[:1].upper()}{hint[1:]}." if hint else ""
        self._problem.update(
            Content(
                f"No model answers: {one_line(found.problem)}.{todo}"
                " Until then what you tell is saved as a note, and what you ask is looked up."
            )
        )
        self.refresh_bindings()

    # -- one turn ----------------------------------------------------------------------------------------------

    @work(group="answer")
    async def _say(self, text: str) -> None:
        """Ask, show the answer as it is written, and say how it ended."""
        exchange = self._answering = Exchange(text, self._desk.zone)
        try:
            async with self._reading:  # a chat that is just being opened comes first
                self._transcript.choose(None)
                await self._transcript.add(exchange)
            self.refresh_bindings()
            self._show_aside()
            with self._desk.refusals():
                try:
                    reply = await self._hear_out(exchange, self._talk.question(text))
                except AmemError:
                    self._transcript.drop(exchange)
                    self._composer.give_back(text)
                    raise
                await self._end(exchange, reply)
        finally:
            self._answering = None
            self.refresh_bindings()
        if self._missed:
            self.reload()

    async def _hear_out(self, exchange: Exchange, pieces: Pieces) -> Reply:
        """Show the pieces as they come, to the last."""
        since, recalled, backlog = monotonic(), None, ""
        reply: Reply | None = None
        pause = _TICK
        while True:
            began = monotonic()
            await asyncio.sleep(pause)
            if not self.app.is_running or not self.is_attached:
                raise asyncio.CancelledError  # nobody looks any more; what comes is kept all the same
            # Coming back late means that drawing takes long: leave keys more room in between.
            late = monotonic() - began - pause
            pause = min(_LONGEST_TICK, max(_TICK, 3 * late))
            with suppress(Empty):
                while reply is None:
                    piece = pieces.get_nowait()
                    if isinstance(piece, Exception):
                        raise piece
                    if piece.kind is PieceKind.RECALLED:
                        recalled = piece.recalled
                        self._show_recalled(exchange, recalled)
                    elif piece.kind is PieceKind.NOTICE:
                        exchange.note(piece.text)
                    backlog += piece.text if piece.kind is PieceKind.TEXT else ""
                    reply = piece.reply
            if reply is not None and reply.state is TurnState.INTERRUPTED:
                return reply  # whoever stopped it does not want to watch the rest of it being written
            # Each draws the whole answer anew: as much again at a time keeps that from growing with the square.
            gulp = max(_GULP, len(exchange.answer))
            now, backlog = backlog[:gulp], backlog[gulp:]
            if now:
                await exchange.write(now)
            elif recalled is not None and not exchange.answer and reply is None:
                exchange.waits(recalled, monotonic() - since, model=not self._standing.problem)
            if reply is not None and not backlog:
                return reply

    def _show_recalled(self, exchange: Exchange, recalled: tuple[Recalled, ...]) -> None:
        exchange.waits(recalled, 0, model=not self._standing.problem)
        if self._transcript.looked_at is exchange:
            self._panel.show(Aside(recalled=recalled, shown=not self._standing.problem))

    async def _end(self, exchange: Exchange, reply: Reply) -> None:
        await exchange.finish(reply, self.memory.named)
        if reply.turn is not None:
            self._session = reply.session
            if self.memory.settings.chat_learning == "turn":
                self._awaited.append(reply.turn)
        unanswered = reply.state is TurnState.UNANSWERED
        self._stand(
            replace(self._standing, who="", problem=reply.error, hint=reply.hint)
            if unanswered
            else replace(self._standing, problem="", hint="")
        )
        self._tell()
        self._show_aside()
        if not self.is_current:
            self._desk.say("No model answered; c shows what memory holds" if unanswered else "Answered; c shows it")

    # -- what belongs to it ------------------------------------------------------------------------------------

    def _hear(self, learnt: Learnt) -> None:
        """Called by the thread that learns."""
        self.post_message(self.Heard(learnt))

    @on(Heard)
    async def _learnt(self, event: Heard) -> None:
        if self._awaited:
            self._awaited.pop(0)
        learnt = event.learnt
        said = learnt.words(undo="; u in the chat undoes it" if learnt.operations else "")
        repeated = bool(learnt.error) and learnt.error == self._why_unlearnt
        self._why_unlearnt = learnt.error or self._why_unlearnt
        if said and not repeated and (learnt.error or not self.is_current or not self._panel.region.area):
            self._desk.say(said[:1].upper() + said[1:])
        self._show_aside()
        with self._desk.refusals():
            await self._desk.look()

    @work(exclusive=True, group="aside")
    async def _show_aside(self) -> None:
        """Show what was recalled for the turn that is looked at, and what was learnt from it."""
        exchange, by_hand = self._transcript.looked_at, tuple(self._by_hand)
        with self._desk.refusals():
            number = None if exchange is None else exchange.number
            if exchange is None or number is None or self._session is None:
                done = await self.ask(partial(reading.done_by_hand, self.memory, by_hand)) if by_hand else ()
                recalled = () if exchange is None else exchange.recalled
                reply = None if exchange is None else exchange.reply
                aside = Aside(
                    recalled=recalled,
                    in_memory=None if reply is None else reply.in_memory,
                    taught=done,
                    unanswered=reply is not None and reply.state is TurnState.UNANSWERED,
                    shown=reply is not None and was_shown(reply.state, reply.model),
                )
            else:
                aside = await self.ask(partial(reading.aside, self.memory, self._session, number, by_hand))
            waits = number in self._awaited and aside.learning is Learning.WAITING
            self._panel.show(aside, waiting=waits)
            self.refresh_bindings()
