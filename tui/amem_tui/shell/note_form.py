"""The form in which a note is written or edited. It closes when the note is saved: a refusal never costs a word."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Checkbox, Collapsible, Input, Select, Static, TextArea

from amem.errors import AmemError, InvalidInput, NoteNotFound, StaleNote
from amem.note import Kind
from amem_tui.desk import words
from amem_tui.phrases import GLYPHS, clean, typeable
from amem_tui.shell.draft import Draft, labels
from amem_tui.shell.footer import KeyFooter
from amem_tui.shell.keys import FORM_KEYS
from amem_tui.shell.other_version import OtherVersionScreen
from amem_tui.shell.own_editor import write_in_editor

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from amem.note import MemoryNote
    from amem_tui.desk import Desk

#: Fields that are typed on one line, and what stands in them while they are empty.
_LINES = {
    "tags": "tags, with commas between",
    "keywords": "keywords, with commas between",
    "context": "one sentence on what it is about",
}
_UNDECIDED = "the analyst decides"
_PINNED = {False: "not pinned", True: "pinned"}


class NoteForm(ModalScreen[None]):
    """`note` is the one to edit, None for a new one; `text` stands in place of its own.

    With `at_once` it is saved as it stands, and only seen when that is refused.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*FORM_KEYS]

    def __init__(self, desk: Desk, note: MemoryNote | None, text: str | None = None, *, at_once: bool = False) -> None:
        super().__init__()
        self._desk, self._note, self._at_once = desk, note, at_once
        self._held = "" if note is None else note.content
        self._text = self._held if text is None else text
        self._ready = self._saving = self._asked = False
        self._conflict: AmemError | None = None
        self._owned: dict[str, str] = {}
        self._before: dict[str, Any] = {}

    def compose(self) -> ComposeResult:
        note = self._note
        with Vertical(id="sheet") as sheet:
            sheet.border_title = "New note" if note is None else "Edit note"
            yield TextArea(
                typeable(self._text),
                id="form-draft",
                soft_wrap=True,
                tab_behavior="focus",
                placeholder="What is worth remembering",
            )
            with Horizontal(classes="line"):
                yield Static(classes="of", id="of-kind")
                yield Select[Kind](
                    [(f"{GLYPHS[kind]} {kind}", kind) for kind in Kind],
                    prompt=_UNDECIDED,
                    allow_blank=note is None,
                    value=Select.NULL if note is None else note.kind,
                    id="form-kind",
                    compact=True,
                )
                pinned = note is not None and note.pinned
                yield Checkbox(_PINNED[pinned], value=pinned, id="form-pinned", compact=True)
            yield from self._line("tags")
            with Collapsible(title="details", id="details", collapsed=True), VerticalScroll(id="more"):
                yield from self._line("keywords")
                yield from self._line("context")
            yield Static(id="notice")
        yield KeyFooter()

    def _line(self, name: str) -> ComposeResult:
        held = "" if self._note is None else getattr(self._note, name)
        said = clean(", ".join(held) if isinstance(held, list) else held).replace("\n", " ")
        with Horizontal(classes="line"):
            yield Static(classes="of", id=f"of-{name}")
            yield Input(said, placeholder=_LINES[name], id=f"form-{name}", compact=True)

    def on_mount(self) -> None:
        self._before = self._values()
        if self._text != self._held:  # it comes from an editor, where the person has changed it
            self._before["content"] = self._held
        draft = self.query_one("#form-draft", TextArea)
        draft.move_cursor(draft.document.end)
        self.set_focus(draft)
        self._ready = True
        self._sign_fields()
        if self._note is not None:
            self._ask_who(self._note.id)
        if self._at_once:
            self.action_save()

    # -- whose words they are ----------------------------------------------------------------------------------

    @work(group="owned")
    async def _ask_who(self, id: str) -> None:
        try:
            self._owned = await self._desk.ask(partial(self._desk.memory.owned_fields, id))
        except NoteNotFound:
            return  # saving says so
        except AmemError as error:
            self._desk.refuse(error)
            return
        self._sign_fields()

    @on(Input.Changed)
    @on(Select.Changed)
    @on(Checkbox.Changed)
    @on(TextArea.Changed)
    def _typed(self) -> None:
        if not self._ready:  # fields say what they begin with before all of them are there
            return
        self._asked = False
        if self._conflict is None:
            self._notice("")
        self._sign_fields()

    @on(Checkbox.Changed, "#form-pinned")
    def _pinned(self, event: Checkbox.Changed) -> None:
        event.checkbox.label = _PINNED[event.value]

    def _sign_fields(self) -> None:
        """A gold ◆ before what a machine filled in; a green ● before what is the person's, from their first key on."""
        changed = self._given()
        for name in ("kind", *_LINES):
            sign = self.query_one(f"#of-{name}", Static)
            filled = self._note is not None and bool(getattr(self._note, name))
            machine = filled and name not in self._owned and name not in changed
            mine = name in changed or (filled and not machine)
            mark = ("◆ ", "$accent") if machine else ("● ", "$success") if mine else ("  ", "")
            sign.update(Content.assemble(mark, (name, "$accent" if machine else "$muted")))
            self.query_one(f"#form-{name}").set_class(machine, "-machine")

    # -- what is in the form -------------------------------------------------------------------------------------

    def _values(self) -> dict[str, Any]:
        kind = self.query_one("#form-kind", Select).value
        return {
            "content": self.query_one("#form-draft", TextArea).text,
            "kind": None if kind is Select.NULL else kind,
            "tags": labels(self.query_one("#form-tags", Input).value),
            "keywords": labels(self.query_one("#form-keywords", Input).value),
            "context": self.query_one("#form-context", Input).value.strip(),
            "pinned": self.query_one("#form-pinned", Checkbox).value,
        }

    def _given(self) -> dict[str, Any]:
        """What the person filled in or changed."""
        now = self._values()
        changed = {name: value for name, value in now.items() if value != self._before[name]}
        return {"content": now["content"]} | changed if self._note is None else changed

    @property
    def _touched(self) -> bool:
        return self._ready and self._values() != self._before

    @property
    def unsaved(self) -> str:
        """What would be lost with the form, and how it is not; "" when nothing would."""
        return "Not saved: ctrl+s saves." if self._touched else ""

    # -- saving --------------------------------------------------------------------------------------------------

    def action_save(self) -> None:
        self._store(Draft(self._note, self._given()))

    def action_as_new(self) -> None:
        values = {name: value for name, value in self._values().items() if value}
        self._store(Draft(None, values))

    @work(group="save")
    async def _store(self, draft: Draft) -> None:
        if self._saving:
            return
        self._saving = True
        self._notice("Saving…")
        try:
            id, said = await self._desk.ask(partial(draft.save, self._desk.memory))
        except AmemError as error:
            self._conflict = error if isinstance(error, StaleNote | NoteNotFound) else None
            self._notice(words(error), error=True)
            self.refresh_bindings()
            if self._conflict is None:
                self._desk.refuse(error)
            return
        finally:
            self._saving = False
        self._desk.say(said)
        self.dismiss()
        self._desk.rooms.read_note(id)
        with self._desk.refusals():
            await self._desk.look()

    def action_other_version(self) -> None:
        self._show_other()

    @work(group="other", exclusive=True)
    async def _show_other(self) -> None:
        assert self._note is not None
        with self._desk.refusals():
            now = await self._desk.ask(partial(self._desk.memory.read, self._note.id))
            if now is None:
                self._conflict = NoteNotFound("this note was deleted meanwhile", hint="ctrl+n saves it as a new note")
                self._notice(words(self._conflict), error=True)
                return
            text = self.query_one("#form-draft", TextArea).text
            if await self.app.push_screen_wait(OtherVersionScreen(now, text)):
                self._note = now  # seen, and to be overwritten knowingly; undo brings it back
                self.action_save()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A choice between two versions is offered when there are two."""
        if not self._ready:
            return action == "leave"
        if action == "other_version":
            return isinstance(self._conflict, StaleNote)
        return action != "as_new" or self._conflict is not None

    # -- the rest ------------------------------------------------------------------------------------------------

    def action_editor(self) -> None:
        draft = self.query_one("#form-draft", TextArea)
        try:
            written = write_in_editor(self.app, draft.text)
        except InvalidInput as error:
            self._desk.refuse(error)
            return
        if written.text != draft.text:
            draft.text = typeable(written.text)
            draft.move_cursor(draft.document.end)
        if written.problem:
            self._notice(written.problem, error=True)

    def action_leave(self) -> None:
        if self._saving:
            return
        if not self._touched or self._asked:
            self.dismiss()
            return
        self._asked = True
        self._notice("Not saved. ctrl+s saves, escape once more throws the text away.", error=True)

    def _notice(self, said: str, *, error: bool = False) -> None:
        notice = self.query_one("#notice", Static)
        notice.update(Content.assemble((clean(said), "$error" if error else "$muted")))
        notice.display = bool(said)
