"""One transaction on a collection, with a small table of contents: what can be read and written in it."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import insert, select, update

from amem.errors import StorageCorrupt
from amem.note import EVERYONE, NOBODY
from amem.storage import tables
from amem.storage.chats import Chats
from amem.storage.costs import Costs
from amem.storage.evolutions import Evolutions
from amem.storage.facts import Facts
from amem.storage.flags import Flags
from amem.storage.fulltext import FullText
from amem.storage.jobs import Jobs
from amem.storage.links import Links
from amem.storage.notes import Notes
from amem.storage.operations import Operations
from amem.storage.prepared import Prepared
from amem.storage.remarks import Remarks
from amem.storage.reviews import Reviews
from amem.storage.rows import UNREADABLE, refuse_undecoded, time_text, unreadable
from amem.storage.runs import Runs
from amem.storage.sources import Sources
from amem.storage.spending import Spending
from amem.storage.usage import Usage
from amem.storage.vaults import Vaults
from amem.storage.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from amem.note import Scope

T = TypeVar("T")
M = TypeVar("M", bound="Mapping[Any, Any]")
_INSERT = insert(tables.operations)
_COUNTER = Prepared(select(tables.counter.c.value))
_COUNT_UP = update(tables.counter).values(value=tables.counter.c.value + 1).returning(tables.counter.c.value)


class Session:
    """A read snapshot, or a writing transaction when it came from ``Store.write()``."""

    def __init__(self, connection: Connection, now: datetime, *, parent: int | None = None) -> None:
        self.connection = connection
        self.now = now
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

    @cached_property
    def driver(self) -> sqlite3.Connection:
        """The connection below SQLAlchemy, within the same transaction."""
        raw = self.connection.connection.dbapi_connection
        assert isinstance(raw, sqlite3.Connection)
        return raw

    def past(self, what: str, read: Callable[[], T]) -> T | None:
        """What is read, None where its row cannot be: a list goes on past it and says so afterwards."""
        try:
            return read()
        except UNREADABLE as error:
            named = error if isinstance(error, StorageCorrupt) and what in str(error) else unreadable(what, error)
            self.passed_over[what] = named
            return None

    def readable(self, rows: Iterable[M], name: Callable[[M], str], read: Callable[[M], T]) -> list[T]:
        """What is read of each row, but for those that cannot be; `name` names a row to whoever is told of it."""

        def whole(row: M) -> T:
            refuse_undecoded(row)
            return read(row)

        found = [self.past(name(row), partial(whole, row)) for row in rows]
        return [each for each in found if each is not None]

    @property
    def counter(self) -> int:
        """The change counter as this transaction sees it."""
        ((value,),) = _COUNTER.rows(self)
        return int(value)

    @cached_property
    def seq(self) -> int:
        """The counter value that stamps all this transaction changes; the first use increments it."""
        return int(self.connection.execute(_COUNT_UP).scalar_one())

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
        key = self.connection.execute(_INSERT, row | {"at": time_text(self.now)}).lastrowid
        assert key is not None
        if parent is None:
            self.begun.append(int(key))
        return int(key)

    @cached_property
    def notes(self) -> Notes:
        return Notes(self)

    @cached_property
    def facts(self) -> Facts:
        return Facts(self)

    @cached_property
    def flags(self) -> Flags:
        return Flags(self)

    @cached_property
    def links(self) -> Links:
        return Links(self)

    @cached_property
    def operations(self) -> Operations:
        return Operations(self)

    @cached_property
    def sources(self) -> Sources:
        return Sources(self)

    @cached_property
    def text(self) -> FullText:
        return FullText(self)

    @cached_property
    def vectors(self) -> Vectors:
        return Vectors(self)

    @cached_property
    def usage(self) -> Usage:
        return Usage(self)

    @cached_property
    def vaults(self) -> Vaults:
        """Folders that are kept in step with the notes."""
        return Vaults(self)

    @cached_property
    def reviews(self) -> Reviews:
        return Reviews(self)

    @cached_property
    def chats(self) -> Chats:
        return Chats(self)

    @cached_property
    def jobs(self) -> Jobs:
        return Jobs(self)

    @cached_property
    def evolutions(self) -> Evolutions:
        return Evolutions(self)

    @cached_property
    def remarks(self) -> Remarks:
        return Remarks(self)

    @cached_property
    def runs(self) -> Runs:
        return Runs(self)

    @cached_property
    def costs(self) -> Costs:
        """What calls of models were made for."""
        return Costs(self)

    @cached_property
    def spending(self) -> Spending:
        return Spending(self)
