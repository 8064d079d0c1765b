"""What the history room reads of a note, all of it in one go and off the event loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from amem.errors import NoteNotFound
from amem.note import Status
from amem_tui.history.causes import told
from amem_tui.history.fields import FieldChange, compared
from amem_tui.phrases import title

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.storage import Version

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
    causes = told(memory, (each.cause for each in versions))
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
