"""Links between notes, each addition and removal recorded so that it can be undone; and what lies around a note."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.errors import AmbiguousId, InvalidInput, NoteNotFound
from amem.labels import short_id
from amem.labels import title as title_of
from amem.language import search_terms
from amem.language.scripts import link_name
from amem.note import Kind, Link, LinkType, Status
from amem.storage.rows import (
    AUTHOR,
    Part,
    as_json,
    in_scope,
    link_label,
    link_of,
    link_plain,
    read_moment,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from amem.storage.store import Session

# What use says of links: how often the notes at their ends are recalled, and the weight that follows from it.

_USED = (
    "SELECT l.key, l.at, l.weight, coalesce(here.recalls, 0) AS here, coalesce(there.recalls, 0) AS there"
    " FROM links AS l JOIN notes AS s ON s.id = l.source LEFT JOIN usage AS here ON here.note = s.key"
    " JOIN notes AS t ON t.id = l.target LEFT JOIN usage AS there ON there.note = t.key"
    " WHERE l.made_by <> 'user' AND l.made_by NOT GLOB 'user:*' AND l.key > :after"
    " AND l.type IN :types ORDER BY l.key LIMIT :limit"
)


@dataclass(frozen=True, slots=True)
class LinkUse:
    """A link by key, when it was made, its present weight, and how often the notes at its ends were recalled."""

    key: int
    at: datetime
    weight: float
    recalls: tuple[int, int]


# Links between notes, each addition and removal recorded so that it can be undone.

_ONE = "source = :source AND target = :target AND type = :type"
_ADDED = "SELECT key, target, type FROM links WHERE source = :source AND operation = :by"
#: Links whose other end was not deleted.
_VISIBLE = (
    "SELECT links.* FROM links LEFT JOIN notes ON notes.id = links.{other} WHERE links.{end} = :id"
    " AND coalesce(notes.status, '') <> 'deleted' ORDER BY links.at, links.key"
)
#: The first topic comes last; a topic's own note is in it.
_TOPICS = (
    "SELECT links.source, topic.id, topic.content FROM links JOIN notes AS topic ON topic.id = links.target"
    f" WHERE links.source IN :ids AND links.type = '{LinkType.PART_OF}'"
    f" AND topic.kind = '{Kind.TOPIC}' AND topic.status = '{Status.ACTIVE}'"
    f" UNION ALL SELECT id, id, content FROM notes WHERE kind = '{Kind.TOPIC}' AND id IN :ids ORDER BY 2 DESC"
)
_CHANGED = "FROM link_changes AS c JOIN operations AS o ON o.id = c.operation"
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
    " FROM counted JOIN links ON links.key = counted.key WHERE counted.fan <= :most ORDER BY links.key, counted.here"
)


@dataclass(frozen=True, slots=True)
class Tie:
    """A link from the note `here`, one of its ends, to the other; one of `fan` of its type on that side of `here`.

    `effective_confidence` is how far it is relied on, 0..1: its confidence, weighed by use.
    """

    here: str
    there: str
    type: LinkType
    reason: str
    effective_confidence: float
    fan: int

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> Tie:
        """A tie from its row; what is wrong with a damaged one raises."""
        ends = row["source"], row["target"]
        there = ends[row["here"] == ends[0]]
        effective_confidence = min(1.0, max(0.0, row["confidence"] * row["weight"]))
        return cls(row["here"], there, LinkType(row["type"]), row["reason"], effective_confidence, row["fan"])


#: What a link says, the most telling first: of a hub's links these are the ones to see.
TELLING = (
    LinkType.CONTRADICTS,
    LinkType.SUPERSEDES,
    LinkType.CAUSED_BY,
    LinkType.SUPPORTS,
    LinkType.DERIVED_FROM,
    LinkType.PART_OF,
    LinkType.RELATED,
)
_RANK = "CASE links.type " + " ".join(f"WHEN '{type}' THEN {rank}" for rank, type in enumerate(TELLING)) + " END"


def _ties(ids: str) -> str:
    """(here, there, rank, sure, at) of every link that leads from or to the ids of this parameter."""
    ends = (("source", "target"), ("target", "source"))
    return " UNION ALL ".join(
        f"SELECT asked.value AS here, links.{there} AS there, {_RANK} AS rank,"
        " links.confidence * links.weight AS sure, links.at"
        f" FROM json_each(:{ids}) AS asked CROSS JOIN links ON links.{here} = asked.value WHERE links.type IN :types"
        for here, there in ends
    )


#: One row for each note beyond: its best link, and which of the notes asked about has it. Every note asked about gives
#: its best before any gives its second, so that one hub among them does not take all the room.
_BEYOND = (
    f"WITH nearer AS (SELECT value AS id FROM json_each(:ids) UNION SELECT value FROM json_each(:behind)"
    f" UNION SELECT there FROM ({_ties('behind')})), best AS ("
    " SELECT *, row_number() OVER (PARTITION BY there ORDER BY rank, sure DESC, at DESC, here) AS place"
    f" FROM ({_ties('ids')}) WHERE there NOT IN (SELECT id FROM nearer)"
    "), found AS ("
    " SELECT best.*, notes.key FROM best CROSS JOIN notes ON notes.id = best.there"
    f" WHERE best.place = 1 AND notes.status <> 'deleted' AND {in_scope()}"
    "), turns AS ("
    " SELECT *, row_number() OVER (PARTITION BY here ORDER BY rank, sure DESC, at DESC, there) AS turn FROM found"
    ") SELECT here, there, key, count(*) OVER () FROM turns ORDER BY turn, rank, sure DESC, at DESC, there LIMIT :most"
)
_AMONG = (
    "SELECT links.* FROM json_each(:ids) AS one CROSS JOIN json_each(:ids) AS other"
    " CROSS JOIN links ON links.source = one.value AND links.target = other.value"
    " WHERE links.type IN :types ORDER BY links.key"
)
#: How much there is around a note.
_COUNTS = (
    "SELECT (SELECT count(*) FROM links AS l LEFT JOIN notes AS o ON o.id = l.target"
    "  WHERE l.source = :id AND coalesce(o.status, '') <> 'deleted'),"
    " (SELECT count(*) FROM links AS l LEFT JOIN notes AS o ON o.id = l.source"
    "  WHERE l.target = :id AND coalesce(o.status, '') <> 'deleted'),"
    " (SELECT count(*) FROM note_sources AS s JOIN operations AS o ON o.id = s.operation"
    f"  WHERE s.note = n.key AND o.undone_by IS NULL), {AUTHOR} FROM notes AS n WHERE n.id = :id"
)
#: The notes that are part of wholes, and how these hang together.
_MEMBERS = (
    "WITH member AS MATERIALIZED (SELECT links.source AS note, asked.value AS whole"
    " FROM json_each(:ids) AS asked CROSS JOIN links ON links.target = asked.value"
    f" WHERE links.type = '{LinkType.PART_OF}')"
)
_TIED = (
    _MEMBERS + " SELECT here.whole, there.whole, count(*)"
    f" FROM member AS here CROSS JOIN links ON links.source = here.note AND links.type <> '{LinkType.PART_OF}'"
    " JOIN member AS there ON there.note = links.target"
    " WHERE here.whole <> there.whole GROUP BY here.whole, there.whole"
)
_SHARED = (
    _MEMBERS + " SELECT here.whole, there.whole, count(*) FROM member AS here JOIN member AS there"
    " ON there.note = here.note AND here.whole < there.whole GROUP BY here.whole, there.whole"
)
_GATHERED = (
    _MEMBERS + " SELECT count(*) FROM (SELECT DISTINCT note FROM member) AS each"
    " CROSS JOIN notes ON notes.id = each.note WHERE notes.status = 'active'"
)


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """The note `id` (its row `key`), one link from `via`, one of the notes asked about."""

    via: str
    id: str
    key: int


@dataclass(frozen=True, slots=True)
class Surroundings:
    """How many links lead from a note and to it, how many sources it has, and the actor who wrote it."""

    links: int
    backlinks: int
    sources: int
    author: str


class Links(Part):
    """The links of one transaction. Links to or from deleted notes are kept, but not shown until they are restored."""

    def of(self, id: str) -> list[Link]:
        """Links that start at this note, oldest first."""
        return self._readable(_VISIBLE.format(end="source", other="target"), id=id)

    def to(self, id: str) -> list[Link]:
        """Links that end at this note, oldest first."""
        return self._readable(_VISIBLE.format(end="target", other="source"), id=id)

    def around(self, ids: Sequence[str]) -> list[Link]:
        """Every link with an end among `ids`, whatever the other end's status."""
        ends = " UNION ".join(f"SELECT key FROM links WHERE {end} IN :ids" for end in ("source", "target"))
        return self._readable(f"SELECT * FROM links WHERE key IN ({ends}) ORDER BY key", ids=ids)

    def ties(self, ids: Sequence[str], *, most: int) -> list[Tie]:
        """Every link with an end among `ids`, whatever the other end's status; of none in more than `most` of a type.

        A link with both ends among them is there twice.
        """
        return self._session.readable(self._session.records(_TIES, ids=ids, most=most), link_label, Tie.of)

    def topics_of(self, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Id and text of the topic that each of these notes is part of, of several the first by id; none for others."""
        return {id: (topic, text) for id, topic, text in self._session.rows(_TOPICS, ids=ids)}

    def behind(self, ids: Sequence[str], *, most: int | None = None) -> list[Link]:
        """The links to what these notes rest on: what caused them, what they are derived from, what supports them.

        The surest first; at most so many. Links to notes that do not exist (yet) are among them, links to deleted ones
        are not.
        """
        return self._readable(_BEHIND, ids=ids, most=-1 if most is None else most)

    def get(self, source: str, target: str, type: LinkType) -> Link | None:
        """The link of this type between the two, or None."""
        rows = self._session.records(f"SELECT * FROM links WHERE {_ONE}", source=source, target=target, type=type)
        return link_of(rows[0]) if rows else None

    def put(self, link: Link, operation: int) -> bool:
        """Add a link; False when one of the same ends and type is there already.

        Raises InvalidInput for a link between notes of two scopes.
        """
        self.refuse_across(link.source, link.target)
        return self._put(link.source, link.target, link.type, link_plain(link), operation)

    def put_all(self, links: Sequence[Link], operation: int) -> list[Link]:
        """Add links from one note by an operation that has added none; returns those that were not there already.

        Raises InvalidInput for a link between notes of two scopes.
        """
        if not links:
            return []
        first: dict[tuple[str, str], Link] = {}
        for link in links:
            self.refuse_across(link.source, link.target)
            first.setdefault((link.target, str(link.type)), link)
        ends = [
            {"operation": operation, "source": link.source, "target": target, "type": type}
            for (target, type), link in first.items()
        ]
        rows = ({"key": None, **link_plain(link), **own} for link, own in zip(first.values(), ends, strict=True))
        self._session.insert("links", *rows, either="IGNORE")
        made = self._session.rows(_ADDED, source=links[0].source, by=operation)
        keys = {(target, type): key for key, target, type in made}
        added = [
            own | {"before": None, "after": as_json({**link_plain(link), "key": keys[at]})}
            for (at, link), own in zip(first.items(), ends, strict=True)
            if at in keys
        ]
        self._session.insert("link_changes", *added)
        # As `_record` says.
        _ = self._session.seq
        return [link for at, link in first.items() if at in keys]

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
        sql += f" JOIN notes AS s ON s.id = source JOIN notes AS t ON t.id = target WHERE type IN :types AND {own}"
        return [(one, other, float(weight)) for one, other, weight in self._session.rows(sql, types=types)]

    def leading_to(self, targets: Sequence[str], type: LinkType) -> dict[str, dict[str, str]]:
        """For each of these notes those that are linked to it so, with who made the link; deleted ones left out."""
        found: dict[str, dict[str, str]] = {target: {} for target in targets}
        sql = "SELECT target, source, made_by FROM links JOIN notes ON notes.id = source"
        sql += " WHERE type = :type AND target IN :targets AND status <> 'deleted'"
        for target, source, made_by in self._session.rows(sql, targets=targets, type=type):
            found[target][source] = made_by
        return found

    def ends_changed(self, since: datetime, *, but: str, types: Sequence[LinkType] = tuple(LinkType)) -> set[str]:
        """Notes at either end of a link (of these types) added or removed since then, by any action `but` this one."""
        sql = f"SELECT source, target {_CHANGED} WHERE o.at >= :since AND o.action <> :but AND type IN :types"
        rows = self._session.rows(sql, since=since, but=but, types=types)
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
        sql = f"SELECT source, target {_CHANGED} WHERE target IN :targets AND type IN :types"
        sql += " AND after IS NOT NULL AND o.undone_by IS NOT NULL"
        return {frozenset(ends) for ends in self._session.rows(sql, targets=targets, types=types)}

    def surroundings(self, id: str) -> Surroundings:
        """Count the links and sources of a note. Raises NoteNotFound for one that never existed."""
        rows = self._session.rows(_COUNTS, id=id)
        if not rows:
            raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
        links, backlinks, sources, author = rows[0]
        return Surroundings(links, backlinks, sources, author or "")

    def among(self, ids: Sequence[str], types: Sequence[LinkType]) -> list[Link]:
        """The links of these types that have both ends among `ids`, oldest first; meant for a few dozen notes."""
        return self._readable(_AMONG, ids=ids, types=types)

    def beyond(
        self, ids: Sequence[str], behind: Iterable[str], *, types: Sequence[LinkType], most: int
    ) -> tuple[list[LinkedNote], int]:
        """At most so many of the notes that are one link of these types from `ids` and no nearer, and how many are.

        Nearer are the notes `behind`, from which `ids` were reached, and all that these are linked to. By the best of
        their links: its type (see `TELLING`), confidence times weight, time. Superseded and archived notes are among
        them; deleted ones, those outside the session's scope, and ends of links that no note has, are not.
        """
        rows = self._session.rows(_BEYOND, ids=ids, behind=behind, types=types, most=most)
        return [LinkedNote(via, id, key) for via, id, key, _ in rows], rows[0][3] if rows else 0

    def ties_of_wholes(self, ids: Sequence[str]) -> dict[tuple[str, str], int]:
        """How much holds two of these wholes together, by (smaller id, greater id).

        Links from a part of one to a part of the other, and notes that are part of both. One pass over the links of all
        parts.
        """
        found: dict[tuple[str, str], int] = {}
        for statement in (_TIED, _SHARED):
            for one, other, number in self._session.rows(statement, ids=ids):
                pair = (min(one, other), max(one, other))
                found[pair] = found.get(pair, 0) + number
        return found

    def gathered(self, ids: Sequence[str]) -> int:
        """How many active notes are part of one of these wholes at least."""
        return int(self._session.value(_GATHERED, ids=ids))

    def uses(self, types: Sequence[LinkType], *, after: int, limit: int) -> list[LinkUse]:
        """Links of these types that no person made, by ascending key."""
        return self._session.readable(
            self._session.records(_USED, after=after, types=types, limit=limit),
            lambda row: f"link {row['key']}",
            lambda row: LinkUse(row["key"], read_moment(row["at"]), float(row["weight"]), (row["here"], row["there"])),
        )

    def weigh(self, weights: Mapping[int, float]) -> None:
        """Set weights by the links' keys. Like usage, they are no part of any version."""
        for key, weight in weights.items():
            self._session.update("links", {"weight": weight}, key=key)

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
        texts = {name: None if held is None else as_json(held) for name, held in (("before", before), ("after", after))}
        self._session.insert("link_changes", row | texts)
        # Whoever follows the counter learns that something changed; no note's own fields did.
        _ = self._session.seq


# Which notes the names in a text mean.

#: By what an import said of a link, by the name in the metadata, and by the first line that says something.
_TOLD = "SELECT reason, target FROM links WHERE source = :id AND reason IN :said"
_NAMED = (
    "SELECT n.id, substr(n.content, 1, :shown), json_extract(n.metadata, '$.title'),"
    " json_extract(n.metadata, '$.path'),"
    " CASE json_type(n.metadata, '$.aliases') WHEN 'array' THEN json_extract(n.metadata, '$.aliases') END"
    " FROM json_each(:keys) AS asked JOIN notes AS n ON n.key = asked.value ORDER BY asked.key"
)
_SHOWN, _LOOKED_AT = 400, 400
_BEGINNING = re.compile(r"[0-9a-f][0-9a-f-]{5,35}")


def named(session: Session, names: Sequence[str], inside: str | None = None) -> dict[str, str]:
    """The id of the note that each name means, as ``[[name]]`` in a text has it; a name that means none is left out.

    A name is what a link of the note `inside` (its id) was made for, an id or the beginning of one, or a title: that of
    the file the note came from, or its first line. Case, blanks and ``.md`` do not matter; the older note wins.
    """
    found: dict[str, str] = {}
    if inside is not None:
        said = {f"[[{name}]]": name for name in names} | {f"link to {name}": name for name in names}
        found = {said[reason]: target for reason, target in session.rows(_TOLD, id=inside, said=said)}
    for name in dict.fromkeys(names):
        if name not in found and (id := _by_id(session, name) or _by_title(session, name)) is not None:
            found[name] = id
    return found


def _by_id(session: Session, name: str) -> str | None:
    try:
        id = session.notes.resolve(name)
    except (NoteNotFound, AmbiguousId):
        return None
    # A short word is no beginning of an id, whatever ids there are.
    return id if id == name or _BEGINNING.fullmatch(name) else None


def _by_title(session: Session, name: str) -> str | None:
    wanted = link_name(name)
    terms = search_terms(wanted.rpartition("/")[2])  # folders are no words of the text
    if not terms:
        return None
    keys = session.text.holding_all(terms, _LOOKED_AT)
    # The newest come first there; a name goes to the note that had it first.
    for id, text, title, path, aliases in session.rows(_NAMED, keys=reversed(keys), shown=_SHOWN):
        given = [each for each in (title, path, *json.loads(aliases or "[]")) if isinstance(each, str)]
        if wanted in {link_name(each) for each in (title_of(text, _SHOWN), *given)}:
            return str(id)
    return None
