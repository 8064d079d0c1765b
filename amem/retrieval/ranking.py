"""One question's way from legs to ranked candidates, on one snapshot. Notes are not hydrated here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import InvalidInput
from amem.note import Kind, Status
from amem.retrieval.entity import EntityLeg
from amem.retrieval.expand import Reached, spread
from amem.retrieval.facts import FactsLeg
from amem.retrieval.frequencies import Frequencies
from amem.retrieval.fusion import Found, Part, fuse
from amem.retrieval.intent import asks_for_overview
from amem.retrieval.lexical import LexicalLeg
from amem.retrieval.prior import Priors
from amem.text import query_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from amem.protocols import Vector
    from amem.query import Filter, Query
    from amem.retrieval.explanation import Prior, Via
    from amem.retrieval.protocols import DenseIndex
    from amem.settings import Settings
    from amem.storage import Session
    from amem.truth.predicates import Predicates

LEGS = ("dense", "lexical", "entity", "facts")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its place: what each leg gave it, what a link lifted it to, and its prior."""

    key: int
    id: str
    at: str
    parts: Mapping[str, Part]
    relevance: float
    via: tuple[Via, ...]
    prior: Prior

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
    """All that ranking one question found out. `order` is best first; `too_far` failed the minimum cosine."""

    order: list[Ranked] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    rarities: dict[str, float] = field(default_factory=dict)
    matched: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    stated: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    too_far: dict[int, float] = field(default_factory=dict)
    candidates: set[int] = field(default_factory=set)


class Ranker:
    """Asks the legs, fuses, follows links, applies the prior."""

    def __init__(
        self,
        dense: DenseIndex,
        settings: Settings,
        predicates: Callable[[], Predicates],
        recognise: Callable[[str], tuple[str, ...]] | None = None,
    ) -> None:
        self._dense = dense
        self._settings = settings
        self._frequencies = Frequencies()
        self.lexical = LexicalLeg(settings, self._frequencies)
        self.entity = EntityLeg(settings, self._frequencies, recognise)
        self.facts = FactsLeg(settings, predicates)

    def rank(self, session: Session, query: Query, vector: Vector | None, *, every: bool = False) -> Ranking:
        """Everything that can be among the best `query.k`, or `every` candidate.

        The dense leg must have been refreshed; `vector` is the question's, None when nothing needs it.
        """
        ranking = Ranking()
        self._frequencies.follow(session)
        gate = Gate(session, query.filter, pages=asks_for_overview(query.text))
        standing = Priors(query.text, self._settings)
        found = self._ask(session, query, vector, gate, ranking)
        parts = fuse(found, self._settings.rrf_k)
        parts = {key: parts[key] for key in gate.admit(parts)}
        if not parts:
            parts = fuse([self._last_resort(session, query.text, gate)], self._settings.rrf_k)
        ranking.candidates = set(parts)
        direct = {gate.rows[key].id: sum(part.share for part in held.values()) for key, held in parts.items()}
        reached: dict[str, Reached] = {}
        if query.expand:
            bar = 0.0 if every else _bar(direct.values(), query.k, standing.floor)
            reached = spread(session, direct, gate.admit_ids, least=bar)
        self._drop_distant(query.filter.minimum_cosine, vector, gate, parts, reached, ranking)
        ranking.order = self._order(session, gate, parts, reached, standing, None if every else query.k)
        return ranking

    def _ask(self, session: Session, query: Query, vector: Vector | None, gate: Gate, ranking: Ranking) -> list[Found]:
        legs = legs_of(query)
        found: list[Found] = []
        if "dense" in legs and vector is not None:
            keys, cosines = self._dense.search(vector, self._settings.candidates, allowed=gate.allowed)
            found.append(Found("dense", keys.tolist(), cosines.tolist()))
        if "lexical" in legs:
            ranking.terms = self.lexical.terms(session, query.text)
            found.append(self.lexical.find(session, ranking.terms, gate.wanted))
        if "entity" in legs:
            ranking.rarities = self.entity.rarities(session, query.text)
            named = self.entity.find(session, ranking.rarities, gate.wanted)
            ranking.matched = named.matched
            found.append(named)
        if "facts" in legs:
            stated = self.facts.find(session, query.text, gate)
            ranking.stated = stated.matched
            found.append(stated)
        return found

    def _last_resort(self, session: Session, text: str, gate: Gate) -> Found:
        """Notes made from raw input that holds the question's words."""
        sources = [source.id for source in session.sources.search(query_terms(text), self._settings.candidates)]
        made = session.sources.notes_of(sources)
        ids = list(dict.fromkeys(made[source] for source in sources if source in made))
        allowed = gate.admit_ids(ids)
        keys = [gate.keys[id] for id in ids if id in allowed]
        return Found("source", keys, [0.0] * len(keys))

    def _drop_distant(
        self,
        least: float | None,
        vector: Vector | None,
        gate: Gate,
        parts: dict[int, dict[str, Part]],
        reached: dict[str, Reached],
        ranking: Ranking,
    ) -> None:
        if least is None or vector is None:
            return
        keys = list(parts) + [gate.keys[id] for id in reached if gate.keys[id] not in parts]
        cosines = self._dense.cosines(vector, np.array(keys, dtype=np.int64))
        for key, cosine in zip(keys, cosines.tolist(), strict=True):
            # Written so that a note without a vector (nan) fails as well.
            if not cosine >= least:
                ranking.too_far[key] = cosine
                parts.pop(key, None)
                reached.pop(gate.rows[key].id, None)

    def _order(
        self,
        session: Session,
        gate: Gate,
        parts: Mapping[int, Mapping[str, Part]],
        reached: Mapping[str, Reached],
        standing: Priors,
        k: int | None,
    ) -> list[Ranked]:
        relevance = {key: sum(part.share for part in held.values()) for key, held in parts.items()}
        relevance |= {gate.keys[id]: offer.relevance for id, offer in reached.items()}
        if k is not None:
            bar = _bar(relevance.values(), k, standing.floor)
            relevance = {key: value for key, value in relevance.items() if value >= bar}
        priors = standing.of(session, list(relevance))
        ranked = [
            Ranked(
                key=key,
                id=gate.rows[key].id,
                at=gate.rows[key].at,
                parts=parts.get(key, {}),
                relevance=min(1.0, value),
                via=reached[gate.rows[key].id].via if gate.rows[key].id in reached else (),
                prior=priors[key],
            )
            for key, value in relevance.items()
        ]
        ranked.sort(key=lambda each: (each.at, each.key), reverse=True)
        ranked.sort(key=lambda each: -round(each.score, 12))
        return ranked


def _bar(relevance: Iterable[float], k: int, floor: float) -> float:
    """What lies below cannot be among the best k: the prior is at least its `floor`, and never more than 1."""
    best = sorted(relevance, reverse=True)
    return floor * best[k - 1] if len(best) >= k > 0 else 0.0


def legs_of(query: Query) -> tuple[str, ...]:
    """The legs a question uses; raises InvalidInput for one that does not exist."""
    for leg in query.legs:
        if leg not in LEGS:
            raise InvalidInput(f"no retrieval leg {leg!r}", hint=f"use some of {', '.join(LEGS)}")
    return query.legs or LEGS


@dataclass(frozen=True, slots=True)
class Row:
    """What ranking needs to know of a candidate's row."""

    id: str
    at: str


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
        self._allowed: frozenset[int] = frozenset()
        if not self.wanted.is_default:
            keys = session.notes.keys(self.wanted)
            self.allowed = np.array(keys, dtype=np.int64)
            self._allowed = frozenset(keys)
        self.rows: dict[int, Row] = {}
        self.keys: dict[str, int] = {}

    def admit(self, keys: Iterable[int]) -> list[int]:
        """Those of `keys` that may answer, in their order."""
        asked = list(keys)
        for key, (id, status, at, kind) in self._session.notes.columns(asked, ["id", "status", "at", "kind"]).items():
            if kind == Kind.TOPIC and not self._pages:
                continue
            if status == Status.ACTIVE if self.allowed is None else key in self._allowed:
                self.rows[key] = Row(id, at)
                self.keys[id] = key
        return [key for key in asked if key in self.rows]

    def admit_ids(self, ids: Iterable[str]) -> set[str]:
        """Those of `ids` that may answer."""
        asked = list(ids)
        unknown = [id for id in asked if id not in self.keys]
        self.admit(self._session.notes.keys_of(unknown).values())
        return {id for id in asked if id in self.keys}
