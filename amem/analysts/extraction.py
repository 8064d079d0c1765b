"""Asking a model what a piece of conversation teaches, and reading its answer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from amem.analysis import Extraction, Passage, Procedure, Statement
from amem.errors import BadModelAnswer
from amem.llm import prompts as showing
from amem.llm.ladder import Ladder, Question, extraction_lines
from amem.llm.model_text import Dropped, Handles, clean, kind_named, quoted, spelled
from amem.llm.prompts import language_of
from amem.llm.schemas import STATEMENT_KINDS, extraction_schema
from amem.note import Kind, Message
from amem.rendering import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


# Reading what a model extracted from a conversation: only what names a message that was shown gets through.

_Item = TypeVar("_Item", Statement, Procedure)

SUMMARY = 600
STATEMENT, STATEMENTS = 500, 12
NAME, TRIGGER, PROCEDURES = 80, 200, 4
STEP, STEPS = 300, 20


_BETWEEN_HANDLES = re.compile(r"[\s,;、，；]+")
_BULLET = re.compile(r"\A(?:[-*•]|\d{1,2}[.)、])\s*")
_NO_UPDATE = frozenset(("", "none", "null", "no", "new", "-", "无"))


def read_extraction(answer: dict[str, Any], messages: Sequence[str], procedures: Sequence[str]) -> Extraction:
    """Read the answer to `extract`, where messages and known procedures were shown under those handles.

    Raises BadModelAnswer when nothing can be read, or when everything in it had to be refused.
    """
    if not any(isinstance(answer.get(name), list) for name in ("statements", "procedures")):
        raise BadModelAnswer("statements and procedures have to be lists")
    return _Extracting(messages, procedures).read(answer)


class _Extracting:
    def __init__(self, messages: Sequence[str], procedures: Sequence[str]) -> None:
        self._messages = Handles(messages)
        self._procedures = Handles(procedures)
        self._dropped = Dropped()

    def read(self, answer: dict[str, Any]) -> Extraction:
        said = (self._statement(item) for item in self._dropped.objects(answer, "statements"))
        statements = self._unique([(item.text, item) for item in said if item], STATEMENTS, "statements")
        done = (self._procedure(item) for item in self._dropped.objects(answer, "procedures"))
        procedures = self._unique([(item.name, item) for item in done if item], PROCEDURES, "procedures")
        dropped = self._dropped.sentences
        if dropped and not statements and not procedures:
            raise BadModelAnswer(f"nothing in the answer could be used: {dropped[0]}")
        return Extraction(
            summary=clean(answer.get("summary"), SUMMARY),
            statements=statements,
            procedures=procedures,
            dropped=dropped,
        )

    def _unique(self, items: list[tuple[str, _Item]], most: int, what: str) -> tuple[_Item, ...]:
        unique: dict[str, _Item] = {}
        for text, item in items:
            unique.setdefault(text.casefold(), item)
        if len(unique) > most:
            self._dropped.add(f"{len(unique) - most} of {len(unique)} {what}: at most {most} at a time")
        return tuple(unique.values())[:most]

    def _statement(self, item: dict[str, Any]) -> Statement | None:
        text = clean(item.get("text"), STATEMENT)
        if not text:
            self._dropped.add("a statement without a text")
            return None
        handles = self._said_in(item.get("messages"), f"the statement {quoted(text)}")
        kind = kind_named(item.get("kind"))
        if kind is None or kind not in STATEMENT_KINDS:
            # Not simply a fact: that would be a kind that never fades, for a word that the model made up.
            kind = _kind_by_rules(text)
            if spelled(item.get("kind")):
                self._dropped.add(f"the kind {spelled(item.get('kind'))!r} of the statement {quoted(text)}, now {kind}")
        return Statement(text, kind, handles) if handles else None

    def _procedure(self, item: dict[str, Any]) -> Procedure | None:
        name = clean(item.get("name"), NAME)
        steps = _steps(item.get("steps"))
        if not name or not steps:
            self._dropped.add(
                "a procedure without a name" if not name else f"the procedure {quoted(name)} has no steps"
            )
            return None
        handles = self._said_in(item.get("messages"), f"the procedure {quoted(name)}")
        updates = self._procedures.find(item.get("updates"))
        if updates is None and spelled(item.get("updates")) not in _NO_UPDATE:
            self._dropped.add(f"an update of {quoted(item.get('updates'))}, which was not shown; {quoted(name)} is new")
        trigger = clean(item.get("trigger"), TRIGGER)
        return Procedure(name, trigger, steps, handles, updates) if handles else None

    def _said_in(self, value: Any, what: str) -> tuple[str, ...]:
        """The messages that `what` names, none twice; what was not shown is dropped."""
        named = _BETWEEN_HANDLES.split(value.strip()) if isinstance(value, str) else value
        found: dict[str, None] = {}
        for item in named if isinstance(named, list) else []:
            handle = self._messages.find(item)
            if handle is None:
                self._dropped.add(f"{what} names {quoted(item)}, which was not shown")
            else:
                found.setdefault(handle)
        if not found:
            self._dropped.add(f"{what} names no message that was shown")
        return tuple(found)


def _kind_by_rules(text: str) -> Kind:
    # Here, so that opening a collection to read it does not load the rules.
    from amem.analysts.rules.kind_and_context import kind_of
    from amem.language.word_reading import read

    kind = kind_of(read(text))
    return kind if kind in STATEMENT_KINDS else Kind.FACT


def _steps(value: Any) -> tuple[str, ...]:
    lines = value.splitlines() if isinstance(value, str) else value
    steps = (_BULLET.sub("", clean(line, STEP)) for line in (lines if isinstance(lines, list) else [])[: 4 * STEPS])
    return tuple(step for step in steps if step)[:STEPS]


# Asking a model what a piece of conversation teaches; a long piece in several questions that fit a small model.

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
        summary=one_line(summary, SUMMARY),
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
