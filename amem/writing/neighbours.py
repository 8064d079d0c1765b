"""Which existing notes a new one is held against: the nearest in meaning, and those that share a rare word or name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Protocol

from amem.analysis import Neighbour
from amem.clock import local_time
from amem.note import Kind, Scope, Status
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
#: Cosine below which a note is not shown, unless it shares a rare name. With MiniLM on the 41 English example notes two
#: notes taken at random have 0.11 in the median, and of the links that the rules make 1.6 % lie below 0.25; of the
#: eight nearest notes five reach it. Chinese, which that model cannot read, lies above it whatever it says (0.53).
FLOOR = 0.25
#: What a rare name in common counts as beside cosines: more than any note of another subject, less than a close one.
_SHARED_NAME = 0.45


class Nearest(Protocol):
    """The part of the dense leg that writing uses."""

    def refresh(self) -> None: ...

    def search_many(
        self, matrix: NDArray[np.float32], k: int, *, allowed: NDArray[np.int64] | None = None
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
    session: Session, names: Sequence[str], cosines: Callable[[Sequence[int]], Sequence[float]], own: int = -1
) -> list[Candidate]:
    """Notes of the session's scope that share rare ones of these names and keywords, those that share most first.

    They do so whatever their meaning. `own` is the key of the new note itself, where it is stored.

    Between two languages, or two ways to say a thing, a name in common is often all that connects two notes.
    """
    rare = session.text.sharing_rare(names, most=_RARE, limit=_SHARING + 1)
    keys = [key for key in rare if key != own][:_SHARING]
    if not keys:
        return []
    return [Candidate(key, cosine) for key, cosine in zip(keys, cosines(keys), strict=True) if not math.isnan(cosine)]


def best(nearest: Sequence[Candidate], sharing: Sequence[Candidate], most: int) -> list[Candidate]:
    """The candidates that are worth showing to an analyst, most relevant first, at most `most`; `nearest` is sorted.

    Those that share rare names always have a place, however many others are nearer.

    A-Mem filters twice: by nearness, then by what the model makes of it. Here the first filter is a floor, so that a
    small model is not asked about notes that merely are the nearest of a collection on other subjects.
    """
    named = {each.key: each for each in sharing[:most]}
    near = [each for each in nearest if each.cosine >= FLOOR and each.key not in named]
    chosen = [*near[: most - len(named)], *named.values()]
    # Stable, so that of equals the nearest, and those that share most, come first.
    return sorted(chosen, key=lambda each: -max(each.cosine, _SHARED_NAME if each.key in named else 0.0))


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

    Only active notes of the same scope are shown, and none that sums up an episode or a topic: it repeats what was
    said, so it is near to every note made of that, which is linked to it already.
    """
    found = session.notes.bare([each.key for each in candidates])
    shown, scope = Shown([], {}, {}), Scope.of(of.metadata)
    for each in candidates:
        note, owned = found.get(each.key, (None, {}))
        if note is None or note.id == of.id or note.status is not Status.ACTIVE:
            continue
        if Scope.of(note.metadata) != scope:
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
