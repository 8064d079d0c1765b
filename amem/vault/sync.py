"""A folder of Markdown files and the notes of a collection, brought into step: what was changed on either side goes to
the other, held against what both agreed on at the last sync.

What a killed sync has done stays done, and the next one goes on: a file counts as agreed on only when both sides hold.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from amem.clock import Clock, zone
from amem.errors import InvalidInput
from amem.labels import counted
from amem.query import Filter
from amem.vault.export import EXPORTED, ExportReport, export_notes
from amem.vault.folder import Folder
from amem.vault.look import look_at
from amem.vault.pages import Refs
from amem.vault.state import Memory, State, SyncReport
from amem.vault.to_files import ToFiles
from amem.vault.to_notes import carry_out, edits_asked, fresh_notes, gone_notes

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from amem.storage.store import Store
    from amem.storage.vaults import KnownVault

    Progress = Callable[[int, int | None], None]


class Vault:
    """One folder that is kept in step with one collection; a sync is done within what `undisturbed` gives."""

    def __init__(
        self,
        memory: Memory,
        store: Store,
        clock: Clock,
        folder: Path,
        undisturbed: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._memory = memory
        self._store = store
        self._clock = clock
        self._undisturbed = undisturbed
        self._zone = zone(memory.settings.timezone)
        self.folder = Folder(folder)

    def sync(self, *, dry_run: bool = False, progress: Progress | None = None) -> SyncReport:
        """Bring both sides into step; with `dry_run` only say what would be done.

        `progress` hears (files looked at, of how many). Raises InvalidInput and StorageError.
        """
        self._refuse_own_home()
        self._refuse_emptied()
        if dry_run:
            return self._steps(dry_run, progress)
        with self.folder.locked(), self._undisturbed():
            return self._steps(dry_run, progress)

    def export(self, filter: Filter | None = None, *, force: bool = False) -> ExportReport:
        """Write one file for each note that passes the filter, one way: see `amem.vault.export`."""
        self._refuse_own_home()
        return export_notes(self._store, self._zone, self.folder, filter or Filter(), force=force)

    def kept_folder(self) -> Path | None:
        """The folder of files of notes that this folder or file is or lies in; None where there is none.

        That is one which is synced with this collection, or was exported from any.
        """
        root = self.folder.root.resolve()
        with self._store.read() as session:
            for each in (root, *root.parents):
                held = Folder(each)
                if held.is_there(EXPORTED):
                    return each
                try:
                    identity = held.identity()
                except (InvalidInput, OSError):
                    continue
                if identity and session.vaults.find(identity) is not None:
                    return each
        return None

    def _steps(self, dry_run: bool, progress: Progress | None) -> SyncReport:
        # 1. What is in the folder, and what of it changed since both sides agreed.
        state = self._state(dry_run)
        # 2. What files ask of notes.
        notes = state.notes([*state.look.seen, *state.look.missing])
        created = fresh_notes(state, notes)
        edits = edits_asked(state, notes, state.index())
        gone = gone_notes(state, notes)
        # 3. The notes, as one operation.
        carry_out(state, created, edits, gone)
        # 4. The files: what notes say now, with all that analysis and links have made of them meanwhile.
        ToFiles(state, progress).carry_out(edits)
        return state.report

    def _state(self, dry_run: bool) -> State:
        vault = self._vault(make=not dry_run)
        known = {}
        if vault is not None:
            with self._store.read() as session:
                known = session.vaults.files(vault.id)
        started = time.time_ns()
        look = look_at(self.folder, known, synced_ns=0 if vault is None else vault.synced_ns, tidy=not dry_run)
        state = State(
            self._memory,
            self._store,
            self._clock,
            self._zone,
            self.folder,
            vault,
            dry_run,
            SyncReport(str(self.folder.root), dry_run, waiting=sorted(look.waiting), empty=sorted(look.empty)),
            look,
            started,
            known,
            {id: Refs.of_json(each.refs) for id, each in known.items()},
        )
        for path, why in sorted(look.problems.items()):
            state.problem(path, why)
        return state

    def _vault(self, *, make: bool) -> KnownVault | None:
        identity = self.folder.identity() if self.folder.exists else ""
        path = str(self.folder.root)
        with self._store.read() as session:
            found = session.vaults.find(identity) if identity else None
        if found is not None and found.path != path and _is_there(found.path, identity):
            # A copy of a folder that is still there: what was agreed on with that one is not about this one.
            identity, found = "", None
        if found is not None or not make:
            return found
        if not identity:
            identity = self.folder.identify()
        with self._store.write() as session:
            return session.vaults.find(identity) or session.vaults.add(identity, path)

    def _refuse_own_home(self) -> None:
        """Raise InvalidInput for a folder in which the collection itself lies, or that lies in it."""
        own, root = self._store.folder, self.folder.root.resolve()
        if own is not None and (own.resolve().is_relative_to(root) or root.is_relative_to(own.resolve())):
            raise InvalidInput(f"{self.folder.root} holds the notes themselves", hint="name a folder of its own")

    def _refuse_emptied(self) -> None:
        """Raise InvalidInput for a folder that held files at the last sync, and is not there or without any file now.

        A disk that is not mounted, and files that were moved away, must not pass for a person who deleted everything.
        """
        if self.folder.exists and self.folder.holds_files:
            return
        with self._store.read() as session:
            known = session.vaults.at(str(self.folder.root))
            files = {} if known is None else session.vaults.files(known.id)
            if not any(not each.gone for each in files.values()):
                return
            standing = session.vaults.standing()
        active = {id for id, each in standing.items() if each.status == "active"}
        held = [id for id, each in files.items() if not each.gone and id in active]
        # Whoever has a single file may well delete it; a disk that is not there takes its .amem along.
        if len(held) > (1 if self.folder.exists and self.folder.identity() else 0):
            raise InvalidInput(
                f"{self.folder.root} held the files of {counted(len(held), 'note')} at the last sync and has none now",
                hint="mount its disk or bring the files back; if the notes are to go, amem delete them first; to begin"
                " anew, name another folder",
            )


def _is_there(path: str, identity: str) -> bool:
    """Whether the folder at this path is there and calls itself so."""
    try:
        return Folder(Path(path)).identity() == identity
    except (InvalidInput, OSError):
        return False
