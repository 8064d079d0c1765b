"""Notes as they are stored: one, many, their links, sources and tags. Nothing here counts as a use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.clock import parse_time, zone
from amem.live import Memories
from amem.neighbourhood import LocalGraph, Neighbourhood, local_graph, walk
from amem.note import EVERYONE, LinkType
from amem.query import Filter
from amem.retrieval.expansion import DEPTH, ancestors
from amem.storage.file_notes import file_notes
from amem.storage.graph_queries import among
from amem.storage.note_lists import Cards
from amem.storage.whole import wholes
from amem.system.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.note import Link, MemoryNote, Scope, Source
    from amem.retrieval.expansion import Ancestor
    from amem.storage.file_notes import FileNote
    from amem.storage.whole import Whole


class Reading(Wiring):
    """Reads what is stored, as of now: other processes' writes included."""

    def read(self, id: str, known_at: datetime | str | None = None) -> MemoryNote | None:
        """The note with its links, usage, trust and history; None when there is none.

        `known_at` asks for the note as it stood then: every field and its history, though not what is kept beside it
        (links, usage, trust). None where it was not there yet, or was deleted.
        """
        moment = None if known_at is None else parse_time(known_at, zone(self.settings.timezone))
        with self._store.read() as session:
            return session.notes.get_many([id], known_at=moment).get(id)

    def scopes_of(self, ids: Sequence[str]) -> dict[str, Scope]:
        """Whose each of these notes is, deleted or not; those that there are."""
        with self._store.read() as session:
            return session.notes.scopes_of(list(ids))

    def resolve(self, prefix: str, *, deleted: bool = False, scope: Scope = EVERYONE) -> str:
        """The one id of the `scope` that begins with `prefix`. Raises NoteNotFound or AmbiguousId."""
        with self._store.read() as session, session.within(scope):
            return session.notes.resolve(prefix, deleted=deleted)

    def count(self, filter: Filter | None = None) -> int:
        """How many notes pass the filter; without one, all that are not deleted."""
        wanted = None if filter is None else filter.in_zone(zone(self.settings.timezone))
        with self._store.read() as session:
            return session.notes.count(wanted)

    @property
    def memories(self) -> Memories:
        """A live mapping of id to note, as A-Mem's programs read it; changes go through `update` and `delete`."""
        return Memories(self._store)

    def links(self, id: str) -> list[Link]:
        """Links that start at this note."""
        with self._store.read() as session:
            return session.links.of(id)

    def backlinks(self, id: str) -> list[Link]:
        """Links that end at this note."""
        with self._store.read() as session:
            return session.links.to(id)

    def read_many(self, ids: Sequence[str]) -> dict[str, MemoryNote]:
        """The notes with these ids, deleted ones too, without their histories, in the order asked for.

        An id that no note has is left out.
        """
        with self._store.read() as session:
            found = session.notes.get_many(list(ids), history=False)
        return {id: found[id] for id in ids if id in found}

    def links_among(self, ids: Sequence[str]) -> list[Link]:
        """Links that have both ends among these notes, oldest first."""
        with self._store.read() as session:
            return among(session, ids, tuple(LinkType))

    def neighbourhood(self, id: str, depth: int = 1, *, scope: Scope = EVERYONE) -> Neighbourhood:
        """The notes of the `scope` within `depth` links of this one, in either direction, and the links among them."""
        with self._store.read() as session, session.within(scope):
            return walk(session, id, depth)

    def graph(
        self,
        id: str,
        depth: int = 1,
        *,
        limit: int = 40,
        types: Sequence[LinkType] | None = None,
        scope: Scope = EVERYONE,
    ) -> LocalGraph:
        """What of the graph around this note can be looked at: at most `limit` notes within `depth` links, and which.

        By links of these `types`, None for all, to notes of the `scope`. However many links a note has, the cost stays
        bounded. Raises NoteNotFound, and InvalidInput for a depth below 0 or a limit below 1.
        """
        with self._store.read() as session, session.within(scope):
            return local_graph(session, Cards(session, self.settings.decay_rate), id, depth, limit=limit, types=types)

    def ancestors(self, id: str, depth: int = DEPTH, *, scope: Scope = EVERYONE) -> list[Ancestor]:
        """What the note rests on, nearest first: its causes, what it was derived from, what supports it, and theirs.

        Each comes once, with the links that lead to it. A superseded one is among them and says so, a deleted one is
        not, nor is one outside the `scope`. Raises NoteNotFound, and InvalidInput for a depth below 0.
        """
        with self._store.read() as session, session.within(scope):
            return ancestors(session, id, depth)

    def sources(self, ids: Sequence[str]) -> dict[str, list[Source]]:
        """For each note the raw input it came from."""
        with self._store.read() as session:
            return session.sources.of(ids)

    def notes_of_sources(self, ids: Sequence[str]) -> dict[str, str]:
        """For each of these sources that is a note's very text that note, unless it is deleted."""
        with self._store.read() as session:
            return session.sources.notes_of(ids, own=True)

    def file_notes(self) -> Sequence[FileNote]:
        """Every note that says which file it came from, deleted ones too, as an import compares them with the files."""
        with self._store.read() as session:
            return file_notes(session)

    def wholes(self, ids: Sequence[str]) -> dict[str, Whole]:
        """For each of these notes what belongs to it beside fields, links and sources, as an export tells it."""
        with self._store.read() as session:
            return wholes(session, ids)

    def tags(self, *, scope: Scope = EVERYONE) -> dict[str, int]:
        """Every tag of the `scope` and how many notes carry it, most used first."""
        with self._store.read() as session, session.within(scope):
            return session.text.counts("tag")

    # Last, because from here on `list` in an annotation of this class would mean the method.
    def list(
        self, filter: Filter | None = None, *, limit: int = 50, offset: int = 0, order: str = "time"
    ) -> list[MemoryNote]:
        """Notes that pass the filter, newest first; `order` is time, recorded or importance."""
        wanted = (filter or Filter()).in_zone(zone(self.settings.timezone))
        with self._store.read() as session:
            return session.notes.page(wanted, limit=limit, offset=offset, order=order)
