"""Allergies as people jot them down, written out as statements: "Allergies: latex, nuts", 我花生过敏, 芒果没事了."""

from __future__ import annotations

import re

from amem.llm.offline.facts.chinese_people import KIN_ZH

_NONE = r"(?!(?:none|no|nil|not|n/a|unknown)\b|无|没有|暂无|未知)"
_LABEL = re.compile(
    r"(?P<before>(?:^|[.!?\n])[^\S\n]*)(?:[-*•] )?(?:(?:my|(?P<whose>[^\W\d_][\w-]*)['’]s) )?"
    r"(?:known |food |drug |severe )*"
    rf"allerg(?:y|ies) ?[:：] ?+{_NONE}(?P<list>[^\n.;!?]+)",
    re.IGNORECASE,
)
_LABEL_ZH = re.compile(
    r"(?P<before>(?:^|[。！？\n])[^\S\n]*)(?:[-*•] )?(?:我的?)?(?:食物|药物)?过敏(?:原|源|史|物)?\s?"
    rf"[:：]\s*+{_NONE}(?P<list>[^\n。；！？]+)"
)
_COMMAS = re.compile(r",? and |[,;、]")
#: What is not what somebody is allergic to: a part of the body, a season, a manner.
_THING = r"(?P<o>(?!严重|容易|有点|季节|皮肤|鼻子?|眼睛?|脸|身体|全身)[^对是有不我你他她它会得又了的人吃喝碰闻]{1,8}?)"
_WHO = rf"(?P<who>我们?家?(?:的)?(?:{KIN_ZH})|我|他|她|{KIN_ZH})"
_WHEN = r"(?P<when>(?:现在|从小|一直|已经|终于)*)"
_OF_THING = re.compile(rf"{_WHO}{_WHEN}{_THING}(?:也|都|还是?|严重|现在|已经)*(?P<not>不再|不)?(?:会)?过敏了?")
#: 芒果不过敏了, 吃芒果没事了: of food by itself, "nothing is wrong any more" may be about anything else.
_FOOD = (
    "花生|坚果|核桃|腰果|杏仁|芝麻|大豆|黄豆|小麦|麸质|牛奶|乳制品|鸡蛋|海鲜|虾|龙虾|螃蟹|贝类|鱼"
    "|芒果|桃子?|草莓|菠萝|猕猴桃|香菜|酒精"
)
_OVER = re.compile(
    rf"{_WHO}?{_WHEN}(?:(?:对|吃)?(?P<food>{_FOOD})(?:现在|已经)*(?:也|都)?(?:没事|不再过敏|不过敏)了"
    rf"|{_THING}(?:现在|已经)*不(?:再)?过敏了)"
)


def written_out(text: str) -> str:
    """A text with its lists of allergies as statements."""
    return _LABEL_ZH.sub(r"\g<before>我对\g<list>过敏", _LABEL.sub(_statement, text))


def turned(clause: str) -> str:
    """我花生过敏 as 我对花生过敏, 芒果没事了 as 我对芒果不过敏; any other clause as it is."""
    if over := _OVER.fullmatch(clause):
        return f"{over['who'] or '我'}对{over['food'] or over['o']}不过敏"
    found = _OF_THING.fullmatch(clause)
    return clause if found is None else f"{found['who']}对{found['o']}{'不' if found['not'] else ''}过敏"


def _statement(found: re.Match[str]) -> str:
    listed = [each for part in _COMMAS.split(found["list"]) if (each := part.strip())]
    who = f"{found['whose']} is" if found["whose"] else "I am"
    return f"{found['before']}{who} allergic to {', to '.join(listed)}"
