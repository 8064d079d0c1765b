"""What a model says of notes that are summed up: one call, and only statements that cite notes it was shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.analysis import PageNote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.note import MemoryNote
    from amem.protocols import PageWriter

_TITLE = "What happened"


def summed_up(writer: PageWriter, parts: Sequence[MemoryNote]) -> list[tuple[str, list[str]]]:
    """Statements with the ids of the notes that each rests on. Raises what the writer raises."""
    ids = {f"n{number}": note.id for number, note in enumerate(parts, 1)}
    shown = [PageNote(handle, note.content, note.at) for handle, note in zip(ids, parts, strict=True)]
    draft = writer.page(_TITLE, "", shown)
    cited = [(text, [ids[handle] for handle in handles if handle in ids]) for text, handles in draft.statements]
    return [(text, found) for text, found in cited if found]
