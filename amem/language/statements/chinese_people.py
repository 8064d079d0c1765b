"""Whom a Chinese clause is about, and in what role."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.language import is_cjk
from amem.language.lexicon import is_person, is_place, lexicon
from amem.language.scripts import words
from amem.language.statements import chinese_objects as objects
from amem.language.statements.clauses import GAP
from amem.language.statements.objects import TRADES_ZH, amount_zh, date_in, version_in
from amem.language.statements.people import Subject
from amem.language.subjects import USER, WE, canonical_subject

if TYPE_CHECKING:
    from amem.language.predicates import Predicate, Predicates
    from amem.language.statements.tense import Scene


# Whom a Chinese clause is about: what stands before its verb, without the words that only say when and how.

KIN_ZH = (
    "妹妹|姐姐|哥哥|弟弟|妈妈|爸爸|母亲|父亲|妻子|丈夫|老婆|老公|太太|女朋友|男朋友|儿子|女儿|孩子|朋友|同事|室友|邻居|爷爷|奶奶|外公|外婆"
    "|岳母|岳父|丈母娘|丈人|公公|婆婆|姥姥|姥爷|外甥女?|侄子|侄女|伯父|伯母|伯伯|姨妈|舅妈|婶婶|嫂子|姐夫|妹夫|儿媳|女婿|叔叔|阿姨|姑姑|舅舅|表哥|表弟|表姐|表妹|堂哥|堂弟|堂姐|堂妹|老师|导师|医生|同学|闺蜜|老板|上司|经理|搭档|猫|狗|房东|爸|妈|姐|哥|弟|妹"
)
_KIN_END = re.compile(rf"(?:{KIN_ZH})$")
_KIN_NAME = re.compile(rf"^(?:(?:我|我们|他|她)的?)?(?:{KIN_ZH})(?P<name>[A-Z][\w ]*)$")
_YEAR = r"(?:\d{2,4}年|去年|今年|前年)的?"
_MONTH = r"(?:\d{1,2}|十?[一二三四五六七八九十])月份?"
_WHEN = (
    rf"(?:从|自|于|在)?(?:{_YEAR}(?:{_MONTH})?|{_MONTH})(?:\d{{1,2}}[日号])?(?:起|开始|以来|底|末|初|的时候|那会儿|那时候?)?"
    rf"|(?:从|自)?(?:{_YEAR})?(?:{_MONTH})?[到至](?:{_YEAR})?(?:{_MONTH})?"
    r"|(?:从|自)?(?:今天|现在|上周|上个?月|那|这)(?:起|开始)|[一二三四五六七八九十两\d]+(?:天|周|个?月|年)(?:前|来)"
    r"|上个?(?:月|周|星期)|这个?(?:月|周|星期)|本月|(?:周|星期)[一二三四五六日天]|现在|目前|如今|最近|今天|昨天|前天|刚刚?|从此"
    r"|每(?:天|日|周|晚|个?月|次|年)(?:早上|上午|中午|下午|晚上|早晚)?|早上|晚上|睡前|饭[前后]"
    r"|后来|最后|最终|以前|曾经?|过去|从前|原来|原先|之前|当年|[，,\s]"
)
#: Words that say when or how, but not who.
_MANNER = re.compile(
    rf"(?:{_WHEN}|刚才|已经?|终于|正式|一直|都|也|还|仍然?|又|才|就|再|其实|当时|这次|于是|年初|年底|以后|之后|平时|平常|经常|通常"
    r"|主要|全部?|全面|全家|一家|一起|统一|逐步|顺利|自从|决定|确定|本来|真的|确实|特别|非常|很|最|挺|比较|超级?|从小|生来|天生"
    r"|不再|不|没有?|并未|未|向来|始终|(?:在|于)?(?:新|这个|那个)?(?:公司|家)里?|新的?|现任|直属|经过讨论|讨论后|开会后"
    r"|为了[^，]{1,12}|大家|一致)+$"
)
_LEAD = re.compile(
    rf"^(?:{_WHEN}|嗯|哦|对了|其实|说起来|顺便说一下|另外|还有|好消息|慢慢地?|渐渐地?|更新|备注|提醒|请?你?(?:帮我)?(?:记住|记得|记一下)"
    r"|决定|结论|因此|总之|[：:])+"
)
#: What is used as something is ours, whatever it is: 缓存换成了 Redis.
_ROLE_NOUN = re.compile(
    r"(?:(?P<mine>我的)|我们的?|项目的?|公司的?)?主?"
    r"(?:数据库|缓存|编辑器|操作系统|消息队列|框架|包管理器|编程语言|云|CI|数据)"
)
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
_OF_ALL = words("生产环境 线上 生产 云 工作 内部 公司内部 项目 团队 公司")
_NO_NAME = re.compile(
    r"[的了在是不没和跟与把被从到对向给让又也都就才很]|什么|这|那|每|有|大家|别人|有人|时候|今天|昨天|结果|问题|可以"
)


def subject_in(before: str, scene: Scene, *, told: bool = False) -> Subject | None:
    """The subject that stands before the verb; that of the clause before where nothing stands there.

    Where a note opens without one it is whoever writes, if the clause tells (`told`) of what has happened.
    """
    text = before.strip(" ，,")
    for _ in range(3):
        text, last = _MANNER.sub("", _LEAD.sub("", text)).strip(" ，,"), text
        if text == last:
            break
    if GAP in text:
        return None
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
    thing = found["inside"] or found["named"]
    if thing in _OF_ALL or canonical_subject(thing) == WE:
        return found["lead"] + (found["us"] or found["then_us"])
    return found["lead"] + thing if _THING.fullmatch(thing) and not _NO_NAME.search(thing) else before


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
    if role := _ROLE_NOUN.fullmatch(text):
        return scene.cast.me if role["mine"] else Subject(WE, True)
    if (kin := _KIN_NAME.match(text)) is not None:
        return scene.cast.meet(Subject(kin["name"].strip(), True))
    if joined := re.match(r"(我们?)(?:和|跟|与)", text):
        return scene.cast.me if joined[1] == "我" else Subject(WE, True)
    if text[0] in "我他她" or "的" in text:
        return _owned(text, scene)
    if _THING.fullmatch(text) and not _NO_NAME.search(text):
        return scene.cast.meet(Subject(canonical_subject(text), False))
    if not _NAME.fullmatch(text) or _NO_NAME.search(text):
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


def _owned(text: str, scene: Scene) -> Subject | None:
    """我妹妹、我的数据库、小王的妹妹、她的经理."""
    found = re.fullmatch(r"(?P<owner>我们|我|他|她|[^的]{1,12}?(?=的))的?(?P<what>[\w\u4e00-\u9fff .-]{1,12})", text)
    if found is None or _NO_NAME.search(found["what"]):
        return None
    owner, what = found["owner"], found["what"]
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


# Allergies as people jot them down, written out as statements: "Allergies: latex, nuts", 我花生过敏, 芒果没事了.

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
_CAUSE = r"(?P<o>(?!严重|容易|有点|季节|皮肤|鼻子?|眼睛?|脸|身体|全身)[^对是有不我你他她它会得又了的人吃喝碰闻]{1,8}?)"
_WHO = rf"(?P<who>我们?家?(?:的)?(?:{KIN_ZH})|我|他|她|{KIN_ZH})"
_ALLERGIC_WHEN = r"(?P<when>(?:现在|从小|一直|已经|终于)*)"
_OF_THING = re.compile(rf"{_WHO}{_ALLERGIC_WHEN}{_CAUSE}(?:也|都|还是?|严重|现在|已经)*(?P<not>不再|不)?(?:会)?过敏了?")
#: 芒果不过敏了, 吃芒果没事了: of food by itself, "nothing is wrong any more" may be about anything else.
_FOOD = (
    "花生|坚果|核桃|腰果|杏仁|芝麻|大豆|黄豆|小麦|麸质|牛奶|乳制品|鸡蛋|海鲜|虾|龙虾|螃蟹|贝类|鱼"
    "|芒果|桃子?|草莓|菠萝|猕猴桃|香菜|酒精"
)
_OVER = re.compile(
    rf"{_WHO}?{_ALLERGIC_WHEN}(?:(?:对|吃)?(?P<food>{_FOOD})(?:现在|已经)*(?:也|都)?(?:没事|不再过敏|不过敏)了"
    rf"|{_CAUSE}(?:现在|已经)*不(?:再)?过敏了)"
)


def written_out(text: str) -> str:
    """A text with its lists of allergies as statements."""
    return _LABEL_ZH.sub(r"\g<before>我对\g<list>过敏", _LABEL.sub(_allergy_statement, text))


def allergy_turned(clause: str) -> str:
    """我花生过敏 as 我对花生过敏, 芒果没事了 as 我对芒果不过敏; any other clause as it is."""
    if over := _OVER.fullmatch(clause):
        return f"{over['who'] or '我'}对{over['food'] or over['o']}不过敏"
    found = _OF_THING.fullmatch(clause)
    return clause if found is None else f"{found['who']}对{found['o']}{'不' if found['not'] else ''}过敏"


def _allergy_statement(found: re.Match[str]) -> str:
    listed = [each for part in _COMMAS.split(found["list"]) if (each := part.strip())]
    who = f"{found['whose']} is" if found["whose"] else "I am"
    return f"{found['before']}{who} allergic to {', to '.join(listed)}"
