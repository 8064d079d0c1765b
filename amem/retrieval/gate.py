"""Which notes may answer a question, and what ranking needs to know of their rows."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from amem.note import Kind, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from amem.query import Filter
    from amem.storage import Session


@dataclass(frozen=True, slots=True)
class Row:
    """What ranking needs to know of a candidate's row."""

    id: str
    at: str
    kind: str
    speaker: str | None


class Gate:
    """Lets the notes through that may answer, and remembers their rows.

    `allowed` is None when every active note may; else the keys that pass the filter, ascending. The `pages` of topics,
    which repeat what other notes say, answer only where one was asked for: by an overview, or by kind.
    """

    def __init__(self, session: Session, wanted: Filter, *, pages: bool = False) -> None:
        self._session = session
        self._pages = pages or Kind.TOPIC in wanted.kinds
        #: The filter without its bound on the cosine, which only the dense leg can tell.
        self.wanted = replace(wanted, minimum_cosine=None)
        self.allowed: NDArray[np.int64] | None = None
        self._allowed: frozenset[int] | None = None
        self._only: frozenset[int] | None = None
        if not self.wanted.is_default:
            keys = session.notes.keys(self.wanted)
            self.allowed = np.array(keys, dtype=np.int64)
            self._allowed = frozenset(keys)
        self.rows: dict[int, Row] = {}
        self.keys: dict[str, int] = {}

    def admit(self, keys: Iterable[int]) -> list[int]:
        """Those of `keys` that may answer, in their order."""
        asked = list(keys)
        unknown = [key for key in asked if key not in self.rows]
        columns = self._session.notes.columns(unknown, ["id", "status", "at", "kind", "speaker"]) if unknown else {}
        for key, (id, status, at, kind, speaker) in columns.items():
            if kind == Kind.TOPIC and not self._pages:
                continue
            passes = status == Status.ACTIVE if self._allowed is None else key in self._allowed
            if passes and (self._only is None or key in self._only):
                self.rows[key] = Row(id, at, kind, speaker)
                self.keys[id] = key
        return [key for key in asked if key in self.rows]

    def among(self, keys: Sequence[int]) -> Gate:
        """The same gate for these notes alone."""
        narrow = copy(self)
        narrow.rows, narrow.keys = {}, {}
        narrow._only = frozenset(keys)
        some = np.array(sorted(narrow._only), dtype=np.int64)
        narrow.allowed = some if self.allowed is None else np.intersect1d(self.allowed, some)
        return narrow

    def admit_ids(self, ids: Iterable[str]) -> set[str]:
        """Those of `ids` that may answer."""
        asked = list(ids)
        unknown = [id for id in asked if id not in self.keys]
        self.admit(self._session.notes.keys_of(unknown).values())
        return {id for id in asked if id in self.keys}
