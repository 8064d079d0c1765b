"""What waits for a person: proposed rewrites, notes that disagree, notes that may be out of date."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.labels import short_id
from amem_tui.phrases import title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.memory_system import AgenticMemorySystem
    from amem.note import Link
    from amem.storage import Review
    from amem.storage.flags import Flag
    from amem.verdict import Conflict

#: Of each more than a person decides in one sitting; more come up as these are decided.
MOST = 200
#: Supersessions to look back on.
_SETTLED = 50


@dataclass(frozen=True, slots=True)
class Waiting:
    """All of it, at most `MOST` of each at hand; `counts` says how many there are. `settled` waits for nobody."""

    reviews: tuple[Review, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    settled: tuple[Link, ...] = ()
    flags: tuple[Flag, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many decisions wait."""
        return sum(self.counts.values())

    def title(self, id: str) -> str:
        """The note's title; the beginning of its id when it was destroyed."""
        return self.titles.get(id, short_id(id))


def read_waiting(memory: AgenticMemorySystem) -> Waiting:
    """Everything that waits, oldest first, conflicts the newest first."""
    reviews, conflicts, flags = memory.reviews(), memory.conflicts_open(), memory.doubted()
    settled = memory.supersessions(_SETTLED)
    counts = {"rewrites": len(reviews), "conflicts": len(conflicts), "flags": len(flags)}
    reviews, conflicts, flags = reviews[:MOST], conflicts[:MOST], flags[:MOST]
    ids = [each.note for each in reviews]
    ids += [id for each in conflicts for id in (each.earlier, each.later)]
    ids += [id for each in settled for id in (each.source, each.target)]
    ids += [id for each in flags for id in (each.note, each.because)]
    titles = {id: title(card.text) for id, card in memory.cards_of(list(dict.fromkeys(ids))).items()}
    return Waiting(tuple(reviews), tuple(conflicts), tuple(settled), tuple(flags), counts, titles)
