"""Which existing notes a new one is held against: the nearest in meaning, and those that share a rare word or name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from amem.analysis import Neighbour
from amem.note import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from amem.note import MemoryNote
    from amem.storage import Session

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


def sharing(
    session: Session, dense: Nearest, note: MemoryNote, vector: NDArray[np.float32], *, exclude: set[int]
) -> list[Candidate]:
    """Active notes that share a rare entity or keyword with `note`, the most similar first."""
    keys: dict[int, None] = {}
    for role, values in (("entity", note.entities), ("keyword", note.keywords)):
        counts = session.text.counts(role, values)
        rare = [value for value, n in counts.items() if n <= _RARE]
        keys |= {key: None for key, _ in session.text.holding(role, rare, _RARE) if key not in exclude}
    if not keys:
        return []
    wanted = np.fromiter(keys, dtype=np.int64)
    found = zip(wanted, dense.cosines(vector, wanted), strict=True)
    known = [Candidate(int(key), float(cosine)) for key, cosine in found if not np.isnan(cosine)]
    return sorted(known, key=lambda each: (-each.cosine, each.key))[:_SHARING]


def shown(
    session: Session, candidates: Sequence[Candidate], of: MemoryNote
) -> tuple[list[Neighbour], dict[str, MemoryNote]]:
    """The candidates as the analyst sees them, and which note each handle stands for. Only active notes are shown."""
    ids = session.notes.ids_of([each.key for each in candidates])
    notes = session.notes.get_many(list(ids.values()), history=False)
    neighbours: list[Neighbour] = []
    by_handle: dict[str, MemoryNote] = {}
    for each in candidates:
        note = notes.get(ids.get(each.key, ""))
        if note is None or note.id == of.id or note.status is not Status.ACTIVE:
            continue
        handle = f"n{len(neighbours) + 1}"
        by_handle[handle] = note
        same = of.conversation_id is not None and note.conversation_id == of.conversation_id
        neighbours.append(
            Neighbour(
                handle=handle,
                content=note.content,
                context=note.context,
                keywords=tuple(note.keywords),
                tags=tuple(note.tags),
                entities=tuple(note.entities),
                kind=note.kind,
                at=note.at,
                similarity=each.cosine,
                speaker=note.speaker,
                same_conversation=same,
            )
        )
    return neighbours, by_handle
