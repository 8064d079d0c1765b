"""A note as a line of a list: what of it is shown there, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from amem.note import Enrichment, Kind, Layer, Status
from amem.retrieval.confidence import Support
from amem_tui.phrases import GLYPHS, clean, one_line, title

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from amem.retrieval import Hit
    from amem.storage.cards import Card

Author = Literal["person", "agent", "machine"]

#: Strength from which another bar is lit. A note without any would fade; one with all of them is kept for long.
_LEVELS = (0.1, 0.3, 0.5, 0.7)


@dataclass(frozen=True, slots=True)
class Row:
    """`at` is local; `level` is the strength as 0 to 4 bars.

    For search hits alone: `score`, `why` it was found, `excerpt`: pieces of its text, each with whether it matched, and
    `faint` where it gives an answer no support.
    """

    id: str
    kind: Kind
    title: str
    at: datetime
    author: Author = "person"
    status: Status = Status.ACTIVE
    long_term: bool = False
    level: int = 0
    links: int = 0
    pinned: bool = False
    waiting: bool = False
    score: float | None = None
    why: str = ""
    excerpt: tuple[tuple[str, bool], ...] = ()
    faint: bool = False

    @property
    def glyph(self) -> str:
        """The kind's sign."""
        return GLYPHS[self.kind]


def row_of(card: Card, zone: tzinfo, hit: Hit | None = None) -> Row:
    """The row of a note; with the hit's score and explanation where it was searched for."""
    return Row(
        id=card.id,
        kind=card.kind,
        title=title(card.text),
        at=card.at.astimezone(zone),
        author=author(card.author),
        status=card.status,
        long_term=card.layer is Layer.LONG_TERM,
        level=sum(card.strength >= least for least in _LEVELS),
        links=card.links,
        pinned=card.pinned,
        waiting=card.enrichment is not Enrichment.DONE,
        score=None if hit is None else hit.score,
        why="" if hit is None else one_line(hit.explanation.words(), 300),
        excerpt=() if hit is None else _excerpt(hit),
        faint=hit is not None and hit.support is Support.NONE,
    )


def _excerpt(hit: Hit) -> tuple[tuple[str, bool], ...]:
    part = hit.passage
    goes_on = [(" …", False)] if hit.text[part.end :].strip() else []
    from_here = [("… ", False)] if hit.text[: part.start].strip() else []
    return (*from_here, *((clean(piece), matched) for piece, matched in part.pieces()), *goes_on)


def author(actor: str) -> Author:
    """Whose words: a person's, a program's that acts for one, or those of a machine that concludes."""
    who = actor.split(":")[0]
    return "person" if who == "user" else "agent" if who == "agent" else "machine"
