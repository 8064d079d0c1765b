"""Lists as one parameter of a statement, and whole columns read at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from amem.storage.rows import moment_or_never

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.storage.store import Session


_Item = TypeVar("_Item")
_AT_ONCE = 500


def chunks(items: Sequence[_Item]) -> Iterator[list[_Item]]:
    """Slices of 500: what is written in one transaction keeps others waiting no longer than that takes."""
    for start in range(0, len(items), _AT_ONCE):
        yield list(items[start : start + _AT_ONCE])


def listed(values: Iterable[Any]) -> str:
    """A list as one JSON parameter, for ``IN (SELECT value FROM json_each(:name))``: it may be of any length."""
    return json.dumps(list(values))


def coded(column: str, values: Iterable[str], other: int) -> str:
    """The place of a column's value among these, as SQL; `other` for what a damaged row holds."""
    places = " ".join(f"WHEN '{each}' THEN {place}" for place, each in enumerate(values))
    return f"CASE {column} {places} ELSE {other} END"


# Columns of a hundred thousand rows at once: SQLite writes each as one text, which is sooner read than the rows.

#: Characters of a time to the second; what follows are its fractions.
_SECONDS = len("2026-03-01T09:00:00")
_NEVER = "1970-01-01T00:00:00"
_D = "[0-9]"
_TIME = f"{_D * 4}-[01]{_D}-[0-3]{_D}T[0-2]{_D}:[0-5]{_D}:[0-5]{_D}*"


def keys_from(session: Session, statement: str, **given: Any) -> NDArray[np.int64]:
    """The column `key` of what the statement selects, in its order."""
    return columns(session, statement, whole=("key",), **given)["key"]


def columns(
    session: Session,
    statement: str,
    *,
    whole: Sequence[str] = (),
    real: Sequence[str] = (),
    times: Sequence[str] = (),
    **given: Any,
) -> dict[str, NDArray[Any]]:
    """Columns of what the statement selects, by name, their rows in its order; none may hold a NULL.

    Whole numbers, real ones (to 15 digits) and times (UTC, to the second). `given` are its parameters.
    """
    import numpy as np  # which takes longer to import than most commands take to read what they show

    # A value of a damaged row counts as 0, a time as 1970: whoever shows such a row says that it cannot be read.
    joined = [f"group_concat(CAST({name} AS INTEGER))" for name in whole]
    joined += [f"group_concat(CAST({name} AS REAL))" for name in real]
    joined += [
        f"group_concat(CASE WHEN {name} GLOB '{_TIME}' THEN substr({name}, 1, {_SECONDS}) ELSE '{_NEVER}' END, '')"
        for name in times
    ]
    # SQLite keeps the order of a subquery that is read by an aggregate such as this one.
    row = session.connection.execute(f"SELECT {', '.join(joined)} FROM ({statement})", given).fetchone()
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
