"""Columns of a hundred thousand rows at once: SQLite writes each as one text, which is sooner read than the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy.dialects import sqlite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Select

    from amem.storage.session import Session

_DIALECT = sqlite.dialect(paramstyle="named")
#: Characters of a time to the second; what follows are its fractions.
_SECONDS = len("2026-03-01T09:00:00")


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
    joined = [f"group_concat({name})" for name in (*whole, *real)]
    joined += [f"group_concat(substr({name}, 1, {_SECONDS}), '')" for name in times]
    # SQLite keeps the order of a subquery that is read by an aggregate such as this one.
    row = session.driver.execute(f"SELECT {', '.join(joined)} FROM ({statement})", given).fetchone()
    texts = dict(zip((*whole, *real, *times), (text or "" for text in row), strict=True))
    found: dict[str, NDArray[Any]] = {name: np.fromstring(texts[name], dtype=np.int64, sep=",") for name in whole}
    found |= {name: np.fromstring(texts[name], dtype=np.float64, sep=",") for name in real}
    for name in times:
        read = np.frombuffer(texts[name].encode("ascii"), dtype=f"S{_SECONDS}")
        found[name] = read.astype("datetime64[s]")
    return found
