"""A person's word on what is true: it was not so that a note was superseded, a note is taken back, a note holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import InvalidInput, NoteNotFound
from amem.labels import short_id
from amem.note import Link, LinkType, Status
from amem.storage.rows import plain
from amem.text import normalize
from amem.writing.actors import is_person
from amem.writing.conflict.claims import claim_of, ended
from amem.writing.conflict.ending import marked, part_named, part_of, statements_of, still_states
from amem.writing.conflict.leaning import flag_what_leans
from amem.writing.conflict.reasons import quoted
from amem.writing.conflict.standing import free, hide, leads_to, lift, standing_after

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime, tzinfo

    from amem.note import MemoryNote, Overturned
    from amem.storage import Session, Store
    from amem.truth.predicates import Predicates


class Corrector:
    """Carries out what people say of single notes; each call is one operation that can be undone."""

    def __init__(self, store: Store, predicates: Callable[[], Predicates], zone: tzinfo) -> None:
        self._store = store
        self._predicates = predicates
        self._zone = zone

    def unsupersede(self, id: str, actor: str, statement: str = "") -> bool:
        """Make a superseded note stand again, or the overturned statements of one that stands (or one `statement`).

        Machines may then only propose to overturn it. False when there is nothing to bring back. Raises NoteNotFound,
        InvalidInput for one statement of a note of which more fell at once.
        """
        with self._store.write() as session:
            note = _found(session, id)
            if note.status is Status.SUPERSEDED and not statement:
                stand_again(session, note, session.begin("unsupersede", actor), actor)
                return True
            if note.status is Status.SUPERSEDED:
                told = marked(note, [_named(note, statement)], until=session.now)
                if told == note.overturned or still_states(note.content, told):
                    raise InvalidInput(
                        f"{short_id(id)} does not stand at all, and not only without that statement",
                        hint=f"amem unsupersede {short_id(id)} brings the note back; what is marked in it stays marked",
                    )
                stand_again(session, note, session.begin("unsupersede", actor, statement), actor)
                return True
            lifted = [each for each in note.overturned if normalize(statement) in normalize(each.text)]
            if not lifted:
                return False
            operation = session.begin("unsupersede", actor, statement)
            stays = {each.by for each in note.overturned if each not in lifted}
            stand_by(session, id, operation, {each.by for each in lifted if each.by} - stays)
            lift(session, note, lifted, operation, edited=is_person(actor))
        return True

    def retract(self, id: str, reason: str, actor: str, statement: str = "") -> bool:
        """Take a note back, or one statement of it, with nothing in its place, as of now; False when it does not stand.

        Raises NoteNotFound, InvalidInput for words that are no whole statement of the note.
        """
        with self._store.write() as session:
            note = _found(session, id)
            if note.status not in (Status.ACTIVE, Status.ARCHIVED):
                return False
            told = self._told(note, statement, session.now, reason=reason) if statement else []
            if statement and told == note.overturned:
                return False
            operation = session.begin("retract", actor, reason)
            if told and still_states(note.content, told):
                self._mark(session, note, None, told, session.now, operation)
                return True
            session.notes.change(id, standing_after(note, None, session.now), operation)
            flag_what_leans(session, note, None, session.now, self._predicates(), operation)
        return True

    def supersede(self, old: str, new: str, reason: str, actor: str, statement: str = "") -> Link:
        """Put one note in the place of another, or of one `statement` of it, by hand, even of one that took its place.

        Raises NoteNotFound, InvalidInput.
        """
        with self._store.write() as session:
            before, after = _found(session, old), _found(session, new)
            if old == new:
                raise InvalidInput("a note cannot take its own place")
            if before.status is Status.SUPERSEDED:
                raise InvalidInput(
                    f"{short_id(old)} is superseded already",
                    hint=f"amem unsupersede {short_id(old)} makes it stand again",
                )
            moment = ended(claim_of(session, before, 0), claim_of(session, after, 1))
            link = Link(new, old, LinkType.SUPERSEDES, reason, 1.0, actor, session.now)
            told = self._told(before, statement, moment, by=after, reason=reason) if statement else []
            if statement and told == before.overturned:
                raise InvalidInput(
                    f"{short_id(old)} has that statement marked already",
                    hint=f"amem unsupersede {short_id(old)} --statement makes it stand again",
                )
            operation = session.begin("supersede", actor, reason)
            if told and still_states(before.content, told):
                self._mark(session, before, after, told, moment, operation)
                session.links.put(link, operation)
                return link
            if leads_to(session, new, old):
                # What a person says last holds: what had its place taken by the other stands again.
                stand_again(session, after, operation, actor)
            hide(session, before, link, moment, operation, by_hand=True)
            flag_what_leans(session, before, after, moment, self._predicates(), operation)
        return link

    def _told(
        self, note: MemoryNote, statement: str, moment: datetime, *, by: MemoryNote | None = None, reason: str
    ) -> list[Overturned]:
        """The note's overturned statements with the one that a person means. Raises InvalidInput for none."""
        return marked(note, [_named(note, statement)], until=moment.astimezone(self._zone), by=by, reason=reason)

    def _mark(
        self,
        session: Session,
        note: MemoryNote,
        successor: MemoryNote | None,
        told: Sequence[Overturned],
        moment: datetime,
        operation: int,
    ) -> None:
        fresh = [each for each in told if each not in note.overturned]
        session.notes.change(note.id, {"overturned": plain("overturned", told)}, operation, disowned=True)
        _resolve_doubts(session, note, fresh, successor, operation)
        part = part_of(note, fresh)
        flag_what_leans(session, part, successor, moment, self._predicates(), operation, whole=False)

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


def _resolve_doubts(
    session: Session, note: MemoryNote, fresh: Sequence[Overturned], successor: MemoryNote | None, operation: int
) -> None:
    """Dismiss the doubts about what a person has just marked: those that quote it, or that the successor raised.

    A doubt that quotes another statement of the note stays.
    """
    marked_now = [quoted(each.text) for each in fresh]
    others = [each for each in map(quoted, statements_of(note.content)) if each not in marked_now]
    because = {
        flag.because
        for flag in session.flags.open(note.id)
        if (any(each in flag.reason for each in marked_now) or (successor is not None and flag.because == successor.id))
        and not any(each in flag.reason for each in others)
    }
    if because:
        session.flags.dismiss(note.id, operation, because)


def _named(note: MemoryNote, statement: str) -> str:
    """A statement in the words of its note. Raises InvalidInput for words that it does not say, or half of one."""
    found = part_named(note.content, statement)
    if found is None:
        said = "; ".join(statements_of(note.content))
        raise InvalidInput(f"{short_id(note.id)} does not say {statement!r}", hint=f"it says: {said}")
    if found.only_part:
        raise InvalidInput(
            f"“{statement}” is only a part of “{found.text}”",
            hint=f"name the whole statement, or change the note: amem edit {short_id(note.id)}",
        )
    return found.text


def stand_again(session: Session, note: MemoryNote, operation: int, actor: str) -> None:
    """Make a superseded note active on somebody's word, and remember of what took its place that it did not."""
    free(session, note.id, operation, edited=is_person(actor))
    stand_by(session, note.id, operation)


def stand_by(session: Session, id: str, operation: int, against: Collection[str] | None = None) -> None:
    """Take away what says that others (or those `against`) took a note's place, and have no machine say it again."""
    for link in session.links.to(id):
        if link.type is LinkType.SUPERSEDES and (against is None or link.source in against):
            session.links.remove(link.source, id, link.type, operation)
            session.flags.put(id, link.source, link.reason, operation)
    session.flags.dismiss(id, operation, against)


def _found(session: Session, id: str) -> MemoryNote:
    note = session.notes.get_many([id], history=False, usage=False).get(id)
    if note is None:
        raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
    return note
