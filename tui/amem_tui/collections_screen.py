"""The collections of the home, to open, make or copy one; what one and its fork did since, and their merge."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from textual import on, work
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from amem.collection_folders import collection_names, folder_of, listed_collection, with_present_origins
from amem.errors import AmemError, CollectionExists
from amem.forks.diff import ForkDiff, LinkChange, NoteChange, Side
from amem.forks.merge import STRATEGIES, MergeReport
from amem.labels import counted, short_id, size
from amem.note import LinkType
from amem_tui import changes
from amem_tui.client import words
from amem_tui.dialogs import Lines, Prompt, Question, remark_line
from amem_tui.formatting import clean, link_words, one_line, title, titles_of
from amem_tui.history.history_room import changed_text, compared
from amem_tui.keymap import ROOM_KEYS
from amem_tui.lists import fit
from amem_tui.page import Block, Page, space
from amem_tui.rooms import KeyFooter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from amem.collection_folders import Listed
    from amem.memory_system import AgenticMemorySystem
    from amem_tui.client import CollectionClient
    from amem_tui.page import Part


_NAME_ROOM = 24


class CollectionsScreen(ModalScreen[None]):
    """Every collection with how many notes and bytes it holds."""

    BINDINGS: ClassVar[list[BindingType]] = [*ROOM_KEYS["collections"]]

    def __init__(self, client: CollectionClient) -> None:
        super().__init__()
        self._client = client
        settings = client.memory.settings
        self._home, self._here = settings.home, settings.collection
        self._listed: dict[str, Listed] = {}

    def compose(self) -> ComposeResult:
        with Vertical(id="collections", classes="sheet") as sheet:
            sheet.border_title = "Collections"
            sheet.border_subtitle = Content(one_line(str(self._home), 60))
            yield Lines(id="choices")
        yield KeyFooter()

    def on_mount(self) -> None:
        self._list()

    @work(exclusive=True, group="list")
    async def _list(self) -> None:
        shown = self.query_one(Lines)
        # Each is opened to be counted, which may take its time; what is counted is shown.
        names = await self._client.ask(collection_names, self._home)
        lines = [Option(_collection_line(name, self._here, None), id=name) for name in names]
        shown.fill(lines, keep=shown.chosen or self._here)
        for name in names:
            found = await self._client.ask(listed_collection, self._home, name)
            self._listed[name] = found
            shown.replace_option_prompt(name, _collection_line(name, self._here, found))
            self.refresh_bindings()
        # What a source is called now is known when all are.
        for found in with_present_origins([self._listed[name] for name in names]):
            shown.replace_option_prompt(found.name, _collection_line(found.name, self._here, found))

    @property
    def _chosen(self) -> str | None:
        # Keys are looked at once more when the list is on its way out already.
        return next((shown.chosen for shown in self.query(Lines)), None)

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self.refresh_bindings()

    @on(OptionList.OptionSelected)
    def action_open(self) -> None:
        if self._chosen:
            self._open(self._chosen)

    def _open(self, name: str) -> None:
        self.dismiss()
        if name != self._here:
            self._client.app.switch_collection(name)

    def action_copy(self) -> None:
        heading = f"Copy {self._here} to a collection called"
        self.app.push_screen(Prompt(heading, f"{self._here}-copy", partial(self._make, copy=True), keys="enter copies"))

    def action_diff(self) -> None:
        """Show what the open collection and the chosen one did since one was copied from the other."""
        if (chosen := self._chosen) and (known := self._kin(chosen)):
            self.app.push_screen(ForkScreen(Pair(self._client, chosen, into_other=known == "source")))

    def _kin(self, name: str) -> Literal["fork", "source", ""]:
        here, there = self._listed.get(self._here), self._listed.get(name)
        if here is None or there is None:
            return ""
        return "fork" if there.is_fork_of(here) else "source" if here.is_fork_of(there) else ""

    def action_make(self) -> None:
        self.app.push_screen(Prompt("A new collection called", "", self._make, keys="enter begins it"))

    async def _make(self, name: str, again: bool, *, copy: bool = False) -> str:
        try:
            if await self._client.ask(folder_of(self._home, name).exists):
                raise CollectionExists(f"there is a collection {name!r} already", hint="choose another name")
            if copy:
                await self._client.ask(self._client.memory.copy, name)
        except AmemError as error:
            return words(error)
        if copy:
            self._client.say(f"{self._here} is copied to {name}; enter there opens it.")
            self._list()
        else:
            self.call_later(self._open, name)
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "diff" or bool(self.is_mounted and self._chosen and self._kin(self._chosen))


def _collection_line(name: str, here: str, found: Listed | None) -> Content:
    mark = "▸ " if name == here else "  "
    head = Content.assemble((mark, "$accent"), (fit(clean(name), _NAME_ROOM), "bold" if name == here else ""))
    if found is None:
        return Content.assemble(head, (" …", "$muted"))
    if found.problem:
        return Content.assemble(head, " ", (one_line(found.problem), "$error"))
    origin = f"  fork of {one_line(found.origin, _NAME_ROOM)}" if found.origin else ""
    return Content.assemble(head, (f"{counted(found.active, 'note'):>14}{size(found.size):>14}{origin}", "$muted"))


Change: TypeAlias = NoteChange | LinkChange
#: More than anybody looks through, of each side.
_SHOWN = 500
_COLOURS = {"added": "$success", "linked": "$success", "removed": "$error", "unlinked": "$error", "purged": "$error"}


@dataclass(frozen=True, slots=True)
class Pair:
    """The open collection and an`other` of its home: its fork, or `into_other` the source that it is a fork of."""

    client: CollectionClient
    other: str
    into_other: bool

    @property
    def names(self) -> tuple[str, str]:
        """Of the fork and of its source."""
        here = self.client.memory.settings.collection
        return (here, self.other) if self.into_other else (self.other, here)

    @contextmanager
    def opened(self) -> Iterator[tuple[AgenticMemorySystem, AgenticMemorySystem | str]]:
        """The source and the fork, as `diff` and `merge` take them. Raises StorageError."""
        here = self.client.memory
        if not self.into_other:
            yield here, self.other
        else:
            with self.client.app.opened_beside(self.other) as source:
                yield source, here

    def merge(self) -> str:
        with self.opened() as (source, fork):
            return changes.merge_fork(source, fork, self.names[0], here=not self.into_other)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What both did, titles of the notes of it, and what a merge would do by strategy, or the `problem` with that."""

    diff: ForkDiff
    titles: Mapping[str, str]
    merges: Mapping[str, MergeReport]
    problem: str = ""


def read_comparison(pair: Pair) -> Comparison:
    """Compare both as they are now. Raises InvalidInput for collections that have no moment in common."""
    with pair.opened() as (source, fork):
        diff = source.diff(fork)
        sides = (diff.source, diff.fork)
        ids = {end for side in sides for link in side.links for end in (link.source, link.target)}
        ids |= {end for side in sides for _, each in side.supersessions for end in (each.before, each.after) if end}
        titles = titles_of(source, sorted(ids))
        titles |= {note.id: title(note.text) for side in sides for note in side.notes if note.text}
        try:
            review = source.merge(fork, dry_run=True)
            others = [each for each in STRATEGIES if review.conflicts and each != "review"]
            merges = {"review": review, **{each: source.merge(fork, each, dry_run=True) for each in others}}
        except AmemError as error:
            return Comparison(diff, titles, {}, words(error))
    return Comparison(diff, titles, merges)


def would_merge(found: Comparison) -> Content:
    """What a merge would do, and how many conflicts each strategy leaves to a person."""
    if not found.merges:
        return Content.styled(found.problem, "$error")
    if found.diff.fork == Side():
        return Content.styled("Nothing to merge", "$muted")
    report = found.merges["review"]
    line = Content.assemble(("Would merge: ", "$muted"), report.words)
    if not report.conflicts:
        return line
    left = ", ".join(f"{strategy} {each.waiting:,}" for strategy, each in found.merges.items())
    conflicts = (counted(len(report.conflicts), "conflict"), "$warning")
    return Content.assemble(line, "\n", conflicts, (f", left for you to decide: {left}", "$muted"))


class ForkScreen(ModalScreen[None]):
    """What each side did as a list, the change under the cursor word by word beside it, and the merge below."""

    BINDINGS: ClassVar[list[BindingType]] = [*ROOM_KEYS["fork"]]
    AUTO_FOCUS = "#fork-list"

    _found: Comparison | None = None

    def __init__(self, pair: Pair) -> None:
        super().__init__()
        self._pair, self._client = pair, pair.client
        self._changes: list[Change] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="fork", classes="sheet") as sheet:
            sheet.border_title = Content(", a fork of ".join(one_line(each, 30) for each in self._pair.names))
            with Horizontal(id="fork-panes"):
                yield Lines(id="fork-list")
                yield Page(id="fork-change")
            yield Static("Comparing…", id="fork-merge", markup=False)
        yield KeyFooter()

    def on_mount(self) -> None:
        self._load()

    @work(exclusive=True, group="fork")
    async def _load(self) -> None:
        line = self.query_one("#fork-merge", Static)
        with self._client.refusals(lambda problem: line.update(Content.styled(problem, "$error"))):
            self._found = await self._client.ask(read_comparison, self._pair)
            self._changes = []
            sides = zip(self._pair.names, (self._found.diff.fork, self._found.diff.source), strict=True)
            self.query_one(Lines).fill([option for name, side in sides for option in self._options(name, side)])
            line.update(would_merge(self._found))
            self._show()
        self.refresh_bindings()

    def _options(self, name: str, side: Side) -> list[Option]:
        did: list[Change] = [*side.notes, *side.links]
        head = Content.assemble((one_line(name, 30), "bold $secondary"), ("" if did else ": nothing", "$muted"))
        start = len(self._changes)
        self._changes += did[:_SHOWN]
        lines = [Option(self._line(each), id=str(start + place)) for place, each in enumerate(did[:_SHOWN])]
        more = [remark_line(f"and {len(did) - _SHOWN:,} more", "")] if len(did) > _SHOWN else []
        return [Option(head, disabled=True), *lines, *more]

    def _line(self, change: Change) -> Content:
        ids = [change.id] if isinstance(change, NoteChange) else [change.source, change.target]
        about = " → ".join(map(self._title, ids))
        return Content.assemble((f" {change.what:<9}", _COLOURS.get(change.what, "$accent")), about)

    def _title(self, id: str) -> str:
        titles = {} if self._found is None else self._found.titles
        return titles.get(id, short_id(id))

    @property
    def _chosen(self) -> Change | None:
        place = self.query_one(Lines).chosen
        return None if place is None else self._changes[int(place)]

    @on(OptionList.OptionHighlighted)
    @work(exclusive=True, group="change-shown")
    async def _show(self) -> None:
        change, view = self._chosen, self.query_one(Page)
        if change is None:
            await view.say("Neither did anything since they were last the same.")
        else:
            await view.show(await self._client.ask(self._parts, change), about=change)
        self.refresh_bindings()

    def _parts(self, change: Change) -> list[Part]:
        if isinstance(change, LinkChange):
            ends = [f"“{self._title(end)}”" for end in (change.source, change.target)]
            head = Content(f"{ends[0]} {link_words(LinkType(change.type))} {ends[1]}")
            return [Block(head), space(), Block(changed_text(change.before or "", change.after or "")[2])]
        if change.what != "changed":
            return [Block(Content(clean(change.text) or "It was destroyed for good."))]
        values = {each.field: (each.before, each.after) for each in change.fields}
        titles = {} if self._found is None else self._found.titles
        named = [] if "content" in values else [Block(Content(self._title(change.id))), space()]
        return [*named, *compared(values, self._client.zone, titles)]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        found, change = self._found, self._chosen if self.query(Lines) else None
        return {
            "merge": found is not None and bool(found.merges) and found.diff.fork != Side(),
            "undo": not self._pair.into_other,
            "read": change is not None and change.what != "purged",
        }.get(action, True)

    @on(OptionList.OptionSelected)
    @work(group="read")
    async def action_read(self) -> None:
        change, memory = self._chosen, self._client.memory
        if change is None:
            return
        ids = [change.id] if isinstance(change, NoteChange) else [change.source, change.target]
        for id in ids:
            if await self._client.ask(memory.read, id) is not None:
                self._client.app.read_note(id)
                return
        here = memory.settings.collection
        self._client.say(f"“{self._title(ids[0])}” is no note of {here} now; open {self._pair.other} to read it.")

    @work(group="change")
    async def action_merge(self) -> None:
        if self._found is None:
            return
        report, question = self._found.merges["review"], "Merge {} into {}?".format(*self._pair.names)
        waits = f"\n{counted(report.waiting, 'conflict')} will wait for you in Review." if report.waiting else ""
        details = f"{report.words[0].upper()}{report.words[1:]}.{waits}\nOne undo takes it back."
        if await self.app.push_screen_wait(Question(question, details, yes="merges")):
            await self._carry_out(self._pair.merge)

    @work(group="change")
    async def action_undo(self, again: bool = False) -> None:
        await self._carry_out(changes.redo if again else changes.undo, self._client.memory)

    async def _carry_out(self, change: Callable[..., str], *args: object) -> None:
        if await self._client.carry_out(change, *args):
            self._load()
