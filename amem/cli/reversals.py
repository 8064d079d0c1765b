"""What an undo or a redo came to, note by note: which are gone again, which are back, which are as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import NoteNotFound
from amem.note import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.memory_system import AgenticMemorySystem

#: What became of more notes than this is not told apart: each costs a look at its versions.
_TOLD_APART = 50
_GONE, _BACK = "gone again", "back"


def outcomes(
    memory: AgenticMemorySystem, operation: int, *, redone: bool, notes: Sequence[str]
) -> list[tuple[str, list[str]]]:
    """(what became of them, their ids) for the notes that an undo, or a redo, touched.

    The words go after ``is`` or ``are``: ``gone again``, ``back``, ``superseded again``, ``as it was before``.
    """
    rest = "changed again" if redone else "as it was before"
    found: dict[str, list[str]] = {_GONE: [], _BACK: []}
    for id in notes:
        became = _became(memory, operation, id) if len(notes) <= _TOLD_APART else ""
        found.setdefault(became or rest, []).append(id)
    # What merely got its tags back comes after what went or came.
    found[rest] = found.pop(rest, [])
    return [(became, ids) for became, ids in found.items() if ids]


def sentence(became: str, ids: Sequence[str], named: Callable[[str], str], most: int) -> str:
    """``“Wen …” is gone again``, ``3 notes are gone again: “Wen …”, “Ana …”, …``."""
    if len(ids) == 1:
        return f"{named(ids[0])} is {became}"
    more = ", …" if len(ids) > most else ""
    plural = became.replace("it was", "they were")
    return f"{len(ids):,} notes are {plural}: {', '.join(named(id) for id in ids[:most])}{more}"


def _became(memory: AgenticMemorySystem, operation: int, id: str) -> str:
    """What the operation made of the note's standing; '' when that is as before."""
    try:
        mine = [each.changes for each in memory.history(id) if each.operation == operation]
    except NoteNotFound:  # purged since
        return ""
    moves = [changes["status"] for changes in mine if "status" in changes]
    if not moves or moves[0][0] == moves[-1][1]:
        return ""
    before, after = moves[0][0], moves[-1][1]
    if after == Status.DELETED:
        return _GONE
    return _BACK if before == Status.DELETED else f"{after} again"
