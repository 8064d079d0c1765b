"""What an import still owes once its notes are stored: links between them, and their old standing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.storage.rows import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.interop.items import Standing
    from amem.note import Link
    from amem.storage import Store


@dataclass(frozen=True, slots=True)
class Debts:
    """Links to make, and by note id the status to give back.

    `parent` is the operation that stored the notes, so that taking it back takes this back too.
    """

    links: Sequence[Link] = ()
    standing: Mapping[str, Standing] = field(default_factory=dict)
    parent: int | None = None

    def __bool__(self) -> bool:
        return bool(self.links or self.standing)


def settle(store: Store, debts: Debts, *, actor: str, cause: str = "") -> int:
    """Pay them in one transaction, as one operation; returns how many links were new."""
    with store.write() as session:
        fresh = [link for link in debts.links if session.links.get(link.source, link.target, link.type) is None]
        if not (fresh or debts.standing):
            return 0
        operation = session.begin("import", actor, cause, parent=debts.parent)
        for id, standing in debts.standing.items():
            changes = {"status": str(standing.status), "superseded_by": standing.superseded_by}
            told = plain("overturned", standing.overturned)
            session.notes.change(id, changes | {"overturned": told}, operation)
        return sum(session.links.put(link, operation) for link in fresh)
