"""What use says of links: how often the notes at their ends are recalled, and the weight that follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, bindparam, func, or_, select, update

from amem.storage import tables
from amem.storage.rows import read_moment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from amem.note import LinkType
    from amem.storage.session import Session

_LINKS = tables.links


def _statement() -> Select[Any]:
    joined: Any = _LINKS
    recalls = []
    for end in (_LINKS.c.source, _LINKS.c.target):
        note, usage = tables.notes.alias(), tables.usage.alias()
        joined = joined.join(note, note.c.id == end).outerjoin(usage, usage.c.note == note.c.key)
        recalls.append(func.coalesce(usage.c.recalls, 0))
    by_person = or_(_LINKS.c.made_by == "user", _LINKS.c.made_by.startswith("user:"))
    return select(_LINKS.c.key, _LINKS.c.at, _LINKS.c.weight, *recalls).select_from(joined).where(~by_person)


_USED = _statement()
_WEIGH = update(_LINKS).where(_LINKS.c.key == bindparam("wanted")).values(weight=bindparam("given"))


@dataclass(frozen=True, slots=True)
class LinkUse:
    """A link by key, when it was made, its present weight, and how often the notes at its ends were recalled."""

    key: int
    at: datetime
    weight: float
    recalls: tuple[int, int]


def link_uses(session: Session, types: Sequence[LinkType], *, after: int, limit: int) -> list[LinkUse]:
    """Links of these types that no person made, by ascending key."""
    statement = _USED.where(_LINKS.c.key > after, _LINKS.c.type.in_([str(type) for type in types]))
    rows = session.connection.execute(statement.order_by(_LINKS.c.key).limit(limit))
    names = ("key", "at", "weight", "here", "there")
    return session.readable(
        (dict(zip(names, row, strict=True)) for row in rows),
        lambda row: f"link {row['key']}",
        lambda row: LinkUse(row["key"], read_moment(row["at"]), float(row["weight"]), (row["here"], row["there"])),
    )


def weigh_links(session: Session, weights: Mapping[int, float]) -> None:
    """Set weights by the links' keys. Like usage, they are no part of any version."""
    if weights:
        session.connection.execute(_WEIGH, [{"wanted": key, "given": weight} for key, weight in weights.items()])
