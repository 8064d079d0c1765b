"""Core notes: the few that stand in every prompt, because an answer that ignores them is wrong.

Constraints first (what must not happen), then preferences, decisions and facts; within a kind pinned notes, then the
most important. A fact needs to be pinned or found important: most are, and only recall can tell which one matters now.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from amem.llm.showing import line
from amem.note import Kind, Status
from amem.query import Filter
from amem.retrieval.marks import BACKGROUND, BACKGROUND_ZH, LABELS_ZH, harmless
from amem.text import written_in_cjk
from amem.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.note import MemoryNote

ORDER = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION, Kind.FACT)
#: Facts from this importance on are core; 0.5 is what a note has when nobody judged it.
IMPORTANT = 0.7
_WORDS = 40
#: Of each kind so many are looked at: about twice what fits.
_MOST = 40


class Listing(Protocol):
    """Lists notes that pass a filter, as ``memory.list`` does."""

    def __call__(self, filter: Filter, /, *, limit: int, order: str) -> list[MemoryNote]: ...


@dataclass(frozen=True, slots=True)
class CoreNote:
    """A core note as it stands in a prompt: its `line`, and the `tokens` of that."""

    id: str
    kind: Kind
    confidence: float
    tokens: int
    line: str

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "id": self.id,
            "kind": str(self.kind),
            "confidence": self.confidence,
            "tokens": self.tokens,
            "line": self.line,
        }


@dataclass(frozen=True, slots=True)
class CoreNotes:
    """The block of core notes for a prompt: `text` ('' for none) is of `tokens`, never more than the `budget`."""

    text: str
    notes: tuple[CoreNote, ...]
    tokens: int
    budget: int

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "text": self.text,
            "notes": [note.to_dict() for note in self.notes],
            "tokens": self.tokens,
            "budget": self.budget,
        }


def core_notes(
    listed: Listing, most: int, *, within: Filter | None = None, count: Callable[[str], int] = tokens
) -> list[MemoryNote]:
    """The core notes whose lines fit into `most` tokens, active ones only, in the order in which they are shown.

    Only those that pass `within`, but for its kinds, its times and its cosine, which say what is asked for and not
    what may be shown.
    """
    allowed = replace(
        within or Filter(), kinds=(), statuses=(Status.ACTIVE,), since=None, until=None, minimum_cosine=None
    )
    chosen: list[MemoryNote] = []
    room = most
    for kind in ORDER if most > 0 else ():
        for note in listed(replace(allowed, kinds=(kind,)), limit=_MOST, order="pinned"):
            if kind is Kind.FACT and not note.pinned and note.importance < IMPORTANT:
                continue
            size = count(core_line(note)) + 1
            if size <= room:
                chosen.append(note)
                room -= size
    return chosen


def core_line(note: MemoryNote, *, chinese: bool = False, said: str = "") -> str:
    """A core note as the model reads it, on one line: ``- (constraint) Never calls before nine.``

    `said` tells who said it and when: ``- (constraint, said by you on 2026-05-13) ...``.
    """
    told = f", {said}" if said else ""
    label = f"（{LABELS_ZH[note.kind]}）" if chinese else f"({note.kind}{told}) "
    return f"- {label}{line(harmless(note.content), _WORDS)}"


def core_text(notes: Sequence[MemoryNote], nothing: str, said: Callable[[MemoryNote], str]) -> str:
    """All of them, each with what `said` tells of it, or the word for none."""
    return "\n".join(core_line(note, said=said(note)) for note in notes) or nothing


def background(
    listed: Listing,
    budget: int,
    count: Callable[[str], int],
    *,
    within: Filter | None = None,
    chinese: bool | None = None,
) -> CoreNotes:
    """The core notes that fit into `budget` tokens under their heading, which counts as well.

    It is in Chinese where `chinese` says so; None: where most of the notes are.
    """
    chosen = core_notes(listed, budget - count(f"{BACKGROUND_ZH}\n"), within=within, count=count)
    if chinese is None:
        chinese = sum(written_in_cjk(note.content) for note in chosen) * 2 > len(chosen)
    while chosen:
        lines = [core_line(note, chinese=chinese) for note in chosen]
        text = "\n".join([BACKGROUND_ZH if chinese else BACKGROUND, *lines])
        # Of the whole, since what a tokenizer makes of lines together is not what it makes of each.
        size = count(text)
        if size <= budget:
            held = tuple(
                CoreNote(note.id, note.kind, note.trust, count(shown), shown)
                for note, shown in zip(chosen, lines, strict=True)
            )
            return CoreNotes(text, held, size, budget)
        chosen.pop()
    return CoreNotes("", (), 0, budget)
