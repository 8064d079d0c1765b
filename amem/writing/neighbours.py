"""Which existing notes a new one is held against: the nearest in meaning, and those that share a rare word or name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Protocol

from amem.analysis import Neighbour
from amem.clock import local_time
from amem.note import Kind, Status
from amem.rendering import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.note import MemoryNote
    from amem.storage import Session

#: How the reason begins of a link between notes that say almost the same.
NEAR_DUPLICATE = "near-duplicate"
#: A name or keyword that more notes than this carry says little about which of them belong together.
_RARE = 30
_SHARING = 3


class Nearest(Protocol):
    """The part of the dense leg that writing uses."""

    def refresh(self) -> None: ...

    def search_many(
        self, matrix: NDArray[np.float32], k: int
    ) -> Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]]: ...

    def cosines(self, vector: NDArray[np.float32], keys: NDArray[np.int64]) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """An existing note that may be a neighbour: integer key and cosine to the new note."""

    key: int
    cosine: float


def unknown_cosines(keys: Sequence[int]) -> list[float]:
    """How alike notes are to one that has no vector: nobody knows."""
    return [math.nan] * len(keys)


def sharing(
    session: Session, note: MemoryNote, cosines: Callable[[Sequence[int]], Sequence[float]], *, exclude: set[int]
) -> list[Candidate]:
    """Notes that share rare entities or keywords with `note`, those that share most first, whatever their meaning.

    Between two languages, or two ways to say a thing, a name in common is often all that connects two notes.
    """
    values = [*note.entities, *note.keywords]
    rare = session.text.sharing_rare(values, most=_RARE, limit=_SHARING + len(exclude))
    keys = [key for key in rare if key not in exclude][:_SHARING]
    if not keys:
        return []
    return [Candidate(key, cosine) for key, cosine in zip(keys, cosines(keys), strict=True) if not math.isnan(cosine)]


@dataclass(frozen=True, slots=True)
class Shown:
    """What an analyst sees of some candidates, which note each handle stands for, and the fields people own in them."""

    neighbours: list[Neighbour]
    notes: dict[str, MemoryNote]
    owned: dict[str, dict[str, str]]

    @property
    def cosines(self) -> dict[str, float]:
        """How alike each of the notes is, by id."""
        return {self.notes[each.handle].id: each.similarity for each in self.neighbours}

    def twin(self, near_duplicate: float) -> tuple[str, float] | None:
        """Id and cosine of the most similar note, if it is similar enough to be a near-duplicate."""
        nearest = max(self.neighbours, key=lambda each: each.similarity, default=None)
        if nearest is None or nearest.similarity < near_duplicate:
            return None
        return self.notes[nearest.handle].id, nearest.similarity


def show(session: Session, candidates: Sequence[Candidate], of: MemoryNote) -> Shown:
    """The candidates as an analyst may see them, each under a handle of its own.

    Only active notes are shown, and none that sums up an episode or a topic: it repeats what was said, so it is near to
    every note made of that, which is linked to it already.
    """
    found = session.notes.bare([each.key for each in candidates])
    shown = Shown([], {}, {})
    for each in candidates:
        note, owned = found.get(each.key, (None, {}))
        if note is None or note.id == of.id or note.status is not Status.ACTIVE:
            continue
        if "episode" in note.metadata or note.kind is Kind.TOPIC:
            continue
        handle = f"n{len(shown.neighbours) + 1}"
        shown.notes[handle] = note
        shown.owned[note.id] = owned
        shown.neighbours.append(_seen(handle, note, each.cosine, of))
    return shown


def _seen(handle: str, note: MemoryNote, cosine: float, of: MemoryNote) -> Neighbour:
    return Neighbour(
        handle=handle,
        content=text_of(note),
        context=note.context,
        keywords=tuple(note.keywords),
        tags=tuple(note.tags),
        entities=tuple(note.entities),
        kind=note.kind,
        at=local_time(note.timestamp, UTC),
        similarity=cosine,
        speaker=note.speaker,
        same_conversation=of.conversation_id is not None and note.conversation_id == of.conversation_id,
    )
