"""Two of a kind: the second batch is not the first, and the kitchen's tap is not the bathroom's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.text.scripts import CJK
from amem.text.stopwords import words
from amem.writing.conflict.words import concepts

if TYPE_CHECKING:
    from amem.writing.conflict.statement import Statement

_ENGLISH = re.compile(
    r"\W*(?:(?:and|but|so|also|now)\W+)?(?:the|my|our|his|her|their|its) "
    r"(?P<which>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|next|\d+(?:st|nd|rd|th)) "
    r"(?P<kind>(?!of\b)[a-z]{2,})",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"\W*(?:这是?|我们?的?|[他她]的?)?第(?P<which>[一二三四五六七八九十百\d]{1,4})(?P<kind>[^\W\d层楼名])"
)
_OWNED = re.compile(rf"\W*(?P<whose>[{CJK}]{{2,8}}?)的(?P<thing>[{CJK}]{{2,}})")
#: They say when or of whom, and not which one.
_ANY = words("现在 目前 如今 当前 眼下 以前 从前 之前 原来 原先 最新 最近 我们 咱们 他们 她们 自己 大家 公司 团队 项目")


def two_of_a_kind(one: Statement, other: Statement) -> bool:
    """Whether both clauses begin with things of one kind that are not the same thing."""
    return _other_number(one.text, other.text) or _other_owner(one, other)


def _other_number(one: str, other: str) -> bool:
    for pattern in (_ENGLISH, _CHINESE):
        first, second = pattern.match(one), pattern.match(other)
        if first and second and first["kind"].casefold() == second["kind"].casefold():
            return first["which"].casefold() != second["which"].casefold()
    return False


def _other_owner(one: Statement, other: Statement) -> bool:
    first, second = _OWNED.match(one.text), _OWNED.match(other.text)
    if not (first and second) or first["thing"][:2] != second["thing"][:2]:
        return False
    mine, yours = first["whose"], second["whose"]
    told = concepts(mine)[0] in one.about and concepts(yours)[0] in other.about
    return told and mine not in yours and yours not in mine and not {mine, yours} & _ANY
