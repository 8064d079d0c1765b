"""What an analyst is shown and what it may answer: frozen values, the same for the offline rules and for a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.note import Fact, Kind, LinkType, Message

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Draft:
    """A note on its way in, as an analyst sees it.

    `at` is when it was said or happened; `previous` holds up to three earlier turns of the same conversation, oldest
    first, each as "speaker: text" or plain text.
    """

    content: str
    at: datetime | None = None
    speaker: str | None = None
    previous: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """A-Mem's Ps1: what analysis adds to a note. `importance` lies in 0..1; `context` is one sentence.

    `prompt` names the prompt that a model answered, with its version (``analyze 2``); '' of rules. `unusable` holds
    (field, reason) for each field of a model's answer that the rules have to fill in, and `calls` says how many calls
    the answer took.
    """

    keywords: tuple[str, ...] = ()
    context: str = ""
    tags: tuple[str, ...] = ()
    kind: Kind = Kind.FACT
    importance: float = 0.5
    entities: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    prompt: str = ""
    unusable: tuple[tuple[str, str], ...] = ()
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An existing note shown to the analyst under a short handle (``n1``, ``n2``, ...), never under its id."""

    handle: str
    content: str
    context: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    kind: Kind
    at: datetime | None
    similarity: float
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class ProposedLink:
    """From the new note to the neighbour called `handle`; `confidence` in 0..1.

    `quote` holds words of the neighbour that the link rests on: of a verdict the statement that no longer holds. It is
    '' or an exact part of the neighbour's content.
    """

    handle: str
    type: LinkType
    reason: str
    confidence: float
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A new context and/or new tags for the neighbour called `handle`; None leaves a field as it is.

    `quote` is as in `ProposedLink`.
    """

    handle: str
    context: str | None
    tags: tuple[str, ...] | None
    reason: str
    confidence: float
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Evolution:
    """A-Mem's Ps2 and Ps3 in one answer: links and tags for the new note, rewrites for its neighbours.

    `tags` None leaves the new note's tags as analysis made them. `dropped` says in words what of a raw answer had to
    be refused before it could become this value.
    """

    links: tuple[ProposedLink, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    tags: tuple[str, ...] | None = None
    dropped: tuple[str, ...] = field(default=())
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Described:
    """One of several notes analysed together: `analysis` is None where the answer left the note out."""

    analysis: Analysis | None
    evolution: Evolution


@dataclass(frozen=True, slots=True)
class KnownProcedure:
    """A procedure that is remembered already, shown to the extractor under a handle (``p1``, ``p2``, ...)."""

    handle: str
    name: str
    trigger: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of conversation to learn from: `said` is new, `earlier` gives context and is not learnt from again.

    The messages of `said` are shown under the handles ``m1``, ``m2``, ... in their order, `procedures` under theirs.
    `rules` says in words what is always and what is never to be remembered.
    """

    said: tuple[Message, ...]
    earlier: tuple[Message, ...] = ()
    procedures: tuple[KnownProcedure, ...] = ()
    rules: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that was said and is worth a note: `text` stands alone; `handles` are the messages that say it."""

    text: str
    kind: Kind
    handles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Procedure:
    """How something is done. `updates` is the handle of the known procedure it is a newer form of."""

    name: str
    trigger: str
    steps: tuple[str, ...]
    handles: tuple[str, ...]
    updates: str | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a passage teaches. `summary` is one or two sentences on the whole; `dropped` as in `Evolution`."""

    summary: str = ""
    statements: tuple[Statement, ...] = ()
    procedures: tuple[Procedure, ...] = ()
    dropped: tuple[str, ...] = ()
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes to compare, under a handle of their own (``c1``, ``c2``, ...)."""

    handle: str
    older: str
    newer: str
    older_at: datetime | None = None
    newer_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """What the newer note of a pair is to the older: a ``Label``; `confidence` in 0..1.

    `quote` is the part of the older note that the verdict rests on, as it stands there.
    """

    handle: str
    verdict: str
    confidence: float
    reason: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """At most one verdict a pair; a pair the model said nothing about has none. `dropped` and `prompt` as elsewhere."""

    verdicts: tuple[PairVerdict, ...] = ()
    dropped: tuple[str, ...] = ()
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class PageNote:
    """A note that a page may cite, under a handle: `new` to it, on it already, or `gone`, that is no longer so."""

    handle: str
    text: str
    at: datetime | None = None
    new: bool = True
    gone: bool = False


@dataclass(frozen=True, slots=True)
class PageDraft:
    """What a model made of it: `statements` are (text, handles), `gone` the handles of what no longer holds.

    `title` and `summary` are '' where they were of no use; `dropped` and `prompt` as elsewhere.
    """

    title: str
    summary: str
    statements: tuple[tuple[str, tuple[str, ...]], ...] = ()
    gone: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class MergeDraft:
    """What a model makes of notes that may say the same: whether they do, and the one note (`text`) for all of them.

    `text` is '' where they do not; `confidence` is in 0..1; `prompt` as elsewhere.
    """

    same: bool
    text: str
    reason: str
    confidence: float
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class PlannedLink:
    """A link from the new note to `target` that passed the guards; `quote` is an exact part of the target, or ''."""

    target: str
    type: LinkType
    reason: str
    confidence: float
    quote: str = ""


@dataclass(frozen=True, slots=True)
class PlannedRewrite:
    """New values for fields of neighbour `id`, based on its `version`.

    `why_wait` is empty when the rewrite may be applied at once, else why it waits for a person.
    """

    id: str
    version: int
    changes: Mapping[str, str | list[str]]
    reason: str
    confidence: float
    why_wait: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done, and in words what was refused."""

    links: tuple[PlannedLink, ...] = ()
    rewrites: tuple[PlannedRewrite, ...] = ()
    tags: tuple[str, ...] | None = None
    dropped: tuple[str, ...] = ()
