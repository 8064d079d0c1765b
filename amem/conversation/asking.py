"""One question, one answer with numbered citations; or the plain word that memory does not hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.clock import zone
from amem.conversation.lines import lines_for
from amem.conversation.messages import check_asked
from amem.conversation.recalling import dated
from amem.conversation.window import Shares
from amem.errors import AmemError
from amem.query import Query
from amem.retrieval.support import Support, evidence_of, judge, telling
from amem.retrieval.uses import Uses
from amem.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.clock import Clock
    from amem.conversation.ports import Answerer, Memory
    from amem.note import MemoryNote
    from amem.retrieval import Hit
    from amem.storage import Store


@dataclass(frozen=True, slots=True)
class Citation:
    """Note `note` stood as `line` number `number` (from 1) before the model, and the answer rests on it."""

    number: int
    note: str
    line: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`in_memory` is True when the answer rests on notes; False when memory holds none, and `text` says just that;
    None when no model could tell: `error` then says why, and `hint` what to do. `hits` are there in any case, and hit
    number n is what the text cites as ``[n]``."""

    question: str
    text: str
    citations: tuple[Citation, ...]
    in_memory: bool | None
    hits: tuple[Hit, ...]
    model: str = ""
    error: str = ""
    hint: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "question": self.question,
            "answer": self.text,
            "in_memory": self.in_memory,
            "citations": [{"number": each.number, "id": each.note, "line": each.line} for each in self.citations],
            "model": self.model,
            "error": self.error,
            "hint": self.hint,
            "hits": [hit.to_dict() for hit in self.hits],
        }


class Asker:
    """Answers single questions from memory. `answerer` makes what asks the model, when it is needed; it may raise."""

    def __init__(
        self, memory: Memory, store: Store, clock: Clock, *, answerer: Callable[[], Answerer], touch: bool = True
    ) -> None:
        self._memory = memory
        self._store = store
        self._clock = clock
        self._answerer = answerer
        self._uses = Uses(store, clock) if touch else None
        self._zone = zone(memory.settings.timezone)

    def ask(self, question: str, k: int = 8) -> Answer:
        """The answer from the best `k` notes. Where clearly none of them supports one, no model is asked.

        That no model answers is told by the answer, not raised. Raises InvalidInput for a question that is empty, no
        text, or longer than ``max_note_chars``, and what recall raises.
        """
        check_asked(question, self._memory.settings.max_note_chars)
        hits = self._memory.ask(Query(question, k, expand=True, touch=False))
        with self._store.read() as session:
            notes = session.notes.get_many([hit.id for hit in hits], history=False)
            frequency = session.text.document_frequency(telling(question))
            verdict = judge(question, [evidence_of(hit) for hit in hits], frequency, session.notes.count())
        if verdict.support is Support.NO:
            return Answer(question, lines_for(question).not_in_memory, (), False, tuple(hits))
        hits = [hit for hit in hits if hit.id in notes]
        lines = self._lines(hits, notes)
        self._count(hits[: len(lines)])
        try:
            answerer = self._answerer()
            answered = answerer.answer(question, lines, self._clock.now().astimezone(self._zone))
        except AmemError as error:
            return Answer(question, "", (), None, tuple(hits), error=str(error), hint=error.hint)
        if not answered.in_memory:
            return Answer(question, lines_for(question).not_in_memory, (), False, tuple(hits), answerer.name)
        citations = tuple(Citation(n, hits[n - 1].id, lines[n - 1]) for n in answered.cites)
        return Answer(question, answered.text, citations, True, tuple(hits), answerer.name)

    def _lines(self, hits: Sequence[Hit], notes: dict[str, MemoryNote]) -> list[str]:
        """The hits as the model reads them, the best first, as many as fit."""
        settings = self._memory.settings
        room = Shares.of(settings.llm_context, core=0, recalled=settings.recall_tokens).recalled
        lines: list[str] = []
        for hit in hits:
            line = dated(notes[hit.id], self._zone)
            room -= tokens(line)
            if room < 0 and lines:
                break
            lines.append(line)
        return lines

    def _count(self, hits: Sequence[Hit]) -> None:
        """Count the notes a model is shown as used, where that can be written down at once."""
        if self._uses is None:
            return
        with self._store.read() as session:
            keys = session.notes.keys_of([hit.id for hit in hits])
        self._uses.count(list(keys.values()))
