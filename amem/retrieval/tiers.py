"""What reading from the top came to: topics' pages, their notes, all notes, the sources.

Each tier is read only where the one before did not suffice, and each says what was read, and why it did or did not.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amem.retrieval.context import Placed

TOPICS, MEMBERS, NOTES, SOURCES = "topics", "members", "notes", "sources"


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier: the ids of what was `read` (pages, notes, or the notes whose sources were), the `tokens` of that,
    whether it sufficed, and why. `judged_by` names the model that said so; '' for the rules."""

    name: str
    read: tuple[str, ...]
    tokens: int
    suffices: bool
    why: str
    judged_by: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A topic's page as it stands in the text; `stale` says what it does not know yet, '' when nothing."""

    id: str
    name: str
    text: str
    tokens: int
    stale: str = ""


@dataclass(frozen=True, slots=True)
class SourceText:
    """What a note came from, as it stands in the text."""

    note: str
    source: str
    time: str
    speaker: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Tiers:
    """What was read for `query`, tier by tier, and the `text` that came of it, for a prompt.

    `answered_by` names the tier that sufficed, '' when none did; `pages`, `notes` and `sources` are what stands in the
    text, which takes `tokens`, never more than the `budget`.
    """

    query: str
    text: str
    answered_by: str
    tiers: tuple[Tier, ...]
    pages: tuple[Page, ...]
    notes: tuple[Placed, ...]
    sources: tuple[SourceText, ...]
    tokens: int
    budget: int
    counted_by: str
    exact: bool

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        held = asdict(self)
        return held | {name: list(held[name]) for name in ("tiers", "pages", "notes", "sources")}
