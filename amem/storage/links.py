"""Links between notes, each addition and removal recorded so that it can be undone; the weight that use gives them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, bindparam, delete, func, insert, or_, select, text, update

from amem.errors import InvalidInput
from amem.labels import short_id
from amem.note import Kind, Link, LinkType, Status
from amem.storage import tables
from amem.storage.rows import link_label, link_of, link_plain, read_moment, time_text
from amem.storage.sql_values import Prepared, chunks, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement

    from amem.storage.store import Session


# What use says of links: how often the notes at their ends are recalled, and the weight that follows from it.

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


# Links between notes, each addition and removal recorded so that it can be undone.

# Built once, as they are on the path of every write.
_INSERT = insert(_LINKS).prefix_with("OR IGNORE")
_INSERT_CHANGE = insert(tables.link_changes)
_ONE = (
    _LINKS.c.source == bindparam("from_id"),
    _LINKS.c.target == bindparam("to_id"),
    _LINKS.c.type == bindparam("of_type"),
)
_GET, _DELETE = select(_LINKS).where(*_ONE), delete(_LINKS).where(*_ONE)
#: Each direction by an index of its own, which one condition with an OR would not use.
_BEHIND = text(
    "SELECT found.* FROM ("
    " SELECT links.*, links.target AS ground FROM json_each(:ids) AS asked"
    " CROSS JOIN links ON links.source = asked.value WHERE links.type IN ('caused_by', 'derived_from')"
    " UNION ALL SELECT links.*, links.source FROM json_each(:ids) AS asked"
    " CROSS JOIN links ON links.target = asked.value WHERE links.type = 'supports'"
    ") AS found LEFT JOIN notes ON notes.id = found.ground WHERE coalesce(notes.status, '') <> 'deleted'"
    " ORDER BY found.confidence * found.weight DESC, found.key LIMIT :most"
)
#: With each link how many of its type its note has on that side; those of a note with more than `most` are left out.
_TIES = Prepared(
    "WITH ties(here, key, type, side) AS ("
    " SELECT links.source, links.key, links.type, 0"
    " FROM json_each(:ids) AS asked CROSS JOIN links ON links.source = asked.value"
    " UNION ALL SELECT links.target, links.key, links.type, 1"
    " FROM json_each(:ids) AS asked CROSS JOIN links ON links.target = asked.value"
    "), counted AS (SELECT here, key, count(*) OVER (PARTITION BY here, type, side) AS fan FROM ties)"
    " SELECT counted.here, counted.fan, "
    + ", ".join(f"links.{each.name}" for each in _LINKS.c)
    + " FROM counted JOIN links ON links.key = counted.key"
    " WHERE counted.fan <= :most ORDER BY links.key, counted.here"
)


@dataclass(frozen=True, slots=True)
class Tie:
    """A link as the note `here`, one of its ends, has it: one of `fan` of its type on that side of the note."""

    here: str
    link: Link
    fan: int

    @property
    def there(self) -> str:
        """The other end."""
        return self.link.target if self.here == self.link.source else self.link.source


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
            for link in self._readable(self._run(statement).mappings()):
                found[link.source, link.target, link.type] = link
        return list(found.values())

    def ties(self, ids: Sequence[str], *, most: int) -> list[Tie]:
        """Every link with an end among `ids`, whatever the other end's status; of none in more than `most` of a type.

        A link with both ends among them is there twice.
        """
        columns = _LINKS.c.keys()
        rows = [
            {"here": here, "fan": fan, **dict(zip(columns, values, strict=True))}
            for here, fan, *values in _TIES.rows(self._session, ids=listed(ids), most=most)
        ]
        return self._session.readable(rows, link_label, lambda row: Tie(row["here"], link_of(row), row["fan"]))

    def behind(self, ids: Sequence[str], *, most: int | None = None) -> list[Link]:
        """The links to what these notes rest on: what caused them, what they are derived from, what supports them.

        The surest first; at most so many. Links to notes that do not exist (yet) are among them, links to deleted ones
        are not.
        """
        asked = {"ids": json.dumps(list(ids), ensure_ascii=False), "most": -1 if most is None else most}
        return self._readable(self._run(_BEHIND, asked).mappings())

    def get(self, source: str, target: str, type: LinkType) -> Link | None:
        """That one link, if it is there."""
        row = self._run(_GET, _one(source, target, type)).mappings().one_or_none()
        return None if row is None else link_of(row)

    def put(self, link: Link, operation: int) -> bool:
        """Add a link; False when one of the same ends and type is there already.

        Raises InvalidInput for a link between notes of two scopes.
        """
        self.refuse_across(link.source, link.target)
        return self._put(link.source, link.target, link.type, link_plain(link), operation)

    def refuse_across(self, source: str, target: str) -> None:
        """Raise InvalidInput for two notes of different users, agents or sessions."""
        if self.leads_across(source, target):
            raise InvalidInput(
                f"{short_id(source)} and {short_id(target)} are notes of different users, agents or sessions",
                hint="notes meet only within one user_id, agent_id and session_id",
            )

    def leads_across(self, source: str, target: str) -> bool:
        """Whether both notes are there and of different scopes (see `amem.note.Scope`)."""
        return len(set(self._session.notes.scopes_of([source, target]).values())) > 1

    def remove(self, source: str, target: str, type: LinkType, operation: int) -> bool:
        """Take a link away; False when it was not there."""
        link = self.get(source, target, type)
        if link is None:
            return False
        self._run(_DELETE, _one(source, target, type))
        self._record(source, target, type, operation, link_plain(link), None)
        return True

    def restore(self, source: str, target: str, type: LinkType, held: Mapping[str, Any], operation: int) -> bool:
        """Put back a link as a recorded change had it, in its place among the others.

        False for one that is there, or would lead across scopes.
        """
        return not self.leads_across(source, target) and self._put(source, target, type, held, operation)

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

    def web(self, types: Sequence[LinkType]) -> list[tuple[str, str, float]]:
        """(one end, other end, confidence times weight) of the links of these types between active notes.

        Notes that are made of others (topics, summaries of episodes) and their links are left out.
        """
        ends = [tables.notes.alias(), tables.notes.alias()]
        statement = (
            select(_LINKS.c.source, _LINKS.c.target, _LINKS.c.confidence * _LINKS.c.weight)
            .select_from(
                _LINKS.join(ends[0], ends[0].c.id == _LINKS.c.source).join(ends[1], ends[1].c.id == _LINKS.c.target)
            )
            .where(
                _LINKS.c.type.in_([str(type) for type in types]),
                *(end.c.status == str(Status.ACTIVE) for end in ends),
                *(end.c.kind != str(Kind.TOPIC) for end in ends),
                *(func.json_extract(end.c.metadata, "$.episode").is_(None) for end in ends),
            )
        )
        return [(one, other, float(weight)) for one, other, weight in self._run(statement)]

    def leading_to(self, targets: Sequence[str], type: LinkType) -> dict[str, dict[str, str]]:
        """For each of these notes those that are linked to it so, with who made the link; deleted ones left out."""
        found: dict[str, dict[str, str]] = {target: {} for target in targets}
        notes = tables.notes
        for some in chunks(list(targets)):
            statement = (
                select(_LINKS.c.target, _LINKS.c.source, _LINKS.c.made_by)
                .select_from(_LINKS.join(notes, notes.c.id == _LINKS.c.source))
                .where(_LINKS.c.target.in_(some), _LINKS.c.type == str(type), notes.c.status != str(Status.DELETED))
            )
            for target, source, made_by in self._run(statement):
                found[target][source] = made_by
        return found

    def ends_changed(self, since: datetime, *, but: str, types: Sequence[LinkType] = tuple(LinkType)) -> set[str]:
        """Notes at either end of a link (of these types) added or removed since then, by any action `but` this one."""
        changed, operations = tables.link_changes, tables.operations
        statement = (
            select(changed.c.source, changed.c.target)
            .select_from(changed.join(operations, operations.c.id == changed.c.operation))
            .where(operations.c.at >= time_text(since), operations.c.action != but)
            .where(changed.c.type.in_([str(type) for type in types]))
        )
        return {end for ends in self._run(statement) for end in ends}

    def ever_to(self, target: str, type: LinkType) -> set[str]:
        """Every note that was ever linked to this one so, whatever was undone or taken away since."""
        changed = tables.link_changes
        statement = select(changed.c.source).where(changed.c.target == target, changed.c.type == str(type))
        return set(self._run(statement).scalars())

    def taken_away(self, target: str, type: LinkType) -> set[str]:
        """Notes whose link of this type to `target` a person took away or undid, and that have none now."""
        changed, operations = tables.link_changes, tables.operations
        statement = (
            select(changed.c.source)
            .select_from(changed.join(operations, operations.c.id == changed.c.operation))
            .where(changed.c.target == target, changed.c.type == str(type))
            .where(
                changed.c.after.is_(None) & (operations.c.action == "unlink") & operations.c.undone_by.is_(None)
                | changed.c.after.is_not(None) & operations.c.undone_by.is_not(None)
            )
        )
        held = select(_LINKS.c.source).where(_LINKS.c.target == target, _LINKS.c.type == str(type))
        return set(self._run(statement).scalars()) - set(self._run(held).scalars())

    def undone(self, targets: Sequence[str], types: Sequence[LinkType]) -> set[frozenset[str]]:
        """The ends of links of these types to one of these notes that were added by what somebody undid."""
        changed, operations = tables.link_changes, tables.operations
        found: set[frozenset[str]] = set()
        for some in chunks(targets):
            statement = (
                select(changed.c.source, changed.c.target)
                .select_from(changed.join(operations, operations.c.id == changed.c.operation))
                .where(changed.c.target.in_(some), changed.c.type.in_([str(type) for type in types]))
                .where(changed.c.after.is_not(None), operations.c.undone_by.is_not(None))
            )
            found |= {frozenset(ends) for ends in self._run(statement)}
        return found

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
        return self._readable(self._run(statement).mappings())

    def _readable(self, rows: Iterable[Mapping[Any, Any]]) -> list[Link]:
        return self._session.readable(rows, link_label, link_of)

    def _put(self, source: str, target: str, type: LinkType, held: Mapping[str, Any], operation: int) -> bool:
        row = {"source": source, "target": target, "type": str(type), "operation": operation}
        added = self._run(_INSERT, {"key": None, **held, **row})
        if not added.rowcount:
            return False
        self._record(source, target, type, operation, None, {**held, "key": added.lastrowid})
        return True

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
