"""Many legs' answers as one relevance in 0..1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from amem.clock import zone
from amem.language import query_terms
from amem.retrieval.fact_leg import FactsLeg
from amem.retrieval.legs import Answer, Asked, Leg, ListAnswer, MeaningLeg, SpeakerLeg, TimeLeg, is_among
from amem.retrieval.question_times import Dating
from amem.retrieval.words import LateLeg, LexicalLeg

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from amem.language.predicates import Predicates
    from amem.protocols import Vector
    from amem.retrieval.hit import DenseIndex
    from amem.retrieval.legs import Floats, Keys
    from amem.retrieval.words import Frequencies
    from amem.settings import Settings


# Many legs' answers as one relevance in 0..1, the sum of a share for each leg.
#
# *Convex* (Bruch, Gai & Ingber, TOIS 2023): the weighted mean of the legs' scores, which each leg has brought to one
# scale. It keeps how sure a leg is: a note found first by far counts more than one found first by a hair. *Reciprocal
# ranks* (Cormack, Clarke & Büttcher, SIGIR 2009): ``sum of weight / (k + rank)`` over the legs that have the note
# among their candidates, divided by what a note that is first in all of them would have.
#
# A leg that abstains from a question lowers nobody.


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
        self._found = is_among(keys, candidates)
        self._rows = {key: row for row, key in enumerate(keys.tolist())}
        self._columns = columns
        self.relevance: Floats = np.zeros(len(keys))
        for column in columns:
            self.relevance += column.weight * column.scaled

    def best(self) -> tuple[Keys, Floats]:
        """Every candidate and its relevance, the most relevant first; equal ones newest key first."""
        order = np.lexsort((-self.keys, -np.round(self.relevance, 12)))
        order = order[self._found[order]]
        return self.keys[order], self.relevance[order]

    def of(self, key: int) -> float:
        """The relevance of one note; 0 when it is not among them."""
        row = self._rows.get(key)
        return 0.0 if row is None else float(self.relevance[row])

    def has(self, key: int) -> bool:
        """Whether it is a candidate."""
        row = self._rows.get(key)
        return row is not None and bool(self._found[row])

    def parts(self, key: int, *, silent: bool = False) -> dict[str, Part]:
        """What each leg that says anything for a candidate gave it; with `silent` what each thinks of any note."""
        row = self._rows.get(key)
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


# The legs of a search, asked together, and what they said as one relevance.


@dataclass(frozen=True, slots=True)
class LegResults:
    """What each leg had to say that did not abstain, what it counts for, and what that comes to for each note."""

    answers: Mapping[str, Answer]
    weights: Mapping[str, float]
    fused: Fused


class LegFusion:
    """All legs and the way they are fused. `trust` says for a question what nearness by meaning is worth, 0..1."""

    def __init__(
        self,
        dense: DenseIndex,
        settings: Settings,
        frequencies: Frequencies,
        predicates: Callable[[], Predicates],
        trust: Callable[[str], float],
    ) -> None:
        self._settings, self._trust = settings, trust
        self.fusion: Fusion = Convex() if settings.fusion == "convex" else ReciprocalRanks(settings.rrf_k)
        local = zone(settings.timezone)
        senses = MeaningLeg(dense), LexicalLeg(settings, frequencies)
        self._dating = Dating(senses, local)
        self._legs: tuple[Leg, ...] = (
            *senses,
            LateLeg(settings, frequencies),
            FactsLeg(settings, predicates),
            SpeakerLeg(),
            TimeLeg(senses, local),
        )

    def settle(self, asked: Asked, event: Vector | None) -> Asked:
        """The question with the event that it measures time by, if any, looked up; `event` is that one's vector."""
        return replace(asked, reading=self._dating.settle(asked, event))

    def ask(self, asked: Asked, wanted: Collection[str], also: Sequence[int]) -> LegResults:
        """What the `wanted` legs say to a question; `fused` knows the notes `also` given."""
        answers: dict[str, Answer] = {}
        asked = replace(asked, answers=answers)
        for leg in self._legs:
            if leg.name in wanted and (said := leg.ask(asked)) is not None:
                answers[leg.name] = said
        weights: dict[str, float] = {name: getattr(self._settings, f"{name}_weight") for name in answers}
        for name in weights.keys() & {"dense", "late"}:
            weights[name] *= self._trust(asked.reading.meaning or asked.reading.text)
        return LegResults(answers, weights, self.fusion.fuse(answers, weights, also))

    def last_resort(self, asked: Asked, also: Sequence[int]) -> LegResults:
        """Notes made from raw input that holds the question's words, in place of what the legs did not find."""
        session, terms = asked.session, query_terms(asked.reading.lexical)
        sources = [source.id for source in session.sources.search(terms, asked.limit)]
        made = session.sources.notes_of(sources)
        held = session.notes.keys_of([made[source] for source in sources if source in made])
        keys = asked.eligible.passing(
            dict.fromkeys(held[made[source]] for source in sources if made.get(source) in held)
        )
        answers = {"source": ListAnswer(keys, [1 / place for place in range(1, len(keys) + 1)], 1.0)}
        return LegResults(answers, {"source": 1.0}, self.fusion.fuse(answers, {"source": 1.0}, also))

    def joined(self, results: LegResults, joining: Collection[int], also: Sequence[int]) -> LegResults:
        """The results with these notes among the candidates, scored exactly by each leg."""
        return replace(results, fused=self.fusion.fuse(results.answers, results.weights, also, joining))
