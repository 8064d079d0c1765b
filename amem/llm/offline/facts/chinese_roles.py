"""What 是 states of a role: 我的房东是老陈, 老陈是我的房东, 房租涨到4200元, for every Chinese name in the table."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.llm.offline.facts import chinese_objects as objects
from amem.llm.offline.facts.employers import TRADES_ZH
from amem.llm.offline.facts.held import amount_zh
from amem.llm.offline.facts.objects import date_in, version_in
from amem.llm.offline.lexicon import is_place, lexicon
from amem.text import is_cjk

if TYPE_CHECKING:
    from amem.truth.predicates import Predicate, Predicates

_SOMETHING_USED = "数据库|缓存|编辑器|消息队列"
_STAGES = "(?:现在|目前|已经?|早就|也|每个?月|一个月|终于)*"
_CHANGES = "换成|变成|改成|改为|改到|改由|涨到|涨成|升到|降到|调到|调整到|搬到|搬去|换到"
#: Verbs among the table's names, and predicates that chinese words of their own are read for (facts_chinese.txt).
_NO_NAMES = ("家", "叫", "名字")
_ELSEWHERE = ("works_at", "deadline", "date", "version")
_DIGITS = re.compile(r"\+?\d[\d\s-]{4,20}\d")
_ADDRESS = re.compile(
    r"[\w\u4e00-\u9fff·\-]{2,30}(?:号|室|栋|单元|楼|弄)"
    r"(?:[\w\u4e00-\u9fff\-]{0,10}(?:号|室|楼|单元|户))?|[A-Z][\w .'-]*\d[\w .'-]*"
)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SCHOOL = re.compile(r"[\u4e00-\u9fffA-Za-z\d]{1,14}?(?:小学|中学|高中|初中|幼儿园|大学|学院|学校)")
_PERSON = re.compile(
    r"[\u4e00-\u9fff]{1,3}(?:大夫|医生|医师|师傅|老师|教练|律师|先生|女士|太太|阿姨|叔叔|教授|经理|总|工)"
)
#: A name right behind a role: 房东 Amélia 太太送来, 房东老陈, 教练刘伟让我; a Chinese one has to end before a verb.
_TITLES = "大夫|医生|医师|师傅|老师|教练|律师|先生|女士|太太|阿姨|叔叔|教授"
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙朱林郭罗梁宋郑谢韩唐冯邓曹彭曾萧蔡潘袁蒋杜苏魏吕丁沈姚卢姜崔钟谭"
    "陆汪范廖贾韦付邹孟秦邱尹薛闫雷侯陶黎贺顾郝龚邵"
)
_GIVEN = "(?![不末了着的地得是有在也就都没很])[\\u4e00-\\u9fff]"
_NAMED = (
    rf"(?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*(?: ?(?:{_TITLES}))?|[{_SURNAMES}](?:{_TITLES})"
    rf"|(?:[小老阿]{_GIVEN}|[{_SURNAMES}](?:{_GIVEN}){{1,2}}?)"
    r"(?=[说让来送给带把要帮教觉建提也都很]|今天|昨天|上周|答应|同意|通知|$))"
)
#: 房租四千, 房租每月两千八: an amount right behind a role, told by its hundreds or thousands.
_SUM = "[一二两三四五六七八九十]{1,3}[百千万]"
_NO_PERSON = re.compile(r"^(?:一[个位名]|个|谁|这|那|女|男|好|很|我|你|他|她)")


def pattern(predicates: Predicates) -> re.Pattern[str]:
    """Matches a clause that says what somebody's role is: groups who, role, not, change, o."""
    return _compiled(_names(predicates))[0]


def turned(text: str, predicates: Predicates) -> str:
    """老陈是我的房东 as 我的房东是老陈; any other clause as it is."""
    found = _compiled(_names(predicates))[1].fullmatch(text)
    return text if found is None else f"{found['whose']}{found['noun']}{found['is']}{found['what']}"


def replaced(text: str, predicates: Predicates) -> tuple[str, str]:
    """Whose and which role a clause says has been changed (妈妈换手机号了), for the clause that says to what."""
    found = _compiled(_names(predicates))[2].fullmatch(text)
    return (found["who"], found["role"]) if found else ("", "")


def value_in(row: Predicate, text: str, predicates: Predicates) -> str:
    """The value that the text begins with, of the kind that the row takes; '' for none."""
    text = re.sub(r"^(?:每个?月|一个月|在|大概|大约|约)+", "", objects.trimmed(text))
    match row.value:
        case "person":
            return person_in(text, predicates)
        case "place":
            return objects.place_in(text, predicates)
        case "title":
            title = objects.phrase_in(text)
            return title if TRADES_ZH.search(title) else ""
        case "date":
            return date_in(text)
        case "version":
            return version_in(text)
        case "amount":
            return amount_zh(text)
        case "number" | "address" | "email" | "school":
            found = {"number": _DIGITS, "address": _ADDRESS, "email": _EMAIL, "school": _SCHOOL}[row.value].match(text)
            return found[0].strip() if found else ""
        case "room" | "phrase" | "name":
            return objects.phrase_in(re.sub(r"^(?:一?[辆台部家个])", "", text))
    return ""


def apposed_in(row: Predicate, name: str) -> str:
    """The person named right behind a role; '' for a role that no person fills."""
    plain = any(word in lexicon().chinese for word in (name, name[:2])) or is_place(name)
    return "" if row.value != "person" or plain else name


def person_in(text: str, predicates: Predicates) -> str:
    """A person: 老陈, 陈大夫, Ana."""
    titled = _PERSON.match(text)
    if surname := re.match(r"姓(?P<o>[\u4e00-\u9fff])", text):
        return surname[0]
    if titled and not _NO_PERSON.search(text):
        return titled[0]
    return "" if _NO_PERSON.search(text) else objects.person_in(text, predicates)


def _names(predicates: Predicates) -> tuple[str, ...]:
    names = (
        alias
        for row in predicates.rows.values()
        if row.value != "none"
        for alias in row.aliases
        if is_cjk(alias) and alias not in _NO_NAMES and row.name not in _ELSEWHERE
    )
    return tuple(sorted(names, key=lambda each: (-len(each), each)))


@lru_cache(maxsize=8)
def _compiled(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    roles = "|".join(map(re.escape, names))
    says = re.compile(
        rf"(?P<who>[^，]{{0,20}}?)(?:新|现任)?(?P<role>{roles}){_STAGES}(?P<not>不再)?"
        rf"(?:(?:是|叫做?|为|在|位于|(?=姓[\u4e00-\u9fff]))|(?P<change>{_CHANGES})了?|(?=\s?[\d€$£¥])|(?P<sum>)(?={_SUM})|(?P<apposed>)(?=\s?{_NAMED}))\s*(?P<o>.+)"
    )
    mine = re.compile(
        rf"(?P<what>[^，是]{{1,20}}?)\s*(?:现在|已经?)?(?P<is>不再是|是)\s*(?P<whose>我们?家?的|[^，是的]{{1,8}}的)(?:新|主|现任)?"
        rf"(?P<noun>{roles}|{_SOMETHING_USED})"
    )
    other = re.compile(
        rf"(?P<who>[^，]{{0,12}}?)(?:最近|刚刚?|已经|又|今天|上周|上个?月)*(?:换|改)(?:了|过)?(?:个|新)*(?P<role>{roles})了?"
    )
    return says, mine, other
