"""Where a person decides: proposed changes, notes that disagree, notes that may be out of date."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on, work
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import OptionList, Static, TabbedContent, TabPane

from amem.note import Link, Status
from amem.storage.records import Review
from amem.storage.reviews import Flag
from amem.verdict import Conflict
from amem_tui import changes
from amem_tui.dialogs import Lines
from amem_tui.history.field_changes import compared
from amem_tui.keymap import REVIEW_KEYS
from amem_tui.page import Block, Page, remark, space
from amem_tui.review.review_lines import (
    MEANING,
    NOTHING,
    Dispute,
    Waiting,
    dispute_head,
    flag_head,
    note_text,
    options,
    read_chain,
    read_conflict,
    read_waiting,
    review_head,
    timeline,
    waits,
)
from amem_tui.rooms import NotesScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.widgets.option_list import Option

    from amem.memory_system import AgenticMemorySystem
    from amem_tui.page import Part


_SECTIONS = {"rewrites": "Rewrites", "conflicts": "Conflicts", "flags": "May be out of date"}
_REST = 0.04
_AROUND = 120


class ReviewScreen(NotesScreen):
    """Three sections; in each a list, and beside it what a decision needs to be seen."""

    _chain = getters.query_one("#chain", Lines)
    ROOM = "review"
    CSS_PATH = "review.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*REVIEW_KEYS]
    AUTO_FOCUS = "#rewrites-list"

    _waiting: Waiting | None = None
    _dispute: Dispute | None = None
    _chain_of: str | None = None
    _to_chain = False
    _whole = False
    #: Whether somebody has just come in, who is to see what waits.
    _arriving = True

    def furnish(self) -> ComposeResult:
        with TabbedContent(id="sections"):
            for name, words in _SECTIONS.items():
                with TabPane(words, id=name), Horizontal(classes="beside"):
                    yield Lines(id=f"{name}-list")
                    if name == "conflicts":
                        with Vertical(id="dispute"):
                            yield Static(id="dispute-head", markup=False)
                            yield Lines(id="chain")
                    else:
                        yield Page(id=f"{name}-view")

    @property
    def _section(self) -> str:
        return self.query_one("#sections", TabbedContent).active

    @property
    def _list(self) -> Lines:
        return self.query_one(f"#{self._section}-list", Lines)

    @property
    def _chosen(self) -> Review | Flag | Conflict | Link | None:
        return None if self._waiting is None else self._waiting.item(self._list.chosen)

    @on(events.Resize)
    def _resized(self) -> None:
        if self._waiting is not None:
            self._show()

    @on(events.ScreenSuspend)
    def _left(self) -> None:
        if isinstance(self.app.screen, NotesScreen):  # and no dialogue over this room
            self._arriving = True

    @work(exclusive=True, group="review")
    async def load(self) -> None:
        waiting = self._waiting = await self.ask(partial(read_waiting, self.memory))
        tabs = self.query_one("#sections", TabbedContent)
        for name, words in _SECTIONS.items():
            count = waiting.counts[name]
            tabs.get_tab(name).label = Content(f"{words} {count:,}" if count else words)
            keep = f"chain {self._chain_of}" if self._to_chain and name == "conflicts" else None
            _fill(self.query_one(f"#{name}-list", Lines), options(name, waiting, self._chain_of), keep)
        self._to_chain = False
        self.bar.tell(f"{waiting.total:,} to decide " if waiting.total else "Nothing waits ")
        if self._arriving and waiting.total:
            self._go_to(next(name for name in _SECTIONS if waiting.counts[name]))
        self._arriving = False
        self._show()
        self.refresh_bindings()

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_list is not self._chain:
            self._show(rest=_REST)

    @work(exclusive=True, group="shown")
    async def _show(self, rest: float = 0) -> None:
        await asyncio.sleep(rest)
        if self._section == "conflicts":
            await self._show_dispute()
        else:
            await self._show_item(self.query_one(f"#{self._section}-view", Page))
        self.refresh_bindings()

    async def _show_item(self, page: Page) -> None:
        item, waiting, zone = self._chosen, self._waiting, self._client.zone
        if isinstance(item, Review) and waiting is not None:
            around = None if self._whole else _AROUND
            fields = await self.ask(partial(compared, item.changes, zone, waiting.titles, around=around))
            note = await self._note_parts("the note", item.note)
            await page.show([Block(review_head(item, waiting, zone)), space(), *fields, *note], about=item.id)
        elif isinstance(item, Flag) and waiting is not None:
            parts = [Block(flag_head(item, waiting, zone)), space(), *await self._note_parts("the note", item.note)]
            if await self.ask(partial(self.memory.read, item.because)) is not None:
                parts += await self._note_parts("because of", item.because)
            await page.show(parts, about=item.id)
        else:
            await page.say(MEANING[self._section])

    async def _note_parts(self, heading: str, id: str) -> list[Part]:
        note = await self.ask(partial(self.memory.read, id))
        return [remark(heading, "bold $secondary"), Block(note_text(note)), space()]

    async def _show_dispute(self) -> None:
        self._dispute = await self._read_dispute()
        shown, dispute = self._chain, self._dispute
        head = Content(NOTHING["conflicts"]) if dispute is None else dispute_head(dispute)
        self.query_one("#dispute-head", Static).update(head)
        shown.fill([] if dispute is None else timeline(dispute, self._client.zone, shown.size.width))

    async def _read_dispute(self) -> Dispute | None:
        item = self._chosen
        if isinstance(item, Conflict):
            return await self.ask(partial(read_conflict, self.memory, item))
        ids = [item.target, item.source] if isinstance(item, Link) else (self._list.chosen or "").split()[1:]
        return await self.ask(partial(read_chain, self.memory, *ids)) if ids else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self._waiting is None:
            return action in ("leave", "undo", "redo", "visit")
        item = self._chosen
        match action:
            case "decide" | "whole":
                return isinstance(item, Review)
            case "hold":
                there = 0 if self._dispute is None or self._section != "conflicts" else len(self._dispute.notes)
                return isinstance(parameters[0], int) and parameters[0] <= there
            case "keep" | "retract":
                return isinstance(item, Flag)
            case "keep_both":
                return isinstance(item, Conflict | Link)
            case "succession":
                return self._client.note is not None
            case "read":
                return self._list.chosen is not None
        return True

    def action_section(self, by: int) -> None:
        names, self._arriving = list(_SECTIONS), False
        self._go_to(names[(names.index(self._section) + by) % len(names)])

    def _go_to(self, section: str) -> None:
        self.query_one("#sections", TabbedContent).active = section

    @on(TabbedContent.TabActivated)
    def _turned(self) -> None:
        self._list.focus()  # only now is it there to be focused
        self._show()

    def action_whole(self) -> None:
        self._whole = not self._whole
        self._show()

    def action_succession(self) -> None:
        """Put the chain of the open note on top of the conflicts, with the cursor on it."""
        self._chain_of, self._to_chain, self._arriving = self._client.note, True, False
        self._go_to("conflicts")
        self.reload()

    def action_read(self) -> None:
        """Open the note; in a conflict go to its notes first."""
        if self._section == "conflicts":
            if self.focused is not self._chain:
                self._chain.focus()
            elif self._chain.chosen is not None:
                self._client.app.read_note(self._chain.chosen)
            return
        if isinstance(item := self._chosen, Review | Flag):
            self._client.app.read_note(item.note)

    @on(OptionList.OptionSelected)
    def _read(self) -> None:
        self.action_read()

    def action_decide(self, how: str) -> None:
        if isinstance(item := self._chosen, Review):
            decide: Callable[[AgenticMemorySystem, int], str] = getattr(changes, how)
            self._decide(partial(decide, self.memory, item.id))

    def action_hold(self, place: int) -> None:
        if self._dispute is not None and place <= len(self._dispute.notes):
            self._decide(partial(_hold, self.memory, self._dispute, self._dispute.notes[place - 1].id))

    def action_keep(self) -> None:
        if isinstance(item := self._chosen, Flag):
            self._decide(partial(changes.keep, self.memory, item.note))

    def action_retract(self) -> None:
        if isinstance(item := self._chosen, Flag):
            self._decide(partial(changes.retract, self.memory, item.note))

    def action_keep_both(self) -> None:
        item = self._chosen
        if isinstance(item, Conflict):
            self._decide(partial(changes.keep_both, self.memory, item.earlier, item.later))
        elif isinstance(item, Link):
            self._decide(lambda: f"Both are current: {changes.stand_again(self.memory, item.target)}")

    @work(group="change")
    async def _decide(self, decision: Callable[[], str]) -> None:
        await self._client.carry_out(decision)
        self.load()


def _hold(memory: AgenticMemorySystem, dispute: Dispute, id: str) -> str:
    """Say of one of the notes that it is the one that holds."""
    earlier, later = dispute.pair
    if dispute.conflict is not None and id == later:
        return changes.supersede(memory, earlier, later, dispute.conflict.verdict.reason)
    if dispute.conflict is not None and id == earlier:
        return changes.retract(memory, later)
    said = changes.hold(memory, id, dispute.holder(id))
    held = any(note.id == id and note.status is Status.ACTIVE for note in dispute.notes)
    return f"{said}, nothing changes" if held else f"Decided anew: {said}; u takes that back"


def _fill(shown: Lines, options: Sequence[Option], keep: str | None) -> None:
    """Show a section anew; where what the cursor was on is decided, it goes on to what is not, or nowhere."""
    undecided = [each.id for each in options if waits(each)]
    before, place = shown.options, -1 if shown.highlighted is None else shown.highlighted
    if keep is None and shown.chosen not in [each.id for each in options if not each.disabled]:
        onward = (each.id for each in (*before[place + 1 :], *before[: max(0, place)][::-1]))
        keep = next((id for id in onward if id in undecided), next(iter(undecided), None))
    shown.fill(options, keep=keep, near=all(each.disabled for each in before))
