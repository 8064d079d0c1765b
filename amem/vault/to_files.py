"""The files that notes are to have: written, renamed, removed, and remembered once they are there.

What a person wrote and a note contradicts is kept beside the note's file until the person has settled it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amem.errors import InvalidInput
from amem.note import Kind
from amem.storage.vaults import KnownFile
from amem.vault.folder import Changed, Stat
from amem.vault.look import CONFLICT_OF, Look, Seen, digest_of
from amem.vault.names import folded, free_name, in_folder_of, stem, title_for
from amem.vault.note_file import NoteFile
from amem.vault.pages import Index, Refs, Said, is_generated, rendered, said_by_note
from amem.vault.state import NOTHING, TOPICS, Edit, Notes, State, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def keep_aside(state: State, id: str, seen: Seen, edit: Edit) -> None:
    """Keep what a person wrote beside the file, which becomes what the note says."""
    path = _beside(state, seen, id)
    fields = ", ".join(edit.conflicts)
    state.report.conflicts.append(
        Step("conflict", seen.path, id, f"both changed its {fields}; the file's words are in {path}")
    )
    state.report.waiting.append(path)


def set_aside(state: State, id: str, seen: Seen, why: str) -> None:
    """Keep a changed file whose note is no longer there under another name."""
    path = _beside(state, seen, id)
    state.report.conflicts.append(Step("conflict", seen.path, id, f"{why}; the file's words are in {path}"))
    state.report.waiting.append(path)
    del state.look.seen[id]
    if not state.dry:
        state.folder.destroy(seen.path, expect=seen.stat)
        state.done.append((replace(state.known[id], gone=True), state.base_text(id)))


def _beside(state: State, seen: Seen, id: str) -> str:
    """Write the file under a name that says what it is, unless a killed sync did; returns the path."""
    file = seen.file.with_front({"id": None})
    page = replace(file, entries=file.with_front({CONFLICT_OF: id}).entries)
    data = page.encoded
    day = state.clock.now().astimezone(state.zone)
    wanted = f"{stem(seen.path)} (conflict of amem {day:%Y-%m-%d})"
    name, number = wanted, 1
    while True:
        path = in_folder_of(seen.path, name)
        if state.dry or not state.folder.is_there(path):
            break
        if path in state.look.waiting and state.folder.read(path) == data:
            return path  # written by a sync that was killed before it could say so
        number += 1
        name = f"{wanted} {number}"
    if not state.dry:
        state.folder.write(path, data, expect=None)
    return path


#: The time of a file that is to be read again in any case.
_UNKNOWN = -1


class ToFiles:
    """Changes the files. `progress` hears (files looked at, of how many)."""

    def __init__(self, state: State, progress: Callable[[int, int | None], None] | None) -> None:
        self._state = state
        self._progress = progress
        self._failed: set[str] = set()
        #: Notes whose file needs no further word.
        self._told: set[str] = set()

    def carry_out(self, edits: Mapping[str, Edit]) -> None:
        """Bring all files into step that may not be, and remember them."""
        look, report = self._state.look, self._state.report
        self._told = {step.note for step in report.to_notes if step.what in ("added", "merged")}
        self._told |= {step.note for step in report.to_files}
        notes = self._state.notes([*look.seen, *edits, *look.missing])
        paths = self._paths(look, notes)
        affected = self._affected(look, notes, paths)
        more = affected - notes.read.keys()
        if more:
            with self._state.store.read() as session:
                notes.read.update(session.notes.get_many(sorted(more), history=False, usage=False, deleted=True))
                notes.links.update(session.vaults.links_from(more))
        if self._state.vault is not None:
            with self._state.store.read() as session:
                wanted = [id for id in affected if id in self._state.known and id not in self._state.base_texts]
                self._state.base_texts |= session.vaults.texts(self._state.vault.id, wanted)
        todo = [id for id in notes.standing if id in affected]
        index = Index(paths, self._state.aliases()) if todo else Index({}, {})
        for number, id in enumerate(todo, start=1):
            if self._progress is not None and not number % 200:
                self._progress(number, len(todo))
            try:
                self._to_file(id, look, notes, paths, index)
            except (Changed, InvalidInput, OSError) as error:
                self._failed.add(id)
                self._state.problem(paths.get(id, id), error)
            if len(self._state.done) >= 500:
                self._state.remember()
        self._state.remember()
        kept = len(paths.keys() - {step.note for step in self._state.report.to_files})
        self._state.report.matching = max(0, kept - len(look.blocked & paths.keys()))
        if not self._state.dry:
            self._finish(notes)

    def _paths(self, look: Look, notes: Notes) -> dict[str, str]:
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
            elif id in look.blocked and id in self._state.known:
                paths[id] = self._state.known[id].path
        for id in notes.standing:
            if id in paths or not notes.is_active(id) or id in look.blocked or id not in notes.read:
                continue
            known = self._state.known.get(id)
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

    def _affected(self, look: Look, notes: Notes, paths: Mapping[str, str]) -> set[str]:
        """Notes whose file may have to be written or removed."""
        before = {id: each.path for id, each in self._state.known.items() if not each.gone and each.path}
        moved = {id for id in before.keys() | paths.keys() if before.get(id) != paths.get(id)}
        affected = set(notes.read) | moved | set(look.seen)
        if moved and before:
            with self._state.store.read() as session:
                affected |= session.vaults.linking_to(moved)
            # Pages of topics name files in their text.
            affected |= {id for id, each in notes.standing.items() if each.kind == Kind.TOPIC and id in paths}
        affected |= {id for id, (_, stat) in look.same.items() if _stat_of(self._state.known[id]) != stat}
        return {id for id in affected if id in notes.standing}

    def _to_file(self, id: str, look: Look, notes: Notes, paths: Mapping[str, str], index: Index) -> None:
        if id in look.blocked:
            return
        if id not in paths:
            self._no_file(id, look, notes)
            return
        note, links = notes.read[id], notes.links.get(id, [])
        seen, known = look.seen.get(id), self._state.known.get(id)
        path = paths[id]
        before = self._state.refs.get(id, NOTHING)
        file = None
        if not is_generated(note):
            file = seen.file if seen is not None else self._state.base(id)[0]
        there = seen.stat if seen is not None else look.same[id][1] if id in look.same else None
        refs = Refs.of_file(NoteFile(note.content) if file is None else file, before, index, path)
        said = said_by_note(note, links, refs, index, self._state.zone)
        page = rendered(file, refs, note, said, links, index, self._state.zone)
        data = page.encoded
        digest = digest_of(data)
        now = seen.digest if seen is not None else known.digest if known is not None and there is not None else b""
        if id in self._state.conflicts and seen is not None:
            keep_aside(self._state, id, seen, self._state.conflicts[id])
        if digest != now or there is None:
            if id not in self._told and not (self._state.dry and seen is not None):
                self._state.report.to_files.append(Step("written" if there is None else "updated", path, id))
            if self._state.dry:
                return
            there = self._state.folder.write(path, data, expect=there)
        if self._state.dry:
            return
        final = Refs.of_file(page, Refs({**refs.lines, **_lines(said, index)}, refs.wiki), index, path)
        final = replace(final, wiki={} if is_generated(note) else final.wiki)
        record = KnownFile(id, path, digest, there.mtime_ns, there.size, final.to_json(), False)
        if record != known:
            self._state.done.append((record, data.decode()))

    def _no_file(self, id: str, look: Look, notes: Notes) -> None:
        """A note that is not active has no file."""
        known = self._state.known.get(id)
        if known is None or known.gone:
            return
        if id in look.same:
            path, stat = look.same[id]
            self._state.to_trash(path, stat, id, f"its note is {notes.standing[id].status}")
        if id not in look.seen and not self._state.dry:
            self._state.done.append((replace(known, gone=True), self._state.base_text(id)))

    def _finish(self, notes: Notes) -> None:
        """Say how far both sides agree, and which notes are to be looked at again whether they change or not."""
        state, vault = self._state, self._state.vault
        assert vault is not None
        root = str(state.folder.root)
        forgotten = [id for id in state.known if id not in notes.standing]
        again = [
            replace(state.known[id], mtime_ns=_UNKNOWN)
            for id in sorted(state.look.blocked | self._failed)
            if id in state.known and state.known[id].mtime_ns != _UNKNOWN
        ]
        moved = (vault.counter, vault.operation, vault.path) != (notes.counter, notes.operation, root)
        if not (forgotten or again or moved or state.look.reread):
            return
        with state.store.write() as session:
            session.vaults.forget(vault.id, forgotten)
            session.vaults.touched(vault.id, again)
            session.vaults.synced(
                vault.id, root, counter=notes.counter, operation=notes.operation, synced_ns=state.started_ns
            )


def _lines(said: Said, index: Index) -> dict[tuple[str, str], str | None]:
    """What the lines of a page that was just written lead to."""
    return {(type, index.name(target)): target for type, target in said.links if target in index}


def _stat_of(known: KnownFile) -> Stat:
    return Stat(known.mtime_ns, known.size)
