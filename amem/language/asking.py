"""What a question asks for: yes or no, something of one's own, a price, a date, a name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.language.predicates import KIN_ZH

if TYPE_CHECKING:
    from collections.abc import Callable

# A yes or a no.

YES_NO = re.compile(
    r"(?:^|[,.;:!?])\s*(?:(?:and|so|but|hey|hi|ok(?:ay)?|please|if|whether)[, ]+)*"
    r"(?:do|does|did|am|is|are|was|were|have|has|had|can|could|may|might|should|shall|will|would)\b"
    r"|吗|能不能|可不可以|是不是|会不会|吃不吃|要不要|可否|能否|有没有",
    re.IGNORECASE,
)
"""A question that wants a yes or a no."""
OPEN = re.compile(
    r"\b(?:what|which|who|where|when|why|how|anything|something|any|things?)\b|什么|哪|谁|怎|多少|任何", re.IGNORECASE
)
"""Words that ask for more than a yes or a no."""
NEGATED = re.compile(
    r"n['’]t\b|\bnot\b|\bnever\b|不是吗|(?<!能)不能|(?<!可)不可以|没有?(?=.{0,8}吗)|不(?!能|可|是|会|吃|要)",
    re.IGNORECASE,
)
"""A question that is put as a denial: yes and no may mean either."""
TAKING = re.compile(r"\b(?:eat|drink|have|give|serve|try|taste)\b|[吃喝](?!什么)", re.IGNORECASE)
"""It asks what is eaten, drunk or given, which is not what harms."""
HARM = re.compile(r"\b(?:allerg|intoleran|react)|过敏|不耐受", re.IGNORECASE)
"""It asks what harms."""
LIKING = re.compile(r"\b(?:like|love|enjoy)\b|(?<!不)喜欢", re.IGNORECASE)
"""It asks what is liked, which is not what is disliked."""
#: Words of a Chinese question that a statement need not hold.
_PLAIN_ZH = re.compile(
    r"是不是|有没有|能不能|会不会|现在|目前|如今|已经|到底|[我你他她的了吗呢吧还也在是过会能可以都曾仍，。？！?!,.\s]"
)


def asks_yes_or_no(question: str) -> bool:
    """Whether yes or no is a whole answer."""
    return YES_NO.search(question) is not None and not OPEN.search(question)


def without_asking_zh(question: str) -> str:
    """The characters of a Chinese question that a statement with the answer has to hold."""
    return _PLAIN_ZH.sub("", question)


# Something of oneself.

#: Who asks is whom the question is about, and not what somebody else told, gave or owns.
_OF_ME = re.compile(r"\bI\b|我(?!们|的|家|和|跟)")
_FROM_OTHERS = re.compile(
    r"\bI (?:\w+ )?(?:hear|heard|learn|learnt|learned|know|need|get|got|tell|told|say|said|remember|note|ask|asked|read"
    r"|find|found|meet|met|see|saw|seen|receive|visit|watch|call|owe|go with)\b|\bshould I\b"
    r"|听说|知道|记得|见|问|收到|拜访|应该|该"
)
_MINE = re.compile(r"\b[Mm]y (?P<noun>\w+)(?=\W*$)|我的?(?P<zh>生日|\w{2,4}?)(?=是?(?:什么|哪|谁|多少|几|在))")
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|we|us|our|ours)\b|我|咱|俺|自己", re.IGNORECASE)
#: "My sister" is not who says so.
_OWNED_SUBJECT = re.compile(r"^\W*(?:my|our|我们?的?)", re.IGNORECASE)


def is_about_oneself(question: str) -> bool:
    """Whether a question asks what is or was so of whoever asks, and not what others told or gave."""
    return _OF_ME.search(question) is not None and not _FROM_OTHERS.search(question)


def is_of_another_owner(question: str, text: str) -> bool:
    """Whether a question is for something of one's own, and a text speaks of somebody else's alone: Mum's birthday."""
    owned = _MINE.search(question)
    if owned is None:
        return False
    noun = re.escape(owned["noun"] or owned["zh"])
    if re.search(rf"\b(?:my|our) (?:\w+ )?{noun}|我们?的?{noun}", text, re.IGNORECASE):
        return False
    return re.search(rf"\w['’]s (?:\w+ )?{noun}|(?:{KIN_ZH}|[A-Za-z])的?{noun}", text, re.IGNORECASE) is not None


def speaks_of_oneself(text: str) -> bool:
    """Whether a statement speaks of whoever makes it, "my sister" before its verb aside."""
    return _FIRST_PERSON.search(_OWNED_SUBJECT.sub("", text)) is not None


# When something was so, from when to when.

_WHEN = re.compile(
    r"\b(?:when (?:did|was|were)|how long (?:did|was|were|have|had))\b|什么时候|多久|哪段时间", re.IGNORECASE
)


def asks_when(question: str) -> bool:
    """Whether a question asks when something was so, or for how long."""
    return _WHEN.search(question) is not None


# Who somebody is.

_WHO_IS = re.compile(
    r"^\W*[Ww]ho(?:['’]s| is| was) (?P<name>[A-Z][\w.'’-]*(?: [A-Z][\w'’-]*)*)\W*$"
    r"|^(?P<zh>\w{2,12}?)(?:是谁|是什么人)\W*$"
)
_ROLE = r"(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Tt]he|an?|\w+['’]s)"


def tells_who(question: str) -> Callable[[str], bool] | None:
    """What tells whether a text says what the person is whom a question asks about; None where it asks for no one."""
    found = _WHO_IS.search(question)
    if found is None:
        return None
    name = re.escape(found["name"] or found["zh"])
    if found["zh"]:
        told = re.compile(
            rf"是{name}|{name}(?!是(?:否|不是))是|(?:{KIN_ZH}|经理|律师|老师|负责人|主任|主管|教练)(?:叫|：)?{name}"
        )
    else:
        told = re.compile(
            rf"\b(?:is|was|be|are|becomes|became|called|named|:) {name}\b|\b{name},? (?:is|was|will be|,) {_ROLE}\b"
            rf"|\b{name}, {_ROLE}\b|\b{_ROLE} (?:[a-z-]+ ){{1,3}}{name}\b"
        )
    return lambda text: told.search(text) is not None


# A kind of detail.

QUANTITY = re.compile(
    r"\bhow (?:much|many|long|far|often|old|big|tall|high|fast)\b|\b(?:what time|number|price|cost|phone|size)\b"
    r"|多少|几[个只条次岁天年月块元毫克斤公里米分点号]|多久|多长|多大|多高|多远|多重|剂量|价格|数量|比例|号码|电话|几点",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"\d|[一二三四五六七八九十百千万两半]"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|twice|noon|midnight)\b"
)
#: What a number counts that is no price.
_NO_PRICE = (
    r"minutes?|hours?|days?|weeks?|months?|years?|degrees?|km|kg|g|ml|cm|mg|%|January|February|March|April|May|June|July"
    r"|August|September|October|November|December|am|pm|[月日号点分天岁度个人公厘次年级]"
)
#: Kinds of detail that questions ask for, and what a note holds that has one.
_DETAILS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(held, re.IGNORECASE))
    for asked, held in (
        (r"\bphone\b|\bnumber to call\b|电话|手机号", r"(?:\d[\s-]?){5,}|尾号|\b(?:call|ring)\b.*\d"),
        (
            r"\bhow much (?:is|was|are|were|do|does|did|will|would)\b"
            r"|\b(?:price|costs?|rent|salary|earn|fee|wage|paid)\b|多少钱|价格|单价|租金|房租|月租|工资|薪水|花了多少|收费",
            r"[$€£¥]\s?\d|\d[\d.,]*\s?(?:k\b|euros?|eur\b|dollars?|pounds?|刀|元|块|万|欧|镑)|\b(?:free|no fee)\b|免费"
            rf"|(?<![\d/:.\-])\d{{2,}}(?![\d/:.\-])(?!\s*(?:{_NO_PRICE}))",
        ),
        (r"\bwhat time\b|几点", r"\d{1,2}[:.]\d\d|\d\s?(?:am|pm)\b|\bnoon\b|\bmidnight\b|点|\bat \d"),
        (
            r"\bhow long\b|\bhow often\b|多久|多长时间",
            r"\d|\b(?:minutes?|hours?|days?|weeks?|months?|years?|daily|weekly|every)\b|分钟|小时|天|周|个月|年|每",
        ),
        (
            r"\bwhen (?:is|are|does|do|will|am|can|should)\b|\bwhat (?:day|date)\b"
            # Of what is over the note's own date is when: 什么时候搬的, 哪天打的疫苗.
            r"|(?:什么时候|哪天|哪一天|几号|几月)(?!\w{1,3}的|.*[了过的]\W*$)",
            rf"{NUMBER.pattern}|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|may|june|july|august|september"
            r"|october|november|december)\b|tomorrow|tonight|next|\b(?:when|whenever|while|once)\b|月|号|周|星期|明天|后天|下|每当|的时候",
        ),
        # What was asked for a thing, or offered, is not what was paid.
        (
            r"\bhow much (?:did|was|were)\b(?!.*\b(?:asking|asked?|quoted?|estimated?|offer(?:ed)?)\b)"
            r"|花了多少|付了多少",
            r"\A(?!.*(?:\b(?:asking|view(?:ed|ing)|quot(?:e|ed)|estimate[ds]?|would|might|could"
            r"|offer(?:ed)?(?! accepted))\b|报价|要价|挂牌|看了一|询价|估价|预算))",
        ),
        (r"\be-?mail\b|邮箱", r"@"),
        # What somebody else does says nothing of one's wife or husband.
        (
            r"\bmy (?:wife|husband|spouse|partner)\b|老婆|太太|妻子|老公|丈夫|爱人",
            r"\b(?:wife|husband|spouse|partner|married)\b|老婆|太太|妻子|老公|丈夫|爱人|媳妇|结婚",
        ),
    )
)
#: What has a name of its own, so that a sentence without one does not tell which it is.
_NAMED_KIND = re.compile(
    r"\b(?:which|what) (?:school|university|college|nursery|company|street|hotel|restaurant|bank|city|town|country"
    r"|airline|church|gym|club)\b",
    re.IGNORECASE,
)


def details_asked(question: str) -> list[Callable[[str], object]]:
    """For each kind of detail that a question asks for, what tells whether a text holds one."""
    return [held.search for asked, held in _DETAILS if asked.search(question)]


def asks_for_a_name(question: str) -> bool:
    """Whether a question asks which school, street or the like: the answer holds a name."""
    return _NAMED_KIND.search(question) is not None
