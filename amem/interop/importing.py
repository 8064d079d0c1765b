"""Notes from any reader into a collection: in batches, each once, then the links between them."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from amem.clock import SystemClock
from amem.errors import AmbiguousId, NoteNotFound
from amem.interop.items import Incoming, Read, Refused, Wanted
from amem.interop.settle import Debts
from amem.note import Link
from amem.query import Filter
from amem.text.link_names import link_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from amem.errors import AmemError
    from amem.interop.items import Standing
    from amem.note import MemoryNote
    from amem.receipt import Receipt
    from amem.writing.intake import NewNote

#: Notes handed on as one operation; a longer import is several, so that it never has to fit into memory.
CHUNK = 5_000
#: Skipped places kept for the report; past that only their number counts.
_REMEMBERED = 1_000


class Collection(Protocol):
    """The part of a memory system that an import needs."""

    actor: str

    def add_notes(
        self,
        items: Sequence[NewNote],
        *,
        cause: str,
        action: str,
        progress: Callable[[int, int], None] | None,
        on_refused: Callable[[int, AmemError], None] | None,
    ) -> list[Receipt]: ...

    def read(self, id: str) -> MemoryNote | None: ...

    def resolve(self, prefix: str, *, deleted: bool = False) -> str: ...

    def settle(self, debts: Debts, *, cause: str) -> int: ...

    def list(self, filter: Filter | None = None, *, limit: int = 50) -> list[MemoryNote]: ...


@dataclass(slots=True)
class ImportReport:
    """What an import did. `skipped` holds what was refused and why (the first thousand; `refused` counts all)."""

    imported: int = 0
    duplicates: int = 0
    refused: int = 0
    skipped: list[Refused] = field(default_factory=list)
    links: int = 0
    evolved: int = 0
    queued: int = 0
    degraded: int = 0
    operations: list[int] = field(default_factory=list)

    def problems(self) -> list[Refused]:
        """What was refused, in the order in which it stood."""
        return sorted(self.skipped, key=lambda each: [int(part) if part.isdigit() else part for part in _split(each)])

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "imported": self.imported,
            "duplicates": self.duplicates,
            "skipped": self.refused,
            "problems": [{"where": each.where, "why": each.why} for each in self.problems()],
            "links": self.links,
            "evolved": self.evolved,
            "queued": self.queued,
            "degraded": self.degraded,
            "operations": list(self.operations),
        }


def _split(refused: Refused) -> list[str]:
    # Texts and numbers alternate, so that two places always compare.
    return re.split(r"(\d+)", refused.where)


class Importer:
    """Takes what a reader yields into one collection; `report` grows as it goes and is true even after an error."""

    def __init__(
        self,
        collection: Collection,
        *,
        cause: str,
        progress: Callable[[int, int | None], None] | None = None,
        on_receipt: Callable[[Receipt], None] | None = None,
    ) -> None:
        self._collection = collection
        self._cause = cause
        self._progress = progress
        self._on_receipt = on_receipt
        self._seen: set[str] = set()
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._wanted: list[tuple[str, Wanted]] = []
        self._stored: set[str] = set()
        self._standing: dict[str, Standing] = {}
        self.report = ImportReport()
        #: Notes dealt with, batch by batch; ahead of the report, which grows by larger steps.
        self.done = 0

    def run(self, items: Iterable[Read]) -> ImportReport:
        """Import everything. `progress` hears (notes done, of how many; None while the end is not in sight)."""
        stream = iter(items)
        chunk = self._next(stream)
        while chunk:
            following = self._next(stream)
            self._store(chunk, last=not following)
            chunk = following
        standing = {
            id: replace(
                each,
                superseded_by=self._ids.get(each.superseded_by or "", each.superseded_by),
                overturned=tuple(replace(told, by=self._ids.get(told.by, told.by)) for told in each.overturned),
            )
            for id, each in self._standing.items()
        }
        parent = self.report.operations[-1] if self.report.operations else None
        debts = Debts(list(self._links()), standing, parent)
        if debts:
            self.report.links += self._collection.settle(debts, cause=self._cause)
        return self.report

    def _next(self, stream: Iterator[Read]) -> list[Incoming]:
        return list(islice(self._usable(stream), CHUNK))

    def _usable(self, stream: Iterator[Read]) -> Iterator[Incoming]:
        for item in stream:
            if isinstance(item, Refused):
                self._refuse(item)
            elif self._is_repeated(item):
                self.report.duplicates += 1
            else:
                yield self._with_id(item)

    def _is_repeated(self, item: Incoming) -> bool:
        """Whether this very input came before: earlier in this import, or under the id it was exported with."""
        source = item.note.source
        if source is not None and source.id in self._seen:
            return True
        if source is not None:
            self._seen.add(source.id)
        held = None if item.id is None else self._collection.read(item.id)
        if held is None or held.content != item.note.content:
            return False
        self._ids[held.id] = held.id
        return True

    def _with_id(self, item: Incoming) -> Incoming:
        """Keep the id a note brings along where it is free; else it gets a new one, and links to it follow."""
        if item.id is None or item.id in self._ids or not self._is_free(item.id):
            return item
        self._ids[item.id] = item.id
        return replace(item, note=replace(item.note, fields={**item.note.fields, "id": item.id}))

    def _is_free(self, id: str) -> bool:
        try:
            return self._collection.resolve(id, deleted=True) != id
        except (NoteNotFound, AmbiguousId):
            return True

    def _refuse(self, refused: Refused) -> None:
        self.report.refused += 1
        if len(self.report.skipped) < _REMEMBERED:
            self.report.skipped.append(refused)

    def _store(self, chunk: list[Incoming], *, last: bool) -> None:
        refused: set[int] = set()

        def on_refused(position: int, error: AmemError) -> None:
            refused.add(position)
            self._refuse(Refused(chunk[position].where, str(error)))

        before = self.report.imported + self.report.duplicates

        def progress(done: int, total: int) -> None:
            self.done = before + done
            if self._progress is not None:
                self._progress(before + done, before + total if last else None)

        receipts = deque(
            self._collection.add_notes(
                [item.note for item in chunk],
                cause=self._cause,
                action="import",
                progress=progress,
                on_refused=on_refused,
            )
        )
        for position, item in enumerate(chunk):
            if position not in refused:
                self._note(item, receipts.popleft())

    def _note(self, item: Incoming, receipt: Receipt) -> None:
        report = self.report
        if receipt.stored:
            self._stored.add(receipt.id)
            report.imported += 1
            report.links += len(receipt.links)
            report.evolved += len(receipt.evolved)
            report.queued += len(receipt.queued)
            report.degraded += receipt.error is not None
            if item.standing is not None:
                self._standing[receipt.id] = item.standing
        else:
            report.duplicates += 1
        if receipt.operation is not None and receipt.operation not in report.operations:
            report.operations.append(receipt.operation)
        if item.id is not None:
            self._ids[item.id] = receipt.id
        for name in item.names:
            self._names.setdefault(link_name(name), receipt.id)
        self._wanted += [(receipt.id, wanted) for wanted in item.wanted]
        if self._on_receipt is not None:
            self._on_receipt(receipt)

    def _links(self) -> Iterator[Link]:
        now = SystemClock().now()
        for source, wanted in self._wanted:
            target = self._target(wanted)
            # A link between two notes that were here already is as people left it.
            if target is not None and target != source and not self._stored.isdisjoint((source, target)):
                maker = wanted.made_by or self._collection.actor
                at = wanted.at or now
                yield Link(source, target, wanted.type, wanted.reason, wanted.confidence, maker, at)

    def _target(self, wanted: Wanted) -> str | None:
        if wanted.by_id:
            # A link of an export may point to a note that is not there (yet), as any link may.
            return self._ids.get(wanted.target, wanted.target)
        name = link_name(wanted.target)
        if name not in self._names:
            held = self._collection.list(Filter(metadata={"title": wanted.target}), limit=1)
            if held:
                self._names[name] = held[0].id
        return self._names.get(name)
