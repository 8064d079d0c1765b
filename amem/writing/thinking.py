"""What an analyst thinks of a stored note: asked outside any transaction, since a model takes seconds and may fail.

A model that is down, slow or talks nonsense costs enrichment, never the note: the offline rules stand in for it, and
the error says that it is to be asked again. Only being called off (Cancelled) ends a thought: nobody answers then, and
the note waits as it did.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from amem.analysis import Evolution
from amem.clock import zone
from amem.errors import BudgetSpent, Cancelled, MissingExtra, MissingModel, NoteNotFound, ServiceUnavailable, with_hint
from amem.llm.usage import Spent
from amem.note import Status
from amem.protocols import Judge
from amem.receipt import Cost
from amem.writing.conflict.candidates import as_rival
from amem.writing.conflict.opinions import from_judgement, questions
from amem.writing.conflict.weighing import NOBODY_ASKED, WEIGHED, Opinions
from amem.writing.neighbours import Candidate, Shown, sharing, show, unknown_cosines
from amem.writing.steps import PREVIOUS_TURNS, draft_of, fill_in
from amem.writing.successors import with_places
from amem.writing.vocabulary import FrequencyCache, StoreVocabulary

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from amem.analysis import Analysis, Draft, Neighbour, Pair
    from amem.note import MemoryNote
    from amem.protocols import Analyst
    from amem.settings import Settings
    from amem.storage import Store
    from amem.vectorizer import Vectorizer
    from amem.writing.canonical import Canon
    from amem.writing.conflict.candidates import Rival
    from amem.writing.conflict.settling import Settler
    from amem.writing.neighbours import Nearest

_T = TypeVar("_T")
_log = logging.getLogger("amem")
#: With these there is nobody to ask, whatever the question is.
NOBODY = (ServiceUnavailable, BudgetSpent, MissingModel, MissingExtra)
#: The rung of the ladder below all of a model's: the rules answered in its place.
OFFLINE = "offline"


@dataclass(slots=True)
class Thought:
    """What was found out about one note, which carries the fields that analysis filled in.

    `analyst` answered the analysis (in `seconds`), `evolver` the question for links and rewrites; `near` are the notes
    nearest to this one, `cosines` tells how alike others are, and `judged` what the model said of those that the rules
    were in doubt of. `errors` say who failed at what, and `nobody` that it would be no use to ask again for this note.
    """

    note: MemoryNote
    draft: Draft
    analysis: Analysis | None = None
    analyst: str = ""
    evolution: Evolution = field(default_factory=Evolution)
    evolver: str = ""
    shown: Shown = field(default_factory=lambda: Shown([], {}, {}))
    near: list[Candidate] = field(default_factory=list)
    cosines: Callable[[Sequence[int]], Sequence[float]] = unknown_cosines
    judged: Opinions = NOBODY_ASKED
    vectors: dict[bytes, NDArray[np.float32]] = field(default_factory=dict)
    fresh: int = 0
    spent: Spent = field(default_factory=Spent)
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)
    nobody: bool = False

    def opinions(self, linked: Opinions) -> Opinions:
        """All that the model said of other notes: in its links, and where it was asked once more."""
        if not self.judged.verdicts:
            return linked
        prompts = ", ".join(filter(None, dict.fromkeys((linked.prompts, self.judged.prompts))))
        return Opinions(self.judged.name, {**self.judged.verdicts, **linked.verdicts}, prompts)


class Thinker:
    """Asks the analyst of one collection. Safe to use from many threads.

    `cancelled` is looked at between two questions; calls under way are the chat model's business.
    """

    def __init__(
        self,
        store: Store,
        dense: Nearest,
        vectorizer: Vectorizer,
        analyst: Callable[[], Analyst],
        fallback: Callable[[], Analyst],
        settler: Settler,
        canon: Canon,
        settings: Settings,
        cancelled: threading.Event,
    ) -> None:
        self._store = store
        self._dense = dense
        self._vectorizer = vectorizer
        self._analyst = analyst
        self._fallback = fallback
        self._settler = settler
        self._canon = canon
        self._settings = settings
        self._cancelled = cancelled
        self._vocabulary = StoreVocabulary(store, FrequencyCache())

    def analyze(self, id: str, *, stand_in: bool = True) -> Thought:
        """Ps1 of a stored note. Without `stand_in` nobody answers for a model that fails: its error is raised.

        Raises NoteNotFound, Cancelled.
        """
        with self._store.read() as session:
            note = session.notes.get(id)
            if note is None:
                raise NoteNotFound(f"no note {id!r}")
            owned = session.notes.owned_fields([id])[id]
            previous: tuple[str, ...] = ()
            if note.conversation_id is not None and note.ordinal is not None:
                previous = tuple(session.notes.previous_turns(note.conversation_id, note.ordinal, PREVIOUS_TURNS))
        started = perf_counter()
        default_zone = zone(self._settings.timezone)
        thought = Thought(note, draft_of(note, default_zone, previous))

        def question(analyst: Analyst) -> Analysis:
            return analyst.analyze(thought.draft, self._vocabulary)

        thought.analysis, thought.analyst = self._ask(thought, "analysis", question, stand_in)
        if thought.analysis is not None:
            fill_in(note, thought.analysis, owned, default_zone, self._canon)
            if "facts" not in owned and note.facts:
                with self._store.read() as session:
                    note.facts = with_places(session, note, self._canon.predicates())
        thought.seconds = perf_counter() - started
        return thought

    def evolve(self, thought: Thought, *, stand_in: bool = True) -> None:
        """Ps2 and Ps3 with the nearest notes as they are now, in place. Raises Cancelled.

        A note that no longer stands (it was taken back, or overturned, while it waited) changes nothing around it.
        """
        vector = self._embed(thought)
        analysis = thought.analysis
        if vector is None or analysis is None or thought.note.status is not Status.ACTIVE:
            return
        neighbours = self._neighbours(thought, vector)
        if not neighbours:
            return

        def question(analyst: Analyst) -> Evolution:
            return analyst.evolve(thought.draft, analysis, neighbours, self._vocabulary)

        evolution, thought.evolver = self._ask(thought, "evolution", question, stand_in)
        thought.evolution = evolution or Evolution()
        self._judge(thought)

    def _judge(self, thought: Thought) -> None:
        """Ask once more of what the rules doubt and the answer left out; a model that fails costs its verdict alone."""
        analyst = self._analyst()
        if not isinstance(analyst, Judge) or analyst.name != thought.evolver:
            return
        asked = self._doubts(thought)
        if not asked:
            return
        before = spent_by(analyst)
        try:
            judgement = analyst.judge([pair for _, pair in asked.values()])
        except Cancelled:
            raise
        except Exception as error:
            _log.warning("judging by %s failed: %s", analyst.name, error)
            return
        finally:
            thought.spent += spent_by(analyst) - before
            self._go_on()
        thought.judged = Opinions(analyst.name, from_judgement(asked, judgement), judgement.prompt)

    def _doubts(self, thought: Thought) -> dict[str, tuple[Rival, Pair]]:
        covered = {
            thought.shown.notes[link.handle].id
            for link in thought.evolution.links
            if link.type in WEIGHED and link.handle in thought.shown.notes
        }
        with self._store.read() as session:
            key = session.notes.keys_of([thought.note.id]).get(thought.note.id)
            if key is None:
                return {}
            own = as_rival(key, thought.note, {})
            found = self._settler.rivals(session, thought.note, thought.near, thought.cosines)
            return questions(own, self._settler.weigher.doubtful(session, own, found, covered))

    def _ask(
        self, thought: Thought, step: str, question: Callable[[Analyst], _T], stand_in: bool
    ) -> tuple[_T | None, str]:
        """The answer and who gave it: the analyst, or when it fails the offline rules, so that the note is usable."""
        analyst = self._analyst()
        if not thought.nobody:
            before = spent_by(analyst)
            try:
                return question(analyst), analyst.name
            except Cancelled:
                raise
            except Exception as error:  # whatever an analyst does, the note is kept
                if not stand_in:
                    raise
                _log.warning("%s by %s failed: %s", step, analyst.name, error)
                thought.errors.append(f"{step} by {analyst.name}: {with_hint(error)}")
                thought.nobody = isinstance(error, NOBODY)
            finally:
                thought.spent += spent_by(analyst) - before
                self._go_on()
        if analyst.local:
            return None, ""
        fallback = self._fallback()
        try:
            answer = question(fallback)
        except Exception as error:
            _log.warning("%s by %s failed too: %s", step, fallback.name, error)
            thought.errors.append(f"{step} by {fallback.name}: {error}")
            return None, ""
        thought.spent += Spent(rungs=((OFFLINE, 1),))
        return answer, fallback.name

    def _go_on(self) -> None:
        # A call that could not be broken off ends in its own time; what it brought comes too late to be written down.
        if self._cancelled.is_set():
            raise Cancelled("the analysis was called off", hint="the note is stored; amem enrich goes on with it")

    def _embed(self, thought: Thought) -> NDArray[np.float32] | None:
        try:
            vectors, fresh = self._vectorizer.embed([self._vectorizer.text(thought.note)])
        except Exception as error:
            _log.warning("embedding failed: %s", error)
            thought.errors.append(f"embedding: {error}")
            return None
        thought.vectors, thought.fresh = vectors, len(fresh)
        return next(iter(vectors.values()))

    def _neighbours(self, thought: Thought, vector: NDArray[np.float32]) -> list[Neighbour]:
        self._dense.refresh()
        # One more than wanted, since the note itself is stored already and is its own nearest.
        wanted = max(self._settings.neighbours, self._settings.conflict_neighbours)
        keys, cosines = self._dense.search_many(vector[np.newaxis], wanted + 1)[0]
        nearest = [Candidate(int(key), float(cos)) for key, cos in zip(keys, cosines, strict=True)]
        with self._store.read() as session:
            own = session.notes.keys_of([thought.note.id]).get(thought.note.id, -1)
            thought.near = [each for each in nearest if each.key != own]
            thought.cosines = partial(self._cosines, vector)
            nearest = thought.near[: self._settings.neighbours]
            seen = {own, *(each.key for each in nearest)}
            nearest += sharing(session, thought.note, lambda keys: self._cosines(vector, keys), exclude=seen)
            thought.shown = show(session, nearest, thought.note)
        return thought.shown.neighbours

    def _cosines(self, vector: NDArray[np.float32], keys: Sequence[int]) -> list[float]:
        return [float(cosine) for cosine in self._dense.cosines(vector, np.array(keys, dtype=np.int64))]


def cost_of(spent: Spent) -> Cost:
    """What a model was asked for, as a receipt tells it."""
    return Cost(spent.calls, spent.tokens_in, spent.tokens_out, rungs=dict(spent.rungs))


def spent_by(analyst: Analyst) -> Spent:
    """What an analyst has used so far in this thread: others may be asking the same model meanwhile."""
    usage = getattr(analyst, "usage", None)
    return Spent() if usage is None else usage.here
