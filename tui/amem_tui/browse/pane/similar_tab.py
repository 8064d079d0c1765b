"""The notes nearest in meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from amem_tui.browse.pane.aims import ToNote
from amem_tui.browse.pane.entries import bar, card_title, entry, say
from amem_tui.command_line import command
from amem_tui.phrases import GLYPHS, day

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem
    from amem_tui.browse.pane.asked import Asked
    from amem_tui.browse.pane.leaf import Part

_SHOWN = 20
_NONE = """Nothing to compare with yet.

This note is alone, or has no vector: the embedding model was not there when it was stored. {doctor} says which, and
{reindex} makes the vectors that are missing."""


def read(memory: AgenticMemorySystem, asked: Asked) -> list[Part]:
    """Each with its cosine, nearest first."""
    found = memory.similar(asked.note.id, _SHOWN)
    if not found:
        commands = {name: command(memory.settings, name) for name in ("doctor", "reindex")}
        return [say(line) for line in _NONE.replace("and\n", "and ").format(**commands).splitlines()]
    return [
        entry(
            Content.assemble((f"{cosine:.2f} ", "bold"), bar(cosine, 5), " ", card_title(card, card.id)),
            ToNote(card.id),
            Content.styled(f"{GLYPHS[card.kind]} {card.kind}   {day(card.at, asked.zone)}", "$muted"),
        )
        for card, cosine in found
    ]
