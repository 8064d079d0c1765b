"""The lexical leg (BM25) and the late-interaction leg, and document frequencies."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from amem.collection import has_drifted
from amem.conflict.cues import named_alike
from amem.language import asked_terms, index_terms
from amem.language.scripts import CHINESE_SINGLE_WORDS, LATIN, read_list, standing_in
from amem.retrieval.explanation import Lent
from amem.retrieval.legs import Answer, is_among
from amem.storage.search_tables import K1, Lengths
from amem.token_vectors import PACKING, Tokens, tokens_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from amem.retrieval.legs import Asked, Floats, Keys, NearTurns
    from amem.settings import Settings
    from amem.storage.store import Session
    from amem.storage.vectors import Space


# How many notes hold each term, remembered between questions, and which terms of a question are worth asking for.

_REMEMBERED = 20_000
#: Above this many notes, a term that most of them hold is left out of the question: BM25 gives it no weight anyway.
_FEW_NOTES = 50
_MOST = 0.5
#: Ranking walks the list of every term, about two microseconds for each note in it. The commonest terms are left out
#: until the lists together are no longer than this share of the collection, or than so many notes, but for the two
#: rarest.
_WALKED = 0.03
_WALKED_ANYWAY = 2_000
_ENOUGH_RARE = 2


class Frequencies:
    """Document frequencies of one collection, kept because counting a common term walks its whole list.

    Call `follow` before the first of a question's look-ups.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, int] = {}
        #: How many notes there are (not deleted), as last counted.
        self.total = 0
        #: The change counter it was counted at.
        self.counted_at = -1
        #: Terms that no note held at a value of the change counter: the next note may hold them, and has to be found.
        self._absent: tuple[int, set[str]] = -1, set()

    def follow(self, session: Session) -> None:
        """Count anew when the collection has changed by more than a fiftieth since."""
        counter = session.counter
        with self._lock:
            if has_drifted(counter, self.counted_at, self.total):
                self._held.clear()
                self.total = session.text.total
                self.counted_at = counter

    def of(self, session: Session, terms: Sequence[str]) -> dict[str, int]:
        """For each index term how many notes held it when last counted."""
        with self._lock:
            if len(self._held) > _REMEMBERED:
                self._held.clear()
            if self._absent[0] != session.counter or len(self._absent[1]) > _REMEMBERED:
                self._absent = session.counter, set()
            absent = self._absent[1]
            unknown = [term for term in terms if term not in self._held and term not in absent]
            for term, count in (session.text.document_frequency(unknown) if unknown else {}).items():
                if count:
                    self._held[term] = count
                else:
                    absent.add(term)
            return {term: self._held.get(term, 0) for term in terms}


def selective_terms(frequencies: Mapping[str, int], total: int) -> list[str]:
    """The terms worth asking for, in order: those held by some note but not by most; the rarest one in any case.

    In a large collection the commonest are left out too, as far as two rarer ones remain, to bound what ranking costs.
    """
    held = [term for term, count in frequencies.items() if count]
    if total <= _FEW_NOTES:
        return held
    rarest_first = sorted(held, key=lambda term: frequencies[term])
    kept = {term for term in rarest_first if frequencies[term] <= _MOST * total} or set(rarest_first[:1])
    kept &= set(_affordable(rarest_first, frequencies, max(_WALKED_ANYWAY, _WALKED * total)))
    return [term for term in held if term in kept]


def _affordable(rarest_first: Sequence[str], frequencies: Mapping[str, int], budget: float) -> list[str]:
    taken: list[str] = []
    for term in rarest_first:
        budget -= frequencies[term]
        if budget < 0 and len(taken) >= _ENOUGH_RARE:
            break
        taken.append(term)
    return taken


# What the words of one question say of notes, with what neighbouring turns lend.

#: So many of the best bring their neighbours in as candidates.
_HOSTS = 40
#: Some of the best may be superseded or archived, so a few more are looked at.
_SPARE = 32


class LexicalAnswer(Answer):
    """The lexical leg's answer. The common scale is the share of the most that the question's words can give.

    `own` holds what each term (column) is worth in each note of `held` (row, keys ascending).
    """

    def __init__(self, asked: Asked, terms: Sequence[str], held: Keys, own: Floats, most: float, decay: float) -> None:
        self.terms = terms
        self._asked, self._most = asked, most
        self._held, self._own = held, own
        self._decay = decay
        self._known: dict[int, float] = {}
        #: The neighbours that hold words, of the notes that were scored.
        self._lenders: list[NearTurns] = []

    def among(self, asked: Asked) -> LexicalAnswer:
        """The same answer where other notes may answer."""
        said = LexicalAnswer(asked, self.terms, self._held, self._own, self._most, self._decay)
        said._known, said._lenders = self._known, self._lenders
        return said

    @cached_property
    def keys(self) -> Sequence[int]:  # type: ignore[override]  # which is looked up when it is asked for
        """The best by their own words, and turns beside them that have become as good."""
        limit, eligible = self._asked.limit, self._asked.eligible
        best = self._held[np.lexsort((self._held, -self._own.sum(axis=1)))]
        # A filter says who may answer, not who may lend words.
        hosts = best[:_HOSTS].tolist()
        own = self._first(best if eligible.allowed is None else best[is_among(best, eligible.allowed)], limit)
        near = self._asked.window.around(hosts).neighbours if self._decay else ()
        candidates = np.array(sorted({*own, *map(int, near)}), dtype=np.int64)
        worth = self.scores(candidates)[0]
        return self._first(candidates[np.argsort(-worth, kind="stable")][: np.count_nonzero(worth > 0)], limit)

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        fresh = np.array([key for key in keys.tolist() if key not in self._known], dtype=np.int64)
        if len(fresh):
            self._known |= zip(fresh.tolist(), self._windowed(fresh).sum(axis=1).tolist(), strict=True)
        raw = np.array([self._known[key] for key in keys.tolist()], dtype=np.float64)
        return raw, np.clip(raw / self._most, 0.0, 1.0)

    def matched(self, key: int) -> tuple[str, ...]:
        """The terms that the note itself holds."""
        return tuple(term for term, score in zip(self.terms, self._row(key).tolist(), strict=True) if score > 0)

    def lent(self, key: int) -> tuple[Lent, ...]:
        """The neighbours that lent the note words, and which; the nearest first."""
        self.scores(np.array([key], dtype=np.int64))
        around = next((held for each in self._lenders if len((held := each.of(key)).keys)), None)
        if around is None:
            return ()
        own, offers = self._row(key), self._rows(around.neighbours) * around.worth(self._decay)[:, None]
        lenders: dict[int, list[str]] = {}
        for column in np.flatnonzero(offers.max(axis=0) > own).tolist():
            lenders.setdefault(int(offers[:, column].argmax()), []).append(self.terms[column])
        rows = sorted(lenders, key=lambda row: (abs(int(around.steps[row])), row))
        keys = [int(around.neighbours[row]) for row in rows]
        known = self._asked.eligible.rows(keys)
        return tuple(
            Lent(known[key].id, int(around.steps[row]), tuple(lenders[row]))
            for row, key in zip(rows, keys, strict=True)
        )

    def _first(self, keys: Keys, limit: int) -> list[int]:
        """The first of these that may answer."""
        found: list[int] = []
        for start in range(0, len(keys), limit + _SPARE):
            found += self._asked.eligible.passing(keys[start : start + limit + _SPARE].tolist())
            if len(found) >= limit:
                break
        return found[:limit]

    def _windowed(self, keys: Keys) -> Floats:
        """For each note and term the best of its own score and what its neighbours lend."""
        best = self._rows(keys)
        around = self._asked.window.around(keys)
        around = around.where(is_among(around.neighbours, self._held))
        if len(around.keys):
            self._lenders.append(around)
            around.lend(best, keys, self._rows(around.neighbours), self._decay)
        return best

    def _row(self, key: int) -> Floats:
        row = int(np.searchsorted(self._held, key))
        found = row < len(self._held) and self._held[row] == key
        own: Floats = self._own[row] if found else np.zeros(len(self.terms))
        return own

    def _rows(self, keys: Keys) -> Floats:
        at = np.minimum(np.searchsorted(self._held, keys), len(self._held) - 1)
        rows: Floats = np.where((self._held[at] == keys)[:, None], self._own[at], 0.0)
        return rows


# What index terms are worth in notes: BM25 by SQLite's FTS5, or by rank-bm25 with one's own k1 and b.

_LEAST_IDF = 1e-6


class Fts5Scorer:
    """SQLite's own ranking, k1 1.2 and b 0.75 fixed; keeps the lengths of notes by the change counter.

    The parts of several terms add up to their BM25.
    """

    k1 = K1
    _lengths: Lengths | None = None

    def postings(self, session: Session, terms: Sequence[str]) -> tuple[Keys, Keys, Floats]:
        """Where each term stands: places in `terms`, keys of the notes that hold it, and its worth there, above 0."""
        # Whichever of two threads comes last: what either keeps is whole.
        self._lengths = lengths = Lengths.of(session, self._lengths)
        return session.text.postings(terms, lengths)


class RankBm25Scorer:
    """``rank_bm25.BM25Okapi`` with one's own k1 and b, rebuilt whenever the collection has changed."""

    def __init__(self, k1: float, b: float) -> None:
        self.k1, self._b = k1, b
        self._lock = threading.Lock()
        self._built: tuple[int, NDArray[np.int64], object] | None = None

    def postings(self, session: Session, terms: Sequence[str]) -> tuple[Keys, Keys, Floats]:
        keys, index = self._index(session)
        if index is None or not terms:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        scores = np.stack([index.get_scores([term]) for term in terms])  # type: ignore[attr-defined]  # rank_bm25 has no types
        places, rows = np.nonzero(scores > 0)
        return places.astype(np.int64), keys[rows], scores[places, rows]

    def _index(self, session: Session) -> tuple[NDArray[np.int64], object | None]:
        with self._lock:
            counter = session.counter
            if self._built is None or self._built[0] != counter:
                from rank_bm25 import BM25Okapi

                texts = session.text.tokens()
                index = None
                # rank_bm25 divides by the corpus size and by the number of different words.
                if any(texts.values()):
                    index = BM25Okapi(list(texts.values()), k1=self.k1, b=self._b, epsilon=0.0)
                    # As in FTS5, a term that most notes hold still finds them, it just hardly ranks them.
                    index.idf = {term: max(idf, _LEAST_IDF) for term, idf in index.idf.items()}
                self._built = counter, np.array(list(texts), dtype=np.int64), index
            return self._built[1], self._built[2]


# What the words of a question are called in the other language.

#: So many words has the longest English name of the lists.
_MOST_WORDS = 3
#: The sections of the list of both languages that name everyday things.
_NAMING = ("kin", "things", "everyday")


def translations(text: str) -> dict[str, tuple[str, ...]]:
    """The words of a text, as they are written, that the lists name in the other language, with those names."""
    known, longest = _in_other_language()
    spans = [*standing_in(text, known, longest)]
    inside = {at for start, end in spans for at in range(start, end)}
    spans += [(at, at + 1) for at, each in enumerate(text) if each in CHINESE_SINGLE_WORDS and at not in inside]
    found = {text[start:end]: known.get(text[start:end], ()) for start, end in sorted(spans)}
    spoken, end = list(LATIN.finditer(text)), 0
    for at, first in enumerate(spoken):
        for last in spoken[at : at + _MOST_WORDS][::-1]:
            said = text[first.start() : last.end()]
            if first.start() >= end and (names := known.get(_named_by(said))):
                found[said] = names
                end = last.end()
                break
    return {said: names for said, names in found.items() if names}


@cache
def _in_other_language() -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, int]]:
    """The names of the same thing in the other language for each name of the lists, and how long Chinese names are."""
    found: dict[str, tuple[str, ...]] = {}
    longest: dict[str, int] = {}
    listed = [line.split("  ") for of, line in read_list("two_languages.txt") if of in _NAMING]
    for names in (*named_alike(), *listed):
        for name in names:
            others = (each for each in names if each.isascii() != name.isascii())
            found[_named_by(name)] = tuple(dict.fromkeys((*found.get(_named_by(name), ()), *others)))
            longest[name[0]] = max(len(name), longest.get(name[0], 0))
    return found, longest


def _named_by(name: str) -> str:
    """A name without the endings of its words, in Chinese as it is."""
    return " ".join("".join(index_terms(word)[:1]) or word for word in name.lower().split()) if name.isascii() else name


# The lexical leg: notes that hold the words of the question, the rarer the better.


#: What a word is worth that the question has in the other language: the list gives one of its meanings.
_TRANSLATED = 0.7


class LexicalLeg:
    """Finds notes by the words of the question, stop words and terms that most notes hold left out."""

    name = "lexical"

    def __init__(self, settings: Settings, frequencies: Frequencies) -> None:
        self._frequencies = frequencies
        self._decay = settings.window_decay
        self._scorer: Fts5Scorer | RankBm25Scorer = (
            Fts5Scorer() if settings.lexical == "fts5" else RankBm25Scorer(settings.bm25_k1, settings.bm25_b)
        )

    def ask(self, asked: Asked) -> LexicalAnswer | None:
        """The answer by words; None where none of them is in any note."""
        if isinstance(before := asked.answers.get(self.name), LexicalAnswer):
            return before.among(asked)
        terms = asked_terms(asked.reading.lexical)
        others = [name for names in asked.reading.translated.values() for name in names]
        translated = [term for term in dict.fromkeys(index_terms(" ".join(others))) if term not in terms]
        counts = self._frequencies.of(asked.session, [*terms, *translated]) if terms else {}
        known = selective_terms(counts, self._frequencies.total)
        places, keys, worth = self._scorer.postings(asked.session, known)
        if not len(keys):
            return None
        held, rows = np.unique(keys, return_inverse=True)
        own = np.zeros((len(held), len(known)))
        own[rows, places] = worth
        own[:, [term in translated for term in known]] *= _TRANSLATED
        total = asked.session.text.total
        # No term can give more than k1 + 1 times its rarity.
        holders = np.bincount(places, minlength=len(known)).tolist()
        rarity = {term: _idf(count, total) for term, count in zip(known, holders, strict=True) if count}
        foreign = sum(rarity.pop(term, 0.0) for term in translated)
        most = (self._scorer.k1 + 1) * max(sum(rarity.values()), foreign)  # a note is in one language
        return LexicalAnswer(asked, known, held, own, most, self._decay)


def _idf(count: int, total: int) -> float:
    """Robertson and Sparck Jones's, as FTS5 has it."""
    return max(_LEAST_IDF, math.log((total - count + 0.5) / (count + 0.5)))


# The late leg: notes whose words mean what the words of the question mean, each word by itself.
#
# Late interaction (Khattab & Zaharia, SIGIR 2020), with the word vectors of the everyday model rather than of one
# trained for it: for each word of the question the best cosine to a word of the note or, decayed, of the turns around
# it; their mean, weighted by how rare the words are. The vector of a whole note blurs its one telling word, and BM25
# misses it where another word stands for it.

#: Cosines of words that have nothing to do with each other, and of words that mean the same in much the same context.
_UNRELATED, _SAME = 0.2, 0.9
_LEAST_RARITY = 0.01


class LateLeg:
    """Finds no notes of its own; says how well the words of a candidate fit those of the question."""

    name = "late"

    def __init__(self, settings: Settings, frequencies: Frequencies) -> None:
        self._decay, self._weight = settings.window_decay, settings.late_weight
        self._frequencies = frequencies

    def ask(self, asked: Asked) -> LateAnswer | None:
        """How near the words are; None without vectors of words, or where most notes bear each word of the question."""
        tokens = tokens_of(asked.vector)
        space = asked.session.vectors.space() if tokens is not None and self._weight > 0 else None
        if tokens is None or space is None or space.tokens != PACKING:
            return None
        worth = self._worth(asked, tokens.words)
        said = worth > 0
        if not said.any():
            return None
        return LateAnswer(asked, space, Tokens(tokens.vectors[said]), worth[said] / worth.sum(), self._decay)

    def _worth(self, asked: Asked, words: Sequence[str]) -> Floats:
        """How rare the word of each piece is, shared by its pieces; 0 for a word that is not searched for.

        All 0 where no word is rare: what fits nearly every note alike tells none from another.
        """
        terms = {word: asked_terms(word)[:1] for word in dict.fromkeys(words)}
        wanted = sorted({term for found in terms.values() for term in found})
        counts = self._frequencies.of(asked.session, wanted) if wanted else {}
        total = max(self._frequencies.total, max(counts.values(), default=0), 1)
        rarity = {
            word: max(_LEAST_RARITY, _idf(counts[found[0]], total)) if found else 0.0 for word, found in terms.items()
        }
        if max(rarity.values(), default=0.0) <= _LEAST_RARITY:
            return np.zeros(len(words))
        return np.array([rarity[word] / words.count(word) for word in words], dtype=np.float64)


@dataclass(frozen=True)
class LateAnswer(Answer):
    """The late leg's answer. `pieces` are those of the question's words, `worth` adds up to 1."""

    asked: Asked
    space: Space
    pieces: Tokens
    worth: Floats
    decay: float
    keys = ()

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        found = self._near(keys)
        return found, found

    def _near(self, keys: Keys) -> Floats:
        around = self.asked.window.around(keys)
        every = np.union1d(keys, around.neighbours)
        best, held = self._best(every)
        near = best[np.searchsorted(every, keys)]
        if len(around.keys):
            around.lend(near, keys, best[np.searchsorted(every, around.neighbours)], self.decay)
        fit = np.clip((near - _UNRELATED) / (_SAME - _UNRELATED), 0.0, 1.0) @ self.worth
        # Of a note whose words are not kept the whole is all there is to go by.
        bare = ~held[np.searchsorted(every, keys)]
        if bare.any() and (whole := self.asked.answers.get("dense")) is not None:
            fit[bare] = whole.scores(keys[bare])[1]
        return fit

    def _best(self, keys: Keys) -> tuple[Floats, NDArray[np.bool_]]:
        """For each note (keys ascend) and piece of the question the best cosine, 0 at least; whether it has words."""
        there, counts, tokens = self.asked.session.vectors.tokens(self.space, keys.tolist())
        best = np.zeros((len(keys), len(self.worth)))
        if len(tokens.vectors):
            some, cosines = np.array(counts), tokens.cosines(self.pieces)
            starts = (np.cumsum(some) - some)[some > 0]
            rows = np.searchsorted(keys, np.array(there)[some > 0])
            best[rows] = np.maximum(0.0, np.maximum.reduceat(cosines, starts, axis=0))
        return best, is_among(keys, np.sort(np.array(there, dtype=np.int64)))
