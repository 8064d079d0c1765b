"""Candidate pairs for merging: notes of one speaker, kind and names, near in time, with near vectors."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from amem.maintenance.sameness import group_of
from amem.note import Status
from amem.storage.rows import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from amem.index import DenseLeg
    from amem.storage.store import Session

#: Nearest notes that one is held against: in Chinese many unlike notes are near.
_NEAREST = 16
#: A second of a day, for times that are rounded.
_SECOND = 1 / 86_400
#: The times between which notes lie that are near enough to those asked for, as text; of a damaged row there is none.
_SPAN = (
    "SELECT coalesce(strftime('%Y-%m-%dT%H:%M:%S', min(julianday(at)) - :days), ''),"
    " coalesce(strftime('%Y-%m-%dT%H:%M:%S', max(julianday(at)) + :days), '~')"
    " FROM notes WHERE key IN :asked"
)
_ROWS = "SELECT key, status, speaker, metadata, kind, valid_to, entities, julianday(at) FROM notes WHERE"
_THERE = f"{_ROWS} status = 'active' AND at BETWEEN :first AND :last"
_CHANGED = f"{_ROWS} seq > :after"


class Candidates:
    """Pairs of notes that may be merged, as far as the columns of their rows and their vectors tell.

    Notes are gathered by what two must have in common to be merged (`sameness.group_of`), in order of time, and only
    those of one group that are at most `days` apart have their vectors compared: comparing all with all takes minutes
    from 100,000 on. `asked` are the keys, ascending, whose pairs will be asked for page by page: two of them are
    compared once, for the page of the first.
    """

    def __init__(self, dense: DenseLeg, asked: Sequence[int], *, cosine: float, days: float) -> None:
        self._dense, self._cosine, self._days = dense, cosine, days
        self._asked = np.array(asked, dtype=np.int64)
        self._seen = 0
        self._group: dict[int, Hashable] = {}
        self._members: defaultdict[Hashable, dict[int, float]] = defaultdict(dict)
        self._ordered: dict[Hashable, tuple[NDArray[np.float64], NDArray[np.int64]]] = {}
        self._known: dict[tuple[str | None, ...], Hashable] = {}

    def refresh(self, session: Session) -> None:
        """Take in what was written since; at first all that is near in time to what is asked."""
        if self._seen:
            rows = session.rows(_CHANGED, after=self._seen)
        else:
            span = {"days": self._days + 2 * _SECOND, "asked": self._asked.tolist()}
            ((first, last),) = session.rows(_SPAN, **span)
            rows = session.rows(_THERE, first=first, last=last)
        for key, status, *columns, at in rows:
            if key in self._group:
                left = self._group.pop(key)
                del self._members[left][key]
                self._ordered.pop(left, None)
            group = self._group_of(tuple(columns)) if status == Status.ACTIVE and at is not None else None
            if group is not None:
                self._group[key] = group
                self._members[group][key] = at
                self._ordered.pop(group, None)
        self._seen = session.counter

    def pairs(self, page: Sequence[int]) -> set[tuple[int, int]]:
        """Pairs of keys, the smaller first, that are near enough: of the page with any, of these with each other.

        Without those with a key of a page before.
        """
        found: set[tuple[int, int]] = set()
        for asked, others in self._parts(page):
            matrix = self._dense.vectors(asked)
            known = ~np.isnan(matrix).any(axis=1)
            asked = asked[known]
            near = self._dense.search_many(matrix[known], _NEAREST, allowed=others, least=self._cosine, without=asked)
            for key, (keys, _) in zip(asked.tolist(), near, strict=True):
                close = keys.tolist()
                found.update((min(key, other), max(key, other)) for other in close)
                rows = self._dense.vectors(np.array(close, dtype=np.int64)) if len(close) > 1 else ()
                for one, other in combinations(range(len(close)), 2):
                    if rows[one] @ rows[other] >= self._cosine:
                        found.add((min(close[one], close[other]), max(close[one], close[other])))
        return found

    def _parts(self, page: Sequence[int]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Keys of the page that are of one group, and those of the group that are near in time to one of them."""
        before = self._asked[: np.searchsorted(self._asked, min(page))]
        asked: defaultdict[Hashable, list[int]] = defaultdict(list)
        for key in page:
            if key in self._group:
                asked[self._group[key]].append(key)
        for group, keys in asked.items():
            members = self._members[group]
            if len(members) < 2:
                continue
            if group not in self._ordered:
                times = np.fromiter(members.values(), dtype=np.float64, count=len(members))
                order = np.argsort(times, kind="stable")
                self._ordered[group] = times[order], np.fromiter(members, dtype=np.int64, count=len(members))[order]
            times, ordered = self._ordered[group]
            for run in _runs(sorted((members[key], key) for key in keys), self._days):
                first = np.searchsorted(times, run[0][0] - self._days - _SECOND)
                last = np.searchsorted(times, run[-1][0] + self._days + _SECOND, side="right")
                if last - first > 1:
                    others = ordered[first:last]
                    yield np.array([key for _, key in run], dtype=np.int64), others[~np.isin(others, before)]

    def _group_of(self, columns: tuple[str | None, ...]) -> Hashable:
        if columns not in self._known:
            speaker, metadata, kind, valid_to, entities = columns
            try:
                self._known[columns] = group_of(
                    speaker, json.loads(metadata or ""), kind or "", valid_to, json.loads(entities or "")
                )
            except UNREADABLE:  # a damaged row, which is never merged; amem doctor names it
                self._known[columns] = None
        return self._known[columns]


def _runs(timed: Sequence[tuple[float, int]], days: float) -> Iterator[Sequence[tuple[float, int]]]:
    """These in order of time, cut where more than so many days have gone by."""
    start = 0
    for place, (at, _) in enumerate(timed):
        if at - timed[start][0] > days:
            yield timed[start:place]
            start = place
    yield timed[start:]
