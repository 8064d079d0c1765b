"""History: changes of a note's fields word by word, and the room of its versions, each to be gone back to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from textual import events, getters, on, work
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from amem.errors import NoteNotFound
from amem.labels import counted
from amem.note import Status
from amem.note_changes import (
    DiffKind,
    Piece,
    condensed,
    field_name,
    field_parts,
    field_words,
    list_diff,
    ordered_fields,
    word_diff,
)
from amem.storage.operations import Operation, Version
from amem.summaries import causes_in_words, deed, deed_of
from amem_tui import changes
from amem_tui.dialogs import Lines, Question
from amem_tui.formatting import clean, maker, moment, one_line, title
from amem_tui.page import Block, Page, remark, side_by_side, space
from amem_tui.rooms import REST, NotesScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from textual.app import ComposeResult

    from amem.memory_system import AgenticMemorySystem
    from amem_tui.page import Part


_STYLES = {DiffKind.SAME: "", DiffKind.REMOVED: "strike $error", DiffKind.ADDED: "$success", DiffKind.SKIPPED: "$muted"}


Sides: TypeAlias = tuple[Content, Content, Content]


def changed_text(before: str, after: str, *, around: int | None = None) -> Sides:
    """Before, with what is gone marked, after, with what is new marked, and both as one; `around` as in `condensed`."""
    pieces = word_diff(clean(before), clean(after))
    return _sides(pieces if around is None else condensed(pieces, around))


def items(before: Sequence[str], after: Sequence[str]) -> Sides:
    """Two lists, side by side and as one."""
    return _sides(list_diff([one_line(each, 400) for each in before], [one_line(each, 400) for each in after]), ", ")


def _sides(pieces: Sequence[Piece], between: str = "") -> Sides:
    left_out = (DiffKind.ADDED, DiffKind.REMOVED, None)
    shown = [[Content.styled(*_styled(each)) for each in pieces if each.kind is not gone] for gone in left_out]
    whole = not between and [each.kind for each in pieces] == [DiffKind.REMOVED, DiffKind.ADDED]
    old, new, both = (Content(between).join(some) for some in shown)
    return old, new, Content.assemble(old, (" → ", "$muted"), new) if whole else both


def _styled(piece: Piece) -> tuple[str, str]:
    if piece.kind is DiffKind.SKIPPED:
        return f" … {len(piece.text):,} characters … ", _STYLES[piece.kind]
    # A line break that came or went would otherwise not be seen.
    marked = piece.kind is not DiffKind.SAME and not piece.text.strip() and "\n" in piece.text
    return (piece.text.replace("\n", "↵\n") if marked else piece.text), _STYLES[piece.kind]


def operation_head(each: Operation | Version, number: int, cause: str, zone: tzinfo, *more: Content) -> Block:
    """Who did something, when and why, as the operation of this number, and what the model was asked."""
    undone = isinstance(each, Operation) and each.undone
    when = f"  {moment(each.at, zone)}  operation {number}"
    did = deed_of(each) if isinstance(each, Operation) else deed(each.action)
    done = (f"  {did}", "bold strike" if undone else "bold"), ("  undone" if undone else "", "$warning")
    lines = [Content.assemble(maker(each.actor), *done, (when, "$muted"))]
    if cause:
        lines.append(Content(one_line(cause, 400)))
    lines += more
    if each.prompts:
        lines.append(Content.styled(f"prompts: {one_line(each.prompts)}", "$muted"))
    return Block(Content("\n").join(lines))


#: A list of so many characters goes on one line.
_SHORT = 60
_TEXTS = ("content", "context")
#: From so many cells on there is room for two columns.
_BESIDE = 52


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A part of a page: what a field was, is, and both as one. A `long` one has two columns where there is room."""

    name: str
    before: Content
    after: Content
    both: Content
    long: bool

    def lines(self, width: int) -> Iterator[Content]:
        yield from remark(self.name, "bold $secondary").lines(width)
        if self.long and width >= _BESIDE:
            yield from side_by_side([self.before, self.after], [width // 2 - 1] * 2)
        else:
            yield from Block(self.both).lines(width)
        yield from space().lines(width)


def compared(
    changes: Mapping[str, tuple[Any, Any]],
    zone: tzinfo,
    titles: Mapping[str, str],
    *,
    around: int | None = None,
    beside: bool = True,
) -> list[FieldChange]:
    """The changed fields, those that say most first; none in two columns but with `beside`."""
    found = [_compared(field, *changes[field], zone, titles, around) for field in ordered_fields(changes)]
    return found if beside else [replace(each, long=False) for each in found]


def _compared(
    field: str, before: Any, after: Any, zone: tzinfo, titles: Mapping[str, str], around: int | None
) -> FieldChange:
    if isinstance(before, list | dict) or isinstance(after, list | dict):
        old, new, both = items(*(field_parts(field, value or [], zone) for value in (before, after)))
        return FieldChange(field_name(field), old, new, both, long=len(both.plain) > _SHORT)
    was, became = (field_words(field, value, zone, titles) for value in (before, after))
    if field in _TEXTS:
        return FieldChange(field_name(field), *changed_text(was, became, around=around), long=True)
    pieces = [Piece(one_line(was, 400), DiffKind.REMOVED), Piece(one_line(became, 400), DiffKind.ADDED)]
    return FieldChange(field_name(field), *_sides([each for each in pieces if each.text]), long=False)


#: More versions than anybody looks through; the newest are shown, and how many there are is said.
MOST = 300
#: What every note comes with says nothing of this one.
_AS_EVER = ("status", "category", "timestamp", "layer", "enrichment", "importance", "analyst")
#: Of a long text the change is shown, with about so many characters on either side.
_AROUND = 120


@dataclass(frozen=True, slots=True)
class Record:
    """A note by its title with its versions, newest first; none when it was destroyed."""

    id: str
    title: str = ""
    status: Status = Status.ACTIVE
    versions: tuple[Version, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    causes: Mapping[str, str] = field(default_factory=dict)


def read_record(memory: AgenticMemorySystem, id: str) -> Record:
    """The note's newest versions, deleted or not."""
    try:
        versions = memory.history(id, limit=MOST)
    except NoteNotFound:
        return Record(id)
    successors = {end for each in versions for end in each.changes.get("superseded_by", ()) if end is not None}
    cards = memory.cards_of([id, *successors])
    if id not in cards:
        return Record(id)
    titles = {each: title(card.text) for each, card in cards.items()}
    causes = causes_in_words(memory, (each.cause for each in versions))
    return Record(id, titles[id], cards[id].status, tuple(reversed(versions)), titles, causes)


def read_change(
    memory: AgenticMemorySystem, record: Record, version: Version, zone: tzinfo, *, with_now: bool, whole: bool
) -> list[FieldChange]:
    """What the version changed, or what differs between it and the note as it is now. Raises NoteNotFound."""
    changed: Mapping[str, tuple[Any, Any]] = version.changes
    if with_now:
        changed = memory.differences(record.id, version.version)
    elif version.version == 1:  # which records only that the note came to be, not what it was
        born = memory.differences(record.id, 0, 1)
        changed = {field: change for field, change in born.items() if field not in _AS_EVER}
    around = None if whole else _AROUND
    return compared(changed, zone, record.titles, around=around, beside=with_now or version.version > 1)


def version_line(version: Version, cause: str, zone: tzinfo) -> Content:
    """Two lines for the list: when and by whom, then what for (the `cause` in words)."""
    sure = "" if version.confidence is None else f" {version.confidence:.0%} sure"
    head = Content.assemble(
        (f" v{version.version:<4}", "bold"), (f"{moment(version.at, zone)} ", "$muted"), maker(version.actor)
    )
    why = f": {one_line(cause, 80)}" if cause else ""
    return Content("\n").join([head, Content.assemble((f"      {deed(version.action)}{sure}{why}", "$muted"))])


_NO_NOTE = "No note is open.\n\nOpen one in Browse (b), then come back: its history is here."
_DESTROYED = "This note was destroyed for good, and its history with it."
#: By its number in the log such an operation cannot be taken back: it is itself a reversal, or final.
_NOT_UNDONE = ("undo", "redo", "reindex")


class HistoryScreen(NotesScreen):
    """Versions, newest first, beside the change that the one under the cursor made."""

    _view = getters.query_one("#version-change", Page)
    _versions = getters.query_one("#version-list", Lines)
    ROOM = "history"
    AUTO_FOCUS = "#version-list"

    _record: Record | None = None
    #: A note whose history somebody asked for though it is not, and may not be, open.
    _asked: str | None = None
    _to_newest = False
    _with_now = False
    _whole = False

    def furnish(self) -> ComposeResult:
        with Horizontal(classes="beside"):
            yield Lines(id="version-list")
            yield Page(id="version-change")

    @property
    def _chosen(self) -> Version | None:
        held = {} if self._record is None else {str(each.version): each for each in self._record.versions}
        return held.get(self._versions.chosen or "")

    def turn_to(self, id: str) -> None:
        self._asked = id
        self.reload()

    @on(events.ScreenSuspend)
    def _left(self) -> None:
        if self not in self.app.screen_stack:  # and not merely covered by a question
            self._asked = None

    @work(exclusive=True, group="history")
    async def load(self) -> None:
        """Read the versions anew; the cursor stays on its version, or goes to the newest after a change made here."""
        id = self._asked or self.client.note
        record = None if id is None else await self.ask(read_record, self.memory, id)
        other = record is None or self._record is None or record.id != self._record.id
        self._record = record
        zone, held = self.client.zone, Record("") if record is None else record
        options = [
            Option(version_line(each, held.causes[each.cause], zone), id=str(each.version)) for each in held.versions
        ]
        self._versions.fill(options, keep=options[0].id if options and (self._to_newest or other) else None)
        self._to_newest = False
        count = held.versions[0].version if options else 0
        self._versions.border_title = counted(count, "version")
        self._versions.border_subtitle = f"the newest {len(options):,}" if len(options) < count else ""
        gone = "deleted  " if held.status is Status.DELETED else ""
        self.bar.tell(Content.assemble((gone, "$warning"), held.title, " "))
        self._show()
        self.refresh_bindings()

    @on(OptionList.OptionHighlighted, "#version-list")
    def _moved(self) -> None:
        self._show(rest=REST)

    @work(exclusive=True, group="change-shown")
    async def _show(self, rest: float = 0) -> None:
        await asyncio.sleep(rest)
        record, version = self._record, self._chosen
        if record is None or version is None:
            self._view.border_title = None
            await self._view.say(_NO_NOTE if record is None else _DESTROYED)
        else:
            number = version.version
            before = f"Version {number - 1} and {number}" if number > 1 else "Version 1"
            self._view.border_title = f"Version {number} and now" if self._with_now else before
            about = self.memory, record, version, self.client.zone
            found = await self.ask(read_change, *about, with_now=self._with_now, whole=self._whole)
            nothing = "Nothing differs from the note as it is now." if self._with_now else "It changed no field."
            fields: Sequence[Part] = found or [remark(nothing)]
            sure = "" if version.confidence is None else f", {version.confidence:.0%} sure"
            by = Content.assemble(("proposed by ", "$muted"), maker(version.proposed_by), (sure, "$muted"))
            proposed, cause = [by] if version.proposed_by else [], record.causes[version.cause]
            head = operation_head(version, version.operation, cause, self.client.zone, *proposed)
            await self._view.show([head, space(), *fields], about=(record.id, version.version, self._with_now))
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        version, record = self._chosen if self.query(Lines) else None, self._record
        if action in ("compare", "whole"):
            return version is not None
        if action == "undo_version":
            return version is not None and version.action not in _NOT_UNDONE
        if action == "read":
            return version is not None and record is not None and record.status is not Status.DELETED
        return True

    def action_compare(self) -> None:
        self._with_now = not self._with_now
        self._show()

    def action_whole(self) -> None:
        self._whole = not self._whole
        self._show()

    @on(OptionList.OptionSelected)
    def action_read(self) -> None:
        if self._record is not None:
            self.client.app.read_note(self._record.id)

    @work(group="change")
    async def action_undo_version(self) -> None:
        version = self._chosen
        if version is not None:
            await self._carry_out(changes.undo, self.memory, version.operation)

    @work(group="change")
    async def action_roll_back(self) -> None:
        """Ask, and go back; the key is this room's also where there is nothing to go back to, or it would lead away."""
        record, version = self._record, self._chosen
        if record is None or version is None:
            return
        would = await self.ask(self.memory.would_roll_back, record.id, version.version)
        if not would:
            self.client.say(f"Nothing would change: the note is as it was in version {version.version}.")
            return
        fields = ", ".join(map(field_name, ordered_fields(would)))
        details = f"It sets back {fields}. That makes a new version, which u undoes."
        if await self.app.push_screen_wait(Question(f"Roll back to version {version.version}?", details)):
            await self._carry_out(changes.roll_back, self.memory, record.id, version.version)

    async def _carry_out(self, change: Callable[..., str], *args: object) -> None:
        self._to_newest = await self.client.carry_out(change, *args)
        self.reload()
