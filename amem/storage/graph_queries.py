"""What lies around a note: notes a link away, names its text mentions, groups that hang together."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import AmbiguousId, NoteNotFound
from amem.labels import title as title_of
from amem.language import search_terms
from amem.language.markup import link_name
from amem.note import LinkType
from amem.storage.filters import in_scope, scope_values
from amem.storage.rows import link_label, link_of, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amem.note import Link
    from amem.storage.store import Session


# Which notes are one link away from others, the closest tied first: a few of a hub's thousands, and how many more.

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
        f" FROM json_each(:{ids}) AS asked CROSS JOIN links ON links.{here} = asked.value"
        " WHERE links.type IN (SELECT value FROM json_each(:types))"
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
    ") SELECT here, there, key, count(*) OVER () FROM turns"
    " ORDER BY turn, rank, sure DESC, at DESC, there LIMIT :most"
)
_AMONG = (
    "SELECT links.* FROM json_each(:ids) AS one"
    " CROSS JOIN json_each(:ids) AS other"
    " CROSS JOIN links ON links.source = one.value AND links.target = other.value"
    " WHERE links.type IN (SELECT value FROM json_each(:types)) ORDER BY links.key"
)


@dataclass(frozen=True, slots=True)
class Reached:
    """The note `id` (its row `key`), one link from `via`, one of the notes asked about."""

    via: str
    id: str
    key: int


def beyond(
    session: Session, ids: Sequence[str], behind: Iterable[str], *, types: Sequence[LinkType], most: int
) -> tuple[list[Reached], int]:
    """At most so many of the notes that are one link of these types from `ids` and no nearer, and how many are.

    Nearer are the notes `behind`, from which `ids` were reached, and all that these are linked to. By the best of
    their links: its type (see `TELLING`), confidence times weight, time. Superseded and archived notes are among them;
    deleted ones, those outside the session's scope, and ends of links that no note has, are not.
    """
    asked = {"ids": listed(ids), "behind": listed(behind), "types": listed(types), "most": most}
    rows = session.rows(_BEYOND, **asked, **scope_values(session.scope))
    return [Reached(via, id, key) for via, id, key, _ in rows], rows[0][3] if rows else 0


def among(session: Session, ids: Sequence[str], types: Sequence[LinkType]) -> list[Link]:
    """The links of these types that have both ends among `ids`, oldest first; meant for a few dozen notes."""
    return session.readable(session.records(_AMONG, ids=listed(ids), types=listed(types)), link_label, link_of)


# What lies around a note that somebody opens: how much of what, and which notes the names in its text mean.

_COUNTS = (
    "SELECT"
    " (SELECT count(*) FROM links AS l LEFT JOIN notes AS o ON o.id = l.target"
    "  WHERE l.source = :id AND coalesce(o.status, '') <> 'deleted'),"
    " (SELECT count(*) FROM links AS l LEFT JOIN notes AS o ON o.id = l.source"
    "  WHERE l.target = :id AND coalesce(o.status, '') <> 'deleted'),"
    " (SELECT count(*) FROM note_sources AS s JOIN operations AS o ON o.id = s.operation"
    "  WHERE s.note = n.key AND o.undone_by IS NULL),"
    " (SELECT o.actor FROM versions AS v JOIN operations AS o ON o.id = v.operation"
    "  WHERE v.note = n.key AND v.version = 1)"
    " FROM notes AS n WHERE n.id = :id"
)
#: By what an import said of a link, by the name in the metadata, and by the first line that says something.
_TOLD = "SELECT reason, target FROM links WHERE source = :id AND reason IN (SELECT value FROM json_each(:said))"
_NAMED = (
    "SELECT n.id, substr(n.content, 1, :shown), json_extract(n.metadata, '$.title'),"
    " json_extract(n.metadata, '$.path'),"
    " CASE json_type(n.metadata, '$.aliases') WHEN 'array' THEN json_extract(n.metadata, '$.aliases') END"
    " FROM json_each(:keys) AS asked JOIN notes AS n ON n.key = asked.value ORDER BY asked.key"
)
_SHOWN, _LOOKED_AT = 400, 400
_BEGINNING = re.compile(r"[0-9a-f][0-9a-f-]{5,35}")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """How many links lead from a note and to it, how many sources it has, and the actor who wrote it."""

    links: int
    backlinks: int
    sources: int
    author: str


def surroundings(session: Session, id: str) -> Surroundings:
    """What there is around a note. Raises NoteNotFound for one that was never there."""
    rows = session.rows(_COUNTS, id=id)
    if not rows:
        raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
    links, backlinks, sources, author = rows[0]
    return Surroundings(links, backlinks, sources, author or "")


def named(session: Session, names: Sequence[str], inside: str | None = None) -> dict[str, str]:
    """The id of the note that each name means, as ``[[name]]`` in a text has it; a name that means none is left out.

    A name is what a link of the note `inside` (its id) was made for, an id or the beginning of one, or a title: that of
    the file the note came from, or its first line. Case, blanks and ``.md`` do not matter; the older note wins.
    """
    found: dict[str, str] = {}
    if inside is not None:
        said = {f"[[{name}]]": name for name in names} | {f"link to {name}": name for name in names}
        found = {said[reason]: target for reason, target in session.rows(_TOLD, id=inside, said=listed(said))}
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
    for id, text, title, path, aliases in session.rows(_NAMED, keys=listed(reversed(keys)), shown=_SHOWN):
        given = [each for each in (title, path, *json.loads(aliases or "[]")) if isinstance(each, str)]
        if wanted in {link_name(each) for each in (title_of(text, _SHOWN), *given)}:
            return str(id)
    return None


# Which notes belong to what is made of notes: how the groups hang together, and what belongs to none.

_MEMBERS = (
    "WITH member AS MATERIALIZED (SELECT links.source AS note, asked.value AS whole"
    " FROM json_each(:ids) AS asked CROSS JOIN links ON links.target = asked.value"
    f" WHERE links.type = '{LinkType.PART_OF}')"
)
_TIES = (
    _MEMBERS + " SELECT here.whole, there.whole, count(*)"
    " FROM member AS here CROSS JOIN links ON links.source = here.note"
    f" AND links.type <> '{LinkType.PART_OF}'"
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


def ties(session: Session, ids: Sequence[str]) -> dict[tuple[str, str], int]:
    """How much holds two of these wholes together, by (smaller id, greater id).

    Links from a part of one to a part of the other, and notes that are part of both. One pass over the links of all
    parts.
    """
    found: dict[tuple[str, str], int] = {}
    for statement in (_TIES, _SHARED):
        for one, other, number in session.rows(statement, ids=listed(ids)):
            pair = (min(one, other), max(one, other))
            found[pair] = found.get(pair, 0) + number
    return found


def gathered(session: Session, ids: Sequence[str]) -> int:
    """How many active notes are part of one of these wholes at least."""
    ((number,),) = session.rows(_GATHERED, ids=listed(ids))
    return int(number)
