"""What a note is about, in 3 to 7 of its own words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.language.lexicon import Sort, lexicon, terms_of
from amem.language.scripts import CHINESE_SINGLE_WORDS, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from amem.language.entities import Name
    from amem.language.word_reading import Reading, Word
    from amem.protocols import Vocabulary


# The phrases of a note that could become keywords: what stands between function words, fixed phrases kept whole.

#: From this many words on, how often two words stand side by side says something (and importing nltk pays).
_LONG = 150
#: Words that take the number behind them into the phrase ("port 8443", "room 12").
_NUMBERED = words("port room line chapter version floor gate bus issue ticket page route platform terminal")
#: The single characters that may close a Chinese compound ("退火法", "配置表").
_TAILS = frozenset(
    "机器员师家店馆院室厅桥路街区市省县国语文学法术性率度量值表库网站版型式费额卡票证单书本图画片车船酒饭面汤肉鱼果汁课班队组会展节赛剧歌曲琴棋"
)
#: Where so many words follow each other that may all be nouns, nobody wrote a phrase.
_LONGEST_RUN = 24
_LONGEST_CHINESE = 8


@dataclass(slots=True)
class Phrase:
    """Words side by side, the text they make, and where each occurrence begins."""

    words: tuple[Word, ...]
    text: str
    fixed: bool
    name: bool
    starts: list[int] = field(default_factory=list)

    @property
    def keys(self) -> tuple[str, ...]:
        """What makes two phrases the same."""
        return tuple(word.key for word in self.words)


def candidates_of(reading: Reading, names: Sequence[Name]) -> list[Phrase]:
    """Every phrase once, with all its occurrences."""
    bound = _bound(reading)
    found: dict[tuple[str, ...], Phrase] = {}
    for run, is_name in _runs(reading, names):
        for part in [run] if is_name else _cut(run, bound):
            keys = tuple(word.key for word in part)
            text = " ".join(reading.text[part[0].start : part[-1].end].split())
            found.setdefault(keys, Phrase(part, text, keys in bound, is_name)).starts.append(part[0].start)
    return list(found.values())


def single_words(reading: Reading) -> list[Phrase]:
    """The words that stand in reserve for a note with few phrases: parts of phrases, verbs, times, numbers."""
    return [
        Phrase((word,), word.text, False, False, [word.start])
        for word in reading.words
        if word.sort is not Sort.STOP and (not word.cjk or len(word.text) > 1 or word.text in CHINESE_SINGLE_WORDS)
    ]


def _runs(reading: Reading, names: Sequence[Name]) -> Iterator[tuple[tuple[Word, ...], bool]]:
    """Stretches of content words that nothing interrupts; a name is a stretch of its own."""
    spans = {name.start: name.end for name in sorted(names, key=lambda name: name.end)}
    run: list[Word] = []
    covered = -1
    for at, word in enumerate(reading.words):
        if word.start < covered:
            continue
        if word.start in spans:
            if run:
                yield tuple(run), False
                run = []
            covered = spans[word.start]
            end = at
            while end < len(reading.words) and reading.words[end].end <= covered:
                end += 1
            named = tuple(reading.words[at:end]) or (word,)
            if any(part.sort >= Sort.COMMON for part in named) or len(named) > 1:
                yield named, True
            continue
        if run and (word.gap or not _continues(run, word)):
            yield tuple(run), False
            run = []
        if _belongs(reading.words, at, run):
            run.append(word)
            if not (word.possessive or word.sort is Sort.NUMBER):
                continue
        if run:
            yield tuple(run), False
            run = []
    if run:
        yield tuple(run), False


def _belongs(words: Sequence[Word], at: int, run: list[Word]) -> bool:
    """Whether the word may stand in a phrase, after the words already in `run`."""
    word = words[at]
    if word.sort >= Sort.COMMON:
        return True
    if word.cjk:
        return False
    if word.sort is Sort.NUMBER:
        named = (
            bool(run) and run[-1].sort is Sort.CONTENT and (run[-1].capital or run[-1].shaped) and not run[-1].person
        )
        return named or (bool(run) and run[-1].key in _NUMBERED)
    # "high blood pressure", "red wine": part of a fixed phrase although weak by itself.
    phrases = lexicon().phrases
    after = words[at + 1] if at + 1 < len(words) else None
    opens = after is not None and not after.gap and f"{word.key} {after.key}" in phrases
    return opens or (bool(run) and f"{run[-1].key} {word.key}" in phrases)


def _continues(run: list[Word], word: Word) -> bool:
    last = run[-1]
    if last.cjk != word.cjk:
        return False
    if not word.cjk:
        return not (last.person and not word.capital)
    if last.person or last.place or word.person or word.place or len(run) >= 2:
        return False
    if len(last.text) == 1 and last.known:
        return False
    if len(word.text) == 1:
        return word.text in _TAILS
    # What follows a word of the lexicon and is unknown is as likely a verb as part of the noun.
    return (word.known or not last.known) and len(last.text) + len(word.text) <= _LONGEST_CHINESE


def _cut(run: tuple[Word, ...], bound: frozenset[tuple[str, ...]]) -> list[tuple[Word, ...]]:
    """A run of up to three words whole (unless a fixed phrase stands in it), a longer one in pairs."""
    if run[0].cjk:
        return [run] if len(run) > 1 or len(run[0].text) > 1 or run[0].text in CHINESE_SINGLE_WORDS else []
    if len(run) <= 2:
        return [run]
    if len(run) > _LONGEST_RUN:
        pieces = (run[start : start + _LONGEST_RUN] for start in range(0, len(run), _LONGEST_RUN))
        return [phrase for piece in pieces for phrase in _cut(piece, bound)]
    for size in (3, 2):
        for start in range(len(run) - size + 1):
            if tuple(word.key for word in run[start : start + size]) in bound:
                before, fixed, after = run[:start], run[start : start + size], run[start + size :]
                return [*(_cut(before, bound) if before else ()), fixed, *(_cut(after, bound) if after else ())]
    return [run] if len(run) == 3 else [run[:2], *_cut(run[2:], bound)]


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

    content = {word.key for word in reading.words if word.sort >= Sort.COMMON and not word.cjk}
    if not content:
        return set()
    finder = BigramCollocationFinder.from_words([word.key for word in reading.words if not word.cjk])
    finder.apply_freq_filter(2)
    finder.apply_word_filter(lambda key: key not in content)
    # A word that stands beside itself says nothing of a pair, and where it fills the note the ratio has no value.
    finder.apply_ngram_filter(lambda first, second: first == second)
    # 10.83 is the 0.1 % point of chi-squared with one degree of freedom.
    return {pair for pair, ratio in finder.score_ngrams(BigramAssocMeasures.likelihood_ratio) if ratio > 10.83}


# What a note is about, in 3 to 7 of its own words, weighed against how common they are in the collection.

_LEAST, _MOST = 3, 7
#: A phrase worth less than this share of the best one is left out, unless there would be too few.
_WORTH = 0.4
_WEIGHT = {Sort.CONTENT: 1.0, Sort.COMMON: 0.72, Sort.WEAK: 0.3, Sort.TIME: 0.2, Sort.NUMBER: 0.15, Sort.STOP: 0.05}


def keyphrases(reading: Reading, names: Sequence[Name], vocabulary: Vocabulary) -> tuple[str, ...]:
    """The 3-7 phrases that tell most about the note, best first; fewer where it holds fewer words of content."""
    phrases = candidates_of(reading, names)
    reserve = single_words(reading) if len(phrases) < _LEAST else []
    rarity = _rarities([*phrases, *reserve], vocabulary)
    content = sum(1 for word in reading.words if word.sort >= Sort.COMMON)
    chosen = _choose(_ranked(reading, phrases, rarity), min(_MOST, max(_LEAST, 2 + content * 2 // 3)))
    known = {phrase.text.casefold() for phrase in chosen}
    for phrase in _ranked(reading, reserve, rarity):
        if len(chosen) < _LEAST and phrase.text.casefold() not in known:
            chosen.append(phrase)
            known.add(phrase.text.casefold())
    return tuple(_spelled(phrase) for phrase in chosen)


def _ranked(reading: Reading, phrases: Iterable[Phrase], rarity: Mapping[str, float]) -> list[Phrase]:
    scored = [(_score(phrase, rarity, len(reading.text)), phrase) for phrase in phrases]
    best = max((score for score, _ in scored), default=0.0)
    scored.sort(key=lambda item: (-item[0], item[1].starts[0]))
    worthy = [phrase for score, phrase in scored if score >= _WORTH * best]
    return worthy if len(worthy) >= _LEAST else [phrase for _, phrase in scored]


def _choose(ranked: Iterable[Phrase], wanted: int) -> list[Phrase]:
    chosen: list[Phrase] = []
    for phrase in ranked:
        mine = set(phrase.keys)
        nested = any(mine <= set(other.keys) or set(other.keys) <= mine for other in chosen)
        if len(chosen) < wanted and not nested and phrase.text.casefold() not in {p.text.casefold() for p in chosen}:
            chosen.append(phrase)
    return chosen


def _score(phrase: Phrase, rarity: Mapping[str, float], length: int) -> float:
    """Rarity of the words, the first counting whole and the others in part, times what form and place add."""
    weights = sorted((_WEIGHT[word.sort] * rarity[word.key] for word in phrase.words), reverse=True)
    value = weights[0] + 0.25 * sum(weights[1:3])
    value *= 1 + 0.35 * math.log(len(phrase.starts))
    value *= 1.1 - 0.1 * phrase.starts[0] / max(length, 1)
    if phrase.fixed:
        value *= 1.2
    if phrase.name or any(word.shaped for word in phrase.words):
        value *= 1.1
    if all(word.person for word in phrase.words):
        value *= 0.75
    cues = lexicon().cues
    if any(weight == 2 for word in phrase.words for _, weight in cues.get(word.key, ())):
        value *= 1.08
    return value


def _rarities(phrases: Sequence[Phrase], vocabulary: Vocabulary) -> dict[str, float]:
    """For each word key 0.4 (in every note) to 1 (new to the collection)."""
    keys = {key for phrase in phrases for key in phrase.keys}
    total = vocabulary.total
    if total <= 0 or not keys:
        return dict.fromkeys(keys, 1.0)
    terms = {key: terms_of(key) for key in keys}
    counts = vocabulary.document_frequency(sorted({term for own in terms.values() for term in own}))
    scale = math.log(total + 2)
    rarities: dict[str, float] = {}
    for key, own in terms.items():
        held = min((counts.get(term, 0) for term in own), default=0)
        rarities[key] = 0.4 + 0.6 * min(1.0, max(0.0, math.log((total + 2) / (held + 1)) / scale))
    return rarities


def _spelled(phrase: Phrase) -> str:
    """The phrase as written, without the capital that a sentence's beginning gave it."""
    first = phrase.words[0]
    if (
        first.first
        and first.capital
        and first.known
        and not (phrase.name or first.shaped or first.person or first.place)
    ):
        return phrase.text[0].lower() + phrase.text[1:]
    return phrase.text
