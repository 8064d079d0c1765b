"""An analyst that asks a language model: Ps1 in one call, Ps2 and Ps3 in another (A-Mem, arXiv 2502.12110)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from amem.analysis import Evolution
from amem.errors import BadModelAnswer
from amem.llm import showing
from amem.llm.answers import read_analysis, read_evolution
from amem.llm.prompts import load_prompt
from amem.llm.schemas import analysis_schema, evolution_schema
from amem.llm.usage import Metered, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from amem.analysis import Analysis, Draft, Neighbour, Rewrite
    from amem.protocols import ChatModel, Vocabulary

    Answer = TypeVar("Answer")

#: How many of the collection's own tags a model is offered.
_TAGS_OFFERED = 20
#: How much of an answer that could not be used the model is shown again.
_SHOWN_AGAIN = 150


class ModelAnalyst:
    """Reads notes with `chat`. `prompts` is a folder whose files stand in for amem's own prompts.

    A model that answers outside its schema is asked once more and shown its error; after that BadModelAnswer is
    raised, as ServiceUnavailable and MissingModel are when there is nobody to ask. Safe to use from many threads when
    `chat` is.
    """

    def __init__(self, chat: ChatModel, *, prompts: Path | None = None) -> None:
        self._chat = chat
        self._prompts = prompts
        self._unmetered = Usage()

    @property
    def name(self) -> str:
        return self._chat.name

    @property
    def local(self) -> bool:
        """False: a call takes seconds and may fail."""
        return False

    @property
    def usage(self) -> Usage:
        """What the calls cost; of a chat model that does not say, only the calls are counted."""
        return self._chat.usage if isinstance(self._chat, Metered) else self._unmetered

    def analyze(self, draft: Draft, vocabulary: Vocabulary) -> Analysis:
        """Keywords, context, tags, kind, importance and entities of a new note (Ps1)."""
        counted = vocabulary.tags()
        known = sorted(counted, key=lambda tag: (-counted[tag], tag))[:_TAGS_OFFERED]
        prompt = load_prompt("analyze", self._prompts).render(
            note=showing.note(draft.content),
            speaker=showing.line(draft.speaker or "", 8) or "unknown",
            when=showing.when(draft.at),
            previous="\n".join(showing.line(turn, showing.TURN_WORDS) for turn in draft.previous) or "-",
            tags=showing.listed(known),
        )
        return self._ask(prompt, analysis_schema(), read_analysis)

    def evolve(
        self, draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour], vocabulary: Vocabulary
    ) -> Evolution:
        """Links and tags for the new note, rewrites for its neighbours (Ps2 and Ps3); no call without neighbours."""
        shown = neighbours[: showing.MOST_NEIGHBOURS]
        if not shown:
            return Evolution()
        handles = tuple(neighbour.handle for neighbour in shown)
        prompt = load_prompt("evolve", self._prompts).render(
            note=showing.note(draft.content),
            context=showing.line(analysis.context, showing.NEIGHBOUR_WORDS) or "-",
            tags=showing.listed(analysis.tags),
            when=showing.when(draft.at),
            neighbours=showing.neighbours(shown),
            handles=", ".join(handles),
        )
        evolution = self._ask(prompt, evolution_schema(handles), lambda text: read_evolution(text, handles))
        by_handle = {neighbour.handle: neighbour for neighbour in shown}
        changes = (_real_change(rewrite, by_handle[rewrite.handle]) for rewrite in evolution.rewrites)
        return replace(evolution, rewrites=tuple(change for change in changes if change is not None))

    def _ask(self, prompt: str, schema: Mapping[str, object], read: Callable[[str], Answer]) -> Answer:
        answer = self._complete(prompt, schema)
        try:
            return read(answer)
        except BadModelAnswer as error:
            again = load_prompt("retry", self._prompts).render(
                prompt=prompt, answer=showing.line(answer, _SHOWN_AGAIN), error=str(error)
            )
        answer = self._complete(again, schema)
        try:
            return read(answer)
        except BadModelAnswer as error:
            raise BadModelAnswer(
                f"{self.name} answered twice outside its schema: {error}",
                hint="try a larger model (AMEM_LLM_MODEL); `amem enrich` asks again",
            ) from error

    def _complete(self, prompt: str, schema: Mapping[str, object]) -> str:
        answer = self._chat.complete(prompt, schema=schema)
        if not isinstance(self._chat, Metered):
            self._unmetered.add()
        return answer


def _real_change(rewrite: Rewrite, neighbour: Neighbour) -> Rewrite | None:
    # Models, and the paper's format by design, repeat what they would leave as it is.
    context = None if rewrite.context == neighbour.context else rewrite.context
    tags = None if rewrite.tags is not None and set(rewrite.tags) == set(neighbour.tags) else rewrite.tags
    return None if context is None and tags is None else replace(rewrite, context=context, tags=tags)
