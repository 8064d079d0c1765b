"""The terms that notes are searched by: those of `amem.text.terms`, and the characters of Chinese one by one.

Pairs of characters find words of two and more, which most are; but a word of one (租, to rent) stands in other pairs in
the question than in the note, and so do the parts of a longer one (租客, 房租). Pairs and characters together find more
than either alone (Luk & Kwok, TALIP 2002); rules about what a text means keep to the pairs.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from amem.text import stopwords
from amem.text.numerals import otherwise_written
from amem.text.scripts import CJK
from amem.text.terms import content_terms, index_terms, is_searched_alone, query_terms

if TYPE_CHECKING:
    from collections.abc import Iterator

_RUN = re.compile(f"[{CJK}]{{2,}}")


def search_terms(text: str) -> list[str]:
    """The terms to index a note's text under, repeated as often as they occur; for FTS5 as `index_terms` are."""
    terms = index_terms(text)
    if not text.isascii():
        terms += [each for run in _runs(text) for each in run if _is_more(each)]
    return terms


def asked_terms(question: str) -> list[str]:
    """The terms to look for among those of `search_terms`: unique, without stop words unless nothing else is left.

    A number is looked for both in digits and in characters.
    """
    if question.isascii():
        return query_terms(question)
    wanted = dict.fromkeys(content_terms(question))
    for run in _runs(question):
        wanted.update(dict.fromkeys(_asked(run)))
    for written in otherwise_written(question):
        wanted.update(dict.fromkeys(content_terms(written)))
    return list(wanted) or query_terms(question)


def _runs(text: str) -> list[str]:
    return _RUN.findall(unicodedata.normalize("NFKC", text))


def _asked(run: str) -> Iterator[str]:
    """The characters of a run that stand in no word which only asks or binds (知道, 我们)."""
    pairs = [run[at : at + 2] for at in range(len(run) - 1)]
    within = {at + step for at, pair in enumerate(pairs) if pair in stopwords.CHINESE_BIGRAMS for step in (0, 1)}
    yield from (each for at, each in enumerate(run) if at not in within and _is_more(each))


def _is_more(character: str) -> bool:
    # The others are index terms already.
    return character not in stopwords.CHINESE_SINGLE_WORDS and is_searched_alone(character)
