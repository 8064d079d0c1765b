"""What lies around a note that somebody opens: how much of what, and which notes the names in its text mean."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import AmbiguousId, NoteNotFound
from amem.labels import title as title_of
from amem.storage.listed import listed
from amem.storage.prepared import Prepared
from amem.text import search_terms
from amem.text.link_names import link_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.storage.session import Session

_COUNTS = Prepared(
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
_TOLD = Prepared(
    "SELECT reason, target FROM links WHERE source = :id AND reason IN (SELECT value FROM json_each(:said))"
)
_NAMED = Prepared(
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
    rows = _COUNTS.rows(session, id=id)
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
        found = {said[reason]: target for reason, target in _TOLD.rows(session, id=inside, said=listed(said))}
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
    for id, text, title, path, aliases in _NAMED.rows(session, keys=listed(reversed(keys)), shown=_SHOWN):
        given = [each for each in (title, path, *json.loads(aliases or "[]")) if isinstance(each, str)]
        if wanted in {link_name(each) for each in (title_of(text, _SHOWN), *given)}:
            return str(id)
    return None
