"""A newer form of a known procedure: it takes the older one's place, or waits where a person wrote that."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from amem.conversation.procedures import content_of, metadata_of
from amem.note import Status
from amem.receipt import Queued
from amem.writing.apply import readdress
from amem.writing.steps import ENRICH_JOB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.analysis import Procedure
    from amem.note import MemoryNote
    from amem.settings import Settings
    from amem.storage import Session, Store
    from amem.vectorizer import Vectorizer

_log = logging.getLogger("amem")


@dataclass(frozen=True, slots=True)
class Renewed:
    """What became of a newer form: the note's `id` when it was taken over, else why it waits or was dropped."""

    id: str | None = None
    queued: Queued | None = None
    dropped: str = ""


class Renewer:
    """Rewrites procedures, as the model that told the newer form."""

    def __init__(self, store: Store, vectorizer: Vectorizer, settings: Settings) -> None:
        self._store = store
        self._vectorizer = vectorizer
        self._settings = settings

    def renew(
        self,
        procedure: Procedure,
        note: MemoryNote,
        sources: Sequence[str],
        made_by: str,
        operation: int,
        why_wait: str = "",
    ) -> Renewed:
        """Put the newer form in the note's place; its older version stays in the history.

        Its new text waits for analysis. A note that changed since it was shown is left alone. Where a person edited its
        text, or for the reason `why_wait`, the newer form waits in the review queue.
        """
        metadata = note.metadata | {"procedure": metadata_of(procedure)}
        after = replace(note, content=content_of(procedure), metadata=metadata)
        vectors = self._embedded(after)
        with self._store.write() as session:
            now = session.notes.get_many([note.id], history=False).get(note.id)
            if now is None or now.status is not Status.ACTIVE or now.content != note.content:
                return Renewed(dropped=f"the update of “{procedure.name}”: the note changed while it was learnt from")
            if session.notes.owned_fields([note.id])[note.id].get("content") == "edited":
                why_wait = "a person edited its content"
            if why_wait:
                return Renewed(queued=self._propose(session, now, after, made_by, operation, why_wait))
            self._vectorizer.keep(session, vectors)
            changes = {"content": after.content, "metadata": after.metadata}
            session.notes.change(note.id, changes, operation, expect=now.version)
            readdress(session, note.id, self._vectorizer)
            key = session.notes.keys_of([note.id])[note.id]
            for source, _ in session.sources.keys_of(sources).values():
                session.sources.attach(key, source, operation, gathered=True)
            session.jobs.put(ENRICH_JOB, note.id, operation)
        return Renewed(note.id)

    def _propose(
        self, session: Session, now: MemoryNote, after: MemoryNote, made_by: str, operation: int, why_wait: str
    ) -> Queued:
        review = session.reviews.propose(
            now.id,
            {"content": (now.content, after.content), "metadata": (now.metadata, after.metadata)},
            operation=operation,
            base_version=now.version,
            reason=f"a conversation told a newer form of it, but {why_wait}",
            confidence=1.0,
            made_by=made_by,
            days=self._settings.review_days,
        )
        return Queued(str(review), now.id, why_wait)

    def _embedded(self, note: MemoryNote) -> dict[bytes, Any]:
        try:
            return self._vectorizer.embed([self._vectorizer.text(note)])[0]
        except Exception as error:  # the next consolidation embeds it
            _log.warning("embedding of a procedure failed: %s", error)
            return {}
