"""What an analyst thinks of a stored note: asked outside any transaction, since a model takes seconds and may fail.

A model that is down, slow or talks nonsense costs enrichment, never the note: the offline rules stand in for it, and
the error says that it is to be asked again. Only being called off (Cancelled) ends a thought: nobody answers then, and
the note waits as it did.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from amem.analysis import Analysis, Described, Draft, Evolution
from amem.conflict.candidates import Candidate, cosines_to, nearest, unknown_cosines
from amem.errors import BudgetSpent, Cancelled, MissingExtra, MissingModel, NoteNotFound, ServiceUnavailable, with_hint
from amem.labels import short_id
from amem.llm.guarded import spent_by
from amem.note import Cost, MemoryNote, Scope, Status
from amem.protocols import Analyst, BatchAnalyst
from amem.writing.batch import FrequencyCache, StoreVocabulary
from amem.writing.evolution import Shown, best, sharing, show
from amem.writing.fields import ANALYSED, BY_RULES, PREVIOUS_TURNS, Canon, draft_of, fill_in, with_places

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.collection import Collection


_T = TypeVar("_T")
_log = logging.getLogger("amem")
#: With these there is nobody to ask, whatever the question is.
NOBODY = (ServiceUnavailable, BudgetSpent, MissingModel, MissingExtra)
LEFT_OUT = "the model left the note out"
#: The rung of the ladder below all of a model's: the rules answered in its place.
OFFLINE = "offline"


@dataclass(slots=True)
class Thought:
    """What was found out about one note, which carries the fields that analysis filled in.

    `analyst` answered the analysis (in `seconds`), `evolver` the question for links and rewrites; `near` are the notes
    nearest to this one, and `cosines` tells how alike others are. `owned` names the fields that people hold. `errors`
    say who failed at what, and `nobody` that it would be no use to ask again for this note.
    """

    note: MemoryNote
    draft: Draft
    analysis: Analysis | None = None
    analyst: str = ""
    evolution: Evolution = field(default_factory=Evolution)
    evolver: str = ""
    shown: Shown = field(default_factory=Shown)
    near: list[Candidate] = field(default_factory=list)
    cosines: Callable[[Sequence[int]], Sequence[float]] = unknown_cosines
    owned: Mapping[str, str] = field(default_factory=dict)
    vectors: dict[bytes, NDArray[np.float32]] = field(default_factory=dict)
    fresh: int = 0
    spent: Cost = field(default_factory=Cost)
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)
    nobody: bool = False


@dataclass(frozen=True)
class Thinker:
    """Asks the analyst of one collection. Safe to use from many threads.

    `cancelled` is looked at between two questions; calls under way are the chat model's business.
    """

    collection: Collection
    analyst: Callable[[], Analyst]
    fallback: Callable[[], Analyst]
    canon: Canon
    cancelled: threading.Event

    @cached_property
    def _vocabulary(self) -> StoreVocabulary:
        return StoreVocabulary(self.collection.store, FrequencyCache())

    def analyze(self, id: str, *, stand_in: bool = True) -> Thought:
        """Ps1 of a stored note. Without `stand_in` nobody answers for a model that fails: its error is raised.

        Raises NoteNotFound, Cancelled.
        """
        thought = self._begin(id)
        started = perf_counter()

        def question(analyst: Analyst) -> Analysis:
            return analyst.analyze(thought.draft, self._vocabulary.of(thought.note))

        thought.analysis, thought.analyst = self._ask(thought, "analysis", question, stand_in)
        if thought.analysis is not None:
            # Also of answers that were of no use: they leave fewer calls for the question that follows.
            self._take_over(thought, replace(thought.analysis, calls=thought.spent.calls))
        thought.seconds = perf_counter() - started
        return thought

    def _begin(self, id: str) -> Thought:
        with self.collection.store.read() as session:
            note = session.notes.get(id)
            if note is None:
                raise NoteNotFound(f"no note {id!r}")
            owned = session.notes.owned_fields([id])[id]
            previous: tuple[str, ...] = ()
            if note.conversation_id is not None and note.ordinal is not None:
                with session.within(Scope.of(note.metadata)):
                    previous = tuple(session.notes.previous_turns(note.conversation_id, note.ordinal, PREVIOUS_TURNS))
        return Thought(note, draft_of(note, self.collection.zone, previous), owned=owned)

    def _take_over(self, thought: Thought, analysis: Analysis) -> None:
        """Write the analysis into the note; what the model left out comes from the rules, and the note says so."""
        note, reasons = thought.note, dict(analysis.unusable)
        reasons = {name: reason for name, reason in reasons.items() if name not in thought.owned}
        if reasons:
            by_rules = self.fallback().analyze(thought.draft, self._vocabulary.of(note))
            analysis = replace(analysis, **{name: getattr(by_rules, name) for name in reasons})
        thought.analysis = analysis
        fill_in(note, analysis, thought.owned, self.collection.zone, self.canon)
        if "facts" not in thought.owned and note.facts:
            with self.collection.store.read() as session:
                note.facts = with_places(session, note, self.canon.predicates())
        note.metadata = {name: value for name, value in note.metadata.items() if name != BY_RULES}
        if reasons:
            note.metadata[BY_RULES] = reasons

    def evolve(self, thought: Thought, *, stand_in: bool = True) -> None:
        """Ps2 and Ps3 with the nearest notes as they are now, in place. Raises Cancelled.

        A note that no longer stands (it was taken back, or overturned, while it waited) changes nothing around it.
        """
        vector = self._embed(thought)
        analysis = thought.analysis
        if vector is None or analysis is None or thought.note.status is not Status.ACTIVE:
            return
        names = (*thought.note.entities, *thought.note.keywords)
        near = self._nearest(thought, vector, names, [thought.note.id])
        with self.collection.store.read() as session:
            thought.shown = show(session, near, thought.note)
        neighbours = thought.shown.neighbours
        if not neighbours:
            return

        def question(analyst: Analyst) -> Evolution:
            return analyst.evolve(thought.draft, analysis, neighbours, self._vocabulary.of(thought.note))

        evolution, thought.evolver = self._ask(thought, "evolution", question, stand_in)
        thought.evolution = evolution or Evolution()

    @property
    def is_quick(self) -> bool:
        """Whether the analyst takes milliseconds, as the rules do."""
        return self.analyst().local

    @property
    def takes_many(self) -> bool:
        """Whether the analyst can analyse several notes in one call."""
        return isinstance(self.analyst(), BatchAnalyst)

    def think_together(self, ids: Sequence[str], again: int) -> list[Thought]:
        """All of analysis of several stored notes of one scope in one call, for an analyst that can (`BatchAnalyst`).

        Each is held against the same old notes, and none against another of them: they were said together. `again`
        bounds the further calls for answers that are of no use; a model that fails is stood in for by the rules, note
        by note. Notes that are gone are left out. What the call cost is the first thought's. Raises Cancelled.
        """
        thoughts = []
        for id in ids:
            try:
                thoughts.append(self._begin(id))
            except NoteNotFound:
                _log.info("note %s was purged before it was analysed", short_id(id))
        if not thoughts:
            return []
        started = perf_counter()
        self._show_the_same(thoughts)
        described = self._describe(thoughts, again)
        for thought, each in zip(thoughts, described, strict=True):
            self._take_over_described(thought, each)
            if self.collection.vectorizer.reads(ANALYSED):
                self._embed(thought)
            thought.seconds = (perf_counter() - started) / len(thoughts)
        return thoughts

    def _describe(self, thoughts: Sequence[Thought], again: int) -> Sequence[Described | None]:
        """What the analyst says of each note; None for all where it fails, with its error on each of them."""
        analyst, first = self.analyst(), thoughts[0]
        assert isinstance(analyst, BatchAnalyst)
        before = spent_by(analyst)
        drafts = [thought.draft for thought in thoughts]
        try:
            vocabulary = self._vocabulary.of(first.note)
            return analyst.analyze_all(drafts, first.shown.neighbours, vocabulary, again=again)
        except Cancelled:
            raise
        except Exception as error:  # whatever an analyst does, the notes are kept
            _log.warning("analysis by %s failed: %s", analyst.name, error)
            for thought in thoughts:
                thought.errors.append(f"analysis by {analyst.name}: {with_hint(error)}")
                thought.nobody = True
            return [None] * len(thoughts)
        finally:
            first.spent += spent_by(analyst) - before
            self._go_on()

    def _take_over_described(self, thought: Thought, described: Described | None) -> None:
        analyst = self.analyst()
        fallback = self.fallback()
        analysis = None if described is None else described.analysis
        if analysis is None:
            analysis = fallback.analyze(thought.draft, self._vocabulary.of(thought.note))
            if described is not None:
                missing = {name: LEFT_OUT for name in ("keywords", "context", "tags") if name not in thought.owned}
                analysis = replace(analysis, unusable=tuple(missing.items()))
        self._take_over(thought, analysis)
        thought.analyst = fallback.name if described is None else analyst.name
        thought.evolver = thought.analyst
        if described is not None:
            # Of a note that sees no old ones whatever is proposed falls by the guards: it names what was not shown.
            thought.evolution = described.evolution
        else:
            thought.spent += Cost(rungs={OFFLINE: 1})
            if thought.shown.neighbours and thought.analysis is not None:
                neighbours = thought.shown.neighbours
                vocabulary = self._vocabulary.of(thought.note)
                thought.evolution = fallback.evolve(thought.draft, thought.analysis, neighbours, vocabulary)

    def _show_the_same(self, thoughts: Sequence[Thought]) -> None:
        """Have every thought see the same old notes under the same handles: the best of those that are near to any."""
        found: dict[int, float] = {}
        seen = set()
        together = [thought.note.id for thought in thoughts]
        for thought in thoughts:
            vector = self._embed(thought)
            if vector is None or thought.note.status is not Status.ACTIVE:
                continue  # one that was taken back meanwhile changes nothing around it
            seen.add(thought.note.id)
            by_rules = self.fallback().analyze(thought.draft, self._vocabulary.of(thought.note))
            near = self._nearest(thought, vector, (*by_rules.entities, *by_rules.keywords), together)
            for rank, each in enumerate(near):
                # The first of every note before the second of any.
                found[each.key] = min(found.get(each.key, len(near)), rank - min(1.0, each.cosine) / 2)
        chosen = sorted(found, key=lambda key: found[key])[: self.collection.settings.neighbours]
        with self.collection.store.read() as session:
            for thought in thoughts:
                if thought.note.id in seen and chosen:
                    candidates = map(Candidate, chosen, thought.cosines(chosen))
                    thought.shown = show(session, list(candidates), thought.note)

    def _ask(
        self, thought: Thought, step: str, question: Callable[[Analyst], _T], stand_in: bool
    ) -> tuple[_T | None, str]:
        """The answer and who gave it: the analyst, or when it fails the offline rules, so that the note is usable."""
        analyst = self.analyst()
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
        fallback = self.fallback()
        try:
            answer = question(fallback)
        except Exception as error:
            _log.warning("%s by %s failed too: %s", step, fallback.name, error)
            thought.errors.append(f"{step} by {fallback.name}: {error}")
            return None, ""
        thought.spent += Cost(rungs={OFFLINE: 1})
        return answer, fallback.name

    def _go_on(self) -> None:
        # A call that could not be broken off ends in its own time; what it brought comes too late to be written down.
        if self.cancelled.is_set():
            raise Cancelled("the analysis was called off", hint="the note is stored; amem enrich goes on with it")

    def _embed(self, thought: Thought) -> NDArray[np.float32] | None:
        try:
            vectors, fresh = self.collection.vectorizer.embed([self.collection.vectorizer.text(thought.note)])
        except Exception as error:
            _log.warning("embedding failed: %s", error)
            thought.errors.append(f"embedding: {error}")
            return None
        thought.vectors, thought.fresh = vectors, len(fresh)
        return next(iter(vectors.values()))

    def _nearest(
        self, thought: Thought, vector: NDArray[np.float32], names: Sequence[str], exclude: Sequence[str]
    ) -> list[Candidate]:
        """The notes worth showing with a note that has these `names` and keywords, but for the ids of `exclude`.

        The nearest of all are kept in `thought`.
        """
        self.collection.dense.refresh()
        # More than wanted, since the note itself is stored already and is its own nearest.
        wanted = max(self.collection.settings.neighbours, self.collection.settings.conflict_neighbours)
        scope = Scope.of(thought.note.metadata)
        most = self.collection.settings.neighbours
        thought.cosines = cosines_to(self.collection.dense, vector)
        with self.collection.store.read() as session, session.within(scope):
            found = nearest(session, self.collection.dense, vector, wanted + len(exclude), scope)
            out = session.notes.keys_of(exclude)
            own = out.get(thought.note.id, -1)
            named = sharing(session, names, thought.cosines, own) if most else []
        thought.near = [each for each in found if each.key != own]
        hidden = set(out.values())
        free = [each for each in thought.near if each.key not in hidden][:most]
        return best(free, [each for each in named if each.key not in hidden], most)
