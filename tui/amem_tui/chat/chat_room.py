"""The chat room: a conversation with the assistant, drawn as ``amem.conversation.session`` has it."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from textual import events, on, work
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from amem.conversation import commands
from amem.conversation.background import Background
from amem.conversation.commands import Choices, is_command, plain
from amem.conversation.ports import available, check, with_model
from amem.conversation.reply import PieceKind
from amem.conversation.session import Answering, Chat, Conversation, TurnDetail
from amem.errors import AmemError
from amem.labels import counted
from amem.llm.model_names import full_name
from amem.query import Filter
from amem.storage.chats import Learning, TurnState
from amem_tui import changes
from amem_tui.chat.turn_view import RecallPanel, Transcript, TurnView, drawn, note_choices
from amem_tui.client import Refresher, settle
from amem_tui.dialogs import Picker
from amem_tui.formatting import command, moment, one_line, title, typeable
from amem_tui.keymap import ROOM_KEYS
from amem_tui.page import Named, Page, ToNote
from amem_tui.rooms import NotesScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from textual.app import ComposeResult

    from amem.conversation.commands import Shown
    from amem.conversation.reply import Learnt, Piece, Reply
    from amem_tui.client import Answer, CollectionClient, Given

    Pieces: TypeAlias = SimpleQueue[Piece | Exception]


#: Seconds that closing waits for an answer that is being stopped, and then for what is being learnt.
_STOPPING, _LEARNING = 0.8, 0.2


class ConversationThread:
    """Calls a conversation in order, from one thread. Close it before the collection."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._thread: Background[Callable[[], None]] = Background(lambda job: job(), "amem-chat")

    def call(self, job: Callable[Given, Answer], *args: Given.args, **named: Given.kwargs) -> Future[Answer]:
        future: Future[Answer] = Future()
        self._thread.put(partial(settle, future, partial(job, *args, **named)))
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


class Composer(TextArea):
    """Enter is left to the screen, which sends. Up and down in an empty input bring earlier messages back."""

    def __init__(self) -> None:
        super().__init__(
            id="composer",
            soft_wrap=True,
            tab_behavior="focus",
            compact=True,
            highlight_cursor_line=False,
            placeholder="Say something, or ask what the notes know",
        )
        self.cursor_blink = False
        self._said: list[str] = []
        self._place: int | None = None

    def said(self, texts: list[str]) -> None:
        self._said, self._place = texts, None

    def take(self) -> str:
        if text := self.text.strip():
            self.clear()
            self.said(self._said if self._said[-1:] == [text] else [*self._said, text])
        return text

    def give_back(self, text: str) -> None:
        """Put what could not be sent where it was, unless something else has been written meanwhile."""
        if not self.text.strip():
            self.text = typeable(text)
            self.move_cursor(self.document.end)

    async def _on_paste(self, event: events.Paste) -> None:
        event.text = typeable(event.text.replace("\r\n", "\n").replace("\r", "\n"))

    async def _on_key(self, event: events.Key) -> None:
        brought_back = "" if self._place is None else typeable(self._said[self._place])
        if event.key == "enter":
            event.prevent_default()  # no new line: the screen's key sends
        elif event.key in ("up", "down") and self.text in ("", brought_back):
            event.stop()
            event.prevent_default()
            self._leaf(-1 if event.key == "up" else 1)

    def _leaf(self, by: int) -> None:
        at = max(0, (len(self._said) if self._place is None else self._place) + by)
        self._place = at if at < len(self._said) else None
        self.text = "" if self._place is None else typeable(self._said[self._place])
        self.move_cursor(self.document.end)


#: Seconds between two looks at what the model wrote: often enough to read along, seldom enough to leave time for keys.
_TICK, _LONGEST_TICK = 0.06, 0.4
_UNTIL_THEN = " Until then what you tell is saved as a note, and what you ask is looked up."
#: Actions whose keys only work in the input; those of the others are letters, and wait until one has left it.
_WHILE_TYPING = frozenset(("send", "new_line", "again_now", "unfocus"))
_LETTERS = frozenset(key.action.partition("(")[0] for key in ROOM_KEYS["chat"]) - _WHILE_TYPING - {"stop", "new_chat"}
#: Actions of letters that the palette has while somebody types.
_PALETTE = _LETTERS - {"scroll", "leave", "write", "turn"}


class ChatScreen(NotesScreen):
    """The chat used last goes on, unless another is begun or chosen."""

    ROOM = "chat"

    HELP = r"""
- ✓ an answer can rest on it
- \+ remembered
- \~ changed by what was said
- × superseded by what was said
"""

    def __init__(self, client: CollectionClient) -> None:
        super().__init__(client)
        self.conversation = Conversation(client.memory, on_learnt=self._hear)
        self._thread = ConversationThread(self.conversation)
        # Held, since looking them up among all blocks of a long conversation takes its time.
        self.transcript = Transcript(client.zone)
        self.composer = Composer()
        self.panel = RecallPanel(client.zone)
        self._who, self._problem = Static(id="who"), Static(id="problem")
        self.session: str | None = None
        self.opened = self.missed = False
        self._reader = Refresher(self._read, partial(self.run_worker, group="chat"))
        self._reading = asyncio.Lock()
        self.answering: TurnView | None = None
        self.answerer = Answering()
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

    def load(self) -> None:
        self._reader.want()

    async def _read(self) -> None:
        """Open the chat used last, or show what others did to the open one."""
        async with self._reading:
            if not self.opened:
                await self._show(await self.ask(self.conversation.newest))
            elif self.session is not None:
                await self._follow_chat(self.session)
            notes = await self.ask(self.memory.count, Filter())
            self._show_answerer(replace(self.answerer, notes=notes))
        self._show_aside()

    async def _follow_chat(self, session: str) -> None:
        """Show what others did to it; while an answer is being written that would push it away, so it waits."""
        chat = None if self.answering is not None else await self.ask(self.conversation.read, session)
        self.missed = self.answering is not None
        if chat is None or self.missed or self.session != session:
            return
        looked_at = self.transcript.looked_at
        await self.transcript.follow(chat)
        if self.panel.has_focus:  # whoever is busy with what a turn taught goes on with that turn
            self.transcript.choose(looked_at)
        self._tell()

    async def _show(self, chat: Chat) -> None:
        self.session = chat.session
        self._thread.call(self.conversation.resume, chat.session)
        self._awaited.clear()
        await self.transcript.show(chat)
        self.composer.said([turn.question for turn in chat.turns])
        self.opened = True
        self._tell()

    def _tell(self) -> None:
        numbers = [each.number for each in self.transcript.views if each.number is not None]
        last = self.transcript.last
        number = len(numbers) if last is None or last.number is None else last.number
        self.bar.tell(f"{counted(number, 'turn')} " if number else "new chat ")
        self.refresh_bindings()

    @on(events.ScreenResume)
    @work(exclusive=True, group="who")
    async def _look_who_answers(self) -> None:
        self._show_answerer(await self.ask(self.conversation.answering))

    def _show_answerer(self, found: Answering) -> None:
        self.answerer = found
        self.set_class(self.conversation.incognito, "-incognito")
        ends = "nothing is stored or learnt; x ends it"
        parts = [Content.assemble((" INCOGNITO ", "bold $warning"), ends)] if self.conversation.incognito else []
        parts += [Content.assemble(("◆ ", "$accent"), one_line(found.who))] if found.who else []
        parts.append(Content.styled(counted(found.notes, "note"), "$muted"))
        self._who.update(Content("   ").join(parts))
        self._problem.set_class(bool(found.problem), "-said")
        hint = one_line(found.hint)
        todo = f"\n{hint[:1].upper()}{hint[1:]}." if hint else ""
        self._problem.update(Content(f"No model answers: {one_line(found.problem)}.{todo}{_UNTIL_THEN}"))
        self.refresh_bindings()

    @work(group="answer")
    async def _say(self, text: str) -> None:
        """Ask, show the answer as it is written, and say how it ended."""
        view = self.answering = TurnView(text, self.client.zone)
        try:
            async with self._reading:  # a chat that is just being opened comes first
                self.transcript.choose(None)
                await self.transcript.add(view)
            self.refresh_bindings()
            self._show_aside()
            with self.client.refusals():
                try:
                    reply = await self._hear_out(view, self._thread.question(text))
                except AmemError:
                    self.transcript.drop(view)
                    self.composer.give_back(text)
                    raise
                await self._end(view, reply)
        finally:
            self.answering = None
            self.refresh_bindings()
        if self.missed:
            self.reload()

    @work(group="answer")
    async def _run(self, text: str) -> None:
        try:
            with self.client.refusals():
                await self._show_lines(lambda: commands.run(self.conversation, text))
        except commands.Leave:
            self.action_leave()
            return
        self._show_answerer(self.answerer)
        self._look_who_answers()
        self._show_aside()
        await self.client.look()

    async def _show_lines(self, run: Callable[[], Iterator[Shown]]) -> None:
        """Show what a command has to show, and have the person choose where it asks which notes are meant."""
        shown = await asyncio.wrap_future(self._thread.call(lambda: list(run())))
        lines = [drawn(self.memory, each) for each in shown if not isinstance(each, Choices)]
        await self.transcript.remark(Content("\n").join(lines))
        for asked in (each for each in shown if isinstance(each, Choices)):
            if chosen := await self.app.push_screen_wait(Picker("Forget which?", note_choices(asked))):
                await self._show_lines(partial(commands.hide, self.conversation, [chosen]))

    async def _hear_out(self, view: TurnView, pieces: Pieces) -> Reply:
        since, recalled, pause = monotonic(), None, _TICK
        reply: Reply | None = None
        while True:
            began, written = monotonic(), ""
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
                        recalled, model = piece.recalled, not self.answerer.problem
                        await view.waits(recalled, 0, model=model)
                        if self.transcript.looked_at is view:
                            await self.panel.show_turn(TurnDetail(recalled=recalled, shown=model))
                    elif piece.kind is PieceKind.NOTICE:
                        await view.note(piece.text)
                    written += piece.text if piece.kind is PieceKind.TEXT else ""
                    reply = piece.reply
            if reply is not None and reply.state is TurnState.INTERRUPTED:
                return reply  # whoever stopped it does not want to watch the rest of it being written
            if written:
                await view.write(written)
            elif recalled is not None and not view.answer and reply is None:
                await view.waits(recalled, monotonic() - since, model=not self.answerer.problem)
            if reply is not None:
                return reply

    async def _end(self, view: TurnView, reply: Reply) -> None:
        await view.finish(reply, self.memory.named)
        if reply.turn is not None:
            self.session = reply.session
            if self.memory.settings.chat_learning == "turn":
                self._awaited.append(reply.turn)
        unanswered = reply.state is TurnState.UNANSWERED
        problem, hint = (reply.error, reply.hint) if unanswered else ("", "")
        self._show_answerer(
            replace(self.answerer, who=self.answerer.who * (not unanswered), problem=problem, hint=hint)
        )
        self._tell()
        self._show_aside()
        if not self.is_current:
            self.client.say("No model answered; c shows what memory holds" if unanswered else "Answered; c shows it")

    def _hear(self, learnt: Learnt) -> None:
        """Called by the thread that learns."""
        self.call_later(self._learnt, learnt)

    async def _learnt(self, learnt: Learnt) -> None:
        if self._awaited:
            self._awaited.pop(0)
        said = learnt.words(undo="; u in the chat undoes it" if learnt.operations else "")
        repeated = self.conversation.news(learnt) is not learnt
        if said and not repeated and (learnt.error or not self.is_current or not self.panel.region.area):
            self.client.say(said[:1].upper() + said[1:])
        self._show_aside()
        with self.client.refusals():
            await self.client.look()

    @work(exclusive=True, group="aside")
    async def _show_aside(self) -> None:
        """Show what was recalled for the turn that is looked at, and what was learnt from it."""
        view = self.transcript.looked_at
        number = None if view is None else view.number
        if view is None or number is None or self.session is None:
            about = ((), None) if view is None else (view.recalled, view.reply)
            detail = await self.ask(self.conversation.unkept_detail, *about)
        else:
            detail = await self.ask(self.conversation.detail, self.session, number)
        waits = number in self._awaited and detail.learning is Learning.WAITING
        await self.panel.show_turn(detail, waiting=waits)
        self.refresh_bindings()

    def action_undo(self) -> None:
        if self.panel.undoable is not None:
            self.change(changes.undo, self.memory, self.panel.undoable)

    @work(group="change")
    async def action_remember(self) -> None:
        text = (self.get_selected_text() or "").strip()
        if not text:
            return
        receipt = await self.ask(self.conversation.remember, text)
        self.clear_selection()
        self.client.say(f"Remembered “{one_line(text, 50)}”" if receipt.stored else "That is already saved")
        await self.client.look()
        self._show_aside()

    @work(group="change")
    async def action_forget(self) -> None:
        chosen = self.panel.note if self.panel.has_focus else None
        if chosen is None:
            words = "Nothing is forgotten before you choose it."
            picker = Picker("Forget a note", words=words, prompt="words of the note", find=self._meant)
            chosen = await self.app.push_screen_wait(picker)
        if chosen is None:
            return
        held = await self.ask(self.memory.read, chosen)
        forgotten = await self.ask(self.conversation.forget, chosen)
        if forgotten.operation is None or held is None:
            self.client.say("It was gone already")
            return
        self.client.say(f"Forgot “{one_line(title(held.content), 50)}”; u brings it back")
        await self.client.look()
        self._show_aside()

    async def _meant(self, words: str) -> tuple[Sequence[tuple[str, Content]], str]:
        with self.client.refusals():
            found = await self.ask(self.conversation.forget, words)
            if found.operation is not None:  # somebody gave an id in full
                return [], "It is forgotten; u brings it back."
            lines = note_choices(found)
            if not lines:
                return [], "No note has these words, or comes near them."
            return lines, "Which of these?" if found.worded else "Nearest, though none has these words:"
        return [], ""

    @property
    def typing(self) -> bool:
        return self.composer.has_focus

    @property
    def commands(self) -> Iterable[tuple[str, Callable[[], object]]]:
        """What keys of letters would do if nobody were typing, for the palette."""
        if not self.typing:
            return
        for binding in ROOM_KEYS["chat"]:
            if binding.action in _PALETTE and self.works(binding.action):
                yield binding.description, getattr(self, f"action_{binding.action}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in (_LETTERS if self.typing else _WHILE_TYPING):
            return False
        return self.works(action)

    def works(self, action: str) -> bool:
        answering, turns = self.answering is not None, bool(self.transcript.views)
        again = not answering and self._unanswered() is not None
        return {
            **{"stop": answering, "undo": self.panel.undoable is not None, "copy": turns, "turn": turns},
            **dict.fromkeys(("unfocus", "leave", "chats", "new_chat"), not answering),
            **dict.fromkeys(("again", "again_now"), again),
            "remember": bool(self.get_selected_text()) and not self.conversation.incognito,
        }.get(action, True)

    def action_send(self) -> None:
        if self.answering is not None:
            self.client.say("The answer is still being written; escape stops it")
        elif text := self.composer.take():
            if is_command(text):
                self._run(text)
            else:
                self._say(plain(text))

    @property
    def unsaved(self) -> str:
        return "What you wrote in Chat is not sent." if self.composer.text.strip() else ""

    def action_new_line(self) -> None:
        self.composer.insert("\n")

    def action_write(self) -> None:
        self.remove_class("-aside")
        self.set_focus(self.composer)

    def action_stop(self) -> None:
        self.conversation.stop()

    def action_unfocus(self) -> None:
        self.set_focus(self.transcript)

    def action_leave(self) -> None:
        if self.panel.has_focus:
            self.action_panel()
        else:
            super().action_leave()

    def action_again(self) -> None:
        if text := self._unanswered():
            self._say(text)
        elif text is not None:
            self._look_who_answers()

    action_again_now = action_again

    def _unanswered(self) -> str | None:
        """The last question, if it is still open; '' where no model was there and nothing was asked yet."""
        last = self.transcript.last
        if last is not None and last.state is not TurnState.ANSWERED:
            return last.question
        return "" if self.answerer.problem else None

    def action_panel(self) -> None:
        aside = not self.panel.has_focus
        self.set_class(aside, "-aside")
        self.set_focus(self.panel if aside else self.transcript)
        self.refresh_bindings()

    async def action_turn(self, by: int) -> None:
        await self.transcript.step(by)
        self._show_aside()

    @on(TurnView.Chosen)
    def _look_at(self, event: TurnView.Chosen) -> None:
        self.transcript.choose(event.view)
        self._show_aside()

    @on(Page.Chose)
    def _moved(self) -> None:
        self.refresh_bindings()

    @on(Page.Followed)
    def _follow(self, event: Page.Followed) -> None:
        event.stop()
        match event.destination:
            case ToNote(id):
                self.client.app.read_note(id)
            case Named(name):
                self.client.say(f"No note is called “{one_line(name, 60)}” (yet).")

    def action_scroll(self, lines: int) -> None:
        self.transcript.scroll_relative(y=lines, animate=False)

    def action_copy(self) -> None:
        if (looked_at := self.transcript.looked_at) is not None:
            self.app.copy_to_clipboard(looked_at.answer or looked_at.question)
            self.client.say("Copied the answer" if looked_at.answer else "Copied the question")

    @work(group="choose")
    async def action_chats(self) -> None:
        lines = []
        for each in await self.ask(self.conversation.chats):
            at, turns = f"{moment(each.last_at, self.client.zone)}  ", f"{counted(each.turns, 'turn'):<9} "
            lines.append((each.id, Content.assemble((at, "$muted"), (turns, "$secondary"), one_line(each.opening, 80))))
        words = "" if lines else "There is no chat yet: whatever you ask begins one."
        chosen = await self.app.push_screen_wait(Picker("Chats, the last used first", lines, words=words))
        if chosen is not None and self.answering is None:
            await self._go_to(await self.ask(self.conversation.read, chosen))

    @work(group="choose")
    async def action_new_chat(self) -> None:
        await self._go_to(Chat())

    async def _go_to(self, chat: Chat) -> None:
        async with self._reading:
            await self._show(chat)
        self._show_aside()
        self.set_focus(self.composer)

    @work(group="choose")
    async def action_model(self) -> None:
        settings = self.memory.settings
        found = await self.ask(available, settings)
        words = "" if found else f"Ollama has no chat model: {command(settings, 'models pull NAME')} gets one."
        if found is None:
            words = f"No Ollama answers at {settings.ollama_host}."
        lines = [(name, Content(one_line(name))) for name in found or ()]
        picker = Picker("Who answers from now on", lines, words=words, prompt="another model's name")
        if name := await self.app.push_screen_wait(picker):
            with self.client.refusals():
                wanted = with_model(settings, name)
                await self.ask(lambda: check(wanted, full_name(wanted.llm_backend, wanted.llm_model)))
                self.conversation.settings = wanted
                self._thread.call(self.conversation.use, wanted)
        self._look_who_answers()

    def action_incognito(self) -> None:
        self.conversation.incognito = not self.conversation.incognito
        self._show_answerer(self.answerer)
