"""What a Chinese fact is about, cut out of the characters behind a verb."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.language.lexicon import is_person, is_place, lexicon
from amem.language.statements.clauses import GAP
from amem.language.statements.objects import name_in

if TYPE_CHECKING:
    from amem.language.predicates import Predicates

_END = re.compile(
    r"(?:了|的|吧|呢|啊|呀|啦|哦|来着|之类|等等|等|为止|一起生活|生活|居住|工作|上班|任职|那边|这边|附近)+$"
)
_PLACE_END = re.compile(r"(?:市区|北边|南边|东边|西边|郊区|郊外|附近|那边|这边|市中心|里|的)")
_POINTER = re.compile(r"^(?:它|他|她|这|那|你|您|我(?!们?的)|什么|谁|哪|自己|别人|某|一下|起来)")
#: Not \w alone: in 用Go写的 the name is Go.
_IN_LATIN = r"(?:(?![\u4e00-\u9fff])[\w.+#&'-])"
_LATIN = re.compile(rf"[A-Za-z]{_IN_LATIN}*(?: (?:[A-Z0-9]{_IN_LATIN}*|of|de))*")
_NO_PLACE = re.compile(r"[家里楼上下边我你他她们个新一]|酒店|宿舍|学校|公司|医院|隔壁|对面|国外|乡下|农村|火星|公寓$")
_CLASSIFIER = re.compile(r"^(?:一[个家间套所座名位种]|了|着)")


def trimmed(text: str) -> str:
    """Without particles at its end."""
    return _END.sub("", _CLASSIFIER.sub("", text.strip(" ，,。.!！~")).strip())


def latin_in(text: str, predicates: Predicates) -> str:
    """The Latin name that the text begins with."""
    found = _LATIN.match(text.strip())
    if found is None:
        return ""
    name = found[0].strip(" .")
    return name if name[0].isupper() or any(mark.isupper() for mark in name) else name_in(name, predicates, lower=True)


def place_in(text: str, predicates: Predicates) -> str:
    """The place that the text begins with; a known one wins over what follows it ("里斯本的一间小公寓")."""
    text = trimmed(text)
    for length in range(min(len(text), 8), 1, -1):
        if is_place(text[:length]):
            # 上海浦东 is one place; of 鹿特丹北边 the first word is.
            rest = text[length:]
            further = next((size for size in range(min(len(rest), 6), 1, -1) if is_place(rest[:size])), 0)
            quarter = bool(further) and rest[further : further + 1] in ("区", "县", "市", "镇")
            return text[: length + further + quarter]
    if latin := latin_in(text, predicates):
        return "" if predicates.role(latin) or is_person(latin.split()[0]) else latin
    short = _PLACE_END.split(text, maxsplit=1)[0]
    plain = re.fullmatch(r"[\u4e00-\u9fff]{2,6}", short) and not _POINTER.match(short) and not _NO_PLACE.search(short)
    if plain and short not in lexicon().chinese:
        return short
    return (
        short
        if re.fullmatch(r"[\u4e00-\u9fff]{2,8}(?:省|市|区|县|镇|州|岛|村|路|街|小区|花园|公寓|城)", short)
        and not _POINTER.match(short)
        else ""
    )


def employer_in(text: str, predicates: Predicates) -> str:
    """An employer: a Latin name, or a word that may be a company's."""
    text = trimmed(text)
    if latin := latin_in(text, predicates):
        return "" if is_person(latin.split()[0]) and " " not in latin else latin
    text = re.split(r"的|做|当|担任|当了|之后|以后|，", text, maxsplit=1)[0]
    text = re.sub(r"(?:总部|公司里|那里)$", "", text)
    return text if _is_org(text) else ""


_NO_ORG = re.compile(
    r"[我你他她它这那家了着过们]|公司$(?<!.{2}公司)|群|会议|讨论|俱乐部|健身|社团|比赛|活动|合唱|课|学|图书馆|咖啡|外面|办公室|医院|现场|房间|车站|机场|会场|一起|团队|部门|小组|党|战斗|队|线上|远程|晚|早|周|月|年|天"
)


def _is_org(text: str) -> bool:
    return re.fullmatch(r"[\u4e00-\u9fff]{2,10}", text) is not None and not _NO_ORG.search(text) and not is_place(text)


def person_in(text: str, predicates: Predicates) -> str:
    """A person's name: 小王, 王小明, Ana."""
    text = trimmed(text)
    if latin := _LATIN.match(text):
        return latin[0].strip() if latin[0][0].isupper() else ""
    text = re.sub(r"(?:汇报|工作|(?:去年|今年|前年|上周|昨天|上个?月|刚刚?|已经?|终于|\d.*))+$", "", text)
    return (
        text
        if re.fullmatch(r"[\u4e00-\u9fff]{2,4}", text)
        and not re.search(r"[的了是不很我你他她它这那人好]|同事|女孩|男孩|谁", text)
        else ""
    )


def tool_in(text: str, predicates: Predicates, *, known: bool) -> str:
    """A tool by name; with `known` a Chinese word must be one that the table knows."""
    text = trimmed(text)
    if latin := latin_in(text, predicates):
        return "" if latin.casefold() in ("it", "app", "production") else latin
    for length in range(min(len(text), 8), 1, -1):
        if predicates.role(text[:length]) is not None:
            return text[:length]
    text = re.split(r"(?:来|做|当|作为|作|存|进行|写|拍|的)", text, maxsplit=1)[0]
    fits = (
        re.fullmatch(r"(?!.*[点时月日号])[\u4e00-\u9fff]{2,8}", text)
        and not _POINTER.match(text)
        and not is_place(text)
    )
    return text if fits and not known else ""


def phrase_in(text: str) -> str:
    """A thing or doing in a few characters; '' for a pronoun or a longer story."""
    text = trimmed(text)
    if not text or GAP in text or _POINTER.match(text) or len(text) > 16:
        return ""
    return text


def listed(text: str) -> list[str]:
    """The things of a list: 花生和虾."""
    parts = re.split(r"[和跟与及、，,]|以及|还有", text)
    return [part.strip() for part in parts if part.strip()]
