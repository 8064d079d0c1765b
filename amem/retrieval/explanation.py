"""Explain a score by its parts, and find the sentence of a note that matches a question best."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from amem.labels import short_id
from amem.language import located_terms, query_terms
from amem.language.sentence_parts import sentence_ends
from amem.note import as_plain, plain_fields
from amem.retrieval.question import PREFERRED, Reading, Recency

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from amem.retrieval.confidence import Signs


#: How a leg is called above what it found, how to say that it found a note, and what it calls its raw score.
_LEGS = {
    "dense": ("meaning", "by meaning", "cosine"),
    "lexical": ("words", "by words", "BM25"),
    "late": ("word meaning", "by the meaning of its words", "match"),
    "facts": ("facts", "by facts", "answered"),
    "speaker": ("speaker", "by speaker", "said by"),
    "time": ("time", "of the time asked for", "worth"),
    "source": ("source", "by its source's words", "BM25"),
    "rerank": ("reread", "when read again", "score"),
}
#: What the time leg matched where a question asks when, and names no time itself.
_WHEN = ("says when",)
#: Legs that speak of all notes alike: none is 1st.
_UNRANKED = frozenset({"speaker", "time"})

#: Turns beside each other, which no link joins.
_BESIDE = {"next": "said right after", "previous": "said right before"}

#: What a note that only asks is worth beside one that states something.
ASKING = 0.8
#: What a note is worth of which only a statement that has ended holds the words asked for.
ENDED = 0.7


@dataclass(frozen=True, slots=True)
class Lent:
    """What a neighbouring turn lent: the note `id`, `steps` turns away (-1 is the turn before), and the words it has.

    Words are the question's; empty where the note was matched otherwise.
    """

    id: str
    steps: int
    words: tuple[str, ...] = ()

    def where(self) -> str:
        """For people: ``the turn before``, ``2 turns after``."""
        side = "before" if self.steps < 0 else "after"
        return f"the turn {side}" if abs(self.steps) == 1 else f"{abs(self.steps)} turns {side}"


@dataclass(frozen=True, slots=True)
class LegShare:
    """One leg's part. `rank` counts from 1 and is None when the note was not among the leg's candidates.

    `raw` is the leg's own score (cosine; BM25; how much of what is asked the
    facts answer); `scaled` is that score on the scale all legs share (0..1), and `weight` is what the leg counts for
    among the legs that had something to say (0..1); `share` is what the leg gave to the final score. `matched` holds
    the words or names it found, or the facts on the way to it; `lent` names the neighbouring turns that lent theirs.
    """

    leg: str
    rank: int | None
    raw: float
    share: float
    matched: tuple[str, ...] = ()
    scaled: float = 0.0
    weight: float = 0.0
    lent: tuple[Lent, ...] = ()

    @property
    def head(self) -> str:
        """Its name for people: ``meaning``, ``words``, ``facts``."""
        return _LEGS[self.leg][0]

    @property
    def speaks(self) -> bool:
        """Whether it had anything to say for the note."""
        return self.scaled > 0 or self.rank is not None

    def detail(self) -> str:
        """What it found, for people: ``postgresql, mysql; invoices from the turn before``, ``cosine 0.62``."""
        if not self.speaks:
            return f"cosine {self.raw:.2f}, no nearer than most notes" if self.leg == "dense" else "nothing"
        found = [", ".join(self.matched)] if self.matched else []
        found += [f"{', '.join(each.words)} from {each.where()}" for each in self.lent if each.words]
        return "; ".join(found) or f"{_LEGS[self.leg][2]} {self.raw:.2f}"

    def words(self) -> str:
        """For people: ``1st by words (postgresql, mysql)``."""
        if self.leg == "speaker":
            return f"said by {self.detail()}"
        place = "" if self.rank is None or self.leg in _UNRANKED else f"{ordinal(self.rank)} "
        # Just outside of a time counts as well, but is not in it.
        said = "near the time asked for" if self.leg == "time" and self.scaled < 1.0 and self.matched != _WHEN else ""
        return f"{place}{said or _LEGS[self.leg][1]} ({self.detail()})"


@dataclass(frozen=True, slots=True)
class Via:
    """The link that lifted a note: from which note, of which type, how many links from a direct hit, and why."""

    from_id: str
    type: str
    hop: int
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"from": self.from_id, "type": self.type, "hop": self.hop, "reason": self.reason}

    def words(self) -> str:
        """For people: ``linked from 1a2b3c4d (related: both mention Lisbon)``, ``said right after 1a2b3c4d``."""
        if self.type in _BESIDE:
            return f"{_BESIDE[self.type]} {short_id(self.from_id)}"
        return f"linked from {short_id(self.from_id)} ({self.type}{': ' if self.reason else ''}{self.reason})"


@dataclass(frozen=True, slots=True)
class Prior:
    """What the note's standing does to its relevance: ``floor + (1 - floor) * retention * trust``, all in 0..1.

    Where `recency` says that the question asks for what is recent, holds now, comes next or was last, the floor is
    lower and `timely`, how well the note's own time goes with that, stands in the place of retention. `asks` says that
    the note itself only asks something: it is about what the question is about, but answers less, by `ASKING`. `ended`
    says that of its words only those of a statement that no longer holds are asked for: it counts less by `ENDED`.
    """

    retention: float
    trust: float
    floor: float
    recency: Recency | None = None
    asks: bool = False
    timely: float = 0.0
    ended: bool = False

    @property
    def factor(self) -> float:
        """The factor on relevance, from `floor` to 1, and less for a note that asks or that was once so."""
        kept = self.retention if self.recency is None else self.timely
        less = (ASKING if self.asks else 1.0) * (ENDED if self.ended else 1.0)
        return (self.floor + (1.0 - self.floor) * kept * self.trust) * less

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, with the `factor`."""
        return plain_fields(self) | {"factor": self.factor}

    def told(self) -> tuple[str, ...]:
        """What makes it so: ``41% remembered``, ``trust 0.62``."""
        said = [self._kept, f"trust {self.trust:.2f}", *(["only was so"] if self.ended else [])]
        return (*said, *(["only asks"] if self.asks else []), *(["the time counts"] if self.recency else []))

    def words(self) -> str:
        """For people: ``× 0.78 as you ask for what is recent (41 % remembered, trust 0.62)``."""
        why = f" as you ask for {PREFERRED[self.recency]}" if self.recency else ""
        return f"× {self.factor:.2f}{why} ({self._kept}, trust {self.trust:.2f})"

    @property
    def _kept(self) -> str:
        return f"{self.retention:.0%} remembered" if self.recency is None else f"{self.timely:.0%} timely"


@dataclass(frozen=True, slots=True)
class KeptOut:
    """Why a note is not among the hits: `reason` is one word for programs, `detail` says it to people.

    Reasons: deleted, superseded, archived, page, filtered, no_question, no_match, no_candidate, below_cosine,
    below_score, below_k. `by` holds the ids that took a superseded note's place, up to the one that holds now;
    `conditions` the fields of the filter that the note fails.
    """

    reason: str
    detail: str
    by: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a note has its `score`, which is ``relevance * prior.factor`` and the sum of all shares.

    `link_share` is what `via` (the path from a direct hit, nearest link first) added; `place` is the note's place
    among all that were ranked, from 1, and `among` how many those were, where all were; `kept_out` is None for a hit.
    `reading` says how the question was read and `fusion` how the legs' answers became one score (convex or rrf);
    `notes` are remarks in words, such as that a reranking was broken off. `content` is the note's text and `sentence`
    where in it the sentence stands that is nearest in meaning, if that was looked for: see `passage`. `signs` are what
    a hit's confidence rests on.
    """

    id: str
    score: float
    relevance: float
    prior: Prior
    legs: tuple[LegShare, ...] = ()
    link_share: float = 0.0
    via: tuple[Via, ...] = ()
    place: int | None = None
    kept_out: KeptOut | None = None
    reading: Reading | None = None
    fusion: str = ""
    notes: tuple[str, ...] = ()
    among: int | None = None
    content: str = ""
    sentence: tuple[int, int] | None = None
    signs: Signs | None = None

    @property
    def matched(self) -> tuple[str, ...]:
        """The question's words that the note itself holds."""
        return tuple(dict.fromkeys(word for leg in self.legs if leg.leg == "lexical" for word in leg.matched))

    @property
    def shares(self) -> tuple[tuple[LegShare, float], ...]:
        """Each leg with what it gave before the note's standing counted, 0..1.

        What is not ranked has no score for the legs to share in; what they think of it is told all the same.
        """
        factor = self.prior.factor
        ranked = self.place is not None and factor
        return tuple((leg, leg.share / factor if ranked else leg.weight * leg.scaled) for leg in self.legs)

    @property
    def linked_share(self) -> float:
        """What links gave before the note's standing counted."""
        return self.link_share / self.prior.factor if self.prior.factor else 0.0

    @property
    def passage(self) -> Passage:
        """The sentence that says most of what is asked, with the places of the matched words."""
        return passage(self.content, self.matched, sentence=self.sentence)

    def words(self) -> str:
        """A sentence or two for people."""
        said = sorted((leg for leg in self.legs if leg.speaks), key=lambda leg: -leg.share)
        parts = [leg.words() for leg in said]
        if self.link_share > 0:
            parts += [step.words() for step in self.via]
        if self.kept_out is None:
            # Otherwise standing hardly moves a note, and would only be noise.
            standing = [self.prior.words()] if self.prior.recency else []
            return _sentence([*(parts or ["found by no leg"]), *standing])
        return " ".join([_sentence([self.kept_out.detail]), *([_sentence(parts)] if parts else [])])

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; docs/cli.md says what each key holds."""
        passage = as_plain(self.passage)
        return plain_fields(self, "content", "sentence") | {"passage": passage, "words": self.words()}


def ordinal(number: int) -> str:
    """1 -> "1st", 12 -> "12th"."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return str(number) + {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _sentence(parts: list[str]) -> str:
    text = ", ".join(parts)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "。")) else ".")


# Where in a note the words of a question stand, and which sentence of it says most of them.
#
# Pure functions of text, for whatever shows notes: a terminal, a notebook, a browser. Words match as they do in the
# lexical leg: by stem ("moved" finds "moving"), without accents, Chinese by pairs of characters.

#: A sentence longer than this is cut to what lies around the words.
LONGEST = 300
#: A list shows at most so many characters of a note where sentences are short.
SHORT = 160
#: What stays before the first word of a sentence that is cut.
_RUN_UP = 60
#: What a passage must not begin with: it belongs to what stands before it.
_PUNCTUATION = re.compile(r"(?:[,;:!?)，；：、。！？）…]|\.(?!\w)|\s)+(?=\w)")
_SPACE = re.compile(r"\s+")
#: At the beginning of a line.
_MARKS = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|(?:```|~~~)[^\n]*$|>[ \t]?)", re.MULTILINE)
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a note: `text`, which is ``content[start:end]``, and the `spans` of the matched words within it.

    Spans are (start, end) in characters of `text`, ascending, none overlapping another.
    """

    text: str
    start: int
    end: int
    spans: tuple[tuple[int, int], ...] = ()

    def pieces(self) -> list[tuple[str, bool]]:
        """The text on one line in pieces, each with whether it matched.

        White space is single blanks; marks of headings, quotes and blocks of code are left out.
        """
        left_out = {at for mark in _MARKS.finditer(self.text) for at in range(*mark.span())}
        found: list[tuple[str, bool]] = []
        at = 0
        for start, end in (*self.spans, (len(self.text), len(self.text))):
            for begin, stop, matched in ((at, start, False), (start, end, True)):
                kept = "".join(" " if place in left_out else self.text[place] for place in range(begin, stop))
                kept = _SPACE.sub(" ", kept)
                if kept.startswith(" ") and (not found or found[-1][0].endswith(" ")):
                    kept = kept[1:]
                if kept:
                    found.append((kept, matched))
            at = end
        return found


def matched_words(question: str, terms: Collection[str]) -> tuple[str, ...]:
    """The words of the question that stand for these index terms, lower case, in order, CJK runs in one piece.

    A term that none of its words is (三 also asks for 3) comes last, as it is.
    """
    placed = _wanted(_located(question), terms)
    words = [_POSSESSIVE.sub("", question[start:end].lower()) for start, end in _merged(placed)]
    known = {term for _, _, held in placed for term in held}
    return tuple(dict.fromkeys([*words, *(term for term in terms if term not in known)]))


def spans(content: str, words: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """Where any of these words or names stand in the content: (start, end), ascending, none touching another."""
    wanted = {term for word in words for term in query_terms(word)}
    return tuple(_merged(_places(content, wanted))) if wanted else ()


def passage(content: str, words: Iterable[str], *, sentence: tuple[int, int] | None = None) -> Passage:
    """The sentence of the content that holds most of these words, the shorter of two; else `sentence`, else the first.

    A long one is cut to at most `LONGEST` characters around the words.
    """
    wanted = {term for word in words for term in query_terms(word)}
    placed = _places(content, wanted) if wanted else []
    sentences = bounds(content)
    held = _shared(placed, sentences)
    best = max(range(len(sentences)), key=lambda place: (len(held[place]), -_length(sentences[place])), default=None)
    if best is None:
        return Passage("", 0, 0)
    start, end = sentences[best] if held[best] else sentence or sentences[0]
    start, end = _cut(content, start, end, placed)
    if joint := _PUNCTUATION.match(content, start, end):
        start = joint.end()
    within = [(max(at, start) - start, min(to, end) - start) for at, to in _merged(placed) if at < end and to > start]
    return Passage(content[start:end], start, end, tuple(within))


def excerpt(content: str, words: Iterable[str], *, sentence: tuple[int, int] | None = None) -> Passage:
    """What a list of hits shows of a note: its `passage`, and of what follows and precedes it whole sentences.

    At most `SHORT` characters, of a longer sentence that alone; a short note as a whole.
    """
    asked = tuple(words)
    best = passage(content, asked, sentence=sentence)
    start, end = best.start, best.end
    every = bounds(content)
    for _, stop in (each for each in every if each[1] > end):
        if stop - start > SHORT:
            break
        end = stop
    for begin, _ in (each for each in reversed(every) if each[0] < start):
        if end - begin > SHORT:
            break
        start = begin
    if (start, end) == (best.start, best.end):
        return best
    within = [(at - start, to - start) for at, to in spans(content, asked) if at >= start and to <= end]
    return Passage(content[start:end], start, end, tuple(within))


def bounds(content: str) -> list[tuple[int, int]]:
    """Where each sentence of the content begins and ends, white space around it left out; none is empty."""
    found: list[tuple[int, int]] = []
    start = 0
    for end in (*sentence_ends(content), len(content)):
        piece = content[start:end]
        if text := piece.strip():
            begin = start + piece.index(text[0])
            found.append((begin, begin + len(text)))
        start = end
    return found


_Placed = tuple[int, int, tuple[str, ...]]


def _places(text: str, wanted: Collection[str]) -> list[_Placed]:
    """The places of wanted terms with the terms that are wanted there."""
    return _wanted(located_terms(text, wanted), wanted)


@lru_cache(maxsize=64)
def _located(question: str) -> tuple[_Placed, ...]:
    # Each hit, and each turn that lent it words, names those of the same question.
    return tuple(located_terms(question))


def _wanted(placed: Iterable[_Placed], wanted: Collection[str]) -> list[_Placed]:
    found, wanted = [], frozenset(wanted)
    for start, end, terms in placed:
        if here := tuple(term for term in terms if term in wanted):
            found.append((start, end, here))
    return found


def _shared(placed: Sequence[_Placed], sentences: Sequence[tuple[int, int]]) -> list[set[str]]:
    """For each sentence the terms that begin in it."""
    found: list[set[str]] = [set() for _ in sentences]
    starts = [start for start, _ in sentences]
    for at, _, terms in placed:
        sentence = bisect_right(starts, at) - 1
        if sentence >= 0 and at < sentences[sentence][1]:
            found[sentence].update(terms)
    return found


def _merged(placed: Sequence[_Placed]) -> list[tuple[int, int]]:
    """The places as spans: those that overlap, as pairs of Chinese characters do, become one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted((start, end) for start, end, _ in placed):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]


def _fullest(placed: Sequence[_Placed], reach: int) -> int:
    """Where the `reach` characters begin that hold the most terms, the first of several such places."""
    ordered = sorted(placed, key=lambda each: each[0])
    within: Counter[str] = Counter()
    best = most = last = 0
    for at, _, terms in ordered:
        while last < len(ordered) and ordered[last][0] < at + reach:
            within.update(ordered[last][2])
            last += 1
        if len(within) > most:
            best, most = at, len(within)
        for term in terms:
            within[term] -= 1
            if not within[term]:
                del within[term]
    return best


def _cut(content: str, start: int, end: int, placed: Sequence[_Placed]) -> tuple[int, int]:
    """At most `LONGEST` characters of content[start:end], around most of the words, cut at spaces if there are any."""
    if end - start <= LONGEST:
        return start, end
    near = [each for each in placed if start <= each[0] < end]
    begin = start
    if near:
        begin = max(start, min(_fullest(near, LONGEST - _RUN_UP) - _RUN_UP, end - LONGEST))
    stop = min(end, begin + LONGEST)
    space = content.find(" ", begin, begin + _RUN_UP) if begin > start else -1
    last = content.rfind(" ", begin + LONGEST // 2, stop) if stop < end else -1
    return (space + 1 if space >= 0 else begin), (last if last >= 0 else stop)
