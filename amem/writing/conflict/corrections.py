"""A person's word on what is true: it was not so that a note was superseded, a note is taken back, a note holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import InvalidInput, NoteNotFound
from amem.note import Link, LinkType, Status
from amem.writing.actors import is_person
from amem.writing.conflict.claims import claim_of, ended
from amem.writing.conflict.leaning import flag_what_leans
from amem.writing.conflict.standing import free, hide, leads_to, standing_after

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.note import MemoryNote
    from amem.storage import Session, Store
    from amem.truth.predicates import Predicates


class Corrector:
    """Carries out what people say of single notes; each call is one operation that can be undone."""

    def __init__(self, store: Store, predicates: Callable[[], Predicates]) -> None:
        self._store = store
        self._predicates = predicates

    def unsupersede(self, id: str, actor: str) -> bool:
        """Make a superseded note stand again, whatever machines make of it; False when it does. Raises NoteNotFound."""
        with self._store.write() as session:
            note = _found(session, id)
            if note.status is not Status.SUPERSEDED:
                return False
            stand_again(session, note, session.begin("unsupersede", actor), actor)
        return True

    def retract(self, id: str, reason: str, actor: str) -> bool:
        """Take a note back, with nothing in its place, as of now; False when it does not stand. Raises NoteNotFound."""
        with self._store.write() as session:
            note = _found(session, id)
            if note.status not in (Status.ACTIVE, Status.ARCHIVED):
                return False
            operation = session.begin("retract", actor, reason)
            session.notes.change(id, standing_after(note, None, session.now), operation)
            flag_what_leans(session, note, None, session.now, self._predicates(), operation)
        return True

    def supersede(self, old: str, new: str, reason: str, actor: str) -> Link:
        """Put one note in the place of another by hand, even of one that took its place; NoteNotFound, InvalidInput."""
        with self._store.write() as session:
            before, after = _found(session, old), _found(session, new)
            if old == new:
                raise InvalidInput("a note cannot take its own place")
            if before.status is Status.SUPERSEDED:
                raise InvalidInput(
                    f"{old[:8]} is superseded already", hint=f"amem unsupersede {old[:8]} makes it stand again"
                )
            operation = session.begin("supersede", actor, reason)
            if leads_to(session, new, old):
                # What a person says last holds: what had its place taken by the other stands again.
                stand_again(session, after, operation, actor)
            moment = ended(claim_of(before, 0), claim_of(after, 1))
            link = Link(new, old, LinkType.SUPERSEDES, reason, 1.0, actor, session.now)
            hide(session, before, link, moment, operation)
            session.notes.own(old, "status", edited=False)
            flag_what_leans(session, before, after, moment, self._predicates(), operation)
        return link

    def keep(self, id: str, actor: str) -> int:
        """Say that a note holds in spite of its flags; returns how many there were. Raises NoteNotFound."""
        with self._store.write() as session:
            _found(session, id)
            flagged = session.flags.open(id)
            disputed = [
                link for link in session.links.to(id) if link.type in (LinkType.CONTRADICTS, LinkType.SUPERSEDES)
            ]
            if not flagged and not disputed:
                return 0
            operation = session.begin("keep", actor)
            for link in disputed:
                session.flags.put(id, link.source, link.reason, operation)
            return session.flags.dismiss(id, operation)


def stand_again(session: Session, note: MemoryNote, operation: int, actor: str) -> None:
    """Make a superseded note active on somebody's word, and remember of what took its place that it did not."""
    free(session, note.id, operation, edited=is_person(actor))
    stand_by(session, note.id, operation)


def stand_by(session: Session, id: str, operation: int) -> None:
    """Take away what says that others took a note's place, and have no machine say it of them again."""
    for link in session.links.to(id):
        if link.type is LinkType.SUPERSEDES:
            session.links.remove(link.source, id, link.type, operation)
            session.flags.put(id, link.source, link.reason, operation)
    session.flags.dismiss(id, operation)


def _found(session: Session, id: str) -> MemoryNote:
    note = session.notes.get_many([id], history=False, usage=False).get(id)
    if note is None:
        raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
    return note
