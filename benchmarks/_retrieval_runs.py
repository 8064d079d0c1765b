"""Questions about one conversation, put to amem or to a peer: what was found, where, and how long it took."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from _ranking_scores import places_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from _kept_vectors import KeptVectors
    from _locomo_file import Conversation, Question
    from _retrieval_configurations import Configuration

    from amem import AgenticMemorySystem, Hit


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where one question's evidence was found; `ms` without embedding the question, None for a peer."""

    conversation: str
    question: Question
    places: tuple[int | None, ...]
    ms: float | None = None


def ask_amem(
    memory: AgenticMemorySystem,
    name: str,
    questions: Sequence[Question],
    configuration: Configuration,
    k: int,
    vectors: KeptVectors,
    made_from: Callable[[Hit], Collection[str]],
) -> list[Outcome]:
    """Each question by itself, as a user asks it; `made_from` says which evidence a hit counts as."""
    outcomes = []
    for question in questions:
        query = configuration.query(question.text, k)
        embedding, start = vectors.seconds, time.perf_counter()
        hits = memory.ask(query)
        seconds = time.perf_counter() - start - (vectors.seconds - embedding)
        places = places_of(question.evidence, [made_from(hit) for hit in hits])
        outcomes.append(Outcome(name, question, places, seconds * 1000))
    return outcomes


def turns_of(hit: Hit, conversation: Conversation) -> set[str]:
    """The turns of the conversation that a hit was made from."""
    return {
        source.ref
        for source in hit.sources
        if source.ref is not None and source.conversation in (conversation.id, conversation.sample.get("sample_id"))
    }


def ask_peer(
    rank: Callable[[str], Sequence[str]], conversation: Conversation, questions: Sequence[Question], k: int
) -> list[Outcome]:
    """Each question to a peer, which ranks turns."""
    return [
        Outcome(conversation.id, question, places_of(question.evidence, [{turn} for turn in rank(question.text)[:k]]))
        for question in questions
    ]
