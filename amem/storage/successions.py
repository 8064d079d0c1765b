"""Notes that took each other's place: what held when, and what holds now."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import select

from amem.errors import NoteNotFound
from amem.note import LinkType, Status
from amem.storage import tables
from amem.storage.rows import link_name, link_of

if TYPE_CHECKING:
    from amem.note import Link, MemoryNote
    from amem.storage.session import Session

_MOST = 100
_EVER = datetime.min.replace(tzinfo=UTC)


def supersessions(session: Session, limit: int) -> list[Link]:
    """The links that say of a superseded note what took its place, the newest first."""
    links, old, new = tables.links, tables.notes.alias(), tables.notes.alias()
    statement = (
        select(links)
        .select_from(links.join(old, old.c.id == links.c.target).join(new, new.c.id == links.c.source))
        .where(links.c.type == str(LinkType.SUPERSEDES), old.c.status == str(Status.SUPERSEDED))
        .where(old.c.superseded_by == links.c.source, new.c.status != str(Status.DELETED))
        .order_by(links.c.key.desc())
        .limit(limit)
    )
    return session.readable(session.connection.execute(statement).mappings(), link_name, link_of)


def succession(session: Session, id: str) -> list[MemoryNote]:
    """The note with its predecessors and successors, those of these too, by when they were so; at most a hundred.

    Raises NoteNotFound.
    """
    found: dict[str, MemoryNote] = {}
    fresh = [id]
    while fresh and len(found) < _MOST:
        notes = session.notes.get_many(fresh[: _MOST - len(found)], history=False, usage=False, deleted=True)
        found |= notes
        later = [note.superseded_by for note in notes.values() if note.superseded_by is not None]
        near = dict.fromkeys([*session.notes.replaced_by(list(notes)), *later])
        fresh = [each for each in near if each not in found]
    if id not in found:
        raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
    return sorted(found.values(), key=lambda note: note.valid_from or note.at or note.recorded_at or _EVER)
