"""What a question asks, as values: the kind of answer, its words, its time."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from amem.note import plain_fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


# How a question was read: what kind of answer it wants, which of its words are asked for, which time it speaks of.


class Intent(StrEnum):
    """What kind of answer a question wants."""

    FACTUAL = "factual"
    TEMPORAL = "temporal"
    CAUSAL = "causal"
    EXPLORATORY = "exploratory"
    PROCEDURAL = "procedural"
    GENERAL = "general"


class Recency(StrEnum):
    """Which of the notes a question wants by their times: the newest, what holds now, comes next or was last."""

    RECENT = "recent"
    NOW = "now"
    NEXT = "next"
    LAST = "last"


#: As people say it, behind "preferring".
PREFERRED = {
    Recency.RECENT: "what is recent",
    Recency.NOW: "what holds now",
    Recency.NEXT: "what comes next",
    Recency.LAST: "what was last",
}

#: What makes a question more than one for a fact, as people say it.
_KINDS = {
    Intent.TEMPORAL: "of time",
    Intent.CAUSAL: "of cause",
    Intent.EXPLORATORY: "about a whole subject",
    Intent.PROCEDURAL: "of how it is done",
}


_SEVERAL = re.compile(
    # "which pets do they have": a plural that a verb follows, but no "bus", "class", "gas", "tennis".
    r"\b(?:what|which)(?: \w+){0,2} (?!(?:is|was|does|has)\b)\w+(?<![suai])s"
    r" (?:do|did|does|have|has|had|are|were|will|would|can|could)\b"
    r"|\bwhat (?:are|were) (?:all |some )?(?:the|my|our|your|his|her|their|of)\b|\bwhat (?:all|else)\b|\bin what ways\b"
    r"|\ball (?:of )?(?:the|my|our|your|his|her|their)\b|\bevery(?:thing|one)?\b|\bhow many times\b"
    r"|^\W{0,3}(?:please )?(?:list|name|enumerate)\b"
    r"|哪些|都有(?:谁|什么|啥)|(?:几|多少)次|所有|全部|一共|列出|列举|分别",
    re.IGNORECASE,
)


def asks_for_several(text: str) -> bool:
    """Whether a question wants a list, all of something or how many times, whose answer several notes may share."""
    return _SEVERAL.search(text) is not None


@dataclass(frozen=True, slots=True)
class Period:
    """A span of time that the question names with `words`: from `since` until before `until`; None leaves it open.

    One that is `yearless` ("in May") was given the latest year in which it had begun, which the notes may know better.
    """

    words: str
    since: datetime | None
    until: datetime | None
    yearless: bool = False

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return plain_fields(self, "yearless")

    def span(self) -> str:
        """For people, in days: ``2026-01-05 to 2026-01-11``, ``from 2026-01-05``, ``before 2026-01-05``."""
        first = None if self.since is None else f"{self.since:%Y-%m-%d}"
        # The last moment that lies in it, not the first that does not.
        last = None if self.until is None else f"{self.until - timedelta(microseconds=1):%Y-%m-%d}"
        if first is None or last is None:
            return f"until {last}" if first is None else f"from {first}"
        return first if first == last else f"{first} to {last}"


@dataclass(frozen=True, slots=True)
class Event:
    """A time named by what happened ("before we moved"): `text` is what to look for; `before` says which side."""

    words: str
    text: str
    before: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """A question as the legs are asked it.

    `intents` holds at least one, the main one first. `lexical` is what the lexical leg asks for: `text` without the
    `dropped` words, which say what kind of answer is wanted; all of it where nothing would be left, and nothing where
    only a time is asked for. `meaning` is what the dense leg is asked: `text` without names that a good part of the
    notes carry; '' says `text`. `speaker` is the one person named among those whose words the notes are; `names` holds
    what the collection knows as a name, and how many notes carry it. `recency` says that the newest is wanted first,
    or what holds now, comes next or was last; `overview` that a subject is wanted as a whole; `foreign` that some notes
    are in a language in which the embedding model cannot compare them with the question; `translated` then has words of
    the question with what the word list calls them in the other language.
    """

    text: str
    intents: tuple[Intent, ...]
    lexical: str
    dropped: tuple[str, ...] = ()
    meaning: str = ""
    speaker: str | None = None
    names: Mapping[str, int] = field(default_factory=dict)
    period: Period | None = None
    event: Event | None = None
    recency: Recency | None = None
    overview: bool = False
    foreign: bool = False
    translated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def named(self) -> str:
        """The speaker as the question spells the name; '' where none is named."""
        at = self.text.casefold().find(self.speaker) if self.speaker else -1
        return (self.speaker or "") if at < 0 else self.text[at : at + len(self.speaker or "")]

    def words(self) -> str:
        """How it was read, for people, in a sentence; '' where there is nothing to remark."""
        kinds = [_KINDS[each] for each in self.intents if each in _KINDS]
        parts = [f"a question {' and '.join(kinds)}"] if kinds else []
        if self.lexical and self.lexical != self.text:
            without = f", without {_quoted(self.dropped)}" if self.dropped else ""
            parts.append(f"looked for “{self.lexical}”{without}")
        if self.meaning and self.meaning != self.text:
            parts.append(f"by meaning for “{self.meaning}”")
        if self.translated:
            others = dict.fromkeys(name for names in self.translated.values() for name in names)
            parts.append(f"also for {_quoted(list(others))}")
        if self.speaker:
            parts.append(f"preferring what {self.named} said")
        if self.period is not None:
            parts.append(f"of {self.period.span()} (“{self.period.words}”)")
        if self.event is not None:
            parts.append(f"from {'before' if self.event.before else 'after'} “{self.event.text}”")
        if self.recency is not None:
            parts.append(f"preferring {PREFERRED[self.recency]}")
        told = "; ".join(parts)
        return f"{told[:1].upper()}{told[1:]}." if told else ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "question": self.text,
            **plain_fields(self, "text", "names", "translated"),
            "meaning": self.meaning or self.text,
            "event": None if self.event is None else self.event.words,
        }


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)
