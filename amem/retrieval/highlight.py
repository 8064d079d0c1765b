"""Where in a note the words of a question stand, and which sentence of it says most of them.

Pure functions of text, for whatever shows notes: a terminal, a notebook, a browser. Words match as they do in the
lexical leg: by stem ("moved" finds "moving"), without accents, Chinese by pairs of characters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from amem.language import located_terms, query_terms
from amem.language.sentence_parts import sentence_ends

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

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

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"text": self.text, "start": self.start, "end": self.end, "spans": [list(span) for span in self.spans]}


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
