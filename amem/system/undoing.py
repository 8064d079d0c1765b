"""The log of operations, versions of notes, and changes that wait for a person's decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.maintenance.index import embed_missing
from amem.system.wiring import Wiring

if TYPE_CHECKING:
    from datetime import datetime

    from amem.storage import Operation, Review, UndoReport, Version


class Undoing(Wiring):
    """Tells what was written, by whom, and takes it back; nothing but `purge` is beyond it."""

    def history(self, id: str) -> list[Version]:
        """Every version of a note, oldest first. Raises NoteNotFound."""
        with self._store.read() as session:
            return session.operations.history(id)

    def log(self, since: datetime | None = None, *, limit: int = 50, actor: str | None = None) -> list[Operation]:
        """What was written, linked and rewritten, newest first; each can be undone by its id."""
        with self._store.read() as session:
            return session.operations.log(since=since, limit=limit, actor=actor)

    def undo(self, operation: int | None = None) -> UndoReport:
        """Take back an operation with all it set off (None: the newest), but for what later work has changed since."""
        report = self._editor.undo(operation, self.actor)
        embed_missing(self._store, self._vectorizer, [id for id, _ in report.reverted])
        return report

    def redo(self) -> UndoReport:
        """Do again what was undone last."""
        report = self._editor.redo(self.actor)
        embed_missing(self._store, self._vectorizer, [id for id, _ in report.reverted])
        return report

    def rollback(self, id: str, version: int) -> tuple[str, ...]:
        """Set a note back to an earlier version, as a new one; returns the fields that changed."""
        fields = self._editor.rollback(id, version, self.actor)
        embed_missing(self._store, self._vectorizer, [id])
        return fields

    def reviews(self) -> list[Review]:
        """Changes that machines proposed and a person has to decide."""
        with self._store.read() as session:
            return session.reviews.open()

    def accept(self, review: int) -> tuple[str, ...]:
        """Apply a proposed change; returns the fields it set. Raises ReviewNotFound or StaleNote."""
        fields = self._editor.accept(review, self.actor)
        embed_missing(self._store, self._vectorizer)
        return fields

    def reject(self, review: int) -> None:
        """Turn a proposed change down. Raises ReviewNotFound."""
        self._editor.reject(review, self.actor)
