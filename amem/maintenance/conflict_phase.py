"""The part of maintenance that weighs changed notes again: what was edited, or came when its rival did not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.conflict.settling import ACTION
from amem.maintenance.shift import PhaseReport, Reason

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from amem.conflict.corrections import Reweigher
    from amem.maintenance.shift import Shift
    from amem.note import Conflict
    from amem.storage.store import Session, Store

#: Notes of one transaction: others who write wait a fraction of a second for it.
_PAGE = 32
_CAUSE = "weighed again"
#: What a judge looks at.
_CLAIM = ("content", "facts", "kind", "at", "valid_from", "status")
#: Operations that weigh what they write.
_WEIGHING = frozenset({"add", "learn", "import", "enrich", "merge", "unsupersede", "reject", ACTION})


class ConflictPhase:
    """Weighs the notes that changed since the last run, and settles what it finds, but for what was undone."""

    name = "conflicts"

    def __init__(self, store: Store, reweigher: Reweigher) -> None:
        self._store = store
        self._reweigher = reweigher

    def run(self, shift: Shift) -> PhaseReport:
        """Look at all that changed, a page at a time; in a dry run only say what would come of it."""
        self._reweigher.refresh()
        with self._store.read() as session:
            keys = _unweighed(session, shift.changed(session))
        found: dict[tuple[str, str], Conflict] = {}
        page_of = self._try_page if shift.dry_run else self._settle_page
        for start in range(0, len(keys), _PAGE):
            if shift.cancelled.is_set():
                break
            page = keys[start : start + _PAGE]
            for conflict in page_of(shift, page, found.values()):
                # Of two notes that both changed each is weighed against the other.
                found.setdefault((conflict.earlier, conflict.later), conflict)
            shift.tell(start + len(page), len(keys))
        hidden = [conflict for conflict in found.values() if conflict.hides]
        reasons = tuple(Reason(each.earlier, "superseded", each.verdict.reason) for each in hidden)
        return PhaseReport(_counts(found.values()), reasons)

    def _try_page(self, shift: Shift, keys: Sequence[int], before: Collection[Conflict]) -> list[Conflict]:
        with self._store.read() as session:
            ids = list(session.notes.ids_of(keys).values())
            return [each.conflict for _, pairs in self._reweigher.weigh(session, ids) for each in pairs]

    def _settle_page(self, shift: Shift, keys: Sequence[int], before: Collection[Conflict]) -> list[Conflict]:
        found: list[Conflict] = []
        with self._store.write() as session:
            operations: list[int] = []

            def begin(by: str) -> int:
                if not operations:
                    operations.append(shift.begin(session, ACTION, _CAUSE))
                return operations[0]

            for note, pairs in self._reweigher.weigh(session, list(session.notes.ids_of(keys).values())):
                found += self._reweigher.carry_out(session, note, pairs, begin).conflicts
            shift.mark(session, {"done": keys[-1], "counts": _counts([*before, *found])})
        return found


def _unweighed(session: Session, keys: Sequence[int]) -> list[int]:
    """Those of the notes that say something else, or stand again, since they were weighed: on arrival each is."""
    known = session.operations.unweighed_until()
    last = session.operations.last_to_set(keys, _CLAIM)
    return [key for key in keys if key in last and (last[key][0] <= known or last[key][1] not in _WEIGHING)]


def _counts(conflicts: Collection[Conflict]) -> dict[str, int]:
    return {"conflicts_found": len(conflicts), "conflicts_resolved": sum(each.hides for each in conflicts)}
