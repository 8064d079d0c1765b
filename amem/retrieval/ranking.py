"""One question's way from legs to ranked candidates, on one snapshot. Notes are not hydrated here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from amem.clock import zone
from amem.errors import InvalidInput
from amem.retrieval.causes import causes
from amem.retrieval.dating import Dating
from amem.retrieval.dense import MeaningLeg
from amem.retrieval.diversity import pool, spaced
from amem.retrieval.entity import EntityLeg
from amem.retrieval.expand import SEEDS, Reached, best, better, spread
from amem.retrieval.facts import FactsLeg
from amem.retrieval.frequencies import Frequencies
from amem.retrieval.fusion import Convex, Fused, Fusion, Part, ReciprocalRanks
from amem.retrieval.gate import Gate
from amem.retrieval.intents import weights
from amem.retrieval.kinds import KindLeg
from amem.retrieval.legs import Answer, Asked, Leg, Listed
from amem.retrieval.lexical import LexicalLeg
from amem.retrieval.names import Names
from amem.retrieval.prior import Priors
from amem.retrieval.reading import Intent
from amem.retrieval.router import Router
from amem.retrieval.speaker import SpeakerLeg
from amem.retrieval.timing import TimeLeg
from amem.retrieval.turns import Neighbour, neighbours, next_to, replied
from amem.retrieval.window import Talk
from amem.text import query_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from amem.protocols import Vector
    from amem.query import Query
    from amem.retrieval.explanation import Prior, Via
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

    `answers` holds what each leg had to say that did not abstain, `fused` what that came to; `notes` are remarks on
    how the ranking was done, for people.
    """

    reading: Reading
    fusion: str
    order: list[Ranked] = field(default_factory=list)
    answers: Mapping[str, Answer] = field(default_factory=dict)
    fused: Fused | None = None
    too_far: dict[int, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


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
        self._trust = trust
        self._settings = settings
        self._zone = zone(settings.timezone)
        self.router = Router(settings)
        self._frequencies = Frequencies()
        self._names = Names(self._frequencies, settings.user_name, recognise)
        meaning, lexical = MeaningLeg(dense), LexicalLeg(settings, self._frequencies)
        self._dating = Dating((meaning, lexical), self._zone)
        self._legs: tuple[Leg, ...] = (
            meaning,
            lexical,
            EntityLeg(self._frequencies),
            FactsLeg(settings, predicates),
            SpeakerLeg(),
            TimeLeg((meaning, lexical), self._zone),
            KindLeg((meaning, lexical)),
        )

    @cached_property
    def _fusion(self) -> Fusion:
        return Convex() if self._settings.fusion == "convex" else ReciprocalRanks(self._settings.rrf_k)

    def read(self, session: Session, query: Query) -> Reading:
        """What is asked, of which words, of whom."""
        self._frequencies.follow(session)
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
        asked = Asked(session, query, reading, vector, gate, self._settings.candidates, talk)
        reading = self._dating.settle(asked, event)
        asked = replace(asked, reading=reading)
        wanted = legs_of(query)
        answers = {leg.name: said for leg in self._legs if leg.name in wanted and (said := leg.ask(asked)) is not None}
        counts = weights(self._settings, answers, reading.intents)
        if "dense" in counts:
            counts["dense"] *= self._trust(reading.meaning or reading.text)
        fused = self._fusion.fuse(answers, counts, also)
        ranking = Ranking(reading, self._fusion.name, answers=answers, fused=fused)
        diversity = self._settings.diversity if query.diversity is None else query.diversity
        places = max(query.k, pool(query.k) if diversity > 0 else 0)
        k = None if every else max(places, self._reranking.depth(query))
        admitted = _admitted(gate, fused, k, standing.least)
        if not admitted:
            answers, counts = {"source": self._last_resort(asked)}, {"source": 1.0}
            fused = self._fusion.fuse(answers, counts, also)
            ranking.answers, ranking.fused = answers, fused
            admitted = _admitted(gate, fused, k, standing.least)
        direct = {key: fused.of(key) for key in admitted}
        near = neighbours(asked, best(direct, SEEDS))
        if joining := {each.key for each in near if each.replies and not fused.has(each.key)}:
            fused = ranking.fused = self._fusion.fuse(answers, counts, also, joining)
        bar = 0.0 if k is None else _bar(direct.values(), k, standing.least)
        reached = self._reached(asked, direct, near, fused, bar)
        self._drop_distant(query.filter.minimum_cosine, vector, gate, direct, reached, ranking)
        relevance = direct | {gate.keys[id]: min(1.0, offer.relevance) for id, offer in reached.items()}
        again = self._reranking.read(session, query, {gate.rows[key].id: value for key, value in relevance.items()})
        ranking.notes += again.notes
        k = None if every else places
        order = self._order(session, gate, fused, relevance, reached, again, standing, k)
        ranking.order = spaced(self._dense, order, query.k, diversity)
        return ranking

    def _reached(
        self, asked: Asked, direct: Mapping[int, float], near: Sequence[Neighbour], fused: Fused, least: float
    ) -> dict[str, Reached]:
        """What was not found directly, or would stand lower: replies, causes where they are asked for, links."""
        gate = asked.gate
        ways = [replied(gate, near, direct, fused.of)]
        if asked.query.expand or Intent.CAUSAL in asked.reading.intents:
            by_id = {gate.rows[key].id: value for key, value in direct.items()}
            if Intent.CAUSAL in asked.reading.intents:
                ways.append(causes(asked.session, by_id, gate.admit_ids, least=least))
            if asked.query.expand:
                ways.append(next_to(gate, near, direct))
                ways.append(spread(asked.session, by_id, gate.admit_ids, least=least))
        return better(*ways)

    def _last_resort(self, asked: Asked) -> Answer:
        """Notes made from raw input that holds the question's words."""
        session, terms = asked.session, query_terms(asked.reading.lexical)
        sources = [source.id for source in session.sources.search(terms, asked.limit)]
        made = session.sources.notes_of(sources)
        ids = list(dict.fromkeys(made[source] for source in sources if source in made))
        allowed = asked.gate.admit_ids(ids)
        keys = [asked.gate.keys[id] for id in ids if id in allowed]
        return Listed(keys, [1 / place for place in range(1, len(keys) + 1)], 1.0)

    def _drop_distant(
        self,
        least: float | None,
        vector: Vector | None,
        gate: Gate,
        direct: dict[int, float],
        reached: dict[str, Reached],
        ranking: Ranking,
    ) -> None:
        if least is None or vector is None:
            return
        keys = list(direct) + [gate.keys[id] for id in reached if gate.keys[id] not in direct]
        cosines = self._dense.cosines(vector, np.array(keys, dtype=np.int64))
        for key, cosine in zip(keys, cosines.tolist(), strict=True):
            # Written so that a note without a vector (nan) fails as well.
            if not cosine >= least:
                ranking.too_far[key] = cosine
                direct.pop(key, None)
                reached.pop(gate.rows[key].id, None)

    def _order(
        self,
        session: Session,
        gate: Gate,
        fused: Fused,
        found: Mapping[int, float],
        reached: Mapping[str, Reached],
        again: Reread,
        standing: Priors,
        k: int | None,
    ) -> list[Ranked]:
        relevance = {key: again.relevance(gate.rows[key].id, value) for key, value in found.items()}
        if k is not None:
            ceilings = {key: value * standing.most(gate.rows[key].kind) for key, value in relevance.items()}
            bar = _bar(ceilings.values(), k, standing.floor)
            relevance = {key: value for key, value in relevance.items() if ceilings[key] >= bar}
        priors = standing.of(session, list(relevance))
        order = sorted(relevance, key=lambda key: (gate.rows[key].at, key), reverse=True)
        order.sort(key=lambda key: -round(min(1.0, relevance[key]) * priors[key].factor, 12))
        return [
            Ranked(
                key=key,
                id=gate.rows[key].id,
                at=gate.rows[key].at,
                parts=again.parts(gate.rows[key].id, fused.parts(key)),
                relevance=min(1.0, relevance[key]),
                via=reached[gate.rows[key].id].via if gate.rows[key].id in reached else (),
                prior=priors[key],
            )
            for key in order[:k]
        ]


def _admitted(gate: Gate, fused: Fused, k: int | None, least: float) -> list[int]:
    """The most relevant notes that may answer: all of them, or all that can be among the best `k`."""
    order = fused.order()
    found: list[int] = []
    for start in range(0, len(order), _CHUNK):
        some = order[start : start + _CHUNK].tolist()
        if k is not None and len(found) >= k > 0 and fused.of(some[0]) < least * fused.of(found[k - 1]):
            break
        found += gate.admit(some)
    return found


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
