"""What an analyst is shown and what it may answer: frozen values, the same for the offline rules and for a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.note import Kind, LinkType

if TYPE_CHECKING:
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
    """A-Mem's Ps1: what analysis adds to a note. `importance` lies in 0..1; `context` is one sentence."""

    keywords: tuple[str, ...] = ()
    context: str = ""
    tags: tuple[str, ...] = ()
    kind: Kind = Kind.FACT
    importance: float = 0.5
    entities: tuple[str, ...] = ()


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
    same_conversation: bool = False


@dataclass(frozen=True, slots=True)
class ProposedLink:
    """From the new note to the neighbour called `handle`; `confidence` in 0..1."""

    handle: str
    type: LinkType
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A new context and/or new tags for the neighbour called `handle`; None leaves a field as it is."""

    handle: str
    context: str | None
    tags: tuple[str, ...] | None
    reason: str
    confidence: float


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
