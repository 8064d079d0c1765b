"""What is true now where notes disagree: what a text would overturn, what is open, and a person's word on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import NOBODY
from amem.storage.reviews import leaning, succession, supersessions
from amem.system.wiring import Wiring
from amem.writing.conflict.decision import with_kept
from amem.writing.conflict.trying import open_conflicts, try_out

if TYPE_CHECKING:
    from datetime import datetime

    from amem.note import Link, MemoryNote, Scope
    from amem.storage.reviews import Flag
    from amem.verdict import Conflict


class Settling(Wiring):
    """Looks at conflicts and settles them by hand; each decision is one operation in the log."""

    def conflicts(
        self,
        text: str,
        time: str | datetime | None = None,
        *,
        speaker: str | None = None,
        scope: Scope = NOBODY,
    ) -> list[Conflict]:
        """What adding this text to the `scope` would overturn or contradict, by the rules; stores and counts nothing.

        The text stands for the side whose id is ''. Raises EmptyNote, InvalidInput or EmbedderMismatch.
        """
        return try_out(
            text,
            time,
            speaker,
            scope,
            store=self._store,
            dense=self._dense,
            vectorizer=self._vectorizer,
            settler=self._settler,
            rules=self._models.rules(),
            canon=self._canon,
            settings=self.settings,
            clock=self._clock,
        )

    def conflicts_open(self) -> list[Conflict]:
        """Notes that contradict each other, or may have overturned each other, and that nobody has decided on.

        Values of one slot that both stand since a person kept one come last.
        """
        with self._store.read() as session:
            return with_kept(session, self._predicates(), open_conflicts(session, self.settings.supersede_confidence))

    def flags(self, id: str | None = None) -> list[Flag]:
        """Notes (or this one) that may be out of date, since what they lean on is; oldest first."""
        with self._store.read() as session:
            return session.flags.open(id)

    def doubted(self) -> list[Flag]:
        """The flags of notes that lean on something no longer so, without those of notes that `conflicts_open` has."""
        with self._store.read() as session:
            return leaning(session)

    def supersessions(self, limit: int = 50) -> list[Link]:
        """What took the place of what and still does, by rules, models or by hand, the newest first."""
        with self._store.read() as session:
            return supersessions(session, limit)

    def succession(self, id: str) -> list[MemoryNote]:
        """The note, all whose place it or its successors took, and what took its own, in the order in which they held.

        Deleted ones too; no more than a hundred. Raises NoteNotFound.
        """
        with self._store.read() as session:
            return succession(session, id)

    def superseded_by(self, id: str) -> list[str]:
        """Ids of the superseded notes whose place this one took."""
        with self._store.read() as session:
            return session.notes.replaced_by([id])

    def unsupersede(self, id: str, *, statement: str = "") -> bool:
        """Say that a note holds after all, or that its overturned statements do (or the `statement` named).

        Machines may then only propose to hide it. False when nothing of it was superseded. Raises NoteNotFound.
        """
        return self._corrector.unsupersede(id, self.actor, statement)

    def supersede(self, old: str, new: str, reason: str = "", *, statement: str = "") -> Link:
        """Put one note in another's place, or in that of one `statement` of it, while the rest of it stands.

        Raises NoteNotFound, InvalidInput for what is superseded already or what the note does not say.
        """
        return self._corrector.supersede(old, new, reason, self.actor, statement)

    def retract(self, id: str, reason: str = "", *, statement: str = "") -> bool:
        """Take a note back, or one `statement` of it, with nothing in its place, as of now.

        False when it does not stand. Raises NoteNotFound, InvalidInput for a statement that the note does not make.
        """
        return self._corrector.retract(id, reason, self.actor, statement)

    def keep(self, id: str) -> int:
        """Say that a note holds in spite of its flags and of what disagrees; returns how many. Raises NoteNotFound."""
        return self._corrector.keep(id, self.actor)
