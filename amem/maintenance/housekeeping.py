"""What keeps a collection's files in shape: vectors of the present model (monthly), a tidy database (weekly)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import AmemError, Cancelled, EmbedderMismatch
from amem.maintenance.index import reindex
from amem.maintenance.shift import ACTOR, PhaseReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.maintenance.shift import Shift
    from amem.storage import Store
    from amem.vectorizer import Vectorizer


class ReembedPhase:
    """Embeds all notes anew where the settings name another model or recipe than the collection's vectors are of.

    What is nearest to what is another question then, so the next run looks at every note again.
    """

    name = "index"

    def __init__(self, store: Store, vectorizer: Vectorizer) -> None:
        self._store = store
        self._vectorizer = vectorizer

    def run(self, shift: Shift) -> PhaseReport:
        """All or nothing: one that is called off leaves the old vectors in use."""
        try:
            self._vectorizer.check()
        except EmbedderMismatch:
            if shift.dry_run:
                with self._store.read() as session:
                    return PhaseReport({"reembedded": session.notes.count()})
        else:
            return PhaseReport()

        def heard(done: int, of: int) -> None:
            if shift.cancelled.is_set():
                raise Cancelled("embedding anew was called off", hint="the old vectors are still in use")
            with self._store.write() as session:
                shift.keep(session)
            shift.tell(done, of)

        return PhaseReport({"reembedded": reindex(self._store, self._vectorizer, ACTOR, progress=heard)})


class PurgePhase:
    """Finishes what purges owe: files that could not be rewritten then."""

    name = "purges"

    def __init__(self, finish: Callable[[], str]) -> None:
        self._finish = finish

    def run(self, shift: Shift) -> PhaseReport:
        """Raises AmemError where it still can't be done: the run goes on and says so, the next one tries again."""
        if not shift.dry_run and (problem := self._finish()):
            raise AmemError(f"files still hold purged text: {problem}")
        return PhaseReport()


class TidyPhase:
    """Lets the database gather statistics, and merges the pieces of its full-text indexes where there are many."""

    name = "database"

    def __init__(self, store: Store) -> None:
        self._store = store

    def run(self, shift: Shift) -> PhaseReport:
        """In steps of some milliseconds, so that nobody waits for it."""
        if not shift.dry_run:
            self._store.tidy(shift.cancelled.is_set)
        return PhaseReport()
