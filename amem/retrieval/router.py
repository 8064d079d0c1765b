"""Read a question: which kind of answer it asks for, by which of its words, about which time and whom."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from amem.language.scripts import CJK, ENGLISH, cjk_share, is_cjk
from amem.language.terms import content_terms
from amem.retrieval.question import Event, Intent, Period, Reading
from amem.retrieval.question_times import dated, event_of, recency_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    from amem.retrieval.words import Frequencies
    from amem.settings import Settings
    from amem.storage.store import Session


# The words by which a question says what kind of answer it wants, read from the lists in ``markers_*.txt``.

#: Stands for each character that is not to be read: what is quoted, and what another marker has taken.
HIDDEN = "\ufffc"

_WORDS = {
    "{be}": r"(?:['’]s| is| are| was| were)",
    "{asks}": r"(?:did|do|does|is|are|was|were|will|would|has|have|had|can|could|should)",
}
#: Where an English question, or one within it, begins.
_HEAD = (
    rf"^\W{{0,3}}|[.!?;:–—{HIDDEN}]\s{{0,3}}|\b(?:and|but|so|or|then|ok|okay|hey|hi|hello|please|also|exactly|just"
    r"|again|me|us|know|recall|wonder(?:ing)?|explain|asked|out|understand|sure|check|forgot|curious|in|on|at|to|from"
    r"|with|for|of|by|about|around|during)\s{1,3}"
)
#: What a line of a list may begin with, and where it then counts.
_PLACES = {"^, ": rf"(?:{_HEAD}|,\s{{0,3}})", "^ ": rf"(?:{_HEAD})", ", ": r",\s{0,3}", "": ""}


@dataclass(frozen=True, slots=True)
class Marker:
    """Words for one intent: the ``mark`` of a match may be left out of a search, unless the marker is `kept`.

    One that is `weak` counts only where nothing else is asked.
    """

    intent: Intent
    kept: bool
    weak: bool
    pattern: re.Pattern[str]


@cache
def markers() -> tuple[Marker, ...]:
    """All of them, in the order in which they are to be looked for: what one has taken, the next does not see."""
    made = [marker for name in ("english", "chinese") for marker in _listed(name)]
    order = (Intent.CAUSAL, Intent.PROCEDURAL, Intent.TEMPORAL, Intent.EXPLORATORY, Intent.FACTUAL)
    return tuple(sorted(made, key=lambda each: (each.weak, order.index(each.intent))))


def _listed(name: str) -> Iterator[Marker]:
    """The markers of one list: one for each section and place in a question."""
    text = files("amem.retrieval").joinpath(f"markers_{name}.txt").read_text(encoding="utf-8")
    # Chinese runs its words together; elsewhere they begin and end somewhere.
    begin, end = ("", "") if name == "chinese" else (r"\b", r"(?!\w)")
    sections: dict[tuple[str, str], list[str]] = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            place = next(place for place in _PLACES if line.startswith(place))
            for word, means in _WORDS.items():
                line = line.replace(word, means)
            sections.setdefault((section, place), []).append(line.removeprefix(place))
    for (section, place), patterns in sections.items():
        intent, _, how = section.partition(", ")
        pattern = f"{_PLACES[place]}{begin}(?P<mark>{'|'.join(patterns)}){end}"
        yield Marker(Intent(intent), how == "kept", how == "weak", re.compile(pattern, re.IGNORECASE))


# What a question asks: for which kind of answer, by which of its words, about which time.

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
            return plain_reading(text)
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


def plain_reading(text: str) -> Reading:
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


# Names in a question that half of the notes carry, and whose words the notes are.
#
# In a conversation of two, a speaker's name pulls a question's vector towards every turn that says the name, while
# the answer is nearly always *spoken by* that person. So such names are left out of what the dense leg is asked, and
# who is named is told to the speaker leg.

#: Words for parts in a chat, not names: "what did the user report" is no question about who said it.
_PARTS = frozenset({"user", "assistant", "system", "human", "ai", "bot", "agent", "tool"})
_SELF = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b|我(?!们)|本人")
_LETTER = re.compile(r"\w")
#: A name that a quarter of a collection of some size carries picks no note out: in a diary, its owner.
_COMMON = 0.25
_SOME_SIZE = 20
_LONGEST_NAME, _LONGEST_CJK_NAME = 4, 6
_MOST_WORDS = 100
_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:[._\-+@'’/#][^\W_{CJK}]+)*(?:\+\+|#)?")
_CLITIC = re.compile(r"['’]s?$")


class Names:
    """Knows who speaks in a collection and how much; counted anew as `frequencies` are."""

    def __init__(self, frequencies: Frequencies, user: str) -> None:
        self._frequencies, self._user = frequencies, user.casefold()
        self._lock = threading.Lock()
        self._counted: tuple[int, Mapping[str, int]] | None = None

    def read(self, session: Session, reading: Reading) -> Reading:
        """The reading with the names it holds, what the dense leg is asked, and the one speaker who is named."""
        speakers = self._speakers(session)
        # Names stand early in what is a question at all; in a whole page pasted they would be thousands.
        runs = spans(reading.text[:_LONGEST])
        names = session.text.counts("entity", runs) if runs else {}
        named = self._named(speakers, reading.text, runs)
        common = self._common(names, speakers, runs)
        meaning = (without(reading.meaning or reading.text, common) if common else "") or reading.meaning
        return replace(reading, meaning=meaning, speaker=named, names=names)

    def _named(self, speakers: Mapping[str, int], text: str, runs: tuple[str, ...]) -> str | None:
        asked = set(runs)
        found = {who for who in speakers if who not in _PARTS and (who in asked or _first(who, speakers) in asked)}
        if self._user in speakers and _SELF.search(text):
            found.add(self._user)
        return found.pop() if len(found) == 1 else None

    def _common(self, names: Mapping[str, int], speakers: Mapping[str, int], runs: tuple[str, ...]) -> set[str]:
        total = self._frequencies.total
        if total <= _SOME_SIZE or not runs:
            return set()
        # Who speaks, however seldom, is the speaker leg's to tell: a name in a vector drowns the rest.
        told = {name for who in speakers for name in (who, _first(who, speakers))} - _PARTS
        return {name for name in runs if name in told or names.get(name, 0) >= _COMMON * total}

    def _speakers(self, session: Session) -> Mapping[str, int]:
        """How many notes each person said, by case-folded name."""
        stamp = self._frequencies.counted_at
        with self._lock:
            if self._counted is None or self._counted[0] != stamp:
                self._counted = stamp, session.notes.speakers()
            return self._counted[1]


def without(text: str, names: Iterable[str]) -> str:
    """The text without these names and their possessives; '' (ask the whole text) when no word would be left."""
    rest = text
    for name in sorted(names, key=len, reverse=True):
        pattern = re.escape(name) if is_cjk(name) else rf"\b{re.escape(name)}(?:['’]s?)?(?!\w)"
        rest = re.sub(pattern, " ", rest, flags=re.IGNORECASE)
    rest = " ".join(rest.split())
    return rest if _LETTER.search(rest) else ""


def _first(who: str, speakers: Mapping[str, int]) -> str:
    """The first name of a speaker with several, where no other speaker has it; else the whole name."""
    first = who.split(" ", 1)[0]
    return first if sum(each.split(" ", 1)[0] == first for each in speakers) == 1 else who


def spans(text: str) -> tuple[str, ...]:
    """Every run of the question's words that could be a name the collection knows, case-folded, longest first."""
    words = [_CLITIC.sub("", word) for word in _WORD.findall(text)][:_MOST_WORDS]
    found: dict[str, None] = {}
    for length in range(_LONGEST_NAME, 0, -1):
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            if length > 1 or run[0].casefold() not in ENGLISH:
                found[" ".join(run).casefold()] = None
    for word in words:
        found.update(dict.fromkeys(_cjk_spans(word)))
    return tuple(found)


def _cjk_spans(word: str) -> Sequence[str]:
    if not is_cjk(word):
        return ()
    longest = min(_LONGEST_CJK_NAME, len(word))
    return [word[start : start + length] for length in range(longest, 1, -1) for start in range(len(word) - length + 1)]
