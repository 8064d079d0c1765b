"""What waits for a person, in words: lines for the lists, and what stands beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets.option_list import Option

from amem.labels import short_id
from amem.note import Status
from amem.rendering import text_of
from amem_tui.formatting import clean, day, folded, maker, moment, one_line, title
from amem_tui.history.field_changes import name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.note import Link, MemoryNote
    from amem.storage.records import Review
    from amem.storage.reviews import Flag
    from amem.verdict import Conflict


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
    notes = {note.id: note for id in (conflict.earlier, conflict.later) for note in memory.succession(id)}
    # Of two notes of one time the verdict says which is the earlier.
    sides = [notes.pop(conflict.earlier), notes.pop(conflict.later)]
    before = [note for note in notes.values() if note.status is not Status.ACTIVE]
    before.sort(key=lambda note: str(since(note)))
    return Dispute((*before, *sides), (conflict.earlier, conflict.later), conflict)


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

    reviews: tuple[Review, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    settled: tuple[Link, ...] = ()
    flags: tuple[Flag, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def item(self, option: str | None) -> Review | Flag | Conflict | Link | None:
        """Return what the line of that id is about; None for a chain, and for no line."""
        held: dict[str, Review | Flag | Conflict | Link] = {f"review {each.id}": each for each in self.reviews}
        held |= {f"flag {each.id}": each for each in self.flags}
        held |= {f"conflict {each.earlier} {each.later}": each for each in self.conflicts}
        held |= {f"settled {each.target} {each.source}": each for each in self.settled}
        return held.get(option or "")

    def title(self, id: str) -> str:
        """The note's title; the beginning of its id when it was destroyed."""
        return self.titles.get(id, short_id(id))


def read_waiting(memory: AgenticMemorySystem) -> Waiting:
    """Everything that waits, oldest first, conflicts the newest first."""
    reviews, conflicts, flags = memory.reviews(), memory.conflicts_open(), memory.doubted()
    settled = memory.supersessions(_SETTLED)
    counts = {"rewrites": len(reviews), "conflicts": len(conflicts), "flags": len(flags)}
    reviews, conflicts, flags = reviews[:MOST], conflicts[:MOST], flags[:MOST]
    ids = [each.note for each in reviews]
    ids += [id for each in conflicts for id in (each.earlier, each.later)]
    ids += [id for each in settled for id in (each.source, each.target)]
    ids += [id for each in flags for id in (each.note, each.because)]
    titles = {id: title(card.text) for id, card in memory.cards_of(list(dict.fromkeys(ids))).items()}
    return Waiting(tuple(reviews), tuple(conflicts), tuple(settled), tuple(flags), counts, titles)


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
    if section == "rewrites":
        found = [Option(_review_line(each, waiting), id=f"review {each.id}") for each in waiting.reviews]
    elif section == "flags":
        found = [Option(_flag_line(each, waiting), id=f"flag {each.id}") for each in waiting.flags]
    else:
        found = _conflict_options(waiting, chain_of)
    left = waiting.counts.get(section, 0) - sum(not each.disabled for each in found if waits(each))
    if left > 0:
        found.append(Option(Content.styled(f"… {left:,} more when these are decided", "$muted"), disabled=True))
    return found or [Option(Content.styled(NOTHING[section], "$muted"), disabled=True)]


def review_head(review: Review, waiting: Waiting, zone: tzinfo) -> Content:
    """Which note would be changed, who says so, how sure and why, and until when one may decide."""
    who = Content.assemble("proposed by ", maker(review.made_by), (f", {review.confidence:.0%} sure", "$muted"))
    lines = [Content.styled(waiting.title(review.note), "bold"), who]
    if review.reason:
        lines.append(Content.assemble(("because ", "$muted"), one_line(review.reason, 400)))
    lines.append(
        Content.styled(f"since {moment(review.created_at, zone)}, open until {day(review.expires_at, zone)}", "$muted")
    )
    return Content("\n").join(lines)


def flag_head(flag: Flag, waiting: Waiting, zone: tzinfo) -> Content:
    """Which note, and because of what it may be out of date."""
    return Content("\n").join(
        [
            Content.styled(waiting.title(flag.note), "bold"),
            Content.assemble(("may be out of date: ", "$warning"), one_line(flag.reason, 400)),
            Content.assemble(("because of  ", "$muted"), waiting.title(flag.because)),
            Content.styled(f"since {moment(flag.at, zone)}", "$muted"),
        ]
    )


def dispute_head(dispute: Dispute) -> Content:
    """Who sees a conflict, how sure and why; or what the chain is."""
    conflict = dispute.conflict
    if conflict is None:
        return Content.styled("Decided: a number makes that note the current one, = makes both current.", "$muted")
    verdict = conflict.verdict
    label = "They contradict each other" if verdict.label == "contradicts" else "The later may overturn the earlier"
    lines = [
        Content.assemble((label, "bold"), "  ", maker(verdict.judge), (f"  {verdict.confidence:.0%} sure", "$muted"))
    ]
    if verdict.reason:
        lines.append(Content(one_line(verdict.reason, 400)))
    if conflict.waits:
        lines.append(Content.styled(f"It waits, since {conflict.waits}.", "$muted"))
    return Content("\n").join(lines)


def timeline(dispute: Dispute, zone: tzinfo, width: int) -> list[Option]:
    """The notes, the oldest first, each with a number, when it was so, and whether it holds now."""
    notes = enumerate(dispute.notes, start=1)
    return [Option(_moment_of(place, note, dispute, zone, width), id=note.id) for place, note in notes]


def _moment_of(place: int, note: MemoryNote, dispute: Dispute, zone: tzinfo, width: int) -> Content:
    began = day(since(note), zone)
    until = day(note.valid_to, zone) if note.valid_to is not None else "now" if note.status is Status.ACTIVE else ""
    held = {Status.ACTIVE: ("● current", "$success"), Status.SUPERSEDED: ("○ superseded", "$muted")}
    state = held.get(note.status, (f"○ {note.status}", "$warning"))
    if dispute.conflict is not None and note.id in dispute.pair:
        state = ("? disputed", "$warning")
    mark = str(place) if place < 10 else " "
    head = Content.assemble((f" {mark} ", "bold $accent"), (f" {began} – {until or '?'}  ", "$primary"), state)
    bar = "│" if place < len(dispute.notes) else " "
    text = [
        Content.assemble((f" {bar}  ", "$primary"), line) for line in folded(one_line(text_of(note), 300), width - 6)
    ]
    return Content("\n").join([head, *text])


def _review_line(review: Review, waiting: Waiting) -> Content:
    fields = ", ".join(name(field) for field in review.changes)
    return _two(
        waiting.title(review.note),
        Content.assemble(maker(review.made_by), (f"  {review.confidence:.0%} sure  {fields}", "$muted")),
    )


def _flag_line(flag: Flag, waiting: Waiting) -> Content:
    return _two(waiting.title(flag.note), Content.styled(one_line(flag.reason), "$muted"))


def _conflict_options(waiting: Waiting, chain_of: str | None) -> list[Option]:
    found = []
    if chain_of is not None:
        found += [_heading("The open note"), Option(Content("  its chain"), id=f"chain {chain_of}")]
    if waiting.conflicts:
        found += [_heading("To decide")] if chain_of is not None or waiting.settled else []
        for each in waiting.conflicts:
            below = _BELOW.get(str(each.verdict.label), str(each.verdict.label))
            line = _two(waiting.title(each.earlier), _against(below, waiting.title(each.later)))
            found.append(Option(line, id=f"conflict {each.earlier} {each.later}"))
    if waiting.settled:
        found.append(_heading("Decided: what took whose place"))
        for link in waiting.settled:
            line = _two(waiting.title(link.source), _against("in place of", waiting.title(link.target)))
            found.append(Option(line, id=f"settled {link.target} {link.source}"))
    return found


def waits(option: Option) -> bool:
    """Whether the line is of something that is not decided yet."""
    return option.id is not None and option.id.split()[0] in ("review", "flag", "conflict")


def _heading(words: str) -> Option:
    return Option(Content.styled(words, "bold $primary"), disabled=True)


def _against(how: str, other: str) -> Content:
    return Content.assemble((f"{how}  ", "$secondary"), (other, "$muted"))


def _two(first: str, second: Content) -> Content:
    return Content("\n").join([Content(first), Content("  ") + second])


def note_text(note: MemoryNote | None) -> Content:
    """The note's text as it is, to see a change in its place."""
    return Content.styled("The note is not here any more.", "$muted") if note is None else Content(clean(note.content))
