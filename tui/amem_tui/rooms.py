"""The rooms of the browser: lines of words to click (the bar above rooms, tabs), and what all screens share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib import import_module
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from rich.cells import cell_len
from textual import events, getters, on, work
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

from amem_tui import changes
from amem_tui.client import CollectionChanged
from amem_tui.formatting import one_line
from amem_tui.keymap import ROOM_KEYS, every_key, room_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.app import ComposeResult
    from textual.binding import ActiveBinding, BindingType

    from amem.memory_system import AgenticMemorySystem
    from amem_tui.client import Answer, CollectionClient, Given

    Names: TypeAlias = dict[str, tuple[str, ...]]

#: In the order of the bar above every screen; the first is where one starts.
ROOMS = ("browse", "graph", "history", "timeline", "chat", "review", "log", "health")
START = "browse"
#: Seconds for which what is under a cursor is left unread: one that is held down passes much that nobody wants to read.
REST = 0.04


def open_room(room: str, client: CollectionClient) -> NotesScreen:
    """A room's screen, ``amem_tui.log.log_room:LogScreen``; what nobody enters is not imported."""
    made: NotesScreen = getattr(import_module(f"amem_tui.{room}.{room}_room"), f"{room.title()}Screen")(client)
    return made


@dataclass(frozen=True, slots=True)
class Word:
    """A word, the blanks around it included; what a click on it chooses, "" for nothing."""

    id: str
    text: Content


class WordLine(Widget):
    """Whoever derives from it says what there is room for (`words`) and what a click does (`choose`)."""

    #: The word under the mouse.
    hovered: reactive[str] = reactive("")

    def words(self, width: int) -> Sequence[Word]:
        raise NotImplementedError

    def choose(self, id: str) -> None:
        """A word was clicked."""
        raise NotImplementedError

    def at(self, x: int) -> str:
        words = self.words(self.size.width)
        stops = accumulate(word.text.cell_length for word in words)
        return next((word.id for word, stop in zip(words, stops, strict=True) if x < stop), "")

    def render(self) -> Content:
        words = self.words(self.size.width)
        return Content("").join(
            [word.text.stylize("underline") if word.id and word.id == self.hovered else word.text for word in words]
        )

    @on(events.Click)
    def _click(self, event: events.Click) -> None:
        if id := self.at(event.x):
            self.choose(id)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.hovered = self.at(event.x)

    def on_leave(self) -> None:
        self.hovered = ""


class TabStrip(WordLine):
    """Pages or panes by their `names`, each with shorter ones for less room; `choose` is called with a clicked one."""

    def __init__(self, names: Names, choose: Callable[[str], object], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._names, self._choose = names, choose
        self.active = next(iter(names))
        self._counts: Mapping[str, int] = {}

    def mark(self, active: str, counts: Mapping[str, int]) -> None:
        if (active, counts) != (self.active, self._counts):
            self.active, self._counts = active, counts
            self.refresh()

    def step(self, by: int) -> str:
        """The id of the tab so many after the open one; the first follows the last."""
        ids = list(self._names)
        return ids[(ids.index(self.active) + by) % len(ids)]

    def choose(self, id: str) -> None:
        self._choose(id)

    def words(self, width: int) -> Sequence[Word]:
        labels, gap = tab_labels(self._names, self._counts, self.active, width)
        words = []
        for name, label in zip(self._names, labels, strict=True):
            count = f" {self._counts[name]:,}" if self._counts.get(name) else ""
            shown = Content.styled(f" {label.removesuffix(count)}", "$muted") + Content.styled(count, "$foreground")
            text = shown.pad_right(gap - 1)
            here = Content.styled(text.plain, "bold $primary on $panel")
            words.append(Word(name, here if name == self.active else text))
        return _in_sight(words, next(at for at, word in enumerate(words) if word.id == self.active), width)


def tab_labels(names: Names, counts: Mapping[str, int], active: str, width: int) -> tuple[list[str], int]:
    """What the tabs say, and the cells between two, where they can be made to fit `width` cells."""
    brevity = dict.fromkeys(names, 0)
    most = max(map(len, names.values()))
    # The open one keeps its name as long as the others can still be shortened.
    shorter = [(id, n) for n in range(1, most) for id in reversed(names) if id != active]
    labels, gap = list[str](), 2
    for id, shortened in [(active, 0), (active, 0), *shorter, (active, most - 1)]:
        brevity[id] = shortened
        said = {id: forms[min(brevity[id], len(forms) - 1)] for id, forms in names.items()}
        labels = [f"{form} {counts[id]:,}" if counts.get(id) else form for id, form in said.items()]
        if sum(map(cell_len, labels)) + gap * len(labels) <= width:
            break
        gap = 1
    return labels, gap


def _in_sight(words: Sequence[Word], place: int, width: int) -> Sequence[Word]:
    """The words that fit, the one at a place first and then those nearest to it; arrows where there are more."""
    cells = [word.text.cell_length for word in words]
    if sum(cells) <= width:
        return words
    shown = [place]
    for at in sorted(range(len(words)), key=lambda at: abs(at - place)):
        beside = at in (shown[0] - 1, shown[-1] + 1)
        if beside and sum(cells[each] for each in (*shown, at)) <= width - 2:
            shown = sorted([*shown, at])
    before = [Word(words[shown[0] - 1].id, Content.styled("‹", "$muted"))] if shown[0] else []
    after = [Word(words[shown[-1] + 1].id, Content.styled("›", "$muted"))] if shown[-1] < len(words) - 1 else []
    return [*before, *(words[each] for each in shown), *after]


#: From how many columns on names have room for their keys; cells that facts need at least.
_WIDE, _FACTS = 110, 8


class RoomBar(WordLine):
    """The line above every screen: `keys` lead to rooms, `facts` stand at the right. Little room shortens the names."""

    def __init__(self, collection: str, room: str, keys: Mapping[str, str]) -> None:
        super().__init__(id="rooms")
        self._collection, self._room, self._keys = one_line(collection, 20), room, keys
        self.facts = Content("")

    def words(self, width: int) -> Sequence[Word]:
        short = width < _WIDE
        amem = Content(" ") if short else Content.styled(" amem ", "bold $primary")
        head = amem + Content.styled(f"{self._collection}{' ' if short else '  '}", "$muted")
        rooms = [self._named(room, short=short) for room in ROOMS]
        room = width - head.cell_length - sum(each.text.cell_length for each in rooms)
        if room < _FACTS:
            here = self._named(self._room, short=False).text
            rooms = [Word(self._room, here[1:] if short else here)]
            room = width - head.cell_length - rooms[0].text.cell_length
        facts = self.facts.truncate(max(0, room - 1), ellipsis=True)
        gap = Content(" " * max(0, room - facts.cell_length))
        return [Word("", head), *rooms, Word("", gap + facts.stylize_before("$muted"))]

    def _named(self, room: str, *, short: bool) -> Word:
        """The name of a room with its key: beside it, or as the letter that is underlined."""
        name, key = room.title(), self._keys.get(room, "")
        if short and key and key.casefold() == name[0].casefold():
            said = Content.assemble((key, "underline $accent"), f"{name[1:]} ")
        else:
            said = Content.assemble("" if short else " ", (key, "$accent"), " " if key else "", f"{name} ")
        return Word(room, said.stylize_before("bold $primary on $background" if room == self._room else "$muted"))

    def choose(self, id: str) -> None:
        self.call_later(self.app.run_action, f"visit({id!r})")

    def tell(self, facts: str | Content) -> None:
        self.facts = Content(facts) if isinstance(facts, str) else facts
        self.refresh()


class KeyFooter(Footer):
    """Textual's footer, composed anew only where other keys work than before: moving a cursor changes none.

    It shows as many keys as fit, each whole, beside Help, which lists them all; none while a screen is `opening`.
    """

    _keys: tuple[object, ...] = ()
    _room = 0

    def __init__(self) -> None:
        super().__init__(compact=True)

    def compose(self) -> ComposeResult:
        self._room = left = self.size.width or self.app.size.width
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        # Help, which stands at the right, first.
        for key in sorted(keys, key=lambda key: not key.has_class("-command-palette")):
            left -= cell_len(f"{key.key_display} {key.description} ")
            if left < -1:  # the last needs no space behind it
                return
            yield key

    @on(events.Resize)
    def _fit(self, event: events.Resize) -> None:
        if self._keys and event.size.width != self._room:
            self.call_after_refresh(self.recompose)

    def bindings_changed(self, screen: Screen[object]) -> None:
        keys = tuple(each for each in screen.active_bindings.values() if each.binding.show)
        if keys != self._keys and screen.app.app_focus and not getattr(screen, "opening", False):
            self._keys = keys
            super().bindings_changed(screen)


class NotesScreen(Screen[None]):
    """A room, which reloads when it is entered or the collection has changed, and keeps its state when it is left."""

    #: The line on top.
    bar = getters.query_one(RoomBar)
    ROOM: ClassVar[str] = ""
    #: Writing a note comes first in every footer.
    BINDINGS: ClassVar[list[BindingType]] = [every_key()["app.new"]]

    def __init_subclass__(cls, **options: bool) -> None:
        """Give a room the keys and the style sheet that go by its name."""
        if cls.ROOM:
            cls.BINDINGS = [*ROOM_KEYS[cls.ROOM], *cls.__dict__.get("BINDINGS", ())]
            cls.CSS_PATH = f"{cls.ROOM}.tcss"
            cls.BINDING_GROUP_TITLE = cls.ROOM.title()
        super().__init_subclass__(**options)

    def __init__(self, client: CollectionClient) -> None:
        super().__init__()
        self.client = client

    def compose(self) -> ComposeResult:
        settings = self.memory.settings
        yield RoomBar(settings.collection, self.ROOM, room_keys(settings.tui_keys))
        yield from self.furnish()
        yield KeyFooter()

    def furnish(self) -> ComposeResult:
        """What stands between the bar and the footer."""
        raise NotImplementedError

    def load(self) -> object:
        """Show what is there now; called when the room is entered, again, and when somebody wrote."""
        raise NotImplementedError

    def reload(self) -> None:
        """Load, as soon as the room is furnished."""
        if self.query(KeyFooter):
            self.load()
        else:
            self.call_after_refresh(self.reload)

    @on(events.ScreenResume)
    @on(CollectionChanged)
    def _reload_in_front(self) -> None:
        if self.is_current and not self.client.left:
            self.reload()

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that do something now: none before there is something to do it with, nor while it is removed."""
        return super().active_bindings if self.is_mounted and self.display else {}

    @property
    def memory(self) -> AgenticMemorySystem:
        """The collection; to be asked through `ask` alone."""
        return self.client.memory

    async def ask(self, question: Callable[Given, Answer], *args: Given.args, **named: Given.kwargs) -> Answer:
        """Answer a question in a thread; the worker that waits for it ends with the screen."""
        answer = await self.client.ask(question, *args, **named)
        if not self.app.is_running or not self.is_attached:
            raise asyncio.CancelledError
        return answer

    @work(group="change")
    async def change(self, change: Callable[..., str], *args: object) -> None:
        """Carry out one of `amem_tui.changes` and say what it did."""
        await self.client.carry_out(change, *args)

    def action_undo(self) -> None:
        self.change(changes.undo, self.memory)

    def action_redo(self) -> None:
        self.change(changes.redo, self.memory)

    def action_leave(self) -> None:
        self.client.app.leave()


class PanedScreen(NotesScreen):
    """A room of panes, which tab leads through. A narrow terminal shows those of one tab, as its style sheet says."""

    #: For the id of each pane its tab, and what takes the keyboard there, in the order of the tab key.
    PANES: ClassVar[Mapping[str, tuple[str, str]]]
    #: The tabs by their ids.
    TABS: ClassVar[Names]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (18, "-tall")]  # noqa: RUF012 (Textual declares it so)

    @property
    def pane(self) -> str:
        """The pane that has the focus, else the first."""
        around = [] if self.focused is None else self.focused.ancestors_with_self
        return next((each.id for each in around if each.id in self.PANES), None) or next(iter(self.PANES))

    def action_pane(self, by: int) -> None:
        panes = list(self.PANES)
        self.go_to(panes[(panes.index(self.pane) + by) % len(panes)])

    def tabs(self) -> TabStrip:
        first = {tab: pane for pane, (tab, _) in reversed(list(self.PANES.items()))}
        return TabStrip(self.TABS, lambda tab: self.go_to(first[tab]), id="pane-tabs")

    def go_to(self, pane: str) -> None:
        tab, focused = self.PANES[pane]
        self.show_tab(tab)
        self.query_one(focused).focus()

    def show_tab(self, tab: str) -> None:
        """Show the panes of a tab where not all have room."""
        for each in self.TABS:
            self.set_class(each == tab, f"-{each}")
        self.query_one(TabStrip).mark(tab, {})

    @on(events.DescendantFocus)
    def _focus_moved(self) -> None:
        self.show_tab(self.PANES[self.pane][0])
        self.refresh_bindings()
