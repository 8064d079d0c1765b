"""The chat room: a conversation with the assistant of this collection, and what can be done in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.widgets import OptionList

from amem.conversation.commands import is_command, plain
from amem.conversation.ports import available, check, with_model
from amem.conversation.session import Chat
from amem.llm.model_names import full_name
from amem.storage.chats import TurnState
from amem_tui import changes
from amem_tui.browse.page_blocks import Address, Named, ToNote
from amem_tui.browse.page_view import Page
from amem_tui.chat.conversing import ConversingScreen
from amem_tui.chat.recall_panel import Panel
from amem_tui.chat.turn_view import Exchange, Transcript
from amem_tui.dialogs import Picker
from amem_tui.formatting import command, moment, one_line, plural, title
from amem_tui.keymap import CHAT_KEYS, LETTERS, WHILE_TYPING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from textual.binding import BindingType

    from amem.settings import Settings


# What a person does to notes while they talk: take a lesson back, keep words as they are, hide a note.


class ByHandScreen(ConversingScreen):
    """Everything done here stands in the panel as well, and is undone like what was learnt."""

    def action_undo(self) -> None:
        operation = self.panel.undoable
        if operation is not None:
            self.change(partial(changes.undo, self.memory, operation))

    @work(group="change")
    async def action_remember(self) -> None:
        text = (self.get_selected_text() or "").strip()
        if not text:
            return
        with self._client.refusals():
            receipt = await self.ask(partial(self.conversation.remember, text))
            self.clear_selection()
            self._client.say(f"Remembered “{one_line(text, 50)}”" if receipt.stored else "That is already saved")
            await self._client.look()
            self._show_aside()

    @work(group="change")
    async def action_forget(self) -> None:
        chosen = self.panel.note if self.panel.has_focus else None
        if chosen is None:
            chosen = await self.app.push_screen_wait(
                Picker(
                    "Forget a note",
                    [],
                    words="Nothing is forgotten before you choose it.",
                    prompt="words of the note",
                    find=self._meant,
                )
            )
        if chosen is not None:
            await self._hide(chosen)

    async def _hide(self, id: str) -> None:
        with self._client.refusals():
            held = await self.ask(partial(self.memory.read, id))
            forgotten = await self.ask(partial(self.conversation.forget, id))
            if forgotten.operation is None or held is None:
                self._client.say("It was gone already")
                return
            self._client.say(f"Forgot “{one_line(title(held.content), 50)}”; u brings it back")
            await self._client.look()
            self._show_aside()

    async def _meant(self, words: str) -> tuple[Sequence[tuple[str, Content]], str]:
        """The notes that may be meant, and what to say of them."""
        with self._client.refusals():
            found = await self.ask(partial(self.conversation.forget, words))
            if found.operation is not None:  # somebody gave an id in full
                return [], "It is forgotten; u brings it back."
            lines = [(each.note, Content(one_line(title(each.text), 90))) for each in found.candidates]
            if not lines:
                return [], "No note has these words, or comes near them."
            return lines, "Which of these?" if found.worded else "Nearest, though none has these words:"
        return [], ""


# What has a letter for a key, by its name in the palette: whoever is typing cannot press letters.

_ASIDE = frozenset(("down", "up", "leave", "write", "turn(-1)", "turn(1)"))


class RoomCommands(Provider):
    """The room's keys that would work if nobody were typing."""

    async def discover(self) -> Hits:
        async for name, run in self._found():
            yield DiscoveryHit(name, run)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        async for name, run in self._found():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, matcher.highlight(name), run)

    async def _found(self) -> AsyncIterator[tuple[str, partial[object]]]:

        screen = self.screen
        if not isinstance(screen, ChatScreen) or not screen.typing:
            return
        for binding in CHAT_KEYS:
            if binding.action in LETTERS - _ASIDE and screen.works(binding.action):
                yield binding.description, partial(_act, screen, binding.action)


def _act(screen: ChatScreen, action: str) -> object:
    return getattr(screen, f"action_{action}")()


class ChatScreen(ByHandScreen):
    """The chat used last goes on, unless another is begun or chosen."""

    ROOM = "chat"
    BINDINGS: ClassVar[list[BindingType]] = [*CHAT_KEYS]
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
        return self.composer.has_focus

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what works now is offered."""
        if action in (LETTERS if self.typing else WHILE_TYPING):
            return False
        return self.works(action)

    def works(self, action: str) -> bool:
        """Whether the action would do something, wherever the cursor is."""
        answering = self.answering is not None
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
                return self.panel.undoable is not None
            case "remember":
                return bool(self.get_selected_text()) and not self.conversation.incognito
            case "copy" | "turn":
                return bool(self.transcript.exchanges)
        return True

    # -- saying ------------------------------------------------------------------------------------------------

    def action_send(self) -> None:
        if self.answering is not None:
            self._client.say("The answer is still being written; escape stops it")
        elif text := self.composer.take():
            if is_command(text):
                self._run(text)
            else:
                self._say(plain(text))

    @property
    def unsaved(self) -> str:
        """What would be lost with the room; "" when nothing would."""
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
        text = self._unanswered()
        if text:
            self._say(text)
        elif text is not None:
            self._look_who_answers()

    def action_again_now(self) -> None:
        self.action_again()

    def _unanswered(self) -> str | None:
        """The last question, if it is still open; '' where no model was there and nothing was asked yet."""
        last = self.transcript.last
        if last is not None and last.state is not TurnState.ANSWERED:
            return last.question
        return "" if self.standing.problem else None

    # -- looking -----------------------------------------------------------------------------------------------

    def action_panel(self) -> None:
        """Go to what was recalled and learnt, and back."""
        if self.panel.has_focus:
            self.remove_class("-aside")
            self.set_focus(self.transcript)
        else:
            self.add_class("-aside")
            self.set_focus(self.panel)
        self.refresh_bindings()

    async def action_turn(self, by: int) -> None:
        await self.transcript.step(by)
        self._show_aside()

    @on(Transcript.EarlierWanted)
    async def _show_more(self) -> None:
        await self.transcript.show_earlier()

    @on(Exchange.Chosen)
    def _look_at(self, event: Exchange.Chosen) -> None:
        self.transcript.choose(event.exchange)
        self._show_aside()

    @on(OptionList.OptionHighlighted, "#panel")
    def _moved(self) -> None:
        self.refresh_bindings()

    @on(Panel.Opened)
    def _open_note(self, event: Panel.Opened) -> None:
        self._client.app.read_note(event.note)

    @on(Page.Followed)
    def _follow(self, event: Page.Followed) -> None:
        event.stop()
        match event.destination:
            case ToNote(id):
                self._client.app.read_note(id)
            case Named(name):
                self._client.say(f"No note is called “{one_line(name, 60)}” (yet).")
            case Address(url):  # whoever wrote it, a person decides whether to go there
                self.app.copy_to_clipboard(url)
                self._client.say(f"Copied {one_line(url, 100)}")

    def action_down(self) -> None:
        self.transcript.scroll_down(animate=False)

    def action_up(self) -> None:
        self.transcript.scroll_up(animate=False)

    def action_copy(self) -> None:
        looked_at = self.transcript.looked_at
        if looked_at is not None:
            self.app.copy_to_clipboard(looked_at.answer or looked_at.question)
            self._client.say("Copied the answer" if looked_at.answer else "Copied the question")

    # -- chats -------------------------------------------------------------------------------------------------

    @work(group="choose")
    async def action_chats(self) -> None:
        with self._client.refusals():
            found = await self.ask(self.conversation.chats)
            lines = [
                (
                    each.id,
                    Content.assemble(
                        (f"{moment(each.last_at, self._client.zone)}  ", "$muted"),
                        (f"{plural(each.turns, 'turn'):<9} ", "$secondary"),
                        one_line(each.opening, 80),
                    ),
                )
                for each in found
            ]
            words = "" if lines else "There is no chat yet: whatever you ask begins one."
            chosen = await self.app.push_screen_wait(Picker("Chats, the last used first", lines, words=words))
            if chosen is not None and self.answering is None:
                await self._go_to(await self.ask(partial(self.conversation.read, chosen)))

    @work(group="choose")
    async def action_new_chat(self) -> None:
        await self._go_to(Chat())

    async def _go_to(self, chat: Chat) -> None:
        async with self._reading:
            await self._show(chat)
        self._show_aside()
        self.set_focus(self.composer)

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
            Picker("Who answers from now on", lines, words=words, prompt="another model's name")
        )
        if name:
            with self._client.refusals():
                wanted = with_model(settings, name)
                await self.ask(partial(_check, wanted))
                self.conversation.settings = wanted
                self._thread.call(partial(self.conversation.use, wanted))
        self._look_who_answers()

    def action_incognito(self) -> None:
        self.conversation.incognito = not self.conversation.incognito
        self._stand(self.standing)


def _check(settings: Settings) -> None:
    check(settings, full_name(settings.llm_backend, settings.llm_model))
