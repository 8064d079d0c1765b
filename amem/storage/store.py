"""The truth of one collection: opens its database and hands out transactions."""

from __future__ import annotations

import re
import sqlite3
from collections import deque
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from amem.errors import StorageCorrupt, StorageError
from amem.note import EVERYONE, NOBODY, SCOPES, Scope
from amem.storage.copies import Backup, mark_copy, new_folder, write_backup, write_copy
from amem.storage.database import BUSY_SECONDS, FILE_NAME, Database, explain_file, explain_folder
from amem.storage.rows import UNREADABLE, parameters, refuse_undecoded, scope_values, stored_text, unreadable
from amem.strength import EACH_KIND, Decay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from amem.clock import Clock
    from amem.storage.chats import Chats
    from amem.storage.jobs import Costs, Evolutions, Jobs, Remarks, Runs, Spending
    from amem.storage.links import Links
    from amem.storage.note_lists import Cards
    from amem.storage.notes import Notes, Sources
    from amem.storage.operations import Operations
    from amem.storage.reviews import Flags, Reviews
    from amem.storage.search_tables import Facts, FullText
    from amem.storage.usage import Usage
    from amem.storage.vaults import Vaults
    from amem.storage.vectors import Vectors


# One transaction on a collection, and what can be read and written in it.

_READS = ("SELECT", "WITH")
_LIST = re.compile(r"\bIN :(\w+)")
T = TypeVar("T")
M = TypeVar("M", bound="Mapping[Any, Any]")


def _part(module: str, name: str) -> Any:
    """A part of a session, imported and made when it is first asked for: the commonest commands need few of them."""
    return cached_property(lambda session: getattr(import_module(f"amem.storage.{module}"), name)(session))


@lru_cache(maxsize=512)
def _in_full(sql: str) -> tuple[str, bool]:
    """A statement as SQLite takes it, and whether it asks for the scope."""
    return _LIST.sub(r"IN (SELECT value FROM json_each(:\1))", sql), f":{SCOPES[0]}" in sql


@lru_cache(maxsize=128)
def _insertion(table: str, either: str, columns: tuple[str, ...]) -> str:
    values = ", ".join(f":{name}" for name in columns)
    return f"INSERT OR {either} INTO {table} ({', '.join(columns)}) VALUES ({values})"


class Session:
    """A read snapshot, or a writing transaction when it came from ``Store.write()``.

    Statements name their parameters, and take any value: a time is kept as text, and ``IN :names`` takes several of
    them, in any number. Those of `in_scope` are the session's own scope unless they are given.
    """

    notes: Notes = _part("notes", "Notes")
    sources: Sources = _part("notes", "Sources")
    #: Notes as lists show them.
    cards: Cards = _part("note_lists", "Cards")
    links: Links = _part("links", "Links")
    facts: Facts = _part("search_tables", "Facts")
    text: FullText = _part("search_tables", "FullText")
    vectors: Vectors = _part("vectors", "Vectors")
    usage: Usage = _part("usage", "Usage")
    operations: Operations = _part("operations", "Operations")
    reviews: Reviews = _part("reviews", "Reviews")
    flags: Flags = _part("reviews", "Flags")
    chats: Chats = _part("chats", "Chats")
    jobs: Jobs = _part("jobs", "Jobs")
    runs: Runs = _part("jobs", "Runs")
    remarks: Remarks = _part("jobs", "Remarks")
    evolutions: Evolutions = _part("jobs", "Evolutions")
    #: What model calls cost, by day, and what they were made for.
    spending: Spending = _part("jobs", "Spending")
    costs: Costs = _part("jobs", "Costs")
    #: Folders that are kept in step with the notes.
    vaults: Vaults = _part("vaults", "Vaults")

    def __init__(
        self, connection: sqlite3.Connection, now: datetime, decay: Decay, *, parent: int | None = None
    ) -> None:
        self.connection = connection
        self.now = now
        #: At what pace notes are forgotten.
        self.decay = decay
        self._parent = parent
        #: The operations that were begun in it of themselves, not set off by others.
        self.begun: list[int] = []
        #: Rows that a list left out since they cannot be read, and why.
        self.passed_over: dict[str, StorageCorrupt] = {}
        #: Whose notes are found by what they say: see `within`.
        self.scope = EVERYONE

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """In the block, notes are found by their words, facts, tags, turns and sources in this scope alone.

        What is asked for by id or key is there whosever it is: whoever has those found them in the scope.
        """
        before, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = before

    @property
    def is_shared(self) -> bool:
        """Whether notes outside the scope may be there, so that what is found has to be held against it."""
        return self.scope != EVERYONE and (self.scope != NOBODY or self.notes.any_owned())

    def rows(self, sql: str, /, **values: Any) -> list[Any]:
        """All rows of a statement as tuples; `values` are its parameters by name."""
        return self._fetched(sql, values)[1]

    def records(self, sql: str, /, **values: Any) -> list[dict[str, Any]]:
        """As `rows`, each row a dict by column."""
        cursor, rows = self._fetched(sql, values)
        names = [each[0] for each in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in rows]

    def column(self, sql: str, /, **values: Any) -> list[Any]:
        """The first column of all rows."""
        return [row[0] for row in self._fetched(sql, values)[1]]

    def _fetched(self, sql: str, values: Mapping[str, Any]) -> tuple[sqlite3.Cursor, list[Any]]:
        # SQLite's own way to make text is five times as quick as ours and stops at what is not UTF-8: what only reads
        # is then read again.
        whole, held = self._whole(sql, values)
        if sql.startswith(_READS):
            self.connection.text_factory = str
            try:
                cursor = self.connection.execute(whole, held)
                return cursor, cursor.fetchall()
            except sqlite3.OperationalError as error:
                if "decode" not in str(error):
                    raise
            finally:
                self.connection.text_factory = stored_text
        cursor = self.connection.execute(whole, held)
        return cursor, cursor.fetchall()

    def _whole(self, sql: str, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        whole, scoped = _in_full(sql)
        held = parameters(values)
        return whole, scope_values(self.scope) | held if scoped else held

    def value(self, sql: str, /, **values: Any) -> Any:
        """The first column of the first row; None where there is no row."""
        return next(iter(self.column(sql, **values)), None)

    def change(self, sql: str, /, **values: Any) -> int:
        """Run a statement that writes; returns how many rows it changed."""
        return self.connection.execute(*self._whole(sql, values)).rowcount

    def insert(
        self, table: str, *rows: Mapping[str, Any], either: Literal["ABORT", "IGNORE", "REPLACE"] = "ABORT"
    ) -> int:
        """Insert rows of the same columns, and do this `either` where one is there already.

        Returns the key of a single one, 0 where it was ignored.
        """
        if not rows:
            return 0
        sql = _insertion(table, either, tuple(rows[0]))
        if len(rows) > 1:
            self.connection.executemany(sql, map(parameters, rows))
            return 0
        cursor = self.connection.execute(sql, parameters(rows[0]))
        return int(cursor.lastrowid or 0) if cursor.rowcount else 0

    def remembered(self, name: str) -> str | None:
        """The value kept under this name for the collection as a whole; None where there is none."""
        found: str | None = self.value("SELECT value FROM meta WHERE key = :name", name=name)
        return found

    def remember(self, name: str, value: str) -> None:
        """Keep a value for the collection as a whole."""
        self.change("INSERT OR REPLACE INTO meta (key, value) VALUES (:name, :value)", name=name, value=value)

    def update(self, table: str, values: Mapping[str, Any], /, **where: Any) -> int:
        """Set these columns in the rows that hold what `where` says; returns how many there are."""
        sets = ", ".join(f"{name} = :{name}" for name in values)
        which = " AND ".join(f"{name} = :its_{name}" for name in where)
        held = {f"its_{name}": value for name, value in where.items()}
        return self.change(f"UPDATE {table} SET {sets} WHERE {which}", **values, **held)

    def past(self, what: str, read: Callable[[], T]) -> T | None:
        """Return what `read` returns; None for a row that cannot be read, which the list then leaves out."""
        try:
            return read()
        except UNREADABLE as error:
            named = error if isinstance(error, StorageCorrupt) and what in str(error) else unreadable(what, error)
            self.passed_over[what] = named
            return None

    def readable(self, rows: Iterable[M], name: Callable[[M], str], read: Callable[[M], T]) -> list[T]:
        """Read each row, without those that cannot be read; `name` gives the name of a row for the error."""

        def whole(row: M) -> T:
            refuse_undecoded(row)
            return read(row)

        every = list(rows)
        try:
            return [whole(row) for row in every]
        except UNREADABLE:  # which of them it is, and what the others say
            found = [self.past(name(row), partial(whole, row)) for row in every]
            return [each for each in found if each is not None]

    @cached_property
    def counter(self) -> int:
        """The change counter as this transaction sees it."""
        return int(self.value("SELECT value FROM counter"))

    @cached_property
    def seq(self) -> int:
        """The counter value that stamps all this transaction changes; the first use increments it."""
        self.counter = int(self.value("UPDATE counter SET value = value + 1 RETURNING value"))
        return self.counter

    def begin(
        self,
        action: str,
        actor: str,
        cause: str = "",
        *,
        parent: int | None = None,
        undoes: int | None = None,
        prompts: str = "",
    ) -> int:
        """Write the operation row that what follows will carry; returns its id.

        `prompts` names what a model was asked to bring it about, with versions: ``analyze 2, evolve 2``. Without a
        `parent` it is set off by the operation that the work belongs to (see `Store.within_operation`), if any.
        """
        parent = self._parent if parent is None else parent
        row = {"parent": parent, "action": action, "actor": actor, "cause": cause, "undoes": undoes, "prompts": prompts}
        key = self.insert("operations", row | {"at": self.now})
        if parent is None:
            self.begun.append(key)
        return key


#: So many operations are remembered as begun here.
_BEGUN = 1000


class Store:
    """One collection's database; `folder` None keeps it in memory. Safe to use from many threads.

    `busy_seconds` is how long a write waits for other processes before StorageBusy; `read_only` refuses every write.
    `decay` is the pace at which its notes are forgotten.
    """

    def __init__(
        self,
        folder: Path | None,
        clock: Clock,
        *,
        busy_seconds: float = BUSY_SECONDS,
        read_only: bool = False,
        decay: Decay = EACH_KIND,
    ) -> None:
        self.folder = folder
        self._decay = decay
        self._clock = clock
        self.database = Database(folder, busy_seconds=busy_seconds, read_only=read_only)
        self._begun: deque[int] = deque(maxlen=_BEGUN)
        self._operation: ContextVar[int | None] = ContextVar("operation", default=None)
        #: Rows that lists left out since they cannot be read, and why.
        self.passed_over: dict[str, StorageCorrupt] = {}

    @property
    def read_only(self) -> bool:
        """True when the collection can be read but not changed."""
        return self.database.read_only

    @property
    def begun(self) -> tuple[int, ...]:
        """The last 1,000 operations that were written through this object, oldest first, without what they set off."""
        return tuple(self._begun)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A consistent snapshot."""
        with self.database.read() as connection:
            session = Session(connection, self._clock.now(), self._decay)
            yield session
        self.passed_over |= session.passed_over

    @contextmanager
    def write(self, *, wait: float | None = None) -> Iterator[Session]:
        """A transaction that is committed when left without an exception. Raises StorageError and its kin.

        `wait` bounds the seconds until StorageBusy when others are writing; None waits long.
        """
        with self.database.write(wait=wait) as connection:
            session = Session(connection, self._clock.now(), self._decay, parent=self._operation.get())
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
            with self.database.snapshot() as raw, new_folder(folder) as aside:
                write_copy(raw, aside / FILE_NAME)
                mark_copy(aside / FILE_NAME, self.folder.name if self.folder else "")
        except OSError as error:
            raise explain_folder(error, folder) from error

    def back_up(self, path: Path, *, replace: bool = False) -> Backup:
        """Write a consistent copy to one file, checked, with its checksum in a file beside it.

        Raises InvalidInput for a file that is there, unless to `replace`.
        """
        try:
            with self.database.snapshot() as raw:
                return write_backup(raw, path, replace=replace)
        except OSError as error:
            raise explain_file(error, path) from error

    def shrink(self) -> None:
        """Leave no trace of purged notes in the file's free space, and no backup of before a schema was changed.

        Raises StorageFull and StorageBusy; what was not done yet is done by the next call.
        """
        if self.folder is not None:
            from amem.storage.migrations import backups

            try:
                for backup in backups(self.folder / FILE_NAME):
                    backup.unlink(missing_ok=True)
            except OSError as error:
                raise StorageError(
                    f"a backup in {self.folder} cannot be removed: {error.strerror}", hint="check its permissions"
                ) from error
        self.database.shrink()

    def tidy(self, stop: Callable[[], bool]) -> None:
        """Keep queries quick, a few milliseconds at a time, until done or told to `stop`."""
        self.database.tidy(stop)

    def check(self) -> list[str]:
        """The problems that SQLite, foreign keys and the rows themselves show; empty when all is well.

        Reads everything.
        """
        from amem.storage.soundness import unsound

        with self.database.read() as connection:
            problems = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
            problems += [f"foreign key: {row}" for row in connection.execute("PRAGMA foreign_key_check")]
        found = [problem for problem in problems if problem != "ok"]
        if found:
            return found
        with self.read() as session:
            return list(unsound(session))

    def close(self) -> None:
        """Close every connection."""
        self.database.close()
