"""Where sentences end, in English and Chinese, without cutting abbreviations, decimals, versions or URLs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.text.stopwords import words

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLOSERS = re.escape("\"'”’」』）)]】》»")
#: A possible end: Chinese stops end a sentence anywhere, Latin ones before white space only; a line end may be one.
_END = re.compile(
    rf"(?P<wide>[。！？｡]+[{_CLOSERS}]*)|(?P<latin>(?<![.!?…])(?:[.!?]++|…++)[{_CLOSERS}]*+(?=\s|$))|(?P<line>\n\s*+)"
)
_ABBREVIATIONS = words(
    """
    mr mrs ms dr prof sr jr st mt no nos fig figs eq sec vol pp ed eds approx dept est inc ltd co corp vs cf al e.g i.e
    a.m p.m u.s u.k ph.d jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
    """
)
#: These never end a sentence: a name or number follows.
_BOUND = words("mr mrs ms dr prof sr sra st mt no nos fig figs eq sec vol vs cf e.g i.e")
_LAST_WORD = re.compile(r"(?:\w+['’])?[\w.]+(?=\.[^\w]*$)")
_LIST_ITEM = re.compile(r"(?:[-*+•#>]|\d{1,3}[.)、]|[a-zA-Z][.)]|[一二三四五六七八九十]+、)")
_WRAP = 60


def is_bound(word: str) -> bool:
    """Whether the word is an abbreviation that a name or number follows, with its stop: "Dr.", "No."."""
    return word.endswith(".") and word[:-1].casefold() in _BOUND


def sentences(text: str) -> list[str]:
    """The sentences of `text`, stripped, none empty; joined they hold every character but white space."""
    found: list[str] = []
    start = 0
    for end in sentence_ends(text):
        if piece := text[start:end].strip():
            found.append(piece)
        start = end
    if rest := text[start:].strip():
        found.append(rest)
    return found


def sentence_ends(text: str) -> Iterator[int]:
    """Positions just after each sentence's last character (or after the line break that ends it)."""
    line_start = 0
    for match in _END.finditer(text):
        if match["line"] is not None:
            short = match.start() - line_start < _WRAP
            if match[0].count("\n") > 1 or short or _LIST_ITEM.match(text, match.end()):
                yield match.end()
            line_start = match.end()
        elif match["wide"] is not None or _ends(text, match):
            yield match.end()


def _ends(text: str, match: re.Match[str]) -> bool:
    following = text[match.end() : match.end() + 40].lstrip()[:1]
    if match["latin"][0] != "." or match["latin"].startswith(".."):
        # "Really?" she asked. Wait... what?
        return not following.islower()
    word = _LAST_WORD.search(text, max(0, match.start() - 20), match.start() + 1)
    last = word[0].casefold() if word else ""
    if last in _BOUND or (len(last) == 1 and last.isalpha() and last != "i") or _opens_item(text, match.start(), last):
        return False
    return not (following.islower() or (last in _ABBREVIATIONS and following.isdigit()))


def _opens_item(text: str, stop: int, word: str) -> bool:
    """Whether the stop belongs to a list marker such as "1." at the start of a line."""
    before = text[max(0, stop - len(word) - 1) : stop - len(word)]
    return word.isdigit() and len(word) <= 3 and before in ("", "\n")
