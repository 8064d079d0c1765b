"""What other tables say of a note: links, usage, trust, history. Filled in for the few notes that are shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from amem import strength
from amem.note import LinkType, MemoryNote, Status
from amem.storage import tables
from amem.storage.chunks import chunks
from amem.storage.rows import read_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import RowMapping

    from amem.storage.session import Session


def complete(
    session: Session, notes: Mapping[str, MemoryNote], rows: Mapping[str, RowMapping], *, history: bool, usage: bool
) -> None:
    """Fill in links and (when asked) usage, trust and stability, and evolution_history, in place."""
    ids = list(notes)
    for some in chunks(ids):
        _links(session, notes, some)
        if usage:
            _usage(session, notes, rows, some)
        if history:
            _history(session, notes, rows, some)


def counts(session: Session, ids: Sequence[str], keys: Sequence[int]) -> tuple[dict[int, int], dict[str, int]]:
    """Corroborations by key and contradictions by id: the witnesses for and against each note."""
    witnesses, operations, links = tables.corroborations, tables.operations, tables.links
    agreed = session.connection.execute(
        # What was undone counts no more, and counts again when it is redone.
        select(witnesses.c.note, func.count())
        .select_from(witnesses.join(operations, operations.c.id == witnesses.c.operation))
        .where(witnesses.c.note.in_(keys), operations.c.undone_by.is_(None))
        .group_by(witnesses.c.note)
    )
    disputed = session.connection.execute(
        select(links.c.target, func.count())
        .where(links.c.target.in_(ids), links.c.type == str(LinkType.CONTRADICTS))
        .group_by(links.c.target)
    )
    return {key: n for key, n in agreed}, {id: n for id, n in disputed}


def age_days(at: datetime | None, now: datetime) -> float:
    """Days since `at`, never negative."""
    return 0.0 if at is None else max(0.0, (now - at).total_seconds() / 86_400)


def _links(session: Session, notes: Mapping[str, MemoryNote], ids: Sequence[str]) -> None:
    links, target = tables.links, tables.notes.alias()
    statement = (
        select(links.c.source, links.c.target)
        .select_from(links.outerjoin(target, target.c.id == links.c.target))
        # A link may point to a note that does not exist yet; one to a deleted note is not shown until it is restored.
        .where(links.c.source.in_(ids), func.coalesce(target.c.status, "") != str(Status.DELETED))
        .order_by(links.c.at, links.c.key)
    )
    for source, end in session.connection.execute(statement):
        if end not in notes[source].links:
            notes[source].links.append(end)


def _usage(
    session: Session, notes: Mapping[str, MemoryNote], rows: Mapping[str, RowMapping], ids: Sequence[str]
) -> None:
    keys = [rows[id]["key"] for id in ids]
    used = tables.usage
    found = {row.note: row for row in session.connection.execute(select(used).where(used.c.note.in_(keys)))}
    agreed, disputed = counts(session, ids, keys)
    for id in ids:
        note, key = notes[id], rows[id]["key"]
        growth = 1.0
        if key in found:
            note.retrieval_count, growth = found[key].recalls, found[key].growth
            note.last_accessed = found[key].last_access
        else:
            note.last_accessed = note.timestamp
        note.stability = strength.stability(note.kind, growth=growth, pinned=note.pinned)
        age = age_days(note.recorded_at, session.now)
        note.trust = strength.trust(rows[id]["reliability"], age, agreed.get(key, 0), disputed.get(id, 0))


def _history(
    session: Session, notes: Mapping[str, MemoryNote], rows: Mapping[str, RowMapping], ids: Sequence[str]
) -> None:
    versions, operations = tables.versions, tables.operations
    by_key = {rows[id]["key"]: notes[id] for id in ids}
    statement = (
        select(versions.c.note, versions.c.version, versions.c.changes, operations.c.actor, operations.c.action)
        .add_columns(operations.c.cause, operations.c.at)
        .select_from(versions.join(operations, operations.c.id == versions.c.operation))
        .where(versions.c.note.in_(list(by_key)), versions.c.version > 1)
        .order_by(versions.c.note, versions.c.version)
    )
    for row in session.connection.execute(statement).mappings():
        by_key[row["note"]].evolution_history.append(
            {
                "version": row["version"],
                "at": read_time(row["at"]).isoformat(),  # type: ignore[union-attr]  # the column is NOT NULL
                "actor": row["actor"],
                "action": row["action"],
                "cause": row["cause"],
                "changes": json.loads(row["changes"]),
            }
        )
