"""What the words of one question say of notes, with what neighbouring turns lend."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from amem.retrieval.explanation import Lent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.retrieval.legs import Asked, Floats, Keys

#: So many of the best bring their neighbours in as candidates.
_HOSTS = 40
#: Some of the best may be superseded or archived, so a few more are looked at.
_SPARE = 32


class Words:
    """The lexical leg's answer. The common scale is the share of the most that the question's words can give.

    `own` holds what each term (column) is worth in each note of `held` (row, keys ascending).
    """

    def __init__(self, asked: Asked, terms: Sequence[str], held: Keys, own: Floats, most: float, decay: float) -> None:
        self.terms = terms
        self._asked, self._most = asked, most
        self._held, self._own = held, own
        self._decay = decay
        self._known: dict[int, float] = {}

    @cached_property
    def keys(self) -> Sequence[int]:
        """The best by their own words, and turns beside them that have become as good."""
        limit, gate = self._asked.limit, self._asked.gate
        best = self._held[np.lexsort((self._held, -self._own.sum(axis=1)))]
        # A filter says who may answer, not who may lend words.
        hosts = best[:_HOSTS].tolist()
        own = self._first(best if gate.allowed is None else best[np.isin(best, gate.allowed)], limit)
        near = self._asked.talk.around(hosts, theirs=True).neighbours if self._decay else ()
        candidates = np.array(sorted({*own, *map(int, near)}), dtype=np.int64)
        worth = self.scores(candidates)[0]
        return self._first(candidates[np.argsort(-worth, kind="stable")][: np.count_nonzero(worth > 0)], limit)

    def ranks(self) -> Mapping[int, int]:
        return {key: place for place, key in enumerate(self.keys, start=1)}

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        fresh = np.array([key for key in keys.tolist() if key not in self._known], dtype=np.int64)
        if len(fresh):
            self._known |= zip(fresh.tolist(), self._windowed(fresh).sum(axis=1).tolist(), strict=True)
        raw = np.array([self._known[key] for key in keys.tolist()], dtype=np.float64)
        return raw, np.clip(raw / self._most, 0.0, 1.0)

    def matched(self, key: int) -> tuple[str, ...]:
        """The terms that the note itself holds."""
        return tuple(term for term, score in zip(self.terms, self._row(key).tolist(), strict=True) if score > 0)

    def lent(self, key: int) -> tuple[Lent, ...]:
        """The neighbours that lent the note words, and which; the nearest first."""
        around = self._asked.talk.around([key])
        if not len(around.keys):
            return ()
        own, offers = self._row(key), self._rows(around.neighbours) * around.worth(self._decay)[:, None]
        lenders: dict[int, list[str]] = {}
        for column in np.flatnonzero(offers.max(axis=0) > own).tolist():
            lenders.setdefault(int(offers[:, column].argmax()), []).append(self.terms[column])
        rows = sorted(lenders, key=lambda row: (abs(int(around.steps[row])), row))
        keys = [int(around.neighbours[row]) for row in rows]
        ids = self._ids(keys)
        return tuple(
            Lent(ids[key], int(around.steps[row]), tuple(lenders[row])) for row, key in zip(rows, keys, strict=True)
        )

    def _ids(self, keys: Sequence[int]) -> Mapping[int, str]:
        """The ids of these notes; those that are candidates themselves are known already."""
        rows = self._asked.gate.rows
        known = {key: rows[key].id for key in keys if key in rows}
        others = [key for key in keys if key not in known]
        if others:
            known |= {key: str(id) for key, (id,) in self._asked.session.notes.columns(others, ["id"]).items()}
        return known

    def _first(self, keys: Keys, limit: int) -> list[int]:
        """The first of these that may answer."""
        found: list[int] = []
        for start in range(0, len(keys), limit + _SPARE):
            found += self._asked.gate.admit(keys[start : start + limit + _SPARE].tolist())
            if len(found) >= limit:
                break
        return found[:limit]

    def _windowed(self, keys: Keys) -> Floats:
        """For each note and term the best of its own score and what its neighbours lend."""
        best = self._rows(keys)
        around = self._asked.talk.around(keys.tolist())
        around = around.where(np.isin(around.neighbours, self._held))
        if len(around.keys):
            order = np.argsort(keys)
            hosts = order[np.searchsorted(keys, around.keys, sorter=order)]
            np.maximum.at(best, hosts, self._rows(around.neighbours) * around.worth(self._decay)[:, None])
        return best

    def _row(self, key: int) -> Floats:
        row = int(np.searchsorted(self._held, key))
        found = row < len(self._held) and self._held[row] == key
        own: Floats = self._own[row] if found else np.zeros(len(self.terms))
        return own

    def _rows(self, keys: Keys) -> Floats:
        at = np.minimum(np.searchsorted(self._held, keys), len(self._held) - 1)
        rows: Floats = np.where((self._held[at] == keys)[:, None], self._own[at], 0.0)
        return rows
