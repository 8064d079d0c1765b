"""A person's word on what is true, and what follows when notes go or come back."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from amem.conflict.candidates import as_rival, claim_of, cosines_to, ended, nearest, unknown_cosines
from amem.conflict.ending import (
    flag_what_leans,
    free,
    hide,
    leads_to,
    lift,
    lift_all_by,
    marked,
    part_named,
    part_of,
    quoted,
    standing_after,
    statements_of,
    still_states,
    successors,
)
from amem.conflict.judges import DIFFER, SLOT, why_differing
from amem.conflict.settling import Settled, begins
from amem.errors import InvalidInput
from amem.labels import short_id
from amem.language import normalize
from amem.language.intervals import intervals, same_value
from amem.note import Conflict, Fact, Label, Link, LinkType, Scope, Status, Verdict, is_persons_word
from amem.storage.rows import plain
from amem.storage.undo import Difference, turn_back

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    import numpy as np
    from numpy.typing import NDArray

    from amem.conflict.candidates import Rival
    from amem.conflict.settling import Begin, Settler, Weighed
    from amem.index import DenseLeg
    from amem.language.intervals import Interval
    from amem.language.predicates import Predicates
    from amem.note import MemoryNote, Overturned
    from amem.settings import Settings
    from amem.storage.store import Session, Store
    from amem.storage.undo import UndoReport


# What follows when notes go or come back: whose successor is gone stands again, and what came meanwhile is weighed.

#: What the log calls it.
ACTION = "reinstate"
_ACTOR, _CAUSE = "amem", "what took its place is gone"
#: So many notes and links that each operation changed are named.
_MOST = 1000


def mend(session: Session, report: UndoReport, reweigher: Reweigher) -> tuple[Difference, ...]:
    """Bring the standing of notes in order after an undo or redo; returns what changed by that, and why.

    No note is left superseded by one that is gone. Those that stand again are weighed against what they were not
    weighed against before, since it arrived when they did not count. What follows from an undo goes with it when it is
    redone, what follows from a redo when that is undone again.
    """
    done = session.operations.get(report.undone)
    parent = report.operation if done.undoes is None else done.undoes
    before = session.operations.count()
    changed = session.operations.changed_by(report.operation)
    became = {id: fields["status"] for id, fields in changed.items() if "status" in fields}
    moved = [id for id, fields in changed.items() if not fields.keys().isdisjoint(("status", "superseded_by"))]
    gone = [id for id, (_, now) in became.items() if now == Status.DELETED]
    stranded = [*session.notes.replaced_by(gone), *_behind_what_is_gone(session, moved)]
    freed = _free_all(session, list(dict.fromkeys(stranded)), gone, parent)
    lost = set(gone)
    back = [
        id
        for id, (before_, now) in became.items()
        if now == Status.ACTIVE and (before_ == Status.DELETED or changed[id].get("superseded_by", ("", ""))[0] in lost)
    ]
    arrived = session.operations.first_made_after(report.undone) if back else None
    if arrived is not None:
        reweigher.settle(session, back, parent=parent, newer_than=arrived - 1)
    reweigher.settle(session, freed, parent=parent)
    return tuple(_done_since(session, before))


def _free_all(session: Session, behind: Sequence[str], gone: Sequence[str], parent: int) -> list[str]:
    if not behind and not (gone and session.notes.overturned_by(gone)):
        return []
    operation = session.begin(ACTION, _ACTOR, _CAUSE, parent=parent)
    for id in behind:
        free(session, id, operation)
    return list(dict.fromkeys([*behind, *lift_all_by(session, gone, operation)]))


def delete(session: Session, ids: Sequence[str], operation: int, reweigher: Reweigher) -> None:
    """Hide these notes, let stand again what they had taken the place of, and weigh it against what came meanwhile."""
    for id in ids:
        session.notes.change(id, {"status": str(Status.DELETED)}, operation)
    reweigher.settle(session, _release(session, ids, operation), parent=operation)


def _release(session: Session, gone: Sequence[str], parent: int) -> list[str]:
    """Let stand again what notes that are gone had taken the place of, below `parent`; returns the ids of it.

    What stood behind one that was itself superseded goes behind its successor, if that is not gone, too. The parts of
    a merged note say what it said, and stay behind it.
    """
    behind = session.notes.get_many(session.notes.replaced_by(gone), history=False, usage=False)
    chains = {id: successors(session, id) for id in gone}
    heirs = {
        id: next((each.id for each in chain if each.status is not Status.DELETED), None) for id, chain in chains.items()
    }
    marked = session.notes.overturned_by([id for id, heir in heirs.items() if heir is None])
    told = {each.by for note in marked.values() for each in note.overturned}
    freed: list[str] = []
    for id, heir in heirs.items():
        own = [each for each, note in behind.items() if note.superseded_by == id]
        links = [link for old in own if (link := session.links.get(id, old, LinkType.SUPERSEDES)) is not None]
        lifts = heir is None and id in told
        if not links and not lifts:
            continue
        operation = session.begin(ACTION, _ACTOR, _CAUSE, parent=parent)
        for link in links:
            if heir is None:
                free(session, link.target, operation)
                freed.append(link.target)
            else:
                session.notes.change(link.target, {"superseded_by": heir}, operation)
                session.links.put(replace(link, source=heir), operation)
        freed += lift_all_by(session, [id], operation) if lifts else []
    return list(dict.fromkeys(freed))


def _heir(session: Session, id: str) -> str | None:
    """What took the place of a note in the end, past all that are gone; None when nothing did that is there."""
    return next((each.id for each in successors(session, id) if each.status is not Status.DELETED), None)


def take_again(session: Session, id: str, operation: int) -> None:
    """Put back behind a note that is restored what stood again because it was gone, but for what later work changed."""
    ((went, action),) = session.operations.last_to_set(list(session.notes.keys_of([id]).values()), ["status"]).values()
    if action == "redo":  # of the deletion, below which it stood again
        went = session.operations.get(session.operations.get(went).undoes or 0).undoes or 0
    for each in session.operations.of(session.operations.standing(went)):
        if each.action == ACTION and _stood_behind(session, each.id, id):
            turn_back(session, each.id, operation)


def _stood_behind(session: Session, operation: int, id: str) -> bool:
    """Whether the operation took something out from behind this note."""
    for changes in session.operations.changed_by(operation).values():
        before, _ = changes.get("superseded_by", (None, None))
        told, _ = changes.get("overturned", ((), ()))
        if id == before or id in {each["by"] for each in told}:
            return True
    return False


def _done_since(session: Session, operation: int) -> list[Difference]:
    """What operations after this one changed, item by item."""
    found: dict[tuple[str, str], Difference] = {}
    for number in range(operation + 1, session.operations.count() + 1):
        did = session.operations.doings(number, most=_MOST)
        items = [(id, field) for id, fields in did.changes.items() for field in fields]
        items += [(link.source, f"link {link.type} {link.target}") for link in did.links]
        items += [(review.note, f"proposal {review.id}") for review in did.reviews]
        items += [(id, "flag") for id in did.flagged]
        for note, item in items:
            why = f"by operation {number}: {did.operation.cause}"
            found[note, item] = Difference(note, item, number, why)
    return list(found.values())


def _behind_what_is_gone(session: Session, ids: list[str]) -> list[str]:
    """Those of the notes that went back behind a successor which was taken back, or destroyed, before."""
    notes = session.notes.get_many(ids, history=False, usage=False)
    behind = {id: note.superseded_by for id, note in notes.items() if note.status is Status.SUPERSEDED}
    standing = session.notes.get_many([each for each in behind.values() if each], history=False, usage=False)
    return [id for id, successor in behind.items() if successor is not None and successor not in standing]


# A person's word on what is true: it was not so that a note was superseded, a note is taken back, a note holds.


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
            note = session.notes.existing(id)
            if note.status is Status.SUPERSEDED:
                told = [] if not statement else marked(note, [_named(note, statement)], until=session.now)
                if statement and (told == note.overturned or still_states(note.content, told)):
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
            lift(session, note, lifted, operation, edited=is_persons_word(actor))
        return True

    def retract(self, id: str, reason: str, actor: str, statement: str = "") -> bool:
        """Take a note back, or one statement of it, with nothing in its place, as of now; False when it does not stand.

        Raises NoteNotFound, InvalidInput for words that are no whole statement of the note.
        """
        with self._store.write() as session:
            note = session.notes.existing(id)
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
            before, after = session.notes.existing(old), session.notes.existing(new)
            if old == new:
                raise InvalidInput(
                    f"{short_id(old)} cannot take its own place", hint="name two notes: the old and the new"
                )
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
            session.notes.existing(id)
            flagged, settled = session.flags.open(id), session.flags.dismissed(id)
            disputed = [
                link
                for link in session.links.to(id)
                if link.type in (LinkType.CONTRADICTS, LinkType.SUPERSEDES) and link.source not in settled
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
    free(session, note.id, operation, edited=is_persons_word(actor))
    stand_by(session, note.id, operation)


def stand_by(session: Session, id: str, operation: int, against: Collection[str] | None = None) -> None:
    """Take away what says that others (or those `against`) took a note's place, and have no machine say it again."""
    for link in session.links.to(id):
        if link.type is LinkType.SUPERSEDES and (against is None or link.source in against):
            session.links.remove(link.source, id, link.type, operation)
            session.flags.put(id, link.source, link.reason, operation)
    session.flags.dismiss(id, operation, against)


# Stored notes weighed again, by their ids: against what came or changed since they were weighed last.


class Reweigher:
    """Weighs active notes that are stored already. Call `refresh` outside any transaction before."""

    def __init__(self, dense: DenseLeg, settler: Settler, settings: Settings) -> None:
        self._dense = dense
        self._settler = settler
        self._settings = settings

    def refresh(self) -> None:
        """Let the nearest be those of now."""
        self._dense.refresh()

    def settle(
        self, session: Session, ids: Sequence[str], *, parent: int | None, newer_than: int | None = None
    ) -> list[Settled]:
        """Weigh each of these that is active and carry out what comes of it, below the operation `parent`.

        With `newer_than` only against notes that arrived after that key.
        """
        done = []
        for note, weighed in self.weigh(session, ids, newer_than=newer_than):
            done.append(self.carry_out(session, note, weighed, begins(session, note, parent)))
        return done

    def weigh(
        self, session: Session, ids: Sequence[str], *, newer_than: int | None = None
    ) -> Iterator[tuple[MemoryNote, list[Weighed]]]:
        """Each of these notes that is active with the pairs that it is in conflict in, if there are any.

        One after the other, so that what is carried out of one counts for the next.
        """
        vectors = session.vectors.of_notes(ids)
        for id, key in session.notes.keys_of(ids).items():
            note, owned = session.notes.bare([key])[key]
            if note.status is not Status.ACTIVE:
                continue
            own, rivals = as_rival(session, key, note, owned), self._rivals(session, note, vectors.get(id))
            if newer_than is not None:
                rivals = [each for each in rivals if each.claim.order > newer_than]
            weighed = self._settler.weigher.weigh(session, own, rivals) if rivals else []
            if weighed:
                yield note, weighed

    def carry_out(self, session: Session, note: MemoryNote, weighed: Sequence[Weighed], begin: Begin) -> Settled:
        """Do what the verdicts ask for."""
        return self._settler.carry_out(session, note, weighed, begin)

    def _rivals(self, session: Session, note: MemoryNote, vector: NDArray[np.float32] | None) -> list[Rival]:
        if vector is None:
            return self._settler.rivals(session, note, [], unknown_cosines)
        # One more than wanted, since the note is its own nearest.
        most = self._settings.conflict_neighbours + 1
        near = nearest(session, self._dense, vector, most, Scope.of(note.metadata))
        return self._settler.rivals(session, note, near, cosines_to(self._dense, vector))


# Values of one slot that both stand since a person kept one of them: still to be decided.

_WAITS = "a person said that the note holds"


def with_kept(session: Session, predicates: Predicates, known: Iterable[Conflict]) -> list[Conflict]:
    """`known`, and other active notes that state two values of one slot, of which a person made one stand again."""
    found = {frozenset((each.earlier, each.later)): each for each in known}
    decided = session.flags.turned_down()
    for each in _kept_beside(session, predicates):
        pair = frozenset((each.earlier, each.later))
        if pair not in decided:
            found.setdefault(pair, each)
    return list(found.values())


def _kept_beside(session: Session, predicates: Predicates) -> Iterator[Conflict]:
    owned = "json_extract(CASE WHEN json_valid(edited) THEN edited END, '$.{0}') = 'edited'"
    owned = f"({owned.format('status')} OR {owned.format('overturned')})"
    kept = dict(session.rows(f"SELECT id, key FROM notes WHERE status = 'active' AND {owned}"))
    for scope in set(session.notes.scopes_of(list(kept)).values()):
        with session.within(scope):
            yield from _kept_within(session, kept, predicates)


def _kept_within(session: Session, kept: Mapping[str, int], predicates: Predicates) -> Iterator[Conflict]:
    """Those of the session's scope."""
    evidence = session.facts.about({each.subject for each in session.facts.of(list(kept.values()))})
    active = {each.note for each in evidence if each.status is Status.ACTIVE}
    so = [each for each in intervals(evidence, predicates) if each.until is None and active.intersection(each.notes)]
    for one, other in combinations(so, 2):
        if not kept.keys().isdisjoint((*one.notes, *other.notes)) and _clash(one, other, predicates):
            earlier, later = (next(id for id in reversed(each.notes) if id in active) for each in (one, other))
            old, new = (Fact(each.subject, each.predicate, each.object) for each in (one, other))
            reason = why_differing(old, new, new.object, predicates)
            yield Conflict(earlier, later, Verdict(Label.CONTRADICTS, DIFFER, reason, SLOT), 0.0, False, _WAITS)


def _clash(one: Interval, other: Interval, predicates: Predicates) -> bool:
    if (one.subject, one.predicate) != (other.subject, other.predicate) or same_value(one.object, other.object):
        return False
    place = predicates.slot(one.predicate, one.object)
    return place is not None and place == predicates.slot(other.predicate, other.object)
