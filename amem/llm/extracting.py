"""Asking a model what a piece of conversation teaches; a long piece in several questions that fit a small model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amem.analysis import Extraction
from amem.llm import showing
from amem.llm.extraction_answers import EXTRACTION_FIELDS, SUMMARY, read_extraction
from amem.llm.ladder import Question
from amem.llm.prompts import language_of
from amem.llm.schemas import extraction_schema
from amem.llm.sections import extraction_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.analysis import Passage
    from amem.llm.ladder import Ladder
    from amem.message import Message

#: What is shown at once: small models lose the beginning of more, and servers with a short window cut it off.
MOST_WORDS, MOST_MESSAGES = 1_200, 40
#: Known procedures, as with neighbours.
MOST_PROCEDURES = 5
RULE_WORDS = 250


def extract(ladder: Ladder, passage: Passage) -> Extraction:
    """One question where the passage is short enough, else one for each piece of it, joined."""
    parts = [_ask(ladder, passage, start, end) for start, end in _pieces(passage.said)]
    if not parts:
        return Extraction()
    summary = " ".join(part.summary for part in parts if part.summary)
    return Extraction(
        summary=summary if len(summary) <= SUMMARY else summary[: SUMMARY - 1].rstrip() + "…",
        statements=tuple(statement for part in parts for statement in part.statements),
        procedures=tuple(procedure for part in parts for procedure in part.procedures),
        dropped=tuple(sentence for part in parts for sentence in part.dropped),
        prompt=", ".join(dict.fromkeys(part.prompt for part in parts)),
    )


def _ask(ladder: Ladder, passage: Passage, start: int, end: int) -> Extraction:
    said = passage.said[start:end]
    known = passage.procedures[:MOST_PROCEDURES]
    handles = tuple(f"m{n}" for n in range(start + 1, end + 1))
    shown = tuple(procedure.handle for procedure in known)
    question = Question(
        prompt="extract",
        values={
            "messages": showing.messages(said, handles),
            "earlier": showing.earlier((*passage.earlier, *passage.said[:start])),
            "procedures": showing.procedures(known),
            "rules": showing.note(passage.rules, RULE_WORDS) or "-",
        },
        schema=extraction_schema(handles, shown),
        fields=EXTRACTION_FIELDS,
        read=lambda answer: read_extraction(answer, handles, shown),
        sections=extraction_lines,
        language=language_of(" ".join(message.content for message in said)),
    )
    answered = ladder.ask(question)
    return replace(answered.value, prompt=answered.prompt)


def _pieces(said: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Where pieces begin and end, so that each is at most so many words and messages long."""
    start, room = 0, MOST_WORDS
    for position, message in enumerate(said):
        words = min(showing.MESSAGE_WORDS, showing.count_words(message.content))
        if position > start and (words > room or position - start == MOST_MESSAGES):
            yield start, position
            start, room = position, MOST_WORDS
        room -= words
    if said:
        yield start, len(said)
