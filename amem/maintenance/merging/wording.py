"""What a text says, as words in an order that can be compared: times and numbers in one form, empty words left out.

Vectors cannot tell "3 May" from "4 May", "tea to coffee" from "coffee to tea", or almost any two Chinese texts. So two
texts count as the same only when the words that matter are the same, in the same order; only when something is may
stand at either end of a sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.maintenance.merging.numerals import digits, number_word
from amem.maintenance.merging.times import take_out_times
from amem.text import index_terms, normalize, sentences, written_in_cjk
from amem.text.scripts import CJK, is_cjk
from amem.text.stopwords import words

if TYPE_CHECKING:
    from collections.abc import Iterable

_TOKEN = re.compile(rf"[{CJK}]|\d+(?:[.:/]\d+)*%?|[^\W\d_{CJK}]+(?:[.\-_+'’]?[^\W_{CJK}]+)*(?:\+\+|\#)?|[%€$£°]")
_NUMBER = re.compile(r"v?\d+(?:[.:/]\d+)*%?")
_CLAUSE = re.compile(r"[，。；！？,;!?]+")
#: Say nothing that would be missed; "also" and the like tie a sentence to what stood before it.
_LIGHT = words("a an the is are am be been please remember note reminder fyi that our also btw of")
_LIGHT_CHARACTERS = frozenset("的了吧呢啊呀嘛哦哈")
_LIGHT_OPENINGS = re.compile(r"^(?:请?(?:记住|记得|注意|提醒一下|备注)[：:，,]?)")
#: Ways to say the same, in one form; read before a text is taken into words.
_PARAPHRASES = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"\b(is|are|am) (?:called|named)\b", r"\1"),
        (r"\b(?:works?|working|employed) as\b", "is"),
        (r"\b(?:have|has) (?:an? )?allerg(?:y|ies) to\b", "is allergic to"),
        (r"\brelocat(e[ds]?|ing)\b", r"mov\1"),
        (r"\b(?:really|very much|actually)\b ?", ""),
        (r"\bper (day|week|month|year|hour|night|person)\b", r"a \1"),
        (r"每[一个]?个?(天|周|月|年|晚|星期)", r"每\1"),
        (r"住在", "住"),
        (r"这(?:个|家|间|台|款)", ""),
        (r"用的是|使用的是|用了|在用|使用", "用"),
        (r"(?:很|特别|非常)?喜欢(?=[喝吃看听玩])|(?:很|特别|非常)?爱(?=[喝吃看听玩])", "喜欢"),
        (r"吃(.{1,6}?)会过敏", r"对\1过敏"),
        (r"(?<=[^\W\d_])在(.{2,8}?)当", r"是\1"),
        (rf"(?<=[{CJK}])[:：](?=\s*\S)", "是"),
    )
)
_IS = re.compile(r"\s(?:is|are)\s|(?<=.)是(?=.)")
_ED = re.compile(r"[a-z]{2,}ed")
#: Words of no weight once the facts of two texts are the same; which way something goes is never one of them.
_TIES = words("of to at in on as for has have it there")
#: What stands after one of these is bound to it: "from Lisbon to Porto" is not "from Porto to Lisbon".
_BINDING = words("from than before after by with over under near without instead against between besides")
#: Whose something is can be left unsaid, but not be said to be somebody else's.
_WHOSE = words("his her its their")
_CONTRACTED = {"'m": " am", "'re": " are", "'ve": " have", "'ll": " will", "n't": " not", "cannot": "can not"}
_CONTRACTION = re.compile(r"(?:'(?:m|re|ve|ll)|n't)\b|\bcannot\b")
_USER = re.compile(r"\bthe user\b")
_NEGATIONS = words("not no never none neither nor without nobody nothing hardly rarely seldom stop stopped quit dont")
_CHINESE_NEGATIONS = frozenset("不没无非别未勿莫禁否")
#: What comes after one of these takes back or limits what was said.
_LIMITING = words("but however except unless if although though instead only until whereas yet maybe perhaps might")
_CHINESE_LIMITING = re.compile(r"但|不过|除|如果|要是|若|只|然而|否则|可能|也许|直到")
#: A sentence may go on with one of these and still say what it said before.
_GOES_ON = words("for with because as so and at in on from by near since via")


@dataclass(frozen=True, slots=True)
class Wording:
    """One sentence (of Chinese: one clause): its `text`, its words in order, whose things are."""

    text: str
    words: tuple[str, ...]
    whose: tuple[str, ...] = ()

    @property
    def limits(self) -> bool:
        """Whether it takes back or limits what stands beside it."""
        return not _LIMITING.isdisjoint(self.words) or _CHINESE_LIMITING.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class Said:
    """What a text says: its sentences, and of the whole its numbers, times, denials and questions."""

    sentences: tuple[Wording, ...]
    numbers: tuple[tuple[str, int], ...]
    times: tuple[tuple[str, ...], ...]
    denials: int
    questions: int


@lru_cache(maxsize=512)
def said(text: str) -> Said:
    """Take a text apart."""
    plain = _plain(text)
    bare, times = take_out_times(plain)
    tokens = [token for token, _ in _tokens(bare)]
    return Said(
        sentences=tuple(filter(lambda each: each.words, map(_wording, _pieces(text)))),
        numbers=tuple(sorted(Counter(token for token in tokens if _NUMBER.fullmatch(token)).items())),
        times=times,
        denials=sum(token in _NEGATIONS or token in _CHINESE_NEGATIONS for token in tokens),
        questions=text.count("?") + text.count("？"),
    )


def denied(said: Said) -> set[tuple[str, str]]:
    """Each word of denial with the word after it: what is denied."""
    return {
        (word, after)
        for sentence in said.sentences
        for word, after in zip(sentence.words, (*sentence.words[1:], ""), strict=True)
        if word in _NEGATIONS or word in _CHINESE_NEGATIONS
    }


def same_words(one: Wording, other: Wording) -> bool:
    """Whether two sentences say the same with the same words."""
    return one.words == other.words and (not one.whose or not other.whose or one.whose == other.whose)


def goes_further(one: Wording, other: Wording) -> bool:
    """Whether `one` says all that `other` says, in its words, and then goes on: "... for the second shelf"."""
    rest = one.words[len(other.words) :]
    begins = one.words[: len(other.words)] == other.words and one.whose[: len(other.whose)] == other.whose
    return begins and bool(rest) and rest[0] in _GOES_ON and not one.limits


def reordered(one: Wording, other: Wording, stated: Iterable[str]) -> bool:
    """Whether two sentences differ only in where they say what is `stated` of both; the rest must stand in order."""
    known = {stem for text in stated for _, stem in _tokens(_plain(text))}
    first, second = (_bound(each) for each in (one, other))
    rest = [[word for word in words if word not in known] for words in (first, second)]
    return rest[0] == rest[1] and sorted(first) == sorted(second)


def _bound(sentence: Wording) -> list[str]:
    """A sentence's words, those that a preposition gives a direction together with it, without ties."""
    pairs = zip(("", *sentence.words), sentence.words, strict=False)
    bound = [f"{before} {word}" if before in _BINDING else word for before, word in pairs]
    return [each for each in bound if each not in _TIES and each not in _BINDING and each != "是"]


def turned_round(one: Wording, other: Wording) -> bool:
    """Whether one sentence says "A is B" where the other says "B is A"."""
    sides = [_IS.split(_plain(each.text)) for each in (one, other)]
    if any(len(parts) != 2 for parts in sides):
        return False
    (first, second), (third, fourth) = ([_kept(part) for part in parts] for parts in sides)
    return bool(first and second) and first == fourth and second == third


def covers(one: Wording, other: Wording) -> bool:
    """Whether `one` says what `other` says, or more."""
    return same_words(one, other) or goes_further(one, other)


def _pieces(text: str) -> list[str]:
    if not written_in_cjk(text):
        return sentences(text)
    return [piece for sentence in sentences(text) for piece in _CLAUSE.split(sentence) if piece.strip()]


def _wording(text: str) -> Wording:
    tokens = _tokens(take_out_times(_plain(text))[0])
    return Wording(text.strip(), _weighty(tokens), tuple(token for token, _ in tokens if token in _WHOSE))


def _plain(text: str) -> str:
    """A sentence in folded letters and digits, its opening left out, ways to say the same in one form."""
    plain = _LIGHT_OPENINGS.sub("", digits(normalize(text)))
    for pattern, instead in _PARAPHRASES:
        plain = pattern.sub(instead, plain)
    return plain


def _kept(plain: str) -> tuple[str, ...]:
    return _weighty(_tokens(take_out_times(plain)[0]))


def _weighty(tokens: list[tuple[str, str]]) -> tuple[str, ...]:
    left_out = _LIGHT | _LIGHT_CHARACTERS | _WHOSE
    return tuple(stem for token, stem in tokens if token not in left_out)


def _tokens(plain: str) -> list[tuple[str, str]]:
    """(token, what it counts as) of a text already folded."""
    spelled = _CONTRACTION.sub(lambda found: _CONTRACTED[found[0]], _USER.sub("i", plain))
    found: list[tuple[str, str]] = []
    for match in _TOKEN.finditer(spelled):
        token = number_word(match[0])
        found.append((token, token if is_cjk(token) or _NUMBER.fullmatch(token) else _stem(token)))
    return found


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    terms = index_terms(word)
    stem = terms[0] if terms else word
    # "used" is not "uses": what was need not be so any more.
    return f"{stem}-ed" if _ED.fullmatch(word) and stem != word else stem
