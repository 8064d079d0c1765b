"""Core notes: the few that stand in every prompt, because an answer that ignores them is wrong.

Notes that state an allergy, a medication or another fact that may do harm come first, whatever their kind, and are
shortened rather than left out (see ``amem.retrieval.core_safety``). Then constraints (what must not happen),
preferences, decisions and facts; within a kind pinned notes, then the most important. A fact needs to be pinned or
found important: most are, and only recall can tell which one matters now. What no longer holds is no core note.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from amem.llm.showing import count_words, line
from amem.note import Kind, Status
from amem.query import Filter
from amem.rendering import doubt_of, text_within
from amem.retrieval.core_safety import Core, fitting, safety_notes, without_ended
from amem.retrieval.marks import BACKGROUND, BACKGROUND_ZH, LABELS_ZH, harmless
from amem.text import written_in_cjk
from amem.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.note import MemoryNote
    from amem.storage import Session
    from amem.truth.predicates import Predicates

ORDER = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION, Kind.FACT)
#: Facts from this importance on are core; 0.5 is what a note has when nobody judged it.
IMPORTANT = 0.7
_WORDS = 40
#: Of each kind so many are looked at: about twice what fits.
_MOST = 40


@dataclass(frozen=True, slots=True)
class CoreNote:
    """A core note as it stands in a prompt: its `line`, and the `tokens` of that."""

    id: str
    kind: Kind
    trust: float
    tokens: int
    line: str

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "id": self.id,
            "kind": str(self.kind),
            "trust": self.trust,
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
    session: Session,
    predicates: Predicates,
    most: int,
    *,
    within: Filter | None = None,
    count: Callable[[str], int] = tokens,
) -> list[Core]:
    """The core notes whose lines fit into `most` tokens, active ones only, in the order in which they are shown.

    Notes of what may do harm come first, shortened as far as it takes for all of them to fit; the others as a whole or
    not at all. Left out is what no longer holds. Only those that pass `within`, but for its kinds, its times and its
    cosine, which say what is asked for and not what may be shown.
    """
    allowed = replace(
        within or Filter(), kinds=(), statuses=(Status.ACTIVE,), since=None, until=None, minimum_cosine=None
    )
    if most <= 0:
        return []
    chosen = fitting(safety_notes(session, predicates, allowed), most, lambda core: count(core_line(core)) + 1)
    room = most - sum(count(core_line(core)) + 1 for core in chosen)
    taken = {core.note.id for core in chosen}
    for kind in ORDER:
        listed = [
            note
            for note in session.notes.page(replace(allowed, kinds=(kind,)), limit=_MOST, order="pinned")
            if note.id not in taken and (kind is not Kind.FACT or note.pinned or note.importance >= IMPORTANT)
        ]
        for note in without_ended(session, predicates, listed, allowed.as_of or session.now):
            size = count(core_line(Core(note))) + 1
            if size <= room:
                chosen.append(Core(note))
                room -= size
    return chosen


def core_line(core: Core, *, chinese: bool = False, said: str = "") -> str:
    """A core note as the model reads it, on one line: ``- (constraint) Never calls before nine.``

    `said` tells who said it and when: ``- (constraint, said by you on 2026-05-13) ...``.
    """
    note, told = core.note, f", {said}" if said else ""
    label = core.label or (LABELS_ZH[note.kind] if chinese else str(note.kind))
    label = f"（{label}）" if chinese else f"({label}{told}) "
    text = core.text or text_within(note, lambda whole: count_words(whole) <= _WORDS)
    doubt = doubt_of(note)
    return f"- {label}{line(harmless(text), _WORDS)}" + (f" [{line(harmless(doubt), _WORDS)}]" if doubt else "")


def core_text(cores: Sequence[Core], nothing: str, said: Callable[[MemoryNote], str]) -> str:
    """All of them, each with what `said` tells of it, or the word for none."""
    return "\n".join(core_line(core, said=said(core.note)) for core in cores) or nothing


def background(
    session: Session,
    predicates: Predicates,
    budget: int,
    count: Callable[[str], int],
    *,
    within: Filter | None = None,
    chinese: bool | None = None,
) -> CoreNotes:
    """The core notes that fit into `budget` tokens under their heading, which counts as well.

    It is in Chinese where `chinese` says so; None: where most of the notes are.
    """
    chosen = core_notes(session, predicates, budget - count(f"{BACKGROUND_ZH}\n"), within=within, count=count)
    if chinese is None:
        chinese = sum(written_in_cjk(core.note.content) for core in chosen) * 2 > len(chosen)
    while chosen:
        lines = [core_line(core, chinese=chinese) for core in chosen]
        text = "\n".join([BACKGROUND_ZH if chinese else BACKGROUND, *lines])
        # Of the whole, since what a tokenizer makes of lines together is not what it makes of each.
        size = count(text)
        if size <= budget:
            held = tuple(
                CoreNote(core.note.id, core.note.kind, core.note.trust, count(shown), shown)
                for core, shown in zip(chosen, lines, strict=True)
            )
            return CoreNotes(text, held, size, budget)
        chosen.pop()
    return CoreNotes("", (), 0, budget)
