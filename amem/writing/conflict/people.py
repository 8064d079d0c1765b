"""Of whom a clause speaks: who stands where its subject does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.lexicon import Sort
from amem.truth.subjects import USER, WE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.llm.offline.reading import Word

#: Somebody who was named before, or nobody that the clause names.
THIRD = frozenset({"he", "she", "they"})
#: Between somebody's name and what somebody else is to them.
OF = "'s "
_PRONOUNS = {
    **dict.fromkeys(("i", "i'm", "i've", "my", "me", "mine", "我", "本人", "俺", "自己"), USER),
    **dict.fromkeys(("we", "we're", "our", "us", "我们", "咱们", "咱"), WE),
    **dict.fromkeys(("he", "his", "him", "他"), "he"),
    **dict.fromkeys(("she", "her", "她"), "she"),
    **dict.fromkeys(("they", "their", "他们", "她们"), "they"),
}
_OURS = frozenset({"my", "our", "me", "us", "我", "我们"})
_OWNERS = frozenset({"my", "our", "我", "我们", "your", "his", "her", "their", "他", "她"})
#: Who is meant by what they are to somebody; "my brother" is not I.
_KIN = {
    name: row.split()[0]
    for row in (
        "brother 哥哥 弟弟 哥 弟 兄弟",
        "sister 姐姐 妹妹 姐 妹",
        "mother mom mum mommy 妈妈 妈 母亲 老妈 我妈",
        "father dad daddy 爸爸 爸 父亲 老爸 我爸",
        "parent parents 父母 爸妈",
        "son 儿子",
        "daughter 女儿",
        "child kid kids children 孩子 娃 宝宝",
        "wife 妻子 老婆 太太 媳妇",
        "husband 丈夫 老公",
        "partner 伴侣 对象",
        "girlfriend 女朋友 女友",
        "boyfriend 男朋友 男友",
        "cousin 表哥 表弟 表姐 表妹 堂哥 堂弟 堂姐 堂妹",
        "uncle 叔叔 舅舅 伯伯 姑父 姨夫",
        "aunt auntie 阿姨 姑姑 姨妈 舅妈 婶婶",
        "grandma grandmother granny nan 奶奶 外婆 姥姥",
        "grandpa grandfather granddad 爷爷 外公 姥爷",
        "nephew 侄子 外甥",
        "niece 侄女 外甥女",
        "friend 朋友 闺蜜",
        "roommate flatmate 室友",
        "neighbour neighbor 邻居",
        "colleague coworker 同事",
        "boss manager 老板 上司 领导",
    )
    for name in row.split()
} | {
    "表哥": "表哥",
    "表弟": "表弟",
    "表姐": "表姐",
    "表妹": "表妹",
    "堂哥": "堂哥",
    "堂弟": "堂弟",
    "堂姐": "堂姐",
    "堂妹": "堂妹",
}
_AND = frozenset({"and", "&", "和", "与", "跟"})
_IS_OURS = re.compile(r"\b(?:is|are|was|were)(?: now)? (?:my|our)\b|是我们?的", re.IGNORECASE)
#: So many words may stand before the subject.
_FROM_START = 7


def people_of(words: Sequence[Word], named: Mapping[str, str]) -> frozenset[str]:
    """The subject's people, by name, kin or pronoun; empty where the subject is a thing or was left out."""
    found: set[str] = set()
    owner = ""
    ours = any(word.text.casefold() in _OURS for word in words)
    for at, word in enumerate(words[:_FROM_START]):
        folded = word.text.casefold()
        following = words[at + 1].text.casefold() if at + 1 < len(words) else ""
        if folded in _KIN and _is_meant(words, at):
            found.add(f"{owner}{OF}{_KIN[folded]}" if owner else _KIN[folded])
        elif word.key in named and _of_kin(words, at):
            owner = word.key  # "Peter's wife" is not Peter
        elif word.key in named:
            found.add(word.key)
        elif folded in _PRONOUNS:
            if folded in _OWNERS and following in _KIN:
                continue
            # "They moved our flight" is about our flight.
            if _PRONOUNS[folded] not in THIRD or not ours:
                found.add(_PRONOUNS[folded])
            break
        elif folded not in _AND and (word.sort >= Sort.WEAK or (found and word.sort is not Sort.TIME)):
            break
    if found and _IS_OURS.search(" ".join(word.text for word in words)):
        found.add(USER)  # "Robin is my dentist" is about me, too
    return frozenset(found)


def kin(word: Word) -> tuple[str, ...]:
    """The name under which a word for kin goes in any language; empty for any other word."""
    name = _KIN.get(word.text.casefold())
    return () if name is None else (name,)


def _of_kin(words: Sequence[Word], at: int) -> bool:
    following = [word.text.casefold() for word in words[at + 1 : at + 3] if word.text != "的"][:1]
    return (words[at].possessive or words[at].cjk) and bool(following) and following[0] in _KIN


def _is_meant(words: Sequence[Word], at: int) -> bool:
    """ "My child", "Grandpa Emil" and 我爸 are somebody; "as a child" is not."""
    word = words[at]
    before = words[at - 1].text.casefold() if at else ""
    return word.cjk or at == 0 or word.capital or before in _OWNERS or words[at - 1].possessive
