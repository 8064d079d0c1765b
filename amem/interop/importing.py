"""Notes from any reader into a collection: in batches, each once, with the links between them and their standing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from amem.clock import SystemClock
from amem.errors import AmbiguousId, NoteNotFound
from amem.interop.items import Incoming, Read, Refused, Wanted
from amem.interop.settle import Debts, settle
from amem.note import Link
from amem.query import Filter
from amem.text.link_names import link_name
from amem.visible import is_plain_name, visible_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from amem.errors import AmemError
    from amem.interop.items import Standing
    from amem.note import MemoryNote
    from amem.receipt import Receipt
    from amem.storage import Session
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
        at_last: Callable[[Session, Sequence[Receipt]], None] | None,
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
        self._taken: set[str] = set()
        #: Which note an id or a name of the input means, of those that have come.
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        #: What waits for a note that has not come yet.
        self._wanted: list[tuple[str, Wanted]] = []
        self._standing: dict[str, Standing] = {}
        self._stored: set[str] = set()
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
        parent = self.report.operations[-1] if self.report.operations else None
        self._settle(replace(self._owed(last=True), parent=parent))
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
        self._found(item, held.id)
        return True

    def _with_id(self, item: Incoming) -> Incoming:
        """Keep the id a note brings where it is free and plain; else it gets a new one, and links to it follow."""
        if item.id is None or item.id in self._taken or not is_plain_name(item.id) or not self._is_free(item.id):
            return item
        self._taken.add(item.id)
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

        accepted = (item for position, item in enumerate(chunk) if position not in refused)

        def settle_at_once(session: Session, receipts: Sequence[Receipt]) -> None:
            # In one commit with the notes: an import that is killed leaves none of them without what is owed by then.
            for receipt, item in zip(receipts, accepted, strict=False):
                if receipt.stored:
                    self._stored.add(receipt.id)
                self._found(item, receipt.id)
            parent = next((each.operation for each in receipts if each.operation is not None), None)
            debts = replace(self._owed(), parent=parent)
            self.report.links += settle(session, debts, actor=self._collection.actor, cause=self._cause)

        receipts = self._collection.add_notes(
            [item.note for item in chunk],
            cause=self._cause,
            action="import",
            progress=progress,
            on_refused=on_refused,
            at_last=settle_at_once,
        )
        for receipt in receipts:
            self._count(receipt)
        self._settle(self._owed())

    def _settle(self, debts: Debts) -> None:
        if debts:
            self.report.links += self._collection.settle(debts, cause=self._cause)

    def _found(self, item: Incoming, id: str) -> None:
        """Remember which note an item became, and what is owed to it."""
        if item.id is not None:
            self._ids[item.id] = id
        for name in item.names:
            self._names.setdefault(link_name(name), id)
        self._wanted += [(id, wanted) for wanted in item.wanted]
        if item.standing is not None:
            self._standing[id] = item.standing

    def _count(self, receipt: Receipt) -> None:
        report = self.report
        if receipt.stored:
            report.imported += 1
            report.links += len(receipt.links)
            report.evolved += len(receipt.evolved)
            report.queued += len(receipt.queued)
            report.degraded += receipt.error is not None
        else:
            report.duplicates += 1
        if receipt.operation is not None and receipt.operation not in report.operations:
            report.operations.append(receipt.operation)
        if self._on_receipt is not None:
            self._on_receipt(receipt)

    def _owed(self, *, last: bool = False) -> Debts:
        """What can be paid now; what waits for a note that may still come is kept, unless these were the `last`."""
        links, waiting = [], []
        now = SystemClock().now()
        for source, wanted in self._wanted:
            target = self._target(wanted, last=last)
            if target is None:
                waiting.append((source, wanted))
            elif target != source:
                maker, at = wanted.made_by or self._collection.actor, wanted.at or now
                links.append(Link(source, target, wanted.type, wanted.reason, wanted.confidence, maker, at))
        standing = {id: self._renamed(each) for id, each in self._standing.items()}
        # Paid at once, so that nothing overturned ever stands; again where what it names comes under another id.
        self._standing = {id: each for id, each in self._standing.items() if not last and self._waits(each)}
        self._wanted = waiting
        return Debts(links, standing, self._stored)

    def _now(self, id: str) -> str:
        """The id that a note of the export has here; '' for one that no note may have."""
        now = self._ids.get(id, id)
        return now if is_plain_name(now) else ""

    def _target(self, wanted: Wanted, *, last: bool) -> str | None:
        if wanted.by_id:
            if wanted.target not in self._ids and not last:
                return None
            # A link of an export may point to a note that is not there (yet), as any link may.
            target = self._now(wanted.target)
            if not target:
                self._refuse(Refused(f"link to {visible_name(wanted.target)}", "its id holds control characters"))
            return target or None
        name = link_name(wanted.target)
        if name not in self._names and last:
            held = self._collection.list(Filter(metadata={"title": wanted.target}), limit=1)
            if held:
                self._names[name] = held[0].id
        return self._names.get(name)

    def _renamed(self, standing: Standing) -> Standing:
        return replace(
            standing,
            superseded_by=self._now(standing.superseded_by or "") or None,
            overturned=tuple(replace(told, by=self._now(told.by)) for told in standing.overturned),
        )

    def _waits(self, standing: Standing) -> bool:
        named = [standing.superseded_by, *(told.by for told in standing.overturned)]
        return any(id and id not in self._ids for id in named)
