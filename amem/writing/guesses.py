"""What a person linked is theirs: no machine's guess about the same two notes stands beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import LinkType
from amem.writing.actors import is_person

if TYPE_CHECKING:
    from collections.abc import Container

    from amem.storage import Session

#: How one note may be guessed to bear on another. What settles which of two is true is no such guess.
GUESSED = frozenset({LinkType.RELATED, LinkType.SUPPORTS, LinkType.CAUSED_BY})


def linked_by_person(session: Session, id: str) -> set[str]:
    """The notes that a person linked with this one in such a way, in either direction."""
    return {
        link.target if link.source == id else link.source
        for link in session.links.around([id])
        if link.type in GUESSED and is_person(link.made_by)
    }


def drop_guesses(
    session: Session, one: str, other: str, operation: int, keep: Container[tuple[str, str, LinkType]] = ()
) -> None:
    """Take away what machines guessed of the two notes, in either direction, but for the links to `keep`."""
    for source, target in ((one, other), (other, one)):
        for type in GUESSED:
            held = session.links.get(source, target, type)
            if held is not None and not is_person(held.made_by) and (source, target, type) not in keep:
                session.links.remove(source, target, type, operation)
