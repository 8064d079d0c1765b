"""What a question asks: for which kind of answer, by which of its words, about which time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.retrieval.events import event_of
from amem.retrieval.markers import HIDDEN, markers
from amem.retrieval.periods import dated
from amem.retrieval.reading import Event, Intent, Period, Reading
from amem.retrieval.recency import recency_of
from amem.text.scripts import cjk_share
from amem.text.terms import content_terms

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, tzinfo

    from amem.settings import Settings

#: What stands in quotation marks is asked about, and asks nothing itself.
_QUOTED = re.compile(
    r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|「[^」\n]{1,300}」|『[^』\n]{1,300}』|《[^》\n]{1,300}》|`[^`\n]{1,300}`"
    r"|(?<!\w)'[^'\n]{1,300}'(?!\w)|(?<!\w)‘[^’\n]{1,300}’(?!\w)"
)
#: A sentence; a full stop ends one unless it belongs to a short form or a number.
_SENTENCE = re.compile(
    r"(?:[^?？。！\n.!]|[.!](?!\s|$)|(?<=\b\w)\.|(?<=\b\w\w)\.|(?<=\bMrs)\.|(?<=\bProf)\.)+[?？。！\n.!]*"
)
_ASKING = re.compile(r"[?？][\W]*$")
#: A longer text is no question but something to look up as it is.
_LONGEST = 2_000


class Router:
    """Reads questions by their words, in English and Chinese, unless the setting ``router`` is off."""

    def __init__(self, settings: Settings) -> None:
        self._on = settings.router

    def read(self, text: str, now: datetime, zone: tzinfo) -> Reading:
        """What `text` asks, said at `now` by somebody in `zone`. Takes any text, in time proportional to its length."""
        if not self._on or len(text) > _LONGEST:
            return as_it_is(text)
        rest = _asking(_QUOTED.sub(_hidden, text))
        period, event, taken, left_out = _times(rest, now, zone)
        rest = _hide(rest, taken)
        recency, recent = recency_of(rest)
        rest = _hide(rest, recent)
        asked: dict[Intent, None] = {}
        marks = [*left_out, *recent]
        for marker in markers():
            found = [] if marker.weak and asked else [match.span("mark") for match in marker.pattern.finditer(rest)]
            if found:
                asked[marker.intent] = None
                rest = _hide(rest, found)
                marks += [] if marker.kept else found
        lexical, dropped = _without(text, marks)
        meaning = ""
        left = _hide(text, [*taken, *marks])
        if period is not None and not content_terms(left) and not cjk_share(left):
            # "What did I do yesterday?" asks for that day and nothing else: a note that says "yesterday" is no answer.
            # (In Chinese a single character may still be a word to look for.)
            lexical, dropped, meaning = "", (period.words,), " ".join(left.replace(HIDDEN, " ").split())
        return Reading(
            text,
            _intents(asked, timed=bool(period or event or recent)),
            lexical,
            dropped,
            meaning=meaning,
            period=period,
            event=event,
            # Of a time that is named nothing is more recent than the rest.
            recency=recency if period is None else None,
            overview=Intent.EXPLORATORY in asked,
        )


def as_it_is(text: str) -> Reading:
    """The question as its words stand, read for nothing."""
    return Reading(text, (Intent.GENERAL,), text)


def _times(
    text: str, now: datetime, zone: tzinfo
) -> tuple[Period | None, Event | None, list[tuple[int, int]], list[tuple[int, int]]]:
    """The period or the event that is named, where it stands, and which of its words are not to be looked up."""
    time, happening = dated(text, now, zone), event_of(text)
    if time is None:
        return None, happening.event if happening else None, [], []
    place = [(time.start, time.end)]
    period = time.period
    if happening is not None and happening.start < time.start and time.end <= happening.end:
        # "Before we moved last year": the event's time is known without looking for it.
        if happening.event.before:
            period = Period(happening.event.words, None, period.since or period.until, period.yearless)
        else:
            period = Period(happening.event.words, period.since or period.until, None, period.yearless)
    # What is reckoned from the day it is said means another time where a note says it.
    return period, None, place, place if time.relative else []


def _intents(asked: Iterable[Intent], *, timed: bool) -> tuple[Intent, ...]:
    """The main one first: what is asked for comes before when it was, and that before any single thing."""
    intents = list(asked)
    if timed and Intent.TEMPORAL not in intents:
        intents.insert(intents.index(Intent.FACTUAL) if Intent.FACTUAL in intents else len(intents), Intent.TEMPORAL)
    return tuple(intents) or (Intent.GENERAL,)


def _asking(text: str) -> str:
    """`text` with the sentences hidden that ask nothing, where any does."""
    sentences = list(_SENTENCE.finditer(text))
    if not any(_ASKING.search(each[0]) for each in sentences):
        return text
    return _hide(text, [each.span() for each in sentences if not _ASKING.search(each[0])])


def _without(text: str, spans: Iterable[tuple[int, int]]) -> tuple[str, tuple[str, ...]]:
    """`text` without these, and what they are; all of it where no word to look for would be left."""
    pieces: list[str] = []
    dropped: list[str] = []
    end = 0
    for start, after in sorted(spans):
        if words := text[max(start, end) : after].strip():
            pieces.append(text[end : max(start, end)])
            dropped.append(words)
        end = max(end, after)
    pieces.append(text[end:])
    left = " ".join(" ".join(pieces).split())
    if not dropped or not content_terms(left):
        return text, ()
    return left, tuple(dropped)


def _hide(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + HIDDEN * (end - start) + text[end:]
    return text


def _hidden(match: re.Match[str]) -> str:
    return HIDDEN * len(match[0])
