"""What a line of the log shows of an operation, read for a screenful of them at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem_tui.history.causes import told
from amem_tui.phrases import maker, one_line, plural, title

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.storage import Operation


@dataclass(frozen=True, slots=True)
class Row:
    """`note` is the id of the note the operation is about, if it is about any; `about` its title, or what is known."""

    operation: Operation
    clock: str
    about: str
    note: str | None

    @property
    def who(self) -> str:
        """The sign and name of whoever did it."""
        return maker(self.operation.actor).plain

    @property
    def extent(self) -> str:
        """What else it did: ``and 2 more, 3 links``."""
        others = len({*self.operation.created, *self.operation.notes}) - 1
        parts = [f"and {others:,} more"] if others > 0 else []
        if self.operation.links:
            parts.append(plural(self.operation.links, "link"))
        return ", ".join(parts)


def read_rows(memory: AgenticMemorySystem, ids: Sequence[int], zone: tzinfo) -> dict[int, Row]:
    """The rows of these operations. What only made links is about the note whose arrival set it off."""
    found = memory.operations(ids)
    parents = {each.id: each for each in memory.operations([each.parent for each in found if each.parent is not None])}
    about = {each.id: _first(each) or _first(parents.get(each.parent or 0)) for each in found}
    cards = memory.cards_of(list(dict.fromkeys(id for id in about.values() if id is not None)))
    causes = told(memory, (each.cause for each in found if about[each.id] not in cards))
    rows = {}
    for each in found:
        id = about[each.id]
        card = None if id is None else cards.get(id)
        words = one_line(causes[each.cause]) if card is None else title(card.text)
        rows[each.id] = Row(each, each.at.astimezone(zone).strftime("%H:%M"), words, id)
    return rows


def _first(operation: Operation | None) -> str | None:
    return None if operation is None else next(iter((*operation.created, *operation.notes)), None)
