"""Every change a person can make here: one call to amem each, and a sentence that says what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import NoteNotFound
from amem.labels import counted, short_id
from amem.note import LinkType
from amem.summaries import reversal_lines
from amem_tui.formatting import clean, command, one_line, title, titles_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.memory_system import AgenticMemorySystem
    from amem.note import Link
    from amem.storage.undo import UndoReport

#: Lines of what an undo did and left alone.
_TOLD = 4


def delete_notes(memory: AgenticMemorySystem, ids: Sequence[str]) -> str:
    titles = titles_of(memory, ids)
    gone = memory.delete_notes(ids)
    if not gone:
        return "It was gone already" if len(ids) == 1 else "They were gone already"
    what = _quoted(next(iter(titles.values()))) if gone == 1 and titles else counted(gone, "note")
    return f"Deleted {what}; u brings {'it' if gone == 1 else 'them'} back"


def bring_back(memory: AgenticMemorySystem, id: str) -> str:
    memory.restore(id)
    titles = titles_of(memory, [id])
    return f"Brought back {_quoted(titles[id])}" if id in titles else "It was destroyed meanwhile"


def pin(memory: AgenticMemorySystem, id: str) -> str:
    note = memory.read(id)
    if note is None:
        raise NoteNotFound("this note is not here any more")
    pinned = not note.pinned
    memory.pin(id, pinned)
    return f"{'Pinned' if pinned else 'Unpinned'} {_quoted(title(note.content))}"


def link(memory: AgenticMemorySystem, source: str, target: str, type: str, reason: str) -> str:
    """Link one note to another; one that supersedes another takes its place."""
    if type == LinkType.SUPERSEDES:
        memory.supersede(target, source, reason)
    else:
        memory.link(source, target, type, reason)
    return f"Linked to {_titles(memory, [target])[target]} as {type.replace('_', ' ')}; u undoes it"


def unlink(memory: AgenticMemorySystem, link: Link) -> str:
    """Take a link away; a note whose place was taken by it is current again."""
    replaced = memory.read(link.target) if link.type is LinkType.SUPERSEDES else None
    if replaced is not None and replaced.superseded_by == link.source:
        gone = memory.unsupersede(link.target)
    else:
        gone = memory.unlink(link.source, link.target, link.type)
    return "Unlinked; u links them again" if gone else "That link was gone already"


def undo(memory: AgenticMemorySystem, operation: int | None = None) -> str:
    """Take back an operation; without one the newest that was done from here."""
    wanted = memory.own_last() if operation is None else operation
    if wanted is None:
        return "Nothing done from here is left to undo; the log (l) can undo anything."
    report = memory.undo(wanted)
    said, *others = reversal(memory, report).split("\n")
    return "\n".join([f"{said}; ctrl+r redoes it" if report.reverted else said, *others])


def redo(memory: AgenticMemorySystem) -> str:
    undone_by = memory.own_undone()
    if undone_by is None:
        return "Nothing was undone from here that could be redone."
    return reversal(memory, memory.redo(undone_by))


def roll_back(memory: AgenticMemorySystem, id: str, version: int) -> str:
    fields = memory.rollback(id, version)
    return f"Back to version {version}: set {', '.join(fields) or 'nothing'}; u undoes it"


def accept(memory: AgenticMemorySystem, review: int) -> str:
    return f"Accepted: set {', '.join(memory.accept(review)) or 'nothing new'}"


def reject(memory: AgenticMemorySystem, review: int) -> str:
    memory.reject(review)
    return "Rejected; the note stays as it is"


def supersede(memory: AgenticMemorySystem, old: str, new: str, reason: str = "") -> str:
    """Put one note in the place of another, which stays in its history."""
    memory.supersede(old, new, reason)
    named = _titles(memory, [old, new])
    return f"{named[new]} is current now, in place of {named[old]}"


def reinstate(memory: AgenticMemorySystem, id: str) -> str:
    """Make a superseded note current again, beside what took its place."""
    stood = memory.unsupersede(id)
    return f"{_titles(memory, [id])[id]} {'is current again' if stood else 'is current already'}"


def retract(memory: AgenticMemorySystem, id: str) -> str:
    taken = memory.retract(id)
    return f"{_titles(memory, [id])[id]} {'is no longer current' if taken else 'was no longer current'}"


def keep(memory: AgenticMemorySystem, id: str) -> str:
    return f"Kept {_titles(memory, [id])[id]}" if memory.keep(id) else "Nothing contradicts it any more"


def keep_both(memory: AgenticMemorySystem, earlier: str, later: str) -> str:
    if memory.keep(earlier) or memory.keep(later):
        return "Both are current"
    return "Both are current already and give two values for one thing: say which is right"


def merge_fork(source: AgenticMemorySystem, fork: AgenticMemorySystem | str, name: str, *, here: bool) -> str:
    """Merge a fork of that name; `here` says that the source is the open collection, where a key undoes it."""
    report = source.merge(fork)
    if report.operation is None:
        return f"{name}: {report.words}"
    where, undo = "", "u"
    if not here:
        where, undo = f" of {source.settings.collection}", command(source.settings, f"undo {report.operation}")
    waiting = f"; {counted(report.waiting, 'conflict')} for you in Review{where}" if report.waiting else ""
    return f"Merged {name}: {report.words}{waiting}; {undo} undoes it"


def reversal(memory: AgenticMemorySystem, report: UndoReport) -> str:
    """Return what an undo or a redo did and, on lines of their own, some of what it left alone."""
    lines = [line[0].upper() + clean(line[1:]) for line in reversal_lines(memory, report)]
    more = [f"and {len(lines) - _TOLD:,} more; the log (l) has them all"] if len(lines) > _TOLD else []
    return "\n".join([*lines[:_TOLD], *more])


def _titles(memory: AgenticMemorySystem, ids: Sequence[str]) -> dict[str, str]:
    """For each id the quoted title of its note; of one that was destroyed the beginning of the id."""
    titles = titles_of(memory, ids)
    return {id: _quoted(titles[id]) if id in titles else short_id(id) for id in ids}


def _quoted(name: str) -> str:
    return f"“{one_line(name, 50)}”"
