"""Recalled notes on their way into a prompt: dated, with confidence, inert, between delimiters, as many as fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.conversation.reply import Recalled
from amem.llm.showing import line
from amem.llm.showing import note as shown_note
from amem.retrieval.marks import as_recalled
from amem.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import tzinfo

    from amem.note import MemoryNote
    from amem.retrieval import Hit

_WORDS = 200
#: Delimiters and the empty line around them.
_FRAME = 24


def recall(
    hits: Sequence[Hit],
    notes: dict[str, MemoryNote],
    *,
    most: int,
    zone: tzinfo,
    supporting: Collection[str] = (),
    already: Collection[str] = (),
    beside: Collection[str] = (),
) -> list[Recalled]:
    """The hits, best first, with those marked `injected` that fit into `most` tokens together.

    `notes` holds the notes as they are now; a hit that is gone since is left out. Those of `already` stand in the
    prompt as core notes and are not put there twice; those `beside` the point are not put there at all. A note that is
    both came up only because it always does, and is left out.
    """
    room = most - _FRAME
    found: list[Recalled] = []
    for hit in hits:
        held = notes.get(hit.id)
        if held is None or (hit.id in already and hit.id in beside):
            continue
        size = tokens(_line(len(found) + 1, held, zone)) + 1
        fits = size <= room and hit.id not in already and hit.id not in beside
        room -= size if fits else 0
        found.append(
            Recalled(
                note=hit.id,
                version=held.version,
                text=held.content,
                score=hit.score,
                confidence=held.trust,
                why=hit.explanation.words(),
                injected=fits or hit.id in already,
                supports=hit.id in supporting,
                kind=held.kind,
                at=held.at,
            )
        )
    return found


def recalled_text(found: Sequence[Recalled], notes: dict[str, MemoryNote], zone: tzinfo, skip: Collection[str]) -> str:
    """The injected notes between their delimiters, '' for none."""
    shown = [each for each in found if each.injected and each.note not in skip]
    if not shown:
        return ""
    return as_recalled("\n".join(_line(number, notes[each.note], zone) for number, each in enumerate(shown, start=1)))


def dated(note: MemoryNote, zone: tzinfo) -> str:
    """A note as a model reads it: when it is from, what it is, how far it can be trusted, and what it says."""
    day = f"{note.at.astimezone(zone):%Y-%m-%d}" if note.at else "undated"
    said = f", said by {line(note.speaker, 8)}" if note.speaker else ""
    return f"[{day}, {note.kind}, confidence {note.trust:.2f}{said}] {shown_note(note.content, _WORDS)}"


def _line(number: int, note: MemoryNote, zone: tzinfo) -> str:
    # What follows a line break in a note is set in, so that it cannot pass for another note with a date of its own.
    return f"{number}. {dated(note, zone)}".replace("\n", "\n   ")
