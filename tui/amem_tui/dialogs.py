"""Dialogs: a question, a path to write to, a list to choose from, a note to be found by its words, and help."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from textual import events, on, work
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, KeyPanel, Markdown, OptionList, Static
from textual.widgets.option_list import Option

from amem.errors import AmemError
from amem.labels import counted
from amem.note import Status
from amem_tui.formatting import GLYPHS, SIGNS, clean, day, title
from amem_tui.keymap import cursor_keys

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from textual.app import ComposeResult
    from textual.screen import Screen
    from textual.widget import Widget

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.note_lists import Card
    from amem_tui.client import CollectionClient

    #: What can be chosen, as (id, words).
    Choices: TypeAlias = Sequence[tuple[str, Content]]


class Question(ModalScreen[bool]):
    """Asks once before something is done: y, enter or `key` says yes, n or escape no. `grave` draws it in red."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "dismiss(True)", "Yes"),
        Binding("n,escape,q", "dismiss(False)", "No"),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
    ]

    def __init__(
        self,
        question: str,
        details: str,
        *,
        key: str = "y",
        yes: str = "goes on",
        no: str = "does not",
        grave: bool = False,
    ) -> None:
        super().__init__(classes="-grave" if grave else "")
        self._bindings.bind(key, "dismiss(True)", show=False)
        self._question, self._details, self._answers = question, details, f"{key} or enter {yes}    escape {no}"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content(self._question)
            with VerticalScroll(can_focus=False):
                yield Static(Content(self._details), id="details")
            yield Static(Content(self._answers), classes="answers")

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)


class Prompt(ModalScreen[None]):
    """Asks for a line, which begins as `value`; `keys` says below it what can be pressed.

    `do` returns why nothing could be done with the line, "" when it was; it is told whether that was refused before.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel")]

    def __init__(
        self, heading: str, value: str, do: Callable[[str, bool], Awaitable[str]], *, keys: str = "enter goes on"
    ) -> None:
        super().__init__()
        self._heading, self._value, self._do, self._keys = heading, value, do, f"{keys}    escape cancels"
        self._refused, self._busy = "", False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content(clean(self._heading))
            yield Input(self._value, id="line", compact=True, select_on_focus=False)
            yield Static(Content(self._keys), classes="answers")

    @on(Input.Changed)
    def _changed(self) -> None:
        self._refused = ""
        self._say(self._keys)

    @on(Input.Submitted)
    @work
    async def _try(self, event: Input.Submitted) -> None:
        if not (typed := event.value.strip()) or self._busy:
            return
        self._busy = True
        self._say("…")
        self._refused, before = typed, self._refused
        if refusal := await self._do(typed, typed == before):
            self._busy = False
            self._say(refusal)
        else:
            self.dismiss()

    def _say(self, words: str) -> None:
        self.query_one(".answers", Static).update(Content(clean(words)))


def path_prompt(
    client: CollectionClient,
    heading: str,
    path: str,
    write: Callable[[Path, bool], int],
    *,
    forms: str = "",
    then: str = "",
) -> Prompt:
    """Ask where `write` writes a file (replacing one when asked twice) and returns how many notes it holds.

    `forms` says which endings mean what, `then` what to do with the file.
    """

    async def do(typed: str, again: bool) -> str:
        path = Path(typed).expanduser()
        try:
            number = await client.ask(write, path, again)
        except AmemError as error:
            return f"{error}{f': {error.hint}' if error.hint else '; enter once more replaces it'}"
        except OSError as error:
            return f"This cannot be written: {error.strerror or error}"
        client.say(f"Wrote {counted(number, 'note')} to {path.absolute()}{then}")
        return ""

    return Prompt(heading, path, do, keys="    ".join(["enter writes", *([forms] if forms else [])]))


class Lines(OptionList, inherit_bindings=False):
    """An option list whose cursor stays on the same thing when it is filled anew. A second click opens that."""

    _MOVES = ("cursor_up", "cursor_down", "page_up", "page_down", "first", "last")
    BINDINGS: ClassVar[list[BindingType]] = cursor_keys(*_MOVES)
    BINDING_GROUP_TITLE = "In the list"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, compact=True, markup=False)

    @property
    def chosen(self) -> str | None:
        option = self.highlighted_option
        return None if option is None else option.id

    def fill(self, options: Sequence[Option], *, keep: str | None = None, near: bool = True) -> None:
        """Show these lines, with the cursor on the one it was on (or on `keep`), else on the nearest or on none."""
        wanted, place, top = keep or self.chosen, self.highlighted or 0, self.scroll_y
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            self.add_options(options)
            there = {option.id: at for at, option in enumerate(options) if not option.disabled}
            nearest = min(there.values(), key=lambda at: abs(at - place), default=None) if near else None
            self.highlighted = there.get(wanted, nearest)
        self.scroll_to(y=top, animate=False, immediate=True)
        self.call_after_refresh(self.scroll_to_highlight)

    async def _on_click(self, event: events.Click) -> None:
        event.prevent_default()
        clicked = event.style.meta.get("option")
        if clicked is None or self.options[clicked].disabled:
            return
        if clicked == self.highlighted:
            self.action_select()
        else:
            self.highlighted = clicked


def remark_line(words: str, look: str = "$muted") -> Option:
    return Option(Content.styled(words, look), disabled=True)


class Picker(ModalScreen[str | None]):
    """Ends with the id of what was chosen, with what was typed, or with None.

    `chosen` is the id to begin at, `keys` are letters that choose at once. With a `prompt` there is a line to type in:
    what is typed there is the answer, unless `find` makes choices of it, and words to say above them: on enter, or
    `live` while one types.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Choose", show=False),
        Binding("escape,q", "dismiss", "Close"),
        Binding("down,ctrl+j", "step(1)", "Down", show=False, priority=True),
        Binding("up", "step(-1)", "Up", show=False, priority=True),
        Binding("pagedown", "step(10)", "Page down", show=False, priority=True),
        Binding("pageup", "step(-10)", "Page up", show=False, priority=True),
        Binding("j", "step(1)", "Down", show=False),
        Binding("k", "step(-1)", "Up", show=False),
        Binding("home", "step(-9999)", "First", show=False),
        Binding("end,G", "step(9999)", "Last", show=False),
    ]
    AUTO_FOCUS = ""  # keys of the list are the screen's, so that they work beside a line to type in
    KEYS = "enter chooses, escape closes"
    LOOK = "dialog"
    #: What stands above and below the choices.
    above: Sequence[Widget] = ()
    below: Sequence[Widget] = ()

    def __init__(
        self,
        heading: str,
        choices: Choices = (),
        *,
        chosen: str = "",
        words: str = "",
        prompt: str = "",
        find: Callable[[str], Awaitable[tuple[Choices, str]]] | None = None,
        live: bool = False,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._heading, self._choices, self._chosen, self._words = heading, choices, chosen, words
        self._prompt, self._find, self._live = prompt, find, live
        #: What was looked for.
        self._looked: str | None = None if live else ""
        for key, id in (keys or {}).items():
            self._bindings.bind(key, f"dismiss({id!r})", show=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes=self.LOOK) as box:
            box.border_title, box.border_subtitle = Content(self._heading), self.KEYS
            yield from self.above
            if self._prompt:
                yield Input(placeholder=self._prompt, id="typed", compact=True)
            yield Static(id="said")
            choices = OptionList(id="choices", compact=True)
            choices.can_focus = False
            yield choices
            yield from self.below

    def on_mount(self) -> None:
        if self._prompt and (self._find is not None or not self._choices):
            self.set_focus(self.query_one("#typed"))
        self._show(self._choices, self._words)
        if self._live and self._find is not None:
            self._look("", self._find)

    def _show(self, choices: Choices, words: str) -> None:
        said, shown, ids = self.query_one("#said", Static), self.query_one("#choices", OptionList), [*dict(choices)]
        said.update(Content(words))
        said.display = bool(words)
        shown.clear_options()
        shown.add_options([Option(line, id=id) for id, line in choices])
        shown.highlighted = ids.index(self._chosen) if self._chosen in ids else 0 if ids else None

    @property
    def _typed(self) -> str:
        return self.query_one("#typed", Input).value.strip() if self._prompt else ""

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self.picked(event.option_id)

    @on(Input.Submitted)
    def action_choose(self) -> None:
        if self._find is None and self._typed:
            self.picked(self._typed)
        elif self._find is not None and self._typed != self._looked:
            self._look(self._typed, self._find)
        elif (chosen := self.query_one("#choices", OptionList).highlighted_option) is not None and chosen.id:
            self.picked(chosen.id)

    def picked(self, answer: str) -> None:
        self.dismiss(answer)

    @on(Input.Changed, "#typed")
    def _changed(self) -> None:
        if self._live and self._find is not None and self._typed != self._looked:
            self._look(self._typed, self._find)

    @work(exclusive=True, group="find")
    async def _look(self, text: str, find: Callable[[str], Awaitable[tuple[Choices, str]]]) -> None:
        choices, words = await find(text)
        if not self.is_attached:
            return
        self._show(choices, words)
        self._looked = text

    def action_step(self, by: int) -> None:
        shown = self.query_one("#choices", OptionList)
        if shown.highlighted is not None:
            shown.highlighted = max(0, min(shown.highlighted + by, shown.option_count - 1))


_KINDS = "\n".join("- " + "\\" * glyph.isascii() + f"{glyph} {kind}" for kind, glyph in GLYPHS.items())
_SIGNS = f"""
### Signs

- {SIGNS["person"][0]} a person wrote it
- {SIGNS["agent"][0]} an agent wrote it
- {SIGNS["machine"][0]} a model or a rule concluded it
- ▪ pinned: never fades
"""


class HelpScreen(ModalScreen[None]):
    """Textual's table of keys, of those of the screen `below`, and what signs mean (its HELP and those of all)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,f1,q", "dismiss", "Close", show=False),
        Binding("j", "focused.scroll_down", show=False),
        Binding("k", "focused.scroll_up", show=False),
        Binding("space", "focused.page_down", show=False),
    ]

    def __init__(self, below: Screen[Any]) -> None:
        super().__init__()
        active = {(each.binding.key, each.binding.action) for each in below.active_bindings.values()}
        self._below, self._keys = below, dict[str, ActiveBinding]()
        for node in (below.focused or below).ancestors_with_self:
            bindings = node._bindings.copy()
            bindings.apply_keymap(below.app._keymap)
            for key, binding in bindings:
                told = replace(binding, tooltip="" if (key, binding.action) in active else "(not now)")
                if binding.description and (binding.id or not binding.action.startswith(_TEXTUALS_OWN)):
                    self._keys[f"{node} {key} {binding.action}"] = ActiveBinding(node, told, True, told.tooltip)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """What the table shows: every key of the screen below, those too that do nothing now."""
        return self._keys

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as box:
            box.border_title, box.border_subtitle = "Keys", "escape closes"
            yield KeyPanel()
            yield Markdown(f"{_SIGNS}{self._below.HELP or ''}\n### Kinds\n\n{_KINDS}")


#: Of every scrolling widget, and said by the arrow keys themselves.
_TEXTUALS_OWN = ("scroll_", "page_left", "page_right")
#: So many notes are shown, and so many that hold the words are looked at for having them in their titles.
_SHOWN, _LOOKED_AT = 30, 200


class NotePicker(Picker):
    """Goes to a note among those that hold the words typed, at first the newest; `but` leaves out one by its id."""

    KEYS = "enter opens, escape closes"
    LOOK = "sheet"

    def __init__(
        self, client: CollectionClient, heading: str = "Go to a note", prompt: str = "words of the note", but: str = ""
    ) -> None:
        super().__init__(heading, prompt=prompt, find=self._notes, live=True)
        self._client, self._but = client, but

    async def _notes(self, words: str) -> tuple[Choices, str]:
        found = await self._client.ask(found_by, self._client.memory, words, but=self._but)
        return [(card.id, self._line(card)) for card in found], "" if found else "No note holds these words."

    def _line(self, card: Card) -> Content:
        when, look = f"{day(card.at, self._client.zone)}  ", "" if card.status is Status.ACTIVE else "$muted"
        return Content.assemble((when, "$muted"), (f"{GLYPHS[card.kind]} ", "$secondary"), (title(card.text), look))

    def picked(self, answer: str) -> None:
        self.dismiss()
        self._client.app.read_note(answer)


def found_by(memory: AgenticMemorySystem, words: str, limit: int = _SHOWN, *, but: str | None = None) -> list[Card]:
    """The newest notes that hold these words, each perhaps unfinished, those first that have them in their titles."""
    typed = words.casefold().split()
    shelf = memory.shelf(starting=words, order="time" if typed else "recorded")
    cards = [card for card in memory.cards(shelf, 0, _LOOKED_AT if typed else limit + 1) if card.id != but]
    cards.sort(key=lambda card: not all(word in title(card.text).casefold() for word in typed))
    return cards[:limit]
