"""Names in a text: people, places, organisations, products, versions, titles and dates as written. Never pronouns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.language.lexicon import Sort, lexicon
from amem.language.numerals import MONTHS, WEEKDAYS
from amem.language.scripts import word_list, words
from amem.language.word_reading import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from amem.language.word_reading import Reading, Word

_MOST = 12
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*"
_DATE = re.compile(
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? \d{{4}})?\b"
    r"|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]|(?:\d{4}年)\d{1,2}月|[一二三四五六七八九十]{1,3}月[一二三四五六七八九十]{1,3}[日号]"
)
_TITLE = re.compile(r"《([^《》\n]{1,40})》|“([^“”\n]{2,50})”|「([^「」\n]{2,40})」|(?<!\w)\"([^\"\n]{2,50})\"(?!\w)")
_JOINERS = words("of de da do dos van von der la le & y")
_SUFFIXES = word_list("of a name")
_SUFFIX_CHARACTERS = frozenset("市省区县镇村路街山湖河岛寺桥海江")
_HONORIFICS = words("dr mr mrs ms prof st sr sra")
#: Words that end so are seldom names.
_NOUN_ENDINGS = ("tion", "ness", "ment", "ity", "ing", "ism", "ogy", "ine", "s")
_CALENDAR = frozenset((*WEEKDAYS, *MONTHS))
_APPOSITION = words("my our his her their the a an who whose")


@dataclass(frozen=True, slots=True)
class Name:
    """A name as written, and where it stands. A date is a name of a day."""

    text: str
    start: int
    end: int
    date: bool = False


def entities(text: str) -> tuple[str, ...]:
    """The names in `text` as written, in order, each once; at most 12.

    A question typed in lower case names things without capitals ("where does ana live"): there every word that is not
    everyday English counts.
    """
    return spelled(names(read(text)))


def spelled(found: Iterable[Name]) -> tuple[str, ...]:
    """The names' texts, each once whatever its case; at most 12."""
    texts: dict[str, str] = {}
    for name in found:
        texts.setdefault(name.text.casefold(), name.text)
    return tuple(texts.values())[:_MOST]


def names(reading: Reading) -> list[Name]:
    """Every name in a text already taken apart, in order."""
    return list(_names_in(reading.text))


@lru_cache(maxsize=256)
def _names_in(text: str) -> tuple[Name, ...]:
    reading = read(text)
    found = [Name(match[0], match.start(), match.end(), date=True) for match in _DATE.finditer(reading.text)]
    titles = list(titles_in(reading.text))
    inside = [*_latin(reading), *_chinese(reading)]
    found += titles
    found += [name for name in inside if not any(title.start <= name.start < title.end for title in titles)]
    found.sort(key=lambda name: (name.start, name.end))
    return tuple(found)


def titles_in(text: str) -> Iterator[Name]:
    """Titles of works in quotation marks."""
    for match in _TITLE.finditer(text):
        at = match.lastindex or 1
        title = match[at].strip()
        if title and (at == 1 or _reads_like_a_title(title)):
            start = match.start(at) + len(match[at]) - len(match[at].lstrip())
            yield Name(title, start, start + len(title))


def _reads_like_a_title(title: str) -> bool:
    if not title or title[-1] in ".!?,。！？，…":
        return False
    words = title.split()
    return len(title) <= 12 if not title.isascii() else title[0].isupper() and len(words) <= 6 and title[-1].isalnum()


def _latin(reading: Reading) -> Iterator[Name]:
    words = reading.words
    shouted = _shouted(reading)
    elsewhere = {word.text for word in words if word.capital and not word.first and not shouted[word.sentence]}
    marked = [not word.cjk and _is_name(reading, i, shouted, elsewhere) for i, word in enumerate(words)]
    if not any(marked) and not any(word.capital for word in words if word.text != "I"):
        yield from _uncapitalised(reading)
        return
    at = 0
    while at < len(words):
        if not marked[at]:
            at += 1
            continue
        end = _run_end(reading, marked, at)
        start = _run_start(reading, at)
        yield Name(reading.text[start : words[end - 1].end], start, words[end - 1].end)
        numbered = end < len(words) and words[end].sort is Sort.NUMBER and not words[end].gap
        if numbered and words[end - 1].capital and not words[end - 1].person:
            yield Name(reading.text[start : words[end].end], start, words[end].end)
        at = end


def _run_start(reading: Reading, at: int) -> int:
    """Where the name whose first full word is word `at` starts: at its initials or at "Dr." before it."""
    words = reading.words
    while at and reading.text[words[at - 1].end : words[at].start] in (". ", " "):
        before = words[at - 1].text
        if before in _JOINERS and at > 1 and words[at - 2].text.casefold() in _HONORIFICS:
            return words[at - 2].start
        initial = len(before) == 1 and before.isupper() and reading.text[words[at - 1].end] == "."
        if not initial and before.casefold() not in _HONORIFICS:
            break
        at -= 1
    return words[at].start


def _run_end(reading: Reading, marked: list[bool], at: int) -> int:
    """Where the name that begins at word `at` ends: capitals side by side, "of" and initials between them."""
    words = reading.words
    end = at + 1
    while end < len(words) and not words[end - 1].possessive:
        last, word = words[end - 1], words[end]
        after = end + 1 if end + 1 < len(words) and marked[end + 1] and words[end + 1].capital else None
        if (
            len(word.text) == 1
            and word.capital
            and after
            and reading.text[word.end : words[after].start] in (". ", " ")
        ):
            end += 2
        elif word.gap:
            break
        elif marked[end] and not word.shaped and not last.shaped:
            end += 1
        elif word.capital and word.sort in (Sort.WEAK, Sort.TIME) and last.capital and not last.shaped:
            # "Perfect Days": within a name any word may stand, but not the day after it.
            if word.text.casefold() in _CALENDAR:
                break
            end += 1
        elif word.text in _JOINERS and after and not words[after].gap and last.capital:
            end += 2
        else:
            break
    return end


def _strong(word: Word) -> bool:
    return lexicon().cues.get(word.key) == 2


def _shouted(reading: Reading) -> list[bool]:
    """Per sentence: whether capitals say nothing there (a heading in title case, a line in capitals)."""
    counts = [[0, 0] for _ in reading.sentences]
    for word in reading.words:
        if not word.cjk and word.sort is not Sort.NUMBER and word.text != "I":
            counts[word.sentence][0] += 1
            counts[word.sentence][1] += word.capital
    return [total >= 4 and capitals > 0.7 * total for total, capitals in counts]


def _is_name(reading: Reading, at: int, shouted: list[bool], elsewhere: set[str]) -> bool:
    word = reading.words[at]
    if word.sort in (Sort.STOP, Sort.NUMBER, Sort.TIME) or len(word.text) > 60:
        return False
    if word.shaped:
        everyday = word.known and word.text.isupper() and not _strong(word)
        return not (word.text.islower() and word.text.isalpha()) and not (
            everyday or (shouted[word.sentence] and word.known)
        )
    if not word.capital or word.text.casefold() in _HONORIFICS:
        return False
    gazetteer = word.person or word.place
    if shouted[word.sentence]:
        return gazetteer or not word.known
    if word.first:
        return word.text in elsewhere or _opens_as_name(reading, at, gazetteer)
    if word.sort is Sort.WEAK and not gazetteer:
        # "Thanks, Great work": a capital after a comma is often a new beginning.
        return not word.gap and not word.verb
    return True


def _opens_as_name(reading: Reading, at: int, gazetteer: bool) -> bool:
    """Whether the capital of a sentence's first word is more than the sentence's."""
    words = reading.words
    word = words[at]
    following = words[at + 1] if at + 1 < len(words) and words[at + 1].sentence == word.sentence else None
    if gazetteer and word.sort is Sort.CONTENT:
        return True
    capital_next = following is not None and not following.gap and following.capital and following.text != "I"
    if word.known:
        return gazetteer and (capital_next or word.possessive or (following is not None and following.verb))
    if following is None:
        return False
    after = words[at + 2] if at + 2 < len(words) else None
    if following.gap:
        return following.text in _APPOSITION
    if following.cjk:
        return True
    if following.text in ("is", "was", "has") and after is not None:
        return after.text in _APPOSITION or not word.text.endswith(_NOUN_ENDINGS)
    acts = following.verb or (following.text in ("and", "&") and after is not None and after.capital)
    return word.possessive or capital_next or (acts and not following.text.endswith("ing"))


def _uncapitalised(reading: Reading) -> Iterator[Name]:
    """Names in text typed without capitals: known ones, and in a question whatever is not everyday English."""
    asks = reading.text.rstrip().endswith("?") or (
        bool(reading.words) and reading.words[0].text in ("who", "what", "when", "where", "why", "how", "which", "does")
    )
    for word in reading.words:
        if word.cjk or word.sort in (Sort.STOP, Sort.NUMBER, Sort.TIME, Sort.WEAK):
            continue
        if (word.person or word.place or asks) and (not word.known or word.shaped):
            yield Name(word.text, word.start, word.end)


def _chinese(reading: Reading) -> Iterator[Name]:
    words = reading.words
    for at, word in enumerate(words):
        if not word.cjk:
            continue
        before = words[at - 1] if at and not word.gap else None
        own = word.text in _SUFFIXES or (
            word.text in _SUFFIX_CHARACTERS and before is not None and len(before.text) > 1
        )
        named = before is not None and len(before.text) > 1 and (not before.known or before.place)
        if own and named and before is not None and before.sort is Sort.CONTENT:
            yield Name(reading.text[before.start : word.end], before.start, word.end)
        if (
            word.person
            or word.place
            or (not word.known and len(word.text) >= 3 and word.text[-1] in _SUFFIX_CHARACTERS)
        ):
            yield Name(word.text, word.start, word.end)
