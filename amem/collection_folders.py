"""The folders of collections in a home: their names, what is in each, archives, and collections made of backups."""

from __future__ import annotations

import re
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from amem.clock import SystemClock
from amem.errors import CollectionExists, CollectionNotFound, InvalidInput, StorageCorrupt, StorageError
from amem.query import Filter
from amem.storage.copies import identity, new_folder, opened_backup, origin, write_copy
from amem.storage.database import FILE_NAME, explain_folder, explained
from amem.storage.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path


_NAME = re.compile(r"[^\W_][\w.-]{0,99}")
#: Bytes of a name: file systems end at 255, and a copy that is being written has a longer one.
_MOST_BYTES = 200
#: The folder of a home in which archived collections lie.
ARCHIVE = ".archive"
#: What else a home holds.
_TAKEN = frozenset({"config.toml", "prompts", "rules.md", "predicates.toml", "mcp.token"})


def folder_of(home: Path, name: str) -> Path:
    """The folder of a collection. Raises InvalidInput for a name that could lead anywhere else."""
    if len(name.encode("utf-8", "surrogatepass")) > _MOST_BYTES or name.casefold() in _TAKEN:
        why = "that is a file of the home" if name.casefold() in _TAKEN else f"it has more than {_MOST_BYTES} bytes"
        raise InvalidInput(f"{name[:40]!r} cannot name a collection: {why}", hint="choose another, shorter name")
    if not _NAME.fullmatch(name) or name.endswith("."):
        raise InvalidInput(
            f"{name!r} cannot name a collection",
            hint="use letters, digits, '-', '_' and '.', beginning with a letter or digit",
        )
    return home / name


def existing_folder(home: Path, name: str) -> Path:
    """The folder of a collection that is there. Raises CollectionNotFound."""
    folder = folder_of(home, name)
    if home.exists() and not home.is_dir():
        raise StorageError(f"{home} is not a folder", hint="name another --home")
    if not (folder / FILE_NAME).is_file():
        if is_archived(home, name):
            hint = f"amem collections unarchive {name} brings it back"
            raise CollectionNotFound(f"the collection {name!r} is archived", hint=hint)
        raise CollectionNotFound(
            f"there is no collection {name!r} in {home}", hint="amem collections lists them; amem add makes one"
        )
    return folder


def is_archived(home: Path, name: str) -> bool:
    """Whether a collection of this name was put away."""
    return (home / ARCHIVE / name / FILE_NAME).is_file()


def collection_names(home: Path) -> list[str]:
    """Names of the collections in a home, sorted; none when the home does not exist."""
    if not home.is_dir():
        return []
    # A name that cannot be one is a copy that is being written, or that a killed process left.
    return sorted(each.name for each in home.iterdir() if _NAME.fullmatch(each.name) and (each / FILE_NAME).is_file())


def folder_size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    found = 0
    for path in folder.rglob("*"):
        try:
            found += path.stat().st_size if path.is_file() and not path.is_symlink() else 0
        except FileNotFoundError:  # a log that its last reader has just folded back
            continue
    return found


@dataclass(frozen=True, slots=True)
class Listed:
    """A collection in a list: how many notes (and `active` ones), how many bytes, when it was last written or used.

    One that does not open says why in `problem`. `origin` names what it is a fork of, '' where it is none.
    """

    name: str
    folder: Path
    notes: int | None
    size: int
    problem: str = ""
    last_used: datetime | None = None
    origin: str = ""
    identity: str = ""
    origin_identity: str = ""
    active: int = 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "name": self.name,
            "notes": self.notes,
            "bytes": self.size,
            "path": str(self.folder),
            "problem": self.problem or None,
            "origin": self.origin or None,
            "last_used": None if self.last_used is None else self.last_used.isoformat(),
        }

    def is_fork_of(self, other: Listed) -> bool:
        """Whether it is a copy of that collection, also after either was renamed."""
        return self.origin_identity != "" and self.origin_identity == other.identity


def listed_collection(home: Path, name: str) -> Listed:
    """What a list says of a collection; one that does not open spoils no list."""
    folder = home / name
    size = folder_size(folder)
    try:
        with closing(Store(folder, SystemClock())) as store, store.read() as session:
            known = origin(session)
            return Listed(
                name,
                folder,
                session.notes.count(),
                size,
                last_used=session.usage.latest(),
                origin="" if known is None else known.name,
                identity=identity(session),
                origin_identity="" if known is None else known.identity,
                active=session.notes.count(Filter()),
            )
    except StorageError as error:
        return Listed(name, folder, None, size, str(error))


def with_present_origins(found: Sequence[Listed]) -> list[Listed]:
    """The same with each `origin` by the name that the source has now, where it is among them."""
    names: dict[str, list[str]] = defaultdict(list)
    for each in found:
        if each.identity:
            names[each.identity].append(each.name)

    def present(each: Listed) -> Listed:
        sources = names.get(each.origin_identity, [])
        # A restored backup is as much the source as what it was made of: the name that was noted tells them apart.
        return replace(each, origin=sources[0]) if sources and each.origin not in sources else each

    return [present(each) for each in found]


def restore_backup(backup: Path, home: Path, name: str, *, replace: bool = False) -> Path:
    """Make a collection of a backup (or of any ``amem.db``), checked; returns its folder.

    With `replace` a collection of that name makes room: it is renamed to ``<name>.before-<time>``, never overwritten.
    Raises InvalidInput, CollectionExists, StorageCorrupt or SchemaTooNew; nothing is changed then.
    """
    folder = folder_of(home, name)
    if not backup.is_file():
        lacking = "there is no file" if not backup.exists() else "a folder is no backup:"
        raise InvalidInput(f"{lacking} {backup}", hint="name a file that amem backup wrote")
    if folder.exists() and not replace:
        hint = "name another, or give replace=True: the one there is then renamed, and kept"
        raise CollectionExists(f"there is a collection {name!r} already", hint=hint)
    try:
        with explained(backup), new_folder(folder, replace=replace) as aside:
            with opened_backup(backup) as raw:
                write_copy(raw, aside / FILE_NAME)
            with closing(Store(aside, SystemClock())) as store:  # an old one is upgraded
                problems = store.check()
            if problems:
                raise StorageCorrupt(f"{backup} is damaged: {problems[0]}", hint="use another backup")
            if folder.exists():
                moment = SystemClock().now().strftime("%Y%m%dT%H%M%S.%fZ")
                folder.rename(folder.with_name(f"{name[:70]}.before-{moment}"))
    except OSError as error:
        raise explain_folder(error, folder) from error
    return folder
