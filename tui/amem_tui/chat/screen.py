"""The chat room: a conversation with the assistant of this collection, and what can be done in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.content import Content
from textual.widgets import OptionList

from amem.conversation.who_answers import available, check, with_model
from amem.llm.names import full_name
from amem.storage.chats import TurnState
from amem_tui.browse.pane.aims import Address, Named, ToNote
from amem_tui.browse.pane.page import Page
from amem_tui.chat import reading
from amem_tui.chat.by_hand import ByHandScreen
from amem_tui.chat.chooser import Chooser
from amem_tui.chat.commands import RoomCommands
from amem_tui.chat.exchange import Exchange
from amem_tui.chat.keys import KEYS, LETTERS, WHILE_TYPING
from amem_tui.chat.panel import Panel
from amem_tui.chat.reading import Chat
from amem_tui.chat.transcript import Transcript
from amem_tui.command_line import command
from amem_tui.phrases import moment, one_line, plural

if TYPE_CHECKING:
    from textual.binding import BindingType

    from amem.settings import Settings


class ChatScreen(ByHandScreen):
    """The chat used last goes on, unless another is begun or chosen."""

    ROOM = "chat"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]
    CSS_PATH = "chat.tcss"

    LEGEND: ClassVar[tuple[tuple[str, str], ...]] = (
        ("✓", "an answer can rest on it"),
        ("+", "remembered"),
        ("~", "changed by what was said"),
        ("×", "superseded by what was said"),
    )
    COMMANDS = {RoomCommands}  # noqa: RUF012 (Textual declares it so)

    @property
    def typing(self) -> bool:
        """Whether letters go into the input."""
        return self._composer.has_focus

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what works now is offered."""
        if action in (LETTERS if self.typing else WHILE_TYPING):
            return False
        return self.works(action)

    def works(self, action: str) -> bool:
        """Whether the action would do something, wherever the cursor is."""
        answering = self._answering is not None
        match action:
            case "stop":
                return answering
            case "unfocus" | "leave":
                return not answering
            case "again" | "again_now":
                return not answering and self._unanswered() is not None
            case "chats" | "new_chat":
                return not answering
            case "undo":
                return self._panel.undoable is not None
            case "remember":
                return bool(self.get_selected_text()) and not self._talk.incognito
            case "copy" | "turn":
                return bool(self._transcript.exchanges)
        return True

    # -- saying ------------------------------------------------------------------------------------------------

    def action_send(self) -> None:
        if self._answering is not None:
            self._desk.say("The answer is still being written; escape stops it")
        elif text := self._composer.take():
            self._say(text)

    @property
    def unsaved(self) -> str:
        """What would be lost with the room; "" when nothing would."""
        return "What you wrote in Chat is not sent." if self._composer.text.strip() else ""

    def action_new_line(self) -> None:
        self._composer.insert("\n")

    def action_write(self) -> None:
        self.remove_class("-aside")
        self.set_focus(self._composer)

    def action_stop(self) -> None:
        self._talk.stop()

    def action_unfocus(self) -> None:
        self.set_focus(self._transcript)

    def action_leave(self) -> None:
        if self._panel.has_focus:
            self.action_panel()
        else:
            super().action_leave()

    def action_again(self) -> None:
        text = self._unanswered()
        if text:
            self._say(text)
        elif text is not None:
            self._look_who_answers()

    def action_again_now(self) -> None:
        self.action_again()

    def _unanswered(self) -> str | None:
        """The last question, if it is still open; '' where no model was there and nothing was asked yet."""
        last = self._transcript.last
        if last is not None and last.state is not TurnState.ANSWERED:
            return last.question
        return "" if self._standing.problem else None

    # -- looking -----------------------------------------------------------------------------------------------

    def action_panel(self) -> None:
        """Go to what was recalled and learnt, and back."""
        if self._panel.has_focus:
            self.remove_class("-aside")
            self.set_focus(self._transcript)
        else:
            self.add_class("-aside")
            self.set_focus(self._panel)
        self.refresh_bindings()

    async def action_turn(self, by: int) -> None:
        await self._transcript.step(by)
        self._show_aside()

    @on(Transcript.EarlierWanted)
    async def _show_more(self) -> None:
        await self._transcript.show_earlier()

    @on(Exchange.Chosen)
    def _look_at(self, event: Exchange.Chosen) -> None:
        self._transcript.choose(event.exchange)
        self._show_aside()

    @on(OptionList.OptionHighlighted, "#panel")
    def _moved(self) -> None:
        self.refresh_bindings()

    @on(Panel.Opened)
    def _open_note(self, event: Panel.Opened) -> None:
        self._desk.rooms.read_note(event.note)

    @on(Page.Followed)
    def _follow(self, event: Page.Followed) -> None:
        event.stop()
        match event.aim:
            case ToNote(id):
                self._desk.rooms.read_note(id)
            case Named(name):
                self._desk.say(f"No note is called “{one_line(name, 60)}” (yet).")
            case Address(url):  # whoever wrote it, a person decides whether to go there
                self.app.copy_to_clipboard(url)
                self._desk.say(f"Copied {one_line(url, 100)}")

    def action_down(self) -> None:
        self._transcript.scroll_down(animate=False)

    def action_up(self) -> None:
        self._transcript.scroll_up(animate=False)

    def action_copy(self) -> None:
        looked_at = self._transcript.looked_at
        if looked_at is not None:
            self.app.copy_to_clipboard(looked_at.answer or looked_at.question)
            self._desk.say("Copied the answer" if looked_at.answer else "Copied the question")

    # -- chats -------------------------------------------------------------------------------------------------

    @work(group="choose")
    async def action_chats(self) -> None:
        with self._desk.refusals():
            found = await self.ask(partial(reading.chats, self.memory))
            lines = [
                (
                    each.id,
                    Content.assemble(
                        (f"{moment(each.last_at, self._desk.zone)}  ", "$muted"),
                        (f"{plural(each.turns, 'turn'):<9} ", "$secondary"),
                        one_line(each.opening, 80),
                    ),
                )
                for each in found
            ]
            words = "" if lines else "There is no chat yet: whatever you ask begins one."
            chosen = await self.app.push_screen_wait(Chooser("Chats, the last used first", lines, words=words))
            if chosen is not None and self._answering is None:
                await self._go_to(await self.ask(partial(reading.read_chat, self.memory, chosen)))

    @work(group="choose")
    async def action_new_chat(self) -> None:
        await self._go_to(Chat())

    async def _go_to(self, chat: Chat) -> None:
        async with self._reading:
            await self._show(chat)
        self._show_aside()
        self.set_focus(self._composer)

    # -- models ------------------------------------------------------------------------------------------------

    @work(group="choose")
    async def action_model(self) -> None:
        settings = self.memory.settings
        found = await self.ask(partial(available, settings))
        if found is None:
            words = f"No Ollama answers at {settings.ollama_host}."
        elif not found:
            words = f"Ollama has no chat model: {command(settings, 'models pull NAME')} gets one."
        else:
            words = ""
        lines = [(name, Content(one_line(name))) for name in found or ()]
        name = await self.app.push_screen_wait(
            Chooser("Who answers from now on", lines, words=words, prompt="another model's name")
        )
        if name:
            with self._desk.refusals():
                wanted = with_model(settings, name)
                await self.ask(partial(_check, wanted))
                self._talk.use(wanted)
        self._look_who_answers()

    def action_incognito(self) -> None:
        self._talk.incognito = not self._talk.incognito
        self._stand(self._standing)


def _check(settings: Settings) -> None:
    check(settings, full_name(settings.llm_backend, settings.llm_model))
