"""A note taken apart once: its sentences and words, each with what the lexicon knows of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.language import is_cjk, written_in_cjk
from amem.language.lexicon import Sort, is_person, lexicon, stem
from amem.language.numerals import CARDINALS, ORDINALS
from amem.language.scripts import CJK, ENGLISH, words
from amem.language.sentences import sentence_ends
from amem.language.terms import contract

if TYPE_CHECKING:
    from collections.abc import Sequence


# Where Chinese words begin and end, without a trained segmenter.
#
# The cheapest way through a run of characters wins: a word of the lexicon costs one, a person's name a little more, a
# character that fits neither more still. What stays unknown is kept together as one new word.

_UNKNOWN = 1.55
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵周吴徐孙马朱胡郭何林高罗郑梁谢宋唐许邓韩冯曹彭曾肖田董潘袁蔡蒋余杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范"
    "汪廖石金韦贾夏付方邹熊孟秦邱江尹薛闫雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔汤"
)
_GIVEN = frozenset(
    "伟芳娜敏静秀丽强磊军洋勇艳杰娟涛明超兰霞平刚桂英华文梅雷琳玲婷雪倩颖莉佳慧欣怡悦彤萱涵轩宇浩然博梓晨阳鑫凯峰鹏飞志建国"
    "庆春燕红玉珍凤洁云莲荣晶妍茜秋珊莎锦青嘉琼婉娴瑾瑞晓欢枫芸菲舒影思毅俊健斌辉永良海波宁福祥彬昌康星光达岩茂诚振豪哲泽楠若诗"
    "琪瑶梦妮芬莺薇蕾蓉丹丽月珠翠香芝媛岚苑馨纯露澜希琦淑惠美亮安东南岭"
)
_FAMILIAR = frozenset("小老阿")
_TITLES = ("老师", "医生", "教授", "经理", "先生", "女士", "小姐", "主任", "师傅", "大夫", "律师", "总", "哥", "姐")
#: A new word longer than this is a stretch of text the lexicon knows nothing of.
_LONGEST_NEW = 5


@dataclass(frozen=True, slots=True)
class Segment:
    """One word of a run: where it lies, what it is, whether the lexicon knew it and whether it names a person."""

    start: int
    end: int
    sort: Sort
    known: bool = True
    person: bool = False


def segment(run: str) -> list[Segment]:
    """Cut a run of CJK characters into words; the segments cover it without gaps."""
    size = len(run)
    words = lexicon().chinese
    longest = lexicon().longest_chinese
    best = [0.0] + [float("inf")] * size
    step: list[Segment | None] = [None] * (size + 1)
    for start in range(size):
        cost = best[start]
        if cost + _UNKNOWN < best[start + 1]:
            best[start + 1], step[start + 1] = cost + _UNKNOWN, Segment(start, start + 1, Sort.CONTENT, known=False)
        for end in range(start + 1, min(size, start + longest) + 1):
            sort = words.get(run[start:end])
            if sort is not None and cost + 1 < best[end]:
                best[end], step[end] = cost + 1, Segment(start, end, sort)
        for end in _names(run, start):
            if cost + 1.2 < best[end]:
                best[end], step[end] = cost + 1.2, Segment(start, end, Sort.CONTENT, known=False, person=True)
    found: list[Segment] = []
    place = size
    while place > 0:
        last = step[place]
        assert last is not None
        found.append(last)
        place = last.start
    return _joined(found[::-1])


def _names(run: str, start: int) -> list[int]:
    """Ends of the personal names that could begin at `start`."""
    first, second, third = run[start : start + 1], run[start + 1 : start + 2], run[start + 2 : start + 3]
    ends: list[int] = []
    if first in _FAMILIAR and second in _SURNAMES:
        ends.append(start + 2)
    if first in _SURNAMES:
        ends += [start + 1 + len(title) for title in _TITLES if run.startswith(title, start + 1)]
        if second in _GIVEN:
            ends.append(start + 2)
            if third in _GIVEN:
                ends.append(start + 3)
    return ends


def _joined(segments: list[Segment]) -> list[Segment]:
    """Neighbouring unknown characters as one new word, unless there are too many to be one."""
    joined: list[Segment] = []
    for part in segments:
        last = joined[-1] if joined else None
        if last is not None and not (last.known or last.person or part.known or part.person):
            joined[-1] = Segment(last.start, part.end, Sort.CONTENT, known=False)
        else:
            joined.append(part)
    return [
        Segment(part.start, part.end, Sort.WEAK, known=False)
        if not part.known and part.end - part.start > _LONGEST_NEW
        else part
        for part in joined
    ]


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
#: After these a word that could be either is a verb, after those a noun.
_BEFORE_VERB = words(
    "to i we you they he she it who will would can could should must may might not never dont didnt wont cant lets "
    "please always usually often just also and then"
)
_BEFORE_NOUN = words(
    "the a an my our your his her their its this that these those of for in on with some any no every each about from "
    "by at new old"
)
_NUMERALS = frozenset((*CARDINALS, *ORDINALS)) | words(
    "hundred hundreds thousand thousands million half quarter dozen km kg g mg ml cl cm mm lb lbs oz ft mb "
    "gb tb kb hz khz ghz eur usd gbp pct min mins hrs sec secs "
)
#: They say what sort of sentence follows, not what it is about.
_FRAMES = words("decision question reminder update idea reason cause fix topic note notes")
#: Short forms of chats that stand for function words.
_CHAT = words("bc cuz coz tho thru u ur r tbh idk imo imho asap wanna kinda sorta lemme dunno abt rn w/ w/o irl")
#: What code is made of says nothing about it.
_SYNTAX = words(
    "def return import elif else none true false self const let var func int str bool void print args kwargs"
)


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
    found: list[Word] = []
    for part in segment(run):
        text = run[part.start : part.end]
        found.append(
            Word(
                text,
                offset + part.start,
                offset + part.end,
                text,
                part.sort,
                cjk=True,
                known=part.known,
                person=part.person,
                place=text in lexicon().chinese_places,
            )
        )
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
