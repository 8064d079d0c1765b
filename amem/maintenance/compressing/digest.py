"""The short note that stands for several: a line each, in their own words, with the id of the note it is from."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from amem.llm.offline.gist import gist_of
from amem.llm.offline.reading import read
from amem.note import Enrichment, Kind, MemoryNote, Scope
from amem.rendering import holding_text
from amem.text import written_in_cjk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import tzinfo

#: What a digest carries in its metadata: how many notes it stands for.
MARK = "digest"
TAG = "digest"
_LONGEST_LINE = 120
_MOST_TERMS = 8
_SHOWN_ID = 8


def gists(parts: Sequence[MemoryNote]) -> list[tuple[str, list[str]]]:
    """The clause that carries each note, with its id."""
    said = [(note, holding_text(note.content, note.overturned) or note.content) for note in parts]
    return [(gist_of(read(text), note.kind, note.keywords, _LONGEST_LINE) or text, [note.id]) for note, text in said]


def digest_of(
    parts: Sequence[MemoryNote], lines: Sequence[tuple[str, Sequence[str]]], zone: tzinfo, by: str
) -> MemoryNote:
    """The note that stands for `parts` (oldest first); `lines` are what it says, each with the ids it is from."""
    times = [note.at for note in parts if note.at is not None]
    conversations = {note.conversation_id for note in parts}
    return MemoryNote(
        content="\n".join([_heading(parts, zone), *(_line(text, ids) for text, ids in lines)]),
        keywords=_common(note.keywords for note in parts),
        tags=[*_common(note.tags for note in parts if TAG not in note.tags), TAG],
        entities=_common(note.entities for note in parts),
        timestamp=parts[-1].timestamp,
        at=max(times, default=None),
        kind=Kind.EPISODE,
        importance=max(note.importance for note in parts),
        conversation_id=conversations.pop() if len(conversations) == 1 else None,
        metadata={MARK: len(parts), **Scope.of(parts[0].metadata).ids},
        enrichment=Enrichment.DONE,
        analyst=by,
    )


def _heading(parts: Sequence[MemoryNote], zone: tzinfo) -> str:
    days = [f"{note.at.astimezone(zone):%Y-%m-%d}" for note in parts if note.at is not None]
    first, last = min(days, default=""), max(days, default="")
    if sum(written_in_cjk(note.content) for note in parts) * 2 > len(parts):
        span = first if first == last else f"{first} 至 {last}"
        return f"{span} 的 {len(parts)} 条旧笔记："
    span = first if first == last else f"{first} to {last}"
    return f"{len(parts)} old notes of {span}:"


def _line(text: str, ids: Sequence[str]) -> str:
    cited = ", ".join(id[:_SHOWN_ID] for id in ids)
    return f"- {' '.join(text.split())} [{cited}]"


def _common(lists: Iterable[Sequence[str]]) -> list[str]:
    """The values that most of them have, as they were first written."""
    spelled: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for values in lists:
        for value in values:
            spelled.setdefault(value.casefold(), value)
            counts[value.casefold()] += 1
    return [spelled[each] for each, _ in counts.most_common(_MOST_TERMS)]
