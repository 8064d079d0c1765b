"""Notes as a folder of Markdown files, one way: the files that a sync would write, and no state in the collection.

The folder holds nothing else. What it was given is kept in it, so that the next export writes only what changed since,
under the same names, and replaces no file that somebody edited.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput
from amem.note import plain_fields
from amem.vault.folder import OWN, Changed, Folder, Stat
from amem.vault.look import digest_of
from amem.vault.names import folded, free_name, stem, title_for
from amem.vault.note_file import NoteFile
from amem.vault.pages import Index, Refs, is_generated, rendered, said_by_note
from amem.vault.state import NOTHING, TOPICS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from amem.note import MemoryNote
    from amem.query import Filter
    from amem.storage.store import Store

#: Where the folder keeps what it was given.
EXPORTED = f"{OWN}/export.json"


@dataclass(slots=True)
class ExportReport:
    """What an export did; `problems` are files that were left as they are, with the reason."""

    folder: str
    written: int = 0
    unchanged: int = 0
    removed: int = 0
    problems: list[tuple[str, str]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return plain_fields(self) | {"problems": [{"path": path, "why": why} for path, why in self.problems]}


def export_notes(store: Store, zone: tzinfo, folder: Folder, wanted: Filter, *, force: bool) -> ExportReport:
    """Write a file for each note that passes the filter into an empty folder, or one that was exported before.

    With `force` files that were edited since are replaced. Raises InvalidInput for any other folder.
    """
    before = _recorded(folder)
    with store.read() as session:
        notes = session.notes.get_many(
            list(session.notes.ids_of(session.notes.keys(wanted)).values()), history=False, usage=False, deleted=True
        )
        links = session.vaults.links_from(notes)
    paths = _paths(notes, {id: path for id, (path, _) in before.items()})
    index = Index(paths, {})
    report = ExportReport(str(folder.root))
    given: dict[str, tuple[str, str]] = {}
    with folder.locked():
        for id, (path, digest) in before.items():
            if id not in notes and not _drop(folder, path, digest, report):
                given[id] = path, digest
        for id, note in notes.items():
            led = links.get(id, [])
            path, digest = paths[id], before.get(id, ("", ""))[1]
            refs = NOTHING if is_generated(note) else Refs.of_file(NoteFile(note.content), NOTHING, index, path)
            page = rendered(None, refs, note, said_by_note(note, led, refs, index, zone), led, index, zone)
            data = page.encoded
            fresh = digest_of(data).hex()
            if _put(folder, path, data, fresh, digest, report, force=force):
                given[id] = path, fresh
            elif digest:
                given[id] = path, digest
        _record(folder, given)
    return report


def _put(folder: Folder, path: str, data: bytes, fresh: str, digest: str, report: ExportReport, *, force: bool) -> bool:
    """Write a file where it differs and nobody edited it; whether it holds the data now."""
    held = _stat(folder, path)
    if held is not None and fresh == digest and held.size == len(data):
        report.unchanged += 1
        return True
    try:
        if held is not None and not force and digest_of(folder.read(path)).hex() not in (digest, fresh):
            report.problems.append((path, "it was edited since the last export; --force replaces it"))
            return False
        folder.write(path, data, expect=held)
    except (Changed, InvalidInput, OSError) as error:
        report.problems.append((path, "it was changed meanwhile" if isinstance(error, Changed) else str(error)))
        return False
    report.written += 1
    return True


def _drop(folder: Folder, path: str, digest: str, report: ExportReport) -> bool:
    """Remove the file of a note that is no longer exported, unless somebody edited it; whether it is gone."""
    held = _stat(folder, path)
    if held is None:
        return True
    try:
        if digest_of(folder.read(path)).hex() == digest:
            folder.destroy(path, expect=held)
            report.removed += 1
            return True
        report.problems.append((path, "its note is no longer exported, and it was edited since the last export"))
    except (Changed, InvalidInput, OSError) as error:
        report.problems.append((path, "it was changed meanwhile" if isinstance(error, Changed) else str(error)))
    return False


def _paths(notes: Mapping[str, MemoryNote], before: Mapping[str, str]) -> dict[str, str]:
    paths = {id: before[id] for id in notes if id in before}
    taken = {folded(stem(path)) for path in before.values()}
    for id, note in notes.items():
        if id not in paths:
            name = free_name(title_for(note), taken)
            taken.add(folded(name))
            paths[id] = f"{TOPICS}/{name}.md" if is_generated(note) else f"{name}.md"
    return paths


def _recorded(folder: Folder) -> dict[str, tuple[str, str]]:
    """(path, digest) of what was exported before, by note. Raises InvalidInput for a folder that holds other things."""
    if not folder.exists:
        return {}
    if folder.identity():
        raise InvalidInput(
            f"{folder.root} is kept in step with the notes", hint="use amem vault sync, or name another folder"
        )
    if not folder.is_there(EXPORTED):
        if any(each.name != OWN for each in folder.root.iterdir()):
            raise InvalidInput(
                f"{folder.root} holds other files",
                hint="name an empty folder, one exported before, or use amem vault sync",
            )
        return {}
    try:
        held = json.loads(folder.read(EXPORTED))["files"]
        return {str(id): (str(path), str(digest)) for id, (path, digest) in held.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{folder.root / EXPORTED} cannot be read: {error}", hint="name another folder") from error


def _record(folder: Folder, given: Mapping[str, tuple[str, str]]) -> None:
    data = json.dumps({"files": given}, ensure_ascii=False, indent=0).encode()
    folder.write(EXPORTED, data, expect=_stat(folder, EXPORTED))


def _stat(folder: Folder, path: str) -> Stat | None:
    try:
        held = os.lstat(folder.root / path)
    except OSError:
        return None
    return Stat(held.st_mtime_ns, held.st_size)
