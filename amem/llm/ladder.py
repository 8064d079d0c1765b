"""From a question to a value, whatever the model: the rungs that structured output climbs down.

1. ``constrained``: a call held to a JSON schema, whose answer is that JSON and nothing else.
2. ``repaired``: the same answer, after json-repair found the JSON in it (fences, prose, thinking, a missing end).
3. ``retried``: a second call that shows the model its answer and what was wrong with it.
4. ``sections``: a prompt that asks for plain lines instead of JSON, which models of a billion parameters can follow.

What every rung finds is validated by the same reader, item by item: one wrong item is dropped with a sentence that says
so instead of costing the whole answer. Below the last rung is BadModelAnswer; whoever asked then turns to the offline
rules. Which rung held is counted in `Usage`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from amem.errors import BadModelAnswer
from amem.llm import showing
from amem.llm.prompts import load_prompt
from amem.llm.reading import find_object
from amem.llm.usage import Metered, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from amem.protocols import ChatModel

Answer = TypeVar("Answer")

CONSTRAINED, REPAIRED, RETRIED, SECTIONS = "constrained", "repaired", "retried", "sections"

#: Calls after the first that unusable answers may cost: one for each rung below.
MOST_AGAIN = 2

#: How much of an answer that could not be used the model is shown again, in characters and in words.
_SHOWN_AGAIN, _WORDS_AGAIN = 4_000, 120


@dataclass(frozen=True, slots=True)
class Question(Generic[Answer]):
    """One thing asked of a model.

    `prompt` names the prompt file, `values` fills it; `read` makes a value of the object that has most of `fields`, or
    raises BadModelAnswer. `sections` makes such an object of plain lines; with it, ``<prompt>_sections`` is asked last.
    `again` bounds the calls after the first: a note whose analysis took two of them has none left for its links.
    """

    prompt: str
    values: Mapping[str, str]
    schema: Mapping[str, object]
    fields: frozenset[str]
    read: Callable[[dict[str, Any]], Answer]
    sections: Callable[[str], dict[str, Any]] | None = None
    language: str = ""
    again: int = MOST_AGAIN


@dataclass(frozen=True, slots=True)
class Answered(Generic[Answer]):
    """What was read, the name and version of the prompt that was answered, and how many calls it took."""

    value: Answer
    prompt: str
    calls: int = 1


class Ladder:
    """Asks `chat`. `prompts` is a folder whose files stand in for amem's own. Safe in many threads when `chat` is."""

    def __init__(self, chat: ChatModel, *, prompts: Path | None = None) -> None:
        self._chat = chat
        self._prompts = prompts
        self._unmetered = Usage()

    @property
    def name(self) -> str:
        """The model's."""
        return self._chat.name

    @property
    def usage(self) -> Usage:
        """What the calls cost; of a chat model that does not say, only the calls are counted."""
        return self._chat.usage if isinstance(self._chat, Metered) else self._unmetered

    def ask(self, question: Question[Answer]) -> Answered[Answer]:
        """The answer from the first rung that holds.

        Raises BadModelAnswer when none does, and what `ChatModel.complete` raises when there is nobody to ask.
        """
        prompt = load_prompt(question.prompt, self._prompts, question.language)
        text = prompt.render(**question.values)
        answer = self._complete(text, question.schema)
        try:
            value, repaired = _read(question, answer)
        except BadModelAnswer as error:
            problem = str(error)
        else:
            self.usage.rung(REPAIRED if repaired else CONSTRAINED)
            return Answered(value, prompt.label)
        if question.again < 1:
            raise self._gave_up("once", BadModelAnswer(problem))
        if question.again == 1 and question.sections is not None:
            # The last chance is the one that the smallest models manage.
            return self._sections(question, BadModelAnswer(problem), 2)
        try:
            value = self._retry(question, text, answer, problem)
        except BadModelAnswer as error:
            return self._sections(question, error, 3)
        self.usage.rung(RETRIED)
        return Answered(value, prompt.label, 2)

    def _retry(self, question: Question[Answer], asked: str, answer: str, problem: str) -> Answer:
        again = load_prompt("retry", self._prompts, question.language).render(
            prompt=asked, answer=showing.line(answer[:_SHOWN_AGAIN], _WORDS_AGAIN), error=showing.line(problem, 40)
        )
        return _read(question, self._complete(again, question.schema))[0]

    def _sections(self, question: Question[Answer], refused: BadModelAnswer, calls: int) -> Answered[Answer]:
        if question.sections is None:
            raise self._gave_up("twice", refused) from refused
        prompt = load_prompt(f"{question.prompt}_sections", self._prompts, question.language)
        answer = self._complete(prompt.render(**question.values), None)
        try:
            value = question.read(_lines_or_json(question, question.sections, answer))
        except BadModelAnswer as error:
            raise self._gave_up("three times" if calls == 3 else "twice", error) from error
        self.usage.rung(SECTIONS)
        return Answered(value, prompt.label, calls)

    def _gave_up(self, times: str, error: BadModelAnswer) -> BadModelAnswer:
        return BadModelAnswer(
            f"{self.name} answered {times} outside its schema: {error}",
            hint="try a larger model (AMEM_LLM_MODEL)",
        )

    def _complete(self, prompt: str, schema: Mapping[str, object] | None) -> str:
        answer = self._chat.complete(prompt, schema=schema)
        if not isinstance(self._chat, Metered):
            self._unmetered.add()
        return answer


def _read(question: Question[Answer], answer: str) -> tuple[Answer, bool]:
    found = find_object(answer, question.fields)
    return question.read(found.object), found.repaired


def _lines_or_json(
    question: Question[Answer], sections: Callable[[str], dict[str, Any]], answer: str
) -> dict[str, Any]:
    try:
        return sections(answer)
    except BadModelAnswer as no_lines:
        try:  # asked for lines, some models come up with JSON at last
            return find_object(answer, question.fields).object
        except BadModelAnswer:
            raise no_lines from None
