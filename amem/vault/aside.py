"""What a person wrote and a note contradicts, kept beside the note's file until the person has settled it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amem.vault.look import CONFLICT_OF
from amem.vault.names import in_folder_of, stem
from amem.vault.report import Step

if TYPE_CHECKING:
    from amem.vault.look import Seen
    from amem.vault.state import Edit, State


class Aside:
    """Writes files that are nobody's note."""

    def __init__(self, state: State) -> None:
        self._state = state

    def keep(self, id: str, seen: Seen, edit: Edit) -> None:
        """Keep what a person wrote beside the file, which becomes what the note says."""
        path = self._beside(seen, id)
        fields = ", ".join(edit.conflicts)
        self._state.report.conflicts.append(
            Step("conflict", seen.path, id, f"both changed its {fields}; the file's words are in {path}")
        )
        self._state.report.waiting.append(path)

    def set_aside(self, id: str, seen: Seen, why: str) -> None:
        """Keep a changed file whose note is no longer there under another name."""
        path = self._beside(seen, id)
        self._state.report.conflicts.append(Step("conflict", seen.path, id, f"{why}; the file's words are in {path}"))
        self._state.report.waiting.append(path)
        del self._state.look.seen[id]
        if not self._state.dry:
            self._state.folder.remove(seen.path, expect=seen.stat, for_good=True)
            self._state.done.append((replace(self._state.known[id], gone=True), self._state.base_text(id)))

    def _beside(self, seen: Seen, id: str) -> str:
        """Write the file under a name that says what it is, unless a killed sync did; returns the path."""
        file = seen.file.with_front({"id": None})
        page = replace(file, entries=file.with_front({CONFLICT_OF: id}).entries)
        data = page.encoded
        day = self._state.clock.now().astimezone(self._state.zone)
        wanted = f"{stem(seen.path)} (conflict of amem {day:%Y-%m-%d})"
        name, number = wanted, 1
        while True:
            path = in_folder_of(seen.path, name)
            if self._state.dry or not self._state.folder.is_there(path):
                break
            if path in self._state.look.waiting and self._state.folder.read(path) == data:
                return path  # written by a sync that was killed before it could say so
            number += 1
            name = f"{wanted} {number}"
        if not self._state.dry:
            self._state.folder.write(path, data, expect=None)
        return path
