"""What others wrote since one looked last, and what became of a note that is not there any more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.note import Status
from amem_tui.phrases import maker, moment, one_line, plural, title

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem

_LOOKED_AT = 200
_NAMED = 3


@dataclass(frozen=True, slots=True)
class News:
    """`newest` is the last operation that was looked at, `made` who wrote which notes after the one before."""

    newest: int = 0
    made: Mapping[str, list[str]] = field(default_factory=dict)


def read_news(memory: AgenticMemorySystem, since: int | None) -> News:
    """The notes that were written after operation `since`; none for None, which only finds out where to begin."""
    newest = memory.pulse()[1]
    if since is None or newest <= since:
        return News(newest)
    made: dict[str, list[str]] = {}
    for each in reversed(memory.log(limit=min(newest - since, _LOOKED_AT))):
        if each.id > since and each.created and not each.undone:
            made.setdefault(each.actor, []).extend(each.created)
    return News(newest, made)


def told(counts: Mapping[str, int]) -> str:
    """``3 new notes by ▲ scribe``."""
    authors = [str(maker(actor)) for actor in counts]
    more = f" and {len(authors) - _NAMED} more" if len(authors) > _NAMED else ""
    return f"{plural(sum(counts.values()), 'new note')} by {', '.join(authors[:_NAMED])}{more}"


def farewell(memory: AgenticMemorySystem, id: str, zone: tzinfo) -> tuple[str, bool]:
    """What to say of a note that cannot be read any more, and whether it can be brought back."""
    card = memory.cards_of([id]).get(id)
    if card is None:
        return "This note was destroyed for good.", False
    if card.status is not Status.DELETED:
        return "This note was gone for a moment.", False
    gone = next((each for each in memory.log(limit=_LOOKED_AT) if id in each.notes), None)
    who = "" if gone is None else f" by {maker(gone.actor)}, {moment(gone.at, zone)}"
    return f"Deleted{who}.\n\n“{title(card.text)}”\n\n{one_line(card.text, 400)}\n\nu brings it back.", True
