"""Asking a model what a group of notes is about: a title and a sentence for their topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.errors import BadModelAnswer, InvalidInput
from amem.llm import showing
from amem.llm.grounding import shares_a_word
from amem.llm.ladder import Question
from amem.llm.prompts import language_of
from amem.llm.proposals import CONTEXT
from amem.llm.reading import clean
from amem.llm.schemas import topic_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.llm.ladder import Ladder

TITLE = 60
#: More notes than this are not needed to see what they have in common.
MOST_NOTES, NOTE_WORDS = 12, 30


@dataclass(frozen=True, slots=True)
class Topic:
    """What notes have in common, in a few words and in one sentence; `prompt` is what was answered."""

    title: str
    summary: str
    prompt: str = ""


def name_topic(ladder: Ladder, notes: Sequence[str]) -> Topic:
    """One call over the first notes of a group. Raises InvalidInput without notes, and what `Ladder.ask` raises."""
    if not notes:
        raise InvalidInput("a topic needs at least one note")
    shown = notes[:MOST_NOTES]
    question = Question(
        prompt="topic",
        values={"notes": "\n".join(f"<<<{showing.line(note, NOTE_WORDS)}>>>" for note in shown)},
        schema=topic_schema(),
        fields=frozenset(("title", "summary")),
        read=lambda answer: _read(answer, " ".join(shown)),
        language=language_of(" ".join(shown)),
    )
    answered = ladder.ask(question)
    return Topic(*answered.value, prompt=answered.prompt)


def _read(answer: dict[str, Any], notes: str) -> tuple[str, str]:
    title = clean(answer.get("title"), TITLE).strip("#\"'“”《》 ")
    if not title:
        raise BadModelAnswer("the answer has no title")
    summary = clean(answer.get("summary"), CONTEXT)
    if not shares_a_word(f"{title} {summary}", notes):
        raise BadModelAnswer("neither the title nor the summary has a word of the notes")
    return title, summary
