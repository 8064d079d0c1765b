"""A folder of Markdown files and the notes of a collection, brought into step: what was changed on either side goes to
the other, held against what both agreed on at the last sync.

What a killed sync has done stays done, and the next one goes on: a file counts as agreed on only when both sides hold.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from amem.clock import zone
from amem.errors import AmemError, InvalidInput
from amem.interop.items import source_id
from amem.note import SCOPES, Link, LinkType, Source, Status
from amem.query import Filter
from amem.storage.vaults import KnownFile
from amem.vault.export import export_notes
from amem.vault.folder import Changed, Folder, Stat
from amem.vault.look import CONFLICT_OF, Seen, digest_of, look_at
from amem.vault.merging import Said, merge
from amem.vault.names import folded, free_name, in_folder_of, stem, title_for
from amem.vault.note_file import parse
from amem.vault.pages import Index, Refs, canonical, is_generated, rendered, said_by_file, said_by_note, tag_text
from amem.vault.report import Step, SyncReport
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from amem.clock import Clock
    from amem.note import MemoryNote
    from amem.receipt import Receipt
    from amem.settings import Settings
    from amem.storage import Session, Store
    from amem.storage.vaults import KnownVault, Standing
    from amem.vault.export import ExportReport
    from amem.vault.look import Look
    from amem.vault.note_file import NoteFile
    from amem.vault.pages import Led

ACTION = "sync"
TOPICS = "Topics"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_NOTHING = Refs()


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
class _Notes:
    """The notes as they are at one moment: all by their standing, and those that were asked for."""

    standing: Mapping[str, Standing]
    counter: int
    operation: int
    read: dict[str, MemoryNote]
    links: dict[str, list[Led]]

    def is_active(self, id: str) -> bool:
        return id in self.standing and self.standing[id].status == Status.ACTIVE


@dataclass(frozen=True, slots=True)
class _Edit:
    """What a file asks of its note: fields to set, links to make and to take away."""

    seen: Seen
    fields: dict[str, Any]
    make: tuple[tuple[str, str, str], ...] = ()
    drop: tuple[tuple[str, str], ...] = ()
    what: str = "changed"
    conflicts: tuple[str, ...] = ()


class Vault:
    """One folder that is kept in step with one collection."""

    def __init__(self, memory: Memory, store: Store, clock: Clock, folder: Path) -> None:
        self._memory = memory
        self._store = store
        self._clock = clock
        self._zone = zone(memory.settings.timezone)
        self.folder = Folder(folder)

    def sync(self, *, dry_run: bool = False, progress: Callable[[int, int | None], None] | None = None) -> SyncReport:
        """Bring both sides into step; with `dry_run` only say what would be done.

        `progress` hears (files written, of how many). Raises InvalidInput and StorageError.
        """
        self._refuse_emptied()
        if dry_run:
            return self._run(dry_run, progress)
        with self.folder.locked():
            return self._run(dry_run, progress)

    def export(self, filter: Filter | None = None, *, force: bool = False) -> ExportReport:
        """Write one file for each note that passes the filter, one way: see `amem.vault.export`."""
        return export_notes(self._store, self._zone, self.folder, filter or Filter(), force=force)

    def _run(self, dry_run: bool, progress: Callable[[int, int | None], None] | None) -> SyncReport:
        vault = self._vault(make=not dry_run)
        run = _Run(self._memory, self._store, self._clock, self._zone, self.folder, vault, dry_run, progress)
        return run.run()

    def _vault(self, *, make: bool) -> KnownVault | None:
        identity = self.folder.identity() if self.folder.exists else ""
        path = str(self.folder.root)
        with self._store.read() as session:
            found = session.vaults.find(identity) if identity else None
        if found is not None and found.path != path and _is_folder(found.path, identity):
            # A copy of a folder that is still there: what was agreed on with that one is not about this one.
            identity, found = "", None
        if found is not None or not make:
            return found
        if not identity:
            identity = self.folder.identify()
        with self._store.write() as session:
            return session.vaults.find(identity) or session.vaults.add(identity, path)

    def _refuse_emptied(self) -> None:
        """Raise InvalidInput for a folder that held files at the last sync, and is not there or empty.

        A disk that is not mounted must not pass for a person who deleted everything.
        """
        with self._store.read() as session:
            known = session.vaults.at(str(self.folder.root))
            held = [] if known is None else [each for each in session.vaults.files(known.id).values() if not each.gone]
        if held and not (self.folder.exists and any(self.folder.root.iterdir())):
            raise InvalidInput(
                f"{self.folder.root} held the files of {len(held):,} notes at the last sync and is empty now",
                hint="mount it or bring it back; to begin anew, name another folder",
            )


def _is_folder(path: str, identity: str) -> bool:
    """Whether the folder at this path is there and calls itself so."""
    try:
        return Folder(Path(path)).identity() == identity
    except (InvalidInput, OSError):
        return False


class _Run:
    """One sync. `run` reads as its steps."""

    def __init__(
        self,
        memory: Memory,
        store: Store,
        clock: Clock,
        zone: Any,
        folder: Folder,
        vault: KnownVault | None,
        dry_run: bool,
        progress: Callable[[int, int | None], None] | None,
    ) -> None:
        self._memory, self._store, self._clock, self._zone = memory, store, clock, zone
        self._folder, self._vault, self._dry, self._progress = folder, vault, dry_run, progress
        self._report = SyncReport(str(folder.root), dry_run)
        self._operation: int | None = None
        self._known: dict[str, KnownFile] = {}
        self._refs: dict[str, Refs] = {}
        self._base_texts: dict[str, str] = {}
        self._conflicts: dict[str, _Edit] = {}
        self._done: list[tuple[KnownFile, str]] = []
        self._edited: set[str] = set()

    def run(self) -> SyncReport:
        """The whole way, in order."""
        # 1. What is in the folder, and what of it changed since both sides agreed.
        with self._store.read() as session:
            if self._vault is not None:
                self._known = session.vaults.files(self._vault.id)
        self._refs = {id: Refs.of_json(each.refs) for id, each in self._known.items()}
        synced = 0 if self._vault is None else self._vault.synced_ns
        look = self._look = look_at(self._folder, self._known, synced_ns=synced, tidy=not self._dry)
        self._tell_look(look)
        # 2. What files ask of notes.
        notes = self._notes([*look.seen, *look.missing])
        index = self._index(look)
        created = self._fresh(look, notes)
        if created:
            index = self._index(look)
        edits = self._edits(look, notes, index)
        gone = self._gone(look, notes)
        # 3. The notes, as one operation.
        with self._as_one(bool(created or gone or any(_asks(edit) for edit in edits.values()))):
            self._add(created)
            self._edit(edits)
            self._delete(gone)
        # 4. The files: what notes say now, with all that analysis and links have made of them meanwhile.
        self._to_files(look, edits)
        self._report.operation = self._operation
        return self._report

    # -- looking -----------------------------------------------------------------------------------------------

    def _tell_look(self, look: Look) -> None:
        report = self._report
        report.problems += [Step("left alone", path, "", why) for path, why in sorted(look.problems.items())]
        report.waiting = sorted(look.waiting)

    def _notes(self, ids: Iterable[str]) -> _Notes:
        """The notes as they are now, with those of these ids and those that changed since the last sync."""
        with self._store.read() as session:
            counter, operation = session.counter, session.operations.count()
            standing = session.vaults.standing()
            wanted = {id for id in ids if id in standing}
            wanted |= self._changed(session, standing)
            read = session.notes.get_many(
                [id for id in standing if id in wanted], history=False, usage=False, deleted=True
            )
            links = session.vaults.links_from(read)
        return _Notes(standing, counter, operation, read, links)

    def _changed(self, session: Session, standing: Mapping[str, Standing]) -> set[str]:
        """Notes that changed since the last sync, or never had a file."""
        vault = self._vault
        if vault is None:
            return set(standing)
        found = {
            id
            for id, each in standing.items()
            if each.seq > vault.counter
            or (each.status == Status.ACTIVE and (id not in self._known or self._known[id].gone))
        }
        if session.operations.count() > vault.operation:
            found |= {id for id in session.vaults.relinked(vault.operation) if id in standing}
        return found

    def _index(self, look: Look) -> Index:
        """Names and notes as the files have them now."""
        paths = {id: path for id, (path, _) in look.same.items()}
        paths |= {id: seen.path for id, seen in look.seen.items()}
        paths |= {id: self._known[id].path for id in look.blocked if id in self._known and self._known[id].path}
        aliases: dict[str, Sequence[str]] = {id: refs.aliases for id, refs in self._refs.items() if refs.aliases}
        for id, seen in look.seen.items():
            aliases[id] = [*seen.file.values("aliases"), *seen.file.values("alias")]
        return Index(paths, aliases)

    def _base(self, id: str) -> tuple[NoteFile | None, Said | None]:
        """The file as both sides agreed on it, and what it says; None for none."""
        if id not in self._known or self._vault is None:
            return None, None
        if id not in self._base_texts:
            with self._store.read() as session:
                self._base_texts |= session.vaults.texts(self._vault.id, [id])
        text = self._base_texts.get(id, "")
        if not text:
            return None, None
        file = parse(text)
        return file, said_by_file(file, None, self._refs[id], self._zone)[0]

    # -- what files ask of notes -------------------------------------------------------------------------------

    def _fresh(self, look: Look, notes: _Notes) -> dict[str, NewNote]:
        """New notes by id: the files of no note yet, which get an id, and those with an id that no note has."""
        created: dict[str, NewNote] = {}
        for seen in look.fresh:
            id = self._clock.new_id()
            if not self._dry:
                file = seen.file.with_front({"id": id})
                try:
                    stat = self._folder.write(seen.path, file.encoded, expect=seen.stat)
                except (Changed, AmemError, OSError) as error:
                    self._problem(seen.path, error)
                    continue
                seen = Seen(seen.path, stat, digest_of(file.encoded), file)
            look.seen[id] = seen
            why = (
                "a copy of another file: it gets an id of its own"
                if seen.path in look.copies
                else "its id was written into it"
            )
            self._report.to_notes.append(Step("added", seen.path, id, why))
            created[id] = self._new_note(id, seen)
        unknown = [id for id in look.seen if id not in notes.standing and id not in created]
        with self._store.read() as session:
            purged = session.vaults.purged(unknown)
        for id in unknown:
            seen = look.seen[id]
            if id not in purged:
                self._report.to_notes.append(Step("added", seen.path, id, "its id is of no note here"))
                created[id] = self._new_note(id, seen)
                continue
            del look.seen[id]
            if id in self._known and self._known[id].digest == seen.digest:
                self._remove(seen.path, seen.stat, id, "its note was purged", for_good=True)
            else:
                self._problem(seen.path, "its note was purged: delete the file, or take the id out of it to keep it")
        return created

    def _new_note(self, id: str, seen: Seen) -> NewNote:
        file = seen.file
        name = stem(seen.path)
        fields: dict[str, Any] = {"id": id, "metadata": {"title": name}}
        said, remarks = said_by_file(file, None, _NOTHING, self._zone)
        self._report.remarks += [Step("remark", seen.path, id, each) for each in remarks]
        fields |= {field: value for field, value in said.fields.items() if field != "created"}
        if said.tags:
            fields["tags"] = list(said.tags)
        for owner in SCOPES:
            if value := file.value(owner):
                fields["metadata"][owner] = value
        if not _DAY.fullmatch(name) and folded(name) not in folded(file.body[:200]):
            fields["context"] = name  # what the file is called is the only place that says so
        day = _DAY.search(name)
        time: str | datetime | None = said.fields.get("created")
        if time is None and day is not None and canonical("created", day[0], self._zone):
            time = day[0]
        if time is None:
            time = datetime.fromtimestamp(seen.stat.mtime_ns / 1e9, UTC)
        source = Source(source_id("vault", id), "file", None, seen.path, None, None, file.body)
        return NewNote(file.body, time, source, fields)

    def _edits(self, look: Look, notes: _Notes, index: Index) -> dict[str, _Edit]:
        """What the files that changed ask of their notes."""
        edits: dict[str, _Edit] = {}
        for id, seen in list(look.seen.items()):
            note = notes.read.get(id)
            if note is None:
                edits[id] = self._first_links(id, seen, index)
                continue
            if is_generated(note) and note.status is Status.ACTIVE:
                self._generated(look, id, seen)
                continue
            if note.status is not Status.ACTIVE and not self._brought_back(look, id, seen, note):
                continue
            edits[id] = self._merged(id, seen, note, notes.links.get(id, []), index)
        for id, refs in self._refs.items():
            if id in look.same and notes.is_active(id) and (late := _late(refs, index)):
                edits[id] = self._late(id, look, late)
        return edits

    def _merged(self, id: str, seen: Seen, note: MemoryNote, links: Sequence[Led], index: Index) -> _Edit:
        before = self._refs.get(id, _NOTHING)
        base_file, base = self._base(id)
        refs = Refs.of_file(seen.file, before, index)
        by_file, remarks = said_by_file(seen.file, base, refs, self._zone)
        by_note = said_by_note(note, links, refs, index, self._zone)
        if (
            seen.file.links is None
            and base_file is not None
            and base_file.links is not None
            and not seen.file.says("id")
        ):
            by_file = replace(by_file, links=base.links if base is not None else frozenset())
        self._report.remarks += [Step("remark", seen.path, id, each) for each in remarks]
        merged = merge(base, by_file, by_note)
        fields: dict[str, Any] = {}
        if merged.said.body != by_note.body:
            fields["content"] = merged.said.body
        if merged.said.tags != by_note.tags:
            own = {tag_text(tag): tag for tag in note.tags}
            fields["tags"] = [own.get(tag, tag) for tag in merged.said.tags]
        for name, value in merged.said.fields.items():
            if by_note.fields.get(name) != value:
                fields["timestamp" if name == "created" else name] = value
        for name in ("valid_from", "valid_to"):
            if name in by_note.fields and name not in merged.said.fields:
                fields[name] = None
        known = self._known.get(id)
        renamed = known is not None and known.path and not known.gone and known.path != seen.path
        if renamed and known is not None and stem(known.path) != stem(seen.path):
            old, name = stem(known.path), stem(seen.path)
            fields["metadata"] = {**note.metadata, "title": name}
            if note.context == old:
                fields["context"] = name
        held = {(type, target): (reason, maker) for target, type, reason, maker in links}
        # Made in the text: links to be made, and to be taken away where the text made them.
        text_changed = base is None or by_file.body != base.body
        make = (
            [(target, str(LinkType.RELATED), f"[[{name}]]") for name, target in _made(refs, before)]
            if text_changed
            else []
        )
        make = [each for each in make if not _is_own(held.get((each[1], each[0])))]
        unmade = {target for name, target in before.wiki.items() if target is not None and name not in refs.wiki}
        drop = [
            (target, str(LinkType.RELATED))
            for target in (sorted(unmade - refs.linked) if text_changed else ())
            if held.get((str(LinkType.RELATED), target), ("", ""))[0].startswith("[[")
        ]
        reasons = {(line.type, line.name): line.reason for line in seen.file.links or ()}
        known_pairs = base.links if base is not None else frozenset()
        make += [
            (target, type, reasons.get((type, name), ""))
            for (type, name), target in refs.lines.items()
            if target is not None and (type, target) not in known_pairs and (type, target) not in held
        ]
        drop += [
            (target, type)
            for type, target in known_pairs - by_file.links
            if (type, target) in held and target not in refs.linked
        ]
        make = [each for each in make if each[0] != id]
        what = "renamed" if renamed and not (fields.keys() - {"metadata", "context"} or make or drop) else "changed"
        if what == "changed" and base is not None and by_note != base and by_file != base:
            what = "merged"
        return _Edit(seen, fields, tuple(make), tuple(drop), what, merged.conflicts)

    def _first_links(self, id: str, seen: Seen, index: Index) -> _Edit:
        """The links of a file whose note is new."""
        refs = Refs.of_file(seen.file, _NOTHING, index)
        make = [(target, str(LinkType.RELATED), f"[[{name}]]") for name, target in _made(refs, _NOTHING)]
        make += [(target, type, "") for (type, _), target in refs.lines.items() if target is not None]
        return _Edit(seen, {}, tuple(each for each in make if each[0] != id), what="added")

    def _late(self, id: str, look: Look, late: Refs) -> _Edit:
        """Links of a file that nobody changed, to a name that means a note since."""
        path, stat = look.same[id]
        file, _ = self._base(id)
        assert file is not None
        make = [
            (target, str(LinkType.RELATED), f"[[{name}]]")
            for name, target in late.wiki.items()
            if target not in (None, id)
        ]
        make += [(target, type, "") for (type, _), target in late.lines.items() if target not in (None, id)]
        found = tuple((target, type, reason) for target, type, reason in make if target is not None)
        return _Edit(Seen(path, stat, self._known[id].digest, file), {}, found, what="linked")

    def _generated(self, look: Look, id: str, seen: Seen) -> None:
        """A page that amem writes: where it was edited it is left as it is, and said."""
        known = self._known.get(id)
        if known is not None and known.digest == seen.digest:
            return  # merely elsewhere
        look.blocked.add(id)
        del look.seen[id]
        self._problem(
            seen.path, "amem writes this page by itself: keep your words in a file of your own, and delete this one"
        )

    def _brought_back(self, look: Look, id: str, seen: Seen, note: MemoryNote) -> bool:
        """Whether a file stands for a note that is to be active again; else it is dealt with."""
        known = self._known.get(id)
        if known is not None and not known.gone:
            self._set_aside(look, id, seen, f"its note is {note.status} and the file was changed since")
            return False
        if note.status is Status.DELETED:
            self._report.to_notes.append(Step("restored", seen.path, id, "its file is back"))
            return True
        look.blocked.add(id)
        del look.seen[id]
        self._problem(
            seen.path, f"its note is {note.status}: delete the file, or bring the note back with amem restore {id[:8]}"
        )
        return False

    def _gone(self, look: Look, notes: _Notes) -> list[str]:
        """Notes to be hidden, as their file was deleted and they are as they were then."""
        gone: list[str] = []
        for id in look.missing:
            note = notes.read.get(id)
            if note is None or note.status is not Status.ACTIVE:
                continue
            _, base = self._base(id)
            if base is not None and not is_generated(note) and note.content.strip("\n") != base.body:
                self._report.to_files.append(Step("put back", self._known[id].path, id, "its note was changed since"))
                continue
            gone.append(id)
            self._report.to_notes.append(Step("deleted", self._known[id].path, id, "its file was deleted"))
        return gone

    # -- the notes ---------------------------------------------------------------------------------------------

    @contextmanager
    def _as_one(self, wanted: bool) -> Iterator[None]:
        if not wanted or self._dry:
            yield
            return
        with self._store.write() as session:
            self._operation = session.begin(ACTION, self._memory.actor, f"sync with {self._folder.root.name}")
        with self._store.within_operation(self._operation):
            yield

    def _add(self, created: Mapping[str, NewNote]) -> None:
        if self._dry or not created:
            return
        refused: dict[str, AmemError] = {}
        ids = list(created)

        def on_refused(position: int, error: AmemError) -> None:
            refused[ids[position]] = error

        self._memory.add_notes(list(created.values()), cause="", action="add", on_refused=on_refused)
        for id, error in refused.items():
            self._fail(id, self._look.seen[id].path, error)

    def _edit(self, edits: dict[str, _Edit]) -> None:
        report = self._report
        links: list[tuple[str, _Edit]] = []
        for id, edit in edits.items():
            if id in self._look.blocked:
                continue
            if _asks(edit) and edit.what != "added":
                report.to_notes.append(Step(edit.what, edit.seen.path, id, _named(edit)))
            if edit.conflicts:
                self._conflicts[id] = edit
            if self._dry:
                continue
            self._edited.add(id)
            try:
                if any(step.note == id and step.what == "restored" for step in report.to_notes):
                    self._memory.restore(id)
                if edit.fields:
                    self._memory.update(id, **edit.fields)
            except AmemError as error:
                self._fail(id, edit.seen.path, error)
                continue
            links.append((id, edit))
        if any(edit.make or edit.drop for _, edit in links):
            with self._store.write() as session:
                self._relink(session, links)

    def _relink(self, session: Session, edits: Sequence[tuple[str, _Edit]]) -> None:
        drop = [(id, target, LinkType(type)) for id, edit in edits for target, type in edit.drop]
        make = [(id, *each) for id, edit in edits for each in edit.make]
        actor = self._memory.actor
        held = session.notes.keys_of([id for id, *_ in make] + [each[1] for each in make])
        if drop:
            operation = session.begin("unlink", actor)
            for source, target, type in drop:
                session.links.remove(source, target, type, operation)
        if make:
            operation = session.begin("link", actor)
            for source, target, name, reason in make:
                if source not in held or target not in held or session.links.leads_across(source, target):
                    continue
                # What a person links is theirs, whoever guessed it before.
                session.links.remove(source, target, LinkType(name), operation)
                link = Link(source, target, LinkType(name), reason, 1.0, actor, session.now)
                session.links.put(link, operation)

    def _delete(self, gone: Sequence[str]) -> None:
        if gone and not self._dry:
            self._memory.delete_notes(gone)

    # -- the files ---------------------------------------------------------------------------------------------

    def _to_files(self, look: Look, edits: Mapping[str, _Edit]) -> None:
        notes = self._notes([*look.seen, *edits, *look.missing])
        paths = self._paths(look, notes)
        index = Index(paths, {id: refs.aliases for id, refs in self._refs.items() if refs.aliases})
        affected = self._affected(look, notes, paths)
        more = affected - notes.read.keys()
        if more:
            with self._store.read() as session:
                notes.read.update(session.notes.get_many(sorted(more), history=False, usage=False, deleted=True))
                notes.links.update(session.vaults.links_from(more))
        if self._vault is not None:
            with self._store.read() as session:
                wanted = [id for id in affected if id in self._known and id not in self._base_texts]
                self._base_texts |= session.vaults.texts(self._vault.id, wanted)
        todo = [id for id in notes.standing if id in affected]
        for number, id in enumerate(todo, start=1):
            if self._progress is not None and not number % 200:
                self._progress(number, len(todo))
            try:
                self._to_file(id, look, notes, paths, index)
            except Changed:
                self._problem(paths.get(id, id), "it was changed during the sync: the next one takes it in")
                self._report.problems.sort(key=lambda step: step.path)
            except (InvalidInput, OSError) as error:
                self._problem(paths.get(id, id), error)
            if len(self._done) >= 500:
                self._remember()
        self._remember()
        kept = len(paths.keys() - {step.note for step in self._report.to_files})
        self._report.matching = max(0, kept - len(look.blocked & paths.keys()))
        if not self._dry:
            self._finish(look, notes)

    def _paths(self, look: Look, notes: _Notes) -> dict[str, str]:
        """Where the file of each active note is, or is to be."""
        paths: dict[str, str] = {}
        taken = {folded(stem(path)) for path in look.scan.files}
        for id in notes.standing:
            if not notes.is_active(id):
                continue
            if id in look.seen:
                paths[id] = look.seen[id].path
            elif id in look.same:
                paths[id] = look.same[id][0]
            elif id in look.blocked and id in self._known:
                paths[id] = self._known[id].path
        for id in notes.standing:
            if id in paths or not notes.is_active(id) or id in look.blocked or id not in notes.read:
                continue
            known = self._known.get(id)
            path = known.path if known is not None else ""
            if not path or folded(stem(path)) in taken:
                note = notes.read[id]
                name = free_name(title_for(note), taken)
                path = f"{TOPICS}/{name}.md" if is_generated(note) else f"{name}.md"
            if look.scan.ignores(path):
                continue
            taken.add(folded(stem(path)))
            paths[id] = path
        return paths

    def _affected(self, look: Look, notes: _Notes, paths: Mapping[str, str]) -> set[str]:
        """Notes whose file may have to be written or removed."""
        before = {id: each.path for id, each in self._known.items() if not each.gone and each.path}
        moved = {id for id in before.keys() | paths.keys() if before.get(id) != paths.get(id)}
        affected = set(notes.read) | moved | set(look.seen)
        if moved and before:
            with self._store.read() as session:
                affected |= session.vaults.linking_to(moved)
        affected |= {id for id, (_, stat) in look.same.items() if _stat_of(self._known[id]) != stat}
        return {id for id in affected if id in notes.standing}

    def _to_file(self, id: str, look: Look, notes: _Notes, paths: Mapping[str, str], index: Index) -> None:
        if id in look.blocked:
            return
        if id not in paths:
            self._no_file(id, look)
            return
        note, links = notes.read[id], notes.links.get(id, [])
        seen, known = look.seen.get(id), self._known.get(id)
        path = paths[id]
        before = self._refs.get(id, _NOTHING)
        if is_generated(note):
            file = None
        elif seen is not None:
            file = seen.file
        else:
            file, _ = self._base(id)
        there = seen.stat if seen is not None else look.same[id][1] if id in look.same else None
        refs = before if file is None else Refs.of_file(file, before, index)
        said = said_by_note(note, links, refs, index, self._zone)
        page = rendered(file, refs, note, said, links, index, self._zone)
        data = page.encoded
        digest = digest_of(data)
        now = seen.digest if seen is not None else known.digest if known is not None and there is not None else b""
        if id in self._conflicts and seen is not None:
            self._keep_aside(id, seen, self._conflicts[id])
        if digest != now or there is None:
            if not any(step.note == id and step.what == "put back" for step in self._report.to_files):
                what = "written" if there is None else "updated"
                told = any(step.note == id and step.what in ("added", "merged") for step in self._report.to_notes)
                if not told and not (self._dry and seen is not None):
                    self._report.to_files.append(Step(what, path, id))
            if self._dry:
                return
            there = self._folder.write(path, data, expect=there)
        if self._dry:
            return
        final = Refs.of_file(page, Refs({**refs.lines, **_lines(said, index)}, refs.wiki), index)
        final = replace(final, wiki={name: target for name, target in final.wiki.items() if note.kind != "topic"})
        record = KnownFile(id, path, digest, there.mtime_ns, there.size, final.to_json(), False)
        if record != known:
            self._done.append((record, page.text))

    def _no_file(self, id: str, look: Look) -> None:
        """A note that is not active has no file."""
        known = self._known.get(id)
        if known is None or known.gone:
            return
        if id in look.same:
            path, stat = look.same[id]
            self._remove(path, stat, id, "its note is no longer active")
        if id not in look.seen and not self._dry:
            self._done.append((replace(known, gone=True), self._base_texts.get(id, "")))

    def _remove(self, path: str, stat: Stat, id: str, why: str, *, for_good: bool = False) -> None:
        self._report.to_files.append(Step("removed", path, id, why))
        if not self._dry:
            self._folder.remove(path, expect=stat, for_good=for_good)

    def _keep_aside(self, id: str, seen: Seen, edit: _Edit) -> None:
        """Keep what a person wrote beside the file, which becomes what the note says."""
        path = self._beside(seen, id)
        fields = ", ".join(edit.conflicts)
        self._report.conflicts.append(
            Step("conflict", seen.path, id, f"both changed its {fields}; the file's words are in {path}")
        )
        self._report.waiting.append(path)

    def _set_aside(self, look: Look, id: str, seen: Seen, why: str) -> None:
        """Keep a changed file whose note is no longer there under another name."""
        path = self._beside(seen, id)
        self._report.conflicts.append(Step("conflict", seen.path, id, f"{why}; the file's words are in {path}"))
        self._report.waiting.append(path)
        del look.seen[id]
        if not self._dry:
            self._folder.remove(seen.path, expect=seen.stat, for_good=True)
            self._done.append((replace(self._known[id], gone=True), self._base_texts.get(id) or self._text_of(id)))

    def _text_of(self, id: str) -> str:
        file, _ = self._base(id)
        return "" if file is None else file.text

    def _beside(self, seen: Seen, id: str) -> str:
        """Write the file under a name that says what it is, unless a killed sync did; returns the path."""
        file = seen.file.with_front({"id": None})
        page = replace(file, entries=file.with_front({CONFLICT_OF: id}).entries)
        data = page.encoded
        day = self._clock.now().astimezone(self._zone)
        wanted = f"{stem(seen.path)} (conflict of amem {day:%Y-%m-%d})"
        name, number = wanted, 1
        while True:
            path = in_folder_of(seen.path, name)
            if self._dry or not self._folder.is_there(path):
                break
            if path in self._look.waiting and self._folder.read(path) == data:
                return path  # written by a sync that was killed before it could say so
            number += 1
            name = f"{wanted} {number}"
        if not self._dry:
            self._folder.write(path, data, expect=None)
        return path

    # -- remembering -------------------------------------------------------------------------------------------

    def _remember(self) -> None:
        if self._done and self._vault is not None and not self._dry:
            with self._store.write() as session:
                session.vaults.put(self._vault.id, self._done)
            self._done.clear()

    def _finish(self, look: Look, notes: _Notes) -> None:
        """Say how far both sides agree, once all files do."""
        assert self._vault is not None
        forgotten = [id for id in self._known if id not in notes.standing]
        told = any(step.what == "left alone" for step in self._report.problems)
        agreed = not any("during the sync" in step.more for step in self._report.problems)
        vault = self._vault
        changed = (vault.counter, vault.operation) != (notes.counter, notes.operation) or vault.path != str(
            self._folder.root
        )
        if not (forgotten or changed or self._report.to_files or self._edited or not vault.synced_ns):
            return
        counter = notes.counter if agreed and not told else vault.counter
        operation = notes.operation if agreed and not told else vault.operation
        with self._store.write() as session:
            if forgotten:
                session.vaults.forget(vault.id, forgotten)
            session.vaults.synced(
                vault.id, str(self._folder.root), counter=counter, operation=operation, synced_ns=time.time_ns()
            )

    def _problem(self, path: str, why: object) -> None:
        self._report.problems.append(
            Step("left alone", path, "", "it was changed meanwhile" if isinstance(why, Changed) else str(why))
        )

    def _fail(self, id: str, path: str, error: AmemError) -> None:
        """What a file asks of its note is refused: the file stays, and is asked again by the next sync."""
        self._look.blocked.add(id)
        self._look.seen.pop(id, None)
        self._report.to_notes = [step for step in self._report.to_notes if step.note != id]
        self._problem(path, error)


def _asks(edit: _Edit) -> bool:
    return bool(edit.fields or edit.make or edit.drop)


def _named(edit: _Edit) -> str:
    names = ["text" if name == "content" else "name" if name == "metadata" else name for name in edit.fields]
    return ", ".join([*names, *(["links"] if edit.make or edit.drop else [])])


def _made(refs: Refs, before: Refs) -> list[tuple[str, str]]:
    """(name, note) of the links that the text makes and did not make before, each note once."""
    found: dict[str, str] = {}
    for name, target in refs.wiki.items():
        if target is not None and target not in before.linked:
            found.setdefault(target, name)
    return [(name, target) for target, name in found.items()]


def _late(refs: Refs, index: Index) -> Refs | None:
    """What names that led to nothing lead to now; None while they lead to nothing."""
    if not (refs.wiki or refs.lines):
        return None
    dangling = {name for name, id in refs.wiki.items() if id is None or id not in index}
    wiki = {name: found for name in dangling if (found := index.find(name)) is not None}
    lines = {key: found for key, id in refs.lines.items() if id is None and (found := index.find(key[1])) is not None}
    return Refs(lines, wiki) if wiki or lines else None


def _is_own(held: tuple[str, str] | None) -> bool:
    """Whether a link is there already that a person made."""
    return held is not None and held[1].split(":")[0] == "user"


def _lines(said: Said, index: Index) -> dict[tuple[str, str], str | None]:
    """What the lines of a page that was just written lead to."""
    return {(type, index.name(target)): target for type, target in said.links if target in index}


def _stat_of(known: KnownFile) -> Stat:
    return Stat(known.mtime_ns, known.size)
