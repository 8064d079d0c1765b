"""Statements made ready once and handed to SQLite past SQLAlchemy: a search runs a score of small ones, and SQLAlchemy
takes several times as long over such a statement as SQLite does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy.dialects import sqlite

if TYPE_CHECKING:
    from sqlalchemy import Select

    from amem.storage.session import Session


class Prepared:
    """A statement that reads. Its rows are plain tuples of SQLite's own values.

    Lists are given as JSON (see ``amem.storage.listed``).
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
