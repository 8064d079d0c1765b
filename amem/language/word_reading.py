"""A note taken apart once: its words, each with what the lexicon knows of it, and the names in it. Never pronouns."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from amem.language import is_cjk, written_in_cjk
from amem.language.lexicon import Sort, is_person, lexicon, stem
from amem.language.numerals import CARDINALS, MONTHS, ORDINALS, WEEKDAYS
from amem.language.scripts import CJK, ENGLISH, Patterns, word_list, words
from amem.language.sentence_parts import sentence_ends
from amem.language.terms import contract

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_pattern = Patterns("word_reading", cjk=CJK)

#: What a word that the lexicon does not have is good for, by the first letter of Jieba's mark; others are nouns.
_BY_MARK = {
    **dict.fromkeys("rpcuyeoh", Sort.STOP),
    **dict.fromkeys("mq", Sort.NUMBER),
    **dict.fromkeys("vadzbfk", Sort.WEAK),
    "t": Sort.TIME,
}

_QUOTES = frozenset("\"'“‘「『(（")
_COLONS = frozenset(":：")
#: Longer "words" are data (base64, a row of hashes), which says nothing to a reader.
_LONGEST = 64
_BEFORE_VERB = word_list("before a verb")
_BEFORE_NOUN = word_list("before a noun")
_NUMERALS = frozenset((*CARDINALS, *ORDINALS)) | words(
    "hundred hundreds thousand thousands million half quarter dozen km kg g mg ml cl cm mm lb lbs oz ft mb "
    "gb tb kb hz khz ghz eur usd gbp pct min mins hrs sec secs "
)
#: They say what sort of sentence follows, not what it is about.
_FRAMES = words("decision question reminder update idea reason cause fix topic note notes")
#: Short forms of chats that stand for function words.
_CHAT = words("bc cuz coz tho thru u ur r tbh idk imo imho asap wanna kinda sorta lemme dunno abt rn w/ w/o irl")
_SYNTAX = word_list("syntax")


@dataclass(slots=True)
class Word:
    """One word of a note. `key` is what makes two words the same: its stem, or the word itself in Chinese."""

    text: str
    start: int
    end: int
    key: str
    sort: Sort
    sentence: int = 0
    gap: bool = False
    """Whether more than a space lies between it and the word before."""
    first: bool = False
    """Whether it opens a sentence."""
    cjk: bool = False
    known: bool = True
    """Whether the lexicon has it."""
    capital: bool = False
    shaped: bool = False
    """Whether it looks like an identifier, an acronym, a version, a path."""
    verb: bool = False
    possessive: bool = False
    person: bool = False
    place: bool = False
    mark: str = ""
    """Jieba's mark of a Chinese word: n for nouns, nr for names."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A note's text, its sentences as (start, end), its words in order, and its language."""

    text: str
    sentences: tuple[tuple[int, int], ...]
    words: tuple[Word, ...]
    chinese: bool

    def sentence(self, index: int) -> str:
        """The text of one sentence, stripped."""
        start, end = self.sentences[index]
        return self.text[start:end].strip()


@lru_cache(maxsize=256)
def read(text: str) -> Reading:
    """Take `text` apart. Cached, since analysis and evolution read the same notes one after the other."""
    sentences = _sentences(text)
    found: list[Word] = []
    at, last, end = 0, len(sentences) - 1, 0
    place = -1
    for match in _pattern.word.finditer(text):
        token, start = match[0], match.start()
        while at < last and start >= sentences[at][1]:
            at += 1
        first, place = place != at, at
        gap = first or (start > end and text[end:start] != " ")
        if is_cjk(token):
            made = _cjk_words(token, start)
            for word in made:
                word.sentence = at
            made[0].first, made[0].gap = first, gap
        else:
            made = [_latin_word(token, start, at, gap=gap, first=first)]
        found += made
        opening, end = made[0], made[-1].end
        # "Decision: ..." names what follows; a quotation begins with a capital of its own.
        if first and len(made) == 1 and opening.known and text[end : end + 1] in _COLONS:
            opening.sort = min(opening.sort, Sort.WEAK)
        if start and text[start - 1] in _QUOTES:
            opening.first = True
    _tell_verbs_from_nouns(found)
    return Reading(text, sentences, tuple(found), written_in_cjk(text))


def _sentences(text: str) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    start = 0
    for end in [*sentence_ends(text), len(text)]:
        if text[start:end].strip():
            spans.append((start, end))
            start = end
    return tuple(spans)


def _cjk_words(run: str, offset: int) -> list[Word]:
    """The words of Jieba's dictionary; what the lexicon has as one word, or names a person, is one."""
    import rjieba

    lists = lexicon()
    tokens = rjieba.tag(run, hmm=False)
    persons = _persons(run, tokens)
    ends = list(accumulate(len(token) for token, _ in tokens))
    found: list[Word] = []
    at = start = 0
    while at < len(tokens):
        text, mark = tokens[at]
        called = persons.get(start, ())
        size, person = 1, text in called
        for more in range(min(4, len(tokens) - at), 1, -1):
            joined = run[start : ends[at + more - 1]]
            if joined in lists.chinese or joined in called:
                text, size, person = joined, more, joined not in lists.chinese
                break
        known = text in lists.chinese
        sort = lists.chinese[text] if known else Sort.CONTENT if person else _BY_MARK.get(mark[0], Sort.CONTENT)
        end, place = start + len(text), text in lists.chinese_places
        found.append(
            Word(
                text,
                offset + start,
                offset + end,
                text,
                sort,
                mark=mark,
                cjk=True,
                known=known,
                person=person and not known,
                place=place,
            )
        )
        at, start = at + size, end
    return found


def _persons(run: str, listed: Sequence[tuple[str, str]]) -> dict[int, set[str]]:
    """How persons are called in a run, by where it begins: by surname and title, or by a name that Jieba guesses.

    A longer word that its dictionary lists is none: 龙井茶.
    """
    import rjieba

    found: defaultdict[int, set[str]] = defaultdict(set)
    for match in _pattern.called.finditer(run):
        found[match.start()].add(match[0])
    start = 0
    for text, mark in rjieba.tag(run, hmm=True):
        if (
            mark.startswith("nr")
            and _pattern.full_name.fullmatch(text)
            and (len(text) == 2 or (text, mark) not in listed)
        ):
            # 林悦会: of three characters the last may be the next word.
            ends = len(text) == 3 and lexicon().chinese.get(text[2], Sort.CONTENT) <= Sort.WEAK
            found[start].add(text[:2] if ends else text)
        start += len(text)
    return found


def _latin_word(token: str, offset: int, sentence: int, *, gap: bool, first: bool) -> Word:
    text, key, sort, traits = _look_up(token)
    return Word(text, offset, offset + len(text), key, sort, sentence, gap, first, *traits)


_Traits = tuple[bool, bool, bool, bool, bool, bool, bool, bool]


@lru_cache(maxsize=1 << 15)
def _look_up(token: str) -> tuple[str, str, Sort, _Traits]:
    """Of a Latin word its text without clitic, key and sort, and its fields from `cjk` to `place`."""
    lists = lexicon()
    if len(token) > _LONGEST or _pattern.byte.fullmatch(token):
        return token, token, Sort.STOP, (False, False, token[:1].isupper(), False, False, False, False, False)
    contracted = contract(token)
    bare = token[: len(contracted)] if token.startswith(contracted) else token
    folded, key = contracted.casefold(), stem(contracted)
    capital, possessive = bare[:1].isupper(), len(bare) < len(token)
    shaped = _pattern.shaped.fullmatch(bare) is not None
    number = (_pattern.number.fullmatch(bare) and not (shaped and bare.startswith("v"))) or folded in _NUMERALS
    inflected = key in ENGLISH and folded.endswith(("s", "ed", "ing"))
    stop = folded in ENGLISH or inflected or folded in _SYNTAX or folded in _CHAT or (len(folded) == 1 and not shaped)
    if number or stop:
        sort = Sort.NUMBER if number else Sort.STOP
        return bare, key, sort, (False, True, capital, False, False, possessive, False, False)
    known = key in lists.known
    shaped &= not (bare.isupper() and known and key not in lists.cues)
    sort, verb = (Sort.CONTENT, False) if shaped else (_sort(folded, key), key in lists.verbs)
    named = is_person(contracted), folded in lists.places
    return bare, key, sort, (False, known, capital, shaped, verb, possessive, *named)


#: Characters of a day or month cut short.
_SHORT_DAY = 3


def _sort(folded: str, key: str) -> Sort:
    lists = lexicon()
    if key in lists.times and not (len(key) == _SHORT_DAY and folded.endswith(("ing", "ings"))):  # no wedding is a Wed
        return Sort.TIME
    cue = key in lists.cues
    if lists.is_noun_trigger(folded):
        return Sort.CONTENT
    if folded in _FRAMES:
        return Sort.WEAK
    if key in lists.verbs:
        return lists.cue_sort(key) if folded in lists.triggers and folded.endswith("ing") else Sort.WEAK
    if key in lists.reactions or (key in lists.adjectives and lists.cues.get(key) != 2):
        return Sort.WEAK
    if cue:
        return lists.cue_sort(key)
    if key in lists.nouns:
        return Sort.COMMON
    if folded.endswith("ly") and len(folded) > 5:
        return Sort.WEAK
    return Sort.CONTENT


def _tell_verbs_from_nouns(words: Sequence[Word]) -> None:
    """Settle the words that may be either by the word before them, and take "of course" for what it is."""
    lists = lexicon()
    nouns, cues = lists.nouns, lists.cues
    before: Word | None = None
    for word in words:
        # Nothing else may be either.
        if before is not None and (word.verb or word.key == "cours") and not word.gap and not word.cjk:
            previous = before.text.casefold()
            if previous == "of" and word.key == "cours":
                word.sort = Sort.STOP
            elif word.verb and previous in _BEFORE_NOUN and (word.key in nouns or word.key in cues):
                word.sort, word.verb = (lists.cue_sort(word.key) if word.key in cues else Sort.COMMON), False
            elif word.verb and previous in _BEFORE_VERB and not word.text.endswith("ing"):
                word.sort = Sort.WEAK
        before = word


_MOST = 12
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
    found = [Name(match[0], match.start(), match.end(), date=True) for match in _pattern.date.finditer(reading.text)]
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
    marked = [
        (word.capital or word.shaped) and not word.cjk and _is_name(reading, i, shouted, elsewhere)
        for i, word in enumerate(words)
    ]
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
