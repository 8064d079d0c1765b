"""How often the notes of a collection evolved, and what the last consolidation had seen, whatever process it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from amem.storage import tables

if TYPE_CHECKING:
    from amem.storage.session import Session

_META = tables.meta
_TOTAL, _AT, _SEQ = "evolutions", "consolidated evolutions", "consolidated seq"


@dataclass(frozen=True, slots=True)
class Evolved:
    """`total` evolutions so far, `at` of them at the last consolidation; `seq` is the change counter that had seen."""

    total: int = 0
    at: int = 0
    seq: int = 0


class Evolutions:
    """The count of one transaction."""

    def __init__(self, session: Session) -> None:
        self._run = session.connection.execute

    def read(self) -> Evolved:
        """What is kept."""
        found = dict(self._run(select(_META.c.key, _META.c.value).where(_META.c.key.in_((_TOTAL, _AT, _SEQ)))).all())
        return Evolved(*(int(found.get(key, 0)) for key in (_TOTAL, _AT, _SEQ)))

    def add(self, number: int) -> Evolved:
        """Count so many more; what there is then."""
        self._put(_TOTAL, self.read().total + number)
        return self.read()

    def consolidated(self, seq: int) -> None:
        """A consolidation has seen the collection up to this value of the change counter."""
        self._put(_AT, self.read().total)
        self._put(_SEQ, seq)

    def _put(self, key: str, value: int) -> None:
        self._run(_META.delete().where(_META.c.key == key))
        self._run(_META.insert().values(key=key, value=str(value)))
