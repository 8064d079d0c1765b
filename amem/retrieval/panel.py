"""The legs of a search, asked together, and what they said as one relevance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.retrieval.dating import Dating
from amem.retrieval.dense import MeaningLeg
from amem.retrieval.entity import EntityLeg
from amem.retrieval.facts import FactsLeg
from amem.retrieval.fusion import Convex, Fused, Fusion, ReciprocalRanks
from amem.retrieval.intents import weights
from amem.retrieval.kinds import KindLeg
from amem.retrieval.legs import Answer, Asked, Leg, Listed
from amem.retrieval.lexical import LexicalLeg
from amem.retrieval.speaker import SpeakerLeg
from amem.retrieval.timing import TimeLeg
from amem.text import query_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from amem.protocols import Vector
    from amem.retrieval.frequencies import Frequencies
    from amem.retrieval.protocols import DenseIndex
    from amem.settings import Settings
    from amem.truth.predicates import Predicates


@dataclass(frozen=True, slots=True)
class Heard:
    """What each leg had to say that did not abstain, what it counts for, and what that comes to for each note."""

    answers: Mapping[str, Answer]
    counts: Mapping[str, float]
    fused: Fused


class Panel:
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
            EntityLeg(frequencies),
            FactsLeg(settings, predicates),
            SpeakerLeg(),
            TimeLeg(senses, local),
            KindLeg(senses),
        )

    def settle(self, asked: Asked, event: Vector | None) -> Asked:
        """The question with the event that it measures time by, if any, looked up; `event` is that one's vector."""
        return replace(asked, reading=self._dating.settle(asked, event))

    def ask(self, asked: Asked, wanted: Collection[str], also: Sequence[int]) -> Heard:
        """What the `wanted` legs say to a question; `fused` knows the notes `also` given."""
        answers: dict[str, Answer] = {}
        asked = replace(asked, heard=answers)
        for leg in self._legs:
            if leg.name in wanted and (said := leg.ask(asked)) is not None:
                answers[leg.name] = said
        counts = weights(self._settings, answers, asked.reading.intents)
        if "dense" in counts:
            counts["dense"] *= self._trust(asked.reading.meaning or asked.reading.text)
        return Heard(answers, counts, self.fusion.fuse(answers, counts, also))

    def last_resort(self, asked: Asked, also: Sequence[int]) -> Heard:
        """Notes made from raw input that holds the question's words, in place of what the legs did not find."""
        session, terms = asked.session, query_terms(asked.reading.lexical)
        sources = [source.id for source in session.sources.search(terms, asked.limit)]
        made = session.sources.notes_of(sources)
        ids = list(dict.fromkeys(made[source] for source in sources if source in made))
        allowed = asked.gate.admit_ids(ids)
        keys = [asked.gate.keys[id] for id in ids if id in allowed]
        answers = {"source": Listed(keys, [1 / place for place in range(1, len(keys) + 1)], 1.0)}
        return Heard(answers, {"source": 1.0}, self.fusion.fuse(answers, {"source": 1.0}, also))

    def joined(self, heard: Heard, joining: Collection[int], also: Sequence[int]) -> Heard:
        """What was heard with these notes among the candidates, scored exactly by each leg."""
        return replace(heard, fused=self.fusion.fuse(heard.answers, heard.counts, also, joining))
