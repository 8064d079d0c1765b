"""One question's way from legs to ranked candidates, on one snapshot. Notes are not hydrated here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from amem.clock import zone
from amem.errors import InvalidInput
from amem.retrieval.causes import causes
from amem.retrieval.diversity import pool, spaced
from amem.retrieval.expand import SEEDS, Reached, best, better, spread
from amem.retrieval.frequencies import Frequencies
from amem.retrieval.gate import Gate
from amem.retrieval.legs import Asked
from amem.retrieval.names import Names
from amem.retrieval.panel import Heard, Panel
from amem.retrieval.prior import Priors
from amem.retrieval.reading import Intent
from amem.retrieval.recency import timely
from amem.retrieval.router import Router
from amem.retrieval.turns import neighbours, next_to, replied
from amem.retrieval.window import Talk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from amem.protocols import Vector
    from amem.query import Query
    from amem.retrieval.explanation import Prior, Via
    from amem.retrieval.fusion import Fused, Part
    from amem.retrieval.legs import Answer
    from amem.retrieval.protocols import DenseIndex
    from amem.retrieval.reading import Reading
    from amem.retrieval.rerank import Reranking, Reread
    from amem.settings import Settings
    from amem.storage import Session
    from amem.truth.predicates import Predicates

LEGS = ("dense", "lexical", "entity", "facts", "speaker", "time", "kind")
#: Rows looked at together while the best are let through.
_CHUNK = 128


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its place: what each leg gave it, what a link lifted it to, its prior, and remarks for people."""

    key: int
    id: str
    at: str
    parts: Mapping[str, Part]
    relevance: float
    via: tuple[Via, ...]
    prior: Prior
    notes: tuple[str, ...] = ()

    @property
    def direct(self) -> float:
        """Relevance by its own words and meaning alone."""
        return sum(part.share for part in self.parts.values())

    @property
    def score(self) -> float:
        """Relevance times prior, in 0..1."""
        return self.relevance * self.prior.factor


@dataclass(slots=True)
class Ranking:
    """All that ranking one question found out. `order` is best first; `too_far` failed the minimum cosine.

    `answers` holds what each leg had to say that did not abstain, `fused` what that came to; where a last resort took
    the legs' place, `heard` is what they had said. `notes` are remarks on how the ranking was done, for people.
    """

    reading: Reading
    fusion: str
    answers: Mapping[str, Answer]
    fused: Fused
    order: list[Ranked] = field(default_factory=list)
    too_far: dict[int, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    heard: Heard | None = None


class Ranker:
    """Asks the legs, fuses, follows links, has the best read again, applies the prior, spaces out what repeats.

    `trust` says for a question what nearness by meaning is worth, 0..1 (see ``amem.retrieval.language``).
    """

    def __init__(
        self,
        dense: DenseIndex,
        settings: Settings,
        predicates: Callable[[], Predicates],
        reranking: Reranking,
        trust: Callable[[str], float],
        recognise: Callable[[str], tuple[str, ...]] | None = None,
    ) -> None:
        self._dense = dense
        self._reranking = reranking
        self._settings = settings
        self._predicates = predicates
        self._zone = zone(settings.timezone)
        self.router = Router(settings)
        self.frequencies = Frequencies()
        self._names = Names(self.frequencies, settings.user_name, recognise)
        self._panel = Panel(dense, settings, self.frequencies, predicates, trust)

    def read(self, session: Session, query: Query) -> Reading:
        """What is asked, of which words, of whom."""
        self.frequencies.follow(session)
        return self._names.read(session, self.router.read(query.text, session.now, self._zone))

    def rank(
        self,
        session: Session,
        query: Query,
        reading: Reading,
        vector: Vector | None,
        *,
        event: Vector | None = None,
        every: bool = False,
        also: Sequence[int] = (),
    ) -> Ranking:
        """Everything that can be among the best `query.k`, or `every` candidate; `fused` knows the notes `also` given.

        The dense leg must have been refreshed; `vector` is that of what the reading asks it, None when nothing does;
        `event` that of the event it measures time by.
        """
        gate = Gate(session, query.filter, pages=reading.overview)
        standing = Priors(query, reading, self._settings)
        talk = Talk(session, self._settings.window)
        asked = self._panel.settle(Asked(session, query, reading, vector, gate, self._settings.candidates, talk), event)
        diversity = self._settings.diversity if query.diversity is None else query.diversity
        places = max(query.k, pool(query.k) if diversity > 0 else 0)
        k = None if every else max(places, self._reranking.depth(query))
        first = heard = self._panel.ask(asked, legs_of(query), also)
        direct = _admitted(gate, heard.fused, k, standing.least)
        if not direct:
            heard = self._panel.last_resort(asked, also)
            direct = _admitted(gate, heard.fused, k, standing.least)
        bar = 0.0 if k is None else _bar(direct.values(), k, standing.least)
        heard, reached = self._reached(asked, heard, direct, bar, also)
        found = {key: Reached(value, ()) for key, value in direct.items()}
        found |= {gate.keys[id]: way for id, way in reached.items()}
        too_far = self._too_far(asked, list(found))
        found = {key: way for key, way in found.items() if key not in too_far}
        again = self._reranking.read(session, query, {gate.rows[key].id: way.relevance for key, way in found.items()})
        order = self._order(asked, heard.fused, found, again, standing, None if every else places)
        return Ranking(
            reading=asked.reading,
            fusion=self._panel.fusion.name,
            answers=heard.answers,
            fused=heard.fused,
            order=spaced(self._dense, order, query.k, diversity, query.minimum_score),
            too_far=too_far,
            notes=again.notes,
            heard=None if heard.answers is first.answers else first,
        )

    def _reached(
        self, asked: Asked, heard: Heard, direct: Mapping[int, float], least: float, also: Sequence[int]
    ) -> tuple[Heard, dict[str, Reached]]:
        """What was not found directly, or would stand lower: replies, causes where they are asked for, links.

        With what the legs say to the replies, whose own relevance counts as well.
        """
        gate = asked.gate
        near = neighbours(asked, best(direct, SEEDS))
        if joining := {each.key for each in near if each.replies and not heard.fused.has(each.key)}:
            heard = self._panel.joined(heard, joining, also)
        ways = [replied(gate, near, direct, heard.fused.of)]
        why = Intent.CAUSAL in asked.reading.intents
        # All of a subject is what the collection has linked with it, too.
        links = asked.query.expand or asked.reading.overview
        if links or why:
            by_id = {gate.rows[key].id: value for key, value in direct.items()}
            if why:
                ways.append(causes(asked.session, by_id, gate.admit_ids, least=least))
            if links:
                ways.append(next_to(gate, near, direct))
                ways.append(spread(asked.session, by_id, gate.admit_ids, least=least))
        return heard, better(*ways)

    def _too_far(self, asked: Asked, keys: Sequence[int]) -> dict[int, float]:
        """Those of these notes that are less near than was asked for, or of which nobody knows, with their cosines."""
        least = asked.query.filter.minimum_cosine
        if least is None or asked.vector is None:
            return {}
        cosines = self._dense.cosines(asked.vector, np.array(keys, dtype=np.int64)).tolist()
        # Written so that a note without a vector (nan) fails as well.
        return {key: cosine for key, cosine in zip(keys, cosines, strict=True) if not cosine >= least}

    def _order(
        self,
        asked: Asked,
        fused: Fused,
        found: Mapping[int, Reached],
        again: Reread,
        standing: Priors,
        k: int | None,
    ) -> list[Ranked]:
        rows = asked.gate.rows
        relevance = {key: min(1.0, again.relevance(rows[key].id, way.relevance)) for key, way in found.items()}
        if k is not None:
            ceilings = {key: value * standing.most(rows[key].kind) for key, value in relevance.items()}
            bar = _bar(ceilings.values(), k, standing.floor)
            relevance = {key: value for key, value in relevance.items() if ceilings[key] >= bar}
        priors = standing.of(asked.session, list(relevance), self._timely(asked, relevance, standing))
        order = sorted(relevance, key=lambda key: (rows[key].at, key), reverse=True)
        order.sort(key=lambda key: -round(relevance[key] * priors[key].factor, 12))
        return [
            Ranked(
                key=key,
                id=rows[key].id,
                at=rows[key].at,
                parts=again.parts(rows[key].id, fused.parts(key)),
                relevance=relevance[key],
                via=found[key].via,
                prior=priors[key],
            )
            for key in order[:k]
        ]

    def _timely(self, asked: Asked, relevance: Mapping[int, float], standing: Priors) -> Mapping[int, float]:
        """How well the times of the notes that are to the point go with "recently", "next" and the like.

        To the point are those that the floor of the prior could lift above the best: cutting leaves none of them out.
        """
        recency = asked.reading.recency
        if recency is None or not relevance:
            return {}
        ceilings = {key: value * standing.most(asked.gate.rows[key].kind) for key, value in relevance.items()}
        least = standing.floor * max(ceilings.values())
        keys = [key for key, value in ceilings.items() if value >= least]
        moment = asked.query.filter.as_of or asked.session.now
        return timely(asked.session, recency, keys, moment, self._zone, self._predicates())


def _admitted(gate: Gate, fused: Fused, k: int | None, least: float) -> dict[int, float]:
    """The most relevant notes that may answer, with their relevance: all, or all that can be among the best `k`."""
    order = fused.order()
    found: list[int] = []
    for start in range(0, len(order), _CHUNK):
        some = order[start : start + _CHUNK].tolist()
        if k is not None and len(found) >= k > 0 and fused.of(some[0]) < least * fused.of(found[k - 1]):
            break
        found += gate.admit(some)
    return {key: fused.of(key) for key in found}


def _bar(relevance: Iterable[float], k: int, least: float) -> float:
    """What lies below cannot be among the best k: the prior is at `least` that, and never more than 1."""
    best = sorted(relevance, reverse=True)
    return least * best[k - 1] if len(best) >= k > 0 else 0.0


def legs_of(query: Query) -> tuple[str, ...]:
    """The legs a question uses; raises InvalidInput for one that does not exist."""
    for leg in query.legs:
        if leg not in LEGS:
            raise InvalidInput(f"no retrieval leg {leg!r}", hint=f"use some of {', '.join(LEGS)}")
    return query.legs or LEGS
