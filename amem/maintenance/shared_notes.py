"""Notes that two collections have alike, proposed for a catalog that both read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from amem.maintenance.sameness import difference, may_merge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.collection import Collection
    from amem.note import MemoryNote

#: Who proposes; a proposal is a review of this field of a note, to be set to the name of the catalog.
MADE_BY, FIELD = "maintenance", "publish"
#: Nearest notes of the other collection that a note is held against.
_NEAREST = 3


def same_notes(own: Collection, other: Collection, ids: Sequence[str] | None = None) -> dict[str, float]:
    """The ids of the own notes (all, or these) that say what an active note of the other collection says, with cosine.

    The same is what maintenance would merge within one collection, however long lies between them.
    """
    with own.store.read() as session:
        held = session.notes.get_many(session.notes.ids() if ids is None else list(ids), history=False, usage=False)
        notes = {id: note for id, note in held.items() if may_merge(note, {})}
        keys = session.notes.keys_of(list(notes))
    own.dense.refresh()
    other.dense.refresh()
    places = np.array([keys[id] for id in notes], dtype=np.int64)
    matrix = own.dense.vectors(places)
    rows = [row for row in range(len(places)) if not np.isnan(matrix[row]).any()]
    near = dict(zip(rows, other.dense.search_many(matrix[rows], _NEAREST), strict=True)) if rows else {}
    found: dict[str, float] = {}
    with other.store.read() as session:
        for row, note in enumerate(notes.values()):
            nearest, cosines = near.get(row, ((), ()))
            likely = {int(key): float(cosine) for key, cosine in zip(nearest, cosines, strict=True)}
            likely = {key: cosine for key, cosine in likely.items() if cosine >= own.settings.merge_cosine}
            names = session.notes.ids_of(list(likely))
            theirs = session.notes.get_many(list(names.values()), history=False, usage=False)
            for key, id in names.items():
                if id in theirs and _same(note, theirs[id]):
                    found[note.id] = max(found.get(note.id, -1.0), likely[key])
    return found


def propose(own: Collection, shared: dict[str, float], catalog: str, whose: str) -> list[int]:
    """Put notes that another agent noted, too, into the review queue as proposals for the catalog; the new reviews.

    None for a note of which that was proposed before, whatever became of it, or for which another proposal is open.
    """
    made: list[int] = []
    with own.store.write() as session:
        known = {item.note for item in session.reviews.open()} | session.reviews.proposed(MADE_BY, FIELD, catalog)
        fresh = [id for id in shared if id not in known]
        if not fresh:
            return made
        operation = session.begin("propose", "amem", f"noted by {whose}, too")
        for note in session.notes.get_many(fresh, history=False).values():
            made.append(
                session.reviews.propose(
                    note.id,
                    {FIELD: (None, catalog)},
                    operation=operation,
                    base_version=note.version,
                    reason=f"{whose} noted the same",
                    confidence=shared[note.id],
                    made_by=MADE_BY,
                    days=own.settings.review_days,
                )
            )
    return made


def _same(one: MemoryNote, other: MemoryNote) -> bool:
    return may_merge(other, {}) and not difference(one, other, math.inf)
