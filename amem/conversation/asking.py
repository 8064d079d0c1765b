"""One question, one answer with numbered citations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.clock import Clock
    from amem.conversation.ports import Answerer, Memory
    from amem.retrieval import Hit


@dataclass(frozen=True, slots=True)
class Citation:
    """Note `note` stood as line `number` (from 1) before the model, and the answer rests on it."""

    number: int
    note: str
    line: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`in_memory` is True when the answer rests on notes, False when the memory holds none, None when no model could
    tell. `error` and `hint` say why no model answered; `hits` are there in any case."""

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

    def __init__(self, memory: Memory, clock: Clock, *, answerer: Callable[[], Answerer]) -> None:
        raise NotImplementedError

    def ask(self, question: str, k: int = 8) -> Answer:
        """The answer, or that memory does not hold it, or why no model answered."""
        raise NotImplementedError
