"""Answering a question from recalled notes, and from nothing else.

A model that knows nothing about the user fills the gap with something likely. So an answer counts only when the model
says that the notes hold it *and* names a note that was shown; every other answer is "not in memory", without a text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.errors import BadModelAnswer
from amem.llm import showing
from amem.llm.ladder import Ladder, Question
from amem.llm.prompts import language_of
from amem.llm.reading import clean
from amem.llm.schemas import answer_schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from amem.llm.usage import Usage
    from amem.protocols import ChatModel

ANSWER = 2_000
QUESTION_WORDS = 200

_FIELDS = frozenset(("in_memory", "answer", "cites"))
_CITED = re.compile(r"\s?[\[【](\d{1,3})[\]】]")
_NUMBER = re.compile(r"\d{1,3}")
_NO = frozenset(("false", "no", "0", "否", "不", "没有", "无"))


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer and the numbers of the notes it rests on; without them (`in_memory` False) `text` is ''.

    `prompt` names the prompt that was answered, with its version; '' when nobody was asked.
    """

    text: str
    cites: tuple[int, ...]
    in_memory: bool
    prompt: str = ""


class Answerer:
    """Answers with `chat`. `prompts` is a folder whose files stand in for amem's own."""

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

    def answer(self, question: str, notes: Sequence[str], when: datetime | None = None, *, support: str = "") -> Reply:
        """Ask once, with `notes` shown under the numbers 1, 2, ... in their order; no call when there is none.

        `support` is a line that says how well they support an answer, and stands after them.

        How long the notes may be together is for the caller to say. Raises BadModelAnswer when the model cannot keep to
        its schema, and what `ChatModel.complete` raises.
        """
        if not notes:
            return Reply("", (), False)
        language = language_of(question)
        numbers = range(1, len(notes) + 1)
        shown = [f"[{n}] <<<{showing.inert(note)}>>>" for n, note in zip(numbers, notes, strict=True)]
        asked = Question(
            prompt="answer",
            values={
                "question": showing.note(question, QUESTION_WORDS),
                "notes": "\n".join([*shown, *([support] if support else [])]),
                "when": showing.when(when, language),
            },
            schema=answer_schema(),
            fields=_FIELDS,
            read=lambda answer: _read(answer, numbers),
            language=language,
        )
        answered = self._ladder.ask(asked)
        return Reply(*answered.value, prompt=answered.prompt)


def _read(answer: dict[str, Any], shown: range) -> tuple[str, tuple[int, ...], bool]:
    if not {"answer", "in_memory"} & answer.keys():
        raise BadModelAnswer("the answer has neither a text nor in_memory")
    text = clean(answer.get("answer"), ANSWER)
    cites = tuple(dict.fromkeys(n for n in (*_numbers(answer.get("cites")), *_numbers_in(text)) if n in shown))
    if not text or not cites or _denied(answer.get("in_memory", True)):
        return "", (), False
    return _CITED.sub(lambda cited: cited[0] if int(cited[1]) in shown else "", text).strip(), cites, True


def _numbers(value: Any) -> list[int]:
    """Whole numbers, also in texts such as ``"[2]"`` or ``"1, 3"``."""
    found: list[int] = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            found += [int(number) for number in _NUMBER.findall(item[:100])]
        elif isinstance(item, int) and not isinstance(item, bool):
            found.append(item)
    return found


def _numbers_in(text: str) -> list[int]:
    return [int(number) for number in _CITED.findall(text)]


def _denied(value: Any) -> bool:
    return clean(value, 10).casefold() in _NO if isinstance(value, str) else not value
