"""What is shown of a conversation: its turns as they come, and what was recalled for them and learnt from them."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from amem.conversation.chat_learning import Learned, LearnedKind
from amem.conversation.commands import Choices, Line, Notes, Recollection, Term
from amem.conversation.reply import LEARNING, best, ended, grouped
from amem.conversation.session import Chat
from amem.labels import counted, short_id
from amem.note import Receipt
from amem.storage.chats import TurnState
from amem.storage.undo import UndoReport
from amem_tui import changes
from amem_tui.browse.note_markdown import parts_of
from amem_tui.formatting import GLYPHS, clean, day, maker, moment, one_line, title
from amem_tui.page import Block, Page, ToNote, entry, remark, space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from textual.app import ComposeResult
    from textual.selection import Selection

    from amem.conversation.commands import Shown
    from amem.conversation.reply import Forgotten, Recalled, Reply
    from amem.conversation.session import TurnDetail
    from amem.memory_system import AgenticMemorySystem
    from amem.storage.chats import Turn
    from amem_tui.page import Part

    Named = Callable[[Sequence[str]], Mapping[str, str]]


_UNSUPPORTED = "Nothing in memory supported an answer."
_HELD, _NEAR = "This is what memory holds:", "This is the nearest that memory holds:"
_INDENT = "  "
_NEVER = "No answer yet: another program is answering it, or the one that asked was closed. a asks again."


class TurnView(Page, can_focus=False):
    """A question, its answer as far as it is written, and how it ended.

    `turn` is None until it is kept (incognito: for ever). `titles` of notes stand for an answer that no model gave.
    """

    @dataclass
    class Chosen(Message):
        view: TurnView

    def __init__(
        self, question: str, zone: tzinfo, turn: Turn | None = None, titles: Mapping[str, str] | None = None
    ) -> None:
        super().__init__()
        self.add_class("turn")
        self.question, self.turn = question, turn
        self.reply: Reply | None = None
        self.state = TurnState.ASKED if turn is None else turn.state
        self.recalled: tuple[Recalled, ...] = ()
        self.answer = "" if turn is None else turn.answer
        self._zone, self._titles = zone, titles or {}
        self._named: Named | None = None
        self._by = ""
        #: What is said below the question, and at the end.
        self.notice, self.ending = "", Content.styled("recalling…", "$muted")
        self.question_parts: list[Part] = []
        self.answer_parts: list[Part] = []

    @property
    def number(self) -> int | None:
        """Its number in the chat, once it is kept."""
        if self.turn is not None:
            return self.turn.number
        return None if self.reply is None else self.reply.turn

    async def on_mount(self) -> None:
        if self.turn is not None:
            self._end_as_kept(self.turn)
        await self._draw()

    async def _draw(self) -> None:
        """Show all of it; only the lines in view are drawn, so that a text may grow to any length."""
        lines_kept = re.sub(r"(?<=\S)\n(?=\S)", "  \n", clean(self.question))
        self.question_parts = await asyncio.to_thread(parts_of, lines_kept, lead=_INDENT)
        answer = self.answer if self.answer.strip() else ""
        self.answer_parts = await asyncio.to_thread(parts_of, answer, self._named, lead=_INDENT)
        at = "" if self.turn is None else moment(self.turn.at, self._zone)
        parts: list[Part] = [Block(Content.assemble(maker("user"), (f"  {at}", "$muted")))]
        parts += [*self.question_parts, space()]
        before = Content(_INDENT)
        if self.notice:
            parts.append(Block(Content.styled(one_line(self.notice, 400), "$warning"), before, before))
        if self.answer_parts:
            parts += [Block(maker(self._by or "model")), *self.answer_parts, space()]
        if self.ending.plain:
            parts += [Block(self.ending, before, before), space()]
        await self.show(parts, keep=True)

    async def waits(self, recalled: tuple[Recalled, ...], seconds: float, *, model: bool) -> None:
        """Recall is over; the `model` has said nothing for so long, or none is known to answer."""
        self.recalled = recalled
        since = f" ({seconds:.0f} s; escape stops it)" if seconds >= 3 else ""
        then = "waiting for the model" if model else "looking in memory"
        words = f"{counted(len(recalled), 'note')} recalled; {then}{since}"
        if words != self.ending.plain:
            self.ending = Content.styled(words, "$muted")
            await self._draw()

    async def write(self, text: str) -> None:
        if not self.answer:
            text, self.ending = text.lstrip("\n"), Content()
        self.answer += text
        await self._draw()

    async def note(self, notice: str) -> None:
        self.notice = notice
        await self._draw()

    async def finish(self, reply: Reply, named: Named) -> None:
        """Show how it ended, and which notes it names."""
        self.reply, self.state, self.recalled, self._named = reply, reply.state, reply.recalled, named
        self.answer += reply.text.lstrip("\n").removeprefix(self.answer)
        self._end(reply.state, reply.model, reply.error, "" if reply.state is TurnState.UNANSWERED else reply.hint)
        await self._draw()

    async def become(self, turn: Turn, titles: Mapping[str, str]) -> None:
        """Show the turn as it is kept by now, where another process answered it or a purge took words out."""
        before, self.turn, self._titles = self.turn, turn, titles
        told = None if before is None else (before.answer, before.state, before.question)
        if told not in (None, (turn.answer, turn.state, turn.question)):
            self.question, self.answer, self.state = turn.question, turn.answer, turn.state
            self._end_as_kept(turn)
        await self._draw()

    def _end_as_kept(self, turn: Turn) -> None:
        self.notice = _UNSUPPORTED if turn.supported is False else ""
        self._end(turn.state, turn.model, turn.error)

    def _end(self, state: TurnState, model: str, error: str, hint: str = "") -> None:
        self._by, self.ending = model or "memory", Content()
        if state is TurnState.ANSWERED:
            return
        said = _NEVER if state is TurnState.ASKED else one_line(ended(state, error), 400)
        lines = [Content.styled(f"{said[0].upper()}{said[1:]}", "$warning")]
        if hint:
            lines.append(Content(one_line(hint, 400)))
        if state is TurnState.UNANSWERED:
            held = [] if self.answer.strip() else self._instead()
            if held:  # to say that memory has nothing, and then what it has, would be no help
                self.notice = ""
            lines += [*held, Content.styled("Nothing you typed is lost: a asks again.", "$muted")]
        self.ending = Content("\n").join(lines)

    def _instead(self) -> list[Content]:
        kept = () if self.recalled or self.turn is None else self.turn.recalled
        found = [(each.supports, title(each.text)) for each in best(self.recalled)]
        found += [(each.supports, self._titles[each.note]) for each in best(kept) if each.note in self._titles]
        if not found:
            return []
        lines = [Content.styled(_HELD if any(supports for supports, _ in found) else _NEAR, "$muted")]
        return lines + [Content.assemble(("  • ", "$muted"), one_line(said, 200)) for _, said in found]

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        text = selection.extract(self.text)
        return "\n".join(line.removeprefix(_INDENT) for line in text.split("\n")), "\n"

    @on(events.Click)
    def _choose(self) -> None:
        self.post_message(self.Chosen(self))


_GREETING = """What you tell the assistant becomes notes; what you ask is looked up in them first.
What was recalled for an answer, and learnt from what you said, stands beside it (p)."""
#: So many turns are shown at once; a chat of years must not take years to open.
_AT_ONCE = 12


class Transcript(VerticalScroll):
    """Stays at its end while an answer is written, unless somebody scrolled up."""

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="transcript")
        self._zone = zone
        self._turns = Vertical(id="turns")
        self._above, self._greeting = Static(id="earlier"), Static(Content.styled(_GREETING, "$muted"), id="greeting")
        self._greeting.display = False
        self._earlier: list[Turn] = []
        self._chat = Chat()
        self.views: list[TurnView] = []
        self.chosen: TurnView | None = None

    def compose(self) -> ComposeResult:
        # As high as the view at least: an anchored view would put fewer lines at its bottom.
        with self._turns:
            yield self._above
            yield self._greeting

    def on_mount(self) -> None:
        self.anchor()

    @property
    def last(self) -> TurnView | None:
        return self.views[-1] if self.views else None

    @property
    def looked_at(self) -> TurnView | None:
        """The turn whose recalled notes are wanted: the chosen one, else the newest."""
        return self.chosen or self.last

    async def show(self, chat: Chat) -> None:
        self._chat, turns = chat, chat.turns
        self.choose(None)
        for each in (*self.views, *self._turns.query(".remark")):
            await each.remove()
        self._earlier = list(turns[:-_AT_ONCE])
        self.views = [self._kept(each) for each in turns[-_AT_ONCE:]]
        await self._turns.mount_all(self.views)
        self._settle()
        self.anchor()

    async def follow(self, chat: Chat) -> None:
        """Show what others did to this chat: turns of theirs, answers that came, words that were purged."""
        self._chat, turns = chat, chat.turns
        shown = {each.number: each for each in self.views if each.number is not None}
        first = min(shown, default=0)
        self._earlier = [turn for turn in turns if turn.number < first]
        for turn in turns:
            if (held := shown.get(turn.number)) is not None:
                await held.become(turn, chat.titles)
            elif turn.number > first:  # where its number says; whoever reads further up goes on reading there
                later = [place for place, each in enumerate(self.views) if (each.number or 0) > turn.number]
                view, place = self._kept(turn), later[0] if later else len(self.views)
                await self._turns.mount(view, before=self.views[place] if later else None)
                self.views.insert(place, view)
        self._settle()

    async def add(self, view: TurnView) -> None:
        self.views.append(view)
        await self._turns.mount(view)
        self._settle()
        self.anchor()

    async def remark(self, words: Content) -> None:
        """Show what a command said, and go to the end; it is no turn, and gone with the screen."""
        await self._turns.mount(Static(words, classes="remark"))
        self._greeting.display = False
        self.anchor()

    def drop(self, view: TurnView) -> None:
        self.views.remove(view)
        view.remove()
        self._settle()

    @on(events.Click, "#earlier")
    async def show_earlier(self) -> None:
        more = [self._kept(each) for each in self._earlier[-_AT_ONCE:]]
        del self._earlier[-_AT_ONCE:]
        await self._turns.mount_all(more, after=self._greeting)
        self.views = more + self.views
        self._settle()

    async def step(self, by: int) -> None:
        if self.last is None:
            return
        at = self.views.index(self.chosen or self.last)
        if at + by < 0 and self._earlier:
            before = len(self.views)
            await self.show_earlier()
            at += len(self.views) - before
        self.choose(self.views[max(0, min(at + by, len(self.views) - 1))])
        if self.chosen is not None:
            self.scroll_to_widget(self.chosen, animate=False, top=True)

    def choose(self, view: TurnView | None) -> None:
        """Mark a turn; None for the newest, whichever that is."""
        self.chosen = None if view is self.last else view
        for each in self.views:
            each.set_class(each is self.chosen, "-chosen")

    def _kept(self, turn: Turn) -> TurnView:
        return TurnView(turn.question, self._zone, turn, self._chat.titles)

    def _settle(self) -> None:
        count = counted(len(self._earlier), "earlier turn")
        self._above.update(Content.assemble((f"▲ {count}: [ goes back to them", "$muted")))
        self._above.display = bool(self._earlier)
        self._greeting.display = not self.views


def drawn(memory: AgenticMemorySystem, what: Shown) -> Content:
    match what:
        case Line(text, warning):
            return Content.assemble((one_line(text, 400), "$warning" if warning else "$muted"))
        case Term(term, meaning):
            return Content.assemble((f"  {term:<20}  ", "bold"), meaning)
        case Notes(notes):
            return Content("\n").join(_listed(short_id(each.id), each.content) for each in notes)
        case Recollection(recalled, shown, most):
            lines = []
            for group in grouped(recalled, shown=shown):
                lines.append(Content.assemble((f"{group.title[0].upper()}{group.title[1:]}", "bold $primary")))
                lines += [_listed(f"{each.score:.2f}", each.text, each.why) for each in group.notes[:most]]
            return Content("\n").join(lines)
        case Receipt():
            return Content(f"{'Remembered' if what.stored else 'Already saved'} {short_id(what.id)}")
        case UndoReport():
            return Content(changes.reversal(memory, what))
        case Choices():  # they are asked for
            return Content("")


def note_choices(what: Choices | Forgotten) -> list[tuple[str, Content]]:
    return [(each.note, Content(one_line(title(each.text), 90))) for each in what.candidates]


def _listed(head: str, text: str, why: str = "") -> Content:
    more = f"\n        {one_line(why)}" if why else ""
    return Content.assemble((f"  {head}  ", "$secondary"), title(text) or "(purged since)", (more, "$muted"))


_TITLE, _WHY = 90, 160
_SIGNS = {
    LearnedKind.REMEMBERED: ("+", "$success"),
    LearnedKind.CHANGED: ("~", "$warning"),
    LearnedKind.SUPERSEDED: ("×", "$error"),
    LearnedKind.FORGOTTEN: ("-", "$error"),
}


@dataclass(frozen=True, slots=True, eq=False)
class ToLearned(ToNote):
    """A note of which something was learnt, and what."""

    learned: Learned | None = None


class RecallPanel(Page):
    """An entry for each note; those that were learnt know the operation that takes them back."""

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="panel")
        self._zone = zone
        self._learned: list[Learned] = []

    def on_mount(self) -> None:
        self.border_title = "Learnt and recalled"

    @property
    def note(self) -> str | None:
        return self.chosen.id if isinstance(self.chosen, ToNote) else None

    @property
    def undoable(self) -> int | None:
        """What `u` takes back: the learnt line under the cursor, else the newest thing that was learnt here."""
        if self.has_focus and isinstance(self.chosen, ToLearned) and self.chosen.learned is not None:
            return None if self.chosen.learned.undone else self.chosen.learned.operation
        return max((each.operation for each in self._learned if not each.undone), default=None)

    async def show_turn(self, detail: TurnDetail, *, waiting: bool = False) -> None:
        """Show what belongs to a turn; `waiting` says that nobody knows yet what was learnt."""
        turn = "" if detail.number is None else f" for turn {detail.number}"
        self.border_title = Content(f"Learnt and recalled{turn}")
        self._learned = [each for taught in detail.taught for each in taught.notes]
        before = self.chosen
        await self.show([*self._lessons(detail, waiting), *self._recalled(detail)], choose=True, about=detail.number)
        if isinstance(before, ToNote):  # it stays on its note, which may have moved
            ends = [(type(each.destination), getattr(each.destination, "id", "")) for each in self.sheet.choices]
            here = type(before), before.id
            self.select(ends.index(here) if here in ends else 0 if ends else None)

    def _recalled(self, detail: TurnDetail) -> Iterator[Part]:
        if detail.unanswered and detail.recalled:
            yield remark("No model answered.")
        elif detail.in_memory is False:
            yield remark("Not in memory: nothing recalled supports an answer.", "$warning")
        elif detail.in_memory:
            yield remark("✓ marks what an answer can rest on.")
        for group in grouped(detail.recalled, shown=detail.shown):
            yield _heading(group.title[0].upper() + group.title[1:])
            for each in group.notes:
                yield self._entry(each, whole=group.whole)
        if not detail.recalled:
            yield _heading("Recalled")
            nothing = "Nothing was recalled."
            yield remark(nothing if detail.number else "Notes that come to mind for a question, and why.")

    def _entry(self, each: Recalled, *, whole: bool) -> Block:
        said = "(purged since)" if each.purged else one_line(title(each.text), _TITLE)
        score = f"{each.score:.2f} " if each.part == "recalled" else ""
        mark = ("✓ " if each.supports else "  ", "$success")
        head = Content.assemble(mark, (score, "$secondary"), (said, "bold" if whole else ""))
        if not whole:
            return entry(head, ToNote(each.note))
        kind = f"{GLYPHS[each.kind]} {each.kind}" if each.kind else ""
        about = "  ".join(part for part in (day(each.at, self._zone) if each.at else "", kind) if part)
        why = [Content.styled(line, "$muted") for line in (about, one_line(each.why, _WHY)) if line]
        return entry(head, ToNote(each.note), *why)

    def _lessons(self, detail: TurnDetail, waiting: bool) -> Iterator[Part]:
        links = sum(taught.links for taught in detail.taught)
        yield _heading(f"Learnt, {counted(links, 'link')}" if links else "Learnt")
        for each in self._learned:
            (sign, colour), look, how = _SIGNS[each.lesson], "", str(each.lesson)
            if each.undone:
                colour, look, how = "$muted", "$muted strike", "taken back"
            said = one_line(title(each.text), _TITLE) if each.text else "(purged since)"
            lesson = Content.assemble((f"{sign} ", colour), (f"{how}  ", "$muted"), (said, look))
            yield entry(lesson, ToLearned(each.note, learned=each))
        if waiting:
            yield remark("Learning from what was said…")
        elif detail.learning in LEARNING and detail.number is not None:
            yield remark(f"{LEARNING[detail.learning].capitalize()}.")
        elif not self._learned:
            yield remark("Nothing." if detail.number else "Notes made of what you say. u takes each of them back.")


def _heading(words: str) -> Block:
    return remark(words, "bold $primary")
