"""Copies of a database: consistent while others write, checked against the original, and never half there.

Each is written beside its place, checked, flushed to the disk and then renamed. A process that is killed leaves nothing
that looks like a copy. A fork is a copy that knows its origin: whose copy it is, and when both were last the same.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from amem.errors import CollectionExists, InvalidInput, StorageBusy, StorageCorrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.storage.store import Session

LOCK = ".copying.lock"
_PART = ".part"
#: Seconds to wait for another process that copies within the same folder.
_PATIENCE = 600.0
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was written: its file, its size in bytes, how many notes (none deleted) it has, its SHA-256."""

    path: Path
    size: int
    notes: int
    sha256: str


def write_copy(source: sqlite3.Connection, target: Path) -> None:
    """Write the database, as the transaction of `source` sees it, to a file.

    What is there is replaced at the end, all at once. Raises StorageCorrupt when the copy is not what the original is.
    """
    with _replacing(target) as aside:
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


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """An empty file of one's own beside the target, which takes its place once it is written."""
    aside = target.with_name(f".{target.name}{_PART}")
    try:
        os.close(os.open(aside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600))
        yield aside
        _flush(aside)
        aside.replace(target)
        _flush(target.parent)
    finally:
        aside.unlink(missing_ok=True)


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
            try:
                held = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
                    raise
                held = set()
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
    (notes,) = source.execute("SELECT count(*) FROM notes WHERE status <> 'deleted'").fetchone()
    write_copy(source, path)
    found = checksum(path)
    with _replacing(beside) as part:
        part.write_text(f"{found}  {path.name}\n", encoding="utf-8")
    return Backup(path, path.stat().st_size, notes, found)


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


#: What the log calls the merge of a fork.
MERGE = "merge fork"
_ORIGIN = "origin"
_MARK = (
    "SELECT (SELECT value FROM counter), (SELECT coalesce(max(id), 0) FROM operations),"
    " (SELECT coalesce(max(id), 0) FROM versions), (SELECT coalesce(max(id), 0) FROM link_changes),"
    " (SELECT coalesce(max(id), 0) FROM flags), coalesce((SELECT at FROM operations ORDER BY id DESC LIMIT 1), '')"
)
_HAPPENED = "SELECT at FROM operations WHERE id = :operation"
_UNDONE_MERGES = (
    f"SELECT id, undone_by FROM operations WHERE action = '{MERGE}' AND undone_by IS NOT NULL AND id > :after"
)
_STANDS = "SELECT undone_by IS NULL FROM operations WHERE id = :operation"


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment of one collection: its change counter, and the newest row of each log. `at` is the last operation's."""

    counter: int
    operation: int
    version: int
    link: int
    flag: int
    at: str


@dataclass(frozen=True, slots=True)
class Point:
    """A moment at which both were brought in step: by copying, or by the `merge`, an operation of the source."""

    source: Mark
    fork: Mark
    merge: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Of a copy: the `identity` of its source and the `name` it had, and the points, oldest first."""

    identity: str
    name: str
    points: tuple[Point, ...]


def mark_copy(path: Path, name: str) -> None:
    """Make a fresh copy of the collection `name`, nobody's yet, a collection of its own that remembers its origin."""
    with closing(sqlite3.connect(path)) as raw, raw:
        (identity,) = raw.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
        mark = Mark(*raw.execute(_MARK).fetchone())
        origin = Origin(identity, name, (Point(mark, mark),))
        raw.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_ORIGIN, json.dumps(asdict(origin))))
        raw.execute("UPDATE meta SET value = lower(hex(randomblob(16))) WHERE key = 'identity'")
        raw.execute("UPDATE meta SET value = lower(hex(randomblob(8))) WHERE key = 'collection'")


def mark(session: Session) -> Mark:
    """The present moment of a collection, as this transaction sees it."""
    return Mark(*session.connection.execute(_MARK).fetchone())


def identity(session: Session) -> str:
    """The id of this collection, which no other has, whatever the two are called."""
    return session.remembered("identity") or ""


def origin(session: Session) -> Origin | None:
    """Where this collection was copied from; None for one that was begun empty."""
    text = session.remembered(_ORIGIN)
    if text is None:
        return None
    held = json.loads(text)
    points = [Point(Mark(**each["source"]), Mark(**each["fork"]), each["merge"]) for each in held["points"]]
    return Origin(held["identity"], held["name"], tuple(points))


def add_point(session: Session, point: Point) -> None:
    """Have the copy's origin move to a merge that has just been made."""
    before = origin(session)
    assert before is not None
    session.remember(_ORIGIN, json.dumps(asdict(replace(before, points=(*before.points, point)))))


def base_point(source: Session, fork: Session) -> Point | None:
    """The last point that counts, whose merge is not undone; None where the one is no copy of the other."""
    held = origin(fork)
    if held is None or identity(source) != held.identity:
        return None
    for point in reversed(held.points):
        if point.merge is None or source.rows(_STANDS, operation=point.merge) == [(1,)]:
            last = point.source.operation
            # A backup from before that moment was restored since: the log tells of other operations.
            happened = not last or source.rows(_HAPPENED, operation=last) == [(point.source.at,)]
            return point if happened else None
    return None


def undone_merges(session: Session, after: int) -> set[int]:
    """The operations of merges that were undone, and of their undoing: together they changed nothing."""
    found: set[int] = set()
    for merge, undone_by in session.rows(_UNDONE_MERGES, after=after):
        found |= {*session.operations.family(merge), *session.operations.family(undone_by)}
    return found


def purged_ids(session: Session, after: int = -1) -> set[str]:
    """Ids of notes that were purged (after that value of the change counter)."""
    return set(session.column("SELECT id FROM tombstones WHERE seq > :after", after=after))
