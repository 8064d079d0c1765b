"""A note as somebody opens it: what lies around it, and which notes its text speaks of. Looking counts as no use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.storage.graph_queries import Surroundings, named, surroundings
from amem.system.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Sequence


class Opening(Wiring):
    """Tells what there is to follow from a note before any of it is read."""

    def surroundings(self, id: str) -> Surroundings:
        """How many links lead from a note and to it, how many sources it has, and who wrote it. Raises NoteNotFound."""
        with self._store.read() as session:
            return surroundings(session, id)

    def named(self, names: Sequence[str], inside: str | None = None) -> dict[str, str]:
        """The id of the note that each name means, as ``[[name]]`` has it; names that mean none are left out.

        A name is a title (that of the file a note came from, or a note's first line), an id or the beginning of one.
        `inside` is the id of the note whose text names them: what an import made of its links comes first.
        """
        with self._store.read() as session:
            return named(session, names, inside)
