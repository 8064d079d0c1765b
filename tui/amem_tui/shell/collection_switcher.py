"""The collections of the home: which there are, going to another, copying this one, beginning a new one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from amem.collection import collection_names, folder_of, listed_collection
from amem.errors import AmemError, CollectionExists
from amem_tui.desk import words
from amem_tui.keymap import COLLECTION_KEYS
from amem_tui.lists import fit
from amem_tui.phrases import clean, one_line, plural
from amem_tui.shell.footer import KeyFooter

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from amem.collection import Listed
    from amem_tui.desk import Desk


_NAME_ROOM = 24


class CollectionsScreen(ModalScreen[None]):
    """Every collection with how many notes and bytes it holds; a name is asked for on the line below."""

    BINDINGS: ClassVar[list[BindingType]] = [*COLLECTION_KEYS]

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        settings = desk.memory.settings
        self._home, self._here = settings.home, settings.collection
        self._asking = ""
        self._copying = False

    def compose(self) -> ComposeResult:
        with Vertical(id="collections", classes="sheet") as sheet:
            sheet.border_title = "Collections"
            sheet.border_subtitle = Content(one_line(str(self._home), 60))
            yield OptionList(id="found", compact=True)
            yield Static(id="asked")
            yield Input(id="name", compact=True)
        yield KeyFooter()

    def on_mount(self) -> None:
        self._ask_name("")
        self.set_focus(self.query_one("#found"))
        self._list()

    @work(exclusive=True, group="list")
    async def _list(self) -> None:
        shown = self.query_one("#found", OptionList)
        with self._desk.refusals():
            # Each is opened to be counted, which may take its time; what is counted is shown.
            names = await self._desk.ask(partial(collection_names, self._home))
            before = shown.highlighted_option
            wanted = self._here if before is None else before.id
            shown.clear_options()
            for name in names:
                shown.add_option(Option(_line(name, self._here, None), id=name))
            if names:
                shown.highlighted = names.index(wanted) if wanted in names else 0
            for name in names:
                found = await self._desk.ask(partial(listed_collection, self._home, name))
                shown.replace_option_prompt(name, _line(name, self._here, found))

    # -- going there ---------------------------------------------------------------------------------------------

    def action_open(self) -> None:
        chosen = self.query_one("#found", OptionList).highlighted_option
        if chosen is not None and chosen.id is not None:
            self._open(chosen.id)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self._open(event.option_id)

    def _open(self, name: str) -> None:
        self.dismiss()
        if name != self._here:
            self._desk.rooms.switch_collection(name)

    # -- making one ----------------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        self._ask_name("copy")

    def action_make(self) -> None:
        self._ask_name("make")

    def _ask_name(self, what: str) -> None:
        self._asking = what
        asked, name = self.query_one("#asked", Static), self.query_one("#name", Input)
        asked.display = name.display = bool(what)
        if what:
            said = f"Copy {self._here} to a collection called" if what == "copy" else "A new collection called"
            asked.update(Content(clean(said)))
            name.value = f"{self._here}-copy" if what == "copy" else ""
            self.set_focus(name)
        else:
            self.set_focus(self.query_one("#found"))

    @on(Input.Submitted, "#name")
    def _named(self, event: Input.Submitted) -> None:
        if event.value.strip() and not self._copying:
            self._make(self._asking, event.value.strip())

    @work(group="make")
    async def _make(self, what: str, name: str) -> None:
        asked = self.query_one("#asked", Static)
        try:
            await self._desk.ask(partial(_free, self._home, name))
            if what == "make":
                self._open(name)
                return
            self._copying = True
            asked.update(Content(clean(f"Copying to {name}…")))
            await self._desk.ask(partial(self._desk.memory.copy, name))
        except AmemError as error:
            asked.update(Content.assemble((words(error), "$error")))
            return
        finally:
            self._copying = False
        self._desk.say(f"{self._here} is copied to {name}; enter there opens it.")
        self._ask_name("")
        self._list()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a name is typed its letters are no keys; a collection that fails has nothing to copy from."""
        return not self._asking or action == "leave"

    def action_leave(self) -> None:
        if self._asking and not self._copying:
            self._ask_name("")
        else:
            self.dismiss()


def _free(home: Path, name: str) -> None:
    """Raises InvalidInput for what cannot name a collection, and CollectionExists."""
    if folder_of(home, name).exists():
        raise CollectionExists(f"there is a collection {name!r} already", hint="choose another name")


def _line(name: str, here: str, found: Listed | None) -> Content:
    mark = "▸ " if name == here else "  "
    head = Content.assemble((mark, "$accent"), (fit(clean(name), _NAME_ROOM), "bold" if name == here else ""))
    if found is None:
        return Content.assemble(head, (" …", "$muted"))
    if found.problem:
        return Content.assemble(head, " ", (one_line(found.problem), "$error"))
    size = f"{found.size / 1e6:,.1f} MB"
    return Content.assemble(head, (f"{plural(found.notes or 0, 'note'):>14}{size:>14}", "$muted"))
