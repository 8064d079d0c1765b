"""One value for every question, whoever asks it: API, command line, terminal browser, tools."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from amem import checks
from amem.errors import InvalidInput
from amem.note import EVERYONE, SCOPES, Kind, Layer, Scope, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime, tzinfo

#: Characters that a question may have: more than a note of the usual limit, and read in a moment.
LONGEST = 100_000
#: Links that are followed from a note to what it rests on.
DEPTH = 5
_TIMES = ("since", "until", "as_of", "known_at")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which notes may answer. Empty fields do not filter; several values of one field are alternatives.

    Tags are the exception: a note must carry all of them. `since` and `until` bound the time a note speaks of
    (``at``; until is exclusive). `user_id`, `agent_id` and `session_id` name whose notes may answer: those that were
    added with that id, which their metadata holds under that name; `whose` all three at once, and there '' means notes
    without that id. `part_of` is the id of a note, such as a topic's:
    those that are linked to it as part of it may answer.

    `as_of` asks for what was true then: notes that are about an earlier time and were not yet superseded by that time,
    as we know it now. `known_at` asks for what was known then: notes that had arrived, with the status and the times
    of their truth that they had, whatever was changed or undone since; the other conditions look at notes as they
    are. Both together: what one held at `known_at` to be true at `as_of`. A time without a zone is one of the
    collection's own (setting ``timezone``). `minimum_cosine` bounds the dense similarity (-1..1).

    Kinds, layers and statuses may be given by name, and several values as any tuple, list or set. Raises InvalidInput
    that names the field for a value of the wrong type, an unknown name, and a period that ends before it begins.
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
    layers: tuple[Layer, ...] = ()
    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    part_of: str | None = None
    whose: Scope | None = None

    def __post_init__(self) -> None:
        held: dict[str, Any] = {
            "tags": checks.texts("tags", self.tags),
            "kinds": checks.members("kinds", self.kinds, Kind),
            "layers": checks.members("layers", self.layers, Layer),
            "statuses": checks.members("statuses", self.statuses, Status),
            "metadata": checks.metadata("metadata", self.metadata),
        }
        for name in ("category", "speaker", "conversation", "part_of", *SCOPES, *_TIMES, "minimum_cosine"):
            value = getattr(self, name)
            if value is not None:
                held[name] = _CHECKS[name](name, value)
        if self.whose is not None and not isinstance(self.whose, Scope):
            raise InvalidInput(f"whose must be a Scope, not {type(self.whose).__name__}", hint="use amem.note.Scope")
        held["whose"] = None if self.whose == EVERYONE else self.whose
        for name, value in held.items():
            object.__setattr__(self, name, value)
        if not self.statuses:
            raise InvalidInput("statuses must name at least one", hint=f"use some of {', '.join(Status)}")
        _in_order(self.since, self.until)

    @property
    def is_default(self) -> bool:
        """True when every active note may answer, so that the unfiltered fast paths apply."""
        return self == _ANY

    @property
    def scope(self) -> Scope:
        """Whose notes may answer, as far as it says so."""
        asked = self.whose or EVERYONE
        if all(getattr(self, name) is None for name in SCOPES):
            return asked
        found = ((getattr(asked, name), getattr(self, name)) for name in SCOPES)
        return Scope(*(own if own is not None else named for own, named in found))

    def in_zone(self, zone: tzinfo) -> Filter:
        """The same filter with a zone for the times that have none. Raises InvalidInput as they may now be swapped."""
        bare = {name: value for name in _TIMES if (value := getattr(self, name)) is not None and value.tzinfo is None}
        return replace(self, **{name: value.replace(tzinfo=zone) for name, value in bare.items()}) if bare else self


class Grouping(StrEnum):
    """What the answers of a search may be grouped by."""

    SESSION = "session"
    TOPIC = "topic"


@dataclass(frozen=True, slots=True)
class Query:
    """A question: the words as the user wrote them, how many hits, and which notes may answer.

    `expand` adds linked neighbours, ranked together with the direct hits. `touch` counts the hits as used.
    `legs` names the retrieval legs to use; empty means all. `diversity` (0..1) and `rerank` take the place of the
    settings of these names; None leaves those; `minimum_score` (0..1) leaves out what scores less, and
    `minimum_confidence` (0..1) those of the best `k` that are less likely to hold the answer. With `passages` a hit
    that holds none of the words shows its sentence nearest in meaning (``Hit.passage``), for one embedding call of all
    their sentences; without, its first. `group_by` (session or topic) spreads the `k` places over the groups that the
    best notes are in, those of a group one behind the other (``Hit.group``). Raises InvalidInput for a negative k, for
    no text or one of more than 100,000 characters, and for a field of the wrong type, which it names.
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
    minimum_confidence: float | None = None
    passages: bool = False
    group_by: Grouping | str | None = None

    def __post_init__(self) -> None:
        checks.whole("k", self.k, least=0)
        checks.text("a question", self.text)
        if len(self.text) > LONGEST:
            raise InvalidInput(
                f"the question has {len(self.text):,} characters; the limit is {LONGEST:,}",
                hint="ask in fewer words; amem import takes long text",
            )
        if not isinstance(self.filter, Filter):
            raise InvalidInput(
                f"filter must be a Filter, not {type(self.filter).__name__}", hint="use amem.Filter(...)"
            )
        checks.flag("expand", self.expand)
        checks.flag("touch", self.touch)
        checks.flag("passages", self.passages)
        object.__setattr__(self, "legs", checks.texts("legs", self.legs))
        for name in ("minimum_score", "minimum_confidence", "diversity"):
            if (value := getattr(self, name)) is not None:
                checks.number(name, value, 0.0, 1.0)
        if self.rerank is not None:
            checks.flag("rerank", self.rerank)
        if self.group_by is not None:
            object.__setattr__(self, "group_by", checks.member("grouping", self.group_by, Grouping))

    def in_zone(self, zone: tzinfo) -> Query:
        """The same question with a zone for the times of its filter that have none."""
        placed = self.filter.in_zone(zone)
        return self if placed is self.filter else replace(self, filter=placed)


def _in_order(since: datetime | None, until: datetime | None) -> None:
    if since is None or until is None or (since.tzinfo is None) != (until.tzinfo is None):
        return  # one without a zone can only be compared once it has one
    if since > until:
        raise InvalidInput(f"since ({since.isoformat()}) must not be later than until ({until.isoformat()})")


_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("category", "speaker", "conversation", "part_of"), checks.text),
    **dict.fromkeys(SCOPES, checks.name),
    **dict.fromkeys(_TIMES, checks.moment),
    "minimum_cosine": lambda name, value: checks.number(name, value, -1.0, 1.0),
}
_ANY = Filter()
#: All notes but deleted ones.
UNDELETED = Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED))
