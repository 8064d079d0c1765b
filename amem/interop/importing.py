"""Notes from any reader into a collection: in batches, each once, with the links between them and their standing.

Files that were imported before are brought up to date (`amem.interop.file_update`); everything is one operation.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice
from typing import TYPE_CHECKING, Any, Protocol

from amem.clock import SystemClock
from amem.errors import AmbiguousId, AmemError, InvalidInput, NoteNotFound
from amem.interop.file_update import Fate, FilePlan, Kept, KnownFiles
from amem.interop.items import Emptied, Incoming, Listing, Read, Refused, Standing, Wanted, source_id
from amem.interop.settle import Debts, drop_text_links, settle
from amem.interop.wikilinks import wanted_links
from amem.labels import counted, is_plain_name, short_id, visible_name
from amem.language.scripts import link_name
from amem.note import FILE, Link, LinkType, MemoryNote, Receipt, Status, plain_fields
from amem.query import Filter
from amem.writing.revising import Change, Revised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from amem.storage.store import Session
    from amem.storage.whole import FileNote
    from amem.writing.intake import NewNote
    from amem.writing.restoring import Exported

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
        parent: int | None,
        progress: Callable[[int, int], None] | None,
        on_refused: Callable[[int, AmemError], None] | None,
        at_last: Callable[[Session, Sequence[Receipt]], None] | None,
    ) -> list[Receipt]: ...

    def read(self, id: str) -> MemoryNote | None: ...

    def resolve(self, prefix: str, *, deleted: bool = False) -> str: ...

    def settle(self, debts: Debts, *, cause: str) -> int: ...

    def restore_notes(
        self,
        items: Sequence[Exported],
        *,
        cause: str,
        parent: int | None,
        progress: Callable[[int, int], None] | None,
        on_refused: Callable[[int, AmemError], None],
        at_last: Callable[[Session, Sequence[Receipt]], None],
    ) -> list[Receipt]: ...

    def revise(
        self,
        changes: Sequence[Change],
        hidden: Sequence[str],
        *,
        action: str,
        cause: str,
        parent: int | None,
        progress: Callable[[int, int], None] | None,
        at_last: Callable[[Session, int], None] | None,
    ) -> Revised: ...

    def file_notes(self) -> Sequence[FileNote]: ...

    def notes_of_sources(self, ids: Sequence[str]) -> dict[str, str]: ...

    def notes_titled(self, titles: Sequence[str]) -> dict[str, str]: ...

    def count(self, filter: Filter | None = None) -> int: ...


@dataclass(slots=True)
class ImportReport:
    """What an import did. `skipped` holds what was refused and why (the first thousand; `refused` counts all).

    `imported` counts new notes, `duplicates` those that were known and stay as they are; `files` counts files by what
    became of them, `empty` those without any text. `kept` are notes that are not what their files say, since somebody
    changed them in amem.
    """

    imported: int = 0
    duplicates: int = 0
    refused: int = 0
    skipped: list[Refused] = field(default_factory=list)
    links: int = 0
    evolved: int = 0
    queued: int = 0
    degraded: int = 0
    operations: list[int] = field(default_factory=list)
    files: dict[Fate, int] = field(default_factory=lambda: dict.fromkeys(Fate, 0))
    empty: int = 0
    kept: list[Kept] = field(default_factory=list)

    def problems(self) -> list[Refused]:
        """What was refused, in the order in which it stood."""
        return sorted(self.skipped, key=lambda each: [int(part) if part.isdigit() else part for part in _split(each)])

    def summary(self) -> str:
        """``imported 2 notes, skipped 1``, ``files: 3 unchanged, 1 updated; 2 new notes``."""
        parts = [f"imported {counted(self.imported, 'note')}"]
        files = {fate: number for fate, number in self.files.items() if number}
        if files.keys() - {Fate.NEW}:
            said = ", ".join(f"{number:,} {fate}" for fate, number in files.items())
            parts = [f"files: {said}" + (f"; {counted(self.imported, 'new note')}" if self.imported else "")]
        elif files:
            parts[0] += f" from {counted(files[Fate.NEW], 'file')}"
        elif self.duplicates:
            parts.append(f"{self.duplicates:,} known already")
        more = {
            f"{counted(self.empty, 'empty file')} skipped": self.empty,
            f"skipped {self.refused:,}": self.refused,
            counted(self.links, "link"): self.links,
            counted(self.evolved, "rewrite"): self.evolved,
            f"{self.queued:,} to review": self.queued,
            f"{self.degraded:,} to finish with amem enrich": self.degraded,
        }
        return ", ".join(parts + [words for words, number in more.items() if number])

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        counts = {"imported": self.imported, "duplicates": self.duplicates, "skipped": self.refused}
        own = plain_fields(self, "imported", "duplicates", "refused", "skipped")
        return counts | {"problems": list(map(plain_fields, self.problems()))} | own


def _split(refused: Refused) -> list[str]:
    # Texts and numbers alternate, so that two places always compare.
    return re.split(r"(\d+)", refused.where)


def _section_name(name: str, heading: str) -> str:
    """What a link to a heading of a note is compared by."""
    return f"{link_name(name)}#{link_name(heading)}"


def _awaited_names(wanted: Wanted) -> list[str]:
    """Under which ids and names the note may come that a link waits for."""
    places = [each for each in (wanted.beside, wanted.target) if each]
    if wanted.by_id:
        return [wanted.target]
    return [_section_name(each, wanted.heading) if wanted.heading else link_name(each) for each in places]


def _file_of(items: Sequence[Incoming]) -> str:
    place = items[0].place
    assert place is not None
    return place.file


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
        #: Links that are owed, and by number those that wait for a note that has not come yet, under each of its names.
        self._wanted: list[tuple[str, Wanted]] = []
        self._waiting: dict[int, tuple[str, Wanted]] = {}
        self._awaited: defaultdict[str, list[int]] = defaultdict(list)
        self._numbers = count()
        self._standing: dict[str, Standing] = {}
        self._stored: set[str] = set()
        #: Of files: which are known, and what is to be done about those that have changed.
        self._known: KnownFiles | None = None
        self._plans: list[FilePlan] = []
        #: Files, absolute, something new of which cannot be kept: all that is known of them stays as it is.
        self._unusable: set[str] = set()
        self._parent: int | None = None
        #: Whether exported notes are put back as they were: None until the first comes.
        self._restores: bool | None = None
        self.report = ImportReport()
        #: Notes dealt with, batch by batch; ahead of the report, which grows by larger steps.
        self.done = 0

    def run(self, items: Iterable[Read]) -> ImportReport:
        """Import everything. `progress` hears (notes done, of how many; None while the end is not in sight)."""
        stream = self._usable(iter(items))
        chunk = self._with_own_sources(list(islice(stream, CHUNK)))
        while chunk:
            following = self._with_own_sources(list(islice(stream, CHUNK)))
            for whole, part in self._parted(chunk):
                self._store(part, last=not following, whole=whole)
            chunk = following
        if self._known is not None:
            self._update(self._known)
        self._settle(self._owed(last=True))
        return self.report

    def _usable(self, stream: Iterator[Read]) -> Iterator[Incoming]:
        """What is to be stored: of a file that is known, only what is new in it."""
        file: list[Incoming] = []
        for item in stream:
            if file and not (isinstance(item, Incoming) and item.place and item.place.file == _file_of(file)):
                yield from self._new_of(file)
                file = []
            if isinstance(item, Refused):
                self._refuse(item)
            elif isinstance(item, Listing):
                self._known = KnownFiles(self._collection.file_notes(), item, os.path.lexists)
            elif isinstance(item, Emptied):
                self.report.empty += 1
                if self._known is not None and item.file is not None:
                    self._known.emptied(item.file)
            elif item.place is not None and self._known is not None:
                file.append(item)
            elif self._is_repeated(item):
                self.report.duplicates += 1
            else:
                yield self._with_id(item)
        if file:
            yield from self._new_of(file)

    def _new_of(self, file: list[Incoming]) -> list[Incoming]:
        """What is new in a file; what else is to be done about it is kept for later."""
        assert self._known is not None
        once: dict[str, Incoming] = {}
        for item in file:
            once.setdefault(item.where if item.note.source is None else item.note.source.id, item)
        self.report.duplicates += len(file) - len(once)
        file = list(once.values())
        if (held := self._note_of(file[0])) is not None:
            hint = f"amem edit {short_id(held)} changes it, amem vault sync a folder of such files"
            self._refuse(Refused(file[0].where, f"it is the file of note {short_id(held)}: {hint}"))
            return []
        try:
            plan = self._known.plan(file)
        except InvalidInput as error:
            self._refuse(Refused(file[0].where, str(error)))
            return []
        for note, item in plan.same:
            self._found(item, note.id)
        if plan.fate is not Fate.NEW:
            self._plans.append(plan)
        self.report.files[plan.fate] += 1
        self.report.duplicates += len(plan.same)
        self.report.kept += plan.kept
        return plan.fresh

    def _note_of(self, item: Incoming) -> str | None:
        """The note here whose file, as a vault or an export has it, this is; None for a file of a person's own."""
        id = item.note.fields["metadata"].get("id")
        note = self._collection.read(id) if isinstance(id, str) else None
        return None if note is None or FILE in note.metadata else note.id

    def _with_own_sources(self, items: list[Incoming]) -> list[Incoming]:
        """Have no item of a file come from the source of another's note by now, a renamed file's for instance.

        A note that knows no file, as those of texts once did, is the item itself.
        """
        of_files = [item.note.source for item in items if item.place is not None and item.note.source is not None]
        if self._known is None or not of_files:
            return items
        known = self._collection.notes_of_sources([source.id for source in of_files])
        own = []
        for item in items:
            source = item.note.source
            if (
                item.place is not None
                and source is not None
                and source.id in known
                and self._is_of_a_file(known[source.id])
            ):
                source = replace(source, id=source_id(source.id, known[source.id]))
                item = replace(item, note=replace(item.note, source=source))
            own.append(item)
        return own

    def _is_of_a_file(self, id: str) -> bool:
        note = self._collection.read(id)
        return note is None or FILE in note.metadata

    def _update(self, known: KnownFiles) -> None:
        """Bring the notes of known files up to date, and hide those of files that are gone: one transaction."""
        for plan in known.gone():
            self._plans.append(plan)
            self.report.files[Fate.GONE] += 1
            self.report.kept += plan.kept
        plans = [plan for plan in self._plans if plan.file not in self._unusable]
        revisions = {each.note.id: each for plan in plans for each in plan.revised}
        for each in revisions.values():
            if each.item is not None:
                self._found(each.item, each.note.id)
        self._names_of(known)
        changes = [Change(each.note.id, each.note.version, each.fields, each.back) for each in revisions.values()]
        hidden = [note.id for plan in plans for note in plan.hidden]

        def settle_at_once(session: Session, operation: int) -> None:
            self._relink(session, plans, operation)
            debts = replace(self._owed(last=True), parent=operation)
            self.report.links += settle(session, debts, actor=self._collection.actor, cause=self._cause)

        if not (changes or hidden):
            return
        done = self._collection.revise(
            changes,
            hidden,
            action="import",
            cause=self._cause,
            parent=self._parent,
            progress=None if self._progress is None else self._progress,
            at_last=settle_at_once,
        )
        for id, why in done.refused.items():
            self._refuse(Refused(str(revisions[id].note.metadata.get("path", id)), why))
        for id in done.stale:
            where = str(revisions[id].note.metadata.get("path", id))
            self.report.kept.append(Kept(where, id, "was changed while its file was read; import again"))
        if done.operation is not None and self._parent is None:
            self._began(done.operation)

    def _relink(self, session: Session, plans: Sequence[FilePlan], operation: int) -> None:
        """Take away the links that changed notes no longer have by what their files say now."""
        changed = (each.item for plan in plans for each in plan.revised if each.item is not None)
        same = (item for plan in plans for _, item in plan.same)
        self._look_up(wanted for item in chain(changed, same) for wanted in item.wanted)
        for plan in plans:
            pieces = [*((each.note, each.item) for each in plan.revised if each.item), *plan.same]
            ids = {note.id for note, _ in pieces} | {note.id for note in plan.hidden}
            for each in plan.revised:
                if each.item is None or not each.rewords:
                    continue
                wanted = {(self._target(one, last=True) or "", one.reason) for one in each.item.wanted}
                drop_text_links(session, each.note.id, wanted, operation)
            for note, item in pieces:
                first = {self._target(one, last=True) for one in item.wanted if one.type is LinkType.PART_OF}
                for link in session.links.of(note.id):
                    if link.type is LinkType.PART_OF and link.target in ids - first:
                        session.links.remove(note.id, link.target, link.type, operation)

    def _names_of(self, known: KnownFiles) -> None:
        """Have links find notes whose files were not read this time, and theirs find what has come now."""
        fresh = dict(self._names)
        for name, heading, id in known.names():
            self._names.setdefault(_section_name(name, heading) if heading else link_name(name), id)
        if not self._stored:
            return
        for note in known.unseen():
            for wanted in wanted_links(note.content) if "[" in note.content else ():
                part = self._names.get(_section_name(wanted.target, wanted.heading)) if wanted.heading else None
                if (part or fresh.get(link_name(wanted.target))) in self._stored:
                    self._wanted.append((note.id, wanted))

    def _is_repeated(self, item: Incoming) -> bool:
        """Whether this very input came before: earlier in this import, or under the id it was exported with."""
        source = item.note.source
        # Of an export, notes may share a source: what was learnt from a message, and the episode that it is.
        told_apart = item.note.distinct and item.id is not None and item.id not in self._taken
        if source is not None and source.id in self._seen and not told_apart:
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
            return replace(item, note=replace(item.note, distinct=False))
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

    def _parted(self, chunk: list[Incoming]) -> list[tuple[bool, list[Incoming]]]:
        """The notes that are put back as they were, and those that are new: True and False with each."""
        if self._restores is None and any(item.exported for item in chunk):
            # All that is there came from the same export, by an import that was stopped.
            self._restores = self._collection.count(Filter(statuses=tuple(Status))) == len(self._ids)
        parts: dict[bool, list[Incoming]] = {True: [], False: []}
        for item in chunk:
            parts[bool(self._restores and item.exported and "id" in item.note.fields)].append(item)
        return [(whole, part) for whole, part in parts.items() if part]

    def _store(self, chunk: list[Incoming], *, last: bool, whole: bool = False) -> None:
        refused: set[int] = set()

        def on_refused(position: int, error: AmemError) -> None:
            refused.add(position)
            place = chunk[position].place
            if place is not None:
                self._unusable.add(place.file)
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
            self._began(next((each.operation for each in receipts if each.operation is not None), None))
            debts = self._owed()
            self.report.links += settle(session, debts, actor=self._collection.actor, cause=self._cause)

        if whole:
            receipts = self._collection.restore_notes(
                [item.exported for item in chunk if item.exported is not None],
                cause=self._cause,
                parent=self._parent,
                progress=progress,
                on_refused=on_refused,
                at_last=settle_at_once,
            )
        else:
            receipts = self._collection.add_notes(
                [item.note for item in chunk],
                cause=self._cause,
                action="import",
                parent=self._parent,
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

    def _began(self, operation: int | None) -> None:
        """Remember the operation that everything else of this import is a part of."""
        if self._parent is None and operation is not None:
            self._parent = operation
            self.report.operations.append(operation)

    def _found(self, item: Incoming, id: str) -> None:
        """Remember which note an item became, and what is owed to it."""
        names = [link_name(name) for name in item.names]
        names += [_section_name(name, heading) for name, heading in item.sections]
        for name in names:
            self._names.setdefault(name, id)
        if item.id is not None:
            self._ids[item.id] = id
            names.append(item.id)
        awaited = (number for name in names for number in self._awaited.pop(name, ()))
        self._wanted += [self._waiting.pop(number) for number in awaited if number in self._waiting]
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
        if self._on_receipt is not None:
            self._on_receipt(receipt)

    def _owed(self, *, last: bool = False) -> Debts:
        """What can be paid now; what waits for a note that may still come is kept, unless these were the `last`."""
        links = []
        now = SystemClock().now()
        if last:
            self._wanted = [*self._waiting.values(), *self._wanted]
            self._waiting.clear()
            self._look_up(wanted for _, wanted in self._wanted)
        for source, wanted in self._wanted:
            target = self._target(wanted, last=last)
            if target is None:
                number = next(self._numbers)
                self._waiting[number] = source, wanted
                for name in _awaited_names(wanted):
                    self._awaited[name].append(number)
            elif target != source:
                maker, at = wanted.made_by or self._collection.actor, wanted.at or now
                links.append(Link(source, target, wanted.type, wanted.reason, wanted.confidence, maker, at))
        standing = {id: self._renamed(each) for id, each in self._standing.items()}
        # Paid at once, so that nothing overturned ever stands; again where what it names comes under another id.
        self._standing = {id: each for id, each in self._standing.items() if not last and self._waits(each)}
        self._wanted = []
        return Debts(links, standing, self._stored, self._parent)

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
        places = [each for each in (wanted.beside, wanted.target) if each]
        if wanted.heading:
            # One that is no note of its own is in the note of its file.
            parts = (self._names.get(_section_name(each, wanted.heading)) for each in places)
            part = next((each for each in parts if each is not None), None)
            if part is not None or not last:
                return part
        return next((self._names[name] for each in places if (name := link_name(each)) in self._names), None)

    def _look_up(self, wanted: Iterable[Wanted]) -> None:
        """Have these find the notes that were here before by their titles, all at once."""
        missing = {
            each.target for each in wanted if each.target and not (each.by_id or link_name(each.target) in self._names)
        }
        for title, id in self._collection.notes_titled(sorted(missing)).items() if missing else ():
            self._names.setdefault(link_name(title), id)

    def _renamed(self, standing: Standing) -> Standing:
        return replace(
            standing,
            superseded_by=self._now(standing.superseded_by or "") or None,
            overturned=tuple(replace(told, by=self._now(told.by)) for told in standing.overturned),
        )

    def _waits(self, standing: Standing) -> bool:
        named = [standing.superseded_by, *(told.by for told in standing.overturned)]
        return any(id and id not in self._ids for id in named)
