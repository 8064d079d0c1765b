"""A list as one JSON parameter: a statement built once serves any number of values.

An ``IN`` list that is written out anew for each call takes SQLAlchemy longer than SQLite takes to answer.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, column, func, select

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import ColumnElement, Select


def among(name: str) -> Select[Any]:
    """The values of the list given as the parameter `name`, to be used with ``in_``."""
    return select(column("value")).select_from(func.json_each(bindparam(name)))


def listed(values: Iterable[Any]) -> str:
    """Such a list as its parameter."""
    return json.dumps(list(values))


def valid_json(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The column where it holds JSON, else NULL: what SQLite's functions for JSON cannot read would stop all rows."""
    return case((func.json_valid(column) == 1, column))
