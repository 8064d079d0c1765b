"""Asking a model for the page of a topic, and for one note that stands for several."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from amem.analysis import MergeDraft, PageDraft, PageNote
from amem.errors import BadModelAnswer
from amem.llm import prompts as showing
from amem.llm.answering import UNQUOTED, quote_in, shares_a_word
from amem.llm.answers import CONTEXT, QUOTE, REASON, confidence_in
from amem.llm.ladder import Ladder, Question
from amem.llm.model_text import Dropped, Handles, clean, quoted, spelled
from amem.llm.prompts import language_of
from amem.llm.schemas import merge_schema, topic_page_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


# Asking a model to write the page of a topic anew: one call, with the page as it is and the notes that are new.
#
# What comes back is a claim about notes, and held against them: a statement that cites nothing that was shown, says a
# number that its notes do not hold, or shares no word with them, is dropped.

TITLE, STATEMENT, STATEMENTS = 60, 300, 40
#: What a small local model can weigh at once.
MOST_NOTES, NOTE_WORDS, PAGE_WORDS = 24, 45, 500
_NUMBER = re.compile(r"\d+(?:[.:,/-]\d+)*")
_CITATION = re.compile(r"\s*[\[【(]\s*n\d+(?:\s*[,，、]\s*n\d+)*\s*[\]】)]")


def write_page(ladder: Ladder, title: str, present: str, notes: Sequence[PageNote]) -> PageDraft:
    """One call. `present` is the page as it is, citing `notes` by handle, '' for a new one.

    At most `MOST_NOTES` of them should be new. Raises BadModelAnswer when no statement is left, and what `Ladder.ask`
    raises.
    """
    handles = tuple(note.handle for note in notes)
    texts = {note.handle: note.text for note in notes}
    question = Question(
        prompt="topic_page",
        values={
            "title": showing.line(title, 12),
            "page": showing.note(present, PAGE_WORDS) or "-",
            "notes": "\n".join(_shown(note) for note in notes if note.new and not note.gone) or "-",
            "gone": "\n".join(_shown(note) for note in notes if note.gone) or "-",
        },
        schema=topic_page_schema(handles),
        read=lambda answer: _read_page(answer, texts, {note.handle for note in notes if note.gone}),
        language=language_of(" ".join(texts.values())),
    )
    answered = ladder.ask(question)
    return PageDraft(*answered.value, prompt=answered.prompt)


def _shown(note: PageNote) -> str:
    day = f"({note.at:%Y-%m-%d}) " if note.at is not None else ""
    return f"{note.handle} {day}<<<{showing.line(note.text, NOTE_WORDS)}>>>"


def _read_page(
    answer: dict[str, Any], texts: Mapping[str, str], overturned: set[str]
) -> tuple[str, str, tuple[tuple[str, tuple[str, ...]], ...], tuple[str, ...], tuple[str, ...]]:
    if not isinstance(answer.get("statements"), list):
        raise BadModelAnswer("statements has to be a list")
    shown, dropped = Handles(texts), Dropped()
    gone = tuple(dict.fromkeys(handle for item in _items(answer.get("gone")) if (handle := shown.find(item))))
    statements: list[tuple[str, tuple[str, ...]]] = []
    for item in dropped.objects(answer, "statements")[:STATEMENTS]:
        text = _CITATION.sub("", clean(item.get("text"), STATEMENT)).strip()
        cited = tuple(dict.fromkeys(handle for each in _items(item.get("notes")) if (handle := shown.find(each))))
        refused = _refused(text, cited, texts, overturned | set(gone))
        if refused:
            dropped.add(f"the statement {quoted(text)}, which {refused}")
        elif text not in {held for held, _ in statements}:
            statements.append((text, cited))
    if not statements:
        raise BadModelAnswer("the answer holds no statement that rests on the notes that were shown")
    everything = " ".join(texts.values())
    title = clean(answer.get("title"), TITLE).strip("#\"'“”《》 ")
    summary = clean(answer.get("summary"), CONTEXT)
    return (
        title if shares_a_word(title, everything) else "",
        summary if shares_a_word(summary, everything) and not _invented(summary, everything) else "",
        tuple(statements),
        gone,
        dropped.sentences,
    )


def _refused(text: str, cited: Sequence[str], texts: Mapping[str, str], overturned: set[str]) -> str:
    if not text:
        return "is empty"
    if not cited:
        return "cites no note that was shown"
    if overturned.issuperset(cited):
        return "is no longer so"
    held = " ".join(texts[handle] for handle in cited)
    if not shares_a_word(text, held):
        return "has no word in common with what it cites"
    if invented := _invented(text, held):
        return f"says {invented[0]}, which no note that it cites says"
    return ""


def _invented(text: str, held: str) -> list[str]:
    known = set(_NUMBER.findall(held))
    return [number for number in _NUMBER.findall(text) if number not in known]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# Asking a model whether notes say the same and, if so, for the one note that can stand for them: one call.

#: What a small local model can weigh at once, over all notes together, in characters.
MOST_CHARACTERS = 2_000
_VERDICTS = {"same": True, "相同": True, "different": False, "不同": False}


def draft_merge(ladder: Ladder, parts: Sequence[str]) -> MergeDraft:
    """What `parts`, at most `MOST_CHARACTERS` together, come to in the eyes of a model.

    Its confidence is at most `UNQUOTED` where it quotes none of them. Raises BadModelAnswer when the answer is of no
    use (it is not asked again), and what `Ladder.ask` raises.
    """
    together = "\n".join(parts)
    question = Question(
        prompt="merge",
        values={"notes": " ".join(f"<<<{showing.line(part, MOST_CHARACTERS)}>>>" for part in parts)},
        schema=merge_schema(),
        read=lambda answer: _read_merged(answer, parts),
        language=language_of(together),
        again=0,
    )
    answered = ladder.ask(question)
    same, text, reason, confidence = answered.value
    return MergeDraft(same, text, reason, confidence, prompt=answered.prompt)


def _read_merged(answer: dict[str, Any], parts: Sequence[str]) -> tuple[bool, str, str, float]:
    same = _VERDICTS.get(spelled(answer.get("verdict")))
    if same is None:
        raise BadModelAnswer("the verdict has to be same or different")
    quote, confidence = clean(answer.get("quote"), QUOTE), confidence_in(answer)
    if not any(quote_in(quote, part) for part in parts):
        confidence = min(confidence, UNQUOTED)
    text = clean(answer.get("merged"), MOST_CHARACTERS) if same else ""
    return same, text, clean(answer.get("reason"), REASON), confidence
