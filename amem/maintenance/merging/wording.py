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

from amem.maintenance.merging.numerals import digits, number_word
from amem.maintenance.merging.times import take_out_times
from amem.text import index_terms, normalize, sentences, written_in_cjk
from amem.text.scripts import CJK, is_cjk
from amem.text.stopwords import words

_TOKEN = re.compile(rf"[{CJK}]|\d+(?:[.:/]\d+)*%?|[^\W\d_{CJK}]+(?:[.\-_+'’]?[^\W_{CJK}]+)*(?:\+\+|\#)?|[%€$£°]")
_NUMBER = re.compile(r"v?\d+(?:[.:/]\d+)*%?")
_CLAUSE = re.compile(r"[，。；！？,;!?]+")
#: Say nothing that would be missed; "also" and the like tie a sentence to what stood before it.
_LIGHT = words("a an the is are am be been please remember note reminder fyi that our also btw of")
_LIGHT_CHARACTERS = frozenset("的了吧呢啊呀嘛哦哈")
_LIGHT_OPENINGS = re.compile(r"^(?:请?(?:记住|记得|注意|提醒一下|备注)[：:，,]?)")
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
    plain = digits(normalize(text))
    bare, times = take_out_times(plain)
    tokens = [token for token, _ in _tokens(bare)]
    return Said(
        sentences=tuple(filter(lambda each: each.words, map(_wording, _pieces(text)))),
        numbers=tuple(sorted(Counter(token for token in tokens if _NUMBER.fullmatch(token)).items())),
        times=times,
        denials=sum(token in _NEGATIONS or token in _CHINESE_NEGATIONS for token in tokens),
        questions=text.count("?") + text.count("？"),
    )


def same_words(one: Wording, other: Wording) -> bool:
    """Whether two sentences say the same with the same words."""
    return one.words == other.words and (not one.whose or not other.whose or one.whose == other.whose)


def goes_further(one: Wording, other: Wording) -> bool:
    """Whether `one` says all that `other` says, in its words, and then goes on: "... for the second shelf"."""
    rest = one.words[len(other.words) :]
    begins = one.words[: len(other.words)] == other.words and one.whose[: len(other.whose)] == other.whose
    return begins and bool(rest) and rest[0] in _GOES_ON and not one.limits


def covers(one: Wording, other: Wording) -> bool:
    """Whether `one` says what `other` says, or more."""
    return same_words(one, other) or goes_further(one, other)


def _pieces(text: str) -> list[str]:
    if not written_in_cjk(text):
        return sentences(text)
    return [piece for sentence in sentences(text) for piece in _CLAUSE.split(sentence) if piece.strip()]


def _wording(text: str) -> Wording:
    plain = _LIGHT_OPENINGS.sub("", digits(normalize(text)))
    tokens = _tokens(take_out_times(plain)[0])
    left_out = _LIGHT | _LIGHT_CHARACTERS | _WHOSE
    kept = tuple(stem for token, stem in tokens if token not in left_out)
    return Wording(text.strip(), kept, tuple(token for token, _ in tokens if token in _WHOSE))


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
    return terms[0] if terms else word
