"""Words while they are typed: what index terms the word may have once it is finished, letter by letter.

The index holds stems, so that "runni" is the beginning of no term although it is that of a word: what it may still
become ("running") is stemmed instead, and the stems count beside the beginning itself. A beginning of a word of a note
finds that note, whatever its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from amem.text import stopwords
from amem.text.scripts import is_cjk
from amem.text.terms import LONGEST, bigrams, contract, fold_accents, is_searched_alone, stem, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Endings that the stemmer takes off, whole and as they stand before another one (realiz-ation).
_ENDINGS = (
    *("e", "s", "es", "ed", "ing", "y", "ies", "ied", "ying", "er", "or", "ly", "li", "al", "ic", "ion", "able"),
    *("ible", "ate", "ent", "ant", "ize", "ive", "ity", "ility", "ness", "ment", "ement", "ful", "ous", "eous", "ism"),
    *("ist", "ence", "ance", "ency", "ancy", "less", "abl", "ibl", "at", "iz", "iv", "enc", "anc", "ically", "bly"),
    *("ication", "ier", "iest", "est", "d", "ation", "ative"),
)
_LONGEST_ENDING = 14
#: After a row of endings the stemmer looks for these first, and may take off more for it, or less.
_FURTHER = frozenset(("", "ize", "ly", "ed", "ing"))
#: Words that the stemmer knows by heart.
_IRREGULAR = (
    *("skies", "skis", "dying", "lying", "tying", "idly", "gently", "ugly", "early", "only", "singly", "dies", "lies"),
    *("ties", "news", "howe", "atlas", "cosmos", "bias", "andes", "evening", "evenings"),
)
_VOWELS = frozenset("aeiouy")
#: The clitics that `contract` leaves out.
_CLITICS = ("s", "m", "re", "ve", "ll", "d")


@dataclass(frozen=True, slots=True)
class Typed:
    """One word that may be unfinished.

    A text holds it when one of its index terms begins with one of `starts` or is one of `terms`, or when the terms of
    `run` stand one after the other. Of `alone`, a character that the index has only where it begins a word, it may
    also hold the character itself, anywhere.
    """

    starts: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    alone: str = ""

    def held_by(self, terms: Sequence[str], text: str) -> bool:
        """Whether a text holds it that has these index terms, in their order."""
        if self.run:
            length = len(self.run)
            return any(tuple(terms[at : at + length]) == self.run for at in range(len(terms) - length + 1))
        if self.alone and self.alone in text:
            return True
        return any(term in self.terms or term.startswith(self.starts) for term in terms)


def typed_words(text: str) -> tuple[Typed, ...]:
    """The words of what is being typed, each of which a note is to hold; none when it has no letter or digit."""
    return tuple(_typed(token) for token in words_of(text))


@lru_cache(maxsize=1 << 12)
def _typed(token: str) -> Typed:
    if not is_cjk(token):
        token = token[:LONGEST]
        spelled = _spellings(token)
        stems = {each for word in spelled for each in _stems(word)} | _without_clitic(token)
        return Typed(spelled, tuple(sorted(stems)))
    if len(token) > 1:
        return Typed(run=tuple(bigrams(token)))
    known = token in stopwords.CHINESE_SINGLE_WORDS or is_searched_alone(token)
    return Typed(starts=(token,), alone="" if known else token)


def _spellings(token: str) -> tuple[str, ...]:
    """The token as the index may have it: one letter that has no accent to lose keeps all the others' in place."""
    whole = [word.replace("’", "'").replace("'", "") for word in (fold_accents(token), token)]
    return tuple(dict.fromkeys(each.casefold() for each in whole))


def _without_clitic(token: str) -> set[str]:
    """The term of "we" for "we'll", and for "we'l" already."""
    base, mark, rest = fold_accents(token).replace("’", "'").casefold().rpartition("'")
    begun = mark and any(clitic.startswith(rest) for clitic in _CLITICS)
    return {stem(contract(base))} if begun else set()


def _stems(word: str) -> set[str]:
    """Stems of words that begin so, where the stem does not."""
    if not (word.isascii() and word.isalpha()):
        return set()
    tried = {word} | {word + rest for rest in _rests_of(word)}
    tried.update(each for each in _IRREGULAR if each.startswith(word))
    return {found for each in tried if not (found := stem(each)).startswith(word)}


def _rests_of(word: str) -> set[str]:
    """What may follow to end the word, if endings have begun in it already."""
    found: set[str] = set()
    for place in range(max(2, len(word) - _LONGEST_ENDING), len(word)):
        found |= _rests(word[place:])
        doubled = word[place] == word[place - 1] and word[place] not in _VOWELS
        if doubled:
            found |= _rests(word[place + 1 :])
    return found


@cache
def _rests(begun: str) -> frozenset[str]:
    """What is missing where `begun` is a row of endings, the last perhaps unfinished; nothing where it is none."""
    if not begun:
        return _FURTHER
    found: set[str] = set()
    for ending in _ENDINGS:
        if ending.startswith(begun):
            found.add(ending[len(begun) :])
        if begun.startswith(ending):
            found |= _rests(begun[len(ending) :])
    return frozenset(found)
