"""Analysis asked for by hand: of a text, of a note, or of all that waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.analysis import Draft
from amem.maintenance.upkeep import embed_missing
from amem.system.adding import Adding
from amem.system.reading import Reading
from amem.writing.fields import clean_content
from amem.writing.intake import NewNote
from amem.writing.vocabulary import FrequencyCache, StoreVocabulary
from amem.writing.worker import EnrichReport

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from amem.conversation.reply import Learnt
    from amem.note import MemoryNote


class Enriching(Adding, Reading):
    """Has the analyst read texts and notes, now, and finishes what was left for later."""

    def analyze_content(self, content: str) -> dict[str, Any]:
        """What the analyst makes of a text, as A-Mem's dictionary; stores nothing. Raises as `add` does."""
        draft = Draft(clean_content(content, self.settings), self._clock.now())
        found = self._analyst().analyze(draft, StoreVocabulary(self._store, FrequencyCache()))
        return {
            "keywords": [*found.keywords],
            "context": found.context,
            "tags": [*found.tags],
            "kind": str(found.kind),
            "importance": found.importance,
            "entities": [*found.entities],
            "facts": [[fact.subject, fact.predicate, fact.object] for fact in found.facts],
        }

    def process_memory(self, note: MemoryNote) -> tuple[bool, MemoryNote]:
        """A-Mem's ``process_memory``: evolve with a note; (whether anything evolved, the note as it is now).

        A note that is not stored yet is stored first.
        """
        if self.read(note.id) is None:
            receipt = self._add([NewNote(note.content, note.timestamp or None, None, _fields_of(note))])[0]
        else:
            receipt = self._enricher.enrich(note.id)
        stored = self.read(receipt.id)
        assert stored is not None
        return bool(receipt.links or receipt.evolved), stored

    def turns_waiting(self) -> int:
        """How many turns of chats are not learnt from yet; at ``chat_learning=night`` they wait for the day's end."""
        return self._chats().waiting()

    def enrich(
        self,
        limit: int | None = None,
        *,
        upgrade: bool = False,
        progress: Callable[[int, int], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> EnrichReport:
        """Finish notes whose analysis waits or failed, and learn from conversations and chats that wait for it.

        With ``chat_learning=night`` from today's turns, too, which a worker (`work`) leaves until the day is over.
        Safe beside other workers doing the same. With `upgrade` have a model redo the active notes that the offline
        rules analysed instead, but for what a person filled in or edited: an operation for each, so that each can be
        undone. Stopped half-way, it goes on where it was; setting `cancelled` stops it after the note it is at. Raises
        InvalidInput when there is no model for that.
        """
        if upgrade:
            report = self._upgrader.work(limit=limit, cancelled=cancelled, progress=progress)
        else:
            chats = self._chats()
            report = _of_chats(
                chats.work(limit=limit, today=True, cancelled=cancelled, progress=progress), chats.waiting()
            )
            for worker in (self._learner(), self._enricher):
                left = None if limit is None else max(0, limit - report.done - report.failed)
                report += worker.work(limit=left, cancelled=cancelled, progress=progress)
        embed_missing(self._store, self._vectorizer)
        return report


def _of_chats(learnt: Learnt, waiting: int) -> EnrichReport:
    """What learning from chats did, in turns."""
    failed = learnt.waiting + (learnt.turns if learnt.degraded else 0)
    errors = (f"chats: {learnt.error}",) if learnt.error else ()
    return EnrichReport(0 if learnt.degraded else learnt.turns, failed, waiting, errors)


def _fields_of(note: MemoryNote) -> dict[str, Any]:
    names = ("id", "keywords", "context", "tags", "category", "entities", "facts", "metadata", "speaker", "links")
    return {name: value for name in names if (value := getattr(note, name))}
