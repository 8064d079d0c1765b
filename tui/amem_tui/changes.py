"""Every change a person can make here: one call to amem each, and a sentence that says what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import NoteNotFound
from amem.note import Enrichment
from amem_tui.naming import titles
from amem_tui.phrases import one_line, plural, title

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote
    from amem.receipt import Receipt
    from amem.storage import UndoReport

_LOOK_BACK = 200


def add(memory: AgenticMemorySystem, content: str) -> tuple[str, str]:
    """Remember a note; (its id, what came of it)."""
    receipt = memory.add(content)
    return receipt.id, _received(receipt)


def edit(memory: AgenticMemorySystem, note: MemoryNote, content: str) -> str:
    """Change a note's text, unless somebody changed the note since it was read."""
    note.content = content
    if not memory.update(note):
        raise NoteNotFound("this note was deleted meanwhile", hint="copy your text and save it as a new note")
    return f"Changed {_quoted(title(content))}"


def delete(memory: AgenticMemorySystem, note: MemoryNote) -> str:
    """Hide a note."""
    gone = memory.delete(note.id)
    return f"Deleted {_quoted(title(note.content))}; u brings it back" if gone else "It was gone already"


def pin(memory: AgenticMemorySystem, note: MemoryNote) -> str:
    """Keep a note from fading, or let it fade again."""
    pinned = not note.pinned
    memory.pin(note.id, pinned)
    return f"{'Pinned' if pinned else 'Unpinned'} {_quoted(title(note.content))}"


def undo(memory: AgenticMemorySystem, operation: int | None = None) -> str:
    """Take back an operation, the newest unless one is named."""
    return _reversed(memory, memory.undo(operation), "Undid")


def redo(memory: AgenticMemorySystem) -> str:
    """Do again what was undone last."""
    return _reversed(memory, memory.redo(), "Redid")


def accept(memory: AgenticMemorySystem, review: int) -> str:
    """Apply a proposed change."""
    return f"Accepted: set {', '.join(memory.accept(review)) or 'nothing new'}"


def reject(memory: AgenticMemorySystem, review: int) -> str:
    """Turn a proposed change down."""
    memory.reject(review)
    return "Rejected; the note stays as it is"


def _received(receipt: Receipt) -> str:
    if not receipt.stored:
        return "Known already: here is the note that says the same"
    parts = ["Stored"]
    if receipt.links:
        parts.append(plural(len(receipt.links), "link"))
    if receipt.evolved:
        parts.append(f"{plural(len(receipt.evolved), 'neighbour')} updated")
    if receipt.queued:
        parts.append(f"{plural(len(receipt.queued), 'change')} to review")
    if receipt.enrichment is not Enrichment.DONE:
        parts.append("analysis waits (amem enrich)")
    return ", ".join(parts)


def _reversed(memory: AgenticMemorySystem, report: UndoReport, verb: str) -> str:
    lines = [f"{verb} {_what(memory, report.undone)}"]
    if not report.reverted:
        lines.append("Nothing was left of it to take back.")
    if report.kept:
        left = ", ".join(f"{kept.item} of {kept.note[:8]}" for kept in report.kept[:3])
        lines.append(f"Left alone, since later work changed it: {left}")
    return "\n".join(lines)


def _what(memory: AgenticMemorySystem, operation: int) -> str:
    held = {each.id: each for each in memory.log(limit=_LOOK_BACK)}
    found = held.get(operation)
    if found is not None and found.undoes is not None:  # a redo takes back an undo: name what that had taken back
        found = held.get(found.undoes)
    if found is None:
        return f"operation {operation}"
    about = [*found.created, *found.notes]
    what = _quoted(titles(memory, about[:1])[about[0]]) if about else one_line(found.cause)
    more = f" and {len(about) - 1} more" if len(about) > 1 else ""
    return f"operation {found.id}, {found.action} {what}{more}".rstrip()


def _quoted(name: str) -> str:
    return f"“{one_line(name, 50)}”"
