"""What undo leaves to be settled: notes whose successor is gone stand again, and what came meanwhile is weighed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import Status
from amem.writing.conflict.standing import free, lift_all_by

if TYPE_CHECKING:
    from amem.storage import Session, UndoReport
    from amem.writing.conflict.reweighing import Reweigher


def mend(session: Session, report: UndoReport, reweigher: Reweigher) -> None:
    """Bring the standing of notes in order after an undo or redo, as a part of it.

    No note is left superseded by one that is gone. Those that stand again are weighed against what they were not
    weighed against before, since it arrived when they did not count.
    """
    changed = session.operations.changed_by(report.operation)
    became = {id: fields["status"] for id, fields in changed.items() if "status" in fields}
    gone = [id for id, (_, now) in became.items() if now == Status.DELETED]
    stranded = [*session.notes.replaced_by(gone), *_behind_what_is_gone(session, list(changed))]
    freed = list(dict.fromkeys(stranded))
    for id in freed:
        free(session, id, report.operation)
    freed += [id for id in lift_all_by(session, gone, report.operation) if id not in freed]
    lost = set(gone)
    back = [
        id
        for id, (before, now) in became.items()
        if now == Status.ACTIVE and (before == Status.DELETED or changed[id].get("superseded_by", ("", ""))[0] in lost)
    ]
    arrived = session.operations.first_made_after(report.undone) if back else None
    if arrived is not None:
        reweigher.settle(session, back, parent=report.operation, newer_than=arrived - 1)
    reweigher.settle(session, freed, parent=report.operation)


def _behind_what_is_gone(session: Session, ids: list[str]) -> list[str]:
    """Those of the notes that went back behind a successor which was taken back, or destroyed, before."""
    notes = session.notes.get_many(ids, history=False, usage=False)
    behind = {id: note.superseded_by for id, note in notes.items() if note.status is Status.SUPERSEDED}
    standing = session.notes.get_many([each for each in behind.values() if each], history=False, usage=False)
    return [id for id, successor in behind.items() if successor is not None and successor not in standing]
