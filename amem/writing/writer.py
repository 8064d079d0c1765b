"""New notes: stored, then finished at once or in the background, with what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.analysis import Draft
from amem.writing.fields import clean_content
from amem.writing.intake import NewNote
from amem.writing.vocabulary import FrequencyCache, StoreVocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from amem.collection import Collection
    from amem.note import MemoryNote
    from amem.protocols import Analyst
    from amem.receipt import Receipt
    from amem.writing.enrich import Enricher
    from amem.writing.pipeline import Pipeline
    from amem.writing.worker import Worker


class Writer:
    """Adds notes to one collection; `added` is told the receipts and the texts of each call."""

    def __init__(
        self,
        collection: Collection,
        pipeline: Pipeline,
        enricher: Enricher,
        worker: Worker,
        added: Callable[[Sequence[Receipt], Sequence[str]], None],
    ) -> None:
        self._collection = collection
        self._pipeline = pipeline
        self._enricher = enricher
        self._worker = worker
        self._added = added

    def add(
        self, items: Sequence[NewNote | Mapping[str, Any] | str], *, actor: str, wait: bool = True, **how: Any
    ) -> list[Receipt]:
        """Store the items in order, as one operation; `how` as for `Pipeline.add`.

        Without `wait` the background finishes what a model takes its time for.
        """
        receipts = self._pipeline.add(items, actor=actor, wait=wait, **how)
        if not wait and any(receipt.enrichment == "pending" for receipt in receipts):
            self._worker.wake()
        self._added(receipts, [_text(item) for item in items])
        return receipts

    def process(self, note: MemoryNote, actor: str) -> Receipt:
        """Evolve with a note; one that is not stored yet is stored first."""
        with self._collection.store.read() as session:
            stored = session.notes.get_many([note.id])
        if stored:
            return self._enricher.enrich(note.id)
        return self.add([NewNote(note.content, note.timestamp or None, None, _fields_of(note))], actor=actor)[0]

    def analyze(self, content: str, analyst: Analyst) -> dict[str, Any]:
        """What the analyst makes of a text, as A-Mem's dictionary; stores nothing. Raises as `add` does."""
        draft = Draft(clean_content(content, self._collection.settings), self._collection.clock.now())
        found = analyst.analyze(draft, StoreVocabulary(self._collection.store, FrequencyCache()))
        return {
            "keywords": [*found.keywords],
            "context": found.context,
            "tags": [*found.tags],
            "kind": str(found.kind),
            "importance": found.importance,
            "entities": [*found.entities],
            "facts": [[fact.subject, fact.predicate, fact.object] for fact in found.facts],
        }


def _text(item: NewNote | Mapping[str, Any] | str) -> str:
    held = item if isinstance(item, str) else item.content if isinstance(item, NewNote) else item.get("content")
    return held if isinstance(held, str) else ""


def _fields_of(note: MemoryNote) -> dict[str, Any]:
    names = ("id", "keywords", "context", "tags", "category", "entities", "facts", "metadata", "speaker", "links")
    return {name: value for name in names if (value := getattr(note, name))}
