"""Who answers a question, and from what: a model or the bare text, from recalled notes or from the evidence itself."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from _answers_kept import Said
from _qa_prompt import Shown, ask
from _scores import score

from amem.interop.locomo import session_time
from amem.llm.guarded import Metered
from amem.note import Cost
from amem.query import Query

if TYPE_CHECKING:
    from _answers_kept import KeptAnswers
    from _locomo_file import Conversation, Question
    from _tokens import Count

    from amem import AgenticMemorySystem, Hit
    from amem.protocols import ChatModel

#: What each reader is called in the table.
READERS = {
    "model": "model, recalled notes",
    "gold-evidence": "model, the evidence itself",
    "extractive": "no model: the best note's text",
    "extractive-gold": "no model: the evidence's text",
}
WITH_MODEL = ("model", "gold-evidence")


@dataclass(frozen=True, slots=True)
class Answered:
    """One question, answered and scored. `found` is the share of its evidence that was recalled, if any was.

    `prompt_tokens` are counted here, for readers without a model those of the prompt one would be given; `said` is
    what the model said and cost.
    """

    reader: str
    conversation: str
    question: Question
    answer: str
    f1: float
    bleu1: float
    found: float | None
    prompt_tokens: int
    share: float
    said: Said | None


class Recalled:
    """The k notes that amem finds for the user's own words, in the order in which they were said."""

    def __init__(self, memory: AgenticMemorySystem, k: int, *, agentic: bool) -> None:
        self._memory = memory
        self._k = k
        self._agentic = agentic

    def hits(self, question: Question) -> list[Hit]:
        """The hits, best first; recalling for a benchmark is no use of a note."""
        return self._memory.ask(Query(question.text, self._k, expand=self._agentic, touch=False))

    @staticmethod
    def refs(hits: list[Hit]) -> set[str]:
        """The turns that these notes came from."""
        return {source.ref for hit in hits for source in hit.sources if source.ref is not None}

    @staticmethod
    def shown(hits: list[Hit]) -> list[Shown]:
        """The notes as a prompt shows them, oldest first."""
        return [
            Shown(
                datetime.fromisoformat(hit.timestamp),
                hit.sources[0].speaker or "?" if hit.sources else "?",
                hit.content,
            )
            for hit in sorted(hits, key=lambda hit: hit.timestamp)
        ]


class Answering:
    """Answers the questions of one conversation by each of `readers`; `chat` may be None where none needs it."""

    def __init__(
        self, readers: list[str], conversation: Conversation, count: Count, chat: ChatModel | None, kept: KeptAnswers
    ) -> None:
        self._readers = readers
        self._conversation = conversation
        self._count = count
        self._whole = count(conversation.text())
        self._chat = chat
        self._kept = kept

    def answer(self, question: Question, hits: list[Hit]) -> list[Answered]:
        """One answer for each reader."""
        turns = [self._conversation.turns[ref] for ref in question.evidence]
        evidence = [Shown(_session_time(turn.said_at), turn.speaker, turn.text) for turn in turns]
        recalled = Recalled.shown(hits)
        refs = Recalled.refs(hits)
        share = sum(ref in refs for ref in question.evidence) / len(question.evidence) if question.evidence else None
        given = {
            "model": (recalled, ""),
            "gold-evidence": (evidence, ""),
            "extractive": (recalled, hits[0].content if hits else ""),
            "extractive-gold": (evidence, " ".join(note.text for note in evidence)),
        }
        return [
            self._one(reader, question, *given[reader], share if given[reader][0] is recalled else None)
            for reader in self._readers
        ]

    def _one(self, reader: str, question: Question, notes: list[Shown], text: str, found: float | None) -> Answered:
        asked = ask(self._conversation, question, notes)
        said = self._ask(asked.prompt) if reader in WITH_MODEL else None
        answer = text if said is None else asked.answer(said.text)
        f1, bleu1 = score(question.category, answer, question.gold)
        tokens = self._count(asked.prompt)
        share = tokens / self._whole
        return Answered(reader, self._conversation.id, question, answer, f1, bleu1, found, tokens, share, said)

    def _ask(self, prompt: str) -> Said:
        assert self._chat is not None
        held = self._kept.find(self._chat.name, prompt)
        if held is not None:
            return held
        before = self._chat.usage.here if isinstance(self._chat, Metered) else Cost()
        start = time.perf_counter()
        text = self._chat.complete(prompt)
        seconds = time.perf_counter() - start
        spent = (self._chat.usage.here if isinstance(self._chat, Metered) else Cost()) - before
        said = Said(text, spent.tokens_in, spent.tokens_out, seconds)
        self._kept.keep(self._chat.name, prompt, said)
        return said


def _session_time(text: str) -> datetime | None:
    return session_time(text) if text else None
