"""Build the context of a question: notes as text for another program's prompt, within a token budget."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from amem import checks
from amem.clock import time_text, zone
from amem.errors import InvalidInput
from amem.labels import short_id
from amem.language import query_terms, written_in_cjk
from amem.llm.prompts import inert, line
from amem.llm.tokenizers import Counter, counter_for, settings_counter
from amem.note import MemoryNote, Plain, Source, Status
from amem.rendering import doubt_of, text_within
from amem.retrieval.budget import (
    MEMORIES_END,
    MEMORIES_START,
    Candidate,
    CoreNotes,
    background,
    harmless,
    pick,
    redundant_summaries,
)
from amem.retrieval.confidence import Support, best_support, supporting
from amem.retrieval.explanation import Passage, bounds, passage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.language.predicates import Predicates
    from amem.query import Filter, Query
    from amem.retrieval.budget import CoreNote
    from amem.retrieval.hit import Hit
    from amem.retrieval.recall import JoinedRecall
    from amem.settings import Settings
    from amem.storage.store import Store


# What is known about a question, as text for somebody else's prompt and as values: the frame and what stands in it.
#
# ``[Background]`` holds the core notes; between ``=== RELEVANT MEMORIES ===`` and ``=== END MEMORIES ===`` each
# recalled note begins with ``[time] (trust: 0.92)``, and its further lines are set in, so that none of them can pass
# for another note. Nothing that a note says can end the frame (see ``amem.retrieval.budget``).

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
    `catalog` names the catalog that it is in, '' for one of the memory's own; `score` says how well it answers,
    `why` says what for; `tokens` is what its entry takes.
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
    catalog: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A note that was found and not placed. Reasons: budget, repeats, retold, beside_the_point; `detail` says it to
    people."""

    id: str
    reason: str
    score: float
    detail: str


@dataclass(frozen=True, slots=True)
class Context(Plain):
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


@dataclass(frozen=True, slots=True)
class Entry:
    """A note written out: its head and its text, as they stand in the frame."""

    head: str
    text: str
    shortened: bool

    @property
    def written(self) -> str:
        return f"{self.head} {self.text}".replace("\n", _SET_IN)


def entry(
    note: MemoryNote,
    words: Sequence[str],
    most: int,
    count: Callable[[str], int],
    zone: tzinfo,
    *,
    catalog: str = "",
) -> Entry | None:
    """A note as it stands in a context within `most` tokens: whole, or what lies around the question's `words`.

    A note of a `catalog` says so. None where not even a part of a sentence fits.
    """
    place = f", catalog: {catalog}" if catalog else ""
    head = f"[{when(note.at, zone)}] (trust: {note.trust:.2f}{_standing(note)}{place})"
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
    return "undated" if moment is None else time_text(moment, zone)


def _standing(note: MemoryNote) -> str:
    """The status of a note that is not active, and why it may be out of date, in words."""
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


# From a question to a context: recalls, leaves out what is beside the point, picks, writes, keeps to the budget.

ORDERS = ("time", "relevance")
#: Notes asked for: about as many short ones as a budget holds.
_FEWEST, _MOST, _SHORT = 20, 100, 25
#: Core notes take at most this share of a budget, and one recalled note so many tokens.
_CORE = 4
_LONGEST = 300
#: What scores so small a share of the best is left out, the sooner where nothing in it speaks of what is asked.
_FAINT, _FAR_LESS = 0.2, 0.35
#: The best answer gets that share of the room at once, or at least so many tokens.
_SHARE, _LEAST = 3, 80
#: Of a question so much is asked of recall: the embedder reads less, and the words of a book find everything.
_ASKED = 4_000


_CALLERS = "a function of the caller's"
_EVER = datetime.min.replace(tzinfo=UTC)
_WHY = {
    "budget": "there was no room for it",
    "beside_the_point": "it has next to nothing to do with what is asked",
    "retold": "it sums up what other notes here say",
    "repeats": "it says what {} says",
}


@dataclass(frozen=True, slots=True)
class Found:
    """What recall found for a question, with what is needed to choose from it: `support` is how well it supports an
    answer, `repeated` are summaries of what other hits say."""

    hits: tuple[Hit, ...]
    notes: Mapping[str, MemoryNote]
    vectors: Mapping[str, NDArray[np.float32]]
    support: Support
    repeated: frozenset[str]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A hit that goes into a prompt, and how it stands there."""

    hit: Hit
    note: MemoryNote
    entry: Entry


class ContextBuilder:
    """Makes contexts from one collection and its catalogs."""

    def __init__(
        self, recall: JoinedRecall, store: Store, settings: Settings, predicates: Callable[[], Predicates]
    ) -> None:
        self._recall = recall
        self._predicates = predicates
        self._store = store
        self.settings = settings
        self.zone = zone(settings.timezone)

    def counter(self, tokenizer: str | Callable[[str], int] | None) -> Counter:
        """The token counter: the function or the model that is named, else the model of the settings."""
        if tokenizer is None:
            return settings_counter(self.settings)
        if isinstance(tokenizer, str):
            return counter_for(tokenizer)
        if callable(tokenizer):
            return Counter(lambda text: checks.whole("what the tokenizer returns", tokenizer(text), least=0), _CALLERS)
        raise InvalidInput(f"a tokenizer is a model's name or a function, not {checks.shown(tokenizer)}")

    def core(self, budget: int | None, within: Filter, counter: Counter, chinese: bool | None = None) -> CoreNotes:
        """The block of core notes within so many tokens (None: the setting ``core_tokens``)."""
        most = checks.whole("budget_tokens", self.settings.core_tokens if budget is None else budget, least=0)
        with self._store.read() as session, session.within(within.scope):
            return background(session, self._predicates(), most, counter, within=within, chinese=chinese)

    def context(
        self,
        query: Query,
        budget: int | None,
        counter: Counter,
        *,
        order: str | None = None,
        core: bool = True,
    ) -> Context:
        """What is known about the question, within so many tokens (None: the setting ``context_tokens``).

        How many notes the query asks for does not matter. Raises InvalidInput.
        """
        budget, order = self.bounds(budget, order)
        block = self.core(
            min(self.settings.core_tokens, budget // _CORE) if core else 0,
            query.filter,
            counter,
            written_in_cjk(query.text) if any(map(str.isalpha, query.text)) else None,
        )
        frame = counter(f"\n\n{framed([''])}" if block.text else framed([""]))
        room = budget - block.tokens - frame
        found = self.find(query, room, block)
        out: list[LeftOut] = []
        already = {note.id for note in block.notes}
        chosen = self.choose(found, query.text, room, counter, out, already=already)
        if not chosen and out:
            # Counted apart, the frame and a note are a few tokens more than together: one that just fits is tried.
            apart = 2 * counter("\n") - counter("\n\n")
            out = []
            chosen = self.choose(found, query.text, room + 2 * apart + 1, counter, out, already=already)
        while True:
            shown = ordered(chosen, order)
            text = "\n\n".join(part for part in (block.text, framed([each.entry.written for each in shown])) if part)
            size = counter(text) if text else 0
            if size <= budget or not chosen:
                break
            # What a tokenizer makes of the whole can be a token or two more than of the parts.
            out.append(left_out(chosen.pop().hit, "budget"))
        if query.touch and shown:
            self._recall.opened([each.hit.id for each in shown])
        return Context(
            query=query.text,
            text=text,
            core=block.notes,
            notes=tuple(placed(each, counter) for each in shown),
            tokens=size,
            budget=budget,
            left_out=tuple(sorted(out, key=lambda each: -each.score)),
            order=order,
            support=str(found.support),
            counted_by=counter.name,
            exact=counter.exact,
        )

    def bounds(self, budget: int | None, order: str | None) -> tuple[int, str]:
        """The tokens and the order that are asked for, None for those of the settings. Raises InvalidInput."""
        budget = checks.whole("budget_tokens", self.settings.context_tokens if budget is None else budget, least=0)
        order = self.settings.context_order if order is None else order
        if order not in ORDERS:
            raise InvalidInput(f"a context cannot be ordered by {order!r}", hint=f"use {' or '.join(ORDERS)}")
        return budget, order

    def find(self, query: Query, room: int, core: CoreNotes | None = None) -> Found:
        """Ask recall for as many notes as may fit into `room` tokens; `core` notes are evidence as well."""
        many = min(_MOST, max(_FEWEST, room // _SHORT))
        asked = replace(query, text=query.text[:_ASKED], k=many, expand=True, touch=False)
        hits = self._recall.search(asked)
        beside = {hit.id for hit in hits if hit.support is Support.NONE}
        notes: dict[str, MemoryNote] = {}
        vectors: dict[str, NDArray[np.float32]] = {}
        repeated: set[str] = set()
        for session, some in self._recall.reading(hits):
            held = session.notes.shown([hit.id for hit in some], history=False, known_at=query.filter.known_at)
            repeated |= redundant_summaries(session, held, beside, supporting(hits))
            # To an English model all Chinese texts are alike.
            vectors |= session.vectors.of_notes([id for id in held if not written_in_cjk(held[id].content)])
            notes |= held
        hits = [hit for hit in hits if hit.id in notes]
        return Found(tuple(hits), notes, vectors, best_support(hits), frozenset(repeated))

    def choose(
        self,
        found: Found,
        question: str,
        room: int,
        counter: Callable[[str], int],
        out: list[LeftOut],
        *,
        already: Collection[str] = (),
    ) -> list[Chosen]:
        """The hits that go into `room` tokens, the one that adds most for its tokens first; others go `out`, with why.

        Those that stand in the prompt `already` are neither.
        """
        words = query_terms(question[:_ASKED])
        best = max((hit.score for hit in found.hits), default=0.0)
        ready: list[Chosen] = []
        for hit in found.hits:
            if hit.id in already:
                continue
            if hit.id in found.repeated:
                out.append(left_out(hit, "retold"))
                continue
            if hit.score <= best * (_FAR_LESS if hit.support is Support.NONE else _FAINT):
                out.append(left_out(hit, "beside_the_point"))
                continue
            most = min(_LONGEST, room)
            # The best answer goes in whatever its length, and leaves room for others if it can.
            tried = [max(room // _SHARE, min(_LEAST, room)), most] if not ready else [most]
            written = next(filter(None, (self._written(found, hit, words, size, counter) for size in tried)), None)
            if written is None:
                out.append(left_out(hit, "budget"))
            else:
                ready.append(written)
        candidates = [
            Candidate(hit.id, entry.text, counter(entry.written) + 1, hit.score, found.vectors.get(hit.id))
            for hit, entry in ((each.hit, each.entry) for each in ready)
        ]
        picked = pick(candidates, room, first=0 if ready else None)
        into = {place: ready[place] for place in picked.chosen}
        left = room - sum(candidates[place].tokens for place in into)
        for place, each in enumerate(ready):
            if place in picked.repeats:
                out.append(left_out(each.hit, "repeats", ready[picked.repeats[place]].hit.id))
                continue
            had = candidates[place].tokens if place in into else 0
            if had and not each.entry.shortened:
                continue
            if had + left < _SHORT:
                out += [] if had else [left_out(each.hit, "budget")]
                continue
            # What is left may do for more of a note, or for a part of one that was too long.
            more = self._written(found, each.hit, words, min(_LONGEST, had + left - 1), counter)
            if more is not None and (taken := counter(more.entry.written) + 1) <= had + left:
                into[place] = more
                left += had - taken
            elif not had:
                out.append(left_out(each.hit, "budget"))
        return list(into.values())

    def _written(
        self, found: Found, hit: Hit, words: Sequence[str], most: int, counter: Callable[[str], int]
    ) -> Chosen | None:
        note = found.notes[hit.id]
        written = entry(note, words, most, counter, self.zone, catalog=hit.catalog)
        return None if written is None else Chosen(hit, note, written)


def ordered(chosen: Sequence[Chosen], order: str) -> list[Chosen]:
    """By time, oldest first and the undated before them, or by relevance."""
    best = sorted(chosen, key=lambda each: (-each.hit.score, each.hit.id))
    if order == "relevance":
        return best
    return sorted(best, key=lambda each: (each.note.at is not None, each.note.at or _EVER, each.note.ordinal or 0))


def placed(each: Chosen, counter: Callable[[str], int]) -> Placed:
    """The note in the prompt as a value."""
    note = each.note
    return Placed(
        id=note.id,
        time="" if note.at is None else note.at.isoformat(),
        trust=note.trust,
        tokens=counter(each.entry.written),
        score=each.hit.score,
        why=each.hit.explanation.words(),
        text=each.entry.text,
        kind=str(note.kind),
        speaker=note.speaker or "",
        shortened=each.entry.shortened,
        catalog=each.hit.catalog,
    )


def left_out(hit: Hit, reason: str, other: str = "") -> LeftOut:
    """A hit that is not placed, and why."""
    return LeftOut(hit.id, reason, hit.score, _WHY[reason].format(short_id(other)))
