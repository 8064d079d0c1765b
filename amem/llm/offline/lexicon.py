"""The word lists behind the offline rules, read once from the text files beside this module."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from amem.text import index_terms, is_cjk
from amem.text.stopwords import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


#: What turns a Chinese verb of one character into "done", "into", "out of" and so on.
_VERB_ENDINGS = "了过着到进出完好成给在掉起上下回开住走"


class Sort(IntEnum):
    """What a word is good for, from nothing to a keyword."""

    STOP = 0
    NUMBER = 1
    TIME = 2
    WEAK = 3
    COMMON = 4
    CONTENT = 5


@dataclass(frozen=True, slots=True)
class Theme:
    """A broad subject: its tag in both languages, other names it may go by, how a sentence says it."""

    english: str
    chinese: str
    aliases: tuple[str, ...]
    said: str

    def phrase(self, chinese: bool) -> str:
        """The theme as a sentence names it."""
        return self.chinese if chinese else self.said

    def tag(self, chinese: bool) -> str:
        """The tag in the note's language."""
        return self.chinese if chinese else self.english


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All word lists. English keys are stems (`stem`), phrases are stems joined by spaces."""

    themes: tuple[Theme, ...]
    cues: Mapping[str, tuple[tuple[int, int], ...]]
    """Cue -> (theme's position, weight 1 or 2)."""
    phrases: frozenset[str]
    verbs: frozenset[str]
    adjectives: frozenset[str]
    times: frozenset[str]
    reactions: frozenset[str]
    nouns: frozenset[str]
    known: frozenset[str]
    persons: frozenset[str]
    places: frozenset[str]
    chinese: Mapping[str, Sort]
    chinese_places: frozenset[str]
    chinese_reactions: frozenset[str]
    longest_chinese: int

    def cue_sort(self, cue: str) -> Sort:
        """How telling a theme's cue is as a word of its own."""
        return _cue_sort(self.cues[cue])


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The index term a Latin word is found by; the case-folded word itself when it has none."""
    terms = index_terms(word)
    return terms[0] if terms else word.casefold()


@lru_cache(maxsize=1 << 16)
def terms_of(phrase: str) -> frozenset[str]:
    """The index terms of a keyword or name, remembered."""
    return frozenset(index_terms(phrase))


def is_person(name: str) -> bool:
    """Whether the gazetteer has a given name such as this."""
    bare = unicodedata.normalize("NFKD", name.casefold())
    return "".join(mark for mark in bare if not unicodedata.combining(mark)) in lexicon().persons


def is_place(name: str) -> bool:
    """Whether the gazetteer has a place of this name."""
    return name.casefold() in lexicon().places or name in lexicon().chinese_places


@cache
def lexicon() -> Lexicon:
    """The one lexicon, read on first use."""
    english = _sections("english.txt")
    chinese = _sections("chinese.txt")
    themes, cues, chinese_cues = _themes()
    stems = {name: frozenset(stem(word) for word in words if "_" not in word) for name, words in english.items()}
    # Weaker readings come last and win: a word that is also a particle or a verb seldom makes a keyword.
    sorts: dict[str, Sort] = {word: _cue_sort(cues.get(word, ())) for word in chinese_cues}
    for section, sort in (
        ("noun", Sort.COMMON),
        ("place", Sort.CONTENT),
        ("adjective", Sort.WEAK),
        ("verb", Sort.WEAK),
        ("reaction", Sort.WEAK),
        ("time", Sort.TIME),
        ("unit", Sort.NUMBER),
        ("function", Sort.STOP),
    ):
        for word in chinese[section]:
            if not (sort is Sort.COMMON and word in sorts):
                sorts[word] = sort
    for verb in chinese["verb"]:
        if len(verb) == 1:
            for ending in _VERB_ENDINGS:
                sorts.setdefault(verb + ending, Sort.WEAK)
    nouns = frozenset(stem(cue[1:]) for cue in cues if cue.startswith("="))
    phrases = frozenset(_phrase(word) for word in english["collocation"]) | frozenset(cue for cue in cues if " " in cue)
    common = stems["verb"] | stems["adjective"] | stems["adverb"] | stems["time"] | stems["reaction"] | stems["noun"]
    return Lexicon(
        themes=themes,
        cues=cues,
        phrases=phrases,
        verbs=stems["verb"],
        adjectives=stems["adjective"] | stems["adverb"],
        times=stems["time"],
        reactions=stems["reaction"],
        nouns=stems["noun"] | nouns,
        known=common
        | nouns
        | frozenset(cues)
        | frozenset(word for phrase in phrases for word in phrase.split())
        | frozenset(stem(word) for word in ENGLISH),
        persons=frozenset(english["person"]),
        places=frozenset(english["place"]),
        chinese=sorts,
        chinese_places=frozenset(chinese["place"]),
        chinese_reactions=frozenset(chinese["reaction"]),
        longest_chinese=max(map(len, sorts)),
    )


def _cue_sort(weights: tuple[tuple[int, int], ...]) -> Sort:
    return Sort.COMMON if weights and all(weight == 1 for _, weight in weights) else Sort.CONTENT


def _phrase(joined: str) -> str:
    return " ".join(stem(word) for word in joined.split("_"))


def _lines(name: str) -> Iterator[str]:
    text = files("amem.llm.offline").joinpath("words", name).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip()


def _sections(name: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    words: list[str] = []
    for line in _lines(name):
        if line.startswith("["):
            words = sections.setdefault(line.strip("[]"), [])
        else:
            words += line.split()
    return sections


def _themes() -> tuple[tuple[Theme, ...], dict[str, tuple[tuple[int, int], ...]], set[str]]:
    themes: list[Theme] = []
    cues: dict[str, dict[int, int]] = {}
    chinese: set[str] = set()
    for line in _lines("themes.txt"):
        if line.startswith("["):
            english, own, aliases, *said = (part.strip() for part in line.strip("[]").split("|"))
            themes.append(Theme(english, own, tuple(aliases.split()), said[0] if said else english.replace("-", " ")))
            chinese.add(own)
            continue
        strength, _, words = line.partition(":")
        for word in words.split():
            if is_cjk(word):
                chinese.add(word)
            key = word if is_cjk(word) or word.startswith("=") else _phrase(word)
            weights = cues.setdefault(key, {})
            weights[len(themes) - 1] = max(weights.get(len(themes) - 1, 0), 2 if strength == "strong" else 1)
    return tuple(themes), {cue: tuple(weights.items()) for cue, weights in cues.items()}, chinese
