"""The terms a text is indexed under and asked for by: made here, so that SQLite's FTS5 and rank-bm25 agree.

English is stemmed (Porter 2), accents of Latin words are folded, CJK runs become overlapping bigrams, and identifiers,
versions, hosts and compounds (``v15.3``, ``snake_case``, ``CamelCase``, ``foo-bar``, ``C++``) count whole as well as
split. Stop words stay in the index, where they cost little, and are left out of questions.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from amem.text import stopwords
from amem.text.scripts import CJK, HAN, is_cjk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: How storage must declare an FTS5 table that is fed ``" ".join(index_terms(text))``: with it FTS5 splits at the
#: spaces only. Terms hold letters, marks, digits and the characters ``_ . - + # @``.
FTS5_TOKENIZE = "unicode61 remove_diacritics 0 categories 'L* M* N* Co' tokenchars '_.-+#@'"

#: Longer words (base64, hashes in a row) are cut: nobody types them, and they would fill the caches.
LONGEST = 64

# Vowel signs and other marks that `\w` leaves out although they stand inside words.
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0981-\u0dff\u0e31-\u0e4e"
)
_WORD = rf"[^\W_{CJK}](?:[^\W_{CJK}]|[{_MARKS}])*"
_TOKEN = re.compile(rf"[{CJK}]+|(?:(?<!_)_++)?{_WORD}(?:(?:[.\-+@'’]|_+){_WORD})*(?:\+\+|\#(?!\w)|_+)?")
_HAN = re.compile(f"[{HAN}]")
_JOINT = re.compile(r"[_.\-+@#]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VERSION = re.compile(r"v(\d[\w.\-+]*)")
_FIRST_CJK = "\u2e80"
_CLITIC = re.compile(r"'(?:s|m|re|ve|ll|d)$")


def index_terms(text: str) -> list[str]:
    """Every term of `text` in order, repeated as often as it occurs; empty when it holds no letter or digit.

    Index them in an FTS5 table declared with `FTS5_TOKENIZE`.
    """
    terms: list[str] = []
    for token in words_of(text):
        terms += _terms(token)
    return terms


def located_terms(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Where in `text` what it is found by stands: (start, end, terms), a word before its parts, bigrams one by one.

    Chinese characters by themselves come after their bigrams, also those that only `search_terms` has.
    """
    plain, places = _placed(text)
    for match in _TOKEN.finditer(plain):
        token, at = match[0], match.start()
        pieces = _cjk_pieces(token) if is_cjk(token) else _word_pieces(token[:LONGEST])
        for start, end, terms in pieces:
            yield places[at + start][0], places[at + end - 1][1], terms


def query_terms(text: str) -> list[str]:
    """The terms to look for: unique, in order, without stop words unless nothing else is left."""
    return content_terms(text) or list(dict.fromkeys(index_terms(text)))


def content_terms(text: str) -> list[str]:
    """The terms that are no stop words: unique, in order; empty where the text says nothing else."""
    wanted: dict[str, None] = {}
    for token in words_of(text):
        wanted.update(dict.fromkeys(_content_terms(token)))
    return list(wanted)


def words_of(text: str) -> list[str]:
    """What terms are made of, in order: words with what joins their parts, and whole runs of CJK characters."""
    return _TOKEN.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))


def _terms(token: str) -> tuple[str, ...] | list[str]:
    # Most tokens by far begin before the first CJK character there is; they need no closer look.
    if token[0] < _FIRST_CJK or not is_cjk(token):
        return _word_terms(token[:LONGEST])
    return _cjk_terms(token)


def _content_terms(token: str) -> list[str]:
    if is_cjk(token):
        return [term for term in _cjk_terms(token) if not _is_chinese_stop(term)]
    folded = contract(token[:LONGEST].casefold())
    return [] if folded in stopwords.ENGLISH else [t for t in _word_terms(token[:LONGEST]) if t not in _stop_stems()]


def _cjk_terms(run: str) -> list[str]:
    terms = bigrams(run)
    if len(run) > 1:
        terms += [character for character in run if character in stopwords.CHINESE_SINGLE_WORDS]
    return terms


def is_searched_alone(character: str) -> bool:
    """Whether a character of a longer Chinese run is a term of its own for search: one that is no function word."""
    said = character not in stopwords.CHINESE_CHARACTERS and character != "一"
    return said and _HAN.match(character) is not None


def bigrams(run: str) -> list[str]:
    """The overlapping pairs of characters of a CJK run; a single character by itself."""
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _is_chinese_stop(term: str) -> bool:
    if term in stopwords.CHINESE_KEPT:
        return False
    return (
        term in stopwords.CHINESE_BIGRAMS
        or any(character in stopwords.CHINESE_PARTICLES for character in term)
        or all(character in stopwords.CHINESE_CHARACTERS for character in term)
    )


@lru_cache(maxsize=1 << 16)
def _word_terms(word: str) -> tuple[str, ...]:
    """The terms of one word that is not CJK: whole, then its parts if it has any."""
    spelled = contract(fold_accents(word))
    whole = spelled.casefold()
    terms = [stem(whole)]
    if version := _VERSION.fullmatch(whole):
        terms.append(version[1])
        whole = spelled = version[1]
    parts = [part for piece in _JOINT.split(spelled) for part in _HUMP.split(piece) if part]
    if len(parts) > 1 or (parts and parts[0].casefold() != whole):
        terms += [stem(part.casefold()) for part in parts]
    return tuple(dict.fromkeys(terms))


@lru_cache(maxsize=1 << 12)
def contract(word: str) -> str:
    """The word without its clitic: "Ana's" -> "Ana", "we'll" -> "we", "don't" -> "dont", "O'Brien" -> "OBrien"."""
    if "'" not in word and "’" not in word:
        return word
    return _CLITIC.sub("", word.replace("’", "'")).replace("'", "")


def fold_accents(word: str) -> str:
    """The word without its accents, if that leaves Latin letters alone."""
    # Accents are spelling in Latin text ("cafe" finds "café"); in other scripts marks make other words.
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFKD", word)
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return bare if bare.isascii() else word


def stem(word: str) -> str:
    """The stem of an English word; anything else as it is."""
    return _stemmers().stem(word) if word.isascii() and word.isalpha() else word


class _Stemmers(threading.local):
    """A stemmer for each thread: one keeps the word it is at, and two threads would get each other's."""

    def __init__(self) -> None:
        import snowballstemmer

        self.stem: Callable[[str], str] = snowballstemmer.stemmer("english").stemWord


@cache
def _stemmers() -> _Stemmers:
    return _Stemmers()


@cache
def _stop_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in stopwords.ENGLISH)


def _placed(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text as it is cut into tokens; and for each of its characters, where what it was made of begins and ends."""
    if text.isascii():
        return text, [(at, at + 1) for at in range(len(text))]
    plain, places, start = "", [], 0
    for end in range(1, len(text) + 1):
        # A mark belongs to the letter before it, with which it may become one character; so does a Korean vowel.
        if end < len(text) and (unicodedata.combining(text[end]) or "\u1160" <= text[end] <= "\u11ff"):
            continue
        made = unicodedata.normalize("NFKC", text[start:end])
        plain += made
        places += [(start, end)] * len(made)
        start = end
    return plain, places


def _cjk_pieces(run: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    for start, bigram in enumerate(bigrams(run)):
        yield start, start + len(bigram), (bigram,)
    if len(run) > 1:
        for start, character in enumerate(run):
            if is_searched_alone(character):
                yield start, start + 1, (character,)


@lru_cache(maxsize=1 << 14)
def _word_pieces(word: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    terms, start = _word_terms(word), 0
    parts: list[tuple[int, int, tuple[str, ...]]] = []
    for piece in re.split(rf"({_JOINT.pattern})", word):
        for part in _HUMP.split(piece):
            if part and not _JOINT.fullmatch(part):
                parts.append((start, start + len(part), tuple(t for t in _word_terms(part) if t in terms)))
            start += len(part)
    if len(parts) < 2:
        return ((0, len(word), terms),)
    of_parts = {term for _, _, held in parts for term in held}
    whole = tuple(term for term in terms if term not in of_parts)
    return ((0, len(word), whole), *parts) if whole else tuple(parts)
