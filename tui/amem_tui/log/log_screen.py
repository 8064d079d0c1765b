"""The log: what machines and people did, newest first, each operation undoable."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import getters, on, work
from textual.containers import Horizontal
from textual.content import Content

from amem.labels import short_id
from amem.note import Status
from amem_tui import changes
from amem_tui.dialogs import Picker
from amem_tui.formatting import maker, moment, one_line, plural, title
from amem_tui.history.field_changes import compared
from amem_tui.history.history_screen import HistoryScreen, causes_in_words
from amem_tui.keymap import LOG_KEYS
from amem_tui.log.log_list import LogList, Outline, read_rows
from amem_tui.page import Block, Page, remark, space
from amem_tui.rooms import NotesScreen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.activity import Doings, LinkChange
    from amem.storage.note_lists import Card
    from amem_tui.page import Part


#: More notes and links than anybody reads of one operation.
_MOST = 20
#: Of so many notes that one operation made all is told, of more the titles.
_IN_FULL = 2
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
    """What an operation did, as parts of a page."""
    titles, operation = {id: title(card.text) for id, card in cards.items()}, found.operation
    parts: list[Part] = [Block(_head(found, cause, zone)), space()]
    made = [id for id in found.changes if id in operation.created]
    if len(made) > _IN_FULL:
        parts += [*(Block(_named("wrote", id, cards)) for id in made), space()]
    for id, fields in found.changes.items():
        if id in made and len(made) > _IN_FULL:
            continue
        parts.append(Block(_named("wrote" if id in made else "changed", id, cards).stylize("bold $secondary")))
        parts += compared(_telling(fields, id in made), zone, titles, around=_AROUND, beside=False)
    lines = [_link(each, titles) for each in found.links]
    for each in found.reviews:
        lines.append(_line("proposed for" if each.operation == operation.id else "decided on", each.note, titles))
    lines += [_line("possibly out of date:", id, titles) for id in found.flagged]
    lines += [_line("said once more:", id, titles) for id in found.witnessed]
    parts += map(Block, lines)
    more = len({*operation.created, *operation.notes}) - len(found.changes)
    if more > 0:
        parts.append(remark(f"… and {more:,} notes more"))
    if len(parts) == 2:
        left = operation.created or operation.notes or operation.links
        parts.append(remark("Nothing is left of what it did." if left else "It changed no notes."))
    return parts


def _head(found: Doings, cause: str, zone: tzinfo) -> Content:
    each = found.operation
    lines = [
        Content.assemble(
            maker(each.actor),
            (f"  {each.action}", "bold strike" if each.undone else "bold"),
            ("  undone" if each.undone else "", "$warning"),
            (f"  {moment(each.at, zone)}  operation {each.id}", "$muted"),
        )
    ]
    if cause:
        lines.append(Content(one_line(cause, 400)))
    if each.parent is not None:
        lines.append(Content.styled(f"set off by operation {each.parent}", "$muted"))
    if each.prompts:
        lines.append(Content.styled(f"prompts: {one_line(each.prompts)}", "$muted"))
    return Content("\n").join(lines)


def _telling(fields: Mapping[str, tuple[Any, Any]], made: bool) -> Mapping[str, tuple[Any, Any]]:
    """Of a note that was made, what somebody would want to know of it."""
    if not made:
        return fields
    return {field: fields[field] for field in ("content", "context", "keywords", "tags", "kind") if field in fields}


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


def _line(what: str, id: str, titles: Mapping[str, str]) -> Content:
    return Content.assemble((f"{what} ", "$muted"), one_line(titles.get(id, short_id(id)), 80))


#: A cursor that is held down passes operations nobody wants to read of.
_REST = 0.05
_SINCE = {"all": "All time", "today": "Today", "7d": "The last 7 days", "30d": "The last 30 days"}
_EVERYBODY = "everybody"
_NEVER = "Nothing has happened yet."
_NOTHING = "Nothing has happened {when}{who}.\n\ns looks further back, a at what others did."
_NEEDS_A_LINE = ("undo_one", "read", "fold", "unfold", "fold_away")
#: What cannot be taken back by its number.
_NOT_UNDONE = ("undo", "redo", "purge", "reindex")


class LogScreen(NotesScreen):
    """All operations, or one actor's, since some time; beside them what the one under the cursor did."""

    _view = getters.query_one("#operation", Page)
    _list = getters.query_one(LogList)
    ROOM = "log"
    CSS_PATH = "log.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*LOG_KEYS]
    AUTO_FOCUS = "#operations"

    _actor: str | None = None
    _since = "all"

    def furnish(self) -> ComposeResult:
        with Horizontal(classes="beside"):
            yield LogList(id="operations")
            yield Page(id="operation")

    @work(exclusive=True, group="log")
    async def load(self) -> None:
        read = partial(_read, self.memory, self._since, self._actor, self._list.toggled)
        outline = await self.ask(read)
        self._list.show(outline)
        self._list.border_title = self._heading()
        self.bar.tell(f"{plural(outline.count, 'operation')} ")
        self._show()
        self.refresh_bindings()

    def _heading(self) -> Content:
        who = Content("All authors") if self._actor is None else maker(self._actor)
        return Content.assemble(who, f", {self._when(self._since)}")

    def _when(self, since: str) -> str:
        return _SINCE[since].lower() if since in _SINCE else f"since {since}"

    @on(LogList.Wanted)
    @work(group="rows")
    async def _fetch(self, event: LogList.Wanted) -> None:
        self._list.fill(await self.ask(partial(read_rows, self.memory, event.ids, self._client.zone)))
        self.refresh_bindings()

    @on(LogList.Moved)
    def _moved(self) -> None:
        self._show(_REST)

    @work(exclusive=True, group="doings")
    async def _show(self, rest: float = 0) -> None:
        await asyncio.sleep(rest)
        line = self._list.chosen
        if line is None:
            everything = self._actor is None and self._since == "all"
            who = "" if self._actor is None else f" by {maker(self._actor).plain}"
            await self._view.say(_NEVER if everything else _NOTHING.format(when=self._when(self._since), who=who))
            return
        found, cards, cause = await self.ask(partial(read_doings, self.memory, line.id))
        self._view.border_title = Content(f"Operation {line.id}")
        await self._view.show(operation_parts(found, cards, cause, self._client.zone), about=line.id)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.query(LogList):
            return action not in _NEEDS_A_LINE
        line, row = self._list.chosen, self._list.row
        if action == "undo_one":
            return row is not None and not row.operation.undone and row.operation.action not in _NOT_UNDONE
        if action == "read":
            return row is not None and row.note is not None
        if action == "fold":
            return line is not None and line.steps > 0
        if action == "unfold":
            return line is not None and line.folded
        if action == "fold_away":
            return line is not None and (line.depth > 0 or (line.steps > 0 and not line.folded))
        return True

    def action_fold(self) -> None:
        self._list.toggle()
        self.refresh_bindings()

    action_unfold = action_fold

    def action_fold_away(self) -> None:
        line = self._list.chosen
        if line is not None and line.steps and not line.folded:
            self.action_fold()
        else:
            self._list.step_out()

    @work(group="change")
    async def action_undo_one(self) -> None:
        line = self._list.chosen
        if line is not None:
            await self._client.carry_out(partial(changes.undo, self.memory, line.id))
            self.load()

    @on(LogList.Opened)
    @work(group="read")
    async def action_read(self) -> None:
        """Open the note, or the history of one that was deleted."""
        row = self._list.row
        if row is None or row.note is None:
            return
        card = (await self.ask(partial(self.memory.cards_of, [row.note]))).get(row.note)
        if card is None:
            self._client.say("That note was destroyed for good.")
        elif card.status is Status.DELETED:
            self._client.app.visit("history")
            if isinstance(self.app.screen, HistoryScreen):
                self.app.screen.turn_to(row.note)
        else:
            self._client.app.read_note(row.note)

    @work(exclusive=True, group="choose")
    async def action_choose_actor(self) -> None:
        since = None if self._since == "all" else self._since
        found = await self.ask(partial(self.memory.actors, since))
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
            await self.ask(partial(self.memory.actors, None if chosen == "all" else chosen))
            self._since = chosen
            self.load()


def _read(memory: AgenticMemorySystem, since: str, actor: str | None, toggled: set[int]) -> Outline:
    return Outline(memory.log_order(None if since == "all" else since, actor=actor), toggled)
