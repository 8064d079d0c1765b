"""One SQLite file (or one in memory): connections, transactions, and SQLite's errors in our words.

A file is opened in WAL mode with ``synchronous=FULL``: a write has succeeded when its commit has, and survives
``kill -9`` and power loss. Readers never wait for writers. An in-memory collection is one connection under a lock.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from amem.errors import (
    InvalidInput,
    StorageBusy,
    StorageCorrupt,
    StorageError,
    StorageFull,
    StorageGone,
    StorageReadOnly,
)
from amem.storage.copies import copy_aside, has_log
from amem.storage.migrations import migrate
from amem.storage.rows import stored_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILE_NAME = "amem.db"
BUSY_SECONDS = 60.0
_CACHE_KIB = 65_536
#: A file is written anew where at least this share of its pages is free, and no fewer than so many (4 MB).
_FREE, _FREE_PAGES = 0.2, 1_000
#: So many connections are kept for the next transaction.
_IDLE = 4
_INDEXES = ("note_text", "source_text")
#: What SQLite says of a file that is not as it wrote it.
_DAMAGED = ("malformed", "not a database", "corrupt", "vtable constructor failed", "Could not decode to UTF-8")
#: A full-text index of more pieces than this is worth merging; a step writes so many pages of it.
_PIECES, _STEP = 4, 64


class Database:
    """Opens (and when needed creates or upgrades) the database of one collection folder; None keeps it in memory.

    `read_only` changes nothing, and no more is possible in a folder that cannot be written to.

    Raises StorageReadOnly, StorageBusy, StorageFull, StorageCorrupt or SchemaTooNew.
    """

    def __init__(self, folder: Path | None, *, busy_seconds: float = BUSY_SECONDS, read_only: bool = False) -> None:
        self.path = None if folder is None else folder / FILE_NAME
        self.busy_seconds = busy_seconds
        self._write_lock = threading.RLock()
        self._closed = False
        self._file: tuple[int, int] | None = None
        self.read_only = self._frozen = False
        self._full: StorageFull | None = None
        self._aside: TemporaryDirectory[str] | None = None
        if folder is not None:
            with explained(self.path):
                self._prepare(folder, read_only=read_only)
        #: Connections that no transaction uses; the one in memory is always the same.
        self._idle: list[sqlite3.Connection] = []
        self._turn = threading.Lock()
        try:
            self._open()
        except BaseException:
            self.close()
            raise
        self._file = self._identity()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A consistent snapshot: everything committed before its first statement, nothing after."""
        self._refuse_when_not_there()
        alone = self._write_lock if self.path is None else nullcontext()  # one in memory has one connection for all
        with explained(self.path), alone, self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def write(self, *, wait: float | None = None) -> Iterator[sqlite3.Connection]:
        """A transaction that holds the write lock from its start; commits when left without an exception.

        `wait` is how many seconds to wait for the lock before StorageBusy, for writes that are not worth waiting for.
        """
        self._refuse_when_not_there()
        if self._full is not None:
            raise StorageFull(f"{self._full}; it was opened to be read", hint="free some space and open it again")
        if self.read_only:
            raise StorageReadOnly(
                f"{self.path} cannot be written to",
                hint="check the folder's permissions, or copy the collection"
                if self._frozen
                else "it was opened to be read only",
            )
        with explained(self.path), self._write_turn(wait), self._transaction("BEGIN IMMEDIATE", wait) as connection:
            yield connection

    def close(self) -> None:
        """Close every connection; the last one folds the write-ahead log back into the file.

        A thread that comes late is refused: its connection would be one that nobody closes.
        """
        self._closed = True
        self._close_idle()
        if self._aside is not None:
            self._aside.cleanup()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """SQLite's own connection in a `read`, for whoever copies the database while others go on writing."""
        with self.read() as connection:
            connection.execute("SELECT 1 FROM counter").fetchall()  # the moment that is copied begins here
            yield connection

    def shrink(self) -> None:
        """Rewrite the file without what was purged, so that no trace of it stays in free pages or the log.

        Raises StorageFull, as it takes room for a second file, and StorageBusy when others do not stop reading.
        """
        if self.path is None:
            return
        with explained(self.path), self._write_lock, closing(self.connect()) as raw:
            # A full-text index keeps the words of deleted rows in its older segments until they are merged.
            for index in _INDEXES:
                raw.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
            raw.execute("VACUUM")
            (busy, *_) = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise StorageBusy(
                    f"the log of {self.path} is in use: another process is reading", hint="end it, then try again"
                )

    def tidy(self, stop: Callable[[], bool]) -> None:
        """Merge a full-text index that is in many pieces, a step at a time, and renew what the planner knows.

        A file of which a fifth is free is written anew.
        """
        for index in _INDEXES:
            with self.read() as connection:
                ((pieces,),) = connection.execute(f"SELECT count(DISTINCT segid) FROM {index}_idx").fetchall()
            # A negative step begins to merge all pieces into one; the positive ones go on with that.
            step = -_STEP
            while pieces > _PIECES and not stop():
                with self.write() as connection:
                    before = connection.total_changes
                    connection.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('merge', {step})")
                    if connection.total_changes - before < 2:  # FTS5's word for: nothing left to do
                        break
                step = _STEP
        with self.write() as connection:
            connection.execute("PRAGMA optimize").fetchall()
        if not stop():
            self._give_back()

    def _give_back(self) -> None:
        """Write the file anew where much of it is free, as after a change of its schema; writers wait for that."""
        if self.path is None:
            return
        with self.read() as connection:
            (free,), (pages,) = (
                connection.execute(f"PRAGMA {what}").fetchone() for what in ("freelist_count", "page_count")
            )
        # It takes room for a second file, and its log for a third.
        if free < max(_FREE_PAGES, pages * _FREE) or disk_usage(self.path.parent).free < 3 * self.path.stat().st_size:
            return
        with explained(self.path), self._write_lock, closing(self.connect()) as raw:
            raw.execute("VACUUM")
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _refuse_when_not_there(self) -> None:
        if self._closed:
            raise StorageError(f"{self.path or 'the in-memory collection'} is closed", hint="open it again")
        # SQLite would go on with the file it holds open, and lose what is written to it from now on.
        if self._file is not None and self._identity() != self._file:
            raise StorageGone(
                f"{self.path} was moved, removed or replaced while it was open",
                hint="put it back where it was, or open the collection again",
            )

    def _identity(self) -> tuple[int, int] | None:
        if self.path is None:
            return None
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return 0, 0
        except OSError as error:
            raise StorageError(f"{self.path} cannot be reached: {error.strerror}", hint="run amem doctor") from error
        return found.st_dev, found.st_ino

    @contextmanager
    def _transaction(self, begin: str, wait: float | None = None) -> Iterator[sqlite3.Connection]:
        """A transaction that is committed when left without an exception, else rolled back.

        A connection that met damage is closed, not kept: it would keep damaged pages in its cache when the file is
        well again. Its transaction is rolled back before: one that is closed while an error still holds its
        statements keeps the write lock until they are gone.
        """
        connection = self._take()
        keep = True
        try:
            if wait is not None:
                connection.execute(f"PRAGMA busy_timeout={int(wait * 1000)}")
            connection.execute(begin)
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            keep = self.path is None or not isinstance(explain(error, None), StorageCorrupt)
            raise
        finally:
            if connection.in_transaction:
                # What the transaction failed of is what is raised; it is over in any case.
                with suppress(sqlite3.Error):
                    connection.rollback()
            if wait is not None:
                connection.execute(f"PRAGMA busy_timeout={int(self.busy_seconds * 1000)}")
            self._give(connection, keep=keep)

    def _take(self) -> sqlite3.Connection:
        with self._turn:
            if self._idle:
                return self._idle[-1] if self.path is None else self._idle.pop()
        connection = self.connect()
        if self.path is None:
            self._idle.append(connection)
        return connection

    def _give(self, connection: sqlite3.Connection, *, keep: bool) -> None:
        with self._turn:
            if self.path is None and not self._closed:
                return
            if keep and not self._closed and len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _close_idle(self) -> None:
        with self._turn:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _write_turn(self, wait: float | None) -> Iterator[None]:
        """This process's own writers, one after the other."""
        if not self._write_lock.acquire(timeout=-1 if wait is None else wait):
            raise StorageBusy(
                f"{self.path or 'the in-memory collection'} is busy: this process is writing",
                hint="try again in a moment",
            )
        try:
            yield
        finally:
            self._write_lock.release()

    def _prepare(self, folder: Path, *, read_only: bool) -> None:
        assert self.path is not None
        try:
            _make_private(folder)
            if not self.path.exists():
                os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
            elif not self.path.is_file():
                raise StorageError(f"{self.path} is not a regular file", hint="move it away, or name another --home")
        except PermissionError as error:
            if not self.path.exists():
                raise explain_folder(error, folder) from error
        except OSError as error:
            raise explain_folder(error, folder) from error
        self._frozen = not (os.access(self.path, os.W_OK) and os.access(folder, os.W_OK))
        self.read_only = read_only or self._frozen

    def connect(self) -> sqlite3.Connection:
        """A new connection, set up as all are; whoever asks closes it."""
        options: dict[str, Any] = {
            "timeout": self.busy_seconds,
            "isolation_level": None,
            "check_same_thread": False,
            "cached_statements": 256,
        }
        if self.path is None:
            connection = sqlite3.connect(":memory:", **options)
        elif self.read_only:
            connection = sqlite3.connect(self._readable(self.path), uri=True, **options)
        else:
            connection = sqlite3.connect(self.path, **options)
        assert isinstance(connection, sqlite3.Connection)
        connection.text_factory = stored_text
        try:
            self._tune(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _readable(self, path: Path) -> str:
        """The address to open where nothing may be written: the file, with its log if SQLite can, else a copy."""
        if self._aside is None and self._frozen and not has_log(path):
            # This opens a file in a folder where SQLite may not even lock; in any other folder it would hide what other
            # processes write.
            return f"file:{quote(str(path))}?mode=ro&immutable=1"
        if self._aside is None:
            beside = f"file:{quote(str(path))}?mode=ro"
            try:
                with closing(sqlite3.connect(beside, uri=True)) as trial:
                    trial.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
                return beside
            except sqlite3.OperationalError:  # the log needs an index beside it, and that cannot be made
                self._aside = TemporaryDirectory(prefix="amem-")
            try:
                copy_aside(path, Path(self._aside.name))
            except OSError as error:
                raise explain_folder(error, Path(self._aside.name)) from error
        return f"file:{quote(str(Path(self._aside.name) / path.name))}"

    def _tune(self, connection: sqlite3.Connection) -> None:
        if not self.read_only and self.path is not None:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute("PRAGMA secure_delete=FAST")

    def _open(self) -> None:
        """Bring the schema up to date; where the disk is full, open to be read only what needs no upgrade."""
        try:
            with explained(self.path):
                self._upgrade()
        except StorageFull as error:
            self._close_idle()
            self.read_only = self._frozen = True
            self._full = error
            try:
                with explained(self.path):
                    self._upgrade()
            except StorageError:
                raise error from None

    def _upgrade(self) -> None:
        with self._write_lock:
            connection = self._take()
            try:
                migrate(connection, self.path, read_only=self.read_only)
            finally:
                self._give(connection, keep=True)


@contextmanager
def explained(path: Path | None) -> Iterator[None]:
    """Raise what SQLite or the disk complain of as StorageError or its kin; `path` is the database it is about."""
    try:
        yield
    except sqlite3.Error as error:
        raise explain(error, path) from error
    except UnicodeEncodeError as error:
        raise InvalidInput("half of a surrogate pair is not text", hint="give valid Unicode") from error


def explain_file(error: OSError, path: Path) -> StorageError:
    """Why a file that the caller named could not be written, as the StorageError that says what to do about it."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(f"no space left for {path}", hint="free some space and try again")
    if isinstance(error, FileNotFoundError):
        return StorageError(
            f"cannot write {path}: there is no folder {path.parent}", hint="make it, or name another file"
        )
    return StorageError(f"cannot write {path}: {error.strerror}", hint="name another file")


def explain_folder(error: OSError, folder: Path) -> StorageError:
    """Why a folder could not be made, as the StorageError that says what to do about it."""
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StorageReadOnly(
            f"cannot create a collection in {folder}", hint="check the folder's permissions or name another --home"
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(f"no space left for {folder}", hint="free some space and try again")
    return StorageError(f"cannot create {folder}: {error.strerror}", hint="name another --home")


def explain(error: BaseException, path: Path | None) -> StorageError:
    """SQLite's complaint as the StorageError that says what to do about it."""
    where = str(path or "the in-memory collection")
    text = str(error)
    if "locked" in text or "busy" in text:
        return StorageBusy(f"{where} is busy: another process is writing", hint="try again in a moment")
    if "disk is full" in text or "disk I/O" in text or "No space" in text:
        return StorageFull(
            f"{where} could not be written: {text}", hint="free some space and try again; what was saved before is safe"
        )
    if "readonly" in text or "unable to open" in text:
        return StorageReadOnly(f"{where} cannot be opened for writing: {text}", hint="check the folder's permissions")
    if any(each in text for each in _DAMAGED):
        return StorageCorrupt(
            f"{where} is damaged: {text}", hint="restore a backup (amem backup --restore FILE); do not delete it"
        )
    return StorageError(f"{where}: {text}", hint="run amem doctor")


def _make_private(folder: Path) -> None:
    # mkdir(parents=True) gives its mode to the last folder only.
    for each in [*reversed(folder.parents), folder]:
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)
