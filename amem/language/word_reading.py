"""A note taken apart once: its sentences and words, each with what the lexicon knows of it."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from amem.language import is_cjk, written_in_cjk
from amem.language.lexicon import Sort, is_person, lexicon, stem
from amem.language.numerals import CARDINALS, ORDINALS
from amem.language.scripts import CJK, ENGLISH, word_list, words
from amem.language.sentence_parts import sentence_ends
from amem.language.terms import contract

if TYPE_CHECKING:
    from collections.abc import Sequence


_SURNAMES = (
    "王李张刘陈杨黄赵周吴徐孙马朱胡郭何林高罗郑梁谢宋唐许邓韩冯曹彭曾肖萧田董潘袁蔡蒋余杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范"
    "汪廖石金韦贾夏付方邹熊孟秦邱江尹薛闫雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔汤"
)
#: How Chinese persons are called: 小王, 王医生, and by a name that Jieba found.
_CALLED = re.compile(
    rf"[小老阿][{_SURNAMES}]|[{_SURNAMES}](?:老师|医生|教授|经理|先生|女士|小姐|主任|师傅|大夫|律师|总|哥|姐|工)"
)
_FULL_NAME = re.compile(rf"[{_SURNAMES}][{CJK}]{{1,2}}")
#: What a word that the lexicon does not have is good for, by the first letter of Jieba's mark; others are nouns.
_BY_MARK = {
    **dict.fromkeys("rpcuyeoh", Sort.STOP),
    **dict.fromkeys("mq", Sort.NUMBER),
    **dict.fromkeys("vadzbfk", Sort.WEAK),
    "t": Sort.TIME,
}

_PART = rf"[^\W_{CJK}]+"
_WORD = re.compile(
    rf"[{CJK}]+"
    rf"|https?://[^\s{CJK}<>\"，。）)]+"
    rf"|(?<![\w.])[.~]{{0,2}}(?:/[\w.\-]*[\w\-])++/?"
    rf"|(?:(?<!_)_++)?{_PART}(?:(?:['’.\-+@&]|_+){_PART})*(?:\+\+|\#(?!\w)|%)?"
)
_SHAPED = re.compile(
    r".*[_@/].*|https?:.*|v?\d+(?:\.\d+)+[\w.\-]*|.*[a-z0-9].*[A-Z].*|.*\w\.\w{2,4}|[A-Z]{2,}s?|[A-Z]+\d+\w*|.+(?:\+\+|#)"
)
_VERSION = re.compile(r"v?\d+(?:\.\d+)*[a-z]?\d?")
_NUMBER = re.compile(r"[\d.,:/\-]+(?:st|nd|rd|th|am|pm|%|k|s|x|ms|km|kg|g|ml|cm|mm|m|h)?", re.IGNORECASE)
_QUOTES = frozenset("\"'“‘「『(（")
_COLONS = frozenset(":：")
_BYTE = re.compile(r"x[0-9A-Fa-f]{2}")
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
    at = 0
    place = -1
    for match in _WORD.finditer(text):
        while at < len(sentences) - 1 and match.start() >= sentences[at][1]:
            at += 1
        first, place = place != at, at
        token = match[0]
        gap = bool(found) and text[found[-1].end : match.start()] not in ("", " ")
        made = _cjk_words(token, match.start()) if is_cjk(token) else [_latin_word(token, match.start())]
        made[0].first, made[0].gap = first, gap or first
        for word in made:
            word.sentence = at
        # "Decision: ..." names what follows; a quotation begins with a capital of its own.
        if first and len(made) == 1 and made[0].known and text[made[0].end : made[0].end + 1] in _COLONS:
            made[0].sort = min(made[0].sort, Sort.WEAK)
        if match.start() and text[match.start() - 1] in _QUOTES:
            made[0].first = True
        found += made
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
    for match in _CALLED.finditer(run):
        found[match.start()].add(match[0])
    start = 0
    for text, mark in rjieba.tag(run, hmm=True):
        if mark.startswith("nr") and _FULL_NAME.fullmatch(text) and (len(text) == 2 or (text, mark) not in listed):
            # 林悦会: of three characters the last may be the next word.
            ends = len(text) == 3 and lexicon().chinese.get(text[2], Sort.CONTENT) <= Sort.WEAK
            found[start].add(text[:2] if ends else text)
        start += len(text)
    return found


def _latin_word(token: str, offset: int) -> Word:
    key, bare, sort, known, shaped, verb, person, place = _look_up(token)
    return Word(
        bare,
        offset,
        offset + len(bare),
        key,
        sort,
        known=known,
        capital=bare[:1].isupper(),
        shaped=shaped,
        verb=verb,
        possessive=len(bare) < len(token),
        person=person,
        place=place,
    )


@lru_cache(maxsize=1 << 15)
def _look_up(token: str) -> tuple[str, str, Sort, bool, bool, bool, bool, bool]:
    """Of a Latin word: key, text without clitic, sort, known, shaped, verb, person, place."""
    lists = lexicon()
    if len(token) > _LONGEST or _BYTE.fullmatch(token):
        return token, token, Sort.STOP, False, False, False, False, False
    contracted = contract(token)
    bare = token[: len(contracted)] if token.startswith(contracted) else token
    folded = contracted.casefold()
    key = stem(contracted)
    named = is_person(contracted), folded in lists.places
    shaped = _SHAPED.fullmatch(bare) is not None
    if _NUMBER.fullmatch(bare) and not (shaped and bare.startswith("v")):
        return key, bare, Sort.NUMBER, True, False, False, False, False
    if folded in _NUMERALS:
        return key, bare, Sort.NUMBER, True, False, False, False, False
    inflected = key in ENGLISH and folded.endswith(("s", "ed", "ing"))
    if folded in ENGLISH or inflected or folded in _SYNTAX or folded in _CHAT or (len(folded) == 1 and not shaped):
        return key, bare, Sort.STOP, True, False, False, False, False
    if shaped and not (bare.isupper() and key in lists.known and key not in lists.cues):
        return key, bare, Sort.CONTENT, key in lists.known, True, False, *named
    known = key in lists.known
    verb = key in lists.verbs
    return key, bare, _sort(folded, key), known, False, verb, *named


def _sort(folded: str, key: str) -> Sort:
    lists = lexicon()
    if key in lists.times:
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
        if before is not None and not word.gap and not word.cjk:
            previous = before.text.casefold()
            if previous == "of" and word.key == "cours":
                word.sort = Sort.STOP
            elif word.verb and previous in _BEFORE_NOUN and (word.key in nouns or word.key in cues):
                word.sort, word.verb = (lists.cue_sort(word.key) if word.key in cues else Sort.COMMON), False
            elif word.verb and previous in _BEFORE_VERB and not word.text.endswith("ing"):
                word.sort = Sort.WEAK
        before = word
