"""The offline analyst: the rules of this folder behind the `Analyst` protocol.

The rules are loaded with the first text that is read: who only writes that a known note was told again needs none.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from amem.analysis import Analysis, Evolution

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.analysis import Draft, Extraction, Neighbour, Passage
    from amem.language.predicates import Predicates
    from amem.language.word_reading import Reading
    from amem.note import Kind
    from amem.protocols import Vocabulary


class OfflineAnalyst:
    """Reads English and Chinese notes by rules and word lists: no model, no network, the same answer every time.

    `predicates` is the table of predicates that facts go by, asked for with the first note (None: amem's own).
    """

    def __init__(self, predicates: Callable[[], Predicates] | None = None) -> None:
        self._predicates = predicates or cache(_own_predicates)

    @property
    def name(self) -> str:
        """The name kept with everything it changed."""
        return "offline"

    @property
    def local(self) -> bool:
        """True: quick, free and deterministic."""
        return True

    def analyze(self, draft: Draft, vocabulary: Vocabulary) -> Analysis:
        """Keywords, context, tags, kind, importance, entities and facts of a new note (A-Mem's Ps1)."""
        from amem.analysts.rules.keyphrases import keyphrases
        from amem.analysts.rules.kinds import importance_of, kind_of
        from amem.analysts.rules.note_context import context_of
        from amem.analysts.rules.tags import tags_for
        from amem.language.entities import names, spelled
        from amem.language.statements import facts_in
        from amem.language.word_reading import read
        from amem.note import Kind

        reading = read(draft.content)
        found = names(reading)
        kind = kind_of(reading)
        keywords = keyphrases(reading, found, kind, vocabulary)
        return Analysis(
            keywords=keywords,
            context=context_of(draft, reading, kind, vocabulary),
            tags=tags_for(reading, kind, keywords, vocabulary, _leaned_on(draft, reading, kind)),
            kind=kind,
            importance=importance_of(reading, kind, found),
            entities=spelled(found),
            facts=() if kind is Kind.CODE else facts_in(draft, self._predicates()),
        )

    def evolve(
        self, draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour], vocabulary: Vocabulary
    ) -> Evolution:
        """Links from the new note, and what its neighbours should say now that it is there (Ps2 and Ps3)."""
        from amem.analysts.rules.linking import propose_links
        from amem.analysts.rules.note_context import propose_rewrites

        grounds = propose_links(draft, analysis, neighbours, vocabulary)
        return Evolution(
            links=tuple(ground.link for ground in grounds),
            rewrites=tuple(propose_rewrites(draft, analysis, grounds)),
        )

    def extract(self, passage: Passage) -> Extraction:
        """One statement for each substantive sentence that a person said; no procedures."""
        from amem.analysts.rules.extracting import extract

        return extract(passage)


def _leaned_on(draft: Draft, reading: Reading, kind: Kind) -> Reading | None:
    """What was said before, if the note makes no sense without it."""
    from amem.analysts.rules.note_context import leans, said_before
    from amem.language.word_reading import read

    return read(said_before(draft.previous[-1])[1]) if draft.previous and leans(reading, kind) else None


def _own_predicates() -> Predicates:
    from amem.language.predicates import load_predicates

    return load_predicates()
