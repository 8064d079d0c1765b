"""Names in a text: people, places, organisations, products, versions, titles and dates as written. Never pronouns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.lexicon import Sort, lexicon
from amem.llm.offline.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.llm.offline.reading import Reading, Word

_MOST = 12
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*"
_DATE = re.compile(
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? \d{{4}})?\b"
    r"|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]|(?:\d{4}年)\d{1,2}月|[一二三四五六七八九十]{1,3}月[一二三四五六七八九十]{1,3}[日号]"
)
_TITLE = re.compile(r"《([^《》\n]{1,40})》|“([^“”\n]{2,50})”|「([^「」\n]{2,40})」|(?<!\w)\"([^\"\n]{2,50})\"(?!\w)")
_JOINERS = frozenset("of de da do dos van von der la le & y".split())  # noqa: SIM905
#: Institutions and places that a Chinese proper name ends in.
_SUFFIXES = frozenset(
    "公司 大学 医院 银行 机场 学院 中学 小学 餐厅 餐馆 饭店 酒店 书店 咖啡馆 咖啡店 茶馆 公园 博物馆 图书馆 美术馆 大厦 广场 "
    "集团 研究所 火车站 地铁站 幼儿园 健身房 诊所 超市 民宿 乐队 项目".split()  # noqa: SIM905
)
_SUFFIX_CHARACTERS = frozenset("市省区县镇村路街山湖河岛寺桥")
_HONORIFICS = frozenset("dr mr mrs ms prof st".split())  # noqa: SIM905


def entities(text: str) -> tuple[str, ...]:
    """The names in `text` as written, in order, each once; at most 12.

    A question typed in lower case names things without capitals ("where does ana live"): there every word that is not
    everyday English counts.
    """
    return names(read(text))


def names(reading: Reading) -> tuple[str, ...]:
    """`entities` of a text already taken apart."""
    found: dict[str, tuple[int, str]] = {}
    for start, name in sorted(_all(reading), key=lambda item: item[0]):
        found.setdefault(name.casefold(), (start, name))
    kept = [name for _, name in found.values()]
    return tuple(kept[:_MOST])


def _all(reading: Reading) -> Iterator[tuple[int, str]]:
    for match in _DATE.finditer(reading.text):
        yield match.start(), match[0]
    for match in _TITLE.finditer(reading.text):
        title = next(part for part in match.groups() if part is not None).strip()
        if match[1] is not None or _reads_like_a_title(title):
            yield match.start(), title
    yield from _latin(reading)
    yield from _chinese(reading)


def _reads_like_a_title(title: str) -> bool:
    if not title or title[-1] in ".!?,。！？，…":
        return False
    words = title.split()
    return len(title) <= 12 if not title.isascii() else title[0].isupper() and len(words) <= 6 and title[-1].isalnum()


def _latin(reading: Reading) -> Iterator[tuple[int, str]]:
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
        end = _run_end(words, marked, at)
        start = words[at].start
        if at and words[at - 1].text.casefold() in _HONORIFICS and start - words[at - 1].end <= 2:
            start = words[at - 1].start
        yield start, reading.text[start : words[end - 1].end]
        if end < len(words) and words[end].sort is Sort.NUMBER and not words[end].gap and words[end - 1].capital:
            yield start, reading.text[start : words[end].end]
        at = end


def _run_end(words: tuple[Word, ...], marked: list[bool], at: int) -> int:
    end = at + 1
    while end < len(words) and not words[end].gap and not words[end - 1].possessive:
        joins = words[end].text in _JOINERS and end + 1 < len(words) and marked[end + 1] and not words[end + 1].gap
        if marked[end] and not words[end].shaped and not words[end - 1].shaped:
            end += 1
        elif joins and words[end - 1].capital and words[end + 1].capital:
            end += 2
        else:
            break
    return end


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
        return not (word.text.islower() and word.text.isalpha()) and not (shouted[word.sentence] and word.known)
    if not word.capital:
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
    acts = following.verb or (following.text in ("and", "&") and at + 2 < len(words) and words[at + 2].capital)
    return word.possessive or capital_next or (acts and not following.text.endswith("ing"))


def _uncapitalised(reading: Reading) -> Iterator[tuple[int, str]]:
    """Names in text typed without capitals: known ones, and in a question whatever is not everyday English."""
    asks = reading.text.rstrip().endswith("?") or (
        bool(reading.words) and reading.words[0].text in ("who", "what", "when", "where", "why", "how", "which", "does")
    )
    for word in reading.words:
        if word.cjk or word.sort in (Sort.STOP, Sort.NUMBER, Sort.TIME, Sort.WEAK):
            continue
        if (word.person or word.place or asks) and (not word.known or word.shaped):
            yield word.start, word.text


def _chinese(reading: Reading) -> Iterator[tuple[int, str]]:
    words = reading.words
    for at, word in enumerate(words):
        if not word.cjk:
            continue
        before = words[at - 1] if at and not word.gap else None
        if word.person or word.place:
            yield word.start, word.text
        if before is None or before.sort is not Sort.CONTENT:
            continue
        proper = not before.known or before.place
        if (proper and (word.text in _SUFFIXES or word.text in _SUFFIX_CHARACTERS)) and before.end - before.start + len(
            word.text
        ) <= 16:
            yield before.start, reading.text[before.start : word.end]
    for word in words:
        if word.cjk and not word.known and len(word.text) >= 3 and word.text[-1] in _SUFFIX_CHARACTERS:
            yield word.start, word.text
