"""A collection as JSON Lines that ``amem import`` reads back: notes, links with reasons, sources, versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from amem.interop.records import EXPORT_MARK, link_record, note_record, source_record, version_record
from amem.note import Status
from amem.query import Filter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.note import Link, MemoryNote, Source
    from amem.storage import Version

#: Everything but what was deleted.
EVERYTHING = Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED))
_PAGE = 500
SHAPE = 1


class Collection(Protocol):
    """The part of a memory system that an export reads."""

    def count(self, filter: Filter | None = None) -> int: ...

    def links(self, id: str) -> Sequence[Link]: ...

    def sources(self, ids: Sequence[str]) -> dict[str, list[Source]]: ...

    def history(self, id: str) -> Sequence[Version]: ...

    def list(
        self, filter: Filter | None = None, *, limit: int = 50, offset: int = 0, order: str = "time"
    ) -> Sequence[MemoryNote]: ...


def exported(
    collection: Collection, filter: Filter = EVERYTHING, *, versions: bool = False
) -> Iterator[dict[str, Any]]:
    """One JSON-ready record for each note, in the order in which they arrived."""
    total = collection.count(filter)
    for end in range(total, 0, -_PAGE):
        # Pages come newest first, so the oldest is the last of the last page.
        start = max(0, end - _PAGE)
        page = list(collection.list(filter, limit=end - start, offset=start, order="recorded"))[::-1]
        sources = collection.sources([note.id for note in page])
        for note in page:
            record = {EXPORT_MARK: SHAPE} | note_record(note)
            record["links_out"] = [link_record(link) for link in collection.links(note.id)]
            record["sources"] = [source_record(source) for source in sources[note.id]]
            if versions:
                record["versions"] = [version_record(version) for version in collection.history(note.id)]
            yield record
