"""Notes that are linked as in conflict, both still standing, and of which nobody has said what holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import exists, func, select

from amem.note import LinkType, Status
from amem.storage import tables
from amem.storage.listed import valid_json
from amem.storage.rows import link_name, link_of

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.sql.selectable import TableValuedAlias

    from amem.note import Link
    from amem.storage.flags import Flag
    from amem.storage.session import Session

#: Links that say of two notes that they do not go together.
IN_CONFLICT = (LinkType.CONTRADICTS, LinkType.SUPERSEDES)


def open_disagreements(session: Session) -> list[Link]:
    """The link of each such pair of active notes, the newest first; of several between two notes the newest."""
    links, one, other = tables.links, tables.notes.alias(), tables.notes.alias()
    statement = (
        select(links)
        .select_from(links.join(one, one.c.id == links.c.source).join(other, other.c.id == links.c.target))
        .where(links.c.type.in_([str(type) for type in IN_CONFLICT]))
        # What ended a statement of a note that stands for the rest is settled.
        .where(~_ended_a_statement(links.c.source, other.c.overturned))
        .where(one.c.status == str(Status.ACTIVE), other.c.status == str(Status.ACTIVE))
        .order_by(links.c.key.desc())
    )
    decided = session.flags.decided_pairs()
    found: dict[frozenset[str], Link] = {}
    for link in session.readable(session.connection.execute(statement).mappings(), link_name, link_of):
        pair = frozenset((link.source, link.target))
        if pair not in decided:
            found.setdefault(pair, link)
    return list(found.values())


def _ended_a_statement(source: ColumnElement[str], overturned: ColumnElement[str]) -> ColumnElement[bool]:
    each: TableValuedAlias = func.json_each(valid_json(overturned)).table_valued("value")
    return exists(select(1).select_from(each).where(func.json_extract(each.c.value, "$.by") == source))


def leaning(session: Session) -> list[Flag]:
    """The flags of notes that lean on something no longer so, and not those of one side of an open disagreement."""
    apart = {(link.target, link.source) for link in open_disagreements(session)}
    return [flag for flag in session.flags.open() if (flag.note, flag.because) not in apart]
