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
    from amem.writing.pipeline import Pipeline
    from amem.writing.worker import Worker


class Writer:
    """Adds notes to one collection; `keep_up` is told the receipts of each call, `meet` the texts."""

    def __init__(
        self,
        collection: Collection,
        pipeline: Pipeline,
        worker: Worker,
        keep_up: Callable[[Sequence[Receipt]], None],
        meet: Callable[[Sequence[str]], None],
    ) -> None:
        self._collection = collection
        self._pipeline = pipeline
        self._worker = worker
        self._keep_up = keep_up
        self._meet = meet

    def add(
        self, items: Sequence[NewNote | Mapping[str, Any] | str], *, actor: str, wait: bool = True, **how: Any
    ) -> list[Receipt]:
        """Store the items in order, as one operation; `how` as for `Pipeline.add`.

        Without `wait` the background finishes what a model takes its time for.
        """
        receipts = self._pipeline.add(items, actor=actor, wait=wait, **how)
        if not wait and any(receipt.enrichment == "pending" for receipt in receipts):
            self._worker.wake()
        self._keep_up(receipts)
        if any(receipt.stored for receipt in receipts):
            self._meet([_text(item) for item in items])
        return receipts

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


def as_new(note: MemoryNote) -> NewNote:
    """A note object that is not stored yet, as it is added."""
    names = ("id", "keywords", "context", "tags", "category", "entities", "facts", "metadata", "speaker", "links")
    fields = {name: value for name in names if (value := getattr(note, name))}
    return NewNote(note.content, note.timestamp or None, None, fields)
