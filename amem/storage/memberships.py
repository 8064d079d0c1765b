"""Which notes belong to what is made of notes: how the groups hang together, and what belongs to none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import LinkType
from amem.storage.listed import listed
from amem.storage.prepared import Prepared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.storage.session import Session

_MEMBERS = (
    "WITH member AS MATERIALIZED (SELECT links.source AS note, asked.value AS whole"
    " FROM json_each(:ids) AS asked CROSS JOIN links ON links.target = asked.value"
    f" WHERE links.type = '{LinkType.PART_OF}')"
)
_TIES = Prepared(
    _MEMBERS + " SELECT here.whole, there.whole, count(*)"
    " FROM member AS here CROSS JOIN links ON links.source = here.note"
    f" AND links.type <> '{LinkType.PART_OF}'"
    " JOIN member AS there ON there.note = links.target"
    " WHERE here.whole <> there.whole GROUP BY here.whole, there.whole"
)
_SHARED = Prepared(
    _MEMBERS + " SELECT here.whole, there.whole, count(*) FROM member AS here JOIN member AS there"
    " ON there.note = here.note AND here.whole < there.whole GROUP BY here.whole, there.whole"
)
_GATHERED = Prepared(
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
        for one, other, number in statement.rows(session, ids=listed(ids)):
            pair = (min(one, other), max(one, other))
            found[pair] = found.get(pair, 0) + number
    return found


def gathered(session: Session, ids: Sequence[str]) -> int:
    """How many active notes are part of one of these wholes at least."""
    ((number,),) = _GATHERED.rows(session, ids=listed(ids))
    return int(number)
