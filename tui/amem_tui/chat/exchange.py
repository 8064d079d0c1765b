"""One turn of a chat: what the person said, what the model answers (as it is written), and how that ended."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from amem.conversation.telling import best, ended
from amem.storage.chats import TurnState
from amem_tui.chat.prose import Prose
from amem_tui.phrases import clean, maker, moment, one_line, plural, title

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from textual.app import ComposeResult

    from amem.conversation.reply import Recalled, Reply
    from amem.storage.chats import Turn
    from amem_tui.chat.prose import Named

_UNSUPPORTED = "Nothing in memory supported an answer."
_HELD, _NEAR = "This is what memory holds:", "This is the nearest that memory holds:"
_NEVER = "No answer yet: it is being answered elsewhere, or whoever asked was closed meanwhile. a asks again."


class Exchange(Vertical):
    """`turn` is None until the turn is kept, and for ever where it is not (incognito).

    `titles` of notes are shown in place of an answer that no model gave.
    """

    @dataclass
    class Chosen(Message):
        """Somebody wants to know what was recalled for it."""

        exchange: Exchange

    def __init__(
        self, question: str, zone: tzinfo, turn: Turn | None = None, titles: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(classes="exchange")
        self.question = question
        self.turn = turn
        self.reply: Reply | None = None
        self.state = TurnState.ASKED if turn is None else turn.state
        self.recalled: tuple[Recalled, ...] = ()
        self._zone = zone
        self._titles = titles or {}
        # Held: while the browser closes they can no more be looked up.
        self._question = Prose(_lines_kept(question), classes="question")
        self._answer = Prose("" if turn is None else turn.answer, classes="answer")
        self._head, self._over_it = Static(classes="head"), Static(classes="notice")
        self._by, self._below = Static(classes="head by"), Static(classes="ending")
        self._shown = "" if turn is None else turn.answer

    @property
    def number(self) -> int | None:
        """Its number in the chat, once it is kept."""
        if self.turn is not None:
            return self.turn.number
        return None if self.reply is None else self.reply.turn

    @property
    def answer(self) -> str:
        """The model's words so far."""
        return self._shown

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._question
        yield self._over_it
        yield self._by
        yield self._answer
        yield self._below

    def on_mount(self) -> None:
        self._said_at()
        if self.turn is not None:
            self._notice(_UNSUPPORTED if self.turn.supported is False else "")
            self._end(self.turn.state, self.turn.model, self.turn.error)
        else:
            self._ending(Content.assemble(("recalling…", "$muted")))

    # -- as it comes -------------------------------------------------------------------------------------------

    def waits(self, recalled: tuple[Recalled, ...], seconds: float, *, model: bool) -> None:
        """Recall is over; the `model` has said nothing for so long, or none is known to answer."""
        self.recalled = recalled
        since = f" ({seconds:.0f} s; escape stops it)" if seconds >= 3 else ""
        then = "waiting for the model" if model else "looking in memory"
        self._ending(Content.assemble((f"{plural(len(recalled), 'note')} recalled; {then}{since}", "$muted")))

    def note(self, notice: str) -> None:
        """Show a line of amem's own before the answer."""
        self._notice(notice)

    async def write(self, text: str) -> None:
        """Show the next words of the answer."""
        if not self._shown:
            text = text.lstrip("\n")
            self._ending(Content(""))
        self._shown += text
        if not self.has_class("-answered"):
            self._answered_by("")
        await self._answer.tell(self._shown)

    async def finish(self, reply: Reply, named: Named) -> None:
        """Show how it ended, and which notes it names."""
        self.reply, self.state, self.recalled = reply, reply.state, reply.recalled
        if rest := reply.text.lstrip("\n").removeprefix(self._shown):
            self._shown += rest
        if self._shown:
            await self._answer.tell(self._shown, named)
        self._end(reply.state, reply.model, reply.error, "" if reply.state is TurnState.UNANSWERED else reply.hint)

    async def become(self, turn: Turn, titles: Mapping[str, str]) -> None:
        """Show the turn as it is kept by now, where another process answered it or a purge took words out."""
        before, self.turn, self._titles = self.turn, turn, titles
        self._said_at()
        if before is None or (before.answer, before.state, before.question) == (turn.answer, turn.state, turn.question):
            return
        self.question, self._shown, self.state = turn.question, turn.answer, turn.state
        await self._question.tell(_lines_kept(turn.question))
        await self._answer.tell(turn.answer)
        self._notice(_UNSUPPORTED if turn.supported is False else "")
        self._end(turn.state, turn.model, turn.error)

    # -- parts -------------------------------------------------------------------------------------------------

    def _said_at(self) -> None:
        at = "" if self.turn is None else moment(self.turn.at, self._zone)
        self._head.update(Content.assemble(maker("user"), (f"  {at}", "$muted")))

    def _end(self, state: TurnState, model: str, error: str, hint: str = "") -> None:
        self._answered_by(model or "memory")
        if state is TurnState.ANSWERED:
            self._ending(Content(""))
            return
        said = _NEVER if state is TurnState.ASKED else one_line(ended(state, error), 400)
        parts = [Content.assemble((f"{said[0].upper()}{said[1:]}", "$warning"))]
        if hint:
            parts.append(Content.assemble((one_line(hint, 400), "")))
        if state is TurnState.UNANSWERED:
            held = [] if self._shown.strip() else self._instead()
            if held:  # to say that memory has nothing, and then what it has, would be no help
                self._notice("")
            parts += held
            parts.append(Content.assemble(("Nothing you typed is lost: a asks again.", "$muted")))
        self._ending(Content("\n").join(parts))

    def _instead(self) -> list[Content]:
        """What memory holds, where no model says it."""
        if self.recalled:
            found = [(each.supports, title(each.text)) for each in best(self.recalled)]
        else:
            kept = () if self.turn is None else self.turn.recalled
            found = [(each.supports, self._titles[each.note]) for each in best(kept) if each.note in self._titles]
        if not found:
            return []
        lines = [Content.assemble((_HELD if any(supports for supports, _ in found) else _NEAR, "$muted"))]
        return lines + [Content.assemble(("  • ", "$muted"), one_line(said, 200)) for _, said in found]

    def _answered_by(self, model: str) -> None:
        """Who answers, once there is an answer."""
        self._by.update(maker(model or "model"))
        self.set_class(bool(self._shown.strip()), "-answered")

    def _notice(self, notice: str) -> None:
        self._over_it.update(Content.assemble((one_line(notice, 400), "$warning")))
        self._over_it.set_class(bool(notice), "-said")

    def _ending(self, said: Content) -> None:
        self._below.update(said)
        self._below.set_class(bool(said.plain), "-said")

    @on(events.Click)
    def _choose(self) -> None:
        self.post_message(self.Chosen(self))


def _lines_kept(text: str) -> str:
    """Markdown in which every line that was typed stays a line."""
    return re.sub(r"(?<=\S)\n(?=\S)", "  \n", clean(text))
