"""Fuse the legs' answers into one relevance (0..1), rerank the best with a cross-encoder, diversify them (MMR)."""

from __future__ import annotations

import logging
import math
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from amem.clock import zone
from amem.collection import embedded_text
from amem.errors import AmemError, BadModelAnswer
from amem.labels import short_id
from amem.retrieval.explanation import ordinal
from amem.retrieval.legs import Answer, is_among

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from numpy.typing import NDArray

    from amem.index import DenseLeg
    from amem.note import MemoryNote
    from amem.protocols import Reranker
    from amem.query import Query
    from amem.retrieval.legs import Floats, Keys
    from amem.retrieval.ranking import Ranked
    from amem.settings import Settings
    from amem.storage.store import Session


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
    weight: float
    ranks: Mapping[int, int]
    raw: Floats
    scaled: Floats


class Fused:
    """Relevance of many notes, column by column; `keys` ascend. `candidates` are those of them that any leg found."""

    def __init__(self, keys: Keys, columns: Mapping[str, _Column], candidates: Keys) -> None:
        self.keys = keys
        self._found = is_among(keys, candidates)
        self._rows = {key: row for row, key in enumerate(keys.tolist())}
        #: What each leg that did not abstain said, in the order of the keys.
        self.columns = columns
        self.relevance: Floats = np.zeros(len(keys))
        for column in columns.values():
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
        """The part of each leg in a candidate's relevance; with `silent` also of legs that gave it nothing."""
        row = self._rows.get(key)
        if row is None or not (silent or self._found[row]):
            return {}
        return {
            name: Part(each.ranks.get(key), float(each.raw[row]), float(each.scaled[row]), each.weight)
            for name, each in self.columns.items()
            if silent or each.scaled[row] > 0 or key in each.ranks
        }


def fuse(
    answers: Mapping[str, Answer],
    weights: Mapping[str, float],
    *,
    rrf_k: float | None = None,
    also: Iterable[int] = (),
    joining: Collection[int] = (),
    before: Fused | None = None,
) -> Fused:
    """The relevance of every candidate of any leg, of those `joining` them, and of the notes `also` asked about.

    By reciprocal ranks with the constant `rrf_k`; None: by the convex mean. What the same answers said `before` of
    notes is not asked for again.
    """
    candidates = {*joining, *(key for answer in answers.values() for key in answer.keys)}
    found = np.array(sorted(candidates), dtype=np.int64)
    keys = np.union1d(found, np.array(list(also), dtype=np.int64))
    # A leg without candidates has no ranks to give.
    counted = {name: answer for name, answer in answers.items() if rrf_k is None or answer.keys}
    total = sum(weights[name] for name in counted) or 1.0
    columns = {}
    for name, answer in counted.items():
        ranks = answer.ranks()
        raw, said = _said(name, answer, keys, before)
        scaled = said if rrf_k is None else _by_ranks(keys, ranks, rrf_k)
        columns[name] = _Column(weights[name] / total, ranks, raw, scaled)
    return Fused(keys, columns, found)


def _by_ranks(keys: Keys, ranks: Mapping[int, int], k: float) -> Floats:
    places = np.array([ranks.get(key, 0) for key in keys.tolist()], dtype=np.float64)
    scaled: Floats = np.where(places > 0, (k + 1) / (k + places), 0.0)
    return scaled


def _said(name: str, answer: Answer, keys: Keys, before: Fused | None) -> tuple[Floats, Floats]:
    """The scores of notes (ascending), as `Answer.scores`; the answer is asked for new notes alone."""
    held = None if before is None else before.columns.get(name)
    if before is None or held is None:
        return answer.scores(keys)
    new = ~is_among(keys, before.keys)
    rows = np.searchsorted(before.keys, keys[~new])
    raw, scaled = np.empty(len(keys)), np.empty(len(keys))
    raw[~new], scaled[~new] = held.raw[rows], held.scaled[rows]
    if new.any():
        raw[new], scaled[new] = answer.scores(keys[new])
    return raw, scaled


@dataclass(frozen=True, slots=True)
class LegResults:
    """The answers of the legs that did not abstain, their weights, and the relevance that these give each note."""

    answers: Mapping[str, Answer]
    weights: Mapping[str, float]
    fused: Fused


# Ten ways of saying one thing must not fill ten places: maximal marginal relevance over the best candidates.
#
# Carbonell & Goldstein, SIGIR 1998: each place goes to the note with the greatest ``lambda * worth - (1 - lambda) *
# likeness``, where worth is its score as a share of the best score, and likeness the greatest cosine to a note that
# has its place already. The setting `diversity` is ``1 - lambda``. Only the order changes: a note keeps its score,
# which says how well it answers by itself.

_POOL = 30
#: From this cosine on two notes are said to say the same; below they are only alike.
_REPEATS = 0.8


@dataclass(frozen=True, slots=True)
class Place:
    """A note in its new place: its row by score; the row above that it is most like (-1: none), and how much."""

    row: int
    like: int
    likeness: float


def pool(k: int) -> int:
    """How many of the best candidates compete for k places: with fewer there is little to choose from."""
    return max(3 * k, _POOL)


def spaced(
    dense: DenseLeg, order: Sequence[Ranked], k: int, diversity: float, least: float | None = None
) -> list[Ranked]:
    """The notes, best first, with the best of them in a more varied order for k places; whoever lost one knows to whom.

    None that scores below `least`, and so is no answer, takes a place from one. Where `diversity` is 0 nothing is
    looked up, and the order is as given.
    """
    competing = sum(least is None or each.score >= least for each in order[: pool(k)])
    head, rest = list(order[:competing]), list(order[competing:])
    if diversity <= 0 or len(head) < 2:
        return [*head, *rest]
    vectors = dense.vectors(np.array([each.key for each in head], dtype=np.int64))
    # By the best: how high scores are is the question's doing, and must not decide how much repetition costs.
    worth = np.array([each.score for each in head]) / (head[0].score or 1.0)
    placed: list[Ranked] = []
    for place, chosen in enumerate(diversified(worth, vectors, diversity)):
        each = head[chosen.row]
        if place > chosen.row and chosen.like >= 0:
            like = "repeats" if chosen.likeness >= _REPEATS else "is like"
            note = f"moved down from {ordinal(chosen.row + 1)} place: {like} {short_id(head[chosen.like].id)}"
            each = replace(each, notes=(*each.notes, f"{note} (cosine {chosen.likeness:.2f})"))
        placed.append(each)
    return placed + rest


def diversified(worth: NDArray[np.float64], vectors: NDArray[np.float32], diversity: float) -> list[Place]:
    """A new order of these notes, of which the first keeps its place.

    `worth` (0..1) is best first; `vectors` are L2-normalised rows, of nan for a note without one, which is like no
    other. `diversity` 0 keeps the order, 1 asks for nothing but difference. Equal values keep their order.
    """
    count = len(worth)
    held = np.nan_to_num(vectors.astype(np.float64), nan=0.0)
    # Rounded, since a sum of products depends in its last digits on how the machine adds it up.
    likeness = np.round(np.clip(held @ held.T, 0.0, 1.0), 6)
    nearest, who = np.zeros(count), np.full(count, -1)
    waiting = np.ones(count, dtype=np.bool_)
    order: list[Place] = []
    for _ in range(count):
        value = np.where(waiting, (1.0 - diversity) * worth - diversity * nearest, -np.inf)
        row = int(np.argmax(np.round(value, 12)))
        order.append(Place(row, int(who[row]), float(nearest[row])))
        waiting[row] = False
        nearer = likeness[row] > nearest
        nearest[nearer], who[nearer] = likeness[row][nearer], row
    return order


# A second reading: the best candidates go to a model that reads question and passage together, while time allows.
#
# ``relevance = (1 - w) * fused + w * score``, with w = ``rerank_weight``, for what was read. What was *not* read, as
# it stood too far down or time was up, keeps its place among its like with ``(1 - w) * fused``: reading gave it
# nothing. Left at its whole fused score it would overtake notes for no other reason than that nobody read it, since a
# model gives most passages almost 0. This way all scores are on one scale, and since those with the highest fused
# scores are read first, what was read stands before what was not, however early time was up.
#
# A passage among them in a language that the model cannot read is another matter: others were read before and after
# it. Its relevance changes in the proportion in which theirs did all together.

_log = logging.getLogger(__name__)

LEG = "rerank"
#: Passages between two looks at the clock: more at once are read little faster, and make time run over by more.
_BATCH = 4
#: Characters of a note, and of a question, that are read: models cut at 512 tokens anyway.
_READ = 2_000
#: At a weight of 1 what was not read would have lost its order.
_MOST = 0.999
#: A text of which a model knows less than half is in a language that it cannot read.
_KNOWN = 0.5


@dataclass(frozen=True, slots=True)
class Reread:
    """The result of a second reading. `weight` is 0 where there was none; `notes` say so to people.

    `scores` holds the model's score of what it read, by id, and `assumed` what stands for that of what it could not.
    """

    weight: float = 0.0
    scores: Mapping[str, float] = field(default_factory=dict)
    assumed: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    _ranks: Mapping[str, int] = field(default_factory=dict)

    def relevance(self, id: str, fused: float) -> float:
        """The new relevance of a candidate, read or not."""
        return (1.0 - self.weight) * fused + self.weight * self._score(id)

    def parts(self, id: str, parts: Mapping[str, Part]) -> Mapping[str, Part]:
        """The candidate's parts, whose shares add up to its new relevance where they did to its fused one."""
        if not self.weight:
            return parts
        scaled = {leg: replace(part, weight=(1.0 - self.weight) * part.weight) for leg, part in parts.items()}
        if id in self.scores or id in self.assumed:
            score = self._score(id)
            scaled[LEG] = Part(self._ranks.get(id), score, score, self.weight)
        return scaled

    def _score(self, id: str) -> float:
        return self.scores.get(id, self.assumed.get(id, 0.0))


class Reranking:
    """Asks the reranker that `make` finds: ``make(False)`` one that is on this machine, ``make(True)`` one that may be
    fetched. `clock` tells seconds, for the time box. Safe in many threads."""

    def __init__(
        self,
        make: Callable[[bool], Reranker | None],
        settings: Settings,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._make = make
        self._settings = settings
        self._clock = clock
        self._zone = zone(settings.timezone)
        self._lock = Lock()
        self._model: Reranker | None = None
        self._looked = False
        self._problem = ""
        self._told: set[str] = set()

    def prepare(self, queries: Iterable[Query]) -> None:
        """Load the model that a query wants, once: outside any transaction, and outside the time box.

        Raises MissingModel, MissingExtra and InvalidInput where it was asked for and cannot be had; by default
        (``auto``) it is then done without.
        """
        wishes = {self._wish(query) for query in queries} - {"off"}
        if not wishes or self._model is not None:
            return
        with self._lock:
            if self._model is not None:
                return
            if "on" in wishes:
                self._model = _loaded(self._make(True))
            elif not self._looked:
                self._looked = True
                try:
                    self._model = _loaded(self._make(False))
                except AmemError as error:
                    self._problem = f"not reranked: {error}"
                    self._warn(self._problem)

    def depth(self, query: Query) -> int:
        """How many candidates will be read for a query, and so have to be there, however few are wanted."""
        return self._settings.rerank_candidates if self._model is not None and self._wish(query) != "off" else 0

    def read(self, session: Session, query: Query, fused: Mapping[str, float]) -> Reread:
        """Read the best of the candidates, given with their relevance; `prepare` must have seen the query.

        A model that fails costs its reading, not the search: that is logged, and said in the notes.
        """
        model = self._model
        if self._wish(query) == "off" or not fused:
            return Reread()
        if model is None:
            return Reread(notes=(self._problem,) if self._problem else ())
        best = sorted(fused, key=lambda id: -round(fused[id], 12))[: self._settings.rerank_candidates]
        try:
            return self._read(model, session, query.text[:_READ], {id: fused[id] for id in best})
        except _Failed as error:
            note = f"not reranked: {model.name} failed ({error})"
            self._warn(note, error.__cause__)
            return Reread(notes=(note,))

    def _wish(self, query: Query) -> str:
        if query.rerank is None:
            return self._settings.rerank
        return "on" if query.rerank else "off"

    def _read(self, model: Reranker, session: Session, question: str, best: Mapping[str, float]) -> Reread:
        ids = list(best)
        started, slowest = self._clock(), 0.0
        if not _knows(model, question):
            return Reread(notes=(f"not reranked: {model.name} cannot read the question's language",))
        held = session.notes.get_many(ids, history=False, usage=False, deleted=True)
        box = self._settings.rerank_ms / 1000
        scores: dict[str, float] = {}
        foreign: list[str] = []
        seen = 0
        for start in range(0, len(ids), _BATCH):
            began = self._clock()
            # The next batch takes about as long as those before; one is read in any case.
            if start and began - started + slowest > box:
                break
            batch = [id for id in ids[start : start + _BATCH] if id in held]
            known = [id for id in batch if _knows(model, held[id].content[:_READ])]
            foreign += [id for id in batch if id not in known]
            scores |= zip(
                known, _scores(model, question, [_passage(held[id], self._zone) for id in known]), strict=True
            )
            seen += len(ids[start : start + _BATCH])
            slowest = max(slowest, self._clock() - began)
        notes = []
        if foreign:
            notes.append(f"{len(foreign)} of {len(ids)} not reranked: {model.name} cannot read their language")
        if seen < len(ids):
            notes.append(f"reranking stopped after {seen} of {len(ids)}: {self._settings.rerank_ms:g} ms")
        if not scores:
            return Reread(notes=tuple(notes))
        before = math.fsum(best[id] for id in scores)
        proportion = math.fsum(scores.values()) / before if before else 0.0
        assumed = {id: min(1.0, best[id] * proportion) for id in foreign}
        ranks = {id: rank for rank, id in enumerate(sorted(scores, key=lambda id: -scores[id]), start=1)}
        return Reread(min(self._settings.rerank_weight, _MOST), scores, assumed, tuple(notes), ranks)

    def _warn(self, note: str, error: BaseException | None = None) -> None:
        # Once for each reason: a program may ask a thousand questions.
        if note not in self._told:
            self._told.add(note)
            _log.warning("%s", note, exc_info=error)


def _loaded(model: Reranker | None) -> Reranker | None:
    if model is not None:
        model.load()
    return model


def _passage(note: MemoryNote, zone: tzinfo) -> str:
    """A note as it is read: when it is from, who said it, and what."""
    day = f"({note.at.astimezone(zone):%Y-%m-%d}) " if note.at else ""
    return f"{day}{embedded_text(note, 'content')}"[:_READ]


class _Failed(Exception):
    """A model could not do its work."""


@contextmanager
def _asking() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever a model, anyone's, may raise: there is a good order without it
        raise _Failed(str(error) or type(error).__name__) from error


def _knows(model: Reranker, text: str) -> bool:
    with _asking():
        return model.knows(text) >= _KNOWN


def _scores(model: Reranker, question: str, passages: Sequence[str]) -> Sequence[float]:
    with _asking():
        scores = model.score(question, passages)
        if len(scores) != len(passages) or not all(0.0 <= score <= 1.0 for score in scores):
            raise BadModelAnswer(f"it did not give {len(passages)} passages a score in 0..1 each")
        return scores
