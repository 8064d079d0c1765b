"""Stored notes weighed again, by their ids: against what came or changed since they were weighed last."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from amem.note import Scope, Status
from amem.writing.conflict.candidates import as_rival
from amem.writing.conflict.settling import Settled, begins
from amem.writing.neighbours import Candidate, unknown_cosines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from amem.note import MemoryNote
    from amem.settings import Settings
    from amem.storage import Session
    from amem.writing.conflict.candidates import Rival
    from amem.writing.conflict.settling import Begin, Settler
    from amem.writing.conflict.weighing import Weighed
    from amem.writing.neighbours import Nearest


class Reweigher:
    """Weighs active notes that are stored already. Call `refresh` outside any transaction before."""

    def __init__(self, dense: Nearest, settler: Settler, settings: Settings) -> None:
        self._dense = dense
        self._settler = settler
        self._settings = settings

    def refresh(self) -> None:
        """Let the nearest be those of now."""
        self._dense.refresh()

    def settle(
        self, session: Session, ids: Sequence[str], *, parent: int | None, newer_than: int | None = None
    ) -> list[Settled]:
        """Weigh each of these that is active and carry out what comes of it, below the operation `parent`.

        With `newer_than` only against notes that arrived after that key.
        """
        done = []
        for note, weighed in self.weigh(session, ids, newer_than=newer_than):
            done.append(self.carry_out(session, note, weighed, begins(session, note, parent)))
        return done

    def weigh(
        self, session: Session, ids: Sequence[str], *, newer_than: int | None = None
    ) -> Iterator[tuple[MemoryNote, list[Weighed]]]:
        """Each of these notes that is active with the pairs that it is in conflict in, if there are any.

        One after the other, so that what is carried out of one counts for the next.
        """
        vectors = self._vectors(session, ids)
        for id, key in session.notes.keys_of(ids).items():
            note, owned = session.notes.bare([key])[key]
            if note.status is not Status.ACTIVE:
                continue
            own, rivals = as_rival(session, key, note, owned), self._rivals(session, note, vectors.get(id))
            if newer_than is not None:
                rivals = [each for each in rivals if each.claim.order > newer_than]
            weighed = self._settler.weigher.weigh(session, own, rivals) if rivals else []
            if weighed:
                yield note, weighed

    def carry_out(self, session: Session, note: MemoryNote, weighed: Sequence[Weighed], begin: Begin) -> Settled:
        """Do what the verdicts ask for."""
        return self._settler.carry_out(session, note, weighed, begin)

    def _rivals(self, session: Session, note: MemoryNote, vector: NDArray[np.float32] | None) -> list[Rival]:
        if vector is None:
            return self._settler.rivals(session, note, [], unknown_cosines)
        # One more than wanted, since the note is its own nearest.
        wanted, meeting = self._settings.conflict_neighbours + 1, session.notes.met_by(Scope.of(note.metadata))
        keys, cosines = self._dense.search_many(vector[np.newaxis], wanted, allowed=meeting)[0]
        near = [Candidate(int(key), float(cosine)) for key, cosine in zip(keys, cosines, strict=True)]
        return self._settler.rivals(session, note, near, cosines_to(self._dense, vector))

    def _vectors(self, session: Session, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Each note's vector as it is stored: the index may not have heard yet of a note that has just come back."""
        space = session.vectors.space()
        if space is None:
            return {}
        keys = session.notes.keys_of(ids)
        hashes = session.notes.columns(list(keys.values()), ("text_hash",))
        held = session.vectors.known(space, [hashed for (hashed,) in hashes.values() if hashed is not None])
        wanted = {id: hashes[key][0] for id, key in keys.items()}
        return {id: held[hashed] for id, hashed in wanted.items() if hashed in held}


def cosines_to(dense: Nearest, vector: NDArray[np.float32]) -> Callable[[Sequence[int]], Sequence[float]]:
    """How alike notes are to one of this vector; nan for those the index does not know."""
    return partial(_cosines, dense, vector)


def _cosines(dense: Nearest, vector: NDArray[np.float32], keys: Sequence[int]) -> list[float]:
    return [float(cosine) for cosine in dense.cosines(vector, np.array(keys, dtype=np.int64))]
