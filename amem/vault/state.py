"""One sync: what its steps know of both sides, what these agreed on last, and the report of what was done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from amem.errors import AmemError, NoteTooLong
from amem.interop.decoding import refusal
from amem.note import MemoryNote, Plain, Receipt, Status
from amem.vault.folder import Changed, Folder, Stat
from amem.vault.note_file import NoteFile, read_note_file
from amem.vault.pages import Index, Led, Refs, Said, said_by_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import tzinfo

    from amem.clock import Clock
    from amem.settings import Settings
    from amem.storage.store import Session, Store
    from amem.storage.vaults import KnownFile, KnownVault, Standing
    from amem.vault.look import Look, Seen
    from amem.writing.intake import NewNote


#: Why a file is destroyed and not put into the trash.
PURGED = "its note was purged"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done: what to which file and note. `note` is '' where there is none."""

    what: str
    path: str
    note: str = ""
    more: str = ""


@dataclass(slots=True)
class SyncReport(Plain):
    """What went from files to notes, from notes to files, and what a person has to look at.

    To notes goes what was ``added``, ``changed``, ``merged``, ``renamed``, ``deleted``, ``restored`` and ``linked``; to
    files what was ``written``, ``updated``, ``put back`` and ``removed``. `conflicts` are those of this sync, `waiting`
    the files of earlier ones that are still there. `problems` are files that were left alone, with the reason;
    `remarks` are words about files that were not; `empty` are files that become notes once they have some text.
    `operation` takes back all that went to notes, None when nothing did.
    """

    folder: str
    dry_run: bool = False
    to_notes: list[Step] = field(default_factory=list)
    to_files: list[Step] = field(default_factory=list)
    conflicts: list[Step] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    problems: list[Step] = field(default_factory=list)
    remarks: list[Step] = field(default_factory=list)
    matching: int = 0
    operation: int | None = None

    @property
    def in_trash(self) -> list[Step]:
        """The files that were moved to the folder's trash, as their notes are not active; not those of purged notes."""
        return [step for step in self.to_files if step.what == "removed" and step.more != PURGED]

    @property
    def is_quiet(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.to_notes or self.to_files or self.conflicts)


#: Where topic pages are.
TOPICS = "Topics"
NOTHING = Refs()


class Memory(Protocol):
    """The part of a memory system that a sync needs."""

    actor: str
    settings: Settings

    def add_notes(
        self,
        items: Sequence[NewNote],
        *,
        cause: str,
        action: str,
        on_refused: Callable[[int, AmemError], None] | None,
    ) -> list[Receipt]: ...

    def update(self, id_or_note: str, **fields: Any) -> bool: ...

    def delete_notes(self, ids: Sequence[str]) -> int: ...

    def restore(self, id: str) -> bool: ...


@dataclass(slots=True)
class Notes:
    """The notes as they are at one moment: all by their standing, and those that were asked for."""

    standing: Mapping[str, Standing]
    counter: int
    operation: int
    read: dict[str, MemoryNote]
    links: dict[str, list[Led]]

    def is_active(self, id: str) -> bool:
        return id in self.standing and self.standing[id].status == Status.ACTIVE


@dataclass(frozen=True, slots=True)
class Edit:
    """What a file asks of its note: fields to set, links to make and to take away."""

    seen: Seen
    fields: dict[str, Any]
    make: tuple[tuple[str, str, str], ...] = ()
    drop: tuple[tuple[str, str], ...] = ()
    what: str = "changed"
    conflicts: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether there is anything to do to the note."""
        return bool(self.fields or self.make or self.drop)


@dataclass(slots=True)
class State:
    """One sync under way. `vault` is None in a dry run of a folder that was never synced.

    `started_ns` is when the folder was looked through,
    `base_texts` are texts of files as both sides agreed on them last, as far as they were asked for; `done` is what is
    to be remembered as agreed on; `conflicts` are what files ask of notes that say otherwise; `let_go` are notes that a
    dry run would hide.
    """

    memory: Memory
    store: Store
    clock: Clock
    zone: tzinfo
    folder: Folder
    vault: KnownVault | None
    dry: bool
    report: SyncReport
    look: Look
    started_ns: int
    known: Mapping[str, KnownFile]
    refs: Mapping[str, Refs]
    base_texts: dict[str, str] = field(default_factory=dict)
    conflicts: dict[str, Edit] = field(default_factory=dict)
    done: list[tuple[KnownFile, str]] = field(default_factory=list)
    let_go: frozenset[str] = frozenset()

    def notes(self, ids: Iterable[str]) -> Notes:
        """The notes as they are now, with those of these ids and those that changed since the last sync."""
        with self.store.read() as session:
            counter, operation = session.counter, session.operations.count()
            standing = session.vaults.standing()
            if self.let_go:
                standing |= session.vaults.standing_without(self.let_go)
            wanted = {id for id in ids if id in standing}
            wanted |= self._changed(session, standing)
            read = session.notes.get_many(
                [id for id in standing if id in wanted], history=False, usage=False, deleted=True
            )
            links = session.vaults.links_from(read)
        return Notes(standing, counter, operation, read, links)

    def _changed(self, session: Session, standing: Mapping[str, Standing]) -> set[str]:
        """Notes that changed since the last sync, or never had a file."""
        vault = self.vault
        if vault is None:
            return set(standing)
        found = {
            id
            for id, each in standing.items()
            if each.seq > vault.counter
            or (each.status == Status.ACTIVE and (id not in self.known or self.known[id].gone))
        }
        if session.operations.count() > vault.operation:
            found |= {id for id in session.vaults.relinked(vault.operation) if id in standing}
        return found

    def index(self) -> Index:
        """Names and notes as the files have them now."""
        paths = {id: path for id, (path, _) in self.look.same.items()}
        paths |= {id: seen.path for id, seen in self.look.seen.items()}
        paths |= {id: self.known[id].path for id in self.look.blocked if id in self.known and self.known[id].path}
        return Index(paths, self.aliases())

    def aliases(self) -> dict[str, Sequence[str]]:
        """By which other names the files of notes go."""
        aliases: dict[str, Sequence[str]] = {id: refs.aliases for id, refs in self.refs.items() if refs.aliases}
        return aliases | {id: seen.file.aliases for id, seen in self.look.seen.items()}

    def base(self, id: str) -> tuple[NoteFile | None, Said | None]:
        """The file as both sides agreed on it, and what it says; None for none."""
        text = self.base_text(id)
        if not text:
            return None, None
        file = read_note_file(text.encode(), self.known[id].path)
        return file, said_by_file(file, None, self.refs[id], self.zone)[0]

    def base_text(self, id: str) -> str:
        """The text of the file as both sides agreed on it; '' for none."""
        if id not in self.base_texts and id in self.known and self.vault is not None:
            with self.store.read() as session:
                self.base_texts |= session.vaults.texts(self.vault.id, [id])
        return self.base_texts.get(id, "")

    def destroy(self, path: str, stat: Stat, id: str, why: str) -> None:
        """Remove a file for good, and say so. Raises Changed."""
        self.report.to_files.append(Step("removed", path, id, why))
        if not self.dry:
            self.folder.destroy(path, expect=stat)

    def to_trash(self, path: str, stat: Stat, id: str, why: str) -> None:
        """Move a file to the trash, and say so and where it is then. Raises Changed."""
        self.report.to_files.append(
            Step("removed", path, id, f"{why}; the file is kept as {self.folder.trashed(path)}")
        )
        if not self.dry:
            self.folder.to_trash(path, expect=stat)

    def remember(self) -> None:
        """Store what is `done`."""
        if self.done and self.vault is not None and not self.dry:
            with self.store.write() as session:
                session.vaults.put(self.vault.id, self.done)
            self.done.clear()

    def problem(self, path: str, why: object) -> None:
        """Say of a file that it is left alone, and why."""
        said = refusal(why, path) if isinstance(why, Exception) else str(why)
        if isinstance(why, NoteTooLong):
            said = f"{why} (cut it into several files, or raise AMEM_MAX_NOTE_CHARS)"
        elif isinstance(why, Changed):
            said = "it was changed during the sync: the next one takes it in"
        self.report.problems.append(Step("left alone", path, "", said))

    def fail(self, id: str, path: str, error: AmemError) -> None:
        """What a file asks of its note is refused: the file stays, and is asked again by the next sync."""
        self.look.blocked.add(id)
        self.look.seen.pop(id, None)
        self.report.to_notes = [step for step in self.report.to_notes if step.note != id]
        self.problem(path, error)
