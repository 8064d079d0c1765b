"""The two phases of maintenance that time brings about: notes move between layers, then what is weak fades."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from amem.maintenance.forgetting.permitted import fade_moves, layer_moves
from amem.maintenance.forgetting.plan import What
from amem.maintenance.shift import ACTOR, PhaseReport, Reason
from amem.storage.chunks import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from amem.maintenance.forgetting.plan import Move
    from amem.maintenance.shift import Shift
    from amem.settings import Settings
    from amem.storage import Session, Store
    from amem.storage.standings import Standings
    from amem.truth.predicates import Predicates


class _Moving(ABC):
    """Plans moves for all active notes in one pass and carries them out a page at a time.

    What was moved is not planned again, so a run that was killed goes on by beginning anew.
    """

    name: ClassVar[str]
    _done: ClassVar[tuple[What, ...]]
    _said: ClassVar[str]

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def run(self, shift: Shift) -> PhaseReport:
        """Move what is to be moved; in a dry run, say what that is."""
        with self._store.read() as session:
            planned = self._plan(session, session.usage.standings(), session.now)
            if shift.dry_run:
                return self._report(_reasons(session, planned))
        done: list[Reason] = []
        for page in chunks(planned):
            if shift.cancelled.is_set():
                break
            with self._store.write() as session:
                # Planned again: somebody may have recalled, edited or deleted some of them meanwhile.
                standings = session.usage.standings([move.key for move in page])
                done += self._carry_out(session, shift, self._plan(session, standings, session.now))
                shift.mark(session, {"counts": self._report(done).counts})
            shift.tell(len(done), len(planned))
        return self._report(done)

    @abstractmethod
    def _plan(self, session: Session, standings: Standings, at: datetime) -> list[Move]:
        """What is to be moved of the notes that have these standings."""

    def _carry_out(self, session: Session, shift: Shift, moves: Sequence[Move]) -> list[Reason]:
        if not moves:
            return []
        page = shift.begin(session, self.name, f"{len(moves)} {self._said}")
        reasons = _reasons(session, moves)
        for move, reason in zip(moves, reasons, strict=True):
            # Each is an operation of its own, so that it says why and can be taken back alone.
            operation = session.begin(move.what.action, ACTOR, reason.why, parent=page)
            session.notes.change(reason.id, move.what.change, operation)
        return reasons

    def _report(self, reasons: Sequence[Reason]) -> PhaseReport:
        counts = Counter(reason.what for reason in reasons)
        return PhaseReport({str(what): counts[str(what)] for what in self._done}, tuple(reasons))


class Layering(_Moving):
    """Moves notes between short-term and long-term memory."""

    name = "layers"
    _done = (What.PROMOTED, What.DEMOTED)
    _said = "changed layer"

    def _plan(self, session: Session, standings: Standings, at: datetime) -> list[Move]:
        return layer_moves(session, standings, at, self._settings)


class Fading(_Moving):
    """Archives what is weak, old and of no lasting kind, unless it says how things are now."""

    name = "fade"
    _done = (What.FADED,)
    _said = "faded"

    def __init__(self, store: Store, settings: Settings, predicates: Callable[[], Predicates]) -> None:
        super().__init__(store, settings)
        self._predicates = predicates

    def _plan(self, session: Session, standings: Standings, at: datetime) -> list[Move]:
        return fade_moves(session, standings, at, self._settings, self._predicates())


def _reasons(session: Session, moves: Sequence[Move]) -> list[Reason]:
    ids = session.notes.ids_of([move.key for move in moves])
    return [Reason(ids[move.key], str(move.what), move.why) for move in moves]
