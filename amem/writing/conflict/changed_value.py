"""Two statements that differ by a value: numbers, dates, another name, another of its kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.language import is_cjk, written_in_cjk
from amem.language.scripts import CHINESE_CHARACTERS, CJK, ENGLISH, words
from amem.language.statements.objects import is_everyday
from amem.writing.conflict import cues
from amem.writing.conflict.cues import Cue, concepts
from amem.writing.conflict.grammar import Of
from amem.writing.conflict.likeness import (
    AT_ONCE,
    HALF,
    MOST,
    NEARLY_ALL,
    TELLING,
    Difference,
    How,
    but_for_names,
    cover,
    gained,
    same_people,
    same_subject,
    same_verb,
    shared,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.writing.conflict.candidates import Claim
    from amem.writing.conflict.statements import Statement


# Two sentences that are the same but for one word or two: "The statue is made of bronze", "... of marble".

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


# Two of a kind: the second batch is not the first, and the kitchen's tap is not the bathroom's.

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


# Another value for the same thing, with no word that says that anything changed.

_IT_WAS = re.compile(r"\W*(?:no\W+)?it was\b", re.IGNORECASE)
#: What two sentences count as having in common that are the same but for a word.
_SAME_BUT_FOR_A_WORD = 0.75


def other_value(old: Statement, new: Statement, earlier: Claim, later: Claim) -> Difference | None:
    """One thing, said in the same words but for one value."""
    disagree = later.true_at - earlier.true_at <= AT_ONCE and earlier.speaker != later.speaker
    if disagree and old.said and new.said and _somebody_else(old, new):
        return Difference(How.OTHER_VALUE, old, new, _SAME_BUT_FOR_A_WORD, _explicit(old, new))
    if _pointed_at(old) or _pointed_at(new):
        return None
    if not (old.claims and new.claims and same_subject(old, new) and same_verb(old, new)):
        return None
    if not (old.said and new.said) or old.past or new.past or old.negative != new.negative:
        return None
    if any(old.poles.get(pair, sign) != sign for pair, sign in new.poles.items()):
        return None
    forever = Cue.FOREVER in old.cues and Cue.FOREVER in new.cues
    if old.event and not forever and later.true_at - earlier.true_at > AT_ONCE:
        return None  # it may have happened twice
    if not same_people(old, new, earlier, later):
        return None
    least = _same_but_for_a_value(old, new, forever=forever, disagree=disagree)
    if least is not None:
        return Difference(How.OTHER_VALUE, old, new, least, _explicit(old, new), forever)
    if one_word_apart(old, new, at_once=disagree):
        return Difference(How.OTHER_WORD, old, new, _SAME_BUT_FOR_A_WORD, _explicit(old, new))
    return None


def _pointed_at(statement: Statement) -> bool:
    """ "It shows that everybody has a story": what it is said of is anybody's guess."""
    return statement.frame is not None and statement.frame.of is Of.POINTED_AT


def _same_but_for_a_value(old: Statement, new: Statement, *, forever: bool, disagree: bool) -> float | None:
    """How much of both is the same, where one number, day or (of what never changes) name is not; else None."""
    chinese = written_in_cjk(old.text)
    strict = chinese == written_in_cjk(new.text)  # words for what is counted are hard to tell across languages
    lost, came = gained(new, old, strict=strict), gained(old, new, strict=strict)
    apart = lost.keys() & came.keys()
    if "day" in apart or len(apart) != 1 or any(len(lost[sort]) != 1 or len(came[sort]) != 1 for sort in apart):
        return None
    if "name" in apart and not forever:
        return None
    one, other = but_for_names(old, new)
    least = min(cover(one, other), cover(other, one))
    # "The blue bike" and "the red bike" are two things.
    two_things = one.keys() - other.keys() and other.keys() - one.keys()
    enough = HALF if disagree else MOST if chinese else NEARLY_ALL
    if two_things or least < enough or shared(one, other) < TELLING:
        return None
    return least


def _somebody_else(old: Statement, new: Statement) -> bool:
    """ "It was Oskar who broke the window", where somebody else was said to have."""
    one, other = but_for_names(old, new)
    another = bool(gained(old, new).get("name") and gained(new, old).get("name"))
    return bool(_IT_WAS.match(new.text)) and another and one == other and shared(one, other) >= TELLING


def _explicit(old: Statement, new: Statement) -> bool:
    """Whether the later one says that something changed; "finished in 1998", "in 2001" says the same of both."""
    return bool((new.cues - old.cues) & cues.EXPLICIT)
