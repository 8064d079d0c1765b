"""Answer a question from recalled notes with a model: rerank them, ask if they suffice, answer, ground."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from amem.analysis import Analysis, Evolution, ProposedLink, Rewrite
from amem.errors import AmemError, BadModelAnswer
from amem.language import index_terms, is_cjk, query_terms
from amem.llm import prompts as showing
from amem.llm.answers import NOT_GIVEN
from amem.llm.ladder import Ladder, Question
from amem.llm.model_text import Dropped, Handles, clean, quoted
from amem.llm.prompts import language_of
from amem.llm.schemas import answer_schema, rerank_schema, suffices_schema
from amem.note import LinkType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from amem.protocols import ChatModel


# Holding a model's answer against the texts that it was shown: words that nothing shown says are not believed.
#
# Small models repeat the example of a prompt, or answer about something else. So what is to change a note quotes that
# note, and an analysis shares a word with what it describes. A quote is looked for as it stands, but for case and
# spaces.

_Item = TypeVar("_Item", ProposedLink, Rewrite)

#: Confidence of what quotes nothing: it passes no threshold that lets anything happen by itself.
UNQUOTED = 0.4
#: Letters that a quote has at least; a Chinese character counts twice.
_SHORTEST_QUOTE = 4
_AROUND = " \t\"'“”‘’「」『』<>.…。，,"
_VERDICTS = (LinkType.CONTRADICTS, LinkType.SUPERSEDES)
#: Words of a context, at least; "7" and "note" describe nothing.
_SHORTEST_CONTEXT = 2


def quote_in(quote: str, text: str) -> str:
    """The part of `text` that `quote` repeats, exactly as it stands there; '' where it does not, or is too short."""
    parts = quote.strip(_AROUND).split()
    letters = sum(1 + is_cjk(character) for part in parts for character in part if character.isalnum())
    if letters < _SHORTEST_QUOTE:
        return ""
    found = re.search(r"\s+".join(map(re.escape, parts)), text, re.IGNORECASE)
    return found[0] if found else ""


def shares_a_word(text: str, held: str) -> bool:
    """Whether `text` has a word of `held`, in whatever form."""
    terms = set(index_terms(held))
    return any(term in terms for term in query_terms(text) or index_terms(text))


def ground_analysis(analysis: Analysis, text: str) -> Analysis:
    """The analysis of `text` without what is of no use, whose fields `unusable` then names, each with the reason.

    Raises BadModelAnswer where neither a keyword nor the context has a word of it: then it is about something else.
    """
    reasons = dict(analysis.unusable)
    keywords = tuple(word for word in analysis.keywords if _is_word(word) and shares_a_word(word, text))
    context = analysis.context if shares_a_word(analysis.context, text) else ""
    if not keywords and not context:
        raise BadModelAnswer("neither the keywords nor the context have a word of the note")
    if not keywords:
        reasons["keywords"] = _why(analysis.keywords, "none is in the note")
    if not context:
        reasons["context"] = _why(analysis.context, "it has no word of the note")
    elif len(index_terms(context)) < _SHORTEST_CONTEXT:
        context, reasons["context"] = "", f"{context!r} is no sentence"
    tags = tuple(tag for tag in analysis.tags if _is_word(tag))
    if not tags:
        reasons["tags"] = _why(analysis.tags, "none is a word")
    folded = text.casefold()
    entities = tuple(entity for entity in analysis.entities if entity.casefold() in folded)
    return replace(
        analysis,
        keywords=keywords,
        context=context,
        tags=tags,
        entities=entities,
        unusable=tuple(sorted(reasons.items())),
    )


def ground_evolution(evolution: Evolution, contents: Mapping[str, str]) -> Evolution:
    """The evolution without links and rewrites that quote what the old note of that handle does not say.

    Without a quote a verdict is dropped, and the confidence of anything else is at most `UNQUOTED`.
    """
    dropped = list(evolution.dropped)
    links = _grounded(evolution.links, contents, dropped)
    rewrites = _grounded(evolution.rewrites, contents, dropped)
    return replace(evolution, links=tuple(links), rewrites=tuple(rewrites), dropped=tuple(dropped))


def _grounded(items: Iterable[_Item], contents: Mapping[str, str], dropped: list[str]) -> list[_Item]:
    kept = []
    for item in items:
        type_ = getattr(item, "type", None)
        what = "the rewrite of" if type_ is None else f"the {type_} link to"
        found = quote_in(item.quote, contents.get(item.handle, ""))
        if found:
            kept.append(replace(item, quote=found))
        elif item.quote:
            dropped.append(f"{what} {item.handle}: the note does not say {item.quote[:60]!r}")
        elif type_ in _VERDICTS:
            dropped.append(f"{what} {item.handle}: it quotes nothing of the note")
        else:
            kept.append(replace(item, confidence=min(item.confidence, UNQUOTED)))
    return kept


def _is_word(text: str) -> bool:
    return sum(1 + is_cjk(character) for character in text if character.isalpha()) > 1


def _why(given: object, otherwise: str) -> str:
    return otherwise if given else NOT_GIVEN


# Answering a question from recalled notes, and from nothing else.
#
# A model that knows nothing about the user fills the gap with something likely. So an answer counts only when the
# model says that the notes hold it *and* names a note that was shown; every other answer is "not in memory", without
# a text.

ANSWER = 2_000
QUESTION_WORDS = 200

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


class _Reader:
    """Asks `chat`. `prompts` is a folder whose files stand in for amem's own."""

    def __init__(self, chat: ChatModel, prompts: Path | None = None) -> None:
        self._ladder = Ladder(chat, prompts=prompts)
        #: The model's.
        self.name = self._ladder.name
        #: What the calls cost, and which rungs gave the answers.
        self.usage = self._ladder.usage


class Answerer(_Reader):
    """Answers questions from notes."""

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
            read=lambda answer: _read_answer(answer, numbers),
            language=language,
        )
        answered = self._ladder.ask(asked)
        return Reply(*answered.value, prompt=answered.prompt)


def _read_answer(answer: dict[str, Any], shown: range) -> tuple[str, tuple[int, ...], bool]:
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


# Asking a model whether what was read suffices to answer a question: yes or no, in one call.

_log = logging.getLogger(__name__)

REASON = 200
_YES = frozenset(("true", "yes", "1", "是", "够", "足够", "能"))
_NOT_SUFFICING = frozenset(("false", "no", "0", "否", "不", "不够", "不能"))


class Sufficer(_Reader):
    """Says whether what was read suffices, until the model fails once."""

    def __init__(self, chat: ChatModel, prompts: Path | None = None) -> None:
        super().__init__(chat, prompts)
        self._failed = False

    def judge(self, question: str, read: Sequence[str]) -> tuple[bool, str] | None:
        """Whether these texts hold the answer, and why in a few words; None where the model does not say."""
        if self._failed or not read:
            return None
        numbered = "\n".join(f"[{n}] <<<{showing.inert(text)}>>>" for n, text in enumerate(read, start=1))
        asked = Question(
            prompt="suffices",
            values={"question": showing.note(question, QUESTION_WORDS), "read": numbered},
            schema=suffices_schema(),
            read=lambda answer: _read_sufficing(answer, read),
            language=language_of(question),
        )
        try:
            return self._ladder.ask(asked).value
        except AmemError as error:
            # The rules tell as well; a model that is down would be waited for at every tier.
            _log.warning("%s did not say whether what was read suffices: %s", self.name, error)
            self._failed = True
            return None


def _read_sufficing(answer: dict[str, Any], texts: Sequence[str]) -> tuple[bool, str]:
    said = answer.get("suffices")
    if isinstance(said, str):
        word = clean(said, 20).casefold()
        said = True if word in _YES else False if word in _NOT_SUFFICING else None
    if not isinstance(said, bool):
        raise BadModelAnswer("suffices has to be true or false")
    quote = clean(answer.get("quote"), REASON)
    if said and not any(quote_in(quote, text) for text in texts):
        return False, "the model quotes nothing of the notes that answers"
    return said, clean(answer.get("reason"), REASON) or ("the model says so" if said else "the model says it does not")


# Asking a language model which of the recalled notes help to answer a question: one call, all of them at once.
#
# Weighing a list as a whole is what language models are good at (Sun et al., EMNLP 2023); a number for each note
# alone is not. So what comes back is an order, and of the notes that were shown only.

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


class Orderer(_Reader):
    """Orders notes by how much they help to answer a question."""

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
            read=lambda answer: _read_order(answer, handles),
            language=language_of(question),
        )
        answered = self._ladder.ask(asked)
        return Order(*answered.value, prompt=answered.prompt)


def _read_order(answer: dict[str, Any], handles: Sequence[str]) -> tuple[tuple[int, ...], tuple[str, ...]]:
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
