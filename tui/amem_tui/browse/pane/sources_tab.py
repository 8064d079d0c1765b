"""What the note came from: messages of a conversation, a file, a line of an import, with the sentence that it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from amem.retrieval.highlight import passage
from amem_tui.browse.pane.entries import MOST, say, space
from amem_tui.browse.pane.leaf import Block
from amem_tui.phrases import clean, moment, one_line, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote, Source
    from amem_tui.browse.pane.asked import Asked
    from amem_tui.browse.pane.leaf import Part

_NONE = "Written directly; there is no source behind it."
_TEXT = 8_000


def read(memory: AgenticMemorySystem, asked: Asked) -> list[Part]:
    """The sources in their order, word for word."""
    note = asked.note
    found = memory.sources([note.id]).get(note.id, [])
    if not found:
        return [say(_NONE)]
    parts = [part for source in found[:MOST] for part in _source(source, asked, note)]
    if len(found) > MOST:
        parts.append(say(f"and {plural(len(found) - MOST, 'source')} more"))
    return parts


def _source(source: Source, asked: Asked, note: MemoryNote) -> Iterator[Part]:
    where = [source.kind if source.speaker else None, source.conversation, source.ref]
    head = Content.assemble(
        (one_line(source.speaker, 40) if source.speaker else one_line(source.kind, 40), "bold $secondary"),
        (f"  {moment(source.at, asked.zone)}" if source.at else "", "$muted"),
        (f"  {one_line(' '.join(part for part in where if part), 80)}", "$muted"),
    )
    yield Block(head)
    edge = Content.styled("│ ", "$foreground 25%")
    yield Block(_quoted(source.text, note), first=edge, rest=edge)
    yield space()


def _quoted(text: str, note: MemoryNote) -> Content:
    """The text with the sentence that says most of what the note says."""
    shown = clean(text)
    cut = Content.styled(f" … {len(shown) - _TEXT:,} characters more", "$muted") if len(shown) > _TEXT else Content()
    shown = shown[:_TEXT]
    if shown.strip() == clean(note.content).strip():
        return Content(shown) + cut
    words = [note.content[:400], *note.keywords, *note.entities]
    said = passage(shown, words)
    if said.end - said.start >= len(shown.strip()):
        return Content(shown) + cut
    return Content(shown).stylize("$text-accent", said.start, said.end) + cut
