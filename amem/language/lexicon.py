"""The word lists behind the offline rules, and the turns of phrase by which a note shows its kind."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from amem.language import index_terms, is_cjk
from amem.language.scripts import ENGLISH, Patterns, read_list, word_list
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping


# The word lists behind the offline rules, read once from the text files beside this module.

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
    triggers: Mapping[str, tuple[tuple[int, int], ...]]
    """Word or phrase as written, "=" before one that counts as a noun only -> (theme's position, weight 1 or 2)."""
    cues: Mapping[str, int]
    """Stem of a trigger, or a Chinese one -> its greatest weight: how telling a word is by itself."""
    phrases: frozenset[str]
    verbs: frozenset[str]
    adjectives: frozenset[str]
    times: frozenset[str]
    reactions: frozenset[str]
    nouns: frozenset[str]
    general: frozenset[str]
    """Those of the nouns that are too general to say by themselves what a note is about."""
    known: frozenset[str]
    persons: frozenset[str]
    places: frozenset[str]
    chinese: Mapping[str, Sort]
    chinese_places: frozenset[str]
    chinese_general: frozenset[str]
    """Nouns too general to say what a note is about."""
    chinese_reactions: frozenset[str]

    def cue_sort(self, cue: str) -> Sort:
        """How telling a theme's cue is as a word of its own."""
        return _cue_sort(self.cues[cue])

    def is_noun_trigger(self, folded: str) -> bool:
        """Whether the word triggers a theme where it is a noun."""
        return f"={folded}" in self.triggers


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
    bare = name.casefold()
    if not bare.isascii():
        bare = "".join(mark for mark in unicodedata.normalize("NFKD", bare) if not unicodedata.combining(mark))
    return bare in lexicon().persons


def is_place(name: str) -> bool:
    """Whether the gazetteer has a place of this name."""
    return name.casefold() in lexicon().places or name in lexicon().chinese_places


def is_everyday(word: str) -> bool:
    """Whether the lexicon has an English word as a word of every day."""
    return word.casefold() in ENGLISH or stem(word) in lexicon().known


#: What Chinese words of a section are good for. Weaker readings come last and win: a word that is also a particle or a
#: verb seldom makes a keyword.
_CHINESE_SORTS = {
    **{"noun": Sort.COMMON, "place": Sort.CONTENT, "adjective": Sort.WEAK, "verb": Sort.WEAK, "reaction": Sort.WEAK},
    **{"time": Sort.TIME, "unit": Sort.NUMBER, "function": Sort.STOP},
}
_KNOWN_SECTIONS = ("verb", "adjective", "adverb", "time", "reaction", "noun", "general")


@cache
def lexicon() -> Lexicon:
    """The one lexicon, read on first use."""
    english = _sections("english.txt")
    chinese = _sections("chinese.txt")
    themes, triggers = _themes()
    cues: dict[str, int] = {}
    for trigger, weights in triggers.items():
        cue = trigger if is_cjk(trigger) or trigger.startswith("=") else _phrase(trigger)
        cues[cue] = max(cues.get(cue, 0), *(weight for _, weight in weights))
    chinese_cues = {*filter(is_cjk, triggers), *(theme.chinese for theme in themes)}
    stems = {name: frozenset(stem(word) for word in words if "_" not in word) for name, words in english.items()}
    sorts: dict[str, Sort] = {word: _cue_sort(cues.get(word, 2)) for word in chinese_cues}
    for section, sort in _CHINESE_SORTS.items():
        for word in chinese[section]:
            if not (sort is Sort.COMMON and word in sorts):
                sorts[word] = sort
    for verb in chinese["verb"]:
        if len(verb) == 1:
            for ending in _VERB_ENDINGS:
                sorts.setdefault(verb + ending, Sort.WEAK)
    nouns = frozenset(stem(cue[1:]) for cue in cues if cue.startswith("="))
    phrases = frozenset(_phrase(word) for word in english["collocation"]) | frozenset(cue for cue in cues if " " in cue)
    known = {word for section in _KNOWN_SECTIONS for word in stems[section]}.union(nouns, cues, map(stem, ENGLISH))
    return Lexicon(
        themes=themes,
        triggers=triggers,
        cues=cues,
        phrases=phrases,
        verbs=stems["verb"],
        adjectives=stems["adjective"] | stems["adverb"],
        times=stems["time"],
        reactions=stems["reaction"],
        nouns=stems["noun"] | stems["general"] | nouns,
        general=stems["general"],
        known=frozenset(known.union(*map(str.split, phrases))),
        persons=frozenset(english["person"]),
        places=frozenset(english["place"]),
        chinese=sorts,
        chinese_places=frozenset(chinese["place"]),
        chinese_general=frozenset(chinese["general"]),
        chinese_reactions=frozenset(chinese["reaction"]),
    )


def _cue_sort(weight: int) -> Sort:
    return Sort.COMMON if weight == 1 else Sort.CONTENT


def _phrase(joined: str) -> str:
    return " ".join(stem(word) for word in joined.replace("_", " ").split())


def _sections(name: str) -> dict[str, list[str]]:
    sections: defaultdict[str, list[str]] = defaultdict(list)
    for section, line in read_list(name):
        sections[section] += line.split()
    return sections


def _themes() -> tuple[tuple[Theme, ...], dict[str, tuple[tuple[int, int], ...]]]:
    themes: dict[str, Theme] = {}
    triggers: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for section, line in read_list("themes.txt"):
        if section not in themes:
            english, own, aliases, *said = (part.strip() for part in section.split("|"))
            themes[section] = Theme(
                english, own, tuple(aliases.split()), said[0] if said else english.replace("-", " ")
            )
        at = len(themes) - 1
        strength, _, words = line.partition(":")
        for word in words.split():
            weights = triggers[word.replace("_", " ")]
            weights[at] = max(weights.get(at, 0), 2 if strength == "strong" else 1)
    return tuple(themes.values()), {trigger: tuple(weights.items()) for trigger, weights in triggers.items()}


# The turns of phrase by which a note shows its kind, in English and Chinese, strongest kind first.

_pattern = Patterns("lexicon")
_PIECE = re.compile(r"\\.|\[[^\]]*\]|[()|]|[^\\\[()|]+")


def _any(*patterns: str) -> re.Pattern[str]:
    """One pattern for all; alternatives that begin with a word are tried where words begin, which halves the time."""
    depth, alternatives = 0, [""]
    for piece in _PIECE.findall("|".join(patterns)):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and depth == 0:
            alternatives.append("")
        else:
            alternatives[-1] += piece
    words = [each[2:] for each in alternatives if each.startswith(r"\b")]
    others = [each for each in alternatives if not each.startswith(r"\b")]
    return re.compile("|".join([rf"\b(?:{'|'.join(words)})", *others]), re.IGNORECASE)


def _cues() -> dict[Kind, re.Pattern[str]]:
    listed: defaultdict[str, list[str]] = defaultdict(list)
    for section, line in read_list("kinds.txt"):
        listed[section].append(line.replace("<often>", _pattern.text("often")).replace("<what>", _pattern.text("what")))
    return {Kind(kind): _any(*patterns) for kind, patterns in listed.items()}


#: In the order in which they are tried.
CUES = _cues()


def cue_in(text: str, kind: Kind) -> bool:
    """Whether `text` holds a cue of that kind."""
    return kind in CUES and CUES[kind].search(text) is not None


# English words that an affix denies.

_ADJECTIVES = word_list("denied adjectives")
_NOT_AFFIXED = word_list("no affix")


@lru_cache(maxsize=1 << 14)
def denied_by_affix(word: str) -> str | None:
    """The stem of what an English word denies by its affix: "unheated", "dairy-free"; None where it denies nothing."""
    folded = word.casefold()
    match = _pattern.affixed.fullmatch(folded)
    if match is None or folded in _NOT_AFFIXED:
        return None
    if match["thing"]:
        return stem(match["thing"])
    base = match["un"] or match["other"]
    adjective = base in _ADJECTIVES or base.endswith(("able", "ible"))
    adjective = adjective or (stem(base) in lexicon().adjectives and not base.endswith(("ed", "ing", "er", "ers")))
    participle = match["un"] and base.endswith("ed") and stem(base) in lexicon().known
    return stem(base) if adjective or participle else None
