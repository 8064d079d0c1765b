"""The versions of a note, and what one operation did, in words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from textual.content import Content

from amem.errors import AmbiguousId, NoteNotFound
from amem.note import Status
from amem_tui.formatting import maker, moment, one_line, title
from amem_tui.history.field_changes import FieldChange, compared

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.records import Version


# Why something was done, with the titles of notes in place of the beginnings of their ids.

_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f-]{27})?\b")
_LONGEST = 50
_REVERSAL = re.compile(r"(?:undo|redo) of operation (\d+)")


def causes_in_words(memory: AgenticMemorySystem, causes: Iterable[str]) -> dict[str, str]:
    """Each cause in words for people: ``“Green tea at 80 …” arrived``; what names no note stays as it is.

    Of what was undone or redone it says what that had been: ``update, changed content (operation 18)``.
    """
    found = {cause: cause for cause in causes}
    found |= _reversed(memory, found)
    ids = {short: _resolved(memory, short) for cause in found.values() for short in _ID.findall(cause)}
    cards = memory.cards_of([id for id in ids.values() if id is not None])

    def named(match: re.Match[str]) -> str:
        card = cards.get(ids[match.group()] or "")
        return match.group() if card is None else f"“{one_line(title(card.text), _LONGEST)}”"

    return {cause: _ID.sub(named, words) for cause, words in found.items()}


def _reversed(memory: AgenticMemorySystem, causes: Iterable[str]) -> dict[str, str]:
    """In place of the number of what was undone or redone, what it was and the number."""
    numbers = {cause: int(match[1]) for cause in causes if (match := _REVERSAL.fullmatch(cause))}
    held = {each.id: each for each in memory.operations(list(set(numbers.values())))} if numbers else {}
    # A redo takes back an undo: what is wanted is what that had taken back.
    before = {each.undoes for each in held.values() if each.undoes is not None}
    first = {each.id: each for each in memory.operations(list(before))} if before else {}
    found = {}
    for cause, number in numbers.items():
        undo = held.get(number)
        done = undo if undo is None or undo.undoes is None else first.get(undo.undoes, undo)
        if done is not None:
            found[cause] = f"{done.action}{f', {done.cause}' if done.cause else ''} (operation {done.id})"
    return found


def _resolved(memory: AgenticMemorySystem, short: str) -> str | None:
    try:
        return memory.resolve(short, deleted=True)
    except (NoteNotFound, AmbiguousId):
        return None


# What the history room reads of a note, all of it in one go and off the event loop.

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

    @property
    def newest(self) -> int:
        """The number of the newest version, which is how many there are."""
        return self.versions[0].version if self.versions else 0

    def version(self, number: int) -> Version | None:
        """One of the versions at hand."""
        return next((each for each in self.versions if each.version == number), None)


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
    around = None if whole else _AROUND
    return compared(_changes(memory, record, version, with_now), zone, record.titles, around=around)


def _changes(
    memory: AgenticMemorySystem, record: Record, version: Version, with_now: bool
) -> Mapping[str, tuple[Any, Any]]:
    if with_now:
        return memory.differences(record.id, version.version)
    # The first version records only that the note came to be, not what it was.
    if version.version > 1:
        return version.changes
    born = memory.differences(record.id, 0, 1)
    return {field: change for field, change in born.items() if field not in _AS_EVER}


# A version in words: its line in the list, and what stands above the change it made.


def version_line(version: Version, cause: str, zone: tzinfo) -> Content:
    """Two lines for the list: when and by whom, then what for (the `cause` in words)."""
    sure = "" if version.confidence is None else f" {version.confidence:.0%} sure"
    head = Content.assemble(
        (f" v{version.version:<4}", "bold"), (f"{moment(version.at, zone)} ", "$muted"), maker(version.actor)
    )
    why = f": {one_line(cause, 80)}" if cause else ""
    return Content("\n").join([head, Content.assemble((f"      {version.action}{sure}{why}", "$muted"))])


def change_head(version: Version, cause: str, zone: tzinfo) -> Content:
    """Who did it, when, why, how sure, and what the model was asked."""
    lines = [
        Content.assemble(
            maker(version.actor),
            (f"  {version.action}", "bold"),
            (f"  {moment(version.at, zone)}  operation {version.operation}", "$muted"),
        )
    ]
    if cause:
        lines.append(Content(one_line(cause, 400)))
    if version.proposed_by:
        sure = "" if version.confidence is None else f", {version.confidence:.0%} sure"
        lines.append(Content.assemble(("proposed by ", "$muted"), maker(version.proposed_by), (sure, "$muted")))
    if version.prompts:
        lines.append(Content.assemble((f"prompts: {one_line(version.prompts)}", "$muted")))
    return Content("\n").join(lines)
