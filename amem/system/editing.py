"""Notes as a person or an agent corrects them: fields, standing, links and tags, by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.interop.settle import settle
from amem.maintenance.upkeep import embed_missing
from amem.system.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.interop.settle import Debts
    from amem.note import Link, MemoryNote
    from amem.storage.store import Session
    from amem.writing.revising import Change, Revised


class Editing(Wiring):
    """Changes notes that are there; each call is one operation in the log, under the actor's name."""

    def update(self, id_or_note: str | MemoryNote, *, wait: bool = True, **fields: Any) -> bool:
        """Change fields of a note, or save a note object that was changed; False when there is no such note.

        A note with another text is analysed again; with ``wait=False`` a model is not waited for, as in `add`.
        Raises UnknownField and InvalidInput, and StaleNote when the note object is no longer what is stored.
        """
        operation = self._editor.update(id_or_note, fields, self.actor)
        if operation and (wait or self._analyst().local):
            self._enricher.revise(id_or_note if isinstance(id_or_note, str) else id_or_note.id, operation)
        elif operation and self._background:
            self._worker.wake()
        return operation is not None

    def delete(self, id: str) -> bool:
        """Hide a note (`restore` and `undo` bring it back); False when there is none."""
        return self._editor.delete(id, self.actor)

    def delete_notes(self, ids: Sequence[str]) -> int:
        """Hide several notes, as one operation that `undo` takes back whole; returns how many there were to hide."""
        return self._editor.delete_all(list(dict.fromkeys(ids)), self.actor)

    def restore(self, id: str) -> bool:
        """Bring back a deleted, archived or superseded note; False when it is active.

        Raises NoteNotFound and EmbedderMismatch.
        """
        self._vectorizer.check()
        restored = self._editor.restore(id, self.actor)
        embed_missing(self._store, self._vectorizer, [id])
        return restored

    def pin(self, id: str, pinned: bool = True) -> bool:
        """Keep a note from ever fading, or let it fade again; False when there is none."""
        return self._editor.pin(id, pinned, self.actor)

    def link(self, source: str, target: str, type: str = "related", reason: str = "") -> Link:
        """Link two notes by hand. Raises NoteNotFound or InvalidInput."""
        return self._editor.link(source, target, type, reason, self.actor)

    def unlink(self, source: str, target: str, type: str = "related") -> bool:
        """Take a link away; False when it was not there."""
        return self._editor.unlink(source, target, type, self.actor)

    def rename_tag(self, old: str, new: str) -> int:
        """Rename a tag everywhere, merging it into `new` where that is in use; returns how many notes changed."""
        embedded = self.settings.embed_recipe != "content"
        if embedded:
            self._vectorizer.check()
        changed = self._editor.rename_tag(old, new, self.actor)
        if changed and embedded:
            embed_missing(self._store, self._vectorizer)
        return changed

    def revise(
        self,
        changes: Sequence[Change],
        hidden: Sequence[str] = (),
        *,
        action: str = "update",
        cause: str = "",
        parent: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        at_last: Callable[[Session, int], None] | None = None,
    ) -> Revised:
        """Bring many notes up to date and hide others, as one operation in one commit; `import` does so.

        Those with another text are analysed again; `progress` hears (done, of how many). What `at_last` does with the
        transaction and the operation is committed with it. Raises EmbedderMismatch.
        """
        self._vectorizer.check()
        done = self._reviser.revise(
            changes, hidden, actor=self.actor, action=action, cause=cause, parent=parent, at_last=at_last
        )
        for number, id in enumerate(done.reworded, start=1):
            assert done.operation is not None
            self._enricher.revise(id, done.operation)
            if progress is not None:
                progress(number, len(done.reworded))
        embed_missing(self._store, self._vectorizer, [each.id for each in changes])
        return done

    def settle(self, debts: Debts, *, cause: str = "") -> int:
        """Pay what an import owes its stored notes (links, old standing), as one operation; returns how many links."""
        with self._store.write() as session:
            return settle(session, debts, actor=self.actor, cause=cause)
