"""The one note that stands for several: the fullest wording, and every sentence that only another of them holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from amem.maintenance.merging.same import unsaid
from amem.maintenance.merging.wording import goes_further, said
from amem.note import FILE, Enrichment, Layer, MemoryNote, Status
from amem.text import normalize, written_in_cjk

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

TAG = "consolidated"

Item = TypeVar("Item")


def merged(parts: Sequence[MemoryNote]) -> MemoryNote:
    """The note that `parts`, oldest first, become; its id is new. Nothing is reworded: the words are people's."""
    fullest = max(parts, key=lambda note: sum(len(each.words) for each in said(note.content).sentences))
    first = min(parts, key=lambda note: (note.at is None, note.at))
    since = [note.valid_from for note in parts if note.valid_from is not None]
    heard = [note.recorded_at for note in parts if note.recorded_at is not None]
    places = {(note.conversation_id, note.ordinal) for note in parts}
    conversations = {note.conversation_id for note in parts}
    ordered = (fullest, *(note for note in parts if note is not fullest))
    metadata: dict[str, Any] = {}
    for note in ordered:
        metadata = note.metadata | metadata
    metadata.pop(FILE, None)  # the parts are what stands in files
    return MemoryNote(
        content=wording(fullest, parts),
        keywords=_union((note.keywords for note in ordered), normalize),
        tags=_union((*(note.tags for note in ordered), [TAG]), normalize),
        entities=_union((note.entities for note in ordered), normalize),
        facts=_union((note.facts for note in ordered), lambda fact: fact),
        context=fullest.context,
        category=fullest.category,
        timestamp=first.timestamp,
        at=first.at,
        kind=fullest.kind,
        layer=Layer.LONG_TERM if any(note.layer is Layer.LONG_TERM for note in parts) else Layer.SHORT_TERM,
        status=Status.ACTIVE,
        importance=max(note.importance for note in parts),
        valid_from=min(since) if since else None,
        valid_to=fullest.valid_to,
        # Age starts with the last time that it was heard.
        recorded_at=max(heard) if heard else None,
        conversation_id=fullest.conversation_id if len(conversations) == 1 else None,
        ordinal=fullest.ordinal if len(places) == 1 else None,
        speaker=fullest.speaker,
        metadata=metadata,
        enrichment=Enrichment.DONE,
        analyst=fullest.analyst,
    )


def wording(fullest: MemoryNote, parts: Sequence[MemoryNote]) -> str:
    """The fullest text, with what the others say more: a sentence that goes further in its place, others at the end."""
    text = fullest.content
    for part in parts:
        for sentence in said(part.content).sentences:
            shorter = [held for held in said(text).sentences if goes_further(sentence, held)]
            if shorter and shorter[0].text in text:
                text = text.replace(shorter[0].text, sentence.text, 1)
        for sentence in unsaid(said(text), said(part.content)):
            text = _with(text, sentence.text)
    return text


def _with(text: str, sentence: str) -> str:
    chinese = written_in_cjk(text)
    closed = text.rstrip()
    if closed[-1:].isalnum():
        closed += "。" if chinese else "."
    if sentence[-1:].isalnum():
        sentence += "。" if chinese else "."
    return f"{closed}{'' if chinese else ' '}{sentence}"


def _union(lists: Iterable[Sequence[Item]], same: Callable[[Item], Hashable]) -> list[Item]:
    found: dict[Hashable, Item] = {}
    for values in lists:
        for value in values:
            found.setdefault(same(value), value)
    return list(found.values())
