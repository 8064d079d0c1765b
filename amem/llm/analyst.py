"""An analyst that asks a language model: Ps1 in one call, Ps2 and Ps3 in another (A-Mem, arXiv 2502.12110)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amem.analysis import Evolution
from amem.llm import showing
from amem.llm.answers import ANALYSIS_FIELDS, EVOLUTION_FIELDS, read_analysis, read_evolution
from amem.llm.batch_analysis import analyze_all, most_used
from amem.llm.extracting import extract
from amem.llm.grounding import ground_analysis, ground_evolution
from amem.llm.judging import judge
from amem.llm.ladder import MOST_AGAIN, Ladder, Question
from amem.llm.merging import draft_merge
from amem.llm.paper_answers import FIELDS as PAPER_FIELDS
from amem.llm.prompts import language_of
from amem.llm.schemas import analysis_schema, evolution_schema
from amem.llm.sections import analysis_lines, evolution_lines
from amem.llm.topic_pages import write_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amem.analysis import (
        Analysis,
        Described,
        Draft,
        Extraction,
        Judgement,
        MergeDraft,
        Neighbour,
        PageDraft,
        PageNote,
        Pair,
        Passage,
        Rewrite,
    )
    from amem.llm.usage import Usage
    from amem.protocols import ChatModel, Vocabulary


class ModelAnalyst:
    """Reads notes with `chat`. `prompts` is a folder whose files stand in for amem's own prompts.

    Every question climbs down the ladder (see ``amem.llm.ladder``); below its last rung BadModelAnswer is raised, as
    ServiceUnavailable and MissingModel are when there is nobody to ask. Each is asked in the language of the note. Safe
    to use from many threads when `chat` is.
    """

    def __init__(self, chat: ChatModel, *, prompts: Path | None = None) -> None:
        self._ladder = Ladder(chat, prompts=prompts)

    @property
    def name(self) -> str:
        return self._ladder.name

    @property
    def local(self) -> bool:
        """False: a call takes seconds and may fail."""
        return False

    @property
    def usage(self) -> Usage:
        """What the calls cost, and which rungs gave the answers."""
        return self._ladder.usage

    def analyze(self, draft: Draft, vocabulary: Vocabulary) -> Analysis:
        """Keywords, context, tags, kind, importance, entities and facts of a new note (Ps1)."""
        known = most_used(vocabulary)
        language = language_of(draft.content)
        known_words = "\n".join((draft.content, draft.speaker or "", *draft.previous))
        question = Question(
            prompt="analyze",
            values={
                "note": showing.note(draft.content),
                "speaker": showing.line(draft.speaker or "", 8) or "-",
                "when": showing.when(draft.at, language),
                "previous": "\n".join(showing.line(turn, showing.TURN_WORDS) for turn in draft.previous) or "-",
                "tags": showing.listed(known),
            },
            schema=analysis_schema(),
            fields=ANALYSIS_FIELDS,
            read=lambda answer: ground_analysis(read_analysis(answer), known_words),
            sections=analysis_lines,
            language=language,
        )
        answered = self._ladder.ask(question)
        return replace(answered.value, prompt=answered.prompt, calls=answered.calls)

    def evolve(
        self, draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour], vocabulary: Vocabulary
    ) -> Evolution:
        """Links and tags for the new note, rewrites for its neighbours (Ps2 and Ps3); no call without neighbours.

        Unusable answers to this and to the analysis together cost `MOST_AGAIN` further calls.
        """
        shown = neighbours[: showing.MOST_NEIGHBOURS]
        if not shown:
            return Evolution()
        handles = tuple(neighbour.handle for neighbour in shown)
        language = language_of(draft.content)
        question = Question(
            prompt="evolve",
            values={
                "note": showing.note(draft.content, showing.NEW_NOTE_WORDS),
                "context": showing.line(analysis.context, showing.CONTEXT_WORDS) or "-",
                "tags": showing.listed(analysis.tags),
                "when": showing.when(draft.at, language),
                "neighbours": showing.neighbours(shown, language),
                "handles": ", ".join(handles),
            },
            schema=evolution_schema(handles),
            fields=EVOLUTION_FIELDS | PAPER_FIELDS,
            read=lambda answer: _evolution(answer, shown),
            sections=evolution_lines,
            language=language,
            again=MOST_AGAIN - max(0, analysis.calls - 1),
        )
        answered = self._ladder.ask(question)
        return replace(answered.value, prompt=answered.prompt)

    def analyze_all(
        self, drafts: Sequence[Draft], neighbours: Sequence[Neighbour], vocabulary: Vocabulary, *, again: int
    ) -> Sequence[Described]:
        """Ps1, Ps2 and Ps3 of several new notes in one call; see ``amem.llm.batch_analysis``."""
        return analyze_all(self._ladder, drafts, neighbours, vocabulary, again=again)

    def judge(self, pairs: Sequence[Pair]) -> Judgement:
        """What the newer note of each pair is to the older; no call without pairs."""
        return judge(self._ladder, pairs)

    def page(self, title: str, present: str, notes: Sequence[PageNote]) -> PageDraft:
        """The page of a topic anew, in one call."""
        return write_page(self._ladder, title, present, notes)

    def merge(self, parts: Sequence[str]) -> MergeDraft:
        """Whether notes say the same, and the one note for all of them, in one call."""
        return draft_merge(self._ladder, parts)

    def extract(self, passage: Passage) -> Extraction:
        """What a piece of conversation states that is worth remembering; nothing that it does not state."""
        return extract(self._ladder, passage)


def _evolution(answer: dict[str, Any], shown: Sequence[Neighbour]) -> Evolution:
    evolution = read_evolution(answer, [neighbour.handle for neighbour in shown])
    if not PAPER_FIELDS & answer.keys():  # the paper's format has no quotes
        evolution = ground_evolution(evolution, {neighbour.handle: neighbour.content for neighbour in shown})
    by_handle = {neighbour.handle: neighbour for neighbour in shown}
    changes = (_real_change(rewrite, by_handle[rewrite.handle]) for rewrite in evolution.rewrites)
    return replace(evolution, rewrites=tuple(change for change in changes if change is not None))


def _real_change(rewrite: Rewrite, neighbour: Neighbour) -> Rewrite | None:
    # Models, and the paper's format by design, repeat what they would leave as it is.
    context = None if rewrite.context == neighbour.context else rewrite.context
    tags = None if rewrite.tags is not None and set(rewrite.tags) == set(neighbour.tags) else rewrite.tags
    return None if context is None and tags is None else replace(rewrite, context=context, tags=tags)
