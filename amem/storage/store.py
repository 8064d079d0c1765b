"""The truth of one collection: opens its database and hands out transactions."""

from __future__ import annotations

import shutil
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from amem.storage.database import BUSY_SECONDS, FILE_NAME, Database, explain_folder
from amem.storage.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from amem.clock import Clock

#: So many operations are remembered as begun here.
_BEGUN = 1000


class Store:
    """One collection's database; `folder` None keeps it in memory. Safe to use from many threads.

    `busy_seconds` is how long a write waits for other processes before StorageBusy.
    """

    def __init__(self, folder: Path | None, clock: Clock, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.folder = folder
        self._clock = clock
        self._database = Database(folder, busy_seconds=busy_seconds)
        self._begun: deque[int] = deque(maxlen=_BEGUN)

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
            yield Session(connection, self._clock.now())

    @contextmanager
    def write(self, *, wait: float | None = None) -> Iterator[Session]:
        """A transaction that is committed when left without an exception. Raises StorageError and its kin.

        `wait` bounds the seconds until StorageBusy when others are writing; None waits long.
        """
        with self._database.write(wait=wait) as connection:
            session = Session(connection, self._clock.now())
            yield session
        self._begun.extend(session.begun)

    def copy_to(self, folder: Path) -> None:
        """Write a consistent copy of the database into another (new) collection folder; all of it or nothing."""
        try:
            folder.mkdir(parents=True, mode=0o700)
            try:
                self._database.backup_to(folder / FILE_NAME)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        except OSError as error:
            raise explain_folder(error, folder) from error

    def shrink(self) -> None:
        """Leave no trace of purged notes in the file's free space."""
        self._database.shrink()

    def tidy(self, stop: Callable[[], bool]) -> None:
        """Keep queries quick, a few milliseconds at a time, until done or told to `stop`."""
        self._database.tidy(stop)

    def check(self) -> list[str]:
        """What SQLite and the links between tables complain about; empty when all is well. Reads everything."""
        with self._database.read() as connection:
            problems = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
            problems += [f"foreign key: {tuple(row)}" for row in connection.exec_driver_sql("PRAGMA foreign_key_check")]
        return [problem for problem in problems if problem != "ok"]

    def close(self) -> None:
        """Close every connection."""
        self._database.close()
