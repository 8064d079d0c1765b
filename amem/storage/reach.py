"""Which notes are one link away from others, the closest tied first: a few of a hub's thousands, and how many more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.note import LinkType
from amem.storage.filters import in_scope, scope_values
from amem.storage.listed import listed
from amem.storage.prepared import Prepared
from amem.storage.rows import link_name, link_of
from amem.storage.tables import links as _LINKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amem.note import Link
    from amem.storage.session import Session

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
_BEYOND = Prepared(
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
_AMONG = Prepared(
    f"SELECT {', '.join(f'links.{each.name}' for each in _LINKS.c)} FROM json_each(:ids) AS one"
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
    rows = _BEYOND.rows(session, **asked, **scope_values(session.scope))
    return [Reached(via, id, key) for via, id, key, _ in rows], rows[0][3] if rows else 0


def among(session: Session, ids: Sequence[str], types: Sequence[LinkType]) -> list[Link]:
    """The links of these types that have both ends among `ids`, oldest first; meant for a few dozen notes."""
    names = _LINKS.c.keys()
    rows = _AMONG.rows(session, ids=listed(ids), types=listed(types))
    return session.readable((dict(zip(names, row, strict=True)) for row in rows), link_name, link_of)
