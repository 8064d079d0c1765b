"""Words that turn what a sentence says: cues, opposites, what they make of a clause, and take-backs; synonyms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from amem.language import sentences
from amem.language.lexicon import Sort, denied_by_affix, is_place, stem
from amem.language.scripts import Patterns, read_list, standing_in
from amem.language.sentence_parts import DENIAL, NO_MORE, trouble_over
from amem.language.terms import contract
from amem.language.word_reading import read

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from amem.language.word_reading import Reading, Word


_pattern = Patterns("conflict/cues")

# Words that turn what a sentence says, found by the word lists beside this module: cues and pairs of opposites.

_CLITIC = re.compile(r"['’](?:d|ll)\b", re.IGNORECASE)
_APOSTROPHES = ("'", "’")
#: The month and the man; what may and will be is written small, or opens a sentence.
_MAY, _WILL = "May", "Will"
_JOINED = re.compile(r"(?:['’]\w{1,2})?\s?")
#: With one of these a Chinese word denies what the rest of it says.
DENYING = frozenset("不没未别无")
#: Nobody reads further for one word.
_READ = 2_000


class Cue(StrEnum):
    """What a word says of what stands beside it; see ``cues.txt``."""

    NOTHING = "nothing"
    ASIDE = "aside"
    DENIES = "denies"
    OVER = "over"
    ENDS = "ends"
    CHANGES = "changes"
    RETURNS = "returns"
    RETRACTS = "retracts"
    NOW = "now"
    AFRESH = "afresh"
    MORE = "more"
    PLANS = "plans"
    PAST = "past"
    FOREVER = "forever"
    TAKEOVER = "takeover"


#: The pair that every word of liking and disliking belongs to, besides its own.
FEELING = "feeling"
#: With one of these a text says outright that something is not as it was.
EXPLICIT = frozenset({Cue.OVER, Cue.ENDS, Cue.CHANGES, Cue.RETURNS, Cue.RETRACTS})


@dataclass(frozen=True, slots=True)
class Mark:
    """A word or phrase of a text, as [start, end), that is a cue, or one of a pair of opposites: `poles` are the names
    of its pairs, each with +1 or -1."""

    start: int
    end: int
    cues: frozenset[Cue] = frozenset()
    poles: tuple[tuple[str, int], ...] = ()
    base: str = ""
    """Of a word that its affix denies ("undrinkable"), the key of what it denies."""


@dataclass(frozen=True, slots=True)
class _Entry:
    cues: frozenset[Cue] = frozenset()
    poles: tuple[tuple[str, int], ...] = ()


_NONE = _Entry()


@dataclass(frozen=True, slots=True)
class _Lists:
    forms: Mapping[tuple[str, ...], _Entry]
    stems: Mapping[tuple[str, ...], _Entry]
    chinese: Mapping[str, _Entry]
    states: frozenset[str]
    longest_forms: Mapping[str, int]
    """How many words the longest phrase has that begins with a word; of the others, with a stem, a character."""
    longest_stems: Mapping[str, int]
    longest_chinese: Mapping[str, int]


@lru_cache(maxsize=256)
def marks(text: str) -> Sequence[Mark]:
    """Every cue and opposite in a text, in order for each script; where two overlap the longer one counts.

    Cached: a note's statements ask for them, and so does each of its facts.
    """
    reading = read(text)
    return (*_latin(reading), *(() if text.isascii() else _chinese(reading)))


def spread(clause: str, *, past: bool) -> frozenset[Cue]:
    """Cues whose words have others between them, or count by where they stand; `past`: it tells of what happened."""
    found: set[Cue] = set()
    if _pattern.taken_off.search(clause):
        found.add(Cue.ENDS)
    if _pattern.handed_to.search(clause):
        found |= {Cue.CHANGES, Cue.TAKEOVER}
    if _pattern.from_on.search(clause):
        found.add(Cue.CHANGES)
    if past and _pattern.until.search(clause):
        found.add(Cue.OVER)
    if trouble_over(clause):
        found.add(Cue.ENDS)
    if _pattern.once_more.search(clause):
        found.add(Cue.RETURNS)
    if clause.rstrip("。！!～~").endswith("了"):
        found.add(Cue.AFRESH)
    return frozenset(found)


def is_state(pair: str) -> bool:
    """Whether a pair of opposites describes its subject whole: to be married or single."""
    return pair in _lists().states


# A long note fills many slots, and each pair of facts asks the same of its text.
@lru_cache(maxsize=1024)
def replaces(text: str) -> bool:
    """Whether a text says that something took another's place, came back, ended, or was a mistake."""
    return any(
        mark.cues & EXPLICIT or any(sign < 0 and is_state(pair) for pair, sign in mark.poles)
        for mark in marks(text[:_READ])
    )


def rises(text: str) -> bool:
    """Whether a text says that something rises or falls."""
    return any(pair == "rising" for mark in marks(text[:_READ]) for pair, _ in mark.poles)


@lru_cache(maxsize=1024)
def cues_of(text: str) -> frozenset[Cue]:
    """Every cue of a text."""
    return frozenset(cue for mark in marks(text[:_READ]) for cue in mark.cues)


def _latin(reading: Reading) -> Iterator[Mark]:
    lists = _lists()
    words = [word for word in reading.words if not word.cjk]
    if any(map(reading.text.__contains__, _APOSTROPHES)):
        forms = [_form(reading.text, word) for word in words]
    else:
        forms = [word.text if _is_name(word) else word.text.casefold() for word in words]
    # AWS has the stem of "awful"; what is written in capitals within other text is a name, and has no opposite.
    shouted = reading.text.isupper()
    keys = [word.text if word.text.isupper() and not shouted else word.key for word in words]
    at = 0
    while at < len(words):
        taken = 1
        longest = max(lists.longest_forms.get(forms[at], 0), lists.longest_stems.get(keys[at], 0))
        for length in range(_run(reading.text, words, at, longest) if longest else 0, 0, -1):
            entry = lists.forms.get(tuple(forms[at : at + length]), _NONE)
            opposite = lists.stems.get(tuple(keys[at : at + length]), _NONE)
            if entry is not _NONE or opposite is not _NONE:
                poles = () if Cue.NOTHING in entry.cues else opposite.poles
                if entry.cues and not poles and Cue.NOTHING not in entry.cues:
                    # "closed the" is an end, and "closed" in it has an opposite.
                    poles = lists.stems.get((keys[at],), _NONE).poles
                # "Is finished" has an opposite, and "finished" in it is an end.
                within = (lists.forms.get((form,), _NONE).cues - {Cue.NOTHING} for form in forms[at : at + length])
                found = entry.cues.union(*within) if poles else entry.cues
                yield Mark(words[at].start, words[at + length - 1].end, found, poles)
                taken = length
                break
        else:
            if (affixed := _denied_by_affix(words, at)) is not None:
                yield affixed
        at += taken


def _denied_by_affix(words: Sequence[Word], at: int) -> Mark | None:
    """ "Unreliable" is the opposite of "reliable", and "is undrinkable" says "is not drinkable"; None for other words.

    What says no more than which one ("unsalted butter") denies nothing.
    """
    word = words[at]
    base = denied_by_affix(word.text)
    if base is None:
        return None
    if (entry := _lists().stems.get((base,))) is not None:
        return Mark(word.start, word.end, poles=tuple((pair, -sign) for pair, sign in entry.poles))
    behind = words[at + 1] if at + 1 < len(words) and not words[at + 1].gap else None
    if behind is not None and behind.sort > Sort.TIME:
        return None
    return Mark(word.start, word.end, frozenset({Cue.DENIES}), base=base)


def _run(text: str, words: Sequence[Word], at: int, longest: int) -> int:
    """How many words from `at` on stand in one run, with nothing but spaces and clitics between them."""
    end = at + 1
    while end < len(words) and end - at < longest and _JOINED.fullmatch(text, words[end - 1].end, words[end].start):
        end += 1
    return end - at


def _is_name(word: Word) -> bool:
    return word.text == _MAY or (word.text == _WILL and not word.first)


def _form(text: str, word: Word) -> str:
    if _is_name(word):
        return word.text
    clitic = _CLITIC.match(text, word.end) if text[word.end : word.end + 1] in _APOSTROPHES else None
    return (word.text + (clitic[0] if clitic else "")).casefold().replace("’", "'")


def _chinese(reading: Reading) -> Iterator[Mark]:
    lists, text = _lists(), reading.text
    # 卖了 in 外卖了 is no sale; 喜欢 in 不喜欢 is what is denied; 重 in 重庆 is not heavy.
    inside = {
        at
        for word in reading.words
        if word.cjk and word.known and word.text[0] not in DENYING
        for at in range(word.start + (not is_place(word.text)), word.end)
    }
    end = 0
    for at, first in enumerate(text):
        if at < end or first not in lists.longest_chinese or at in inside:
            continue
        for length in range(min(lists.longest_chinese[first], len(text) - at), 0, -1):
            if (entry := lists.chinese.get(text[at : at + length])) is not None:
                end = at + length
                yield Mark(at, end, entry.cues, entry.poles)
                break


@cache
def _lists() -> _Lists:
    forms: dict[tuple[str, ...], _Entry] = {}
    stems: dict[tuple[str, ...], _Entry] = {}
    chinese: dict[str, _Entry] = {}
    states: set[str] = set()
    for cue, phrase in _cues():
        if phrase.isascii():
            key = tuple(phrase.casefold().split())
            forms[key] = _Entry(forms.get(key, _NONE).cues | {cue})
        else:
            chinese[phrase] = _Entry(chinese.get(phrase, _NONE).cues | {cue})
    for pair, sign, phrase in _opposites():
        name = pair.rstrip("*+")
        if pair.endswith("*"):
            states.add(name)
        poles = ((name, sign), (FEELING, sign)) if pair.endswith("+") else ((name, sign),)
        if phrase.isascii():
            key = tuple(stem(contract(word)) for word in phrase.split())
            stems[key] = _Entry(poles=(*stems.get(key, _NONE).poles, *poles))
        else:
            known = chinese.get(phrase, _NONE)
            chinese[phrase] = _Entry(known.cues, (*known.poles, *poles))
    return _Lists(forms, stems, chinese, frozenset(states), _longest(forms), _longest(stems), _longest(chinese))


def _longest(phrases: Iterable[Sequence[str]]) -> dict[str, int]:
    """By first word or character, the length of the longest phrase that begins with it."""
    found: dict[str, int] = {}
    for phrase in phrases:
        found[phrase[0]] = max(len(phrase), found.get(phrase[0], 0))
    return found


def _cues() -> Iterator[tuple[Cue, str]]:
    cue = Cue.NOTHING
    for line in lines("cues.txt"):
        if line.startswith("["):
            cue = Cue(line.strip("[]"))
        else:
            yield from ((cue, phrase.strip()) for phrase in line.split(",") if phrase.strip())


def _opposites() -> Iterator[tuple[str, int, str]]:
    for line in lines("opposites.txt"):
        pair, _, sides = line.partition(":")
        for sign, side in zip((1, -1), sides.split("|"), strict=True):
            yield from ((pair, sign, phrase.strip()) for phrase in side.split(",") if phrase.strip())


def lines(name: str) -> Iterator[str]:
    text = files("amem.conflict").joinpath(name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line.strip() and not line.startswith("#"))


# Polarity: whether a clause affirms or denies what it is about, read once, with opposites folded.
#
# "Not happy" is "unhappy" is "dissatisfied", 不喜欢 is 讨厌, "no longer smokes" is "gave up smoking": each is a pair of
# opposites with a sign (``opposites.txt``), turned round by every word that denies (``DENIAL``, ``[denies]``), ends
# (``[ends]``) or says that it is over (``[over]``). What has no opposite is affirmed or denied as a whole.

#: A "not" that stands last denies what a clause of its own would have said: "I opened a shop not / that long ago".
_LAST_NOT = re.compile(r"\bnot\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Polarity:
    """`negative`: the clause denies what it is about, or says that it is over; `ended`: a denial that says "no more".
    `poles`: its words with opposites, by the name of the pair, +1 or -1, turned round where they are denied."""

    negative: bool
    ended: bool
    poles: Mapping[str, int]


def polarity_of(
    text: str, at: int, words: Sequence[Word], marked: Sequence[Mark], found: Collection[Cue], *, without: bool
) -> Polarity:
    """The polarity of a clause that begins at `at`, with its `marked` words and all cues `found`.

    `without` tells that the word "without" opens it.
    """
    # 无锡 denies nothing; 没考上 does.
    whole = [
        Mark(word.start, word.end) for word in words if word.cjk and word.sort >= Sort.COMMON and len(word.text) > 1
    ]
    blanked = _blanked(text, at, [*marked, *whole])
    denials = (0 if _LAST_NOT.search(text) else len(DENIAL.findall(blanked))) + without
    denials += sum(1 for mark in marked if Cue.DENIES in mark.cues)
    denied = denials % 2 == 1
    return Polarity(
        negative=Cue.OVER in found or denied != (Cue.ENDS in found),
        ended=denied and NO_MORE.search(text) is not None,
        poles=_poles(text, blanked, at, marked, denials),
    )


def _blanked(text: str, at: int, marked: Iterable[Mark]) -> str:
    for mark in marked:
        if mark.start < at:
            continue
        text = text[: mark.start - at] + " " * (mark.end - mark.start) + text[mark.end - at :]
    return text


def _poles(text: str, blanked: str, at: int, marked: Sequence[Mark], denials: int) -> dict[str, int]:
    """Each pair's sign, turned by every negation but the one that the word is itself ("retired", 戒烟).

    "Can't stand it any more" is denied once: what is over is that it could be stood.
    """
    found: dict[str, int] = {}
    for mark in marked:
        if mark.poles:
            others = {cue for other in marked if other is not mark for cue in other.cues}
            before = 0 if text.isascii() else len(DENIAL.findall(blanked, mark.end - at))  # 关门不干了 is shut
            denied = (denials - before - (Cue.DENIES in mark.cues)) % 2 == 1
            over = Cue.OVER in others and not DENIAL.search(text, max(0, mark.start - at), mark.end - at)
            turned = over or (denied != (Cue.ENDS in others))
            found |= {pair: -sign if turned else sign for pair, sign in mark.poles}
    return found


# Words that count as one when two notes are compared: translations and other names of everyday things.


def concepts(key: str) -> tuple[str, ...]:
    """What a word's key stands for: the words of the first name on its line of ``same_things.txt``, else itself."""
    return _synonyms().get(key, (key,))


def chinese_names(text: str) -> Iterator[tuple[int, int]]:
    """Where in `text` a Chinese name of the list stands that is longer than a character, as [start, end)."""
    return standing_in(text, *_chinese_synonyms())


def named_alike() -> Iterator[list[str]]:
    """The names on each line of ``same_things.txt``, translations and other names of one everyday thing."""
    for _, line in read_list("same_things.txt"):
        yield [name.strip() for name in line.split(",")]


@cache
def _synonyms() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for names in named_alike():
        keys = [_key(name) for name in names]
        for key in keys:
            found.setdefault(key, tuple(keys[0].split()))
    return found


@cache
def _chinese_synonyms() -> tuple[frozenset[str], Mapping[str, int]]:
    known = frozenset(key for key in _synonyms() if not key.isascii() and len(key) > 1)
    return known, _longest(known)


def _key(name: str) -> str:
    return " ".join(stem(contract(word)) for word in name.split()) if name.isascii() else name


# Words that take back what was said before: "forget that", "never mind what I said about the trip", 算了, 当我没说.


_BREAKS = " \t\n,.;:!?…—–-~，。；：！？、"


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Where a text takes something back: `before` is what the text itself says before that, `about` what it names."""

    before: str
    about: str = ""


def take_back_in(text: str) -> TakeBack | None:
    """The first sentence of a text that takes back what was said; None where none does."""
    said: list[str] = []
    for sentence in sentences(text):
        bare = sentence.strip()
        match = _pattern.taken_back.match(bare) or _pattern.taken_back_zh.match(bare)
        if match is not None:
            about = next((value for value in match.groupdict().values() if value), "")
            return TakeBack(" ".join(said[-1:]), about.strip())
        said.append(bare)
    return None


def without_take_backs(text: str, *, bare: bool = False) -> str:
    """`text` without the words that take something back; '' when it says nothing else.

    With `bare` a sentence that goes on after them ("scratch that, to Bonn") stays whole.
    """
    every = sentences(text)
    kept = [sentence if bare and _beside(sentence) else _beside(sentence) for sentence in every]
    return text if kept == every else " ".join(each for each in kept if each)


def _beside(sentence: str) -> str:
    match = _pattern.taken_back.match(sentence) or _pattern.taken_back_zh.match(sentence)
    return sentence if match is None else sentence[match.end() :].lstrip(_BREAKS)
