"""Short turns of a conversation ("Three years now!", "Wow, cool!"), which lean on what was said before them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.courtesies import is_greeting
from amem.llm.offline.gist import shorten, without_lead_in
from amem.llm.offline.keyphrases import keyphrases
from amem.llm.offline.lexicon import Sort
from amem.llm.offline.reading import read
from amem.llm.offline.tags import themes_of
from amem.note import Kind

if TYPE_CHECKING:
    from amem.analysis import Draft
    from amem.llm.offline.reading import Reading
    from amem.protocols import Vocabulary

#: A turn with no more content words than this leans on the one before.
_FEW = 3
_QUESTION = 110
_SPEAKER = re.compile(r"^([^:：\n?!.]{1,40})[:：]\s*(.+)$", re.DOTALL)
_OWN_FEET = (Kind.DECISION, Kind.CONSTRAINT, Kind.PREFERENCE, Kind.CODE, Kind.CONFIG, Kind.ERROR, Kind.PROCEDURE)


def leans(reading: Reading, kind: Kind) -> bool:
    """Whether the note needs what was said before it to be understood. A greeting has nothing to do with that."""
    if is_greeting(reading):
        return False
    content = sum(1 for word in reading.words if word.sort >= Sort.COMMON)
    return kind is Kind.CHITCHAT or (content <= _FEW and kind not in _OWN_FEET)


def said_before(previous: str) -> tuple[str | None, str]:
    """An earlier turn as its speaker, if it names one, and its text."""
    match = _SPEAKER.match(previous)
    return (match[1].strip(), match[2].strip()) if match else (None, previous.strip())


def reply_lead(draft: Draft, reading: Reading, kind: Kind, day: str, vocabulary: Vocabulary) -> str:
    """The beginning of a reply's context: whose, when, and what it replies to."""
    speaker, text = said_before(draft.previous[-1])
    before = read(text)
    other = None if speaker == draft.speaker else speaker
    asked = text.endswith(("?", "？")) and kind not in (Kind.QUESTION, Kind.CHITCHAT)
    if asked:
        topic = shorten(without_lead_in(before.sentence(len(before.sentences) - 1)), _QUESTION)
    else:
        topic = _topic(before, reading.chinese, vocabulary)
    return (
        _chinese(draft, kind, day, other, topic, asked)
        if reading.chinese
        else _english(draft, kind, day, other, topic, asked)
    )


def _topic(before: Reading, chinese: bool, vocabulary: Vocabulary) -> str:
    topics = [theme.phrase(chinese) for theme in themes_of(before)[:1]]
    telling = {word.text.casefold() for word in before.words if word.sort >= Sort.COMMON and not word.person}
    for phrase in keyphrases(before, (), vocabulary)[:4]:
        words = {phrase.casefold(), *phrase.casefold().split()}
        if words & telling and phrase.casefold() not in topics:
            topics.append(phrase)
    return ("、" if chinese else ", ").join(topics[:3])


def _english(draft: Draft, kind: Kind, day: str, other: str | None, topic: str, asked: bool) -> str:
    noun = "question" if kind is Kind.QUESTION else "answer" if asked else "reply"
    if kind is Kind.CHITCHAT:
        noun = "reaction"
    of = f" of {day}" if day else ""
    head = f"{draft.speaker}'s {noun}{of}" if draft.speaker else f"{'An' if noun[0] == 'a' else 'A'} {noun}{of}"
    if asked:
        return f'{head} to {other}\'s question "{topic}"' if other else f'{head} to the question "{topic}"'
    to = f" to {other}" if other else ""
    return f"{head}{to} on {topic}" if topic else head + to


def _chinese(draft: Draft, kind: Kind, day: str, other: str | None, topic: str, asked: bool) -> str:
    verb = "提问" if kind is Kind.QUESTION else "回答" if asked else "回应"
    space = " " if draft.speaker and draft.speaker[-1].isascii() and day else ""
    head = f"{draft.speaker or ''}{space}{day}{verb}"
    if asked:
        return f"{head}{f'{other}的' if other else ''}问题“{topic}”"
    about = f"关于{topic}的话" if topic else "话"
    return f"{head}{other or ''}{about}" if other or topic else head
