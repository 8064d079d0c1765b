"""The facts that Chinese clauses state: whom a clause is about, its verb, and what follows."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.language import is_cjk, normalize
from amem.language.lexicon import is_person, is_place, lexicon
from amem.language.predicates import KIN_ZH, USER, WE, canonical_subject
from amem.language.scripts import word_list, words
from amem.language.statements.clauses import GAP, Subject
from amem.language.statements.objects import (
    TRADES_ZH,
    amount_zh,
    date_in,
    is_known_place,
    name_in,
    version_in,
    when_in,
)
from amem.language.statements.tense import (
    DATED,
    NO_TIMES,
    Aspect,
    Shape,
    announced_for,
    chinese,
    covered,
    instead,
    since_when,
    times,
)
from amem.note import Fact

if TYPE_CHECKING:
    from amem.language.predicates import Predicate, Predicates
    from amem.language.statements.clauses import Sentence
    from amem.language.statements.tense import Scene


# What a fact is about, cut out of the characters behind a verb.

_OBJECT_END = re.compile(
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
    return _OBJECT_END.sub("", _CLASSIFIER.sub("", text.strip(" ，,。.!！~")).strip())


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
            quarter = rest[further : further + 1] in (("区", "县", "市", "镇") if further else ("区", "县"))
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


_STREET = re.compile(
    r"(?P<street>[\u4e00-\u9fff]{2,18}?(?:[路街道巷弄里]|胡同|小区|花园|公寓|苑|新村))\s?\d+(?:号|弄|栋|幢|座|单元)"
    r"(?:院|楼)?(?:[\dA-Z]+(?:号楼?|栋|幢|座|单元|楼|层|室|户))*(?:\d{2,4}(?![\d年月日号]))?"
)
#: What goes on so after a town's name is part of a street's: 南京西路, 北京路.
_OF_STREET = re.compile(r"[东南西北中]?[一二三四五]?[路街道]")


def home_in(text: str, predicates: Predicates) -> list[tuple[str, str]]:
    """The address that the text begins with, and the town or district that is named in it, as predicate and object."""
    found = _STREET.match(trimmed(text))
    if found is None:
        return []
    whole = found[0]
    towns = (whole[:size] for size in range(8, 1, -1) if is_place(whole[:size]))
    known = any(not _OF_STREET.match(whole, len(each)) for each in towns)
    town = place_in(whole, predicates) if known else ""
    if not town and (district := re.match(r"[\u4e00-\u9fff]{1,7}?(?:市|(?<![小社])区|县|镇)(?![路街])", whole)):
        town = district[0]
    return [("address", whole), *([("lives_in", town)] if town else [])]


def employer_in(text: str, predicates: Predicates) -> str:
    """An employer: a Latin name, or a word that may be a company's."""
    text = trimmed(text)
    if latin := latin_in(text, predicates):
        return "" if is_person(latin.split()[0]) and " " not in latin else latin
    text = re.split(r"的|做|当|担任|当了|之后|以后|，", text, maxsplit=1)[0]
    text = re.sub(r"(?:总部|公司里|那里)$", "", text)
    return text if _is_org(text) else ""


_NO_ORG = re.compile(
    r"[我你他她它这那家了着过们]|公司$(?<!.{2}公司)|群|会议|讨论|俱乐部|健身|社团|比赛|活动|合唱|课|学|图书馆|咖啡|外面|办公室|附近|(?<![\u4e00-\u9fff]{2})医院|现场|房间|车站|机场|会场|一起|团队|部门|小组|党|战斗|队|线上|远程|晚|早|周|月|年|天"
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
        and not re.search(r"[的了是不很我你他她它这那人好]|同[事学]|女孩|男孩|谁|朋友|邻居|[网战室舍]友|客户", text)
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
        re.fullmatch(r"(?!.*[点时月日号周])[\u4e00-\u9fff]{2,8}", text)
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


# Whom a clause is about: what stands before its verb, without the words that only say when and how.

SURNAMES = "".join(word_list("surnames"))
_GIVEN = "(?![不末了着的地得是有在也就都没很])[\\u4e00-\\u9fff]"
_KIN_END = re.compile(rf"(?:{KIN_ZH})$")
_YEAR = r"(?:\d{2,4}年|去年|今年|前年)的?"
_MONTH = r"(?:\d{1,2}|十?[一二三四五六七八九十])月份?"
_WHEN = (
    rf"(?:从|自|于|在)?(?:{_YEAR}(?:{_MONTH})?|{_MONTH})(?:\d{{1,2}}[日号])?(?:起|开始|以来|底|末|初|的时候|那会儿|那时候?)?"
    rf"|(?:从|自)?(?:{_YEAR})?(?:{_MONTH})?[到至](?:{_YEAR})?(?:{_MONTH})?"
    r"|(?:从|自)?(?:今天|现在|上周|上个?月|那|这)(?:起|开始)|[一二三四五六七八九十两\d]+(?:天|周|个?月|年)(?:前|来)"
    r"|上个?(?:月|周|星期)|这个?(?:月|周|星期)|本月|每?个?(?:周|星期)[一二三四五六日天]|现在|目前|如今|最近|今天|昨天|前天|刚刚?|从此"
    r"|每(?:天|日|周|晚|个?月|次|年)(?:早上|上午|中午|下午|晚上|早晚)?|早上|晚上|睡前|饭[前后]"
    r"|后来|最后|最终|以前|曾经?|过去|从前|原来|原先|之前|当年|[，,\s]"
)
#: Words that say when or how, but not who.
_MANNER = re.compile(
    rf"(?:{_WHEN}|刚才|已经?|终于|正式|一直|都|也|还|仍然?|又|才|就|再|(?:被|体检|检查)?查出来?|其实|当时|这次|于是|年初|年底|以后|之后|平时|平常|经常|通常"
    r"|主要|全部?|整个|整体|全面|全家|一家|一起|统一|逐步|顺利|自从|决定|确定|本来|真的|确实|特别|非常|很|最|挺|比较|超级?|从小|生来|天生"
    r"|不再|不|没有?|并未|未|向来|始终|(?:在|于)(?:新|这个|那个)?(?:公司|家)里?|(?:公司|家)里|新的?|现任|直属|经过讨论|讨论后|开会后"
    r"|为了[^，]{1,12}|大家|一致)+$"
)
_BEFORE_SUBJECT = re.compile(
    rf"^(?:{_WHEN}|嗯|哦|对了|其实|说起来|顺便说一下|另外|还有|好消息|慢慢地?|渐渐地?|更新|备注|提醒|请?你?(?:帮我)?(?:记住|记得|记一下)"
    r"|决定|结论|因此|总之|[：:])+"
)
#: What is used as something is ours, whatever it is: 缓存换成了 Redis.
_USED_AS = "(?:数据库|缓存|编辑器|聊天工具|云服务|操作系统|消息队列|队列|框架|包管理器|编程语言|云|CI|数据)"
_ROLE_NOUN = re.compile(rf"(?:(?P<mine>我的)|我们的?|项目的?|公司的?)?主?{_USED_AS}")
#: Kelpie 的数据库, Heron 缓存: of one thing's by its name.
_ROLE_OF = re.compile(rf"(?P<owner>(?!我)[^，]{{1,20}}?)(?:的|(?<=[A-Za-z\d])\s?)主?{_USED_AS}")
_SELF = words("我 本人 我自己 俺 我家 我们家 咱家")
_US = words("我们 咱们 我们团队 团队 项目 公司 我们公司 我们项目 大家 本项目 该项目 这个项目 我司")
_NAME = re.compile(
    r"[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2}|[小老阿][\u4e00-\u9fff]"
    r"|[\u4e00-\u9fff]{2,3}(?:先生|女士|太太|老师|医生|总|经理|工)?"
)
_THING = re.compile(
    r"(?:我们的?|项目的?|公司的?|该|这个|本|新的?)?[\w\u4e00-\u9fff .-]{0,14}?"
    r"(?:服务|系统|平台|项目|应用|网站|移动端|客户端|服务端|手机端|网页端|[Aa]pp|APP|小程序|官网|后台|后端|前端|模块|数据库|目录|仓库|网关|接口|工具|产品|程序|脚本|引擎|组件|库)"
)
#: 我们在支付服务里用, 移动端我们用: we, and where.
_LIMITED = re.compile(
    rf"(?P<lead>(?:{_WHEN})*)(?:(?P<us>我们|咱们|我)(?:现在|目前|已经|都|也)*[在给为]?(?P<inside>(?!的)[^，]{{2,14}}?)(?:里面|里|中|上|内)?"
    rf"|在?(?P<named>[^，]{{2,14}}?)(?:里面|里|中|上|内)?(?P<then_us>我们|咱们|我))(?:现在|目前|已经|都|也|是)*"
)
#: What a project is made of: 前端 is Lantern's, where the clause before was about Lantern.
_PART_OF = re.compile(
    r"(?:(?P<whole>[A-Z][A-Za-z\d_-]*|[\u4e00-\u9fff]{2,6}项目)\s?的?\s?)?(?P<part>前端|后端|移动端|客户端|服务端|手机端|网页端|后台|官网)"
)
_PROJECT = re.compile(
    r"(?:(?P<name>[A-Z][A-Za-z\d_-]*|[\u4e00-\u9fff]{2,4}项目)\s?(?:项目)?是(?!不)[^，]*?|[^，]{0,8}项目叫\s?(?P<called>[A-Z][A-Za-z\d_-]*|[\u4e00-\u9fff]{2,4}))"
    r"(?(called)|(?:[Pp]rojects?|项目|产品|网站|[Aa]pp|APP|小程序|应用|系统|平台|工具|服务))"
)
_HOSTED = re.compile(r"(?:部署|托管|跑在|运行在|上线)")
_OF_ALL = words("生产环境 线上 生产 云 工作 内部 公司内部 项目 团队 公司")
_NO_NAME = re.compile(
    r"[的了在是不没和跟与把被从到对向给让又也都就才很]|什么|这|那|每|有|大家|别人|有人|时候|今天|昨天|结果|问题|可以"
)


#: 和女儿豆豆住在拱墅区: whoever else does so.
_IN_COMPANY = re.compile(rf"(?:和|跟|与|同|带着?)我?们?的?(?:{KIN_ZH}|家人|孩子们?)[^，的]{{0,4}}")


def subject_in(before: str, scene: Scene, *, told: bool = False) -> Subject | None:
    """The subject that stands before the verb; that of the clause before where nothing stands there.

    Where a note opens without one it is whoever writes, if the clause tells (`told`) of what has happened.
    """
    text = before.strip(" ，,")
    for _ in range(3):
        text, last = _MANNER.sub("", _BEFORE_SUBJECT.sub("", text)).strip(" ，,"), text
        if text == last:
            break
    if GAP in text:
        return None
    text = "" if _IN_COMPANY.fullmatch(text) else text
    if not text:
        if scene.subject is None and scene.opening and told:
            scene.subject = scene.cast.me  # a diary leaves 我 out
        return scene.subject
    found = _named(text, scene)
    scene.subject, scene.opening = found, False
    return found


def limited_to(before: str) -> str:
    """What "use" is limited to, as the subject: 支付服务 for 我们在支付服务里, 我们 for 项目里我们.

    Anything else as it stands.
    """
    found = _LIMITED.fullmatch(before.strip(" ，,"))
    if found is None:
        return before
    thing = (found["inside"] or found["named"]).strip()
    if thing in _OF_ALL or canonical_subject(thing) == WE:
        return found["lead"] + (found["us"] or found["then_us"])
    named = _THING.fullmatch(thing) or (_LATIN.fullmatch(thing) and not is_person(thing) and not is_known_place(thing))
    return found["lead"] + thing if named and not _NO_NAME.search(thing) else before


def _named(text: str, scene: Scene) -> Subject | None:
    text = text.removesuffix("的").strip()
    if text in _SELF:
        return scene.cast.me
    if text in _US or canonical_subject(text) == WE:
        return Subject(WE, True, we=text in ("我们", "咱们"))
    if text in ("他", "她"):
        return scene.cast.third(text)
    if text == "它":
        return scene.cast.of(["it"])
    if text in ("用户",):
        return Subject(USER, True)
    if part := _PART_OF.fullmatch(text):
        if part["whole"]:
            scene.whole = canonical_subject(part["whole"])
        name = f"{scene.whole}的{part['part']}" if scene.whole else text
        return scene.cast.meet(Subject(name, False))
    if kin := _KIN_NAMED.fullmatch(text):
        return scene.cast.meet(Subject(kin["name"], True, noun=kin["kin"]))
    if role := _ROLE_NOUN.fullmatch(text):
        return scene.cast.me if role["mine"] else Subject(WE, True)
    if of := _ROLE_OF.fullmatch(text):
        return _named(of["owner"].strip(), scene)
    if joined := re.match(r"(我们?)(?:和|跟|与)", text):
        return scene.cast.me if joined[1] == "我" else Subject(WE, True)
    if text[0] in "我他她" or "的" in text:
        return _owned(text, scene)
    if _THING.fullmatch(text) and not _NO_NAME.search(text):
        return scene.cast.meet(Subject(canonical_subject(text), False))
    if not (_NAME.fullmatch(text) or _KIN_END.fullmatch(text)) or _NO_NAME.search(text):
        return None
    if text.isascii() or text[0].isascii():
        return scene.cast.meet(Subject(text, True if is_person(text.split()[0]) else None))
    if _KIN_END.search(text):
        return (
            scene.cast.meet(Subject(canonical_subject(f"我{text}", speaker=scene.cast.speaker), True, noun=text))
            if _KIN_END.fullmatch(text)
            else scene.cast.meet(Subject(text, True))
        )
    known = lexicon().chinese.get(text)
    return None if known is not None else scene.cast.meet(Subject(text, None))


#: 太太林悦, 我的同事王芳: a relative with a name.
_KIN_NAMED = re.compile(
    rf"(?:我们?家?的?)?(?P<kin>{KIN_ZH})(?P<name>[{SURNAMES}](?:{_GIVEN}){{1,2}}?|[小老阿]{_GIVEN}|(?P<twice>[\u4e00-\u9fff])(?P=twice))"
)
#: Of these everybody has one, so that they stay who they are, with a name.
_ONLY_ONE = words("太太 老婆 妻子 老公 丈夫 爸爸 妈妈 父亲 母亲 爸 妈 岳母 岳父 婆婆 公公 女朋友 男朋友")


def _named_relative(text: str, scene: Scene) -> tuple[str, list[Fact]]:
    """太太林悦在医院当护士 as 太太在医院当护士, and that her name is 林悦."""
    found = re.match(rf"{_KIN_NAMED.pattern}(?=[在是也对住叫从]|现在|目前|去年|刚)", text)
    if found is None or found["kin"] not in _ONLY_ONE:
        return text, []
    if any(word in lexicon().chinese for word in (found["name"], found["name"][:2])) or _NO_NAME.search(found["name"]):
        return text, []
    subject = _named(f"我{found['kin']}", scene)
    return f"我{found['kin']}{text[found.end() :]}", [Fact(subject.name, "named", found["name"])] if subject else []


def _owned(text: str, scene: Scene) -> Subject | None:
    """我妹妹、我的数据库、小王的妹妹、她的经理."""
    found = re.fullmatch(r"(?P<owner>我们|我|他|她|[^的]{1,12}?(?=的))的?(?P<what>[\w\u4e00-\u9fff .-]{1,12})", text)
    if found is None or _NO_NAME.search(found["what"]):
        return None
    owner, what = found["owner"], re.sub("^家(?![人里庭长乡具教])(?=.)", "", found["what"])
    if owner in ("他", "她"):
        third = scene.cast.third(owner)
        if third is None:
            return None
        owner = third.name
    kin = _KIN_END.search(what) is not None
    if owner == "我们":
        if kin:
            owner = "我"
        else:
            return scene.cast.meet(Subject(canonical_subject(f"我们的{what}"), False))
    if owner == "我" or kin or _KIN_END.search(owner):
        return scene.cast.meet(
            Subject(canonical_subject(f"{owner}的{what}", speaker=scene.cast.speaker), kin, noun=what)
        )
    return scene.cast.meet(Subject(f"{canonical_subject(owner)}的{what}", False))


# What 是 states of a role: 我的房东是老陈, 老陈是我的房东, 房租涨到4200元, for every Chinese name in the table.

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
_NAMED = (
    rf"(?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*(?: ?(?:{_TITLES}))?|[{SURNAMES}](?:{_TITLES})"
    rf"|(?:[小老阿]{_GIVEN}|[{SURNAMES}](?:{_GIVEN}){{1,2}}?)"
    r"(?=[说让来送给带把要帮教觉建提也都很]|今天|昨天|上周|答应|同意|通知|$))"
)
#: 房租四千, 房租每月两千八: an amount right behind a role, told by its hundreds or thousands.
_SUM = "[一二两三四五六七八九十]{1,3}[百千万]"
#: 陈老师 is who somebody is, and no trade.
_BY_SURNAME = re.compile(rf"[{SURNAMES}](?:{_TITLES})")
_NO_PERSON = re.compile(r"^(?:一[个位名]|个|谁|这|那|女|男|好|很|我|你|他|她)")


def pattern(predicates: Predicates) -> re.Pattern[str]:
    """Matches a clause that says what somebody's role is: groups who, role, not, change, o."""
    return _compiled(_names(predicates))[0]


#: 陈浩是青鸟项目负责人, without 的: of the project, no title of his.
_LEADS = re.compile(
    r"(?P<what>[^，是]{2,8}?)(?:现在|目前)?(?P<is>不再是|是)(?P<whose>[^，是的]{0,10}?项目)的?(?:总)?负责人"
)


def turned(text: str, predicates: Predicates) -> str:
    """老陈是我的房东 as 我的房东是老陈; any other clause as it is."""
    if leads := _LEADS.fullmatch(text):
        return f"{leads['whose']}的负责人{leads['is']}{leads['what']}"
    found = _compiled(_names(predicates))[1].fullmatch(text)
    if found is None:
        return text
    return f"{found['whose']}{found['noun']}{'不再是' if found['is'] == '不再是' else '是'}{found['what']}"


def replaced(text: str, predicates: Predicates) -> tuple[str, str]:
    """Whose and which role a clause says has been changed (妈妈换手机号了), for the clause that says to what."""
    found = _compiled(_names(predicates))[2].fullmatch(text)
    return (found["who"], found["role"]) if found else ("", "")


def value_in(row: Predicate, text: str, predicates: Predicates) -> str:
    """The value that the text begins with, of the kind that the row takes; '' for none."""
    text = re.sub(r"^(?:每个?月|一个月|在|大概|大约|约)+", "", trimmed(text))
    match row.value:
        case "person":
            return _person_of_role(text, predicates)
        case "place":
            return place_in(text, predicates)
        case "title":
            title = phrase_in(text)
            return title if TRADES_ZH.search(title) else ""
        case "date":
            return date_in(text)
        case "amount":
            return amount_zh(text)
        case "number" | "address" | "email" | "school":
            found = {"number": _DIGITS, "address": _ADDRESS, "email": _EMAIL, "school": _SCHOOL}[row.value].match(text)
            return found[0].strip() if found else ""
        case "room" | "phrase" | "name":
            return phrase_in(re.sub(r"^(?:一?[辆台部家个])", "", text))
    return ""


def apposed_in(row: Predicate, name: str) -> str:
    """The person named right behind a role; '' for a role that no person fills."""
    plain = any(word in lexicon().chinese for word in (name, name[:2])) or is_place(name)
    return "" if row.value != "person" or plain else name


#: Where somebody with a title works: 浙大口腔的吴医生.
_FROM_PRACTICE = re.compile(rf"^[^，的是]{{2,12}}的(?=[\u4e00-\u9fff]{{1,3}}(?:{_TITLES}|医师|护士)$)")


def _person_of_role(text: str, predicates: Predicates) -> str:
    """A person: 老陈, 陈大夫, 浙大口腔的吴医生, Ana."""
    text = _FROM_PRACTICE.sub("", text)
    titled = _PERSON.match(text)
    if surname := re.match(r"姓(?P<o>[\u4e00-\u9fff])", text):
        return surname[0]
    if titled and not _NO_PERSON.search(text):
        return titled[0]
    trade = TRADES_ZH.search(text)  # 太太是护士
    return "" if trade or _NO_PERSON.search(text) else person_in(text, predicates)


@lru_cache(maxsize=8)
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
        rf"(?:(?P<is>是|叫做?|为|在|位于|(?=姓[\u4e00-\u9fff]))|(?P<change>{_CHANGES})了?|(?=\s?[\d€$£¥])|(?P<sum>)(?={_SUM})|(?P<apposed>)(?=\s?{_NAMED}))\s*(?P<o>.+)"
    )
    mine = re.compile(
        rf"(?P<what>[^，是]{{1,20}}?)\s*(?:现在|已经?|又|也|还|仍然?)*(?P<is>不再是|是|成了|成为了?)\s*(?P<whose>我们?家?的|[^，是的]{{1,8}}的)(?:新|主|现任)?"
        rf"(?P<noun>{roles}|{_SOMETHING_USED})"
    )
    other = re.compile(
        rf"(?P<who>[^，]{{0,12}}?)(?:最近|刚刚?|已经|又|今天|上周|上个?月)*(?:换|改)(?:了|过)?(?:个|新)*(?P<role>{roles})了?"
    )
    return says, mine, other


# Allergies in other words: 我花生过敏, 芒果没事了.

#: What is not what somebody is allergic to: a part of the body, a season, a manner.
_CAUSE = r"(?P<o>(?!严重|容易|有点|季节|皮肤|鼻子?|眼睛?|脸|身体|全身)[^对是有不我你他她它会得又了的人吃喝碰闻]{1,8}?)"
_WHO = rf"(?P<who>我们?家?(?:的)?(?:{KIN_ZH})|我|他|她|{KIN_ZH})"
_ALLERGIC_WHEN = r"(?P<when>(?:现在|从小|一直|已经|终于)*)"
_OF_THING = re.compile(rf"{_WHO}{_ALLERGIC_WHEN}{_CAUSE}(?:也|都|还是?|严重|现在|已经)*(?P<not>不再|不)?(?:会)?过敏了?")
#: 芒果不过敏了, 吃芒果没事了: of food by itself, "nothing is wrong any more" may be about anything else.
_FOOD = "|".join(sorted(word_list("foods that harm"), key=len, reverse=True))
_ALLERGEN = f"(?:{_FOOD}|花粉|尘螨|猫毛|狗毛|青霉素|阿莫西林|头孢|磺胺|乳胶|蜂毒)"
_OVER = re.compile(
    rf"{_WHO}?{_ALLERGIC_WHEN}(?:(?:对|吃)?(?P<food>{_FOOD})(?:现在|已经)*(?:也|都)?(?:没事|不再过敏|不过敏)了"
    rf"|{_CAUSE}(?:现在|已经)*不(?:再)?过敏了)"
)
#: 豆豆花生过敏, 豆豆鸡蛋不过敏了: somebody by name, told from the thing where that is a known one.
_BY_NAME = re.compile(
    rf"(?P<who>(?:(?![对为是的我他她不没])[\u4e00-\u9fff]){{2,4}}?|[A-Z][A-Za-z]+\s?|)对?(?P<o>{_ALLERGEN}(?:[和跟与]{_ALLERGEN})*)"
    r"(?:也|都|还是?|严重|现在|已经|会)*(?P<not>不再|不)?(?:会)?过敏了?"
)
#: Who finds an allergy out is not who has it: 医生确诊花生过敏.
_PRACTICE = "医生|大夫|医师|护士|医院"
_CARER = re.compile(rf"(?:{_PRACTICE})$")
_FOUND_OUT = re.compile(
    rf"(?P<who>[^，]*?)(?:被|经|在|去|到|由|的)*(?P<by>[^，的被经在去到由]{{0,12}}?(?:{_PRACTICE}))?"
    r"(?:(?:复查|体检|检查|化验|检测|过敏原(?:检测|测试)?)(?:报告|结果)?)?(?:里|也|又|还|已经?|刚刚?|今天|昨天|最后|正式)*"
    r"(?:确诊|诊断|查出来?|检查出来?|检测出来?|测出来?|验出来?|查明|发现|显示|表明|确认|(?<=[生夫师士院果告])说)"
    r"(?:为|是|出|了|说|有)*(?P<rest>[^，]+过敏)症?"
)
#: What one may eat again, or has been cured of; a plan or a hope has other words in it.
_CURED = re.compile(
    rf"(?P<who>[^，没不未还等就吃喝碰在对]{{0,8}}?)(?:(?:现在|已经?|终于|又|也|都)*"
    rf"(?:(?:可以|能)(?:正常|放心|随便|重新|再)*[吃喝碰](?P<ate>{_ALLERGEN})了"
    rf"|对?(?P<o>{_ALLERGEN})(?:(?:现在|已经?|终于|完全|成功|也|都)*(?:(?:可以|能)(?:正常|放心|随便|重新)*(?P<eat>[吃喝碰])了"
    r"|(?:脱敏(?:成功|完成)?|过敏(?:已经|完全)*(?:好|痊愈|消失))了)|(?:现在|也|都)*(?:已经?|完全|成功)+脱敏(?:成功)?)))"
)
#: 花生一律不能碰 as 不能碰花生.
_KEPT_FROM = re.compile(
    rf"(?P<who>[^，吃喝碰]{{0,8}}?)(?P<o>{_ALLERGEN})(?:以后|从此|今后|一律|都|也|就|绝对|千万|再也)*(?P<not>(?:不能|不可以|不许)再?[吃喝碰沾])了?"
)


def allergy_turned(clause: str, scene: Scene) -> str:
    """我花生过敏 as 我对花生过敏, 芒果没事了 as 我对芒果不过敏; any other clause as it is.

    '' where a doctor finds it out of nobody in particular.
    """
    if kept := _KEPT_FROM.fullmatch(clause):
        return f"{kept['who']}不能吃{kept['o']}"
    if found := _FOUND_OUT.fullmatch(clause):
        who, rest = found["who"], found["rest"]
        rest = re.sub(r"(?<=[^为])为(?=.)", "", rest)  # 诊断豆豆为花生过敏
        whose = re.match(rf"(?P<who>我|他|她|我?的?(?:{KIN_ZH})|[^对]{{1,6}}(?=对))对?(?=.+过敏)", rest)
        if whose is None and (named := _BY_NAME.fullmatch(rest)) is not None:
            who, rest = named["who"] or who, f"{named['o']}{named['not'] or ''}过敏"
        elif whose is not None:
            who = who if who and whose["who"] in ("他", "她") else whose["who"]
            rest = rest[whose.end() :]
        others = whose is not None and whose["who"] == "我" and found["who"] not in ("", *_SELF)
        if others or (not who and found["by"] and scene.subject is None):
            return ""  # 小明的医生说我过敏: who says "I" is unsure
        rest = re.sub(r"(?:也|都|还是?|严重)*过敏$", "过敏", rest.removeprefix("对"))
        return f"{who}对{rest}"
    if over := _OVER.fullmatch(clause):
        named = None if over["who"] or over["food"] else _BY_NAME.fullmatch(clause)
        if named is not None:
            return f"{named['who']}对{named['o']}不过敏"
        return f"{over['who'] or ('我' if scene.subject is None else '')}对{over['food'] or over['o']}不过敏"
    bare = re.sub(rf"^我?的?(?:{KIN_ZH})(?=[\u4e00-\u9fff]{{4}})", "", clause)
    named = _BY_NAME.fullmatch(bare)  # 女儿豆豆花生过敏
    if named is None or not named["who"] or named["who"] in lexicon().chinese:
        named = None
    found = named or _OF_THING.fullmatch(clause) or _BY_NAME.fullmatch(clause)
    if found is None or not (found["who"] or scene.subject):
        return clause
    return f"{found['who']}对{found['o']}{'不' if found['not'] else ''}过敏"


def _cured(text: str, scene: Scene) -> list[Fact]:
    """The allergy that is over: 鸡蛋已经脱敏; 可以吃鸡蛋了, with which the ban on eating it ends."""
    found = _CURED.fullmatch(text)
    subject = subject_in(found["who"], scene, told=True) if found else None
    if found is None or subject is None or subject.person is False or _PLANNED.search(found["who"]):
        return []
    thing, eaten = found["ate"] or found["o"], found["ate"] or found["eat"]
    over = [Fact(subject.name, each, thing, False) for each in ("allergic_to", *(["cannot_eat"] if eaten else []))]
    return [replace(each, valid_from=since_when(text, text, scene)) for each in over]


# What takes the place of a medicine: 爸爸的氨氯地平换成了缬沙坦, 医生给换成了缬沙坦.

_MEDICINE_CHANGED = re.compile(
    r"(?P<who>[^，把从将]*?)(?:(?:给|帮)(?P<to>[^，把从将]{0,8}?))?(?:的?(?:降压|降糖|降脂|抗凝)?药)?(?:[把从将由](?P<x>[^，]{1,16}?))?"
    r"(?:都|也|已经|后来)*(?:换成|换为|改成|改为|改吃|改服|改用|换到|换)了?(?P<o>[^，]{2,12})"
)


def _medicine_changed(text: str, scene: Scene) -> list[Fact]:
    """The medicine that is taken now, and that no longer taken, which may have been named by a clause before."""
    found = _MEDICINE_CHANGED.fullmatch(text)
    new = scene.predicates.known("takes_medication", trimmed(found["o"])) if found else ""
    if found is None or not new or _PLANNED.search(found["who"]):
        return []
    old, whose = "", re.sub(rf"(?:{_PRACTICE})?(?:给|帮)?$", "", found["who"]) or found["to"] or ""
    for at in range(len(moved := found["x"] or whose)):
        if old := scene.predicates.known("takes_medication", moved[at:]):
            owner = moved[:at].removesuffix("的")
            whose = (owner or whose) if found["x"] else owner
            break
    before = scene.medicine
    by_doctor = not whose and found["who"] != ""  # of whom, only what went before tells
    unnamed = not whose and scene.subject is None and (before is not None or by_doctor)
    subject = None if unnamed else subject_in(whose.removesuffix("的"), scene, told=True)
    name = subject.name if subject else before.subject if before and unnamed else ""
    if not name or (subject is not None and subject.person is False) or _CARER.search(name):
        return []
    old = old or (before.object if before is not None and before.subject == name else "")
    scene.medicine = Fact(name, "takes_medication", new)
    # Where the old one is not named it is the only one there is.
    stated = [scene.medicine, *([Fact(name, "takes_medication", old, False)] if old != new else [])]
    return [replace(each, valid_from=since_when(text, text, scene)) for each in stated]


def _dosed(before: str, scene: Scene) -> list[Fact]:
    """爸爸的氨氯地平（加到10毫克）: what is taken still."""
    for at in range(len(before)):
        medicine = scene.predicates.known("takes_medication", before[at:])
        subject = subject_in(before[:at].removesuffix("的"), scene, told=True) if medicine else None
        if medicine:
            return [Fact(subject.name, "takes_medication", medicine)] if subject and subject.person else []
    return []


#: 咖啡戒掉了, 我把咖啡戒了 as 戒了咖啡; of 老王戒了 nothing tells what.
_GIVES_UP = frozenset("戒喝抽")
_GIVEN_UP = re.compile(
    rf"(?:{_WHO}(?:现在|已经|终于|彻底|把|早就)*)?(?P<o>[^，]{{1,6}}?)"
    r"(?:(?:现在|已经|终于|彻底|也|都|早就|给)*戒(?:掉|断)?了|(?:现在|已经|也|都|早就|以后|再也)*不再?[喝抽]了)"
    rf"|(?:{_WHO.replace('who', 'who2')})?(?:从来|一直|平时|现在|都|也)*不[喝抽](?P<o2>[^，了]{{1,4}})"
)


def _given_up(clause: str, scene: Scene) -> str:
    found = _GIVEN_UP.fullmatch(clause) if not _GIVES_UP.isdisjoint(clause) else None
    habit = found["o"] or found["o2"] if found else ""
    known = scene.predicates.known("likes", habit) == habit or normalize(habit) in scene.predicates.kinds
    return f"{found['who'] or found['who2'] or ''}戒了{habit}" if found and known else clause


# Who leads a project: 青鸟项目现在由周敏负责.

_LED_BY = re.compile(
    r"(?P<thing>[^，由]{2,12}?项目|[A-Z][A-Za-z\d_-]*)(?:[^，由]{0,8}[起]|现在|目前|以后|之后|已经|改|转|就|都)*由"
    r"(?P<o>[^，由]{2,6}?)(?:来|全权|接着|继续)?(?:负责|牵头|主管|带)了?"
)


def _led_by(text: str, scene: Scene) -> list[Fact]:
    """Who leads a project now; whoever left by the clause before no longer does."""
    found = _LED_BY.fullmatch(text)
    leads = person_in(found["o"], scene.predicates) if found else ""
    subject = subject_in(found["thing"], scene) if found and leads and not _PLANNED.search(text) else None
    if subject is None:
        return []
    stated = [Fact(subject.name, "owner", leads)]
    if scene.leaving and scene.leaving != leads:
        # Where a note only said 项目负责人, he was that of "our" project.
        stated += [Fact(each, "owner", scene.leaving, False) for each in dict.fromkeys((subject.name, WE))]
    return [replace(each, valid_from=since_when(text, text, scene)) for each in stated]


# What takes whose place. What place that is, such a sentence often leaves to other notes.

_LEAVES_ZH = re.compile(
    r"(?P<x>[\u4e00-\u9fff]{2,4}?|[A-Z]\w+)(?:马上|快|即将|下个?月|本月底?)?(?:就)?(?:要)?(?:走了?|离开了?|离职了?|退休了?|调走了?|辞职了?|调[去到往]了?[^，]{1,8})(?:公司|团队)?$"
)
_TAKES_OVER_ZH = re.compile(
    r"(?:(?P<when>从?[^由，]{0,14}?(?:起|开始)?))?[，,]?由?(?P<y>[\u4e00-\u9fff]{2,4}?|[A-Z]\w+)"
    r"(?:将|会|来)?(?:接替|接任|顶替)(?P<x>[\u4e00-\u9fff]{2,4}?|[A-Z]\w+)?(?:的工作|的位置|的职位)?$"
    r"|(?:(?P<when2>从?[^由，]{0,14}?(?:起|开始)))?由(?P<y2>[\u4e00-\u9fff]{2,4}?|[A-Z]\w+)(?:来|负责)?(?:接手|接管|接任|接替)(?:工作)?$"
    r"|(?P<y3>[\u4e00-\u9fff]{2,3}|[A-Z]\w+)(?:会|将)?(?P<when3>从?[^由，]{2,14}?(?:起|开始))(?:接手|接管|接任|接替)(?:工作)?$"
)
_NAME_ZH = rf"[{SURNAMES}](?:{_GIVEN}){{1,2}}?|[小老阿]{_GIVEN}|[A-Z][a-z]+"
_OFF_ZH = r"(?:(?:正在|在|要|会)?(?:休|请)(?:产|病|年|陪产|长|婚|事)?假|出差|不在|外出)"
#: For a time: Ruth 休产假, 周敏休假期间由李强代班, 李强暂代周敏的工作.
_AWAY_ZH = re.compile(rf"(?P<x>{_NAME_ZH})[^，]{{0,12}}?{_OFF_ZH}[^，]{{0,8}}")
#: One of these is in every clause that the two match.
_COVERS, _AWAY = frozenset("代顶接负替"), frozenset("假差在外")
_STANDS_IN_ZH = re.compile(
    rf"(?:(?P<x>{_NAME_ZH})[^，]{{0,12}}?{_OFF_ZH}[^，由]{{0,4}}?)?(?:[，,]\s?)?(?:先|暂时|暂)?由(?P<y>{_NAME_ZH})(?:先|暂时|来|临时|暂)*"
    r"(?:代班|顶班|代管|代理|代劳|代[他她]|顶替|接手|负责)(?:工作|[他她])?"
    rf"|(?P<y2>{_NAME_ZH})(?:先|暂时|临时|会|来|帮|替|给)*(?:代班|顶班|代[他她]|(?:暂代|代理|代替|代|替|顶替?)(?P<x2>{_NAME_ZH})(?:的(?:工作|班|职位|位置))?(?:上班|代班|顶班)?)"
)
_DID_ZH = r"(?:我们?)?(?:今天|昨天|上周|终于|刚刚?|已经|又|也)*"
_OLD_ZH = r"(?:我的|坏掉的|坏了的|旧的?|老的?|原来的|那[部台辆])*"
_REPLACED_ZH = re.compile(
    rf"{_DID_ZH}(?:买|入手)了?(?:新的?)?(?:一?[部台辆个])?(?P<y>[^，]+?)"
    rf"\s?来?(?:替换|替代|取代|代替|换)(?:掉|下)?了?\s?{_OLD_ZH}(?P<x>[^，]+)"
)
_BROKE_ZH = re.compile(
    rf"{_OLD_ZH}(?P<x>[^，的]{{2,14}}?)\s?(?:突然|彻底|终于|今天|昨天|又)*(?:摔?坏|丢|报废|进水|卖掉?)了?"
)
_INSTEAD_ZH = re.compile(rf"{_DID_ZH}(?:就|于是)?换(?:成了?|了|为)(?:一?[部台辆个])?\s?(?P<y>[^，]+)")
_NO_PRODUCT = re.compile(r"[我你他她它这那了是在和]|^(?:一|手机|电脑|车|东西|新|什么)")


def _thing_zh(text: str, scene: Scene) -> str:
    if latin := latin_in(text, scene.predicates):
        return latin
    thing = phrase_in(text)
    plain = thing in lexicon().chinese or is_place(thing)
    return "" if plain or len(thing) > 6 or _NO_PRODUCT.search(thing) else thing


def _takeover(text: str, scene: Scene) -> list[Fact]:
    """Who or what takes whose place: 从6月1日起由韩梅接手, 旧尼康坏了，换成佳能."""
    if replaced := _REPLACED_ZH.fullmatch(text):
        return instead(_thing_zh(replaced["x"], scene), _thing_zh(replaced["y"], scene), text, scene)
    if scene.broken and (newer := _INSTEAD_ZH.fullmatch(text)):
        return instead(scene.broken, _thing_zh(newer["y"], scene), text, scene)
    if broke := _BROKE_ZH.fullmatch(text):
        scene.broken = _thing_zh(broke["x"], scene)
    if leaves := _LEAVES_ZH.fullmatch(text):
        scene.leaving = leaves["x"]
        return []
    if not _COVERS.isdisjoint(text) and (covers := _STANDS_IN_ZH.fullmatch(text)):
        gone, new = covers["x"] or covers["x2"] or scene.leaving, covers["y"] or covers["y2"]
        return covered(gone, new, text, scene) if gone and gone != new else []
    if not _AWAY.isdisjoint(text) and (away := _AWAY_ZH.fullmatch(text)):
        scene.leaving, scene.away = away["x"], text
        return []
    found = _TAKES_OVER_ZH.fullmatch(text)
    if found is None:
        return []
    new, gone = found["y"] or found["y2"] or found["y3"], found["x"] or scene.leaving
    if not gone or gone == new:
        return []
    return [replace(Fact(gone, "succeeded_by", new), valid_from=since_when(text, text, scene))]


# From a shape that matched to facts: the object cut out and judged by what its predicate takes.

#: Around the thing whose version or date it is.
_AFTER_THING = re.compile(r"(?:的?版本号?|的|已经?|把|将|现在|我们|把它|了|今天|昨天|刚刚?|正式)+$")
_AFTER_EVENT = re.compile(r"(?:从[^，]{1,10}|时间|日期|的|已经?|把|将|现在|我们|把它|了|今天|昨天|刚刚?|正式)+$")
_BEFORE_THING = re.compile(r"^(?:每天的?|以后|今后|我们|我|把|将|的|今天|昨天|刚刚?|请?记住|项目把)+")
#: 瑜伽课换老师了，时间改成周四: whose time the next clause tells.
_OF_EVENT = re.compile(
    r"(?:我们?的?)?(?P<event>[^，的了是在]{0,6}(?:课|预约|门诊|训练|培训|评审|例会|会议|讲座))(?P<teacher>(?:最近|已经)?换了?(?:个|新)*(?:老师|教练)了?$)?"
)
_TAUGHT_BY = re.compile(r"(?:新?(?:老师|教练)(?:是|换成了?|改成了?|叫)|由)(?P<o>[^，]{2,6}?)(?:来?[教带上]课?)?了?")
#: What 是 and 在 may say a time of.
_EVENT = re.compile(
    "(?:会议?|课|预约|面试|考试|航班|[早午晚]饭|[早午晚聚]餐|活动|比赛|演出|手术|体检|评审|培训|讲座|婚礼|典礼|训练|门诊|直播"
    "|发布|上线|复查|彩排|练习|集合|出发|营业|接送|闹钟|班车|保养|取车)$"
)
_NO_THING = re.compile(r"[是在有和跟从到说不没]|[^\w .+#-]|.{15}")
#: Of these a thing may be the subject, too.
_OF_THINGS = ("named", "office", "likes", "dislikes", "uses")
_PRACTITIONER = re.compile(
    r"(?P<name>[\u4e00-\u9fffA-Z][\u4e00-\u9fff\w ]{0,12}?\s?"
    r"(?P<title>大夫|医生|医师|师傅|老师|教练|律师|先生|女士|太太|阿姨|教授))(?:那[里边儿])?(?:看病|看)?了?"
)
_NO_FOOD = re.compile(r"[药亏苦饭太多下完到的这那不喝力透准惊]|^[香醋]$|一点|任何|回头草|老本|东西|什么|早餐|午餐|晚餐")
_EATEN = re.compile(r"^(?:吃|喝|这份|我的)(?=.)")


_SOME_PLACE = re.compile(
    "[一某](?:家|所|间|个)|^(?:医院|学校|小学|中学|幼儿园|银行|公司|工厂|餐厅|饭店|酒店|超市|商场|律所|诊所|药店|法院|工地)$"
)


def made(shape: Shape, subject: Subject, parts: dict[str, str], scene: Scene) -> list[Fact]:
    """The facts of a match, all of them as if so and untimed (those of what was left behind with `holds` False)."""
    if subject.person is False and shape.predicate not in _OF_THINGS:
        return []
    kind = shape.kind.removeprefix("relation ").rstrip("?")
    value = parts.get("o") or parts.get("o2") or parts.get("o3") or ""
    value = "" if value in ("他", "她") and shape.aspect is Aspect.END else value  # 我和他分手了
    if kind == "child":
        return [Fact(subject.name, "child", value), Fact(subject.name, "pregnancy", "", False)]
    if shape.predicate == "likes" and scene.predicates.known("takes_medication", value):
        return []  # 不吃阿司匹林了 is no matter of taste
    if kind == "banned":
        name = tool_in(value, scene.predicates, known=True)
        return [Fact(WE, "forbids", name)] if name and scene.predicates.role(name) is not None else []
    if kind == "owned":
        phone = latin_in(value, scene.predicates)
        return [Fact(subject.name, "uses", phone)] if scene.predicates.role(phone) == "phone" else []
    if kind == "known":
        return _known(shape, value, subject, scene)
    if kind in ("tool", "bare tool"):
        return _tools(shape, subject, value, parts, scene)
    if kind == "foods":
        foods = [food for part in listed(value) if not _NO_FOOD.search(food := phrase_in(part))]
        return [Fact(subject.name, shape.predicate, each) for each in foods if each]
    if kind == "phrases":
        found = [phrase_in(part) for part in listed(value)]
        return [Fact(subject.name, shape.predicate, each) for each in found if each]
    if kind == "place" and shape.aspect is not Aspect.END and (home := home_in(value, scene.predicates)):
        lives = subject.name != WE or subject.we  # a company lives nowhere
        return [Fact(subject.name, *each) for each in home[: 1 + lives]]
    if kind == "place" and not subject.first and scene.predicates.is_technology(trimmed(value)):
        return []  # Lantern 搬到阿里云了 is a move of tools
    now = _cut(kind, value, scene)
    if not now and kind == "employer" and parts.get("title") and (is_place(value) or _SOME_PLACE.search(value)):
        title = _cut("title", parts["title"], scene)  # 在杭州一家出版社做编辑
        return [Fact(subject.name, "job_title", title)] if title else []
    if not now:
        may_lack = kind == "none" or (shape.kind.endswith("?") and not value)
        return [Fact(subject.name, shape.predicate, "", False)] if may_lack else []
    facts = [Fact(subject.name, shape.predicate, now, shape.aspect is not Aspect.END)]
    if before := _cut(kind, parts.get("x", ""), scene):
        facts.append(Fact(subject.name, shape.predicate, before, False))
    if not parts.get("title"):
        return facts
    title = _cut("title", parts["title"], scene)  # 在谷歌做数据科学家, but not 在公园做操
    return [*facts, Fact(subject.name, "job_title", title)] if title else []


def made_of_thing(shape: Shape, parts: dict[str, str], before: str, scene: Scene) -> list[Fact]:
    """Versions and dates are those of a thing; of nothing in particular they are ours."""
    before = re.sub("^[^，]{0,8}?[把将]", "", before)
    after = _AFTER_THING if shape.predicate == "version" else _AFTER_EVENT
    thing = _BEFORE_THING.sub("", after.sub("", before.strip(" ，,"))).strip()
    if not thing and (shape.kind == "date" or "时间" in before):
        thing = scene.event
    if thing and (_NO_THING.search(thing) or (shape.kind == "event" and not _EVENT.search(thing))):
        return []
    if shape.kind == "release":
        return [Fact(f"{canonical_subject(thing)}的{parts['act']}" if thing else parts["act"], "date", parts["o"])]
    subject = canonical_subject(thing) if thing else WE
    if shape.predicate != "version":
        timed = _EVENT.search(thing) or "时间" in before or shape.kind == "event"  # 天天改稿改到一点: until one
        day, clock = when_in(parts["o"])
        clock = clock if timed else ""
        if not thing and shape.predicate != "deadline":
            return []
        found = [Fact(subject, shape.predicate, day)] if day else []
        return [*found, Fact(subject, "time", clock)] if clock else found
    version, old = version_in(parts["o"]), version_in(parts.get("x", ""))
    if not version:
        return []
    found = [Fact(subject, "version", version)]
    if old:
        found.append(Fact(subject, "version", old, False))
    if scene.predicates.role(subject) is not None and before.strip().startswith("我们"):
        found.append(Fact(WE, "uses", f"{subject} {version}"))
    return found


def _known(shape: Shape, value: str, subject: Subject, scene: Scene) -> list[Fact]:
    """What the table lists for the predicate, since the verb alone says too little (有哮喘, 有时间)."""
    value = trimmed(value)
    known = scene.predicates.known(shape.predicate, value)
    if known and shape.predicate == "drives":
        known = phrase_in(value)
    found = Fact(subject.name, shape.predicate, known, shape.aspect is not Aspect.END)
    if known and shape.predicate == "takes_medication" and found.holds:
        scene.medicine = found
    return [found] if known else []


def _cut(kind: str, text: str, scene: Scene) -> str:
    if not text:
        return ""
    match kind:
        case "place":
            return place_in(text, scene.predicates)
        case "town":
            known = any(is_place(text[:size]) for size in range(2, 9)) or is_known_place(text)
            return place_in(text, scene.predicates) if known else ""
        case "employer":
            return employer_in(text, scene.predicates)
        case "person" | "relation" | "own name":
            return person_in(text, scene.predicates)
        case "title" | "trade":
            title = phrase_in(text)
            by_surname = title[:1] in SURNAMES and TRADES_ZH.fullmatch(title[1:])  # 秦主任
            return title if TRADES_ZH.search(title) and not (by_surname or _BY_SURNAME.fullmatch(title)) else ""
        case "diet":
            return text
        case "food":
            thing = phrase_in(text)
            return "" if _NO_FOOD.search(thing) else thing
        case "phrase":
            return phrase_in(_EATEN.sub("", text))
    return phrase_in(text)


def _tools(shape: Shape, subject: Subject, value: str, parts: dict[str, str], scene: Scene) -> list[Fact]:
    if re.search("(?:药|药片|胶囊)$", subject.name):
        return []  # 爸爸的药换成了……: taken, not used
    if title := _PRACTITIONER.fullmatch(value):
        # 换到了何伟医生: a person is not used; a medical title says what role he or she has now.
        medical = title["title"] in ("医生", "大夫", "医师") and shape.aspect is Aspect.BEGIN and subject.person
        name = scene.cast.me.name if subject.name == WE else subject.name
        return [Fact(name, "doctor", title["name"])] if medical else []
    table = scene.predicates
    moved = parts.get("x", "")
    if (of := _TOOL_OF.fullmatch(moved)) and table.is_technology(of["tool"]):
        subject, moved = subject_in(of["owner"], scene) or subject, of["tool"]  # 替换了 Heron 的 MySQL
    elif (of := _TOOL_OF.fullmatch(subject.name)) and table.is_technology(of["tool"]):
        subject, moved = _named(of["owner"], scene) or subject, of["tool"]  # Tern 的 RabbitMQ 换成了 NATS
    within = _WITHIN.match(value)  # Python 的 FastAPI: both
    language = within["o"] if within and table.role(within["o"]) == "language" else ""
    value = value[within.end() :] if within and language else value
    thing = _is_thing(parts, table) if shape.tail.startswith("(?:把") else False
    before = tool_in(parts.get("x2") or ("" if thing else moved), table, known=True)
    if shape.aspect is Aspect.END:
        return [Fact(subject.name, "uses", before, False)] if before else []
    # 班车改成七点发车了: of what is no known tool, only we and our systems can be users.
    ours = subject.name == WE or subject.person is False or subject.first
    carried = shape.tail.startswith("搬")  # 我们搬到三楼了: only what is a known tool
    new = tool_in(value, table, known=shape.kind == "bare tool" or not ours or carried)
    new = "" if carried and not table.is_technology(new) else new
    if not new or (not ours and shape.kind == "bare tool" and not table.is_technology(new)):
        return []  # 坐标用SRID 4326 is no user of a tool
    if shape.tail.startswith("(?:把") and is_cjk(new[0]) and table.role(new) is None and not before:
        return []  # 把手机换成了静音: no tool, nor was one replaced
    if thing:
        # 把服务迁到了腾讯云: what is moved is what it is about.
        subject = subject_in(re.sub(r"(?:全部|都)$", "", moved), scene) or subject
    if table.role(new) == "theme":
        # A theme is to somebody's taste; whoever says "we" speaks of himself, too.
        return [Fact(scene.cast.me.name if subject.name == WE else subject.name, "prefers", new)]
    facts = [Fact(subject.name, "uses", each) for each in (new, language) if each]
    return [*facts, Fact(subject.name, "uses", before, False)] if before else facts


_WITHIN = re.compile(r"(?P<o>[A-Z][\w.+#]*)\s?的\s?(?=[A-Z])")
_TOOL_OF = re.compile(r"(?P<owner>[^，]{1,20}?)\s?的\s?(?P<tool>[A-Za-z].*)")


def _is_thing(parts: dict[str, str], table: Predicates) -> bool:
    """Whether what is moved is what uses a tool, and no tool itself: 把 Heron 迁到, 把缓存从 A 换成, 把 Jira 换成."""
    moved = parts.get("x", "")
    if parts.get("x2") or re.search(rf"{_USED_AS}$", moved):
        return True
    tool = tool_in(moved, table, known=True)
    return not tool or (bool(parts.get("move") or parts.get("host")) and not table.is_technology(tool))


# The facts that Chinese clauses state: whom a clause is about, its verb, and what follows.

#: In front of a verb these make it a plan, a wish, a duty, or somebody else's words.
_PLANNED = re.compile(
    r"打算|计划|考虑|希望|准备|将要|将会|应该|应当|想(?!起|到)|可能|(?<![主重])要(?!求)|(?<![周例晚晨午站年班审长大聚展乐茶酒座])(?<!^早)(?<![^迟]早)会(?!议|员|计|后|儿)|能|可以|建议|推荐|正在|试试|试用|讨论(?!后)|梦|如(?!今)|假|愿|不如"
    r"|差点|几乎|(?<![特分区性级个])别|劝|让|请(?!记)|帮(?!我记)|教|谁|什么|哪|怎|多少|问|听说|觉得|以为|争取|必须|允许|禁止|拒绝|即将|快要|下个?(?:月|周|星期)|明[天年]|后[天年]|[说写讲]"
)
_NOT = re.compile(r"(?:不再|不|没有?|未|从不|从没|并未|并不|不是)$")
_FORMERLY = re.compile(r"以前|曾经?|过去|从前|之前(?!的)|原来|原先|当年|本来|一度|当时")
#: Behind the verb these make it an aside about another time, or about something else than the subject.
_ASIDE = re.compile(r"的(?:时候|话|那天|那年|那段|人|项目|团队|同事|朋友|消息(?!队列)|公司)|时[要会应]|的时[期间]")
#: With these a time is when it began; without them, when it was so (1月我还住在北京).
_FROM_THEN_ON = re.compile(r"现在|目前|如今|起|开始|以来|自从?|从|了|换成|改|搬到|一直")
_FOR_NOW = re.compile(r"(?<!从)(?:今天|今晚|中午|晚上|昨天|昨晚|周末|这几天|这次|暂时|出差|先)(?!起|开始)")
#: Without 我 a clause tells of what has happened; "使用 MySQL" alone may be advice.
_TOLD = re.compile(r"了|现在|目前|如今|已经?|刚|起|昨|去年|上个?月|上周|今天|过敏|\d月|[一二三四五六七八九十]月")
#: 王芳说她搬家了: who "she" is; 我说过我住在……: said by whoever speaks.
_REPORT = re.compile(
    r"(?P<who>[^，,]{1,10}?)(?:今天|昨天|刚刚?)?(?:跟我|对我|和我|给我|向我|跟大家)?(?:说过?|告诉(?:了)?(?:我|大家)|提到过?)[，,：:]?\s*(?P<whose>[他她它我])"
)
_CARED_FOR = re.compile(
    rf"(?P<whose>[^，]{{1,8}}?(?=的)|我?(?:{KIN_ZH}))的?(?:主治|家庭|儿科|皮肤科|过敏科)?(?:牙医|医生|大夫|护士|老师|教练)"
)

#: 妈妈换手机号了，新的是138……: the value of what was said to have changed.
_NEW_ONE = re.compile(r"^(?:现在的?|新的?|新号码?|新号|现)(?:变成|换成|是|改成)了?(?=.)")
_NO_ROLE = re.compile(r"[是在有说问找给跟和]|最[低高]|平均|人均|基本")
_FROM_NOW = re.compile("从(?:明天|后天|下周[一二三四五六日天]?|下个?月|下个星期|今天)(?:开始|起)")
#: What begins on a day that is named so is settled, if ahead: 从下个月起搬到滨江区.
_FROM_A_DAY = re.compile(r"(?:从|自)[^，]{1,10}(?:起|开始)|[月日号周年]起")
#: So few characters before a comma (搬家了，) name nobody else.
_SHORT = 4


def facts_of_sentence(sentence: Sentence, scene: Scene) -> list[Fact]:
    """The facts of a Chinese sentence, clause by clause."""
    scene.begin_sentence()
    scene.opening = True
    who, role = replaced(sentence.who or "", scene.predicates)
    if role:
        scene.replaced = f"{who or '我'}的{role}"  # 换了手机号：139……
    found: list[Fact] = []
    for clause in sentence.clauses:
        if GAP in clause.text:
            scene.subject, scene.opening = None, False
            continue
        mine = _facts_of(clause.text, scene)
        if (
            (not mine or _FROM_A_DAY.search(clause.text))
            and (lead := times(clause.text, scene.said)).named
            and len(clause.text) <= 12
        ):
            scene.lead = lead  # 去年三月，我搬到了……
        found += mine
    return found


def _facts_of(text: str, scene: Scene) -> list[Fact]:
    text = allergy_turned(turned(_as_told(text, scene), scene.predicates), scene)
    text = _given_up(text, scene)
    if project := _PROJECT.fullmatch(text):
        scene.whole = canonical_subject(project["name"] or project["called"])
    if event := _OF_EVENT.match(text):
        scene.event = event["event"]
        if event["teacher"]:
            return [Fact(scene.event, "teacher", "", False)]
    if (
        scene.event
        and (taught := _TAUGHT_BY.fullmatch(text))
        and (who := _person_of_role(taught["o"], scene.predicates))
    ):
        return [Fact(scene.event, "teacher", who)]
    who, role = replaced(text, scene.predicates)
    if role:
        scene.replaced = f"{who or '我'}的{role}"
    elif scene.replaced:
        text = _NEW_ONE.sub(f"{scene.replaced}换成", text)
        text = f"{scene.replaced}换成{text}" if _DIGITS.fullmatch(text) else text  # 换了手机号：139……
    text, named = _named_relative(text, scene)
    for read in (_cured, _medicine_changed, _led_by, _takeover, _of_role):
        if found := read(text, scene):
            return [*named, *found]
    found = named
    table = chinese()
    at = begun = 0
    while at < len(text):
        for shape in table.get(text[at].casefold(), ()):
            match = shape.match(text, at)
            stated = _stated(shape, match, text[begun:at], text, scene) if match else None
            if match and stated is not None:
                found += stated
                at = begun = max(match.end(), at + 1)
                break
        else:
            at += 1
    if text and not found and not begun:
        scene.opening = scene.opening and (text[0] in table or len(text) <= _SHORT)
        _introduce(text, scene)
    return found


def _of_role(text: str, scene: Scene) -> list[Fact]:
    """我的房东是老陈: what the table's roles are said to be."""
    match = pattern(scene.predicates).fullmatch(_AT_WORK.sub(_whose_role, text))
    if match is None:
        return []
    who = _MY_PLACE.sub("我", _NOW.sub("", _FROM_NOW.sub("", match["who"])))
    if any(each.search(who) for each in (_FORMER, _PREMISES, _PLANNED, _NO_ROLE)):
        return []
    row = scene.predicates.rows[scene.predicates.canonical(match["role"])]
    if match["sum"] is not None and row.value != "amount":
        return []
    if row.value == "person" and match["is"] in ("在", "位于"):
        return []  # 我老公在华为上班
    apposed = match["apposed"] is not None
    value = apposed_in(row, match["name"]) if apposed else value_in(row, match["o"], scene.predicates)
    value = value or (match["o"] if row.name == "lives_in" and _STREET.match(match["o"]) else "")
    subject = subject_in(who, scene, told=row.personal) if value else None
    if subject is None and value and row.personal and not who and (scene.opening or row.name != "salary"):
        subject = scene.cast.me  # 新房东姓邵: mine, where nobody else was named
    if subject is None or (subject.person is False and row.personal):
        return []
    name = scene.cast.me.name if row.personal and subject.name == WE else subject.name
    aspect = Aspect.BEGIN if match["change"] else Aspect.STATE
    shape = Shape(row.name, aspect, "role", "")
    formerly = _FORMERLY.search(match["who"]) is not None
    fact = Fact(name, row.name, value)
    found = [fact]
    if row.name == "lives_in":
        found = [Fact(name, *each) for each in home_in(match["o"], scene.predicates)] or found
    elif row.name == "address" and subject.person and (match["change"] or "新" in match.string[: match.start("role")]):
        found = [Fact(name, *each) for each in home_in(value, scene.predicates)] or found
    if match["role"] == "年薪":
        found = [replace(each, object=f"{each.object}一年") for each in found]
    if apposed:
        return [] if formerly else [fact]  # the rest of the clause is about another thing, and so are its times
    return _timed(found, shape, text, scene, negated=bool(match["not"]), formerly=formerly)


def _whose_role(found: re.Match[str]) -> str:
    """我在阿里的领导 and 我们公司的领导 as 我的领导; of a company that one left, as it stands."""
    return found[0] if _FORMER.search(found[0]) else f"{found['who'] or found['own'] or '我'}的"


_FORMER = re.compile(
    "前(?:任|公司|单位|东家)?的?(?:直属)?$|原(?:公司|单位)|老东家|上一?(?:家|任|份)|以前|之前|原来|曾经"
)
#: The address of a company, or its number, is nobody's own.
_PREMISES = re.compile(
    "(?:[老旧]房子?|[老前]家|隔壁|楼[上下]|对面|公司|单位|店|厂|诊所|学校|医院|车行|酒店|办公室|工作室)的?$"
)
#: 新房子房租六千二, 现在的房租: of where I live now.
_MY_PLACE = re.compile(
    "^(?:我们?家?的?)?(?:(?:新|现在(?:住)?的|目前(?:住)?的|这边的?)(?:(?:房子|家|房|公寓|住处|小区|地方)的?)?|(?:房子|住处)的?)$"
)
_NOW = re.compile("^(?:现在|目前|如今)(?!的)|(?:现在|目前|如今)$")
_AT_WORK = re.compile(
    "^(?:(?P<who>我|他|她|[^，的是在]{2,8}?)们?(?:(?:现在)?在[^，的是]{1,12}的|的?新?(?:公司|单位|部门)里?的)"
    "|(?P<own>[我他她])们?新?(?:公司|单位|部门)|新(?:公司|单位|部门)的)(?:直属|顶头|直接)?"
    "(?=(?:上司|领导|老板|主管|经理|组长|技术负责人|工位|办公室|职位|岗位)(?:是|叫|换|姓|在))"
)


def _as_told(text: str, scene: Scene) -> str:
    """What somebody said of himself, as a statement about him."""
    report = _REPORT.match(text)
    if report is None:
        return text
    if (of := _CARED_FOR.fullmatch(report["who"])) and report["whose"] != "我":
        return f"{of['whose']}{text[report.end() :]}"  # what the doctor says is said of the patient
    if _CARER.search(report["who"]) and report["whose"] != "我":
        return text[report.start("whose") :]
    subject = subject_in(report["who"], scene) if report["whose"] != "它" else None
    mine = subject is not None and subject.first
    if subject is None or mine is not (report["whose"] == "我") or "们" in text[report.end() : report.end() + 1]:
        return text
    return f"{report['who']}{text[report.end() :]}"


def _introduce(text: str, scene: Scene) -> None:
    """A clause that states nothing known may still say whom the next is about (王芳是我的同事)."""
    found = re.match(
        r"(?P<who>[\w .]{1,20}?|[\u4e00-\u9fff]{2,4}?)(?:是|在|说|告诉|今天|昨天|上周|去年|[吃喝]了?)", text
    )
    # 爸爸血压有点高，开始吃……
    found = found or re.match(rf"(?P<who>(?:我的?)?(?>{KIN_ZH}))(?!的|们|家|和|跟|与)", text)
    if found is None and (called := re.match(rf"(?P<who>[小老阿]{_GIVEN})(?=[\u4e00-\u9fff]{{2}})", text)):
        found = None if called["who"] in lexicon().chinese else called  # 阿杰转正，工资4500
    if found:
        subject_in(found["who"], scene)


def _stated(shape: Shape, match: re.Match[str], before: str, text: str, scene: Scene) -> list[Fact] | None:
    """The facts of a match; None where it is none after all."""
    if shape.predicate in DATED or shape.aspect is Aspect.BEGIN:
        before = _FROM_NOW.sub("", before)
    if _PLANNED.search(before) or _ASIDE.search(text, match.start()):
        return None
    passing = shape.predicate in ("diet", "practises", "avoids") or shape.kind == "town"
    if (passing or (shape.predicate == "likes" and shape.aspect is Aspect.END)) and _FOR_NOW.search(text):
        return None
    if shape.predicate == "uses":
        before = limited_to(before)
    parts = {name: (value or "").strip() for name, value in match.groupdict().items()}
    negated = bool(parts.get("not")) or _NOT.search(before.strip()) is not None
    # 原来我对花生不过敏: it turns out, not once upon a time.
    turns_out = negated and before.strip().startswith("原来")
    formerly = (_FORMERLY.search(before) is not None and not turns_out) or "过" in parts.get("after", "")
    if not before.strip() and (shape.kind in ("relation tool", "banned") or _is_order(shape, match, scene)):
        before = "我们"  # 缓存换成了 Redis: ours
    if not before.strip() and shape.kind == "owned" and scene.subject is None:
        before = "我"
    if not before.strip() and shape.predicate == "uses" and scene.whole and _HOSTED.match(text, match.start()):
        before = scene.whole  # of the project, not of the part that was named last
    if shape.kind == "dose":
        found = _dosed(before, scene)
    elif shape.kind in ("version", "date", "event", "release"):
        found = made_of_thing(shape, parts, before, scene)
    else:
        told = _TOLD.search(text) is not None or (shape.predicate == "lives_in" and _between_towns(parts))
        subject = subject_in(before, scene, told=told)
        if subject is None or (scene.predicates.is_safety(shape.predicate) and _CARER.search(subject.name)):
            return None  # who finds out what somebody has does not have it
        if shape.predicate == "named" and subject.first and not before.strip():
            return None  # 我请了私教，叫大伟
        found = scene.own(made(shape, subject, parts, scene), subject)
    if not found:
        return None
    return _timed(found, shape, text, scene, negated=negated, formerly=formerly)


def _between_towns(parts: dict[str, str]) -> bool:
    """Whether nothing but two towns is named (从上海搬到杭州滨江), as by whoever tells of his own move."""
    new = parts.get("o", "")
    quarter = r"(?:(?![要太很好想需是])[\u4e00-\u9fff]){0,3}"
    known = next((size for size in range(min(len(new), 8), 1, -1) if is_place(new[:size])), 0)
    return is_place(parts.get("x", "")) and known > 0 and re.fullmatch(quarter, new[known:]) is not None


def _is_order(shape: Shape, match: re.Match[str], scene: Scene) -> bool:
    """把网站迁到阿里云: what is decided of ours; of tools by name alone, where it opens the sentence."""
    moved = shape.kind == "tool" and shape.tail.startswith("(?:把") and scene.opening and scene.subject is None
    return moved and scene.predicates.role(match["o"]) is not None


def _timed(found: list[Fact], shape: Shape, text: str, scene: Scene, *, negated: bool, formerly: bool) -> list[Fact]:
    when = times(text, scene.said, lasting=shape.aspect is Aspect.STATE and not formerly and "了" not in text)
    if not when.named and scene.lead:
        when = scene.lead
    if shape.predicate == "practises" and not _FROM_THEN_ON.search(text):
        when = NO_TIMES  # 我周一打网球: each Monday
    if shape.predicate in DATED:
        return [] if negated else found
    announced = (
        shape.predicate in ("rent", "salary")
        or (shape.predicate == "school" and not re.search("[了年]", text))
        or (shape.aspect is Aspect.BEGIN and _FROM_A_DAY.search(text))
    )
    when = announced_for(when, text, scene.said) if announced else when
    if when.ahead:
        return []
    if shape.aspect is not Aspect.STATE:
        return [] if negated else [replace(each, valid_from=when.since) for each in found]
    if when.since and when.until:
        return [] if negated else [replace(each, valid_from=when.since, valid_to=when.until) for each in found]
    if when.until and (formerly or "了" in text or "一直" in text):
        return [] if negated else [replace(each, holds=False, valid_from=when.until) for each in found]
    if when.since and when.within and scene.said and when.within <= scene.said and not _FROM_THEN_ON.search(text):
        return [] if negated else [replace(each, valid_from=when.since, valid_to=when.within) for each in found]
    if formerly:
        return [] if negated else [replace(each, holds=False) for each in found]
    return [replace(each, holds=each.holds and not negated, valid_from=when.since) for each in found]
