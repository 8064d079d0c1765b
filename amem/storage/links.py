"""Links between notes, each addition and removal recorded so that it can be undone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, or_, select

from amem.note import Link, LinkType, Status
from amem.storage import tables
from amem.storage.chunks import chunks
from amem.storage.rows import link_of, link_plain, read_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import ColumnElement

    from amem.storage.session import Session

_LINKS = tables.links
# Built once, as they are on the path of every write.
_INSERT = insert(_LINKS).prefix_with("OR IGNORE")
_INSERT_CHANGE = insert(tables.link_changes)
_ONE = (
    _LINKS.c.source == bindparam("from_id"),
    _LINKS.c.target == bindparam("to_id"),
    _LINKS.c.type == bindparam("of_type"),
)
_GET, _DELETE = select(_LINKS).where(*_ONE), delete(_LINKS).where(*_ONE)


class Links:
    """The links of one transaction. Links to or from deleted notes are kept, but not shown until they are restored."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def of(self, id: str) -> list[Link]:
        """Links that start at this note, oldest first."""
        return self._visible(_LINKS.c.source == id, other=_LINKS.c.target)

    def to(self, id: str) -> list[Link]:
        """Links that end at this note, oldest first."""
        return self._visible(_LINKS.c.target == id, other=_LINKS.c.source)

    def around(self, ids: Sequence[str]) -> list[Link]:
        """Every link with an end among `ids`, whatever the other end's status."""
        found: dict[tuple[str, str, str], Link] = {}
        for some in chunks(ids):
            statement = select(_LINKS).where(or_(_LINKS.c.source.in_(some), _LINKS.c.target.in_(some)))
            for row in self._run(statement).mappings():
                found[row["source"], row["target"], row["type"]] = link_of(row)
        return list(found.values())

    def get(self, source: str, target: str, type: LinkType) -> Link | None:
        """That one link, if it is there."""
        row = self._run(_GET, _one(source, target, type)).mappings().one_or_none()
        return None if row is None else link_of(row)

    def put(self, link: Link, operation: int) -> bool:
        """Add a link; False when one of the same ends and type is there already."""
        after = link_plain(link)
        row = {"source": link.source, "target": link.target, "type": str(link.type), "operation": operation}
        if not self._run(_INSERT, row | after).rowcount:
            return False
        self._record(link.source, link.target, link.type, operation, None, after)
        return True

    def remove(self, source: str, target: str, type: LinkType, operation: int) -> bool:
        """Take a link away; False when it was not there."""
        link = self.get(source, target, type)
        if link is None:
            return False
        self._run(_DELETE, _one(source, target, type))
        self._record(source, target, type, operation, link_plain(link), None)
        return True

    def restore(self, source: str, target: str, type: LinkType, held: Mapping[str, Any], operation: int) -> bool:
        """Put back a link as a recorded change had it."""
        at = read_time(held["at"])
        assert at is not None
        link = Link(source, target, type, held["reason"], held["confidence"], held["made_by"], at)
        return self.put(link, operation)

    def count(self) -> int:
        """How many links there are."""
        return int(self._run(select(func.count()).select_from(_LINKS)).scalar_one())

    def dangling(self) -> int:
        """How many links have an end that no note has."""
        ends = [tables.notes.alias(), tables.notes.alias()]
        statement = (
            select(func.count())
            .select_from(
                _LINKS.outerjoin(ends[0], ends[0].c.id == _LINKS.c.source).outerjoin(
                    ends[1], ends[1].c.id == _LINKS.c.target
                )
            )
            .where(or_(ends[0].c.key.is_(None), ends[1].c.key.is_(None)))
        )
        return int(self._run(statement).scalar_one())

    def degrees(self, ids: Sequence[str]) -> dict[str, int]:
        """For each id how many links start or end at it."""
        totals = dict.fromkeys(ids, 0)
        for link in self.around(ids):
            for end in {link.source, link.target}:
                if end in totals:
                    totals[end] += 1
        return totals

    def purge(self, id: str) -> None:
        """Destroy every link of a note and every record of one."""
        changed = tables.link_changes
        self._run(delete(_LINKS).where(or_(_LINKS.c.source == id, _LINKS.c.target == id)))
        self._run(delete(changed).where(or_(changed.c.source == id, changed.c.target == id)))

    def _visible(self, end: ColumnElement[bool], *, other: ColumnElement[str]) -> list[Link]:
        note = tables.notes.alias()
        statement = (
            select(_LINKS)
            .select_from(_LINKS.outerjoin(note, note.c.id == other))
            .where(end, func.coalesce(note.c.status, "") != str(Status.DELETED))
            .order_by(_LINKS.c.at, _LINKS.c.key)
        )
        return [link_of(row) for row in self._run(statement).mappings()]

    def _record(
        self,
        source: str,
        target: str,
        type: LinkType,
        operation: int,
        before: Mapping[str, Any] | None,
        after: Mapping[str, Any] | None,
    ) -> None:
        row = {"operation": operation, "source": source, "target": target, "type": str(type)}
        texts = {
            name: None if held is None else json.dumps(held, ensure_ascii=False)
            for name, held in (("before", before), ("after", after))
        }
        self._run(_INSERT_CHANGE, row | texts)
        # Whoever follows the counter learns that something changed; no note's own fields did.
        _ = self._session.seq


def _one(source: str, target: str, type: LinkType) -> dict[str, str]:
    return {"from_id": source, "to_id": target, "of_type": str(type)}
