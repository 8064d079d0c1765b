"""The terms that a text is indexed under and asked for by, and how many tokens it takes."""

from __future__ import annotations

import re
import threading
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from amem.language import scripts as stopwords
from amem.language.numerals import otherwise_written
from amem.language.scripts import CJK, HAN, is_cjk, word_list

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

# The terms a text is indexed under and asked for by: made here, so that SQLite's FTS5 and rank-bm25 agree.
#
# English is stemmed (Porter 2), accents of Latin words are folded, CJK runs become overlapping bigrams, and
# identifiers, versions, hosts and compounds (``v15.3``, ``snake_case``, ``CamelCase``, ``foo-bar``, ``C++``) count
# whole as well as split. Stop words stay in the index, where they cost little, and are left out of questions.

#: How storage must declare an FTS5 table that is fed ``" ".join(index_terms(text))``: with it FTS5 splits at the
#: spaces only. Terms hold letters, marks, digits and the characters ``_ . - + # @``.
FTS5_TOKENIZE = "unicode61 remove_diacritics 0 categories 'L* M* N* Co' tokenchars '_.-+#@'"

#: Longer words (base64, hashes in a row) are cut: nobody types them, and they would fill the caches.
LONGEST = 64
#: Characters of a text whose terms are remembered.
_REMEMBERED = 4_096

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
    return list(_remembered_terms(text) if len(text) <= _REMEMBERED else _terms_in(text))


def _terms_in(text: str) -> tuple[str, ...]:
    return tuple(chain.from_iterable(map(_terms, words_of(text))))


#: A note that is added is asked for its terms by the analyst, the index and each note near it.
_remembered_terms = lru_cache(maxsize=2048)(_terms_in)


def located_terms(text: str, wanted: Collection[str] | None = None) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Where in `text` what it is found by stands: (start, end, terms), a word before its parts, bigrams one by one.

    Chinese characters by themselves come after their bigrams, also those that only `search_terms` has. Of plain English
    words only those that may have one of the `wanted` terms, where some are given.
    """
    plain, places = _placed(text)
    begins = None if wanted is None else beginnings(wanted)
    for match in _TOKEN.finditer(plain):
        token, at = match[0], match.start()
        if begins is not None and _lacks(token, begins):
            continue
        pieces = _cjk_pieces(token) if is_cjk(token) else _word_pieces(token[:LONGEST])
        for start, end, terms in pieces:
            if places is None:
                yield at + start, at + end, terms
            else:
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


def _placed(text: str) -> tuple[str, list[tuple[int, int]] | None]:
    """The text as it is cut into tokens; and for each of its characters, where what it was made of begins and ends.

    None where each was made of itself.
    """
    if text.isascii():
        return text, None
    plain, start = "", 0
    places: list[tuple[int, int]] = []
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


# The terms that notes are searched by: those of `amem.language.terms`, and the characters of Chinese one by one.
#
# Pairs of characters find words of two and more, which most are; but a word of one (租, to rent) stands in other pairs
# in the question than in the note, and so do the parts of a longer one (租客, 房租). Pairs and characters together find
# more than either alone (Luk & Kwok, TALIP 2002); rules about what a text means keep to the pairs.

_RUN = re.compile(f"[{CJK}]{{2,}}")


def search_terms(text: str) -> list[str]:
    """The terms to index a note's text under, repeated as often as they occur; for FTS5 as `index_terms` are."""
    terms = index_terms(text)
    if not text.isascii():
        terms += [each for run in _runs(text) for each in run if _is_more(each)]
    return terms


def held_terms(text: str, wanted: Collection[str]) -> set[str]:
    """Those of the `wanted` terms that `search_terms` has of the text, without a stem for every word of it."""
    begins = beginnings(wanted)
    found: set[str] = set()
    for token in words_of(text):
        if not _lacks(token, begins):
            found.update(term for term in _terms(token) if term in wanted)
    if not text.isascii():
        found.update(each for run in _runs(text) for each in run if each in wanted and _is_more(each))
    return found


def _lacks(token: str, begins: tuple[str, ...]) -> bool:
    """Whether a token is one English word, none of whose terms begins so."""
    if token.lower().startswith(begins):
        return False
    return token.isascii() and token.isalpha() and (token.islower() or token[1:].islower())


def beginning(terms: Iterable[str]) -> str:
    """What stands in every ASCII text with all of these terms, case-folded and without its apostrophes."""
    longest = max(terms, key=len)
    return longest[: max(1, len(longest) - 2)]


def beginnings(terms: Collection[str]) -> tuple[str, ...]:
    """What a word of plain English begins with that has one of these terms.

    The stemmer changes no more than the last two letters of what it leaves of a word: "dying" becomes "die".
    """
    return tuple({term[:-2] or term[0] for term in terms})


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


# Words while they are typed: what index terms the word may have once it is finished, letter by letter.
#
# The index holds stems, so that "runni" is the beginning of no term although it is that of a word: what it may still
# become ("running") is stemmed instead, and the stems count beside the beginning itself. A beginning of a word of a
# note finds that note, whatever its length.

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


# How many tokens a text takes in a model's window: an estimate, since every model cuts text its own way.

# A word of up to eight letters is mostly one token, a longer one a token for each five letters more; a number takes one
# for each three digits, as do the tables and identifiers it stands in; CJK takes about one a character.
_PIECES = re.compile(rf"(?P<cjk>[{CJK}])|(?P<number>\d+)|(?P<word>[^\W\d_{CJK}]+)|(?P<mark>[^\w\s])|(?P<other>_)")


def tokens(text: str) -> int:
    """About how many tokens `text` takes: within a fifth of what current models count for prose.

    English prose comes to about one for each 4.4 characters, Chinese, Japanese and Korean to one a character, which
    is the upper end of what models in use need for them: a window filled by this count does not overflow.
    """
    count = 0
    for match in _PIECES.finditer(text):
        kind, length = match.lastgroup, match.end() - match.start()
        if kind == "word":
            # Letters outside ASCII (Cyrillic, Arabic) cost about twice as much.
            count += 1 + (length - 4) // 5 if length > 8 else 1
            if not match[0].isascii():
                count += length // 4
        elif kind == "number":
            count += (length + 2) // 3
        else:
            count += 1
    return count


# At most how many tokens a text takes, whatever the model: for promises, where ``tokens`` is for planning.
#
# Every model cuts text its own way, and few tokenizers are on a machine that only calls models. So this counts what
# the least economical one takes for each piece: bytes, but for what all tokenizers hold whole. Held against those of
# GPT-4, GPT-4o, Claude 2, Qwen, Mistral 7B (which cuts as Llama 2 does) and Mistral NeMo, it was never below any of
# them over whole texts: prose in thirteen languages, code, tables, addresses and emoji; nor for any CJK that was
# tried. Single lines of names or invented words in Latin letters can take a few tokens more. It comes to about 1.3 to
# 1.5 times what most of them take for English and 1.3 to 2 times for Chinese.

#: Characters outside ASCII that each of those tokenizers holds as one token; of all others they may take every byte.
_COMMON = frozenset("\u3000".join(word_list("one token")))
_BOUND_PIECES = re.compile(r"(?P<word>[A-Za-z]+)|(?P<space>\s+)|(?P<ascii>[\x21-\x7e])|(?P<other>.)", re.DOTALL)
#: Spelled like no word that a tokenizer would hold in large pieces: no vowel, many consonants in a row, rare pairs.
_ODD = re.compile(r"[b-df-hj-np-tv-xz]{5}|^[^aeiouy]+$|q(?!u)|[jvxq][b-df-hj-np-tv-xz]|[jqvz]$", re.IGNORECASE)
_CAPITALS = re.compile(r"[a-z][A-Z]|[A-Z]{2}")
#: Letters that nearly every tokenizer takes as one token, and how many letters of a longer word make one more.
_SHORT, _PART = 4, 3
#: What the beginning of a text may cost, and letters that are cut otherwise beside their neighbours.
_EDGE = 2
#: From here on characters are not letters of words in Latin script.
_NOT_LATIN = "\u2e80"


def most_tokens(text: str) -> int:
    """An upper bound on the tokens that `text` takes in a model's prompt; 0 for no text."""
    if not text:
        return 0
    count = _EDGE
    before = ""
    for match in _BOUND_PIECES.finditer(text):
        piece, kind = match[0], match.lastgroup
        after = text[match.end() : match.end() + 1]
        if kind == "word":
            count += _word(piece, before, after)
        elif kind == "space":
            count += _space(piece, after)
        elif kind == "ascii" or piece in _COMMON:
            count += 1
        else:
            count += _bytes(piece)
        before = piece[-1]
    return count


@lru_cache(maxsize=1 << 12)
def _bytes(character: str) -> int:
    """Its own, or those of what some tokenizers write it out to first: a ligature may stand for a sentence."""
    written_out = unicodedata.normalize("NFKC", character)
    return max(len(each.encode("utf-8", "surrogatepass")) for each in (character, written_out))


def _word(letters: str, before: str, after: str) -> int:
    size = len(letters)
    if _part_of_more(before) or _part_of_more(after):
        return size
    if size >= _SHORT and (_CAPITALS.search(letters) or _ODD.search(letters)):
        return (3 * size + 3) // 4
    if size == 3 and _ODD.search(letters):
        return 2
    return 1 if size <= _SHORT else -(-size // _PART)


def _part_of_more(beside: str) -> bool:
    """Whether letters stand in one piece with this: a number, or letters with accents."""
    return beside.isdigit() or (beside > "\x7f" and beside < _NOT_LATIN and beside.isalpha())


def _space(run: str, after: str) -> int:
    if run == " ":
        # It is part of a word that follows, and of an opening mark.
        return 0 if after.isascii() and (after.isalpha() or after in "([{\"'") else 1
    spaces = run.count(" ")
    return len(run.encode("utf-8")) - spaces + (spaces + 3) // 4 + (run[-1] == " ")
