"""What a note is about, in 3 to 7 of its own words, weighed against how common they are in the collection."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from amem.llm.offline.lexicon import Sort, lexicon, terms_of
from amem.llm.offline.phrases import candidates_of, single_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amem.llm.offline.entities import Name
    from amem.llm.offline.phrases import Phrase
    from amem.llm.offline.reading import Reading
    from amem.protocols import Vocabulary

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
