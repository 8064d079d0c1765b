"""The open note on the screen: its pages, and the dialog that links it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from amem.errors import AmemError, StorageError
from amem.note import LinkType, Status
from amem_tui import changes
from amem_tui.browse.note_pages import NAMES, READERS, load_note
from amem_tui.client import Refresher, words
from amem_tui.dialogs import NotePicker
from amem_tui.formatting import link_words, maker, moment, one_line, title
from amem_tui.page import Address, Destination, Named, Page, ToNote, ToVersion, Unfold, remark
from amem_tui.rooms import TabStrip

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo

    from textual.app import ComposeResult

    from amem.memory_system import AgenticMemorySystem
    from amem.note import Link, MemoryNote
    from amem.query import Query
    from amem_tui.browse.note_pages import OpenedNote, Reader
    from amem_tui.client import CollectionClient
    from amem_tui.page import Part


_LOOKED_AT = 200
#: Seconds after which a page that is being read says so.
_PATIENCE = 0.25


class NotePane(Vertical):
    """Opens the note that is wanted last, and reads of its pages the one whose tab is open.

    `told_of` says why the note with an id was found, and what was asked; `rest` for how many seconds it is left unread.
    """

    #: What is being read.
    page = getters.query_one(Page)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step_tab(-1)", "Page before", show=False),
        Binding("right", "step_tab(1)", "Next page", show=False),
    ]

    def __init__(
        self,
        client: CollectionClient,
        told_of: Callable[[str], tuple[str, Query | str]],
        rest: Callable[[], float],
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._client, self._told_of, self._rest = client, told_of, rest
        self._asked: OpenedNote | None = None
        self.opened_note: OpenedNote | None = None
        #: The id of the note that is to be read, and whether it was deleted and can be brought back.
        self.wanted: str | None = None
        self.gone = False
        #: Whence links were followed, and on which page.
        self.trail: list[tuple[str, str]] = []
        self._wanted_tab: str | None = None
        self._opening = Refresher(self._show_wanted, partial(self.run_worker, group="note"))

    def compose(self) -> ComposeResult:
        yield Static(id="hint")
        yield TabStrip(NAMES, self._choose_tab, id="tabs")
        yield Page(id="page")

    def on_mount(self) -> None:
        self.show_hint("")

    @property
    def tab(self) -> str:
        return self.query_one(TabStrip).active

    @property
    def chosen_link(self) -> Link | None:
        destination = None if self.opened_note is None else self.page.chosen
        return destination.link if isinstance(destination, ToNote) else None

    def show_hint(self, hint: str) -> None:
        self.opened_note = self._asked = None
        self.query_one("#hint", Static).update(Content(hint))
        self.set_class(True, "-empty")
        self.border_title, self.border_subtitle = "Note", ""
        self.screen.refresh_bindings()

    def want(self, id: str | None, tab: str | None = None) -> None:
        """Open this note, or none; on this page, or on the one that is open."""
        self.wanted = self._client.note = id
        self._wanted_tab, self.gone = tab, False
        self.read_again()

    def start(self, id: str | None) -> None:
        self.trail.clear()
        self.want(id)

    def read_again(self) -> None:
        self._opening.want(now=True)

    async def _show_wanted(self) -> None:
        await asyncio.sleep(self._rest())
        if self.wanted is not None and not self._opening.stale:  # or another one is wanted by now
            with self._client.refusals():
                await self._open(self.wanted)
            self.screen.refresh_bindings()

    async def _open(self, id: str) -> None:
        about = self._client.memory, id, self._client.zone
        opened_note, words, gone = await self._client.ask(load_note, *about), "", False
        if opened_note is None:
            words, gone = await self._client.ask(deletion_words, *about)
        if not self.is_attached or self.wanted != id:
            return  # another one is shown next
        self.gone, self._client.note = gone, None if opened_note is None else id
        if opened_note is None:
            self.show_hint(words)
            return
        (found, question), before = self._told_of(id), self._asked
        unfolded = frozenset() if before is None else before.unfolded
        self._asked = replace(opened_note, question=question, found=found, unfolded=unfolded)
        tab, self._wanted_tab = self._wanted_tab or self.tab, None
        same = before is not None and before.note.id == id and tab == self.tab
        if tab != self.tab:
            self.query_one(TabStrip).mark(tab, opened_note.counts)
        await self._turn_page(keep=same)

    def focus_inside(self) -> None:
        """Give the keyboard to the page, at once: the next key may be on its way."""
        self.screen.set_focus(self.page)

    def action_step_tab(self, by: int) -> None:
        self.open_tab(self.query_one(TabStrip).step(by))

    def open_tab(self, tab: str) -> None:
        if self._asked is not None and tab != self.tab:
            self.query_one(TabStrip).mark(tab, self._asked.counts)
            self._open_page(keep=False)

    def _open_page(self, *, keep: bool) -> None:
        self.run_worker(self._turn_page(keep=keep), exclusive=True, group="page")

    async def _turn_page(self, *, keep: bool) -> None:
        """Read the open page in a thread and show it, unless something else is to be shown by then."""
        asked, tab = self._asked, self.tab
        if asked is None:
            return
        reading = asyncio.ensure_future(self._read(asked, READERS[tab]))
        try:
            done, _ = await asyncio.wait({reading}, timeout=_PATIENCE)
            if not done and not keep:
                await self._put(asked, tab, [remark("Reading …")], keep=False)
            await self._put(asked, tab, await reading, keep=keep)
        finally:
            reading.cancel()

    async def _read(self, asked: OpenedNote, reader: Reader) -> list[Part]:
        try:
            return await self._client.ask(reader, self._client.memory, asked)
        except StorageError:
            raise
        except AmemError as error:  # of this page alone: the note may have gone, or a model may be away
            return [remark(line, "$error") for line in words(error).splitlines()]

    async def _put(self, asked: OpenedNote, tab: str, parts: list[Part], *, keep: bool) -> None:
        if not self.is_attached or self._asked is not asked or self.tab != tab:
            return
        self.opened_note = asked
        self.set_class(False, "-empty")
        self.border_title = Content(title(asked.note.content))
        self.query_one(TabStrip).mark(tab, asked.counts)
        await self.page.show(parts, keep=keep, choose=tab != "note")
        self.screen.refresh_bindings()

    def _choose_tab(self, tab: str) -> None:
        self.open_tab(tab)
        self.focus_inside()

    @on(Page.Chose)
    def _tell_where(self, event: Page.Chose) -> None:
        event.stop()
        self.border_subtitle = Content(_whereto(event.destination))
        self.screen.refresh_bindings()

    @on(Page.Followed)
    def _follow(self, event: Page.Followed) -> None:
        event.stop()
        match event.destination:
            case ToNote(id):
                self._follow_link(id)
            case ToVersion():
                self._client.app.visit("history")
            case Named(name):
                self._look_up(name)
            case Unfold(what):
                assert self._asked is not None
                self._asked = replace(self._asked, unfolded=self._asked.unfolded ^ {what})
                self._open_page(keep=True)

    def _follow_link(self, id: str) -> None:
        if self.wanted is not None:
            self.trail.append((self.wanted, self.tab))
        self.want(id, "note")

    @work(group="name")
    async def _look_up(self, name: str) -> None:
        """Follow a name: a note of that name may have come since the page was read."""
        inside = None if self.opened_note is None else self.opened_note.note.id
        found = await self._client.ask(self._client.memory.named, [name], inside)
        if name in found:
            self._follow_link(found[name])
        else:
            self._client.say(f"No note is called “{one_line(name, 60)}” (yet).")


def deletion_words(memory: AgenticMemorySystem, id: str, zone: tzinfo) -> tuple[str, bool]:
    """What to say of a note that cannot be read any more, and whether it can be brought back."""
    card = memory.cards_of([id]).get(id)
    if card is None:
        return "This note was destroyed for good.", False
    if card.status is not Status.DELETED:
        return "This note was gone for a moment.", False
    gone = next((each for each in memory.log(limit=_LOOKED_AT) if id in each.notes), None)
    who = "" if gone is None else f" by {maker(gone.actor)}, {moment(gone.at, zone)}"
    return f"Deleted{who}.\n\n“{title(card.text)}”\n\n{one_line(card.text, 400)}\n\nu brings it back.", True


def _whereto(destination: Destination | None) -> str:
    match destination:
        case ToNote(_, link):
            return "enter opens it" + (", - unlinks" if link is not None else "")
        case ToVersion():
            return "enter: all versions side by side"
        case Named(name):
            return f"enter looks for “{one_line(name, 40)}”"
        case Address(url):
            return f"enter copies {one_line(url, 60)}"
        case Unfold():
            return "enter tells more or less"
        case _:
            return ""


_TYPES: dict[str, tuple[str, ...]] = {str(type): (link_words(type),) for type in (LinkType.RELATED, *LinkType)}


class LinkPicker(NotePicker):
    """To which note, as what, and why. It closes when the link is made: a refusal never costs what was typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "type", "Type", priority=True),
        Binding("ctrl+s", "choose", "Link"),
    ]
    KEYS = "enter links   ctrl+t type   tab reason   escape cancels"

    def __init__(self, client: CollectionClient, note: MemoryNote) -> None:
        heading = f"Link “{one_line(title(note.content), 50)}”"
        super().__init__(client, heading, "to the note that says …", but=note.id)
        self._note, self._saving = note, False
        self.above = [TabStrip(_TYPES, self._choose_type, id="types")]
        self.below = [Input(placeholder="because … (may stay empty)", id="reason", compact=True)]

    def action_type(self) -> None:
        self._choose_type(self.query_one(TabStrip).step(1))

    def _choose_type(self, type: str) -> None:
        self.query_one(TabStrip).mark(type, {})

    def picked(self, answer: str) -> None:
        if not self._saving:
            self._saving = True
            self._link(answer, self.query_one(TabStrip).active, self.query_one("#reason", Input).value.strip())

    @work(group="change")
    async def _link(self, target: str, type: str, reason: str) -> None:
        made = await self._client.carry_out(changes.link, self._client.memory, self._note.id, target, type, reason)
        self._saving = False
        if made:
            self.dismiss()
