"""Recalled notes on their way into a prompt: who said each and when, inert, between delimiters, as many as fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.conversation.reply import Recalled
from amem.llm.prompts import CHINESE
from amem.llm.showing import count_words, line
from amem.llm.showing import note as shown_note
from amem.rendering import doubt_of, text_of, text_within
from amem.retrieval.marks import as_recalled
from amem.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import tzinfo

    from amem.note import MemoryNote
    from amem.retrieval import Hit

_WORDS = 200
_DOUBT_WORDS = 30
#: Delimiters and the empty line around them.
_FRAME = 24


@dataclass(frozen=True, slots=True)
class Attribution:
    """Says who told a note and when, in the `language` of the question: "said by you on 2026-05-13".

    "You" is the person who chats, called `user` in notes; a note without a speaker is theirs. Days are those of `zone`.
    """

    zone: tzinfo
    user: str
    language: str = ""

    def of(self, note: MemoryNote) -> str:
        """The words for one note, on one line."""
        day = f"{note.at.astimezone(self.zone):%Y-%m-%d}" if note.at else ""
        own = note.speaker is None or note.speaker.casefold() == self.user.casefold()
        if self.language == CHINESE:
            who = "你" if own else line(note.speaker or "", 8)
            return f"{who}于 {day} 说" if day else f"{who}说"
        who = "you" if own else line(note.speaker or "", 8)
        return f"said by {who} on {day}" if day else f"said by {who}"


def recall(
    hits: Sequence[Hit],
    notes: dict[str, MemoryNote],
    *,
    most: int,
    attribution: Attribution,
    supporting: Collection[str] = (),
    already: Collection[str] = (),
) -> list[Recalled]:
    """The hits, best first, with those marked `injected` that fit into `most` tokens together.

    `notes` holds the notes as they are now; a hit that is gone since is left out. Those of `already` stand in the
    prompt as core notes and are not put there twice.
    """
    room = most - _FRAME
    found: list[Recalled] = []
    for hit in hits:
        held = notes.get(hit.id)
        if held is None:
            continue
        size = tokens(_line(len(found) + 1, held, attribution)) + 1
        fits = size <= room and hit.id not in already
        room -= size if fits else 0
        found.append(
            Recalled(
                note=hit.id,
                version=held.version,
                text=text_of(held),
                score=hit.score,
                trust=held.trust,
                why=hit.explanation.words(),
                injected=fits or hit.id in already,
                supports=hit.id in supporting,
                kind=held.kind,
                at=held.at,
            )
        )
    return found


def recalled_text(
    found: Sequence[Recalled], notes: dict[str, MemoryNote], attribution: Attribution, skip: Collection[str]
) -> str:
    """The injected notes between their delimiters, '' for none."""
    shown = [each for each in found if each.injected and each.note not in skip]
    if not shown:
        return ""
    lines = (_line(number, notes[each.note], attribution) for number, each in enumerate(shown, start=1))
    return as_recalled("\n".join(lines))


def attributed(note: MemoryNote, attribution: Attribution) -> str:
    """A note as a model reads it: what it is, who said it and when, and what it says."""
    doubt = doubt_of(note)
    head = f"{note.kind}, {attribution.of(note)}" + (f", {line(doubt, _DOUBT_WORDS)}" if doubt else "")
    return f"[{head}] {shown_note(text_within(note, _fits), _WORDS)}"


def _fits(text: str) -> bool:
    return count_words(text) <= _WORDS


def _line(number: int, note: MemoryNote, attribution: Attribution) -> str:
    # What follows a line break in a note is set in, so that it cannot pass for another note with a date of its own.
    return f"{number}. {attributed(note, attribution)}".replace("\n", "\n   ")
