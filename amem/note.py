"""The domain: notes, links, sources, messages, what judges say of two notes, what a write did. Plain data, no I/O."""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
from dataclasses import dataclass, field, is_dataclass
from datetime import datetime
from enum import Enum, StrEnum
from operator import add, sub
from typing import TYPE_CHECKING, Any, ClassVar, Self

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


#: Whose a note is, as memory libraries tell notes of one collection apart: ids kept in its metadata under these names.
SCOPES = ("user_id", "agent_id", "session_id")
#: How a name ends that is kept for somebody, and what a name ends with that is nobody's and only looks so.
_ENDING, _PLAIN = re.compile(r' \{"(?:user|agent|session)_id": .*\}$', re.DOTALL), " {}"
#: The key of metadata that says which file a note came from, and what stood there (see `amem.interop.items.FilePlace`).
FILE = "file"


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose notes: those of one user, agent and session. '' stands for notes without such an id, None leaves it open.

    A note is of the scope that `of` reads from its metadata, and meets only notes of the same one: nothing links,
    rewrites, merges, overturns or counts a note for another's. A caller sees the notes of a scope that may leave ids
    open; since notes meet as they do, all that went into those is of that scope, too (docs/adr: one scope, one memory).
    """

    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None

    def __post_init__(self) -> None:
        for name in SCOPES:
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InvalidInput(
                    f"{name} must be text, not {type(value).__name__}", hint="leave it out to ask for all"
                )

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> Scope:
        """That of a note with this metadata; an id that another program keeps as a number is the same id."""
        if metadata.keys().isdisjoint(SCOPES):
            return NOBODY
        return cls(*("" if metadata.get(name) is None else str(metadata[name]) for name in SCOPES))

    @property
    def ids(self) -> dict[str, str]:
        """The ids it names, as metadata holds them."""
        return {name: value for name in SCOPES if (value := getattr(self, name))}

    def naming(self, name: str) -> str:
        """How a conversation's or a source's name is kept, so that the same name means another in another scope."""
        return self.named(name) + (self._ending or (_PLAIN if _ENDING.search(name) else ""))

    def named(self, name: str) -> str:
        """Such a name as it was given."""
        bare = name.removesuffix(self._ending or _PLAIN)
        return bare if self.ids or _ENDING.search(bare) else name

    def keeps(self, name: str) -> bool:
        """Whether a name, as it is kept, is one of this scope."""
        return name.endswith(self._ending) if self.ids else not _ENDING.search(name) or name.endswith(f"}}{_PLAIN}")

    @property
    def kept(self) -> str:
        """Its ids as JSON, as a chat is kept with those that it was begun under."""
        return json.dumps(self.ids, ensure_ascii=False)

    @property
    def _ending(self) -> str:
        return f" {self.kept}" if self.ids else ""

    def holds(self, metadata: Mapping[str, Any]) -> bool:
        """Whether a note with this metadata is within it."""
        return self.covers(Scope.of(metadata))

    def intersection(self, other: Scope) -> Scope:
        """What is within both. Raises InvalidInput where that can be nothing."""
        for name in SCOPES:
            one, more = getattr(self, name), getattr(other, name)
            if one is not None and more not in (None, one):
                raise InvalidInput(f"the {name} {more!r} is not that of this memory", hint=f"leave {name} out")
        return Scope(*(getattr(other, name) if getattr(self, name) is None else getattr(self, name) for name in SCOPES))

    def covers(self, other: Scope) -> bool:
        """Whether all notes of the other scope are within it."""
        return all(getattr(self, name) in (None, getattr(other, name)) for name in SCOPES)


#: All notes of a collection, whosever they are, and those that say of nobody that they are his.
EVERYONE, NOBODY = Scope(), Scope("", "", "")


class MemoryType(StrEnum):
    """The three memories of cognitive science that kinds fold to."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class Kind(StrEnum):
    """What sort of thing a note says."""

    EPISODE = "episode"
    FACT = "fact"
    PREFERENCE = "preference"
    DECISION = "decision"
    CONSTRAINT = "constraint"
    CONFIG = "config"
    CODE = "code"
    ERROR = "error"
    QUESTION = "question"
    CHITCHAT = "chitchat"
    PROCEDURE = "procedure"
    TOPIC = "topic"

    @property
    def memory_type(self) -> MemoryType:
        """Episodic (what happened), semantic (what is so) or procedural (how it is done)."""
        if self in (Kind.EPISODE, Kind.ERROR, Kind.QUESTION, Kind.CHITCHAT):
            return MemoryType.EPISODIC
        if self in (Kind.PROCEDURE, Kind.CODE):
            return MemoryType.PROCEDURAL
        return MemoryType.SEMANTIC


class Layer(StrEnum):
    """Where a note lives in memory; strength moves it."""

    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"


class Status(StrEnum):
    """Whether a note speaks for the present. Nothing is destroyed but by ``purge``."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    DELETED = "deleted"


class Enrichment(StrEnum):
    """How far analysis of a note has come."""

    PENDING = "pending"
    DONE = "done"
    DEGRADED = "degraded"


class LinkType(StrEnum):
    """What one note is to another; read as "source <type> target"."""

    RELATED = "related"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    CAUSED_BY = "caused_by"
    DERIVED_FROM = "derived_from"
    PART_OF = "part_of"


@dataclass(frozen=True, slots=True)
class Link:
    """A directed, typed link between two notes, with its reason and its maker.

    `weight` is what use says of it, a factor on its confidence: above 1 where both ends are recalled often.
    """

    source: str
    target: str
    type: LinkType
    reason: str
    confidence: float
    made_by: str
    at: datetime
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Source:
    """Immutable raw input that a note came from: a chat message, a file, an import line.

    `conversation` and `ref` locate it where it came from (for a LoCoMo turn its ``sample_id`` and ``dia_id``).
    """

    id: str
    kind: str
    conversation: str | None
    ref: str | None
    speaker: str | None
    at: datetime | None
    text: str
    ordinal: int | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """What a note states, as subject, predicate and object: ("Ana", "lives_in", "Lisbon").

    With `holds` False the note says that it is not so, or no longer ("Ana left Lisbon"). `valid_from` is since when
    (of one that does not hold: since when it does not), `valid_to` until when; None leaves both to the note's own
    times. A fact that does not hold may leave its `object` empty: then it ends whatever was so ("Ana quit her job").
    """

    subject: str
    predicate: str
    object: str
    holds: bool = True
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Overturned:
    """A statement of a note that no longer holds, though the note does.

    `text` is the statement in the note's own words, `until` when it ended, in the collection's time zone, so that its
    day reads as people there count days. `by` is the id of the note that says what came after and `then` its words,
    shortened; both are '' for a statement that was taken back. `reason` says why, `confidence` (0..1) how surely.
    """

    text: str
    until: datetime
    by: str = ""
    then: str = ""
    reason: str = ""
    confidence: float = 1.0


@dataclass(slots=True)
class MemoryNote:
    """One atomic idea with what analysis gave it. Nothing is saved until ``update()``.

    The first block keeps A-Mem's names and meanings; the rest is amem's own. `timestamp` reads back as it was given;
    `at` is the same instant in UTC. `overturned` are its statements that no longer hold, `doubts` say why it may be out
    of date. `importance` and `trust` lie in 0..1, `stability` is in days.
    """

    content: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    keywords: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    retrieval_count: int = 0
    timestamp: str = ""
    last_accessed: str = ""
    context: str = ""
    evolution_history: list[dict[str, Any]] = field(default_factory=list)
    category: str = "Uncategorized"
    tags: list[str] = field(default_factory=list)

    kind: Kind = Kind.FACT
    layer: Layer = Layer.SHORT_TERM
    status: Status = Status.ACTIVE
    importance: float = 0.5
    trust: float = 0.5
    stability: float = 90.0
    pinned: bool = False
    entities: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    superseded_by: str | None = None
    overturned: list[Overturned] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    recorded_at: datetime | None = None
    conversation_id: str | None = None
    ordinal: int | None = None
    speaker: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    enrichment: Enrichment = Enrichment.PENDING
    analyst: str = ""
    version: int = 0


def is_persons_word(actor: str) -> bool:
    """True for ``user`` and ``user:<name>``: what they edit, machines may only propose to change."""
    return actor.split(":")[0] == "user"


# One message of a conversation, as it is remembered, and as a chat model is asked.


class Role(StrEnum):
    """Who a message is from."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said. `speaker` is a name beside the role; `at` and `id` are known of messages that came from
    somewhere, and not needed to ask a model."""

    role: Role
    content: str
    at: datetime | None = None
    speaker: str | None = None
    id: str | None = None


# What a judge says of two notes, and what came of it: frozen values, in receipts and in answers alike.


class Label(StrEnum):
    """What the note that was true later is to the one that was true earlier."""

    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    SUPPORTS = "supports"
    RELATED = "related"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's word on two notes.

    With ``supersedes`` the `earlier` note was true and no longer is. `whole` is False where that concerns only a part
    of what it says: then `quotes` are the statements that ended, in the note's own words, and the rest of it stands;
    without any the judge could not say which. `judge` is slot, nli, model or heuristic; `confidence` lies in 0..1;
    `reason` says it in words, in the language of the later note.
    """

    label: Label
    confidence: float = 1.0
    reason: str = ""
    judge: str = ""
    whole: bool = True
    quotes: tuple[str, ...] = ()


NO_CONFLICT = Verdict(Label.NONE)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two notes of the collection that a judge has something to say of; `earlier` and `later` are ids.

    In a dry run one of them is '' and stands for the text that was tried. `hides` tells that the earlier note would
    be, or was, superseded, `ends` which of its statements would be, or were, marked as overturned while it stands.
    Where neither is so, `waits` says why not (partly out of date, not sure enough, a person's word against it), or is
    '' for a label that ends nothing.
    """

    earlier: str
    later: str
    verdict: Verdict
    cosine: float
    hides: bool = False
    waits: str = ""
    ends: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The conflict as JSON-ready values."""
        return {
            "earlier": self.earlier,
            "later": self.later,
            "label": str(self.verdict.label),
            "confidence": round(self.verdict.confidence, 4),
            "reason": self.verdict.reason,
            "judge": self.verdict.judge,
            "whole": self.verdict.whole,
            "cosine": self.cosine,
            "hides": self.hides,
            "waits": self.waits,
            "ends": list(self.ends),
        }


# Values as JSON has them.

_ALREADY_PLAIN = frozenset({str, float, int, bool, type(None)})


def as_plain(value: Any) -> Any:
    """JSON-ready: a dataclass by its `to_dict`, else its fields; lists, times as ISO 8601, enums as text."""
    if type(value) in _ALREADY_PLAIN:
        return value
    if is_dataclass(value):
        return value.to_dict() if hasattr(value, "to_dict") else plain_fields(value)
    if isinstance(value, tuple | list):
        return [as_plain(each) for each in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Enum) else value


def plain_fields(value: Any, *without: str) -> dict[str, Any]:
    """The fields of a dataclass by name, each as `as_plain` has it, but for those `without`."""
    return {name: as_plain(getattr(value, name)) for name in value.__dataclass_fields__ if name not in without}


class Plain:
    """A dataclass that is JSON-ready field by field."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: each field under its name."""
        return plain_fields(self)


class Summed:
    """A dataclass that is added up field by field: numbers and tuples are joined, of words the first stay."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __add__(self, other: Self) -> Self:
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__)
        return type(self)(*(one or two if isinstance(one, bool | str) else one + two for one, two in pairs))


# What a write did, said back to whoever asked for it.


@dataclass(frozen=True, slots=True)
class Evolved:
    """A neighbour that took the new note into account: which `fields` changed, to which version, and why."""

    id: str
    version: int
    fields: tuple[str, ...]
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Queued:
    """A proposed rewrite that waits for a person: review id, note id and why it was not applied at once."""

    review: str
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What work cost: model calls, tokens in and out (0 offline), texts embedded, wall-clock seconds.

    `rungs` counts which rung of the ladder gave each answer: ``constrained``, ``repaired``, ``retried``, ``sections``,
    or ``offline`` where the rules stood in for the model; empty when no model was asked.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    embedded: int = 0
    seconds: float = 0.0
    rungs: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Cost) -> Cost:
        return self._with(other, add)

    def __sub__(self, before: Cost) -> Cost:
        """What was spent since it was that much `before`."""
        return self._with(before, sub)

    def _with(self, other: Cost, reckon: Callable[[Any, Any], Any]) -> Cost:
        names = ("calls", "tokens_in", "tokens_out", "embedded", "seconds")
        numbers = {name: reckon(getattr(self, name), getattr(other, name)) for name in names}
        return Cost(**numbers, rungs=dict(reckon(Counter(self.rungs), Counter(other.rungs))))

    def to_dict(self) -> dict[str, Any]:
        """The cost as JSON-ready values."""
        return plain_fields(self) | {"seconds": round(self.seconds, 4), "rungs": dict(self.rungs)}


@dataclass(frozen=True, slots=True)
class Receipt:
    """What ``add`` did. `status` is ``stored`` or ``duplicate`` (then `id` is the note that was there already).

    `enrichment` is ``done``, ``pending`` or ``degraded``; when degraded, `error` says what failed. `dropped` lists in
    words what an analyst answered and amem refused.

    `superseded` are ids of notes that no longer hold because of this one; `superseded_by` is set where the note was
    overturned before it came, by what was true after it. `conflicts` says why, also of what stays in doubt. `astray`
    are ids of notes in these that a clock in the future dated: they count as told right after the note before
    them, and overturn nothing by their date.
    """

    id: str
    status: str
    enrichment: Enrichment
    analyst: str
    operation: int | None = None
    links: tuple[Link, ...] = ()
    evolved: tuple[Evolved, ...] = ()
    queued: tuple[Queued, ...] = ()
    superseded: tuple[str, ...] = ()
    superseded_by: str | None = None
    conflicts: tuple[Conflict, ...] = ()
    astray: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    error: str | None = None
    cost: Cost = field(default_factory=Cost)

    @property
    def stored(self) -> bool:
        """True when a new note was made."""
        return self.status == "stored"

    def to_dict(self) -> dict[str, Any]:
        """The receipt as JSON-ready values (times as ISO 8601)."""
        return {
            **plain_fields(self),
            # What use says of a link, it says later.
            "links": [plain_fields(link, "weight") for link in self.links],
        }
