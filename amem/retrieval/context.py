"""What is known about a question, as text for somebody else's prompt and as values: the frame and what stands in it.

``[Background]`` holds the core notes; between ``=== RELEVANT MEMORIES ===`` and ``=== END MEMORIES ===`` each recalled
note begins with ``[time] (trust: 0.92)``, and its further lines are set in, so that none of them can pass for
another note. Nothing that a note says can end the frame (see ``amem.retrieval.marks``).
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from amem.llm.showing import inert, line
from amem.note import Status
from amem.rendering import doubt_of, text_within
from amem.retrieval.highlight import bounds, passage
from amem.retrieval.marks import MEMORIES_END, MEMORIES_START, harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime, tzinfo

    from amem.note import MemoryNote, Source
    from amem.retrieval.core_notes import CoreNote
    from amem.retrieval.highlight import Passage

_MORE = "…"
#: What goes before a line that is not the first of its note.
_SET_IN = "\n  "
_SPEAKER_WORDS = 8
_TITLE_WORDS, _TITLE = 8, 40
_DOUBT_WORDS = 30
_NO_PARENTHESES = str.maketrans("()\n", "[] ")
_NO_BRACKETS = str.maketrans("[]", "()")
_CITED = re.compile(r"(?:(?<!\s)\s+)?\[\[(?:[^\]\[\n]|\[(?!\[))*+\]\]")
_LONGEST_TOKEN = 16
#: Characters that are left of a sentence which is too long as a whole.
_SIZES = (200, 120, 70, 40)
_PAUSE = re.compile(r"[，、；：,;:]\s*|\s+")


@dataclass(frozen=True, slots=True)
class Placed:
    """A recalled note as it stands in a context.

    `text` is what of it stands there, `shortened` when that is not all; `trust` is how far it is believed (0..1),
    `score` how well it answers, `why` says what for; `tokens` is what its entry takes.
    """

    id: str
    time: str
    trust: float
    tokens: int
    score: float
    why: str
    text: str
    kind: str
    speaker: str = ""
    shortened: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A note that was found and not placed. Reasons: budget, repeats, retold, beside_the_point; `detail` says it to
    people."""

    id: str
    reason: str
    score: float
    detail: str


@dataclass(frozen=True, slots=True)
class Context:
    """What is known about `query`: `text` is for a prompt, `core` and `notes` are the same as values, in its order.

    `tokens` is what the text takes, never more than the `budget`; `counted_by` says by which tokenizer, `exact` whether
    that is the model's own rather than an upper bound. `support` tells how well what was found supports an answer:
    strong, weak or none (see ``amem.retrieval.confidence``).
    """

    query: str
    text: str
    core: tuple[CoreNote, ...]
    notes: tuple[Placed, ...]
    tokens: int
    budget: int
    left_out: tuple[LeftOut, ...]
    order: str
    support: str
    counted_by: str
    exact: bool

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "query": self.query,
            "text": self.text,
            "core": [note.to_dict() for note in self.core],
            "notes": [asdict(note) for note in self.notes],
            "tokens": self.tokens,
            "budget": self.budget,
            "left_out": [asdict(note) for note in self.left_out],
            "order": self.order,
            "support": self.support,
            "counted_by": self.counted_by,
            "exact": self.exact,
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """A note written out: its head and its text, as they stand in the frame."""

    head: str
    text: str
    shortened: bool

    @property
    def written(self) -> str:
        return f"{self.head} {self.text}".replace("\n", _SET_IN)


def entry(note: MemoryNote, words: Sequence[str], most: int, count: Callable[[str], int], zone: tzinfo) -> Entry | None:
    """A note as it stands in a context within `most` tokens: whole, or what lies around the question's `words`.

    None where not even a part of a sentence fits.
    """
    head = f"[{when(note.at, zone)}] (trust: {note.trust:.2f}{_standing(note)})"
    said = _speaker(note.speaker, note.content)
    text = text_within(note, lambda whole: count(Entry(head, said + clean(whole), shortened=False).written) <= most)
    return _fitted(head, said, clean(text), words, most, count)


def source_entry(
    source: Source, note: MemoryNote, words: Sequence[str], most: int, count: Callable[[str], int], zone: tzinfo
) -> Entry | None:
    """As `entry`, for what a note came from, in its own words."""
    head = f"[{when(source.at or note.at, zone)}] (trust: {note.trust:.2f}, verbatim{_standing(note)})"
    return _fitted(head, _speaker(source.speaker, source.text), clean(source.text), words, most, count)


def page_entry(note: MemoryNote, title: str, most: int, count: Callable[[str], int], zone: tzinfo) -> Entry | None:
    """A topic's page without its marks, as many lines of it as fit; None where none does."""
    name = harmless(line(title, _TITLE_WORDS))[:_TITLE].translate(_NO_BRACKETS)
    head = f"[{name}] (trust: {note.trust:.2f}, topic of {when(note.at, zone)})"
    lines = clean(_CITED.sub("", note.content)).splitlines()
    if lines and lines[0].startswith("# "):
        lines.pop(0)
    shown: list[str] = []
    for number, each in enumerate(lines, start=1):
        longer = Entry(head, "\n".join([*shown, each, *([_MORE] if number < len(lines) else [])]), shortened=False)
        if count(longer.written) > most:
            break
        shown.append(each)
    if not shown:
        return None
    shortened = len(shown) < len(lines)
    return Entry(head, "\n".join([*shown, *([_MORE] if shortened else [])]), shortened)


def _fitted(
    head: str, said: str, content: str, words: Sequence[str], most: int, count: Callable[[str], int]
) -> Entry | None:
    # No token is longer than some sixteen characters, so that a note of pages need not be counted to its end.
    if len(content) <= _LONGEST_TOKEN * most:
        whole = Entry(head, said + content, shortened=False)
        if count(whole.written) <= most:
            return whole
    found = None
    best = passage(content, words)
    for text in _around(content, best):
        part = Entry(head, said + text, shortened=True)
        if count(part.written) > most:
            break
        found = part
    if found is not None:
        return found
    parts = (Entry(head, said + text, shortened=True) for text in _narrower(content, best))
    return next((part for part in parts if count(part.written) <= most), None)


def framed(entries: Sequence[str]) -> str:
    """The entries between their delimiters; '' for none."""
    return "\n".join([MEMORIES_START, *entries, MEMORIES_END]) if entries else ""


def clean(text: str) -> str:
    """A note's text as it may stand in a prompt: no control characters, no delimiters, no empty lines."""
    lines = (each.strip() for each in harmless(inert(text)).splitlines())
    return "\n".join(each for each in lines if each)


def when(moment: datetime | None, zone: tzinfo) -> str:
    """``2026-05-03 14:30``; the day alone where no hour was given."""
    if moment is None:
        return "undated"
    here = moment.astimezone(zone)
    return f"{here:%Y-%m-%d}" if (here.hour, here.minute) == (0, 0) else f"{here:%Y-%m-%d %H:%M}"


def _standing(note: MemoryNote) -> str:
    """What keeps the note from speaking for the present, and why it may be out of date."""
    status = "" if note.status is Status.ACTIVE else f", {note.status}"
    doubt = harmless(line(doubt_of(note), _DOUBT_WORDS)).translate(_NO_PARENTHESES)
    return f"{status}, {doubt}" if doubt else status


def _speaker(speaker: str | None, content: str) -> str:
    name = harmless(line(speaker or "", _SPEAKER_WORDS))
    return f"{name}: " if name and not content.startswith(name) else ""


def _around(content: str, best: Passage) -> Iterator[str]:
    """More and more of a text, from the sentence on that says most of the words."""
    yield _marked(content, best.start, best.end)
    sentences = bounds(content)
    low = high = next((n for n, (start, end) in enumerate(sentences) if start <= best.start < end), 0)
    first = low
    while low > 0 or high < len(sentences) - 1:
        # What follows an answer explains it more often than what stands before it.
        if high < len(sentences) - 1 and (low == 0 or high - first <= first - low):
            high += 1
        else:
            low -= 1
        yield _marked(content, sentences[low][0], sentences[high][1])


def _narrower(content: str, best: Passage) -> Iterator[str]:
    """Less and less of that sentence, around the first of the words in it, cut at pauses."""
    words = best.start + (best.spans[0][0] if best.spans else 0)
    for size in _SIZES:
        start = max(best.start, words - size // 3)
        end = min(best.end, start + size)
        if start > best.start and (pause := _PAUSE.search(content, start, words)):
            start = pause.end()
        if end < best.end:
            end = max((pause.start() for pause in _PAUSE.finditer(content, words + size // 3, end)), default=end)
        yield _marked(content, start, end)


def _marked(content: str, start: int, end: int) -> str:
    before = f"{_MORE} " if start > 0 else ""
    after = f" {_MORE}" if end < len(content) else ""
    return f"{before}{content[start:end]}{after}"
