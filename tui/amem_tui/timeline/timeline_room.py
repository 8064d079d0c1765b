"""The timeline: notes by day, how the chosen one is forgotten, and what will fade."""

from __future__ import annotations

import asyncio
import math
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on, work
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from amem.errors import NoteNotFound
from amem.labels import counted
from amem.maintenance.forgetting_preview import as_text
from amem.note import Layer, Status
from amem.query import Filter
from amem_tui import changes
from amem_tui.browse.note_list import NEAR, Contents, NoteList, rows_of
from amem_tui.client import Refresher
from amem_tui.dialogs import Lines, Prompt, remark_line
from amem_tui.formatting import GLYPHS, day, one_line, title
from amem_tui.page import Block, Page, lay_out, space
from amem_tui.rooms import REST, PanedScreen
from amem_tui.timeline.calendar import SHADES, HeatMap, days_of, streak

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import tzinfo

    from textual.app import ComposeResult

    from amem.maintenance.forgetting_preview import FadePreview, Outlook
    from amem_tui.client import CollectionClient
    from amem_tui.page import Part


_LAYERS = {Layer.SHORT_TERM: "short-term memory", Layer.LONG_TERM: "long-term memory"}
#: Lines that the curve takes, with the days below it, and the cells that it needs.
_LOW, _HIGH, _LEAST = 8, 16, 20


class Forgetting(Page):
    """The pane; it scrolls where it is too small for all there is to say."""

    def __init__(self, zone: tzinfo, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._zone = zone
        self.outlook: Outlook | None = None

    async def tell(self, outlook: Outlook | None, words: str = "") -> None:
        self.outlook = outlook
        if outlook is None:
            await self.say(words)
            return
        pinned = ("▪ ", "$accent") if outlook.pinned else ""
        status = f", {outlook.status}" if outlook.status is not Status.ACTIVE else ""
        kind = (f"\n{GLYPHS[outlook.kind]} {outlook.kind}, {_LAYERS[outlook.now.layer]}", "$muted")
        name = (one_line(title(outlook.content), 110), "bold")
        head = Block(Content.assemble(pinned, name, kind, (status, "$warning")))
        terms = Block(_terms(outlook, self._zone))
        size = self.scrollable_content_region
        room = size.height - len(lay_out([head, terms], size.width).lines) - 2
        curve: list[Part] = []
        if size.width >= _LEAST:
            height = max(_LOW, min(room, _HIGH))
            drawn = partial(as_text, [outlook], size.width, colours=False, height=height, markers=("braille",))
            curve = [Block(Content.styled(await asyncio.to_thread(drawn), "$primary"), verbatim=True), space()]
        await self.show([head, space(), *curve, terms], keep=True)

    def on_resize(self) -> None:
        super().on_resize()
        if self.outlook is not None:
            self.call_later(self.tell, self.outlook)


def _terms(outlook: Outlook, zone: tzinfo) -> Content:
    """The strength as the product it is, and what is to come."""
    now = outlook.now
    used = "never recalled" if not now.recalls else f"recalled {now.recalls}x"
    lasting = math.isinf(now.stability_days)
    kept = "does not decay" if lasting else f"after {counted(round(now.age_days), 'day')}"
    factor = now.value / (now.importance * now.trust * now.retention) if now.value else 1.0 + math.log1p(now.recalls)
    rows = (
        ("importance", f"{now.importance:.2f}", ""),
        ("× trust", f"{now.trust:.2f}", ""),
        ("× recalls", f"{factor:.2f}", used),
        ("× kept", f"{now.retention:.0%}", kept),
    )
    lines = [
        Content.assemble((f"{name:<11}", "$muted"), f"{value:>5}", (f"  {why}", "$muted")) for name, value, why in rows
    ]
    lines.append(Content.assemble((f"{'= strength':<11}", "bold"), (f"{now.value:>5.2f}", "bold $primary")))
    if not lasting:
        rest = f"{counted(round(now.stability_days), 'day')} after a use 37% are kept"
        lines.append(Content.styled(rest, "$muted"))
    return Content("\n").join([*lines, Content(""), *_to_come(outlook, zone)])


def _to_come(outlook: Outlook, zone: tzinfo) -> Iterator[Content]:
    first = outlook.fades is None or outlook.moves is None or outlook.moves <= outlook.fades
    if outlook.moves is not None and outlook.moves_to is not None and first:
        verb = "rises to" if outlook.moves_to is Layer.LONG_TERM else "falls back to"
        yield Content(f"{verb} {_LAYERS[outlook.moves_to]} {_when(outlook.moves, outlook.at, zone)}")
    if outlook.fades is not None:
        yield Content.assemble(("fades", "$warning"), f" into the archive {_when(outlook.fades, outlook.at, zone)}")
    elif outlook.status is Status.ACTIVE and not math.isinf(outlook.now.stability_days):
        never = ("never archived", "$success")
        yield Content.assemble("what is kept falls, but the note is ", never, f": {outlook.stays}")
    else:
        yield Content.assemble(("never fades", "$success"), f": {outlook.stays}")


def _when(at: datetime, now: datetime, zone: tzinfo) -> str:
    ahead = round((at - now).total_seconds() / 86_400)
    return "with the next maintenance" if ahead <= 0 else f"on {day(at, zone)}, in {counted(ahead, 'day')}"


def filter_of(day: date, zone: tzinfo) -> Filter:
    """The notes of a day from its midnight to the next one, however many hours lie between them."""
    since = datetime.combine(day, time.min, tzinfo=zone)
    until = None if day == date.max else datetime.combine(day + timedelta(days=1), time.min, tzinfo=zone)
    return Filter(since=since, until=until)


#: Days that one looks ahead, in the order of the keys.
STEPS = (7, 30, 90, 365)
FARTHEST = 36_500
#: So many notes of each sort are named; all are counted.
MOST = 500

_SIGNS = {"faded": ("▾ ", "$warning"), "demoted": ("↓ ", "$primary"), "promoted": ("↑ ", "$success")}
_WORDS = {"faded": "fade", "demoted": "fall back", "promoted": "rise"}


def stepped(days: int, by: int) -> int:
    return next((each for each in STEPS[::by] if (each - days) * by > 0), days)


def lines_of(preview: FadePreview) -> list[Option]:
    """A line for each note that is named, with why below it; the curve beside the list has all of that."""
    lines = []
    for note in preview.notes:
        change, why = f"{note.now.value:.2f}→{note.then.value:.2f} ", ", ".join(note.then.inputs[:1:-1])
        name = f"{GLYPHS[note.kind]} {title(note.content)}\n"
        lines.append(
            Option(Content.assemble(_SIGNS[note.what], (change, "$muted"), name, (f"  {why}", "$muted")), id=note.id)
        )
    left = sum(preview.counts.values()) - len(lines)
    more = [f"and {left:,} more"] if left > 0 else [] if lines else ["Nothing fades or moves."]
    return [*lines, *map(remark_line, more)]


_NO_NOTE = """No note is chosen.

Go to a day that has notes, or to one of those that will fade."""
_GONE = "This note is not here any more."


class TimelineScreen(PanedScreen):
    """`_note` is whose curve is drawn: the note that is open in Browse, until another is chosen here."""

    _fade_list = getters.query_one(Lines)
    _of_day = getters.query_one(NoteList)
    _heat = getters.query_one(HeatMap)
    ROOM = "timeline"
    PANES: ClassVar[Mapping[str, tuple[str, str]]] = {
        "heat": ("calendar", "#heat"),
        "day-notes": ("calendar", "#day-notes"),
        "forgetting": ("forgetting", "#forgetting"),
        "fading": ("fading", "#fade-list"),
    }
    TABS: ClassVar = {"calendar": ("Calendar",), "forgetting": ("Forgetting",), "fading": ("What fades",)}

    def __init__(self, client: CollectionClient) -> None:
        super().__init__(client)
        self._note: str | None = None
        self._opened: str | None = None
        self._day_shown: date | None = None
        self._ahead = 30
        self._refresher = Refresher(self._look_ahead, partial(self.run_worker, group="ahead"))

    def furnish(self) -> ComposeResult:
        yield self.tabs()
        yield HeatMap(id="heat")
        with Horizontal(id="below"):
            yield NoteList(self.client, id="day-notes")
            yield Forgetting(self.client.zone, id="forgetting")
            with Vertical(id="fading"):
                yield Lines(id="fade-list")

    def on_mount(self) -> None:
        self._heat.border_title = "Notes by day"
        self._heat.border_subtitle = f"less {' '.join(SHADES)} more"
        self.query_one("#forgetting").border_title = "Forgetting"
        self._of_day.year, self._of_day.empty = None, "No notes on this day."
        self._heat.focus()
        self.show_tab("calendar")

    def load(self) -> None:
        self._reload()
        self._refresher.want()

    @work(exclusive=True, group="days")
    async def _reload(self) -> None:
        here = self.client.note if self.client.note != self._opened else None
        cards = {} if here is None else await self.ask(self.memory.cards_of, [here])
        days = days_of(await self.ask(self.memory.days), await self.ask(self.memory.today))
        self._opened, self._note = self.client.note, here or self._note
        self._heat.show(days, cards[here].at.astimezone(self.client.zone).date() if here in cards else None)
        row = streak(days)
        in_a_row = f", {row:,} days in a row" if row > 1 else ""
        self._heat.border_title = f"{days.first} to {days.last}{in_a_row}" if days.counts else "Notes by day"
        self.bar.tell(f"{counted(sum(days.counts.values()), 'note')} on {counted(len(days.counts), 'day')} ")
        await self._show_day()
        await self._show_forgetting()

    @on(HeatMap.Chosen)
    @work(exclusive=True, group="days")
    async def _to_day(self) -> None:
        await asyncio.sleep(REST)
        await self._show_day()
        if self._of_day.line is not None:
            self._choose(self._of_day.line.id)

    async def _show_day(self) -> None:
        day, shown = self._heat.day, self._of_day
        shelf = await self.ask(self.memory.shelf, filter_of(day, self.client.zone))
        rows = await self.ask(rows_of, self.memory, shelf, self.client.zone, 0, NEAR)
        place = shown.cursor if day == self._day_shown else 0
        if day != self._day_shown and self._note is not None:
            place = next((at for at, row in rows.items() if row is not None and row.id == self._note), 0)
        self._day_shown = day
        shown.show(Contents(len(shelf), rows, place, shelf=shelf))
        shown.border_title = f"{day:%a} {day.day} {day:%b} {day.year}: {counted(len(shelf), 'note')}"
        if self._note is None and shown.line is not None:
            self._choose(shown.line.id)

    @on(NoteList.Moved)
    @on(OptionList.OptionHighlighted)
    @on(events.DescendantFocus)
    def _moved(self) -> None:
        """The note under the cursor of the list that has the keyboard is the chosen one."""
        if isinstance(self.focused, NoteList | Lines) and self._under_cursor is not None:
            self._choose(self._under_cursor)

    @work(exclusive=True, group="curve")
    async def _choose(self, note: str) -> None:
        self._note = note
        await asyncio.sleep(REST)
        await self._show_forgetting()

    async def _show_forgetting(self) -> None:
        pane, note = self.query_one(Forgetting), self._note
        if note is None:
            await pane.tell(None, _NO_NOTE)
        else:
            try:
                await pane.tell(await self.ask(self.memory.outlook, note))
            except NoteNotFound:
                await pane.tell(None, _GONE)
        self.refresh_bindings()

    async def _look_ahead(self) -> None:
        days, pane, shown = self._ahead, self.query_one("#fading"), self._fade_list
        pane.border_title = f"What fades within {counted(days, 'day')}"
        pane.border_subtitle = "looking ahead…"
        with self.client.refusals():
            preview = await self.ask(self.memory.fade, days, most=MOST)
            shown.fill(lines_of(preview))
            said = [f"{preview.counts[what]:,} {words}" for what, words in _WORDS.items() if preview.counts.get(what)]
            pane.border_subtitle = ", ".join(said) or "nothing"
            return
        pane.border_subtitle = "cannot be told"

    def _set_ahead(self, days: int) -> None:
        self._ahead = days
        self._refresher.want(now=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "open":
            # The footer may ask before there is anything in the room.
            there = any(shown.count for shown in self.query(NoteList))
            return (self.pane == "heat" and there) or self._under_cursor is not None
        return action != "pin" or (self._under_cursor or self._note) is not None

    @property
    def _under_cursor(self) -> str | None:
        if isinstance(self.focused, NoteList):
            return None if self.focused.line is None else str(self.focused.line.id)
        if isinstance(self.focused, Lines):
            return self.focused.chosen
        return self._note if self.pane == "forgetting" else None

    @on(NoteList.Opened)
    @on(OptionList.OptionSelected)
    @on(HeatMap.Opened)
    def action_open(self) -> None:
        if self._under_cursor is not None:
            self.client.app.read_note(self._under_cursor)
        elif self.pane == "heat" and self._of_day.count:
            self.go_to("day-notes")

    def action_pin(self) -> None:
        if (note := self._under_cursor or self._note) is not None:
            self.change(changes.pin, self.memory, note)

    def action_today(self) -> None:
        self.go_to("heat")
        self._heat.action_go("today")

    def action_page(self, by: int) -> None:
        self._heat.action_page(by)

    def action_ahead(self, by: int) -> None:
        self._set_ahead(stepped(self._ahead, by))

    def action_ask_days(self) -> None:
        self.go_to("fading")
        self.app.push_screen(Prompt("What fades within how many days", "", self._days_given))

    async def _days_given(self, typed: str, again: bool) -> str:
        if not typed.isdecimal():
            return "a number of days, such as 45"
        self._set_ahead(min(int(typed), FARTHEST))
        return ""
