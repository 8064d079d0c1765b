"""One value for every question, whoever asks it: API, command line, terminal browser, tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput
from amem.note import Kind, Status

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Filter:
    """Which notes may answer. Empty fields do not filter; several values of one field are alternatives.

    Tags are the exception: a note must carry all of them. `since` and `until` bound the time a note speaks of
    (``at``; until is exclusive).

    `as_of` asks for what was true then: notes that are about an earlier time and were not yet superseded by that time,
    as we know it now. `known_at` asks for what was known then: notes that had arrived, with the status and the times
    of their truth that they had, whatever was changed or undone since; the other conditions look at notes as they
    are. Both together: what one held at `known_at` to be true at `as_of`. `minimum_cosine` bounds the dense similarity
    (-1..1).
    """

    tags: tuple[str, ...] = ()
    category: str | None = None
    kinds: tuple[Kind, ...] = ()
    speaker: str | None = None
    conversation: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    minimum_cosine: float | None = None

    @property
    def is_default(self) -> bool:
        """True when every active note may answer, so that the unfiltered fast paths apply."""
        return self == Filter()


@dataclass(frozen=True, slots=True)
class Query:
    """A question: the words as the user wrote them, how many hits, and which notes may answer.

    `expand` adds linked neighbours, ranked together with the direct hits. `touch` counts the hits as used.
    `legs` names the retrieval legs to use; empty means all. `diversity` (0..1) and `rerank` take the place of the
    settings of these names; None leaves those. Raises InvalidInput for a negative k, or for no text.
    """

    text: str
    k: int = 5
    filter: Filter = field(default_factory=Filter)
    expand: bool = False
    touch: bool = True
    minimum_score: float | None = None
    legs: tuple[str, ...] = ()
    diversity: float | None = None
    rerank: bool | None = None

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 0:
            raise InvalidInput(f"k must be a whole number of at least 0, not {self.k!r}")
        if not isinstance(self.text, str):
            raise InvalidInput(f"a question must be text, not {type(self.text).__name__}")
        if any("\ud800" <= char <= "\udfff" for char in self.text):
            raise InvalidInput(
                "the question holds half of a surrogate pair, which is not text", hint="use valid Unicode"
            )
