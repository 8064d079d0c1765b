"""What a topic is to a reader, and what its note keeps about it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from amem.note import MemoryNote

#: Under this name a topic's note keeps its `Mark` in its metadata.
KEY = "topic"


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is listed: its note's `id`, its `name`, how many `notes` belong to it, when it was last changed."""

    id: str
    name: str
    summary: str
    notes: int
    updated: datetime
    declared: bool

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {
            "id": self.id,
            "name": self.name,
            "summary": self.summary,
            "notes": self.notes,
            "updated": self.updated.isoformat(),
            "declared": self.declared,
        }


@dataclass(frozen=True, slots=True)
class TopicPage:
    """A topic's page in Markdown, and its notes by id, those it cites included."""

    topic: Topic
    text: str
    notes: Mapping[str, MemoryNote]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready data."""
        cited = {id: note.content for id, note in self.notes.items()}
        return self.topic.to_dict() | {"page": self.text, "members": cited}


@dataclass(frozen=True, slots=True)
class TopicMap:
    """The largest topics, how many links and common notes hold two of them together (by their ids), and the rest.

    `more` are topics that are left out, `loose` active notes that belong to no topic at all.
    """

    topics: tuple[Topic, ...]
    ties: Mapping[tuple[str, str], int]
    more: int
    loose: int


@dataclass(frozen=True, slots=True)
class Mark:
    """What the note of a topic keeps in its metadata.

    `about` are the words of a declared topic besides its name; `seen` is what the page was made of (see `fingerprint`).
    """

    name: str
    declared: bool = False
    about: str = ""
    seen: str = ""

    def to_metadata(self) -> dict[str, Any]:
        """As it stands under `KEY`."""
        return {"name": self.name, "declared": self.declared, "about": self.about, "seen": self.seen}


def mark_of(note: MemoryNote) -> Mark | None:
    """The mark of a topic's note; None for one that is none of ours."""
    held = note.metadata.get(KEY)
    if not isinstance(held, dict):
        return None
    return Mark(
        name=str(held.get("name", "")),
        declared=bool(held.get("declared")),
        about=str(held.get("about", "")),
        seen=str(held.get("seen", "")),
    )


def fingerprint(parts: Iterable[str]) -> str:
    """The same for the same parts, in whatever order."""
    return blake2b("\n".join(sorted(parts)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
