"""Filters as SQL, and notes as they stood at an earlier time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, TextClause, and_, bindparam, case, exists, func, literal_column, or_, select, text

from amem.note import SCOPES, LinkType, Status
from amem.storage import tables
from amem.storage.rows import cell, time_text
from amem.storage.sql_values import chunks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Select

    from amem.note import Scope
    from amem.query import Filter
    from amem.storage.store import Session


# Notes as they stood at an earlier time: what was changed since, taken back version by version.

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


# A ``Filter`` as SQL conditions on the notes table.

#: Whole numbers of fewer digits fit into SQLite's.
_DIGITS = 19


def conditions(wanted: Filter) -> list[ColumnElement[bool] | TextClause]:
    """Conditions a row of ``notes`` must all meet."""
    notes = tables.notes.c
    found: list[ColumnElement[bool] | TextClause] = []
    statuses = wanted.statuses
    if wanted.known_at is not None:
        found.append(notes.recorded_at <= time_text(wanted.known_at))
    if wanted.as_of is not None:
        statuses = tuple({*statuses, Status.SUPERSEDED})
        found += _true_at(wanted.as_of, wanted.known_at)
    found.append(_then("status", wanted.known_at).in_([str(status) for status in statuses]))
    for tag in wanted.tags:
        term = tables.note_terms.c
        found.append(notes.key.in_(select(term.note).where(term.role == "tag", term.term == tag.casefold())))
    if wanted.kinds:
        found.append(notes.kind.in_([str(kind) for kind in wanted.kinds]))
    if wanted.layers:
        found.append(notes.layer.in_([str(layer) for layer in wanted.layers]))
    for name in ("category", "speaker"):
        value = getattr(wanted, name)
        if value is not None:
            found.append(func.lower(notes[name]) == value.lower())
    if wanted.conversation is not None:
        found.append(notes.conversation_id == wanted.conversation)
    if wanted.part_of is not None:
        link = tables.links.c
        whole = select(link.source).where(link.target == wanted.part_of, link.type == str(LinkType.PART_OF))
        found.append(notes.id.in_(whole))
    if wanted.since is not None:
        found.append(notes.at >= time_text(wanted.since))
    if wanted.until is not None:
        found.append(notes.at < time_text(wanted.until))
    found += [_metadata(key, value) for key, value in wanted.metadata.items()]
    if wanted.whose is not None:
        found += [_scope(name, value) for name, value in wanted.whose.ids.items()]
        found += [_nobodys(name) for name in SCOPES if getattr(wanted.whose, name) == ""]
    found += [_scope(name, value) for name in SCOPES if (value := getattr(wanted, name)) is not None]
    return found


def _true_at(moment: datetime, known_at: datetime | None) -> list[ColumnElement[bool]]:
    """It had begun to be so, and had not yet ended: by its own word, or as what took its place began.

    What had ended before it was said was so before that, nobody said since when.
    """
    then = time_text(moment)
    newer = tables.notes.alias()
    replaced_at = (
        select(func.coalesce(newer.c.valid_from, newer.c.at))
        .where(newer.c.id == _then("superseded_by", known_at))
        .scalar_subquery()
    )
    begun = func.coalesce(_then("valid_from", known_at), _then("at", known_at))
    ended = func.coalesce(_then("valid_to", known_at), replaced_at)
    return [or_(begun <= then, ended < begun), or_(ended.is_(None), ended > then)]


def _then(name: str, known_at: datetime | None) -> ColumnElement[Any]:
    return tables.notes.c[name] if known_at is None else field_at(name, known_at)


def in_scope(notes: str = "notes", column: str = "metadata") -> str:
    """A condition that a row of ``notes`` (under this alias) is within the scope that `scope_values` gives.

    In SQL what `amem.note.Scope.holds` is in Python. Of another table `column` holds the ids.
    """
    held = f"coalesce(CAST(json_extract({notes}.{column}, '$.{{0}}') AS TEXT), '')"
    return " AND ".join(f"(:{name} IS NULL OR {held.format(name)} = :{name})" for name in SCOPES)


def scope_values(scope: Scope) -> dict[str, str | None]:
    """The parameters of `in_scope`."""
    return {name: getattr(scope, name) for name in SCOPES}


def _scope(name: str, value: str) -> ColumnElement[bool]:
    # Written out, as the index on it is (0004_scopes.sql); an id that another program keeps as a number is the same id.
    held: ColumnElement[Any] = literal_column(f"json_extract(notes.metadata, '$.{name}')")
    whole = value.isdecimal() and value.isascii() and str(int(value)) == value and len(value) < _DIGITS
    # With a name of its own: one made of the expression would be no name in SQL.
    return held.in_(bindparam(name, [value, int(value)] if whole else [value], expanding=True, unique=True))


def _nobodys(name: str) -> TextClause:
    return text(f"coalesce(json_extract(notes.metadata, '$.{name}'), '') = ''")


def _metadata(key: str, value: Any) -> ColumnElement[bool]:
    path = f'$."{key}"'
    held = func.json_extract(tables.notes.c.metadata, path)
    if isinstance(value, bool):
        # SQLite reads JSON true as 1; without the type the number 1 would pass for true.
        wanted = "true" if value else "false"
        return func.json_type(tables.notes.c.metadata, path) == wanted
    return and_(held == value, func.json_type(tables.notes.c.metadata, path).in_(_json_types(value)))


def _json_types(value: str | float) -> list[str]:
    return ["text"] if isinstance(value, str) else ["integer", "real"]
