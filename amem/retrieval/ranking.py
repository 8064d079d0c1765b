"""Rank the candidates of one question on one snapshot: eligible notes, legs, links, reranking, priors."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from amem.clock import zone
from amem.errors import InvalidInput
from amem.language import index_terms, query_terms
from amem.note import Kind, Status
from amem.rendering import holding_text
from amem.retrieval.expansion import SEEDS, Lift, best, better, causes, neighbours, next_to, replied, spread
from amem.retrieval.explanation import ASKING, Prior
from amem.retrieval.fact_leg import FactsLeg
from amem.retrieval.fusion import LegResults, fuse, pool, spaced
from amem.retrieval.legs import Asked, ListAnswer, MeaningLeg, SpeakerLeg, TimeLeg, Turns, TurnWindow, is_among
from amem.retrieval.question import Intent
from amem.retrieval.question_times import TimeResolver, timely
from amem.retrieval.router import Names, Router
from amem.retrieval.words import Frequencies, LateLeg, LexicalLeg
from amem.storage.usage import States

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from amem.index import DenseLeg
    from amem.language.predicates import Predicates
    from amem.protocols import Vector
    from amem.query import Filter, Query
    from amem.retrieval.explanation import Via
    from amem.retrieval.fusion import Fused, Part, Reranking, Reread
    from amem.retrieval.legs import Answer, Keys, Leg
    from amem.retrieval.question import Reading
    from amem.settings import Settings
    from amem.storage.store import Session


# Which notes may answer a question, and what ranking needs to know of their rows.


@dataclass(frozen=True, slots=True)
class Row:
    """The columns of a candidate's row that ranking needs."""

    id: str
    at: str
    kind: str
    speaker: str | None


class EligibleNotes:
    """Tells which notes may answer, and reads the rows of those that are asked for.

    `allowed` is None when every active note may; else the keys that pass the filter, ascending. The `pages` of topics,
    which repeat what other notes say, answer only where one was asked for: by an overview, or by kind. `states` are
    those of this session; without them each look reads those of its notes.
    """

    def __init__(self, session: Session, wanted: Filter, states: States | None = None, *, pages: bool = False) -> None:
        self._session = session
        self._states = states
        self._pages = pages or Kind.TOPIC in wanted.kinds
        #: The filter without its bound on the cosine, which only the dense leg can tell.
        self.wanted = replace(wanted, minimum_cosine=None)
        self._filtered = not self.wanted.is_default
        self.allowed: Keys | None = None
        if self._filtered:
            self.allowed = np.array(session.notes.keys(self.wanted), dtype=np.int64)
        self._rows: dict[int, Row] = {}
        #: The keys of the notes that were met.
        self.keys: dict[str, int] = {}

    def passing(self, keys: Iterable[int]) -> list[int]:
        """Those of `keys` that may answer, in their order."""
        asked = np.array(list(keys), dtype=np.int64)
        found: list[int] = asked[self.passes(asked)].tolist()
        return found

    def of_kind(self, kind: Kind, keys: Keys) -> NDArray[np.bool_]:
        """Which of these notes are of that kind."""
        return self._of(keys).of_kind(kind, keys)

    def passes(self, keys: Keys) -> NDArray[np.bool_]:
        """Which of `keys` may answer."""
        states = self._of(keys)
        found = states.active(keys) if not self._filtered else np.ones(len(keys), dtype=np.bool_)
        if self.allowed is not None:
            found &= is_among(keys, self.allowed)
        return found if self._pages else found & ~states.of_kind(Kind.TOPIC, keys)

    def passing_ids(self, ids: Iterable[str]) -> set[str]:
        """Those of `ids` that may answer."""
        found = self._session.notes.keys_of(list(ids))
        self.keys |= found
        passing = set(self.passing(found.values()))
        return {id for id, key in found.items() if key in passing}

    def rows(self, keys: Iterable[int]) -> Mapping[int, Row]:
        """The rows of these notes, and of all that were read before."""
        if unknown := [key for key in keys if key not in self._rows]:
            for key, row in self._session.notes.columns(unknown, ["id", "at", "kind", "speaker"]).items():
                self._rows[key] = Row(*row)
                self.keys[row[0]] = key
        return self._rows

    def _of(self, keys: Keys) -> States:
        return States.of_some(self._session, keys) if self._states is None else self._states

    def among(self, keys: Keys) -> EligibleNotes:
        """The same filter for these notes alone; `keys` ascend."""
        narrow = copy(self)
        narrow.allowed = keys if self.allowed is None else np.intersect1d(self.allowed, keys, assume_unique=True)
        return narrow


# What a note's standing says before the question is asked: how well it is remembered, how far it is believed.


class Priors:
    """The priors that go with one question.

    `floor` is the least factor that retention and trust can be, `least` the least that any prior is.
    """

    def __init__(self, query: Query, reading: Reading, settings: Settings) -> None:
        self._recency = reading.recency
        self.floor = settings.prior_floor_temporal if self._recency else settings.prior_floor
        # Whoever names the kinds that may answer wants them as they are.
        self._asking = not query.filter.kinds
        # Whoever asks for a time, or for what was superseded too, wants what was so then.
        now = query.filter.as_of is None and Status.SUPERSEDED not in query.filter.statuses
        self._terms = frozenset(query_terms(reading.text)) if now else frozenset()
        self.least = self.floor * (ASKING if self._asking else 1.0)

    def most(self, kind: str) -> float:
        """The most that the prior of a note of this kind can be."""
        return ASKING if self._asking and kind == Kind.QUESTION else 1.0

    def of(
        self, session: Session, keys: Sequence[int], timely: Mapping[int, float] | None = None
    ) -> Mapping[int, Prior]:
        """The prior of each of these notes (see ``amem.strength``), as of the session's now.

        `timely` says how well the time of a note goes with a question that asks for what is recent, 0 for others.
        """
        timely = timely or {}
        standing = session.usage.standings(keys)
        retention = standing.retention(session.now).tolist()
        trust = standing.trust(session.now).tolist()
        asks = (standing.of_kind(Kind.QUESTION) & self._asking).tolist()
        ended = self._ended(session, keys)
        return {
            key: Prior(kept, believed, self.floor, self._recency, asking, timely.get(key, 0.0), key in ended)
            for key, kept, believed, asking in zip(standing.keys.tolist(), retention, trust, asks, strict=True)
        }

    def _ended(self, session: Session, keys: Sequence[int]) -> set[int]:
        """The notes that have words of the question only in statements that no longer hold."""
        found = set()
        for key, (content, told) in session.notes.overturned_among(keys).items() if self._terms else ():
            rest = self._terms.intersection(index_terms(holding_text(content, told)))
            gone = self._terms.intersection(term for each in told for term in index_terms(each.text))
            if gone and not rest:
                found.add(key)
        return found


# One question's way from legs to ranked candidates, on one snapshot. Notes are not hydrated here.

LEGS = ("dense", "lexical", "late", "facts", "speaker", "time")


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question as it was read, the vector of what the reading asks the dense leg, and that of the event it measures
    time by; None where none is needed."""

    reading: Reading
    vector: Vector | None = None
    event: Vector | None = None


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

    `results` hold what each leg had to say that did not abstain, and what that came to; where a last resort took the
    legs' place, `replaced` is what they had said. `notes` are remarks on how the ranking was done, for people.
    """

    reading: Reading
    fusion: str
    results: LegResults
    order: list[Ranked] = field(default_factory=list)
    too_far: dict[int, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    replaced: LegResults | None = None

    @property
    def of_legs(self) -> LegResults:
        """What the legs said, whatever was done with it."""
        return self.results if self.replaced is None else self.replaced


class Ranker:
    """Asks the legs, fuses, follows links, has the best read again, applies the prior, spaces out what repeats.

    `trust` says for a question what nearness by meaning is worth, 0..1 (see ``amem.collection``).
    """

    def __init__(
        self,
        dense: DenseLeg,
        settings: Settings,
        predicates: Callable[[], Predicates],
        reranking: Reranking,
        trust: Callable[[str], float],
    ) -> None:
        self._dense = dense
        self._reranking = reranking
        self._settings = settings
        self._predicates = predicates
        self._trust = trust
        self._rrf_k = settings.rrf_k if settings.fusion == "rrf" else None
        self._zone = zone(settings.timezone)
        self._router = Router(settings)
        self.frequencies = Frequencies()
        self._names = Names(self.frequencies, settings.user_name)
        self._states: States | None = None
        self._turns: Turns | None = None
        senses = MeaningLeg(dense), LexicalLeg(settings, self.frequencies)
        late, facts = LateLeg(settings, self.frequencies), FactsLeg(settings, predicates)
        self._legs: tuple[Leg, ...] = (*senses, late, facts, SpeakerLeg(), TimeLeg(senses, self._zone))
        self._times = TimeResolver(senses, self._zone)

    def read(self, session: Session, query: Query) -> Reading:
        """Read the question: the kind of answer, its words, its time, the names in it."""
        self.frequencies.follow(session)
        return self._names.read(session, self._router.read(query.text, session.now, self._zone))

    def rank(
        self,
        session: Session,
        query: Query,
        question: ReadQuestion,
        *,
        every: bool = False,
        also: Sequence[int] = (),
    ) -> Ranking:
        """Everything that can be among the best `query.k`, or `every` candidate; `fused` knows the notes `also` given.

        The dense leg must have been refreshed.
        """
        # 3a. Say which notes may answer, and what their standing may be worth.
        # Whichever of two threads comes last: what either keeps is whole.
        self._states = states = States.of(session, self._states)
        if self._settings.window:
            self._turns = Turns.of(session, self._settings.window, self._turns)
        reading = question.reading
        eligible = EligibleNotes(session, query.filter, states, pages=reading.overview)
        standing = Priors(query, reading, self._settings)
        # 3b. Put the question to the legs, on the days that it means.
        window = TurnWindow(session, self._turns)
        asked = Asked(session, query, reading, question.vector, eligible, self._settings.candidates, window)
        asked = replace(asked, reading=self._times.resolve(asked, question.event))
        diversity = self._settings.diversity if query.diversity is None else query.diversity
        places = max(query.k, pool(query.k) if diversity > 0 else 0)
        k = None if every else max(places, self._reranking.depth(query))
        # 3c. Ask the legs and fuse what they say; where they find nothing, ask the raw input.
        first = results = self._asked(asked, legs_of(query), also)
        # Where some are too far, or are read again, others may be among the best.
        most = None if query.filter.minimum_cosine is not None or self._reranking.depth(query) else k
        direct = _admitted(eligible, results.fused, most, standing)
        if not direct:
            results = self._last_resort(asked, also)
            direct = _admitted(eligible, results.fused, most, standing)
        # 3d. Follow replies, causes and links from the best.
        bar = 0.0 if k is None else _bar(direct.values(), k, standing.least)
        results, lifts = self._lifts(asked, results, direct, bar, also)
        found = {key: Lift(value, ()) for key, value in direct.items()}
        found |= {eligible.keys[id]: way for id, way in lifts.items()}
        # 3e. Leave out what is less near than was asked for.
        too_far = self._too_far(asked, list(found))
        found = {key: way for key, way in found.items() if key not in too_far}
        # 3f. Have the best read again, weigh all by their standing, space out what repeats.
        rows = eligible.rows(found)
        again = self._reranking.read(session, query, {rows[key].id: way.relevance for key, way in found.items()})
        order = self._order(asked, results.fused, found, again, standing, None if every else places)
        return Ranking(
            reading=asked.reading,
            fusion=self._settings.fusion,
            results=results,
            order=spaced(self._dense, order, query.k, diversity, query.minimum_score),
            too_far=too_far,
            notes=again.notes,
            replaced=None if results.answers is first.answers else first,
        )

    def _asked(self, asked: Asked, wanted: Collection[str], also: Sequence[int]) -> LegResults:
        """Ask the `wanted` legs; `fused` knows the notes `also` given."""
        answers: dict[str, Answer] = {}
        asked = replace(asked, answers=answers)
        for leg in self._legs:
            if leg.name in wanted and (said := leg.ask(asked)) is not None:
                answers[leg.name] = said
        weights: dict[str, float] = {name: getattr(self._settings, f"{name}_weight") for name in answers}
        for name in weights.keys() & {"dense", "late"}:
            weights[name] *= self._trust(asked.reading.meaning or asked.reading.text)
        return LegResults(answers, weights, fuse(answers, weights, rrf_k=self._rrf_k, also=also))

    def _last_resort(self, asked: Asked, also: Sequence[int]) -> LegResults:
        """Notes made from raw input that holds the question's words, in place of what the legs did not find."""
        session = asked.session
        found = session.sources.search(query_terms(asked.reading.lexical), asked.limit)
        made = session.sources.notes_of([source.id for source in found])
        held = session.notes.keys_of(list(made.values()))
        ids = dict.fromkeys(made[source.id] for source in found if source.id in made)
        keys = asked.eligible.passing(held[id] for id in ids)
        answers = {"source": ListAnswer(keys, [1 / place for place in range(1, len(keys) + 1)], 1.0)}
        weights = {"source": 1.0}
        return LegResults(answers, weights, fuse(answers, weights, rrf_k=self._rrf_k, also=also))

    def _lifts(
        self, asked: Asked, results: LegResults, direct: Mapping[int, float], least: float, also: Sequence[int]
    ) -> tuple[LegResults, dict[str, Lift]]:
        """Find notes that neighbours raise: replies, causes where they are asked for, linked notes.

        With what the legs say to the replies, whose own relevance counts as well.
        """
        eligible = asked.eligible
        near = neighbours(asked, best(direct, SEEDS))
        if joining := {each.key for each in near if each.replies and not results.fused.has(each.key)}:
            # Scored exactly by each leg, as its own candidates are.
            said = results.answers, results.weights
            fused = fuse(*said, rrf_k=self._rrf_k, also=also, joining=joining, before=results.fused)
            results = replace(results, fused=fused)
        ways = [replied(eligible, near, direct, results.fused.of)]
        why = Intent.CAUSAL in asked.reading.intents
        # All of a subject is what the collection has linked with it, too.
        links = asked.query.expand or asked.reading.overview
        if links or why:
            rows = eligible.rows(direct)
            by_id = {rows[key].id: value for key, value in direct.items()}
            if why:
                ways.append(causes(asked.session, by_id, eligible.passing_ids, least=least))
            if links:
                ways.append(next_to(eligible, near, direct))
                ways.append(spread(asked.session, by_id, eligible.passing_ids, least=least))
        return results, better(*ways)

    def _too_far(self, asked: Asked, keys: Sequence[int]) -> dict[int, float]:
        """The notes whose cosine is below the least asked for, or unknown, with their cosines."""
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
        found: Mapping[int, Lift],
        again: Reread,
        standing: Priors,
        k: int | None,
    ) -> list[Ranked]:
        rows = asked.eligible.rows(found)
        relevance = {key: min(1.0, again.relevance(rows[key].id, way.relevance)) for key, way in found.items()}
        ceilings = {key: value * standing.most(rows[key].kind) for key, value in relevance.items()}
        if k is not None:
            bar = _bar(ceilings.values(), k, standing.floor)
            relevance = {key: value for key, value in relevance.items() if ceilings[key] >= bar}
        priors = standing.of(asked.session, list(relevance), self._timely(asked, ceilings, standing.floor))
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

    def _timely(self, asked: Asked, ceilings: Mapping[int, float], floor: float) -> Mapping[int, float]:
        """How well the times of the notes that are to the point go with "recently", "next" and the like.

        To the point are those that the floor of the prior could lift above the best: cutting leaves none of them out.
        """
        recency = asked.reading.recency
        if recency is None or not ceilings:
            return {}
        least = floor * max(ceilings.values())
        keys = [key for key, value in ceilings.items() if value >= least]
        moment = asked.query.filter.as_of or asked.session.now
        return timely(asked.session, recency, keys, moment, self._zone, self._predicates())


def _admitted(eligible: EligibleNotes, fused: Fused, k: int | None, standing: Priors) -> dict[int, float]:
    """The most relevant notes that may answer, with their relevance: all, or all that can be among the best `k`."""
    keys, relevance = fused.best()
    passing = eligible.passes(keys)
    keys, relevance = keys[passing], relevance[passing]
    if k is not None and 0 < k < len(keys):
        ceilings = relevance * np.where(eligible.of_kind(Kind.QUESTION, keys), standing.most(Kind.QUESTION), 1.0)
        kept = ceilings >= standing.floor * np.partition(ceilings, -k)[-k]
        keys, relevance = keys[kept], relevance[kept]
    return dict(zip(keys.tolist(), relevance.tolist(), strict=True))


def _bar(relevance: Iterable[float], k: int, least: float) -> float:
    """The relevance below which no note can be among the best k: a prior is at least `least` and at most 1."""
    best = sorted(relevance, reverse=True)
    return least * best[k - 1] if len(best) >= k > 0 else 0.0


def legs_of(query: Query) -> tuple[str, ...]:
    """The legs a question uses; raises InvalidInput for one that does not exist."""
    for leg in query.legs:
        if leg not in LEGS:
            raise InvalidInput(f"no retrieval leg {leg!r}", hint=f"use some of {', '.join(LEGS)}")
    return query.legs or LEGS
