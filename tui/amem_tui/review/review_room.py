"""Where a person decides: proposed changes, notes that disagree, notes that may be out of date."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events, getters, on, work
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import OptionList, Static, TabbedContent, TabPane
from textual.widgets.option_list import Option

from amem.labels import short_id
from amem.note import Conflict, Link, Status
from amem.note_changes import field_name
from amem.rendering import text_of
from amem.storage.reviews import Flag, Review
from amem_tui import changes
from amem_tui.dialogs import Lines, remark_line
from amem_tui.formatting import clean, day, maker, moment, one_line, titles_of
from amem_tui.history.history_room import compared
from amem_tui.page import Block, Page, remark, space, wrapped
from amem_tui.rooms import REST, NotesScreen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    from textual.app import ComposeResult

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote
    from amem_tui.page import Part

    Item = Review | Flag | Conflict | Link


@dataclass(frozen=True, slots=True)
class Dispute:
    """`notes` in the order in which they were so; `pair` is (older, newer), the two sides of an open `conflict`."""

    notes: tuple[MemoryNote, ...]
    pair: tuple[str, str]
    conflict: Conflict | None = None

    def holder(self, id: str) -> str | None:
        """The id of the note that holds in place of this one; None when none does."""
        held = {note.id: note for note in self.notes}
        seen: set[str] = set()
        note = held.get(id)
        while note is not None and note.status is Status.SUPERSEDED and note.id not in seen:
            seen.add(note.id)
            note = held.get(note.superseded_by or "")
        return note.id if note is not None and note.status is Status.ACTIVE and note.id != id else None


def since(note: MemoryNote) -> datetime | None:
    """From when on the note was so, as far as anybody said."""
    return note.valid_from or note.at or note.recorded_at


def read_conflict(memory: AgenticMemorySystem, conflict: Conflict) -> Dispute:
    """The two sides with the chains they stand in. Raises NoteNotFound."""
    pair = conflict.earlier, conflict.later
    notes = {note.id: note for id in pair for note in memory.succession(id)}
    # Of two notes of one time the verdict says which is the earlier.
    sides = [notes.pop(id) for id in pair]
    before = [note for note in notes.values() if note.status is not Status.ACTIVE]
    return Dispute((*sorted(before, key=lambda note: str(since(note))), *sides), pair, conflict)


def read_chain(memory: AgenticMemorySystem, id: str, newer: str = "") -> Dispute:
    """The chain a note stands in. Raises NoteNotFound."""
    notes = memory.succession(id)
    note = next(each for each in notes if each.id == id)
    return Dispute(tuple(notes), (id, newer or note.superseded_by or ""))


#: Of each more than a person decides in one sitting; more come up as these are decided.
MOST = 200
#: Supersessions to look back on.
_SETTLED = 50


@dataclass(frozen=True, slots=True)
class Waiting:
    """All of it, at most `MOST` of each at hand; `counts` says how many there are. `settled` waits for nobody."""

    reviews: Sequence[Review]
    conflicts: Sequence[Conflict]
    settled: Sequence[Link]
    flags: Sequence[Flag]
    counts: Mapping[str, int]
    titles: Mapping[str, str]

    @property
    def items(self) -> dict[str, Item]:
        """What lines are about, by the ids of the lines."""
        held: dict[str, Item] = {f"review {each.id}": each for each in self.reviews}
        held |= {f"flag {each.id}": each for each in self.flags}
        held |= {f"conflict {each.earlier} {each.later}": each for each in self.conflicts}
        return held | {f"settled {each.target} {each.source}": each for each in self.settled}

    def title(self, id: str) -> str:
        return self.titles.get(id, short_id(id))


def read_waiting(memory: AgenticMemorySystem) -> Waiting:
    """Everything that waits, oldest first, conflicts the newest first."""
    reviews, conflicts, flags = memory.reviews(), memory.conflicts_open(), memory.doubted()
    counts = {"rewrites": len(reviews), "conflicts": len(conflicts), "flags": len(flags)}
    reviews, conflicts, flags = reviews[:MOST], conflicts[:MOST], flags[:MOST]
    settled = memory.supersessions(_SETTLED)
    ids = [each.note for each in reviews]
    ids += [id for each in conflicts for id in (each.earlier, each.later)]
    ids += [id for each in settled for id in (each.source, each.target)]
    ids += [id for each in flags for id in (each.note, each.because)]
    return Waiting(reviews, conflicts, settled, flags, counts, titles_of(memory, ids))


NOTHING = {
    "rewrites": "No rewrite waits for you.",
    "conflicts": "No notes disagree.",
    "flags": "No note is out of date by what was replaced.",
}
#: What would stand beside the list, where there is nothing in it.
MEANING = {
    "rewrites": "What a machine would change in a note that you edited, or is not sure of, waits here for you.",
    "flags": "A note that was built on something that no longer holds is named here.",
}
_BELOW = {"contradicts": "contradicts", "supersedes": "may be overturned by"}


def options(section: str, waiting: Waiting, chain_of: str | None) -> list[Option]:
    """The lines of a section; `chain_of` is a note whose chain is to be looked at."""
    found = list(_lines(section, waiting, chain_of))
    left = waiting.counts.get(section, 0) - sum(not each.disabled for each in found if waits(each))
    if left > 0:
        found.append(remark_line(f"… {left:,} more when these are decided"))
    return found or [remark_line(NOTHING[section])]


def _lines(section: str, waiting: Waiting, chain_of: str | None) -> Iterator[Option]:
    def line(id: str, note: str, *below: str | tuple[str, str] | Content) -> Option:
        return Option(Content.assemble(waiting.title(note), "\n  ", *below), id=id)

    if section == "rewrites":
        for review in waiting.reviews:
            below = f"  {review.confidence:.0%} sure  {', '.join(map(field_name, review.changes))}"
            yield line(f"review {review.id}", review.note, maker(review.made_by), (below, "$muted"))
    elif section == "flags":
        for flag in waiting.flags:
            yield line(f"flag {flag.id}", flag.note, (one_line(flag.reason), "$muted"))
    else:
        if chain_of is not None:
            yield remark_line("The open note", "bold $primary")
            yield Option(Content("  its chain"), id=f"chain {chain_of}")
        if waiting.conflicts and (chain_of is not None or waiting.settled):
            yield remark_line("To decide", "bold $primary")
        for each in waiting.conflicts:
            how = (f"{_BELOW.get(str(each.verdict.label), str(each.verdict.label))}  ", "$secondary")
            later = (waiting.title(each.later), "$muted")
            yield line(f"conflict {each.earlier} {each.later}", each.earlier, how, later)
        if waiting.settled:
            yield remark_line("Decided: what took whose place", "bold $primary")
        for link in waiting.settled:
            place = ("in place of  ", "$secondary"), (waiting.title(link.target), "$muted")
            yield line(f"settled {link.target} {link.source}", link.source, *place)


def item_head(item: Review | Flag, waiting: Waiting, zone: tzinfo) -> Block:
    """Which note, who would change it or because of what it is doubted, and since when one may decide."""
    lines, reason = [Content.styled(waiting.title(item.note), "bold")], one_line(item.reason, 400)
    if isinstance(item, Review):
        lines.append(Content.assemble("proposed by ", maker(item.made_by), (f", {item.confidence:.0%} sure", "$muted")))
        lines += [Content.assemble(("because ", "$muted"), reason)] if reason else []
        since = f"since {moment(item.created_at, zone)}, open until {day(item.expires_at, zone)}"
    else:
        lines.append(Content.assemble(("may be out of date: ", "$warning"), reason))
        lines.append(Content.assemble(("because of  ", "$muted"), waiting.title(item.because)))
        since = f"since {moment(item.at, zone)}"
    return Block(Content("\n").join([*lines, Content.styled(since, "$muted")]))


def dispute_head(dispute: Dispute) -> Content:
    """Who sees a conflict, how sure and why; or what the chain is."""
    conflict = dispute.conflict
    if conflict is None:
        return Content.styled("Decided: a number makes that note the current one, = makes both current.", "$muted")
    verdict = conflict.verdict
    label = "They contradict each other" if verdict.label == "contradicts" else "The later may overturn the earlier"
    sure = (f"  {verdict.confidence:.0%} sure", "$muted")
    reason = f"\n{one_line(verdict.reason, 400)}" if verdict.reason else ""
    waits = (f"\nIt waits, since {conflict.waits}." if conflict.waits else "", "$muted")
    return Content.assemble((label, "bold"), "  ", maker(verdict.judge), sure, reason, waits)


def timeline(dispute: Dispute, zone: tzinfo, width: int) -> Iterator[Option]:
    """The notes, the oldest first, each with a number, when it was so, and whether it holds now."""
    held = {Status.ACTIVE: ("● current", "$success"), Status.SUPERSEDED: ("○ superseded", "$muted")}
    for place, note in enumerate(dispute.notes, start=1):
        open_end = "now" if note.status is Status.ACTIVE else "?"
        until = open_end if note.valid_to is None else day(note.valid_to, zone)
        state = held.get(note.status, (f"○ {note.status}", "$warning"))
        if dispute.conflict is not None and note.id in dispute.pair:
            state = ("? disputed", "$warning")
        mark, when = str(place) if place < 10 else " ", f" {day(since(note), zone)} – {until}  "
        head = Content.assemble((f" {mark} ", "bold $accent"), (when, "$primary"), state)
        bar = f" {'│' if place < len(dispute.notes) else ' '}  ", "$primary"
        text = wrapped(Content(one_line(text_of(note), 300)), max(10, width - 6))
        yield Option(Content("\n").join([head, *(Content.assemble(bar, line) for line in text)]), id=note.id)


def waits(option: Option) -> bool:
    return option.id is not None and option.id.split()[0] in ("review", "flag", "conflict")


_SECTIONS = {"rewrites": "Rewrites", "conflicts": "Conflicts", "flags": "May be out of date"}
_AROUND = 120


class ReviewScreen(NotesScreen):
    """Three sections; in each a list, and beside it what a decision needs to be seen."""

    _chain = getters.query_one("#chain", Lines)
    _tabs = getters.query_one(TabbedContent)
    ROOM = "review"
    AUTO_FOCUS = "#rewrites-list"

    _waiting: Waiting | None = None
    _dispute: Dispute | None = None
    _chain_of: str | None = None
    _to_chain = False
    _whole = False
    #: Whether somebody has just come in, who is to see what waits.
    _arriving = True

    def furnish(self) -> ComposeResult:
        with TabbedContent(id="sections"):
            for section, words in _SECTIONS.items():
                with TabPane(words, id=section), Horizontal(classes="beside"):
                    yield Lines(id=f"{section}-list")
                    if section == "conflicts":
                        with Vertical(id="dispute"):
                            yield Static(id="dispute-head", markup=False)
                            yield Lines(id="chain")
                    else:
                        yield Page(id=f"{section}-view")

    @property
    def _section(self) -> str:
        return self._tabs.active

    @property
    def _list(self) -> Lines:
        return self.query_one(f"#{self._section}-list", Lines)

    @property
    def _chosen(self) -> Item | None:
        return None if self._waiting is None else self._waiting.items.get(self._list.chosen or "")

    @on(events.Resize)
    def _resized(self) -> None:
        if self._waiting is not None:
            self._show()

    @on(events.ScreenSuspend)
    def _left(self) -> None:
        if isinstance(self.app.screen, NotesScreen):  # and no dialogue over this room
            self._arriving = True

    @work(exclusive=True, group="review")
    async def load(self) -> None:
        waiting = self._waiting = await self.ask(read_waiting, self.memory)
        for section, words in _SECTIONS.items():
            count = waiting.counts[section]
            self._tabs.get_tab(section).label = Content(f"{words} {count:,}" if count else words)
            keep = f"chain {self._chain_of}" if self._to_chain and section == "conflicts" else None
            _fill(self.query_one(f"#{section}-list", Lines), options(section, waiting, self._chain_of), keep)
        self._to_chain = False
        total = sum(waiting.counts.values())
        self.bar.tell(f"{total:,} to decide " if total else "Nothing waits ")
        if self._arriving and total:
            self._go_to(next(each for each in _SECTIONS if waiting.counts[each]))
        self._arriving = False
        self._show()
        self.refresh_bindings()

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_list is not self._chain:
            self._show(rest=REST)

    @work(exclusive=True, group="shown")
    async def _show(self, rest: float = 0) -> None:
        await asyncio.sleep(rest)
        if self._section == "conflicts":
            await self._show_dispute()
        else:
            await self._show_item(self.query_one(f"#{self._section}-view", Page))
        self.refresh_bindings()

    async def _show_item(self, page: Page) -> None:
        item, waiting, zone = self._chosen, self._waiting, self.client.zone
        if waiting is None or not isinstance(item, Review | Flag):
            await page.say(MEANING[self._section])
            return
        parts: list[Part] = [item_head(item, waiting, zone), space()]
        if isinstance(item, Review):
            around = None if self._whole else _AROUND
            parts += await self.ask(compared, item.changes, zone, waiting.titles, around=around)
        parts += await self._note_parts("the note", item.note)
        if isinstance(item, Flag) and await self.ask(self.memory.read, item.because) is not None:
            parts += await self._note_parts("because of", item.because)
        await page.show(parts, about=item.id)

    async def _note_parts(self, heading: str, id: str) -> list[Part]:
        note = await self.ask(self.memory.read, id)
        text = remark("The note is not here any more.") if note is None else Block(Content(clean(note.content)))
        return [remark(heading, "bold $secondary"), text, space()]

    async def _show_dispute(self) -> None:
        shown, item, dispute = self._chain, self._chosen, None
        if isinstance(item, Conflict):
            dispute = await self.ask(read_conflict, self.memory, item)
        elif ids := (self._list.chosen or "").split()[1:]:
            dispute = await self.ask(read_chain, self.memory, *ids)
        self._dispute = dispute
        head = Content(NOTHING["conflicts"]) if dispute is None else dispute_head(dispute)
        self.query_one("#dispute-head", Static).update(head)
        shown.fill([] if dispute is None else list(timeline(dispute, self.client.zone, shown.size.width)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self._waiting is None:
            return action in ("leave", "undo", "redo", "visit")
        item = self._chosen
        there = 0 if self._dispute is None or self._section != "conflicts" else len(self._dispute.notes)
        about = parameters[0] if parameters else None
        return {
            "decide": isinstance(item, Flag if about in ("keep", "retract") else Review),
            "whole": isinstance(item, Review),
            "hold": isinstance(about, int) and about <= there,
            "keep_both": isinstance(item, Conflict | Link),
            "succession": self.client.note is not None,
            "read": self._list.chosen is not None,
        }.get(action, True)

    def action_section(self, by: int) -> None:
        names, self._arriving = list(_SECTIONS), False
        self._go_to(names[(names.index(self._section) + by) % len(names)])

    def _go_to(self, section: str) -> None:
        self._tabs.active = section

    @on(TabbedContent.TabActivated)
    def _turned(self) -> None:
        self._list.focus()  # only now is it there to be focused
        self._show()

    def action_whole(self) -> None:
        self._whole = not self._whole
        self._show()

    def action_succession(self) -> None:
        """Put the chain of the open note on top of the conflicts, with the cursor on it."""
        self._chain_of, self._to_chain, self._arriving = self.client.note, True, False
        self._go_to("conflicts")
        self.reload()

    @on(OptionList.OptionSelected)
    def action_read(self) -> None:
        """Open the note; in a conflict go to its notes first."""
        if self._section == "conflicts":
            if self.focused is not self._chain:
                self._chain.focus()
            elif self._chain.chosen is not None:
                self.client.app.read_note(self._chain.chosen)
            return
        if isinstance(item := self._chosen, Review | Flag):
            self.client.app.read_note(item.note)

    def action_decide(self, how: str) -> None:
        """Carry out the change of that name with the chosen proposal, or with the note that may be out of date."""
        if isinstance(item := self._chosen, Review | Flag):
            self.change(getattr(changes, how), self.memory, item.id if isinstance(item, Review) else item.note)

    def action_hold(self, place: int) -> None:
        if self._dispute is not None and place <= len(self._dispute.notes):
            self.change(_hold, self.memory, self._dispute, self._dispute.notes[place - 1].id)

    def action_keep_both(self) -> None:
        item = self._chosen
        if isinstance(item, Conflict):
            self.change(changes.keep_both, self.memory, item.earlier, item.later)
        elif isinstance(item, Link):
            self.change(lambda: f"Both are current: {changes.reinstate(self.memory, item.target)}")


def _hold(memory: AgenticMemorySystem, dispute: Dispute, id: str) -> str:
    """Say of one of the notes that it is the one that holds."""
    earlier, later = dispute.pair
    if dispute.conflict is not None and id == later:
        return changes.supersede(memory, earlier, later, dispute.conflict.verdict.reason)
    if dispute.conflict is not None and id == earlier:
        return changes.retract(memory, later)
    instead = dispute.holder(id)
    said = changes.reinstate(memory, id) if instead is None else changes.supersede(memory, instead, id)
    held = any(note.id == id and note.status is Status.ACTIVE for note in dispute.notes)
    return f"{said}, nothing changes" if held else f"Decided anew: {said}; u takes that back"


def _fill(shown: Lines, options: Sequence[Option], keep: str | None) -> None:
    """Show a section anew; where what the cursor was on is decided, it goes on to what is not, or nowhere."""
    undecided = [each.id for each in options if waits(each)]
    before, place = shown.options, -1 if shown.highlighted is None else shown.highlighted
    if keep is None and shown.chosen not in [each.id for each in options if not each.disabled]:
        onward = (each.id for each in (*before[place + 1 :], *before[: max(0, place)][::-1]))
        keep = next((id for id in onward if id in undecided), next(iter(undecided), None))
    shown.fill(options, keep=keep, near=all(each.disabled for each in before))
