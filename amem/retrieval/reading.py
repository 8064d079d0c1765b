"""How a question was read: what kind of answer it wants, which of its words are asked for, which time it speaks of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime


class Intent(StrEnum):
    """What kind of answer a question wants."""

    FACTUAL = "factual"
    TEMPORAL = "temporal"
    CAUSAL = "causal"
    EXPLORATORY = "exploratory"
    PROCEDURAL = "procedural"
    GENERAL = "general"


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
        return {
            "words": self.words,
            "since": None if self.since is None else self.since.isoformat(),
            "until": None if self.until is None else self.until.isoformat(),
        }


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
    `dropped` words, which say what kind of answer is wanted; all of it where nothing would be left. `meaning` is what
    the dense leg is asked: `text` without names that a good part of the notes carry; '' says `text`. `speaker` is the
    one person named among those whose words the notes are. `recent` says that the newest is wanted first, `overview`
    that a subject is wanted as a whole.
    """

    text: str
    intents: tuple[Intent, ...]
    lexical: str
    dropped: tuple[str, ...] = ()
    meaning: str = ""
    speaker: str | None = None
    period: Period | None = None
    event: Event | None = None
    recent: bool = False
    overview: bool = False

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "intents": [str(intent) for intent in self.intents],
            "lexical": self.lexical,
            "dropped": list(self.dropped),
            "meaning": self.meaning or self.text,
            "speaker": self.speaker,
            "period": None if self.period is None else self.period.to_dict(),
            "event": None if self.event is None else self.event.words,
            "recent": self.recent,
        }
