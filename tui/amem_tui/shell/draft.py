"""A note as it is being written: what the person gave of it, and saving that without undoing what others did."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.errors import NoteNotFound, StaleNote
from amem.note import Enrichment
from amem_tui.command_line import command
from amem_tui.phrases import one_line, plural, title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote
    from amem.receipt import Receipt


@dataclass(frozen=True, slots=True)
class Draft:
    """`base` is the note as it was when the form was opened, None for a new one.

    `given` are the fields that the person filled in or changed (content among them where it was changed); the others
    are left to the analyst, or as they are.
    """

    base: MemoryNote | None
    given: Mapping[str, Any]

    def save(self, memory: AgenticMemorySystem) -> tuple[str, str]:
        """Store it, without waiting for a model; (the note's id, what came of it).

        Raises StaleNote when somebody else changed a field that is changed here, NoteNotFound when the note was
        deleted meanwhile, and whatever refuses a note.
        """
        if self.base is None:
            fields = dict(self.given)
            receipt = memory.add(fields.pop("content", ""), wait=False, **fields)
            return receipt.id, _received(receipt, fields, command(memory.settings, "enrich"))
        if not self.given:
            return self.base.id, "Nothing was changed"
        now = memory.read(self.base.id)
        if now is None:
            raise _gone()
        if stale := [name for name in self.given if getattr(now, name) != getattr(self.base, name)]:
            raise StaleNote(
                f"somebody changed the {' and '.join(stale)} of this note meanwhile",
                hint="ctrl+t shows what it is now, ctrl+n saves yours as a new note",
            )
        changed = copy(now)
        for name, value in self.given.items():
            setattr(changed, name, value)
        if not memory.update(changed, wait=False):
            raise _gone()
        return changed.id, f"Changed “{one_line(title(changed.content), 50)}”"

    def as_new(self) -> Draft:
        """The same as a note of its own."""
        return Draft(None, self.given)


def labels(typed: str) -> list[str]:
    """Tags or keywords as they are typed: ``tea, #green kettle`` is "tea" and "green kettle"."""
    parts = (part.strip().lstrip("#").strip() for part in typed.replace("，", ",").replace("、", ",").split(","))
    return [part for part in parts if part]


def _received(receipt: Receipt, fields: Mapping[str, Any], enrich: str) -> str:
    if not receipt.stored:
        extra = f" ({', '.join(fields)} of yours were not added to it)" if fields else ""
        return f"Known already: here is the note that says the same{extra}"
    parts = ["Stored"]
    if receipt.links:
        parts.append(plural(len(receipt.links), "link"))
    if receipt.evolved:
        parts.append(f"{plural(len(receipt.evolved), 'neighbour')} updated")
    if receipt.superseded:
        parts.append(f"{plural(len(receipt.superseded), 'older note')} superseded")
    if receipt.queued:
        parts.append(f"{plural(len(receipt.queued), 'change')} to review")
    if receipt.enrichment is Enrichment.PENDING:
        parts.append("analysis follows by itself")
    elif receipt.enrichment is not Enrichment.DONE:
        parts.append(f"analysis waits ({enrich})")
    return ", ".join(parts)


def _gone() -> NoteNotFound:
    return NoteNotFound("this note was deleted meanwhile", hint="ctrl+n saves your text as a new note")
