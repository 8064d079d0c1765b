"""The form in which a note is written or edited; a refusal never costs a word."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import SuspendNotSupported
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Checkbox, Collapsible, Input, Select, Static, TextArea

from amem.errors import AmemError, InvalidInput, NoteNotFound, StaleNote
from amem.labels import counted
from amem.note import Enrichment, Kind
from amem_tui.client import words
from amem_tui.dialogs import Question
from amem_tui.formatting import GLYPHS, clean, command, one_line, title, typeable
from amem_tui.keymap import ROOM_KEYS
from amem_tui.rooms import KeyFooter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import App, ComposeResult
    from textual.binding import BindingType

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote, Receipt
    from amem_tui.client import CollectionClient


@dataclass(frozen=True, slots=True)
class Draft:
    """What a person writes of a note; `base` is the note as it was when the form was opened, None for a new one.

    `given` are the fields that the person filled in or changed: the others are left to the analyst, or as they are.
    """

    base: MemoryNote | None
    given: Mapping[str, Any]

    def save(self, memory: AgenticMemorySystem) -> tuple[str, str]:
        """Store it without waiting for a model; (the note's id, what came of it).

        Raises StaleNote when somebody else changed a field that is changed here, and NoteNotFound.
        """
        if self.base is None:
            fields = dict(self.given)
            receipt = memory.add(fields.pop("content", ""), wait=False, **fields)
            return receipt.id, _received(receipt, fields, command(memory.settings, "enrich"))
        if not self.given:
            return self.base.id, "Nothing was changed"
        if (now := memory.read(self.base.id)) is None:
            raise _gone()
        if stale := [name for name in self.given if getattr(now, name) != getattr(self.base, name)]:
            raise StaleNote(
                f"somebody changed the {' and '.join(stale)} of this note meanwhile",
                hint="ctrl+t shows what it is now, ctrl+n saves yours as a new note",
            )
        if not memory.update(self.base.id, wait=False, **self.given):
            raise _gone()
        return self.base.id, f"Changed “{one_line(title(self.given.get('content', now.content)), 50)}”"


def _gone() -> NoteNotFound:
    return NoteNotFound("this note was deleted meanwhile", hint="ctrl+n saves your text as a new note")


def labels(typed: str) -> list[str]:
    """Tags or keywords as they are typed: ``tea, #green kettle`` is "tea" and "green kettle"."""
    return [label for part in re.split("[,，、]", typed) if (label := part.strip().lstrip("#").strip())]


def _received(receipt: Receipt, fields: Mapping[str, Any], enrich: str) -> str:
    if not receipt.stored:
        extra = f" ({', '.join(fields)} of yours were not added to it)" if fields else ""
        return f"Already saved: here is the note that says the same{extra}"
    found = [("link", receipt.links, ""), ("neighbour", receipt.evolved, " updated")]
    found += [("older note", receipt.superseded, " superseded"), ("change", receipt.queued, " to review")]
    parts = ["Stored", *(f"{counted(len(each), what)}{done}" for what, each, done in found if each)]
    later = {Enrichment.DONE: [], Enrichment.PENDING: ["analysis follows by itself"]}
    return ", ".join([*parts, *later.get(receipt.enrichment, [f"analysis waits ({enrich})"])])


def write_in_editor(app: App[Any], text: str) -> tuple[str, str]:
    """As `amem.editor.edit_text`, while the app is suspended. Raises InvalidInput where no editor can be started."""
    from amem.editor import edit_text

    try:
        # On the event loop on purpose: nothing may draw while the terminal is another program's.
        return edit_text(text, app.suspend())
    except SuspendNotSupported as error:
        raise InvalidInput("there is no terminal for an editor", hint="write in the form instead") from error


#: Fields that are typed on one line, and what stands in them while they are empty.
_LINES = {
    "tags": "tags, with commas between",
    "keywords": "keywords, with commas between",
    "context": "one sentence on what it is about",
}
_PINNED = {False: "not pinned", True: "pinned"}


class NoteForm(ModalScreen[None]):
    """Edits `note`, or writes a new one. `text` stands in place of its own and is saved `at_once`, unless refused."""

    BINDINGS: ClassVar[list[BindingType]] = [*ROOM_KEYS["form"]]

    def __init__(
        self, client: CollectionClient, note: MemoryNote | None, text: str | None = None, *, at_once: bool = False
    ) -> None:
        super().__init__()
        self._client, self._note, self._at_once = client, note, at_once
        self._held = "" if note is None else note.content
        self._text = self._held if text is None else text
        self._draft = TextArea(id="form-draft", tab_behavior="focus", placeholder="What is worth remembering")
        self._ready = self._saving = self._asked = False
        self._conflict: AmemError | None = None
        self._owned: dict[str, str] = {}
        self._before: dict[str, Any] = {}

    def compose(self) -> ComposeResult:
        note = self._note
        with Vertical(id="sheet") as sheet:
            sheet.border_title = "New note" if note is None else "Edit note"
            yield self._draft
            with Horizontal(classes="line"):
                yield Static(classes="of", id="of-kind")
                yield Select[Kind](
                    [(f"{GLYPHS[kind]} {kind}", kind) for kind in Kind],
                    prompt="the analyst decides",
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
        self._write(self._text)
        self._before = self._values()
        if self._text != self._held:  # it comes from an editor, where the person has changed it
            self._before["content"] = self._held
        self.set_focus(self._draft)
        self._ready = True
        self._sign_fields()
        if self._note is not None:
            self._ask_who(self._note.id)
        if self._at_once:
            self.action_save()

    @work(group="owned")
    async def _ask_who(self, id: str) -> None:
        with self._client.refusals(), suppress(NoteNotFound):  # of a note that is gone saving says so
            self._owned = await self._client.ask(self._client.memory.owned_fields, id)
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
            mine = name in changed or filled
            mark = ("◆ ", "$accent") if machine else ("● ", "$success") if mine else ("  ", "")
            sign.update(Content.assemble(mark, (name, "$accent" if machine else "$muted")))
            self.query_one(f"#form-{name}").set_class(machine, "-machine")

    def _values(self) -> dict[str, Any]:
        kind = self.query_one("#form-kind", Select).value
        return {
            "content": self._draft.text,
            "kind": None if kind is Select.NULL else kind,
            "tags": labels(self.query_one("#form-tags", Input).value),
            "keywords": labels(self.query_one("#form-keywords", Input).value),
            "context": self.query_one("#form-context", Input).value.strip(),
            "pinned": self.query_one("#form-pinned", Checkbox).value,
        }

    def _given(self) -> dict[str, Any]:
        now = self._values()
        changed = {name: value for name, value in now.items() if value != self._before[name]}
        return {"content": now["content"]} | changed if self._note is None else changed

    @property
    def unsaved(self) -> str:
        return "Not saved: ctrl+s saves." if self._ready and self._values() != self._before else ""

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
            id, said = await self._client.ask(draft.save, self._client.memory)
        except AmemError as error:
            self._conflict = error if isinstance(error, StaleNote | NoteNotFound) else None
            self._notice(words(error), error=True)
            self.refresh_bindings()
            if self._conflict is None:
                self._client.refuse(error)
            return
        finally:
            self._saving = False
        self._client.say(said)
        self.dismiss()
        self._client.app.read_note(id)
        await self._client.look()

    @work(group="other", exclusive=True)
    async def action_other_version(self) -> None:
        assert self._note is not None
        now = await self._client.ask(self._client.memory.read, self._note.id)
        if now is None:
            self._conflict = _gone()
            self._notice(words(self._conflict), error=True)
            return
        versions = f"As it is now\n\n{clean(now.content)}\n\nAs you have it\n\n{clean(self._draft.text)}"
        saves = Question("Changed meanwhile", versions, key="ctrl+s", yes="saves yours in its place", no="goes back")
        if await self.app.push_screen_wait(saves):
            self._note = now  # seen, and to be overwritten knowingly; undo brings it back
            self.action_save()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self._ready:
            return action == "leave"
        if action == "other_version":
            return isinstance(self._conflict, StaleNote)
        return action != "as_new" or self._conflict is not None

    def action_editor(self) -> None:
        with self._client.refusals():
            text, problem = write_in_editor(self.app, self._draft.text)
            if text != self._draft.text:
                self._write(text)
            if problem:
                self._notice(problem, error=True)

    def _write(self, text: str) -> None:
        self._draft.text = typeable(text)
        self._draft.move_cursor(self._draft.document.end)

    def action_leave(self) -> None:
        if self.unsaved and not self._asked and not self._saving:
            self._asked = True
            self._notice("Not saved. ctrl+s saves, escape once more throws the text away.", error=True)
        elif not self._saving:
            self.dismiss()

    def _notice(self, said: str, *, error: bool = False) -> None:
        notice = self.query_one("#notice", Static)
        notice.update(Content.assemble((clean(said), "$error" if error else "$muted")))
        notice.display = bool(said)
