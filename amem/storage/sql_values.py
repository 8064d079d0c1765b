"""How values are handed to SQLite and read back: chunks, JSON lists, prepared statements, whole columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sqlalchemy import bindparam, case, column, func, select
from sqlalchemy.dialects import sqlite

from amem.storage.rows import moment_or_never

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import ColumnElement, Select

    from amem.storage.store import Session


# Long lists, cut for SQLite: a statement takes so many parameters and no more.

_Item = TypeVar("_Item")
_AT_ONCE = 500


def chunks(items: Sequence[_Item]) -> Iterator[list[_Item]]:
    """Slices small enough for one SQL ``IN``."""
    for start in range(0, len(items), _AT_ONCE):
        yield list(items[start : start + _AT_ONCE])


# A list as one JSON parameter: a statement built once serves any number of values.
#
# An ``IN`` list that is written out anew for each call takes SQLAlchemy longer than SQLite takes to answer.


def among(name: str) -> Select[Any]:
    """The values of the list given as the parameter `name`, to be used with ``in_``."""
    return select(column("value")).select_from(func.json_each(bindparam(name)))


def listed(values: Iterable[Any]) -> str:
    """Such a list as its parameter."""
    return json.dumps(list(values))


def valid_json(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The column where it holds JSON, else NULL: what SQLite's functions for JSON cannot read would stop all rows."""
    return case((func.json_valid(column) == 1, column))


# Statements made ready once and handed to SQLite past SQLAlchemy: a search runs a score of small ones, and SQLAlchemy
# takes several times as long over such a statement as SQLite does.


class Prepared:
    """A statement that reads. Its rows are plain tuples of SQLite's own values.

    Lists are given as JSON (see ``amem.storage.sql_values``).
    """

    __slots__ = ("_constants", "_sql")

    def __init__(self, statement: Select[Any] | str) -> None:
        self._constants: dict[str, Any] = {}
        if isinstance(statement, str):
            self._sql = statement
        else:
            compiled = statement.compile(dialect=sqlite.dialect(paramstyle="named"))
            self._sql = str(compiled)
            self._constants = {name: value for name, value in compiled.params.items() if value is not None}

    def rows(self, session: Session, **given: Any) -> list[tuple[Any, ...]]:
        """All rows, with the parameters `given` by name."""
        found: list[tuple[Any, ...]] = session.driver.execute(self._sql, self._constants | given).fetchall()
        return found


# Columns of a hundred thousand rows at once: SQLite writes each as one text, which is sooner read than the rows.

_DIALECT = sqlite.dialect(paramstyle="named")
#: Characters of a time to the second; what follows are its fractions.
_SECONDS = len("2026-03-01T09:00:00")
_NEVER = "1970-01-01T00:00:00"
_D = "[0-9]"
_TIME = f"{_D * 4}-[01]{_D}-[0-3]{_D}T[0-2]{_D}:[0-5]{_D}:[0-5]{_D}*"


def keys_from(session: Session, statement: Select[Any] | str, **given: Any) -> NDArray[np.int64]:
    """The column `key` of what the statement selects, in its order."""
    return columns(session, statement, whole=("key",), **given)["key"]


def columns(
    session: Session,
    statement: Select[Any] | str,
    *,
    whole: Sequence[str] = (),
    real: Sequence[str] = (),
    times: Sequence[str] = (),
    **given: Any,
) -> dict[str, NDArray[Any]]:
    """Columns of what the statement selects, by name, their rows in its order; none may hold a NULL.

    Whole numbers, real ones (to 15 digits) and times (UTC, to the second). `given` are the parameters of an SQL text.
    """
    if not isinstance(statement, str):
        compiled = statement.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
        statement, given = str(compiled), dict(compiled.params) | given
    # A value of a damaged row counts as 0, a time as 1970: whoever shows such a row says that it cannot be read.
    joined = [f"group_concat(CAST({name} AS INTEGER))" for name in whole]
    joined += [f"group_concat(CAST({name} AS REAL))" for name in real]
    joined += [
        f"group_concat(CASE WHEN {name} GLOB '{_TIME}' THEN substr({name}, 1, {_SECONDS}) ELSE '{_NEVER}' END, '')"
        for name in times
    ]
    # SQLite keeps the order of a subquery that is read by an aggregate such as this one.
    row = session.driver.execute(f"SELECT {', '.join(joined)} FROM ({statement})", given).fetchone()
    texts = dict(zip((*whole, *real, *times), (text or "" for text in row), strict=True))
    found: dict[str, NDArray[Any]] = {name: np.fromstring(texts[name], dtype=np.int64, sep=",") for name in whole}
    found |= {name: np.fromstring(texts[name], dtype=np.float64, sep=",") for name in real}
    for name in times:
        read = np.frombuffer(texts[name].encode("ascii"), dtype=f"S{_SECONDS}")
        try:
            found[name] = read.astype("datetime64[s]")
        except ValueError:  # such as the 31st of February
            found[name] = np.array(
                [moment_or_never(f"{each.decode()}Z").replace(tzinfo=None) for each in read], dtype="datetime64[s]"
            )
    return found
