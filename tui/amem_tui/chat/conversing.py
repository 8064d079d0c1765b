"""A conversation on the screen, drawn as ``amem.conversation.session`` has it: answers as they come, commands."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from textual import events, on, work
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from amem.conversation import commands
from amem.conversation.background import Background
from amem.conversation.commands import Choices
from amem.conversation.reply import PieceKind
from amem.conversation.session import Answering, Chat, Conversation, TurnDetail
from amem.errors import AmemError
from amem.storage.chats import Learning, TurnState
from amem_tui.chat.composer import Composer
from amem_tui.chat.recall_panel import Panel
from amem_tui.chat.turn_view import Exchange, Transcript, choices, drawn
from amem_tui.dialogs import Picker
from amem_tui.formatting import one_line, plural
from amem_tui.rooms import NotesScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual.app import ComposeResult

    from amem.conversation.commands import Shown
    from amem.conversation.reply import Learnt, Piece, Recalled, Reply
    from amem_tui.client import CollectionClient


# The conversation in a thread of its own: the screen puts questions and reads pieces.

if TYPE_CHECKING:
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
    class LearntSomething(Message):
        """Something was learnt from a turn, or could not be."""

        learnt: Learnt

    def __init__(self, client: CollectionClient) -> None:
        super().__init__(client)
        self.conversation = Conversation(client.memory, on_learnt=self._hear)
        self._thread = ConversationThread(self.conversation)
        # Held, since looking them up among all blocks of a long conversation takes its time.
        self.transcript = Transcript(client.zone)
        self.composer = Composer()
        self.panel = Panel(client.zone)
        self._who, self._problem = Static(id="who"), Static(id="problem")
        self.session: str | None = None
        self.opened = False
        self._stale = self.missed = False
        self._reading = asyncio.Lock()
        self.answering: Exchange | None = None
        self.standing = Answering()
        #: Turns whose lesson is on its way.
        self._awaited: list[int] = []

    def furnish(self) -> ComposeResult:
        yield self._who
        with Horizontal(id="chat"):
            with Vertical(id="talking"):
                yield self.transcript
                yield self._problem
                yield self.composer
            yield self.panel

    def on_mount(self) -> None:
        # At once: letters typed right behind the key that leads here are not to be taken for keys.
        self.set_focus(self.composer)

    async def on_unmount(self) -> None:
        await asyncio.to_thread(self._thread.close)

    # -- the chat ----------------------------------------------------------------------------------------------

    @on(events.ScreenResume)
    def _ask_who(self) -> None:
        self._look_who_answers()

    def load(self) -> None:
        if not self._stale:
            self._stale = True
            self._read()

    @work(group="chat")
    async def _read(self) -> None:
        """Open the chat used last, or show what others did to the open one."""
        async with self._reading:
            self._stale = False
            with self._client.refusals():
                if not self.opened:
                    await self._show(await self.ask(self.conversation.newest))
                elif self.session is not None:
                    await self._follow_chat(self.session)
                notes = await self.ask(self.memory.count)
                self._stand(replace(self.standing, notes=notes))
        self._show_aside()

    async def _follow_chat(self, session: str) -> None:
        """Show what others did to it; while an answer is being written that would push it away, so it waits."""
        chat = None if self.answering is not None else await self.ask(partial(self.conversation.read, session))
        self.missed = self.answering is not None
        if chat is None or self.missed or self.session != session:
            return
        looked_at = self.transcript.looked_at
        await self.transcript.follow(chat)
        if self.panel.has_focus:  # whoever is busy with what a turn taught goes on with that turn
            self.transcript.choose(looked_at)
        self._tell()

    async def _show(self, chat: Chat) -> None:
        """Go on with another chat."""
        self.session = chat.session
        self._thread.call(partial(self.conversation.resume, chat.session))
        self._awaited.clear()
        await self.transcript.show(chat)
        self.composer.said([turn.question for turn in chat.turns])
        self.opened = True
        self._tell()

    def _tell(self) -> None:
        turns = sum(1 for each in self.transcript.exchanges if each.number is not None)
        last = self.transcript.last
        number = turns if last is None or last.number is None else last.number
        self.bar.tell(f"{plural(number, 'turn')} " if number else "new chat ")
        self.transcript.greet(Content.assemble((_GREETING, "$muted")))
        self.refresh_bindings()

    # -- who answers -------------------------------------------------------------------------------------------

    @work(exclusive=True, group="who")
    async def _look_who_answers(self) -> None:
        with self._client.refusals():
            self._stand(await self.ask(self.conversation.answering))

    def _stand(self, found: Answering) -> None:
        self.standing = found
        self.set_class(self.conversation.incognito, "-incognito")
        parts = [Content.assemble(("◆ ", "$accent"), one_line(found.who))] if found.who else []
        parts.append(Content.assemble((plural(found.notes, "note"), "$muted")))
        if self.conversation.incognito:
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
        exchange = self.answering = Exchange(text, self._client.zone)
        try:
            async with self._reading:  # a chat that is just being opened comes first
                self.transcript.choose(None)
                await self.transcript.add(exchange)
            self.refresh_bindings()
            self._show_aside()
            with self._client.refusals():
                try:
                    reply = await self._hear_out(exchange, self._thread.question(text))
                except AmemError:
                    self.transcript.drop(exchange)
                    self.composer.give_back(text)
                    raise
                await self._end(exchange, reply)
        finally:
            self.answering = None
            self.refresh_bindings()
        if self.missed:
            self.reload()

    @work(group="answer")
    async def _run(self, text: str) -> None:
        """Run a slash command and show what it has to show."""
        try:
            with self._client.refusals():
                await self._show_lines(lambda: commands.run(self.conversation, text))
        except commands.Leave:
            self.action_leave()
            return
        self._stand(self.standing)
        self._look_who_answers()
        self._show_aside()
        with self._client.refusals():
            await self._client.look()

    async def _show_lines(self, run: Callable[[], Iterator[Shown]]) -> None:
        """Show what a command has to show, and have the person choose where it asks which notes are meant."""
        lines: list[Content] = []
        asked: list[Choices] = []
        for each in await asyncio.wrap_future(self._thread.call(lambda: list(run()))):
            if isinstance(each, Choices):
                asked.append(each)
            else:
                lines.append(drawn(self.memory, each))
        await self.transcript.remark(Content("\n").join(lines))
        for each in asked:
            if (chosen := await self.app.push_screen_wait(Picker("Forget which?", choices(each)))) is not None:
                await self._show_lines(partial(commands.hide, self.conversation, [chosen]))

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
                exchange.waits(recalled, monotonic() - since, model=not self.standing.problem)
            if reply is not None and not backlog:
                return reply

    def _show_recalled(self, exchange: Exchange, recalled: tuple[Recalled, ...]) -> None:
        exchange.waits(recalled, 0, model=not self.standing.problem)
        if self.transcript.looked_at is exchange:
            self.panel.show(TurnDetail(recalled=recalled, shown=not self.standing.problem))

    async def _end(self, exchange: Exchange, reply: Reply) -> None:
        await exchange.finish(reply, self.memory.named)
        if reply.turn is not None:
            self.session = reply.session
            if self.memory.settings.chat_learning == "turn":
                self._awaited.append(reply.turn)
        unanswered = reply.state is TurnState.UNANSWERED
        self._stand(
            replace(self.standing, who="", problem=reply.error, hint=reply.hint)
            if unanswered
            else replace(self.standing, problem="", hint="")
        )
        self._tell()
        self._show_aside()
        if not self.is_current:
            self._client.say("No model answered; c shows what memory holds" if unanswered else "Answered; c shows it")

    # -- what belongs to it ------------------------------------------------------------------------------------

    def _hear(self, learnt: Learnt) -> None:
        """Called by the thread that learns."""
        self.post_message(self.LearntSomething(learnt))

    @on(LearntSomething)
    async def _learnt(self, event: LearntSomething) -> None:
        if self._awaited:
            self._awaited.pop(0)
        learnt = event.learnt
        said = learnt.words(undo="; u in the chat undoes it" if learnt.operations else "")
        repeated = self.conversation.news(learnt) is not learnt
        if said and not repeated and (learnt.error or not self.is_current or not self.panel.region.area):
            self._client.say(said[:1].upper() + said[1:])
        self._show_aside()
        with self._client.refusals():
            await self._client.look()

    @work(exclusive=True, group="aside")
    async def _show_aside(self) -> None:
        """Show what was recalled for the turn that is looked at, and what was learnt from it."""
        exchange = self.transcript.looked_at
        with self._client.refusals():
            number = None if exchange is None else exchange.number
            if exchange is None or number is None or self.session is None:
                recalled = () if exchange is None else exchange.recalled
                reply = None if exchange is None else exchange.reply
                detail = await self.ask(partial(self.conversation.unkept_detail, recalled, reply))
            else:
                detail = await self.ask(partial(self.conversation.detail, self.session, number))
            waits = number in self._awaited and detail.learning is Learning.WAITING
            self.panel.show(detail, waiting=waits)
            self.refresh_bindings()
