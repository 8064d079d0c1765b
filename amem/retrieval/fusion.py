"""Many legs' answers as one relevance in 0..1, the sum of a share for each leg.

*Convex* (Bruch, Gai & Ingber, TOIS 2023): the weighted mean of the legs' scores, which each leg has brought to one
scale. It keeps how sure a leg is: a note found first by far counts more than one found first by a hair.
*Reciprocal ranks* (Cormack, Clarke & Büttcher, SIGIR 2009): ``sum of weight / (k + rank)`` over the legs that have the
note among their candidates, divided by what a note that is first in all of them would have.

A leg that abstains from a question lowers nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from amem.retrieval.legs import Answer, Floats, Keys


@dataclass(frozen=True, slots=True)
class Part:
    """What one leg gave to a note: its rank among the leg's candidates (None: not one of them), the leg's own score,
    that score on the common scale, the leg's weight among all, and the share of relevance, ``weight * scaled``.
    """

    rank: int | None
    raw: float
    scaled: float
    weight: float

    @property
    def share(self) -> float:
        return self.weight * self.scaled


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    weight: float
    ranks: Mapping[int, int]
    raw: Floats
    scaled: Floats


class Fused:
    """Relevance of many notes, column by column; `keys` ascend. `candidates` are those of them that any leg found."""

    def __init__(self, keys: Keys, columns: Sequence[_Column], candidates: Keys) -> None:
        self.keys = keys
        self._found = np.isin(keys, candidates)
        self._columns = columns
        self.relevance: Floats = np.zeros(len(keys))
        for column in columns:
            self.relevance += column.weight * column.scaled

    def order(self) -> Keys:
        """Every candidate, the most relevant first; equal ones newest key first."""
        best = np.lexsort((-self.keys, -np.round(self.relevance, 12)))
        ordered: Keys = self.keys[best[self._found[best]]]
        return ordered

    def of(self, key: int) -> float:
        """The relevance of one note; 0 when it is not among them."""
        row = self._row(key)
        return 0.0 if row is None else float(self.relevance[row])

    def has(self, key: int) -> bool:
        """Whether it is a candidate."""
        row = self._row(key)
        return row is not None and bool(self._found[row])

    def parts(self, key: int, *, silent: bool = False) -> dict[str, Part]:
        """What each leg that says anything for a candidate gave it; with `silent` what each thinks of any note."""
        row = self._row(key)
        if row is None or not (silent or self._found[row]):
            return {}
        return {
            each.name: Part(each.ranks.get(key), float(each.raw[row]), float(each.scaled[row]), each.weight)
            for each in self._columns
            if silent or each.scaled[row] > 0 or key in each.ranks
        }

    def raw(self, name: str) -> Floats | None:
        """A leg's own scores, in the order of the keys; None for a leg that abstained."""
        return next((each.raw for each in self._columns if each.name == name), None)

    def _row(self, key: int) -> int | None:
        row = int(np.searchsorted(self.keys, key))
        return row if row < len(self.keys) and self.keys[row] == key else None


class Fusion(Protocol):
    """One way to make one score of many."""

    name: str

    def fuse(
        self,
        answers: Mapping[str, Answer],
        weights: Mapping[str, float],
        also: Iterable[int] = (),
        joining: Collection[int] = (),
    ) -> Fused:
        """The relevance of every candidate of any leg, of those `joining` them, and of the notes `also` asked about."""
        ...


class Convex:
    """The weighted mean of the legs' scores."""

    name = "convex"

    def fuse(
        self,
        answers: Mapping[str, Answer],
        weights: Mapping[str, float],
        also: Iterable[int] = (),
        joining: Collection[int] = (),
    ) -> Fused:
        found = _candidates(answers.values(), joining)
        keys = np.union1d(found, np.array(list(also), dtype=np.int64))
        total = sum(weights[name] for name in answers) or 1.0
        columns = []
        for name, answer in answers.items():
            raw, scaled = answer.scores(keys)
            columns.append(_Column(name, weights[name] / total, answer.ranks(), raw, scaled))
        return Fused(keys, columns, found)


class ReciprocalRanks:
    """Reciprocal rank fusion."""

    name = "rrf"

    def __init__(self, k: float) -> None:
        self._k = k

    def fuse(
        self,
        answers: Mapping[str, Answer],
        weights: Mapping[str, float],
        also: Iterable[int] = (),
        joining: Collection[int] = (),
    ) -> Fused:
        found = _candidates(answers.values(), joining)
        keys = np.union1d(found, np.array(list(also), dtype=np.int64))
        ranking = {name: answer for name, answer in answers.items() if answer.keys}
        total = sum(weights[name] for name in ranking) or 1.0
        columns = []
        for name, answer in ranking.items():
            ranks = answer.ranks()
            places = np.array([ranks.get(key, 0) for key in keys.tolist()], dtype=np.float64)
            scaled = np.where(places > 0, (self._k + 1) / (self._k + places), 0.0)
            columns.append(_Column(name, weights[name] / total, ranks, answer.scores(keys)[0], scaled))
        return Fused(keys, columns, found)


def _candidates(answers: Iterable[Answer], joining: Collection[int]) -> Keys:
    keys = set(joining)
    for answer in answers:
        keys.update(answer.keys)
    return np.array(sorted(keys), dtype=np.int64)
