"""What follows when notes go or come back: whose successor is gone stands again, and what came meanwhile is weighed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amem.note import LinkType, Status
from amem.storage import Difference, turn_back
from amem.storage.logbook import doings
from amem.writing.conflict.standing import free, lift_all_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.storage import Session, UndoReport
    from amem.writing.conflict.reweighing import Reweigher

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
    heirs = {id: _heir(session, id) for id in gone}
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
    seen: set[str] = set()
    while id not in seen:
        seen.add(id)
        note = session.notes.get_many([id], history=False, usage=False, deleted=True).get(id)
        if note is None or note.status is not Status.DELETED:
            return None if note is None else id
        if note.superseded_by is None:
            return None
        id = note.superseded_by
    return None


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
        did = doings(session, number, most=_MOST)
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
