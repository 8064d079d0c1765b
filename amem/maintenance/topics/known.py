"""The topics that a collection has, with the notes that belong to each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.maintenance.topics.topic import Mark, mark_of
from amem.note import Kind, LinkType, MemoryNote, Scope, Status
from amem.query import Filter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amem.storage import Session


@dataclass(frozen=True, slots=True)
class Known:
    """A topic's `note`, its `mark`, the fields of it that people hold, and its notes.

    `members` are all that are linked to it, `by_hand` those that a person linked.
    """

    note: MemoryNote
    mark: Mark
    owned: Mapping[str, str]
    members: frozenset[str]
    by_hand: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        return self.note.id

    @property
    def scope(self) -> Scope:
        """Whose topic it is; all its notes are of it."""
        return Scope.of(self.note.metadata)


def known_topics(session: Session, *, statuses: Sequence[Status] = (Status.ACTIVE,)) -> list[Known]:
    """The topics of these statuses, oldest first; of a deleted one the notes that it ever had.

    Only notes of a topic's own scope are its notes, whatever links there are from before scopes were kept apart.
    """
    held = topic_notes(session, statuses=statuses)
    members = session.links.leading_to([note.id for note, _, _ in held], LinkType.PART_OF)
    found: list[Known] = []
    for note, mark, owned in held:
        mine = members[note.id]
        if note.status is Status.DELETED:
            mine = dict.fromkeys(session.links.ever_to(note.id, LinkType.PART_OF), "")
        scopes = session.notes.scopes_of(list(mine))
        mine = {id: made_by for id, made_by in mine.items() if scopes.get(id) == Scope.of(note.metadata)}
        by_hand = frozenset(id for id, made_by in mine.items() if made_by.split(":")[0] == "user")
        found.append(Known(note, mark, owned, frozenset(mine), by_hand))
    return found


def topic_notes(
    session: Session, *, statuses: Sequence[Status] = (Status.ACTIVE,)
) -> list[tuple[MemoryNote, Mark, Mapping[str, str]]]:
    """The note of each topic of these statuses, its mark, and the fields of it that people hold; oldest first."""
    keys = session.notes.keys(Filter(kinds=(Kind.TOPIC,), statuses=tuple(statuses)))
    bare = session.notes.bare(keys)
    return [(note, mark, owned) for note, owned in (bare[key] for key in keys) if (mark := mark_of(note))]


def notes_of(session: Session, ids: Iterable[str]) -> dict[str, MemoryNote]:
    """These notes without what other tables say of them, in the order of their arrival; deleted ones are left out."""
    keys = session.notes.keys_of(list(ids))
    held = session.notes.bare(sorted(keys.values()))
    found = (held[key][0] for key in sorted(keys.values()))
    return {note.id: note for note in found if note.status is not Status.DELETED}
