"""The log of operations, versions of notes, and changes that wait for a person's decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.clock import zone
from amem.language.times.moments import moment_of
from amem.maintenance.upkeep import embed_missing
from amem.note import EVERYONE
from amem.storage.activity import actors, doings, log_order, operations_of
from amem.storage.notes import differences, would_roll_back
from amem.storage.undo import own_last, own_undone
from amem.system.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.note import Scope
    from amem.storage.activity import Doings, LogOrder
    from amem.storage.records import Operation, Review, UndoReport, Version


class Undoing(Wiring):
    """Tells what was written, by whom, and takes it back; nothing but `purge` is beyond it."""

    def history(self, id: str, *, limit: int | None = None) -> list[Version]:
        """The newest `limit` versions of a note (None: every version), oldest first. Raises NoteNotFound."""
        with self._store.read() as session:
            return session.operations.history(id, limit=limit)

    def differences(self, id: str, older: int, newer: int | None = None) -> dict[str, tuple[Any, Any]]:
        """The fields in which two versions of a note differ, {field: (in the older, in the newer)}, as plain values.

        `newer` None is the note as it is now; version 0 is before it was there, with None for each field. Raises
        NoteNotFound and OperationNotFound.
        """
        with self._store.read() as session:
            return differences(session, id, older, newer)

    def log(
        self,
        since: datetime | None = None,
        *,
        limit: int = 50,
        actor: str | None = None,
        scope: Scope = EVERYONE,
    ) -> list[Operation]:
        """What was written, linked and rewritten, newest first; each can be undone by its id.

        Of a `scope` only what touched no notes but its own, with all that it set off.
        """
        with self._store.read() as session, session.within(scope):
            return session.operations.log(since=since, limit=limit, actor=actor)

    def log_order(self, since: datetime | str | None = None, *, actor: str | None = None) -> LogOrder:
        """The order of the whole log, newest first, to be read with `operations`; days are the collection's.

        `since` may be in words: ``2026-03-01``, ``7d``, ``today``. Raises InvalidInput for others.
        """
        with self._store.read() as session:
            return log_order(session, zone(self.settings.timezone), since=self._since(since), actor=actor)

    def operations(self, ids: Sequence[int]) -> list[Operation]:
        """These operations, in this order; those that there are."""
        with self._store.read() as session:
            return operations_of(session, [int(id) for id in ids])

    def actors(self, since: datetime | str | None = None) -> dict[str, int]:
        """Everyone who wrote anything since then (as for `log_order`), and how many operations, most first."""
        with self._store.read() as session:
            return actors(session, since=self._since(since))

    def doings(self, operation: int, *, most: int = 50) -> Doings:
        """What one operation did, to no more than `most` notes, links and flags. Raises OperationNotFound."""
        with self._store.read() as session:
            return doings(session, operation, most=most)

    def own_last(self, *, scope: Scope = EVERYONE) -> int | None:
        """The newest operation that this actor began through this open collection and that can be taken back.

        What was done before it was opened, in another process or by others is never it, nor, of a `scope`, what
        touched notes of others.
        """
        with self._store.read() as session, session.within(scope):
            return own_last(session, self.actor, self._store.begun)

    def own_undone(self) -> int | None:
        """The newest undo that this actor began through this open collection and that can be redone."""
        with self._store.read() as session:
            return own_undone(session, self.actor, self._store.begun)

    def undo(self, operation: int | None = None, *, scope: Scope = EVERYONE) -> UndoReport:
        """Take back an operation with all it set off (None: the newest), but for what later work has changed since.

        Of a `scope` only what touched no notes but its own (see `log`). Raises NothingToUndo, OperationNotFound,
        InvalidInput and EmbedderMismatch; nothing has changed then.
        """
        self._vectorizer.check()
        report = self._editor.undo(operation, self.actor, scope=scope)
        embed_missing(self._store, self._vectorizer, [id for id, _ in report.reverted])
        return report

    def redo(self, undone_by: int | None = None, *, scope: Scope = EVERYONE) -> UndoReport:
        """Do again what was undone last, or what the undo with this id took back; `scope` and errors as for `undo`."""
        self._vectorizer.check()
        report = self._editor.redo(undone_by, self.actor, scope=scope)
        embed_missing(self._store, self._vectorizer, [id for id, _ in report.reverted])
        return report

    def rollback(self, id: str, version: int) -> tuple[str, ...]:
        """Set a note back to an earlier version, as a new one; returns the fields that changed.

        Raises NoteNotFound, OperationNotFound and EmbedderMismatch.
        """
        self._vectorizer.check()
        fields = self._editor.rollback(id, version, self.actor)
        embed_missing(self._store, self._vectorizer, [id])
        return fields

    def would_roll_back(self, id: str, version: int) -> dict[str, tuple[Any, Any]]:
        """What `rollback` would change, {field: (now, then)}, as plain values. Raises as `rollback` does."""
        with self._store.read() as session:
            return would_roll_back(session, id, version)

    def reviews(self, *, scope: Scope = EVERYONE) -> list[Review]:
        """Changes to notes of the `scope` that machines proposed and a person has to decide."""
        with self._store.read() as session:
            found = session.reviews.open()
            whose = session.notes.scopes_of([each.note for each in found]) if scope != EVERYONE else {}
        return [each for each in found if scope == EVERYONE or scope.covers(whose[each.note])]

    def accept(self, review: int) -> tuple[str, ...]:
        """Apply a proposed change; returns the fields it set. Raises ReviewNotFound, StaleNote, EmbedderMismatch."""
        self._vectorizer.check()
        fields = self._editor.accept(review, self.actor)
        embed_missing(self._store, self._vectorizer)
        return fields

    def reject(self, review: int) -> None:
        """Turn a proposed change down. Raises ReviewNotFound."""
        self._editor.reject(review, self.actor)

    def _since(self, since: datetime | str | None) -> datetime | None:
        if not isinstance(since, str):
            return since
        return moment_of(since, zone(self.settings.timezone), self._clock.now())
