"""Forks and the folders of a home: making a copy, sweeping what killed processes left, rename, archive and purge.

A temporary fork is a folder below ``.forks`` whose lock its process holds: where nobody holds it, it is swept.
"""

from __future__ import annotations

import shutil
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

from amem.collection_folders import ARCHIVE, collection_names, existing_folder, folder_of, is_archived
from amem.errors import CollectionExists, CollectionNotFound, InvalidInput, StorageBusy
from amem.storage.database import FILE_NAME, explain_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem.storage.store import Store

FORKS = ".forks"
_GUARD = "guard.lock"
#: Seconds to wait for another process that makes or sweeps a fork.
_PATIENCE = 60.0


def temporary_fork(store: Store, home: Path) -> tuple[Path, Callable[[], None]]:
    """Copy a collection to a folder of its own; returns that and what removes it again.

    Other processes sweep it when this one was killed. Raises InvalidInput for a collection in memory.
    """
    from filelock import FileLock, Timeout

    _refuse_in_memory(store)
    sweep(home)
    forks = home / FORKS
    try:
        forks.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = forks / uuid.uuid4().hex
        held = FileLock(folder.with_suffix(".lock"), mode=0o600)
        # No sweep looks at the lock between its making and its taking.
        with FileLock(forks / _GUARD, timeout=_PATIENCE, mode=0o600):
            held.acquire()
    except Timeout as error:
        raise StorageBusy(f"another process is busy in {forks}", hint="try again in a moment") from error
    except OSError as error:
        raise explain_folder(error, forks) from error

    def drop() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        (folder.with_suffix(".lock")).unlink(missing_ok=True)
        held.release()

    try:
        store.copy_to(folder)
    except BaseException:
        drop()
        raise
    return folder, drop


def sweep(home: Path) -> int:
    """Remove the temporary forks whose processes are gone; returns how many. Leaves it to a process that is at it.

    What a purge that was killed left goes, too.
    """
    for left in (*home.glob(".*.purged"), *(home / ARCHIVE).glob(".*.purged")):
        shutil.rmtree(left, ignore_errors=True)
    forks = home / FORKS
    if not forks.is_dir():
        return 0
    from filelock import FileLock, Timeout

    swept = 0
    # A home that cannot be written to has nothing to sweep.
    with suppress(Timeout, OSError), FileLock(forks / _GUARD, timeout=0, mode=0o600):
        # A copy that was not finished has a name that begins with a dot.
        names = {each.name.lstrip(".").split(".")[0] for each in forks.iterdir() if each.name != _GUARD}
        for name in sorted(names - {"copying"}):
            lock = forks / f"{name}.lock"
            with suppress(Timeout), FileLock(lock, timeout=0, mode=0o600):
                for left in (forks / name, *forks.glob(f".{name}.*")):
                    swept += left.is_dir()
                    shutil.rmtree(left, ignore_errors=True)
                lock.unlink(missing_ok=True)
    return swept


def rename(home: Path, name: str, new: str) -> Path:
    """Give a collection another name; returns its folder. Raises CollectionNotFound, CollectionExists, InvalidInput."""
    return _moved(existing_folder(home, name), folder_of(home, new), "choose another name")


def archive(home: Path, name: str) -> Path:
    """Put a collection away, out of the list; `unarchive` brings it back. Raises as `rename`."""
    hint = f"amem collections rename {name} NEW gives this one another name"
    return _moved(existing_folder(home, name), home / ARCHIVE / name, hint, "an archived collection")


def unarchive(home: Path, name: str) -> Path:
    """Bring an archived collection back into the list. Raises as `rename`."""
    folder_of(home, name)
    if not is_archived(home, name):
        raise CollectionNotFound(f"no collection {name!r} is archived", hint="amem collections names those that are")
    return _moved(home / ARCHIVE / name, home / name, f"amem collections rename {name} NEW makes room")


def archived(home: Path) -> list[str]:
    """Names of the archived collections, sorted."""
    folder = home / ARCHIVE
    if not folder.is_dir():
        return []
    return sorted(each.name for each in folder.iterdir() if (each / FILE_NAME).is_file())


def collection_folder(home: Path, name: str) -> Path:
    """The folder of a collection of the list, else of an archived one. Raises CollectionNotFound."""
    if name not in collection_names(home) and is_archived(home, name):
        return home / ARCHIVE / name
    return existing_folder(home, name)


def purge_collection(home: Path, name: str) -> Path:
    """Destroy a collection (an archived one too) with all its files, for good; returns where it was.

    Raises CollectionNotFound, and StorageError for files that cannot be removed.
    """
    folder = collection_folder(home, name)
    aside = folder.with_name(f".{name}.purged")
    try:
        # Under its name it is whole or gone, also when this process is killed half-way.
        folder.rename(aside)
        shutil.rmtree(aside)
    except OSError as error:
        raise explain_folder(error, folder) from error
    return folder


def _moved(folder: Path, target: Path, hint: str, what: str = "a collection") -> Path:
    if target.exists():
        raise CollectionExists(f"there is {what} {target.name!r} already", hint=hint)
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        folder.rename(target)
    except OSError as error:
        raise explain_folder(error, target) from error
    return target


def kept_fork(store: Store, home: Path, name: str) -> Path:
    """Copy a collection to a new one of this name in the home, which remembers where it is from; returns its folder.

    Raises CollectionExists; InvalidInput for a collection in memory.
    """
    _refuse_in_memory(store)
    target = folder_of(home, name)
    store.copy_to(target)
    return target


def _refuse_in_memory(store: Store) -> None:
    if store.folder is None:
        raise InvalidInput("a collection in memory cannot be copied", hint="give the system a directory")
