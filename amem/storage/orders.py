"""The orders in which notes are listed: for each the keys of all notes that pass a filter, the foremost first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from sqlalchemy import select

from amem.storage import tables
from amem.storage.columns import columns, keys_from
from amem.storage.filters import conditions
from amem.storage.standings import standings_among

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from amem.query import Filter
    from amem.storage.session import Session

    Keys = NDArray[np.int64]

Order = Literal["time", "recorded", "strength", "recalls", "importance"]
ORDERS: tuple[Order, ...] = get_args(Order)

_NOTES, _USAGE = tables.notes, tables.usage
_USED = "SELECT note, recalls FROM usage WHERE recalls > 0"


def ordered(session: Session, wanted: Filter, order: Order, decay_rate: float | None) -> Keys:
    """All that pass the filter: the latest, strongest, most recalled or most important first; of equals the newest."""
    passing = select(_NOTES.c.key).where(*conditions(wanted))
    if order == "time":
        return keys_from(session, passing.order_by(_NOTES.c.at.desc(), _NOTES.c.key.desc()))
    if order == "importance":
        held = columns(session, passing.add_columns(_NOTES.c.importance), whole=("key",), real=("importance",))
        return _greatest_first(held["key"], held["importance"])
    if order == "strength":
        standings = standings_among(session, wanted)
        return _greatest_first(standings.keys, standings.strength(session.now, decay_rate))
    # Unordered, SQLite reads the narrow index instead of the notes.
    keys = np.sort(keys_from(session, passing))[::-1]
    return keys if order == "recorded" else _greatest_first(keys, _recalls(session, keys))


def _recalls(session: Session, keys: Keys) -> NDArray[np.int64]:
    used = columns(session, _USED, whole=("note", "recalls"))
    by_key = np.zeros(max(keys.max(initial=0), used["note"].max(initial=0)) + 1, dtype=np.int64)
    by_key[used["note"]] = used["recalls"]
    return by_key[keys]


def _greatest_first(keys: Keys, values: NDArray[np.float64] | NDArray[np.int64]) -> Keys:
    return keys[np.lexsort((-keys, -values))]
