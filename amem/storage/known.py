"""Notes as they stood at an earlier time: what was changed since, taken back version by version."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, exists, func, or_, select

from amem.storage import tables
from amem.storage.chunks import chunks
from amem.storage.rows import cell, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import ColumnElement, Select

    from amem.storage.session import Session

_NOTES, _VERSIONS, _OPS = tables.notes, tables.versions, tables.operations


def stood(session: Session, rows: Mapping[int, Mapping[Any, Any]], moment: datetime) -> dict[int, dict[str, Any]]:
    """These rows of ``notes``, by key, with every versioned field and `version` as at `moment`.

    Notes that did not exist yet are left out.
    """
    there = {key: dict(row) for key, row in rows.items() if row["recorded_at"] <= time_text(moment)}
    for some in chunks(list(there)):
        since = _later(moment).where(_VERSIONS.c.note.in_(some)).order_by(_VERSIONS.c.note, _VERSIONS.c.version.desc())
        for key, version, changes in session.connection.execute(since):
            there[key] |= {field: cell(field, before) for field, (before, _) in json.loads(changes).items()}
            there[key]["version"] = version - 1
    return there


def field_at(name: str, moment: datetime) -> ColumnElement[Any]:
    """What the column of ``notes`` held at `moment`, of notes that existed then, as SQL."""
    path = f"$.{name}"
    of_it = _later(moment).where(
        _VERSIONS.c.note == _NOTES.c.key, func.json_type(_VERSIONS.c.changes, path).is_not(None)
    )
    first = of_it.order_by(_VERSIONS.c.version).limit(1).correlate(_NOTES)
    before = first.with_only_columns(func.json_extract(_VERSIONS.c.changes, f"{path}[0]")).scalar_subquery()
    unchanged = _NOTES.c.key.not_in(_later(moment).with_only_columns(_VERSIONS.c.note))
    return case((unchanged, _NOTES.c[name]), (exists(first), before), else_=_NOTES.c[name])


def changed_since(moment: datetime, *fields: str) -> Select[Any]:
    """Keys of the notes of which one of these fields was changed after `moment`."""
    touched = [func.json_type(_VERSIONS.c.changes, f"$.{name}").is_not(None) for name in fields]
    return _later(moment).with_only_columns(_VERSIONS.c.note).distinct().where(or_(*touched))


def _later(moment: datetime) -> Select[Any]:
    """Changes after `moment`; the first version of a note is no change."""
    return (
        select(_VERSIONS.c.note, _VERSIONS.c.version, _VERSIONS.c.changes)
        .select_from(_VERSIONS.join(_OPS, _OPS.c.id == _VERSIONS.c.operation))
        .where(_OPS.c.at > time_text(moment), _VERSIONS.c.version > 1)
    )
