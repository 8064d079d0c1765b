"""The truth of one collection: opens its database and hands out transactions."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from amem.errors import StorageError
from amem.storage.backup import new_folder, write_backup, write_copy
from amem.storage.database import BUSY_SECONDS, FILE_NAME, Database, explain_folder
from amem.storage.migrations import backups
from amem.storage.session import Session
from amem.storage.soundness import unsound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from amem.clock import Clock
    from amem.errors import StorageCorrupt
    from amem.storage.backup import Backup

#: So many operations are remembered as begun here.
_BEGUN = 1000


class Store:
    """One collection's database; `folder` None keeps it in memory. Safe to use from many threads.

    `busy_seconds` is how long a write waits for other processes before StorageBusy; `read_only` refuses every write.
    """

    def __init__(
        self, folder: Path | None, clock: Clock, *, busy_seconds: float = BUSY_SECONDS, read_only: bool = False
    ) -> None:
        self.folder = folder
        self._clock = clock
        self._database = Database(folder, busy_seconds=busy_seconds, read_only=read_only)
        self._begun: deque[int] = deque(maxlen=_BEGUN)
        self._operation: ContextVar[int | None] = ContextVar("operation", default=None)
        #: Rows that lists left out since they cannot be read, and why.
        self.passed_over: dict[str, StorageCorrupt] = {}

    @property
    def read_only(self) -> bool:
        """True when the collection can be read but not changed."""
        return self._database.read_only

    @property
    def begun(self) -> tuple[int, ...]:
        """The last 1,000 operations that were written through this object, oldest first, without what they set off."""
        return tuple(self._begun)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A consistent snapshot."""
        with self._database.read() as connection:
            session = Session(connection, self._clock.now())
            yield session
        self.passed_over |= session.passed_over

    @contextmanager
    def write(self, *, wait: float | None = None) -> Iterator[Session]:
        """A transaction that is committed when left without an exception. Raises StorageError and its kin.

        `wait` bounds the seconds until StorageBusy when others are writing; None waits long.
        """
        with self._database.write(wait=wait) as connection:
            session = Session(connection, self._clock.now(), parent=self._operation.get())
            yield session
        self._begun.extend(session.begun)
        self.passed_over |= session.passed_over

    @contextmanager
    def within_operation(self, operation: int) -> Iterator[None]:
        """In the block, what this thread writes is set off by that operation, so that one undo takes all of it back."""
        before = self._operation.set(operation)
        try:
            yield
        finally:
            self._operation.reset(before)

    def copy_to(self, folder: Path) -> None:
        """Write a consistent copy of the database into another (new) collection folder; all of it or nothing.

        Raises CollectionExists when there is such a folder.
        """
        try:
            with self._database.snapshot() as raw, new_folder(folder) as aside:
                write_copy(raw, aside / FILE_NAME)
        except OSError as error:
            raise explain_folder(error, folder) from error

    def back_up(self, path: Path, *, replace: bool = False) -> Backup:
        """Write a consistent copy to one file, checked, with its checksum in a file beside it.

        Raises InvalidInput for a file that is there, unless to `replace`.
        """
        try:
            with self._database.snapshot() as raw:
                return write_backup(raw, path, replace=replace)
        except OSError as error:
            raise explain_folder(error, path) from error

    def shrink(self) -> None:
        """Leave no trace of purged notes in the file's free space, and no backup of before a schema was changed.

        Raises StorageFull and StorageBusy; what was not done yet is done by the next call.
        """
        if self.folder is not None:
            try:
                for backup in backups(self.folder / FILE_NAME):
                    backup.unlink(missing_ok=True)
            except OSError as error:
                raise StorageError(
                    f"a backup in {self.folder} cannot be removed: {error.strerror}", hint="check its permissions"
                ) from error
        self._database.shrink()

    def tidy(self, stop: Callable[[], bool]) -> None:
        """Keep queries quick, a few milliseconds at a time, until done or told to `stop`."""
        self._database.tidy(stop)

    def check(self) -> list[str]:
        """What SQLite, the links between tables and the rows themselves complain about; empty when all is well.

        Reads everything.
        """
        with self._database.read() as connection:
            problems = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
            problems += [f"foreign key: {tuple(row)}" for row in connection.exec_driver_sql("PRAGMA foreign_key_check")]
        found = [problem for problem in problems if problem != "ok"]
        if found:
            return found
        with self.read() as session:
            return list(unsound(session))

    def close(self) -> None:
        """Close every connection."""
        self._database.close()
