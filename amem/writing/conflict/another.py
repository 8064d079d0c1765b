"""Two of a kind: the second batch is not the first, and the kitchen's tap is not the bathroom's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.facts.objects import is_everyday
from amem.text.scripts import CJK
from amem.text.stopwords import words
from amem.writing.conflict.words import concepts

if TYPE_CHECKING:
    from collections.abc import Sequence

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
#: "Seat 4 is ...", "Locker 12: ...", "4. ...", 12号柜……: which one it is that is spoken of, by its number.
_NUMBERED = re.compile(
    r"\W*(?:the )?(?P<kind>[a-z]{3,}) (?:no\.? |number |#)?(?P<which>\d+[a-z]?)(?=:| [a-z]|\s*[-–—])"
    r"|\W*(?P<list>\d+)[.)、](?=\D)|\W*(?P<which_zh>\d+)(?P<kind_zh>号[\u4e00-\u9fff]?|房|室|柜|层|栋)",
    re.IGNORECASE,
)
#: What is numbered and yet replaced by the next: the number is its value.
_VALUES = words("version release build phase stage level age page chapter about only just still costs cost")
_OWNED = re.compile(rf"\W*(?P<whose>[{CJK}]{{2,8}}?)的(?P<thing>[{CJK}]{{2,}})")
#: They say when or of whom, and not which one.
_ANY = words("现在 目前 如今 当前 眼下 以前 从前 之前 原来 原先 最新 最近 我们 咱们 他们 她们 自己 大家 公司 团队 项目")


def two_of_a_kind(one: Statement, other: Statement) -> bool:
    """Whether both clauses begin with things of one kind that are not the same thing."""
    if _other_item(one.around or one.text, other.around or other.text):
        return True
    return _other_number(one.text, other.text) or _other_owner(one, other)


def items_of(statements: Sequence[Statement]) -> list[Statement]:
    """The statements of a note that say the same of several things in other numbers: items of a list.

    Another item with a number of its own is no other value of one of these: "Gate A opens at 6. Gate B opens at 7."
    """
    return [
        one
        for one in statements
        if one.about and any(_is_item_beside(one, other) for other in statements if other is not one)
    ]


def _is_item_beside(one: Statement, other: Statement) -> bool:
    apart = one.values != other.values or one.names.keys() != other.names.keys()
    same = one.about.keys() - one.names.keys() == other.about.keys() - other.names.keys()
    return apart and same and bool(one.values and other.values)


def _other_number(one: str, other: str) -> bool:
    for pattern in (_ENGLISH, _CHINESE):
        first, second = pattern.match(one), pattern.match(other)
        if first and second and first["kind"].casefold() == second["kind"].casefold():
            return first["which"].casefold() != second["which"].casefold()
    return False


def _other_item(one: str, other: str) -> bool:
    """Whether both begin with the number of an item, and not the same: of a list, of lockers, of rooms."""
    first, second = _NUMBERED.match(one), _NUMBERED.match(other)
    if not (first and second):
        return False
    mine, yours = (((each["kind"] or each["kind_zh"] or "").casefold()) for each in (first, second))
    if mine != yours or not _VALUES.isdisjoint(mine.split()):
        return False
    if mine.isascii() and not all(map(is_everyday, mine.split())):
        return False  # "PostgreSQL 15" and "PostgreSQL 16" are one thing
    return (first["which"] or first["which_zh"] or first["list"]) != (
        second["which"] or second["which_zh"] or second["list"]
    )


def _other_owner(one: Statement, other: Statement) -> bool:
    first, second = _OWNED.match(one.text), _OWNED.match(other.text)
    if not (first and second) or first["thing"][:2] != second["thing"][:2]:
        return False
    mine, yours = first["whose"], second["whose"]
    told = concepts(mine)[0] in one.about and concepts(yours)[0] in other.about
    return told and mine not in yours and yours not in mine and not {mine, yours} & _ANY
