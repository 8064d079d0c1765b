"""Notes that the offline rules wrote, redone by a model once there is one: each as an operation that can be undone."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import AmemError, Cancelled, InvalidInput, NoteNotFound, with_hint
from amem.labels import short_id
from amem.note import Enrichment, Status
from amem.storage.jobs import Owner, is_gone
from amem.writing.evolution import write_down
from amem.writing.reanalysis import NOBODY, OFFLINE, Thinker, Thought
from amem.writing.worker import LEASE_SECONDS, EnrichReport, ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from threading import Event

    from amem.collection import Collection
    from amem.conflict.settling import Settler

_log = logging.getLogger("amem")

UPGRADE_JOB = "upgrade"


@dataclass(frozen=True, slots=True)
class Upgrader:
    """Redoes the notes of one collection that the rules analysed and that nobody has done better since.

    Fields that a person filled in or edited stay theirs. A note that the model fails on stays as it is.
    """

    collection: Collection
    thinker: Thinker
    settler: Settler
    owner: Owner
    at_once: Callable[[], int]

    def work(
        self,
        *,
        limit: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Event | None = None,
    ) -> EnrichReport:
        """Redo up to `limit` notes, oldest first, until `cancelled` is set; what was done stays done.

        Raises InvalidInput when there is no model to redo them with, Cancelled when the model was called off.
        """
        if self.thinker.is_quick:
            raise InvalidInput(
                "there is no model that could redo what the built-in rules wrote",
                hint="start Ollama, or set llm_backend and llm_model; amem doctor says what is reachable",
            )
        with self.collection.store.write() as session:
            session.jobs.give_back_of(is_gone)
            waiting = session.notes.analysed_by(OFFLINE)
        wanted = waiting if limit is None else waiting[:limit]
        owner = self.owner.one_more()
        done = 0
        errors: list[str] = []
        try:
            claims = self._claims(wanted, owner, cancelled)
            for id, future in ahead(lambda id: self.thinker.analyze(id, stand_in=False), claims, self.at_once()):
                try:
                    thought = future.result()
                    self.thinker.evolve(thought, stand_in=False)
                    done += self._commit(thought, owner)
                except Cancelled:
                    raise
                except NOBODY as error:
                    errors.append(f"stopped: {error}")
                    break
                except Exception as error:  # whatever an analyst does, the note and those after it are none the worse
                    if isinstance(error, AmemError):
                        why = with_hint(error)
                    else:
                        _log.exception("note %s could not be redone", short_id(id))
                        why = f"{type(error).__name__}: {error}"
                    errors.append(f"{short_id(id)}: {why}")
                    self._leave(id, owner)
                if progress is not None:
                    progress(done + len(errors), len(wanted))
        finally:
            with self.collection.store.write() as session:
                session.jobs.give_back(owner)
        with self.collection.store.read() as session:
            remaining = len(session.notes.analysed_by(OFFLINE))
        self.collection.vectorizer.embed_missing()
        return EnrichReport(done, len(errors), remaining, tuple(errors))

    def _claims(self, ids: Sequence[str], owner: str, cancelled: Event | None) -> Iterator[str]:
        for id in ids:
            if cancelled is not None and cancelled.is_set():
                return
            with self.collection.store.write() as session:
                if session.notes.keys_of([id]):
                    session.jobs.put_new(UPGRADE_JOB, id, None)
                    job = session.jobs.claim(UPGRADE_JOB, id, owner, seconds=LEASE_SECONDS)
                else:  # purged a moment ago
                    job = None
            if job is not None:
                yield id

    def _leave(self, id: str, owner: str) -> None:
        with self.collection.store.write() as session:
            if session.notes.keys_of([id]):
                session.jobs.settle(UPGRADE_JOB, id, owner)

    def _commit(self, thought: Thought, owner: str) -> bool:
        """Write down what the model found; False when the note is another by now, or another worker has done it."""
        note = thought.note
        if thought.errors:
            raise AmemError("; ".join(thought.errors))
        with self.collection.store.write() as session:
            now = session.notes.get_many([note.id], history=False).get(note.id)
            if now is None:
                raise NoteNotFound("it was deleted while it was analysed")
            if not session.jobs.settle(UPGRADE_JOB, note.id, owner) or now.status is not Status.ACTIVE:
                return False
            if now.content != note.content or now.analyst != OFFLINE:
                return False
            write_down(
                session,
                thought,
                Enrichment.DONE,
                f"{short_id(note.id)} was analysed by the {OFFLINE} rules",
                parent=None,
                collection=self.collection,
                settler=self.settler,
            )
        return True
