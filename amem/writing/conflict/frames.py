"""Two sentences that are the same but for one word or two: "The statue is made of bronze", "... of marble"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.text import is_cjk
from amem.text.scripts import CJK
from amem.text.stopwords import CHINESE_CHARACTERS, ENGLISH, words

if TYPE_CHECKING:
    from amem.writing.conflict.statement import Statement

_TOKEN = re.compile(rf"[{CJK}]|[^\W_]+(?:['’.:\-][^\W_]+)*")
#: So much of the shorter sentence has to be the same, and so little may differ.
_SAME, _LONGEST, _LONGEST_CHINESE = 0.5, 3, 5
_PRONOUNS = words("it this that these those them him her me us you everyone everybody so what which who")
_PREPOSITIONS = words("in at on from to by under near of behind beside until till 在 到 从 由 归 往")
#: Of these one has or does any number: two of them are no contradiction.
_MANY = re.compile(
    r"\b(?:likes?|loves?|knows?|speaks?|plays?|ha(?:s|ve|d)|owns?|sells?|reads?|watch\w*|eats?|drinks?|buys?|bought|visit\w*"
    r"|learn\w*|stud(?:y|ies|ied|ying)|supports?|uses?|met|saw|includes?|contains?|wants?|needs?|said|says?|asked|told"
    r"|also|too|another|invited?|hired?|works? with|recommends?)\b"
    r"|喜欢|爱|认识|会说|会(?=弹|拉|用|做)|有|养|买|卖|读|看过|吃|喝|学|支持|用|去过|见|想|说|问|也|还|邀请|推荐|参加",
    re.IGNORECASE,
)


def one_word_apart(old: Statement, new: Statement, *, at_once: bool = False) -> bool:
    """Whether two clauses begin the same, with what they are about, and differ in one short place that holds a value:
    a name, or what stands behind a preposition (said `at_once`, any noun). Not of what one may have many of."""
    one, other = _TOKEN.findall(old.text), _TOKEN.findall(new.text)
    head = _common(one, other)
    tail = min(_common(one[::-1], other[::-1]), len(one) - head, len(other) - head)
    first, second = one[head : len(one) - tail], other[head : len(other) - tail]
    longest = _LONGEST_CHINESE if one and is_cjk(one[0]) else _LONGEST
    if head < 2 or not first or not second or max(len(first), len(second)) > longest:
        return False
    if head + tail < _SAME * min(len(one), len(other)) or has_many(old.text) or has_many(new.text):
        return False
    if any(token.casefold() in _PRONOUNS for token in (*first, *second)):
        return False
    value = any(token.casefold() in _PREPOSITIONS for token in (one[head - 1], one[head - 2], first[0], second[0]))
    value = value or (at_once and _nouns(old, new))
    value = value or (is_cjk(one[0]) and tail >= 2)
    if not value and not (_named(first, old) and _named(second, new)):
        return False
    return any(token.casefold() not in ENGLISH and token not in CHINESE_CHARACTERS for token in one[:head])


def _nouns(old: Statement, new: Statement) -> bool:
    """Whether each goes on with one noun that the other lacks: "are slate", "are clay"."""
    mine = [weight for key, weight in old.about.items() if key not in new.about]
    yours = [weight for key, weight in new.about.items() if key not in old.about]
    return len(mine) == len(yours) == 1 and min(*mine, *yours) >= 1


def _named(tokens: list[str], statement: Statement) -> bool:
    """Whether these words are a name, and nothing but one."""
    if is_cjk(tokens[0]):
        said = "".join(tokens)
        return any(name in said and len(said) <= len(name) + 1 for name in statement.names.values())
    return tokens[-1][:1].isupper() and all(token[:1].isupper() or token.casefold() in ENGLISH for token in tokens)


def has_many(text: str) -> bool:
    """Whether a clause tells of something that one may have, know or do many of."""
    return _MANY.search(text) is not None


def _common(one: list[str], other: list[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a.casefold() != b.casefold()), min(len(one), len(other)))
