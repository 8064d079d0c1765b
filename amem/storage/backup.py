"""Copies of a database: consistent while others write, checked against the original, and never half there.

Each is written beside its place, checked, flushed to the disk and then renamed. A process that is killed leaves nothing
that looks like a copy.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from amem.errors import CollectionExists, InvalidInput, StorageBusy, StorageCorrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK = ".copying.lock"
_PART = ".part"
#: Seconds to wait for another process that copies within the same folder.
_PATIENCE = 600.0
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was written: its file, its size in bytes, how many rows it holds, and its SHA-256 in hex."""

    path: Path
    size: int
    notes: int
    sha256: str


def write_copy(source: sqlite3.Connection, target: Path) -> dict[str, int]:
    """Write the database, as the transaction of `source` sees it, to a file; returns how many rows each table has.

    What is there is replaced at the end, all at once. Raises StorageCorrupt when the copy is not what the original is.
    """
    aside = target.with_name(f".{target.name}{_PART}")
    try:
        os.close(os.open(aside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600))
        with closing(sqlite3.connect(aside)) as copy:
            source.backup(copy)
            # One file that stands alone: no log beside it, readable where nothing can be written.
            copy.execute("PRAGMA journal_mode=DELETE")
            rows = row_counts(copy)
            problems = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(10)")]
        if problems != ["ok"]:
            raise StorageCorrupt(f"what was to be copied is damaged: {problems[0]}", hint="run amem doctor")
        if rows != row_counts(source):
            raise StorageCorrupt(f"the copy in {target.parent} does not hold what the original does", hint="try again")
        _flush(aside)
        aside.replace(target)
        _flush(target.parent)
    finally:
        aside.unlink(missing_ok=True)
    return rows


def row_counts(connection: sqlite3.Connection) -> dict[str, int]:
    """How many rows each table has."""
    # The tables that FTS5 keeps are read through it, and those of its vocabulary are views.
    listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
    names = [name for (name,) in connection.execute(listed)]
    return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}


@contextmanager
def opened_backup(path: Path) -> Iterator[sqlite3.Connection]:
    """A backup, or any database of a collection with the log beside it, to be read; nothing is written beside it.

    Raises StorageCorrupt when it is not what its checksum says, InvalidInput when it is no collection.
    """
    verify(path)
    with tempfile.TemporaryDirectory(prefix="amem-") as folder:
        source = copy_aside(path, Path(folder)) if has_log(path) else path
        options = "" if source is not path else "?mode=ro&immutable=1"
        with closing(sqlite3.connect(f"file:{quote(str(source))}{options}", uri=True)) as raw:
            held = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not {"notes", "operations", "meta"} <= held:
                raise InvalidInput(f"{path} is no backup of a collection", hint="amem backup FILE writes them")
            yield raw


def has_log(path: Path) -> bool:
    """Whether a log stands beside a database, as a process leaves it that was killed: it holds the last writes."""
    log = log_of(path)
    return log.exists() and log.stat().st_size > 0


def log_of(path: Path) -> Path:
    """Where SQLite keeps the write-ahead log of a database."""
    return path.with_name(f"{path.name}-wal")


def copy_aside(path: Path, folder: Path) -> Path:
    """Copy a database and its log, of one moment, to a folder; returns the copy, which holds what both hold."""

    def moment() -> list[tuple[int, int]]:
        return [(each.stat().st_mtime_ns, each.stat().st_size) for each in (path, log_of(path))]

    for _ in range(_ATTEMPTS):
        before = moment()
        for each in (path, log_of(path)):
            shutil.copyfile(each, folder / each.name)
        if moment() == before:
            return folder / path.name
    raise StorageBusy(f"{path} is written to while it is copied", hint="try again in a moment")


def checksum_file(path: Path) -> Path:
    """Where the checksum of a backup stands, as ``sha256sum -c`` reads it."""
    return path.with_name(f"{path.name}.sha256")


def write_backup(source: sqlite3.Connection, path: Path, *, replace: bool) -> Backup:
    """Write a backup with its checksum beside it. Raises InvalidInput for a file that is there, unless to `replace`."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder", hint="name a file in it")
    if path.is_symlink() or path.exists():
        if not path.is_file() or path.is_symlink():
            raise InvalidInput(f"{path} is no plain file", hint="name another file")
        if not replace:
            raise InvalidInput(f"{path} is there already", hint="replace=True replaces it")
    beside = checksum_file(path)
    # A checksum of the backup before would call the new one damaged, were this process killed between the two.
    beside.unlink(missing_ok=True)
    rows = write_copy(source, path)
    found = checksum(path)
    part = beside.with_name(f".{beside.name}{_PART}")
    try:
        descriptor = os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(f"{found}  {path.name}\n")
        _flush(part)
        part.replace(beside)
    finally:
        part.unlink(missing_ok=True)
    return Backup(path, path.stat().st_size, rows["notes"], found)


def checksum(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def verify(path: Path) -> bool:
    """Hold a backup against its checksum; False when there is none. Raises StorageCorrupt when it differs."""
    try:
        expected = checksum_file(path).read_text(encoding="utf-8").split()[0]
    except (FileNotFoundError, IndexError):
        return False
    if checksum(path) != expected:
        raise StorageCorrupt(
            f"{path} is not what was backed up: its checksum differs from {checksum_file(path).name}",
            hint="use another backup",
        )
    return True


@contextmanager
def new_folder(folder: Path, *, replace: bool = False) -> Iterator[Path]:
    """A folder to fill, which gets its name when it is full; one that was left half filled is swept first.

    With `replace` whoever fills it moves what has the name out of the way. Raises CollectionExists for a name that is
    taken, StorageBusy when another process copies for too long.
    """
    from filelock import FileLock, Timeout

    def refuse_taken() -> None:
        if folder.exists():
            raise CollectionExists(f"there is a collection {folder.name!r} already", hint="choose another name")

    if not replace:
        refuse_taken()
    home = folder.parent
    home.mkdir(parents=True, mode=0o700, exist_ok=True)
    try:
        # Whoever holds the lock copies alone: what is half filled was left by a process that was killed.
        with FileLock(home / LOCK, timeout=_PATIENCE, mode=0o600):
            for left in home.glob(f".*{_PART}"):
                if left.is_dir() and not left.is_symlink():
                    shutil.rmtree(left)
            aside = home / f".{folder.name}{_PART}"
            aside.mkdir(mode=0o700)
            try:
                yield aside
                refuse_taken()
                aside.rename(folder)
                _flush(home)
            except BaseException:
                shutil.rmtree(aside, ignore_errors=True)
                raise
    except Timeout as error:
        raise StorageBusy(f"another process copies a collection in {home}", hint="try again in a moment") from error


def _flush(path: Path) -> None:
    """Have what was written reach the disk, so that a power cut finds it."""
    if path.is_dir() and os.name == "nt":
        return  # Windows lets nobody open a folder
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
