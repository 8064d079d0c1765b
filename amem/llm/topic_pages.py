"""Asking a model to write the page of a topic anew: one call, with the page as it is and the notes that are new.

What comes back is a claim about notes, and held against them: a statement that cites nothing that was shown, says a
number that its notes do not hold, or shares no word with them, is dropped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from amem.analysis import PageDraft
from amem.errors import BadModelAnswer
from amem.llm import showing
from amem.llm.grounding import shares_a_word
from amem.llm.ladder import Question
from amem.llm.prompts import language_of
from amem.llm.proposals import CONTEXT
from amem.llm.reading import clean
from amem.llm.schemas import topic_page_schema
from amem.llm.shown import Dropped, Handles, quoted
from amem.llm.topics import TITLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.analysis import PageNote
    from amem.llm.ladder import Ladder

STATEMENT, STATEMENTS = 300, 40
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
        fields=frozenset(("title", "summary", "statements", "gone")),
        read=lambda answer: _read(answer, texts, {note.handle for note in notes if note.gone}),
        language=language_of(" ".join(texts.values())),
    )
    answered = ladder.ask(question)
    return PageDraft(*answered.value, prompt=answered.prompt)


def _shown(note: PageNote) -> str:
    day = f"({note.at:%Y-%m-%d}) " if note.at is not None else ""
    return f"{note.handle} {day}<<<{showing.line(note.text, NOTE_WORDS)}>>>"


def _read(
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
