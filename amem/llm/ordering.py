"""Asking a language model which of the recalled notes help to answer a question: one call, all of them at once.

Weighing a list as a whole is what language models are good at (Sun et al., EMNLP 2023); a number for each note alone is
not. So what comes back is an order, and of the notes that were shown only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.errors import BadModelAnswer
from amem.llm import showing
from amem.llm.answering import QUESTION_WORDS
from amem.llm.ladder import Ladder, Question
from amem.llm.prompts import language_of
from amem.llm.schemas import rerank_schema
from amem.llm.shown import Dropped, Handles, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amem.llm.usage import Usage
    from amem.protocols import ChatModel

#: What a small local model can weigh at once; also the window of the paper.
MOST_NOTES, NOTE_WORDS = 20, 60
#: What stands between names in a text that should have been a list.
_BETWEEN = re.compile(r"[\s,，、;；>]+")


@dataclass(frozen=True, slots=True)
class Order:
    """The places of the notes that help, from 0, the most helpful first; none where none does.

    `dropped` tells what of the answer was refused, and `prompt` which prompt was answered; '' when nobody was asked.
    """

    places: tuple[int, ...] = ()
    dropped: tuple[str, ...] = ()
    prompt: str = ""


class Orderer:
    """Orders notes with `chat`. `prompts` is a folder whose files stand in for amem's own."""

    def __init__(self, chat: ChatModel, prompts: Path | None = None) -> None:
        self._ladder = Ladder(chat, prompts=prompts)

    @property
    def name(self) -> str:
        """The model's."""
        return self._ladder.name

    @property
    def usage(self) -> Usage:
        """What the calls cost, and which rungs gave the answers."""
        return self._ladder.usage

    def order(self, question: str, notes: Sequence[str]) -> Order:
        """Which of the first `MOST_NOTES` help, best first; no call where there is nothing to order.

        Raises BadModelAnswer when the model cannot keep to its schema, and what `ChatModel.complete` raises.
        """
        shown = notes[:MOST_NOTES]
        if len(shown) < 2:
            return Order(tuple(range(len(shown))))
        handles = tuple(f"n{n}" for n in range(1, len(shown) + 1))
        lines = (
            f"{handle} <<<{showing.line(note, NOTE_WORDS)}>>>" for handle, note in zip(handles, shown, strict=True)
        )
        asked = Question(
            prompt="rerank",
            values={"question": showing.note(question, QUESTION_WORDS), "notes": "\n".join(lines)},
            schema=rerank_schema(handles),
            fields=frozenset(("best",)),
            read=lambda answer: _read(answer, handles),
            language=language_of(question),
        )
        answered = self._ladder.ask(asked)
        return Order(*answered.value, prompt=answered.prompt)


def _read(answer: dict[str, Any], handles: Sequence[str]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    named = answer.get("best")
    if isinstance(named, str):
        named = [name for name in _BETWEEN.split(named) if name]
    if not isinstance(named, list):
        raise BadModelAnswer("best has to be a list")
    shown, dropped = Handles(handles), Dropped()
    found: dict[str, None] = {}
    for item in named:
        handle = shown.find(item)
        if handle is None:
            dropped.add(f"{quoted(item)}, which was not shown")
        elif handle in found:
            dropped.add(f"{handle} once more")
        else:
            found[handle] = None
    if named and not found:
        raise BadModelAnswer("best names no note that was shown")
    return tuple(handles.index(handle) for handle in found), dropped.sentences
