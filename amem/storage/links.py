"""Links between notes, each addition and removal recorded so that it can be undone; the weight that use gives them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput
from amem.labels import short_id
from amem.note import Kind, Link, LinkType, Status
from amem.storage.rows import link_label, link_of, link_plain, listed, read_moment, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from amem.storage.store import Session


# What use says of links: how often the notes at their ends are recalled, and the weight that follows from it.

_USED = (
    "SELECT l.key, l.at, l.weight, coalesce(here.recalls, 0) AS here, coalesce(there.recalls, 0) AS there"
    " FROM links AS l"
    " JOIN notes AS s ON s.id = l.source LEFT JOIN usage AS here ON here.note = s.key"
    " JOIN notes AS t ON t.id = l.target LEFT JOIN usage AS there ON there.note = t.key"
    " WHERE l.made_by <> 'user' AND l.made_by NOT GLOB 'user:*' AND l.key > :after"
    " AND l.type IN (SELECT value FROM json_each(:types)) ORDER BY l.key LIMIT :limit"
)


@dataclass(frozen=True, slots=True)
class LinkUse:
    """A link by key, when it was made, its present weight, and how often the notes at its ends were recalled."""

    key: int
    at: datetime
    weight: float
    recalls: tuple[int, int]


def link_uses(session: Session, types: Sequence[LinkType], *, after: int, limit: int) -> list[LinkUse]:
    """Links of these types that no person made, by ascending key."""
    return session.readable(
        session.records(_USED, after=after, types=listed(types), limit=limit),
        lambda row: f"link {row['key']}",
        lambda row: LinkUse(row["key"], read_moment(row["at"]), float(row["weight"]), (row["here"], row["there"])),
    )


def weigh_links(session: Session, weights: Mapping[int, float]) -> None:
    """Set weights by the links' keys. Like usage, they are no part of any version."""
    for key, weight in weights.items():
        session.update("links", {"weight": weight}, key=key)


# Links between notes, each addition and removal recorded so that it can be undone.

_ONE = "source = :source AND target = :target AND type = :type"
#: Links whose other end was not deleted.
_VISIBLE = (
    "SELECT links.* FROM links LEFT JOIN notes ON notes.id = links.{other} WHERE links.{end} = :id"
    " AND coalesce(notes.status, '') <> 'deleted' ORDER BY links.at, links.key"
)
#: The first topic comes last; a topic's own note is in it.
_TOPICS = (
    "SELECT links.source, topic.id, topic.content FROM links JOIN notes AS topic ON topic.id = links.target"
    f" WHERE links.source IN (SELECT value FROM json_each(:ids)) AND links.type = '{LinkType.PART_OF}'"
    f" AND topic.kind = '{Kind.TOPIC}' AND topic.status = '{Status.ACTIVE}'"
    f" UNION ALL SELECT id, id, content FROM notes WHERE kind = '{Kind.TOPIC}'"
    " AND id IN (SELECT value FROM json_each(:ids)) ORDER BY 2 DESC"
)
_CHANGED = "FROM link_changes AS c JOIN operations AS o ON o.id = c.operation"
_TYPES = "type IN (SELECT value FROM json_each(:types))"
#: Each direction by an index of its own, which one condition with an OR would not use.
_BEHIND = (
    "SELECT found.* FROM ("
    " SELECT links.*, links.target AS ground FROM json_each(:ids) AS asked"
    " CROSS JOIN links ON links.source = asked.value WHERE links.type IN ('caused_by', 'derived_from')"
    " UNION ALL SELECT links.*, links.source FROM json_each(:ids) AS asked"
    " CROSS JOIN links ON links.target = asked.value WHERE links.type = 'supports'"
    ") AS found LEFT JOIN notes ON notes.id = found.ground WHERE coalesce(notes.status, '') <> 'deleted'"
    " ORDER BY found.confidence * found.weight DESC, found.key LIMIT :most"
)
#: With each link how many of its type its note has on that side; those of a note with more than `most` are left out.
_TIES = (
    "WITH ties(here, key, type, side) AS ("
    " SELECT links.source, links.key, links.type, 0"
    " FROM json_each(:ids) AS asked CROSS JOIN links ON links.source = asked.value"
    " UNION ALL SELECT links.target, links.key, links.type, 1"
    " FROM json_each(:ids) AS asked CROSS JOIN links ON links.target = asked.value"
    "), counted AS (SELECT here, key, count(*) OVER (PARTITION BY here, type, side) AS fan FROM ties)"
    " SELECT counted.here, counted.fan, source, target, links.type, reason, confidence, weight"
    " FROM counted JOIN links ON links.key = counted.key"
    " WHERE counted.fan <= :most ORDER BY links.key, counted.here"
)


@dataclass(frozen=True, slots=True)
class Tie:
    """A link from the note `here`, one of its ends, to the other; one of `fan` of its type on that side of `here`.

    `surety` is how far it is relied on, 0..1: its confidence, weighed by use.
    """

    here: str
    there: str
    type: LinkType
    reason: str
    surety: float
    fan: int

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> Tie:
        """A tie from its row; what is wrong with a damaged one raises."""
        ends = row["source"], row["target"]
        there = ends[row["here"] == ends[0]]
        surety = min(1.0, max(0.0, row["confidence"] * row["weight"]))
        return cls(row["here"], there, LinkType(row["type"]), row["reason"], surety, row["fan"])


class Links:
    """The links of one transaction. Links to or from deleted notes are kept, but not shown until they are restored."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of(self, id: str) -> list[Link]:
        """Links that start at this note, oldest first."""
        return self._readable(_VISIBLE.format(end="source", other="target"), id=id)

    def to(self, id: str) -> list[Link]:
        """Links that end at this note, oldest first."""
        return self._readable(_VISIBLE.format(end="target", other="source"), id=id)

    def around(self, ids: Sequence[str]) -> list[Link]:
        """Every link with an end among `ids`, whatever the other end's status."""
        ends = " UNION ".join(
            f"SELECT key FROM links WHERE {end} IN (SELECT value FROM json_each(:ids))" for end in ("source", "target")
        )
        return self._readable(f"SELECT * FROM links WHERE key IN ({ends}) ORDER BY key", ids=listed(ids))

    def ties(self, ids: Sequence[str], *, most: int) -> list[Tie]:
        """Every link with an end among `ids`, whatever the other end's status; of none in more than `most` of a type.

        A link with both ends among them is there twice.
        """
        rows = self._session.records(_TIES, ids=listed(ids), most=most)
        return self._session.readable(rows, link_label, Tie.of)

    def topics_of(self, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Id and text of the topic that each of these notes is part of, of several the first by id; none for others."""
        return {id: (topic, text) for id, topic, text in self._session.rows(_TOPICS, ids=listed(ids))}

    def behind(self, ids: Sequence[str], *, most: int | None = None) -> list[Link]:
        """The links to what these notes rest on: what caused them, what they are derived from, what supports them.

        The surest first; at most so many. Links to notes that do not exist (yet) are among them, links to deleted ones
        are not.
        """
        return self._readable(_BEHIND, ids=listed(ids), most=-1 if most is None else most)

    def get(self, source: str, target: str, type: LinkType) -> Link | None:
        """That one link, if it is there."""
        rows = self._session.records(f"SELECT * FROM links WHERE {_ONE}", source=source, target=target, type=type)
        return link_of(rows[0]) if rows else None

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
        if not self._session.notes.any_owned():
            return False
        return len(set(self._session.notes.scopes_of([source, target]).values())) > 1

    def remove(self, source: str, target: str, type: LinkType, operation: int) -> bool:
        """Take a link away; False when it was not there."""
        link = self.get(source, target, type)
        if link is None:
            return False
        self._session.change(f"DELETE FROM links WHERE {_ONE}", source=source, target=target, type=type)
        self._record(source, target, type, operation, link_plain(link), None)
        return True

    def restore(self, source: str, target: str, type: LinkType, held: Mapping[str, Any], operation: int) -> bool:
        """Put back a link as a recorded change had it, in its place among the others.

        False for one that is there, or would lead across scopes.
        """
        return not self.leads_across(source, target) and self._put(source, target, type, held, operation)

    def count(self) -> int:
        """How many links there are."""
        return int(self._session.value("SELECT count(*) FROM links"))

    def dangling(self) -> int:
        """How many links have an end that no note has."""
        there = "SELECT 1 FROM notes WHERE id = links"
        sql = f"SELECT count(*) FROM links WHERE NOT EXISTS ({there}.source) OR NOT EXISTS ({there}.target)"
        return int(self._session.value(sql))

    def web(self, types: Sequence[LinkType]) -> list[tuple[str, str, float]]:
        """(one end, other end, confidence times weight) of the links of these types between active notes.

        Notes that are made of others (topics, summaries of episodes) and their links are left out.
        """
        own = " AND ".join(
            f"{end}.status = 'active' AND {end}.kind <> 'topic' AND json_extract({end}.metadata, '$.episode') IS NULL"
            for end in ("s", "t")
        )
        sql = "SELECT source, target, confidence * weight FROM links"
        sql += f" JOIN notes AS s ON s.id = source JOIN notes AS t ON t.id = target WHERE {_TYPES} AND {own}"
        return [(one, other, float(weight)) for one, other, weight in self._session.rows(sql, types=listed(types))]

    def leading_to(self, targets: Sequence[str], type: LinkType) -> dict[str, dict[str, str]]:
        """For each of these notes those that are linked to it so, with who made the link; deleted ones left out."""
        found: dict[str, dict[str, str]] = {target: {} for target in targets}
        sql = "SELECT target, source, made_by FROM links JOIN notes ON notes.id = source WHERE type = :type"
        sql += " AND target IN (SELECT value FROM json_each(:targets)) AND status <> 'deleted'"
        for target, source, made_by in self._session.rows(sql, targets=listed(targets), type=type):
            found[target][source] = made_by
        return found

    def ends_changed(self, since: datetime, *, but: str, types: Sequence[LinkType] = tuple(LinkType)) -> set[str]:
        """Notes at either end of a link (of these types) added or removed since then, by any action `but` this one."""
        sql = f"SELECT source, target {_CHANGED} WHERE o.at >= :since AND o.action <> :but AND {_TYPES}"
        rows = self._session.rows(sql, since=time_text(since), but=but, types=listed(types))
        return {end for ends in rows for end in ends}

    def ever_to(self, target: str, type: LinkType) -> set[str]:
        """Every note that was ever linked to this one so, whatever was undone or taken away since."""
        sql = "SELECT source FROM link_changes WHERE target = :target AND type = :type"
        return set(self._session.column(sql, target=target, type=type))

    def taken_away(self, target: str, type: LinkType) -> set[str]:
        """Notes whose link of this type to `target` a person took away or undid, and that have none now."""
        sql = (
            f"SELECT source {_CHANGED} WHERE target = :target AND type = :type"
            " AND (after IS NULL AND o.action = 'unlink' AND o.undone_by IS NULL"
            " OR after IS NOT NULL AND o.undone_by IS NOT NULL)"
            " EXCEPT SELECT source FROM links WHERE target = :target AND type = :type"
        )
        return set(self._session.column(sql, target=target, type=type))

    def undone(self, targets: Sequence[str], types: Sequence[LinkType]) -> set[frozenset[str]]:
        """The ends of links of these types to one of these notes that were added by what somebody undid."""
        sql = f"SELECT source, target {_CHANGED} WHERE target IN (SELECT value FROM json_each(:targets)) AND {_TYPES}"
        sql += " AND after IS NOT NULL AND o.undone_by IS NOT NULL"
        return {frozenset(ends) for ends in self._session.rows(sql, targets=listed(targets), types=listed(types))}

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
        for table in ("links", "link_changes"):
            self._session.change(f"DELETE FROM {table} WHERE source = :id OR target = :id", id=id)

    def _readable(self, sql: str, **asked: Any) -> list[Link]:
        return self._session.readable(self._session.records(sql, **asked), link_label, link_of)

    def _put(self, source: str, target: str, type: LinkType, held: Mapping[str, Any], operation: int) -> bool:
        row = {"source": source, "target": target, "type": str(type), "operation": operation}
        key = self._session.insert("links", {"key": None, **held, **row}, either="IGNORE")
        if not key:
            return False
        self._record(source, target, type, operation, None, {**held, "key": key})
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
        self._session.insert("link_changes", row | texts)
        # Whoever follows the counter learns that something changed; no note's own fields did.
        _ = self._session.seq
