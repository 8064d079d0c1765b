"""What a note is about, in 3 to 7 of its own words, weighed against how common they are in the collection."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.llm.offline.lexicon import Sort, lexicon
from amem.text import index_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from amem.llm.offline.reading import Reading, Word
    from amem.protocols import Vocabulary

_LEAST, _MOST = 3, 7
_WEIGHT = {Sort.CONTENT: 1.0, Sort.COMMON: 0.72, Sort.WEAK: 0.3, Sort.TIME: 0.2, Sort.NUMBER: 0.15, Sort.STOP: 0.0}
#: From this many words on, how often two words stand side by side says something (and importing nltk pays).
_LONG = 150
#: Words that take the number behind them into the phrase ("port 8443", "room 12").
_NUMBERED = frozenset("port room line chapter version floor gate bus issue ticket page route v".split())  # noqa: SIM905


@dataclass(slots=True)
class Candidate:
    """A phrase that could become a keyword: its words, and where each occurrence begins."""

    words: tuple[Word, ...]
    text: str
    starts: list[int] = field(default_factory=list)
    collocation: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(word.key for word in self.words)


def keyphrases(reading: Reading, names: Sequence[str], vocabulary: Vocabulary) -> tuple[str, ...]:
    """The 3-7 phrases that tell most about the note, best first; fewer where it holds fewer words of content."""
    candidates = _candidates(reading, names)
    if not candidates:
        return ()
    rarity = _rarities(candidates.values(), vocabulary)
    named = {name.casefold() for name in names}
    ranked = sorted(
        ((_score(one, rarity, named, len(reading.text)), -one.starts[0], one) for one in candidates.values()),
        key=lambda item: item[:2],
        reverse=True,
    )
    return _choose(reading, ranked)


def _choose(reading: Reading, ranked: list[tuple[float, int, Candidate]]) -> tuple[str, ...]:
    content = sum(1 for word in reading.words if word.sort >= Sort.COMMON)
    wanted = min(_MOST, max(_LEAST, 2 + content // 2))
    chosen: list[Candidate] = []
    for least in (0.4, 0.0):
        for score, _, one in ranked:
            if len(chosen) >= (wanted if least else _LEAST):
                break
            if score >= least * ranked[0][0] and score > 0 and not any(_overlap(one, other) for other in chosen):
                chosen.append(one)
    return tuple(_spelled(reading, one) for one in chosen)


def _overlap(one: Candidate, other: Candidate) -> bool:
    mine, theirs = set(one.keys), set(other.keys)
    return mine <= theirs or theirs <= mine or one.text.casefold() == other.text.casefold()


def _spelled(reading: Reading, one: Candidate) -> str:
    """The phrase as written, without the capital that a sentence's beginning gave it."""
    first = one.words[0]
    if first.first and first.capital and not first.shaped and first.known and not (first.person or first.place):
        return one.text[0].lower() + one.text[1:]
    return one.text


def _candidates(reading: Reading, names: Sequence[str]) -> dict[tuple[str, ...], Candidate]:
    bound = _bound(reading)
    named = [word for name in names for word in name.casefold().split()]
    found: dict[tuple[str, ...], Candidate] = {}
    for run in _runs(reading, frozenset(named)):
        for part in _cut(run, bound):
            _put(found, reading, part, tuple(word.key for word in part) in bound)
    # Single words stand in reserve for notes with few phrases, and so do verbs and times.
    if sum(1 for one in found.values() if one.words[0].sort >= Sort.COMMON) < _LEAST:
        for word in reading.words:
            if word.sort is not Sort.STOP and (not word.cjk or len(word.text) > 1 or word.sort >= Sort.COMMON):
                _put(found, reading, (word,), False)
    return found


def _put(found: dict[tuple[str, ...], Candidate], reading: Reading, part: tuple[Word, ...], bound: bool) -> None:
    keys = tuple(word.key for word in part)
    text = " ".join(reading.text[part[0].start : part[-1].end].split())
    found.setdefault(keys, Candidate(part, text, collocation=bound)).starts.append(part[0].start)


def _runs(reading: Reading, named: frozenset[str]) -> Iterator[tuple[Word, ...]]:
    """Stretches of content words that nothing interrupts."""
    run: list[Word] = []
    phrases = lexicon().phrases
    words = reading.words
    for at, word in enumerate(words):
        content = word.sort >= Sort.COMMON
        if not content and not word.cjk:
            # "high blood pressure", "red wine": part of a fixed phrase although weak by itself.
            after = words[at + 1] if at + 1 < len(words) else None
            content = (after is not None and not after.gap and f"{word.key} {after.key}" in phrases) or (
                bool(run) and not word.gap and f"{run[-1].key} {word.key}" in phrases
            )
        if not content and run and word.sort is Sort.NUMBER and not word.gap and _takes_number(run[-1]):
            run.append(word)
            content = True
        elif content:
            if run and (word.gap or not _continues(run, word, named)):
                yield tuple(run)
                run = []
            run.append(word)
        if run and (not content or word.possessive or word.sort is Sort.NUMBER):
            yield tuple(run)
            run = []
    if run:
        yield tuple(run)


def _takes_number(word: Word) -> bool:
    return word.key in _NUMBERED or ((word.capital or word.shaped) and not word.person)


def _continues(run: list[Word], word: Word, named: frozenset[str]) -> bool:
    last = run[-1]
    if last.cjk != word.cjk:
        return False
    if word.cjk:
        if last.person or last.place or word.person or word.place or len(run) >= 3:
            return False
        # What follows a word of the lexicon and is unknown is as likely a verb as part of the noun.
        fits = word.known or not last.known or len(word.text) == 1
        return fits and sum(len(part.text) for part in run) + len(word.text) <= 8
    if last.person and not word.capital:
        return False
    is_name, was_name = word.text.casefold() in named, last.text.casefold() in named
    return is_name == was_name or not (is_name and len(run) > 1)


def _cut(run: tuple[Word, ...], bound: frozenset[tuple[str, ...]]) -> list[tuple[Word, ...]]:
    """A run of up to three words whole (unless a fixed pair stands in it), a longer one in pairs."""
    if run[0].cjk:
        return [run] if len(run[0].text) > 1 or len(run) > 1 or run[0].known else []
    if len(run) <= 2:
        return [run]
    for size in (3, 2):
        for start in range(len(run) - size + 1):
            if tuple(word.key for word in run[start : start + size]) in bound:
                parts = [run[:start], run[start : start + size], run[start + size :]]
                return [
                    piece for part in parts if part for piece in ([part] if part is parts[1] else _cut(part, bound))
                ]
    if len(run) == 3:
        return [run]
    return [run[:2], *_cut(run[2:], bound)]


def _bound(reading: Reading) -> frozenset[tuple[str, ...]]:
    """Pairs and triples of word keys that belong together: fixed phrases, and in long notes what recurs."""
    phrases = lexicon().phrases
    keys = [word.key for word in reading.words]
    together = {
        tuple(keys[at : at + size])
        for size in (2, 3)
        for at in range(len(keys) - size + 1)
        if " ".join(keys[at : at + size]) in phrases
    }
    if len(keys) >= _LONG and not reading.chinese:
        together |= _collocations(reading)
    return frozenset(together)


def _collocations(reading: Reading) -> set[tuple[str, ...]]:
    """Pairs that stand together more often than chance, by likelihood ratio (Dunning 1993)."""
    from nltk.collocations import BigramAssocMeasures, BigramCollocationFinder

    keys = [word.key for word in reading.words if not word.cjk]
    if not keys:
        return set()
    content = {word.key for word in reading.words if word.sort >= Sort.COMMON}
    finder = BigramCollocationFinder.from_words(keys)
    finder.apply_freq_filter(2)
    finder.apply_word_filter(lambda key: key not in content)
    return {pair for pair, ratio in finder.score_ngrams(BigramAssocMeasures.likelihood_ratio) if ratio > 10.8}


def _rarities(candidates: Iterable[Candidate], vocabulary: Vocabulary) -> dict[str, float]:
    """For each word key 0.4 (in every note) to 1 (new to the collection)."""
    keys: set[str] = set()
    for one in candidates:
        keys.update(one.keys)
    terms = {key: index_terms(key) for key in keys}
    total = vocabulary.total
    if total <= 0:
        return dict.fromkeys(keys, 1.0)
    counts = vocabulary.document_frequency(sorted({term for own in terms.values() for term in own}))
    scale = math.log(total + 2)
    rarities: dict[str, float] = {}
    for key, own in terms.items():
        held = min((counts.get(term, 0) for term in own), default=0)
        rarities[key] = 0.4 + 0.6 * max(0.0, math.log((total + 2) / (held + 1)) / scale)
    return rarities


def _score(one: Candidate, rarity: dict[str, float], named: set[str], length: int) -> float:
    weights = sorted((_WEIGHT[word.sort] * rarity[word.key] for word in one.words), reverse=True)
    value = weights[0] + 0.3 * sum(weights[1:])
    value *= 1 + 0.35 * math.log(len(one.starts))
    value *= 1.1 - 0.1 * one.starts[0] / max(length, 1)
    if one.collocation:
        value *= 1.2
    if one.text.casefold() in named or any(word.shaped for word in one.words):
        value *= 1.1
    return value
