"""The start screen: what to narrow by, the list of notes or of hits, and the open note."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events, getters, on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from amem_tui.browse.listing import ListScreen, ids_of
from amem_tui.browse.note_list import LEGEND, NoteList
from amem_tui.browse.note_pane import NotePane
from amem_tui.browse.open_note import REST
from amem_tui.browse.sidebar import Sidebar
from amem_tui.keymap import BROWSE_KEYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from amem_tui.browse.note_list import Row
    from amem_tui.browse.sidebar import Conditions
    from amem_tui.client import CollectionClient


# The line to type in: a question to search for, words to filter by, or part of a name in the sidebar.

Mode = Literal["search", "filter", "sidebar"]

_PROMPTS: dict[Mode, tuple[str, str, str]] = {
    "search": (" / Search ", "$primary", "a question or words, then enter"),
    "filter": (" f Filter ", "$accent", "words, each of which may be unfinished"),
    "sidebar": (" f Find ", "$secondary", "part of a tag, a topic, a month"),
}
_IDLE = "/ searches by words and meaning    f filters as you type"


class _Typing(Input):
    """An input from which the list below is a key away."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "List"),
        Binding("down", "leave", "Into the list"),
        Binding("escape", "clear", "Clear"),
    ]

    @dataclass
    class Left(Message):
        """To the list, with what was typed."""

    @dataclass
    class Cleared(Message):
        """Back, without it."""

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def action_clear(self) -> None:
        self.post_message(self.Cleared())


class SearchLine(Horizontal):
    """`mode` says what is typed. Idle, with nothing typed, it says how to begin."""

    @dataclass
    class Typed(Message):
        """Another letter of a filter."""

        mode: Mode
        text: str

    @dataclass
    class Submitted(Message):
        """Enter, or down into the list."""

        mode: Mode
        text: str

    @dataclass
    class Cleared(Message):
        """Escape: nothing is to be typed after all."""

        mode: Mode

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.mode: Mode = "search"
        self._said: tuple[bool, Mode] | None = None
        self._prompt = Static(id="search-mode")
        self._input = _Typing(id="search", compact=True, select_on_focus=True)

    def compose(self) -> ComposeResult:
        yield self._prompt
        yield self._input

    def on_mount(self) -> None:
        self._label()

    @property
    def text(self) -> str:
        """What stands there."""
        return self._input.value

    @property
    def typing(self) -> bool:
        """Whether the keyboard is here."""
        return self._input.has_focus

    def begin(self, mode: Mode, text: str) -> None:
        """Type in this mode, from this text on."""
        self.put(mode, text)
        self.set_class(False, "-idle")
        self.screen.set_focus(self._input)

    def put(self, mode: Mode, text: str) -> None:
        """Let this stand there, as if it had been typed."""
        self.mode = mode
        if self._input.value != text:
            with self.prevent(Input.Changed):
                self._input.value = text
        self._label()

    def _label(self) -> None:
        idle = not (self._input.value or self._input.has_focus)
        if (idle, self.mode) == self._said:  # nothing but letters: the line need not be laid out anew
            return
        self._said = (idle, self.mode)
        prompt, colour, what = _PROMPTS[self.mode]
        label = Content(" ") if idle else Content.assemble((prompt, f"bold {colour}"))
        self._prompt.update(label)
        self._input.placeholder = _IDLE if idle else what
        self.set_class(idle, "-idle")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._label()
        if self.mode != "search":
            self.post_message(self.Typed(self.mode, event.value))

    @on(Input.Submitted)
    @on(_Typing.Left)
    def _submit(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Submitted(self.mode, self._input.value))

    @on(_Typing.Cleared)
    def _clear(self, event: Message) -> None:
        event.stop()
        self.put(self.mode, "")
        self.post_message(self.Cleared(self.mode))

    def on_descendant_focus(self) -> None:
        self._label()

    def on_descendant_blur(self) -> None:
        self._label()


#: So many notes are marked at once.
_MOST = 1000
#: Seconds for which a note is left unread while one types, so that reading it does not slow the typing down.
_TYPING_REST = 0.15
#: Below so many cells, or lines, there is room for the list or for the note, not for both.
_SMALL = (60, 18)
_LETTERS = frozenset(binding.action.partition("(")[0] for binding in BROWSE_KEYS) - {"back"}


class BrowseScreen(ListScreen):
    """What is listed and where the cursor stands; everything it shows comes from the collection."""

    _line = getters.query_one(SearchLine)
    ROOM = "browse"
    FOOTER = ("search", "filter", "new", "edit", "delete", "undo")
    AUTO_FOCUS = "#notes"
    BINDINGS: ClassVar[list[BindingType]] = [*BROWSE_KEYS]
    CSS_PATH = ["browse.tcss", "pane.tcss"]  # noqa: RUF012 (Textual declares it so)
    LEGEND: ClassVar[tuple[tuple[str, str], ...]] = LEGEND

    def __init__(self, client: CollectionClient) -> None:
        super().__init__(client)
        self._furnished = False
        self._marks: dict[str, None] = {}

    def furnish(self) -> ComposeResult:
        yield SearchLine(id="searching")
        with Horizontal(id="panes"):
            yield Sidebar(id="sidebar")
            yield NoteList(id="notes")
            yield NotePane(self._client, id="note")

    def on_mount(self) -> None:
        self._furnished = True
        self.watch(self._notes, "cursor", self._follow_cursor, init=False)
        self._notes.border_title = Content(self._listing.heading)

    @on(events.Resize)
    def _fit(self, event: events.Resize) -> None:
        self.set_class(event.size.width < _SMALL[0] or event.size.height < _SMALL[1], "-small")

    def _rest(self) -> float:
        return _TYPING_REST if self._line.typing else REST

    @property
    def settling(self) -> bool:
        """What is typed needs no list."""
        return super().settling and not self._line.typing

    @on(Sidebar.Chosen)
    def _choose(self, event: Sidebar.Chosen) -> None:
        conditions = self._listing.conditions
        if not event.stay:
            self._leave_sidebar()
        self._narrow(type(conditions)() if event.condition is None else conditions.toggled(event.condition))

    @on(Sidebar.CollectionChosen)
    def _choose_collection(self, event: Sidebar.CollectionChosen) -> None:
        self._leave_sidebar()
        if event.name != self.memory.settings.collection:
            self._client.app.switch_collection(event.name)

    def _narrow(self, conditions: Conditions, *, keep: str | None = None) -> None:
        self._sidebar.tick(conditions)
        self._start_over(replace(self._listing, conditions=conditions), keep=keep)

    def action_sidebar(self) -> None:
        if self._sidebar.has_focus:
            self._leave_sidebar()
        else:
            self.add_class("-sidebar")
            self.set_focus(self._sidebar)

    def _leave_sidebar(self) -> None:
        self.remove_class("-sidebar")
        self._sidebar.narrow("")
        self._follow_listing()
        self.set_focus(self._notes)

    def action_search(self) -> None:
        self._line.begin("search", self._listing.question or self._listing.starting)

    def action_filter(self) -> None:
        if self._sidebar.has_focus:
            self._line.begin("sidebar", self._sidebar.wanted)
            return
        words = self._listing.starting or self._listing.question
        self._line.begin("filter", words)
        if words != self._listing.starting:
            self._filter(words)

    @on(SearchLine.Typed)
    def _typed(self, event: SearchLine.Typed) -> None:
        if event.mode == "sidebar":
            self._sidebar.narrow(event.text)
        else:
            self._filter(event.text)

    def _filter(self, words: str) -> None:
        self._start_over(replace(self._listing, question="", starting=words.strip()), keep=self._wanted)

    @on(SearchLine.Submitted)
    def _submitted(self, event: SearchLine.Submitted) -> None:
        if event.mode == "sidebar":
            self.set_focus(self._sidebar)
            return
        self.set_focus(self._notes)
        words = event.text.strip()
        if event.mode != "search":
            return
        if words != self._listing.question or self._listing.starting:
            self._start_over(replace(self._listing, question=words, starting="", weak=False))
        elif self._weaker:  # asked once more: then all there is
            self._start_over(replace(self._listing, weak=True), keep=self._wanted)

    @on(SearchLine.Cleared)
    def _cleared(self, event: SearchLine.Cleared) -> None:
        if event.mode == "sidebar":
            self._sidebar.narrow("")
            self._follow_listing()
            self.set_focus(self._sidebar)
        else:
            self.set_focus(self._notes)
            self._ask_nothing()

    def _ask_nothing(self) -> None:
        """All notes that meet the conditions again, from the one that is open."""
        if self._listing.asks:
            self._start_over(replace(self._listing, question="", starting=""), keep=self._wanted)

    def _follow_listing(self) -> None:
        """Let the line to type in say what the list shows."""
        listing = self._listing
        self._line.put("filter" if listing.starting else "search", listing.starting or listing.question)

    def action_order(self) -> None:
        self._start_over(self._listing.next_order())

    def _marked(self) -> list[str]:
        return list(self._marks)

    def _mark(self, ids: Sequence[str], marked: bool) -> None:
        for id in ids:
            if marked:
                self._marks[id] = None
            else:
                self._marks.pop(id, None)
        self._notes.tick(set(self._marks))
        self._subtitle()
        self.refresh_bindings()

    def _toggle(self, row: Row) -> None:
        self._mark([row.id], row.id not in self._marks)

    def _forget(self, ids: Sequence[str]) -> None:
        super()._forget(ids)
        self._mark(ids, False)

    def action_mark(self) -> None:
        if self._notes.row is not None:
            self._toggle(self._notes.row)
            self._notes.action_step(1)

    @on(NoteList.Ticked)
    def _ticked(self, event: NoteList.Ticked) -> None:
        self._toggle(event.row)

    @work(group="mark", exclusive=True)
    async def action_mark_all(self) -> None:
        with self._client.refusals():
            if self._shelf is not None:
                ids = await self.ask(partial(ids_of, self.memory, self._shelf, _MOST))
            else:
                rows = (self._notes.entry_at(place) for place in range(self._notes.count))
                ids = [row.id for row in rows if row is not None]
            every = all(id in self._marks for id in ids)
            self._mark(ids, not every)
            if not every and self._notes.count > len(ids):
                self._client.say(f"Marked the first {len(ids):,} of {self._notes.count:,}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what works now is offered: no letter while one types, and without an open note nothing to do with it."""
        if action in _LETTERS and (not self._furnished or self._line.typing):
            return False
        if action in self.NEEDS_A_NOTE:
            return self._client.note is not None or (action in ("delete", "export") and bool(self._marks))
        if action in ("mark", "mark_all", "order"):
            return self._notes.count > 0
        return super().check_action(action, parameters)

    @on(NoteList.Opened)
    def _step_inside(self) -> None:
        self.add_class("-reading")
        self._pane.focus_inside()

    @on(events.DescendantFocus)
    def _stepped_out(self, event: events.DescendantFocus) -> None:
        if event.widget is self._notes:
            self.remove_class("-reading")

    def turn_to(self, id: str) -> None:
        super().turn_to(id)
        if self.has_class("-small"):  # where there is no room for the list beside it
            self._step_inside()

    def action_back(self) -> None:
        """One step back out: of the note, the sidebar, the search, the marks, the conditions."""
        if self._trail:
            self._step_back()
        elif self.focused is not self._notes:
            self.remove_class("-reading")
            self._leave_sidebar()
        elif self._listing.asks:
            self._line.put("search", "")
            self._ask_nothing()
        elif self._marks:
            self._mark(self._marked(), False)
        elif self._listing.conditions:
            self._narrow(self._listing.conditions.without_last(), keep=self._wanted)
