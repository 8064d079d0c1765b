"""The log: what machines and people did, newest first, each operation undoable."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual import getters, on, work
from textual.containers import Horizontal
from textual.content import Content
from textual.geometry import Region

from amem.labels import counted, short_id
from amem.note import Status
from amem.summaries import causes_in_words, deed_of
from amem_tui import changes
from amem_tui.dialogs import Picker
from amem_tui.formatting import SIGNS, author, maker, one_line, title, titles_of
from amem_tui.history.history_room import HistoryScreen, compared, operation_head
from amem_tui.lists import ReadList, fit
from amem_tui.page import Block, Page, remark, space
from amem_tui.rooms import REST, NotesScreen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set
    from datetime import tzinfo

    from textual.app import ComposeResult

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.note_lists import Card
    from amem.storage.operations import Doings, LinkChange, LogOrder, Operation
    from amem_tui.client import CollectionClient
    from amem_tui.page import Part


@dataclass(frozen=True, slots=True)
class LogRow:
    """`note` is the id of the note the operation is about, if it is about any; `about` its title, or what is known."""

    operation: Operation
    clock: str
    about: str
    note: str | None

    @property
    def extent(self) -> str:
        """What else it did: ``and 2 more, 3 links``."""
        others, links = len({*self.operation.created, *self.operation.notes}) - 1, self.operation.links
        parts = [f"and {others:,} more" if others > 0 else "", counted(links, "link") if links else ""]
        return ", ".join(part for part in parts if part)


def read_rows(memory: AgenticMemorySystem, ids: Sequence[int], zone: tzinfo) -> dict[int, LogRow]:
    """The rows of these operations. What only made links is about the note whose arrival set it off."""
    found = memory.operations(ids)
    parents = {each.id: each for each in memory.operations([each.parent for each in found if each.parent is not None])}
    about = {each.id: _first(each) or _first(parents.get(each.parent or 0)) for each in found}
    titles = titles_of(memory, about.values())
    causes = causes_in_words(memory, (each.cause for each in found if about[each.id] not in titles))
    rows = {}
    for each in found:
        id = about[each.id]
        words = titles.get(id or "") or one_line(causes.get(each.cause, ""))
        rows[each.id] = LogRow(each, f"{each.at.astimezone(zone):%H:%M}", words, id)
    return rows


def _first(operation: Operation | None) -> str | None:
    return None if operation is None else next(iter((*operation.created, *operation.notes)), None)


#: What set off more than this is folded until somebody wants to see it.
_OPEN = 3


class OutlineLine(NamedTuple):
    """An operation `depth` steps in that set off `steps` others; with the id 0 the heading of a `day` (an ordinal)."""

    id: int
    day: int
    depth: int = 0
    steps: int = 0
    folded: bool = False


class Outline:
    """Operations under their days, what one set off below it, folded where that is much or where `toggled`.

    Made once for the whole log (a fifth of a second for 100,000) and mended in place when something is folded.
    """

    def __init__(self, order: LogOrder | None = None, toggled: Set[int] = frozenset()) -> None:
        columns = () if order is None else (order.ids, order.parents, order.days)
        ids, parents, days = [column.tolist() for column in columns] or ([], [], [])
        here = set(ids)
        self._days: dict[int, int] = dict(zip(ids, days, strict=True))
        self._children: dict[int, list[int]] = {}
        for id, parent in zip(reversed(ids), reversed(parents), strict=True):
            if parent in here:
                self._children.setdefault(parent, []).append(id)
        self.toggled = set(toggled)
        self.count = len(ids)
        self.lines: list[OutlineLine] = []
        day = 0
        for id, parent in zip(ids, parents, strict=True):
            if parent in here:
                continue
            if self._days[id] != day:
                day = self._days[id]
                self.lines.append(OutlineLine(0, day))
            self.lines.extend(self._branch(id, 0))

    def place(self, id: int) -> int | None:
        """Where an operation stands; None when it is folded away, or not in the log."""
        return next((at for at, line in enumerate(self.lines) if line.id == id), None)

    def toggle(self, place: int) -> None:
        line = self.lines[place]
        if not line.steps:
            return
        self.toggled ^= {line.id}
        end = place + 1
        while end < len(self.lines) and self.lines[end].id and self.lines[end].depth > line.depth:
            end += 1
        self.lines[place:end] = self._branch(line.id, line.depth)

    def above(self, place: int) -> int:
        """Where the operation stands that set off the one there; the same place when none did."""
        depth = self.lines[place].depth
        while place and self.lines[place].depth >= depth > 0:
            place -= 1
        return place

    def _branch(self, id: int, depth: int) -> Iterator[OutlineLine]:
        children = self._children.get(id, [])
        folded = (len(children) > _OPEN) != (id in self.toggled)
        yield OutlineLine(id, self._days[id], depth, len(children), bool(children) and folded)
        if not folded:
            for child in children:
                yield from self._branch(child, depth + 1)


#: From this width on there is room for numbers and names.
_ROOMY = 70


class LogList(ReadList):
    """Operations under their days, on which the cursor does not rest."""

    def __init__(self, client: CollectionClient, *, id: str) -> None:
        super().__init__(client, id=id)
        self.outline = Outline()

    def entry_at(self, place: int) -> OutlineLine | None:
        return line if place < self.count and (line := self.outline.lines[place]).id else None

    def key(self, place: int) -> int | None:
        return None if (line := self.entry_at(place)) is None else line.id

    async def read(self, keys: Sequence[int]) -> Mapping[int, LogRow]:
        return await self._client.ask(read_rows, self._client.memory, keys, self._client.zone)

    @property
    def row(self) -> LogRow | None:
        return None if self.line is None else self.rows.get(self.line.id)

    def show(self, outline: Outline) -> None:
        """Replace what is listed. The cursor stays on its operation, and whoever is on top sees what is new there."""
        before, self.outline, self.entries = self.line, outline, outline.lines
        self._asked.clear()
        place = None if before is None else outline.place(before.id)
        self._resized()
        self.put_cursor(self.cursor if place is None else place, steady=True)

    def toggle(self) -> None:
        if self.line is not None:
            self.outline.toggle(self.cursor)
            self._resized()
            self.refresh()

    def clicked(self, x: int, *, again: bool, double: bool) -> None:
        start = 13 if self.size.width >= _ROOMY else 7
        if self.line is not None and self.line.steps and x - 2 * self.line.depth in (start, start + 1):
            self.toggle()
        else:
            super().clicked(x, again=again, double=double)

    def resting(self, place: int, by: int) -> int:
        """That place, or the one next to it where a day's name stands there."""
        if place >= self.count or self.outline.lines[place].id:
            return place
        return place + 1 if by > 0 or place == 0 else place - 1

    def extent(self, place: int) -> Region:
        """The line, and its day where that is next above."""
        above = 1 if 0 < place <= self.count and not self.outline.lines[place - 1].id else 0
        return Region(0, place - above, 1, 1 + above)

    def content(self, place: int, part: int, width: int) -> Content:
        line = self.outline.lines[place]
        if not line.id:
            return Content.styled(date.fromordinal(line.day).strftime(" %Y-%m-%d  %A"), "bold $primary")
        row = self.row_at(place)
        if row is None:
            return Content("  …")
        operation, roomy = row.operation, width >= _ROOMY
        mark = ("▸" if line.folded else "▾") if line.steps else ("└" if line.depth else " ")
        who = maker(operation.actor).plain
        who = who if roomy else who[:1]
        action = "strike $muted" if operation.undone else "bold"
        head = Content.assemble(
            (f"{operation.id:>6} " if roomy else " ", "$muted"),
            (f"{row.clock} ", "$muted"),
            ("  " * line.depth + mark + " ", "$warning"),
            (fit(who, 14 - 2 * min(line.depth, 3) if roomy else 1) + " ", SIGNS[author(operation.actor)][1]),
            (fit(deed_of(operation), 12 if roomy else 10) + " ", action),
            ("undone " if operation.undone else "", "$warning"),
        )
        more = (f"  {row.extent}" if row.extent and roomy else "") + (f" +{line.steps:,}" if line.folded else "")
        room = width - head.cell_length - cell_len(more) - (not self.show_vertical_scrollbar)
        about = fit(row.about, room).rstrip() if room > 3 else ""
        return Content.assemble(head, (about, action if operation.undone else ""), (more, "$muted"))


#: More notes and links than anybody reads of one operation.
_MOST = 20
#: Of so many notes that one operation made all is told, of more the titles.
_IN_FULL = 2
#: What somebody would want to know of a note that was made.
_TELLING = ("content", "context", "keywords", "tags", "kind")
_AROUND = 80


def read_doings(memory: AgenticMemorySystem, operation: int) -> tuple[Doings, dict[str, Card], str]:
    """What it did, cards of all notes that have a part in it, and its cause in words. Raises OperationNotFound."""
    found = memory.doings(operation, most=_MOST)
    ids = [*found.changes, *found.flagged, *found.witnessed, *(each.note for each in found.reviews)]
    ids += [end for each in found.links for end in (each.source, each.target)]
    for each in found.changes.values():
        ids += [id for id in each.get("superseded_by", ()) if id is not None]
    (cause,) = causes_in_words(memory, [found.operation.cause]).values()
    return found, memory.cards_of(list(dict.fromkeys(ids))), cause


def operation_parts(found: Doings, cards: Mapping[str, Card], cause: str, zone: tzinfo) -> list[Part]:
    titles, operation = {id: title(card.text) for id, card in cards.items()}, found.operation
    above = [] if operation.parent is None else [Content.styled(f"set off by operation {operation.parent}", "$muted")]
    parts: list[Part] = [operation_head(operation, operation.id, cause, zone, *above), space()]
    made = [id for id in found.changes if id in operation.created]
    if len(made) > _IN_FULL:
        parts += [*(Block(_named("wrote", id, cards)) for id in made), space()]
    for id, fields in found.changes.items():
        if id in made and len(made) > _IN_FULL:
            continue
        parts.append(Block(_named("wrote" if id in made else "changed", id, cards).stylize("bold $secondary")))
        shown = {field: fields[field] for field in _TELLING if field in fields} if id in made else fields
        parts += compared(shown, zone, titles, around=_AROUND, beside=False)
    told = [("proposed for" if each.operation == operation.id else "decided on", each.note) for each in found.reviews]
    told += [("possibly out of date:", id) for id in found.flagged] + [("stated again:", id) for id in found.witnessed]
    parts += [Block(_link(each, titles)) for each in found.links]
    parts += [
        Block(Content.assemble((f"{what} ", "$muted"), one_line(titles.get(id, short_id(id)), 80))) for what, id in told
    ]
    more = len({*operation.created, *operation.notes}) - len(found.changes)
    if more > 0:
        parts.append(remark(f"… and {more:,} notes more"))
    if len(parts) == 2:
        left = operation.created or operation.notes or operation.links
        parts.append(remark("Nothing is left of what it did." if left else "It changed no notes."))
    return parts


def _named(did: str, id: str, cards: Mapping[str, Card]) -> Content:
    card = cards.get(id)
    gone = f" ({card.status})" if card is not None and card.status is not Status.ACTIVE else ""
    return Content.assemble(did, " ", title(card.text) if card is not None else short_id(id), (gone, "$warning"))


def _link(link: LinkChange, titles: Mapping[str, str]) -> Content:
    sign, style = ("+", "$success") if link.added else ("-", "$error")
    ends = [one_line(titles.get(id, short_id(id)), 60) for id in (link.source, link.target)]
    why = f"  {one_line(link.reason, 200)}" if link.reason else ""
    return Content.assemble(
        (f"{sign} {link.type.replace('_', ' ')}  ", style), ends[0], (" → ", "$muted"), ends[1], (why, "$muted")
    )


_SINCE = {"all": "All time", "today": "Today", "7d": "The last 7 days", "30d": "The last 30 days"}
_EVERYBODY = "everybody"
_NOTHING = "Nothing has happened {when}{who}.\n\ns looks further back, a at what others did."
#: What cannot be taken back by its number.
_NOT_UNDONE = ("undo", "redo", "purge", "reindex")


class LogScreen(NotesScreen):
    """All operations, or one actor's, since some time; beside them what the one under the cursor did."""

    _view = getters.query_one("#operation", Page)
    _list = getters.query_one(LogList)
    ROOM = "log"
    AUTO_FOCUS = "#operations"

    _actor: str | None = None
    _since = "all"

    def furnish(self) -> ComposeResult:
        with Horizontal(classes="beside"):
            yield LogList(self.client, id="operations")
            yield Page(id="operation")

    @work(exclusive=True, group="log")
    async def load(self) -> None:
        since = None if self._since == "all" else self._since
        order = await self.ask(self.memory.log_order, since, actor=self._actor)
        outline = await self.ask(Outline, order, self._list.outline.toggled)
        self._list.show(outline)
        who = Content("All authors") if self._actor is None else maker(self._actor)
        self._list.border_title = Content.assemble(who, f", {self._when}")
        self.bar.tell(f"{counted(outline.count, 'operation')} ")
        self._show()
        self.refresh_bindings()

    @property
    def _when(self) -> str:
        return _SINCE[self._since].lower() if self._since in _SINCE else f"since {self._since}"

    @on(LogList.Moved)
    def _moved(self) -> None:
        self._show(REST)

    @work(exclusive=True, group="doings")
    async def _show(self, rest: float = 0) -> None:
        await asyncio.sleep(rest)
        line = self._list.line
        if line is None:
            who = "" if self._actor is None else f" by {maker(self._actor).plain}"
            nothing = _NOTHING.format(when=self._when, who=who)
            await self._view.say(nothing if who or self._since != "all" else "Nothing has happened yet.")
            return
        found, cards, cause = await self.ask(read_doings, self.memory, line.id)
        self._view.border_title = Content(f"Operation {line.id}")
        await self._view.show(operation_parts(found, cards, cause, self.client.zone), about=line.id)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        line, row = (self._list.line, self._list.row) if self.query(LogList) else (None, None)
        done = None if row is None else row.operation
        return {
            "undo_one": done is not None and not done.undone and done.action not in _NOT_UNDONE,
            "read": row is not None and row.note is not None,
            "fold": line is not None and line.steps > 0,
            "unfold": line is not None and line.folded,
            "fold_away": line is not None and (line.depth > 0 or (line.steps > 0 and not line.folded)),
        }.get(action, True)

    def action_fold(self) -> None:
        self._list.toggle()
        self.refresh_bindings()

    action_unfold = action_fold

    def action_fold_away(self) -> None:
        line = self._list.line
        if line is not None and line.steps and not line.folded:
            self.action_fold()
        elif line is not None:
            self._list.cursor = self._list.outline.above(self._list.cursor)

    def action_undo_one(self) -> None:
        if self._list.line is not None:
            self.change(changes.undo, self.memory, self._list.line.id)

    @on(LogList.Opened)
    @work(group="read")
    async def action_read(self) -> None:
        """Open the note, or the history of one that was deleted."""
        row = self._list.row
        if row is None or row.note is None:
            return
        card = (await self.ask(self.memory.cards_of, [row.note])).get(row.note)
        if card is None:
            self.client.say("That note was destroyed for good.")
        elif card.status is Status.DELETED:
            self.client.app.visit("history")
            if isinstance(self.app.screen, HistoryScreen):
                self.app.screen.turn_to(row.note)
        else:
            self.client.app.read_note(row.note)

    @work(exclusive=True, group="choose")
    async def action_choose_actor(self) -> None:
        since = None if self._since == "all" else self._since
        found = await self.ask(self.memory.actors, since)
        everybody = Content.assemble(f"{sum(found.values()):>8,}  ", "All authors")
        each = [(actor, Content.assemble(f"{count:>8,}  ", maker(actor))) for actor, count in found.items()]
        chosen = await self.app.push_screen_wait(
            Picker("Who did it", [(_EVERYBODY, everybody), *each], chosen=self._actor or _EVERYBODY)
        )
        if chosen is not None:
            self._actor = None if chosen == _EVERYBODY else chosen
            self.load()

    @work(exclusive=True, group="choose")
    async def action_choose_since(self) -> None:
        choices = [(since, Content(words)) for since, words in _SINCE.items()]
        chosen = await self.app.push_screen_wait(
            Picker("Since when", choices, chosen=self._since, prompt="or 2026-03-01, 12h, yesterday")
        )
        if chosen is not None:
            # Refused in words when it is no time, with the log as it was.
            await self.ask(self.memory.actors, None if chosen == "all" else chosen)
            self._since = chosen
            self.load()
