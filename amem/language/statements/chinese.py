"""The facts that Chinese clauses state: whom a clause is about, its verb, and what follows."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.language import is_cjk, normalize
from amem.language.lexicon import is_person, is_place, lexicon
from amem.language.predicates import KIN_ZH, USER, WE, canonical_subject
from amem.language.scripts import Patterns, word_list, words
from amem.language.statements import objects
from amem.language.statements.clauses import GAP, Subject
from amem.language.statements.tense import (
    DATED,
    MONTH,
    NO_TIMES,
    Aspect,
    Shape,
    announced_for,
    chinese,
    instead,
    since_when,
    times,
)
from amem.note import Fact

if TYPE_CHECKING:
    from amem.language.predicates import Predicate, Predicates
    from amem.language.statements.clauses import Sentence
    from amem.language.statements.tense import Scene

_pattern = Patterns("statements/chinese")


# What a fact is about, cut out of the characters behind a verb.


def trimmed(text: str) -> str:
    """Without particles at its end."""
    return _pattern.object_end.sub("", _pattern.classifier.sub("", text.strip(" ，,。.!！~")).strip())


def latin_in(text: str, predicates: Predicates) -> str:
    """The Latin name that the text begins with."""
    found = _pattern.latin.match(text.strip())
    if found is None:
        return ""
    name = found[0].strip(" .")
    return (
        name
        if name[0].isupper() or any(mark.isupper() for mark in name)
        else objects.name_in(name, predicates, lower=True)
    )


def place_in(text: str, predicates: Predicates) -> str:
    """The place that the text begins with; a known one wins over what follows it ("里斯本的一间小公寓")."""
    text = _pattern.this_long.sub("", trimmed(text))
    if objects.NO_HOME.search(text):
        return ""  # 西湖边上的酒店
    for length in range(min(len(text), 8), 1, -1):
        if is_place(text[:length]):
            # 上海浦东 is one place; of 鹿特丹北边 the first word is.
            rest = text[length:]
            further = next((size for size in range(min(len(rest), 6), 1, -1) if is_place(rest[:size])), 0)
            quarter = rest[further : further + 1] in (("区", "县", "市", "镇") if further else ("区", "县"))
            return text[: length + further + quarter]
    if latin := latin_in(text, predicates):
        return "" if predicates.role(latin) or is_person(latin.split()[0]) else latin
    short = _pattern.place_end.split(text, maxsplit=1)[0]
    if text[len(short) :].startswith("的") and not _pattern.dwelling.search(text, len(short)):
        return ""  # 靠窗的座位
    plain = (
        re.fullmatch(r"[\u4e00-\u9fff]{2,6}", short)
        and not _pattern.pointer.match(short)
        and not _pattern.no_place.search(short)
    )
    if plain and not any(short[:size] in lexicon().chinese for size in {len(short), len(short) - 1} - {1}):  # 客房睡
        return short
    return (
        short
        if re.fullmatch(r"[\u4e00-\u9fff]{2,8}(?:省|市|区|县|镇|州|岛|村|路|街|小区|花园|公寓|城)", short)
        and not _pattern.pointer.match(short)
        else ""
    )


def home_in(text: str, predicates: Predicates) -> list[tuple[str, str]]:
    """The address that the text begins with, and the town or district that is named in it, as predicate and object."""
    found = _pattern.street.match(trimmed(text))
    if found is None:
        return []
    whole = found[0]
    towns = (whole[:size] for size in range(8, 1, -1) if is_place(whole[:size]))
    known = any(not _pattern.of_street.match(whole, len(each)) for each in towns)
    town = place_in(whole, predicates) if known else ""
    if not town and (district := re.match(r"[\u4e00-\u9fff]{1,7}?(?:市|(?<![小社])区|县|镇)(?![路街])", whole)):
        town = district[0]
    return [("address", whole), *([("lives_in", town)] if town else [])]


def employer_in(text: str, predicates: Predicates) -> str:
    """An employer: a Latin name, or a word that may be a company's."""
    text = trimmed(text)
    if latin := latin_in(text, predicates):
        return "" if is_person(latin.split()[0]) and " " not in latin else latin
    town, _, within = text.partition("的")
    text = within if within and is_place(town) else text  # 杭州的阿里
    text = re.split(r"的|做|当|担任|当了|之后|以后|，", text, maxsplit=1)[0]
    return text if _is_org(text) else ""


def _is_org(text: str) -> bool:
    return (
        re.fullmatch(r"[\u4e00-\u9fff]{2,10}", text) is not None
        and not _pattern.no_org.search(text)
        and not is_place(text)
    )


def person_in(text: str, predicates: Predicates) -> str:
    """A person's name: 小王, 王小明, Ana."""
    text = trimmed(text)
    if latin := _pattern.latin.match(text):
        return latin[0].strip() if latin[0][0].isupper() else ""
    return (
        text
        if re.fullmatch(r"[\u4e00-\u9fff]{2,4}", text)
        and not objects.TRADES_ZH.fullmatch(text)
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
    if "的" in text:
        return ""  # 用的是老公的电脑
    fits = (
        re.fullmatch(r"(?!.*(?:[点时月日号周]|[部组楼层座班室位岗]$))[\u4e00-\u9fff]{2,8}", text)
        and not _pattern.pointer.match(text)
        and not is_place(text)
        and text not in lexicon().chinese
    )
    return text if fits and not known else ""


_NOTHING_NAMED = words("人 一个人 事 事情 东西 地方 感觉 样子 新 旧 老 好")


def phrase_in(text: str) -> str:
    """A thing or doing in a few characters; '' for a pronoun or a longer story."""
    text = trimmed(text)
    if not text or GAP in text or _pattern.pointer.match(text) or len(text) > 16 or text in _NOTHING_NAMED:
        return ""
    return text


def listed(text: str) -> list[str]:
    """The things of a list: 花生和虾."""
    parts = re.split(r"[和跟与及、，,]|以及|还有", text)
    return [part.strip() for part in parts if part.strip()]


# Whom a clause is about: what stands before its verb, without the words that only say when and how.

_SURNAMES = "".join(word_list("surnames"))
_SELF = words("我 本人 我自己 俺 我家 我们家 咱家")
_US = words(
    "我们 咱们 我们团队 我们组 我们小组 我们部门 团队 项目 公司 我们公司 我们项目 大家 本项目 该项目 这个项目 我司"
)
_OF_ALL = words("生产环境 线上 生产 云 工作 内部 公司内部 项目 团队 公司")


def subject_in(before: str, scene: Scene, *, told: bool = False) -> Subject | None:
    """The subject that stands before the verb; that of the clause before where nothing stands there.

    Where a note opens without one it is whoever writes, if the clause tells (`told`) of what has happened.
    """
    text = before.strip(" ，,")
    for _ in range(3):
        text, last = _pattern.manner.sub("", _pattern.before_subject.sub("", text)).strip(" ，,"), text
        if text == last:
            break
    if GAP in text:
        return None
    text = "" if _pattern.in_company.fullmatch(text) else text
    if not text:
        if scene.subject is None and scene.opening and told and not scene.others:
            scene.subject = scene.cast.me  # a diary leaves 我 out
        return scene.subject
    found = _named(text, scene)
    scene.subject, scene.opening = found, False
    return found


def limited_to(before: str) -> str:
    """What "use" is limited to, as the subject: 支付服务 for 我们在支付服务里, 我们 for 项目里我们.

    Anything else as it stands.
    """
    found = _pattern.limited.fullmatch(before.strip(" ，,"))
    if found is None:
        return before
    thing = (found["inside"] or found["named"]).strip()
    if thing in _OF_ALL or canonical_subject(thing) == WE:
        return found["lead"] + (found["us"] or found["then_us"])
    named = _pattern.thing.fullmatch(thing) or (
        _pattern.latin.fullmatch(thing) and not is_person(thing) and not objects.is_known_place(thing)
    )
    return found["lead"] + thing if named and not _pattern.no_name.search(thing) else before


def _named(text: str, scene: Scene) -> Subject | None:
    text = text.removesuffix("的").strip()
    if text in _SELF:
        return scene.cast.me
    if text in _US or canonical_subject(text) == WE:
        return Subject(WE, True, we=text in ("我们", "咱们"))
    if text in ("他", "她"):
        return scene.cast.third(text)
    if text in ("用户",):
        return Subject(USER, True)
    if text in _names(scene.predicates) and not _pattern.kin_end.search(text):
        return None  # 职位是…, 工位在…: what they are of was said before, or is not said
    if part := _pattern.part_of.fullmatch(text):
        if part["whole"]:
            scene.whole = canonical_subject(part["whole"])
        name = f"{scene.whole}的{part['part']}" if scene.whole else text
        return scene.cast.meet(Subject(name, False))
    if kin := _pattern.kin_named.fullmatch(text):
        return scene.cast.meet(Subject(kin["name"], True, noun=kin["kin"]))
    if role := _pattern.role_noun.fullmatch(text):
        return scene.cast.me if role["mine"] else Subject(WE, True)
    if of := _pattern.role_of.fullmatch(text):
        return _named(of["owner"].strip(), scene)
    if joined := re.match(r"(我们?)(?:和|跟|与)", text):
        return scene.cast.me if joined[1] == "我" else Subject(WE, True)
    if text[0] in "我他她" or "的" in text:
        return _owned(text, scene)
    if _pattern.thing.fullmatch(text) and not _pattern.no_name.search(text):
        return scene.cast.meet(Subject(canonical_subject(text), False))
    if not (_pattern.name.fullmatch(text) or _pattern.kin_end.fullmatch(text)) or _pattern.no_name.search(text):
        return None
    if text.isascii() or text[0].isascii():
        return scene.cast.meet(Subject(text, True if is_person(text.split()[0]) else None))
    if _pattern.kin_end.fullmatch(text):
        if _of_another(text, scene):
            return None
        return scene.cast.meet(Subject(canonical_subject(f"我{text}", speaker=scene.cast.speaker), True, noun=text))
    if _pattern.kin_end.search(text):
        return scene.cast.meet(Subject(text, True))
    known = lexicon().chinese.get(text)
    return None if known is not None else scene.cast.meet(Subject(text, None))


#: Whose these are, the person named before may be: 表弟结婚了，老婆是护士.
_CLOSEST = words("老婆 老公 妻子 丈夫 太太 爱人 儿子 女儿 闺女 孩子 男友 女友 男朋友 女朋友 岳母 岳父 婆婆 公公")


def _of_another(kin: str, scene: Scene) -> bool:
    """Whether a relative without a 我 may well be one of who the clause before is about."""
    before = scene.subject
    if before is None:
        return kin in _CLOSEST and bool(scene.heard) and scene.others
    if before.first or before.person is False or before.name == WE or before.noun == kin:
        return False
    mine = before.name.startswith(f"{scene.cast.me.name}的") and before.noun not in _FRIENDS
    return kin in _CLOSEST or kin in _names(scene.predicates) if mine else True


_FRIENDS = words("朋友 同事 室友 邻居 同桌 发小 舍友")


#: Of these everybody has one, so that they stay who they are, with a name.
_ONLY_ONE = words("太太 老婆 妻子 老公 丈夫 爸爸 妈妈 父亲 母亲 爸 妈 岳母 岳父 婆婆 公公 女朋友 男朋友")


def _named_relative(text: str, scene: Scene) -> tuple[str, list[Fact]]:
    """太太林悦在医院当护士 as 太太在医院当护士, and that her name is 林悦."""
    found = re.match(rf"{_pattern.kin_named.pattern}(?=[在是也对住叫从]|现在|目前|去年|刚)", text)
    if found is None or found["kin"] not in _ONLY_ONE:
        return text, []
    if any(word in lexicon().chinese for word in (found["name"], found["name"][:2])) or _pattern.no_name.search(
        found["name"]
    ):
        return text, []
    subject = _named(f"我{found['kin']}", scene)
    return f"我{found['kin']}{text[found.end() :]}", [Fact(subject.name, "named", found["name"])] if subject else []


def _owned(text: str, scene: Scene) -> Subject | None:
    """我妹妹、我的数据库、小王的妹妹、她的经理."""
    found = re.fullmatch(
        r"(?P<owner>我们|我|[他她](?!们)|[^的]{1,12}?(?=的))的?(?P<what>[\w\u4e00-\u9fff .-]{1,12})", text
    )
    owner, what = (found["owner"], found["what"]) if found else ("", "")
    what = re.sub("^家的?(?![人里庭长乡具教的])(?=.)", "", what)
    if not owner or _pattern.no_name.search(what):
        return None
    if owner in ("他", "她"):
        third = scene.cast.third(owner)
        if third is None:
            return None
        owner = third.name
    kin = _pattern.kin_end.search(what) is not None
    if owner in ("我们", "我们家", "我家"):
        if kin:
            owner = "我"
        else:
            return scene.cast.meet(Subject(canonical_subject(f"我们的{what}"), False))
    if owner == "我" or kin or _pattern.kin_end.search(owner):
        return scene.cast.meet(
            Subject(canonical_subject(f"{owner}的{what}", speaker=scene.cast.speaker), kin, noun=what)
        )
    return scene.cast.meet(Subject(f"{canonical_subject(owner)}的{what}", False))


# What 是 states of a role: 我的房东是老陈, 老陈是我的房东, 房租涨到4200元, for every Chinese name in the table.

#: Verbs among the table's names, and predicates that chinese words of their own are read for (facts_chinese.txt).
_NO_NAMES = ("家", "叫", "名字")
_ELSEWHERE = ("works_at", "deadline", "date", "version")
_DIGITS = re.compile(r"\+?\d[\d\s-]{4,20}\d")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def turned(text: str, predicates: Predicates) -> str:
    """老陈是我的房东 as 我的房东是老陈; any other clause as it is."""
    if leads := _pattern.leads.fullmatch(text):
        return f"{leads['whose']}的负责人{leads['is']}{leads['what']}"
    found = _pattern.with_names("is_the_role", _names(predicates)).fullmatch(text)
    if found is None:
        return text
    return f"{found['whose']}{found['noun']}{'不再是' if found['is'] == '不再是' else '是'}{found['what']}"


def replaced(text: str, predicates: Predicates) -> tuple[str, str]:
    """Whose and which role a clause says has been changed (妈妈换手机号了), for the clause that says to what."""
    found = _pattern.with_names("role_changed", _names(predicates)).fullmatch(text)
    return (found["who"], found["role"] or found["role2"]) if found else ("", "")


def value_in(row: Predicate, text: str, scene: Scene) -> str:
    """The value that the text begins with, of the kind that the row takes; '' for none."""
    if text.endswith("的") and row.value in ("person", "name"):
        return ""  # 教练是前国家队的
    if row.value == "person" and re.match("一?[个位名]", text):
        return ""  # 房东是一位退休老师
    text = re.sub(r"^(?:每个?月|一个月|在|大概|大约|约)+", "", trimmed(text))
    match row.value:
        case "person":
            return _person_of_role(text, scene.predicates)
        case "place" | "title":
            return _cut(row.value, text, scene)
        case "date":
            day = objects.date_in(text)
            return "" if row.name == "birthday" and re.search("周|星期", day) else day  # 生日在下周日, this year
        case "amount":
            return objects.amount_zh(text)
        case "number" | "address" | "email" | "school":
            found = {"number": _DIGITS, "address": _pattern.address, "email": _EMAIL, "school": _pattern.school}[
                row.value
            ].match(text)
            return found[0].strip() if found else ""
        case "room" | "phrase" | "name":
            return "" if re.match("[最很挺太好不]", text) else phrase_in(re.sub(r"^(?:一?[辆台部家个])", "", text))
    return ""


def apposed_in(row: Predicate, name: str) -> str:
    """The person named right behind a role; '' for a role that no person fills."""
    plain = any(word in lexicon().chinese for word in (name, name[:2])) or is_place(name)
    return "" if row.value != "person" or plain else name


def _person_of_role(text: str, predicates: Predicates) -> str:
    """A person: 老陈, 陈大夫, 浙大口腔的吴医生, Ana."""
    text = _pattern.from_practice.sub("", text)
    titled = _pattern.person.match(text)
    if surname := re.match(r"姓(?!什|啥)(?P<o>[\u4e00-\u9fff])", text):
        return surname[0]
    if titled and not _pattern.no_person.search(text):
        return titled[0]
    trade = objects.TRADES_ZH.search(text)  # 太太是护士
    plain = text in lexicon().chinese or text[:2] in lexicon().chinese  # 领导换成了夜班
    return "" if trade or plain or _pattern.no_person.search(text) else person_in(text, predicates)


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


# Allergies in other words: 我花生过敏, 芒果没事了.


def allergy_turned(clause: str, scene: Scene) -> str:
    """我花生过敏 as 我对花生过敏, 芒果没事了 as 我对芒果不过敏; any other clause as it is.

    '' where a doctor finds it out of nobody in particular.
    """
    if kept := _pattern.kept_from.fullmatch(clause):
        return f"{kept['who']}不能吃{kept['o']}"
    if found := _pattern.found_out.fullmatch(clause):
        who, rest = found["who"], found["rest"]
        rest = re.sub(r"(?<=[^为])为(?=.)", "", rest)  # 诊断豆豆为花生过敏
        whose = re.match(rf"(?P<who>我|他|她|我?的?(?:{KIN_ZH})|[^对]{{1,6}}(?=对))对?(?=.+过敏)", rest)
        if whose is None and (named := _pattern.by_name.fullmatch(rest)) is not None:
            who, rest = named["who"] or who, f"{named['o']}{named['not'] or ''}过敏"
        elif whose is not None:
            who = who if who and whose["who"] in ("他", "她") else whose["who"]
            rest = rest[whose.end() :]
        others = whose is not None and whose["who"] == "我" and found["who"] not in ("", *_SELF)
        if others or (not who and found["by"] and scene.subject is None):
            return ""  # 小明的医生说我过敏: who says "I" is unsure
        rest = re.sub(r"(?:也|都|还是?|严重)*过敏$", "过敏", rest.removeprefix("对"))
        return f"{who}对{rest}"
    if over := _pattern.over.fullmatch(clause):
        named = None if over["who"] or over["food"] else _pattern.by_name.fullmatch(clause)
        if named is not None:
            return f"{named['who']}对{named['o']}不过敏"
        unnamed = "我" if scene.subject is None and not scene.others else ""
        return f"{over['who'] or unnamed}对{over['food'] or over['o']}不过敏"
    bare = re.sub(rf"^我?的?(?:{KIN_ZH})(?=[\u4e00-\u9fff]{{4}})", "", clause)
    named = _pattern.by_name.fullmatch(bare)  # 女儿豆豆花生过敏
    if named is None or not named["who"] or named["who"] in lexicon().chinese:
        named = None
    found = named or _pattern.of_thing.fullmatch(clause) or _pattern.by_name.fullmatch(clause)
    if found is None or not (found["who"] or scene.subject):
        return clause
    return f"{found['who']}对{found['o']}{'不' if found['not'] else ''}过敏"


def _cured(text: str, scene: Scene) -> list[Fact]:
    """The allergy that is over: 鸡蛋已经脱敏; 可以吃鸡蛋了, with which the ban on eating it ends."""
    found = _pattern.cured.fullmatch(text)
    subject = subject_in(found["who"], scene, told=True) if found else None
    if found is None or subject is None or subject.person is False or _pattern.planned.search(found["who"]):
        return []
    thing, eaten = found["ate"] or found["o"], found["ate"] or found["eat"]
    over = [Fact(subject.name, each, thing, False) for each in ("allergic_to", *(["cannot_eat"] if eaten else []))]
    return [replace(each, valid_from=since_when(text, text, scene)) for each in over]


# What takes the place of a medicine: 爸爸的氨氯地平换成了缬沙坦, 医生给换成了缬沙坦.


def _medicine_changed(text: str, scene: Scene) -> list[Fact]:
    """The medicine that is taken now, and that no longer taken, which may have been named by a clause before."""
    found = _pattern.medicine_changed.fullmatch(text)
    new = scene.predicates.known("takes_medication", trimmed(found["o"])) if found else ""
    if found is None or not new or _pattern.planned.search(found["who"]):
        return []
    old, whose = "", _pattern.by_doctor.sub("", found["who"]) or found["to"] or ""
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
    if not name or (subject is not None and subject.person is False) or _pattern.carer.search(name):
        return []
    old = old or (before.object if before is not None and before.subject == name else "")
    scene.medicine = Fact(name, "takes_medication", new)
    # Where the old one is not named it is the only one there is.
    stated = [scene.medicine, *([Fact(name, "takes_medication", old, False)] if old != new else [])]
    return [replace(each, valid_from=since_when(text, text, scene)) for each in stated]


#: 咖啡戒掉了, 我把咖啡戒了 as 戒了咖啡; of 老王戒了 nothing tells what.
_GIVES_UP = frozenset("戒喝抽")


def _given_up(clause: str, scene: Scene) -> str:
    found = _pattern.given_up.fullmatch(clause) if not _GIVES_UP.isdisjoint(clause) else None
    habit = found["o"] or found["o2"] if found else ""
    known = scene.predicates.known("likes", habit) == habit or normalize(habit) in scene.predicates.kinds
    return f"{found['who'] or found['who2'] or ''}戒了{habit}" if found and known else clause


# What takes whose place. What place that is, such a sentence often leaves to other notes.


def _thing_zh(text: str, scene: Scene) -> str:
    if latin := latin_in(text, scene.predicates):
        return latin
    thing = phrase_in(text)
    plain = thing in lexicon().chinese or is_place(thing)
    return "" if plain or len(thing) > 6 or _pattern.no_product.search(thing) else thing


def _takeover(text: str, scene: Scene) -> list[Fact]:
    """Who or what takes whose place: 从6月1日起由韩梅接手, 旧尼康坏了，换成佳能."""
    if replaced := _pattern.replaced_zh.fullmatch(text):
        return instead(_thing_zh(replaced["x"], scene), _thing_zh(replaced["y"], scene), text, scene)
    if scene.broken and (newer := _pattern.instead_zh.fullmatch(text)):
        return instead(scene.broken, _thing_zh(newer["y"], scene), text, scene)
    if broke := _pattern.broke_zh.fullmatch(text):
        scene.broken = _thing_zh(broke["x"], scene)
    if leaves := _pattern.leaves_zh.fullmatch(text):
        scene.leaving = leaves["x"]
        return []
    found = _pattern.takes_over_zh.fullmatch(text)
    if found is None:
        return []
    new, gone = found["y"] or found["y2"] or found["y3"], found["x"] or scene.leaving
    if not gone or gone == new:
        return []
    return [replace(Fact(gone, "succeeded_by", new), valid_from=since_when(text, text, scene))]


# From a shape that matched to facts: the object cut out and judged by what its predicate takes.

#: Of these a thing may be the subject, too.
_OF_THINGS = ("named", "office", "likes", "dislikes", "uses", "owner")


def made(shape: Shape, subject: Subject, parts: dict[str, str], scene: Scene) -> list[Fact]:
    """The facts of a match, all of them as if so and untimed (those of what was left behind with `holds` False)."""
    if subject.person is False and shape.predicate not in _OF_THINGS:
        return []
    kind = shape.kind.removeprefix("relation ").rstrip("?")
    value = parts.get("o") or parts.get("o2") or parts.get("o3") or ""
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
        foods = [food for part in listed(value) if not _pattern.no_food.search(food := phrase_in(part))]
        return [Fact(subject.name, shape.predicate, each) for each in foods if each]
    if kind == "phrases":
        found = [phrase_in(part) for part in listed(value)]
        return [Fact(subject.name, shape.predicate, each) for each in found if each]
    lives = subject.name != WE or subject.we  # a company lives nowhere
    if kind == "place" and shape.aspect is not Aspect.END and (home := home_in(value, scene.predicates)):
        return [Fact(subject.name, *each) for each in home[: 1 + lives]]
    if shape.predicate == "lives_in" and not lives:
        return []
    if parts.get("x") and kind == "employer" and {trimmed(value), parts["x"]} <= lexicon().chinese.keys():
        return []  # 小狗从沙发跳到了阳台
    now = _cut(kind, value, scene)
    if not now and kind == "employer" and parts.get("title"):
        title = _cut("title", parts["title"], scene)  # 在杭州一家出版社做编辑
        return [Fact(subject.name, "job_title", title)] if title else []
    if not now:
        may_lack = kind == "none" or (shape.kind.endswith("?") and not value)
        return [Fact(subject.name, shape.predicate, "", False)] if may_lack else []
    facts = [Fact(subject.name, shape.predicate, now, shape.aspect is not Aspect.END)]
    if shape.predicate == "owner" and scene.leaving not in ("", now):
        # 陈浩调走了，青鸟项目由周敏负责: where a note only said 项目负责人, he was that of "our" project.
        facts += [Fact(each, "owner", scene.leaving, False) for each in dict.fromkeys((subject.name, WE))]
    if before := _cut(kind, parts.get("x", ""), scene):
        facts.append(Fact(subject.name, shape.predicate, before, False))
    if not parts.get("title"):
        return facts
    title = _cut("title", parts["title"], scene)  # 在谷歌做数据科学家, but not 在公园做操
    return [*facts, Fact(subject.name, "job_title", title)] if title else []


def made_of_thing(shape: Shape, parts: dict[str, str], before: str, scene: Scene) -> list[Fact]:
    """Versions and dates are those of a thing; of nothing in particular they are ours."""
    before = re.sub("^[^，]{0,8}?[把将]", "", before)
    after = _pattern.after_thing if shape.predicate == "version" else _pattern.after_event
    thing = _pattern.before_thing.sub("", after.sub("", before.strip(" ，,"))).strip()
    if not thing and (shape.kind == "date" or "时间" in before):
        thing = scene.event
    if thing and (_pattern.no_thing.search(thing) or (shape.kind == "event" and not _pattern.event.search(thing))):
        return []
    if shape.kind == "release":
        return [Fact(f"{canonical_subject(thing)}的{parts['act']}" if thing else parts["act"], "date", parts["o"])]
    subject = canonical_subject(thing) if thing else WE
    if shape.predicate != "version":
        timed = _pattern.event.search(thing) or "时间" in before or shape.kind == "event"  # 天天改稿改到一点: until one
        day, clock = objects.when_in(parts["o"])
        clock = clock if timed else ""
        if not thing and shape.predicate != "deadline":
            return []
        found = [Fact(subject, shape.predicate, day)] if day else []
        return [*found, Fact(subject, "time", clock)] if clock else found
    version, old = objects.version_in(parts["o"]), objects.version_in(parts.get("x", ""))
    if not version or (parts.get("bare") and version.isdigit() and not scene.predicates.is_technology(thing)):
        return []  # 尿酸降到398
    found = [Fact(subject, "version", version)]
    if old:
        found.append(Fact(subject, "version", old, False))
    return found


def _known(shape: Shape, value: str, subject: Subject, scene: Scene) -> list[Fact]:
    """What the table lists for the predicate, since the verb alone says too little (有哮喘, 有时间)."""
    value = trimmed(value)
    known = scene.predicates.known(shape.predicate, value)
    if known and shape.predicate == "drives":
        model = phrase_in(value)[len(known) :]
        known = "" if len(model) > 8 or model in lexicon().chinese or _pattern.about_it.search(model) else known + model
    elif known and shape.predicate == "has_condition" and _pattern.about_it.match(value, len(known)):
        return []  # 高血压的家族史
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
            known = any(is_place(text[:size]) for size in range(2, 9)) or objects.is_known_place(text)
            return place_in(text, scene.predicates) if known else ""
        case "employer":
            return employer_in(text, scene.predicates)
        case "firm":
            firm = trimmed(text)
            return firm if objects.firm_in(firm, scene.predicates) == firm else ""
        case "person" | "relation" | "own name":
            return person_in(text, scene.predicates)
        case "title" | "trade":
            title = phrase_in(text)
            by_surname = title[:1] in _SURNAMES and objects.TRADES_ZH.fullmatch(title[1:])  # 秦主任
            return (
                title
                if objects.TRADES_ZH.search(title) and not (by_surname or _pattern.by_surname.fullmatch(title))
                else ""
            )
        case "food":
            thing = phrase_in(text)
            return "" if _pattern.no_food.search(thing) else thing
        case "phrase":
            return phrase_in(_pattern.eaten.sub("", text))
    return phrase_in(text)


def _tools(shape: Shape, subject: Subject, value: str, parts: dict[str, str], scene: Scene) -> list[Fact]:
    if title := _pattern.practitioner.fullmatch(value):
        # 换到了何伟医生: a person is not used; a medical title says what role he or she has now.
        medical = (
            title["title"] in ("医生", "大夫", "医师")
            and not _pattern.no_person.search(value)
            and shape.aspect is Aspect.BEGIN
            and subject.person
        )
        name = scene.cast.me.name if subject.name == WE else subject.name
        return [Fact(name, "doctor", title["name"])] if medical else []
    table = scene.predicates
    moved = parts.get("x", "")
    if (of := _pattern.tool_of.fullmatch(moved)) and table.is_technology(of["tool"]):
        subject, moved = subject_in(of["owner"], scene) or subject, of["tool"]  # 替换了 Heron 的 MySQL
    elif (of := _pattern.tool_of.fullmatch(subject.name)) and table.is_technology(of["tool"]):
        subject, moved = _named(of["owner"], scene) or subject, of["tool"]  # Tern 的 RabbitMQ 换成了 NATS
    within = _pattern.within.match(value)  # Python 的 FastAPI: both
    language = within["o"] if within and table.role(within["o"]) == "language" else ""
    value = value[within.end() :] if within and language else value
    thing = _is_thing(parts, table) if shape.tail.startswith("(?:把") else False
    before = tool_in(parts.get("x2") or ("" if thing else moved), table, known=True)
    if shape.aspect is Aspect.END:
        return [Fact(subject.name, "uses", before, False)] if before else []
    # 班车改成七点发车了: of what is no known tool, only we and our systems can be users.
    ours = subject.name == WE or subject.person is False or subject.first
    new = tool_in(value, table, known=shape.kind == "bare tool" or not ours)
    if not new or (not ours and shape.kind == "bare tool" and not table.is_technology(new)):
        return []  # 坐标用SRID 4326 is no user of a tool
    if shape.aspect is Aspect.BEGIN and not before and not table.is_technology(new):
        # 把手机换成了静音, 改用热水洗脸, 英文名改成Leo: no tool that is known, nor was one replaced
        system = subject.first or subject.name == WE or _pattern.thing.fullmatch(subject.name) or subject.name.isascii()
        if is_cjk(new[0]) or not system:
            return []
    if thing:
        # 把服务迁到了腾讯云: what is moved is what it is about.
        subject = subject_in(re.sub(r"(?:全部|都)$", "", moved), scene) or subject
    if table.role(new) == "theme":
        # A theme is to somebody's taste; whoever says "we" speaks of himself, too.
        return [Fact(scene.cast.me.name if subject.name == WE else subject.name, "prefers", new)]
    facts = [Fact(subject.name, "uses", each) for each in (new, language) if each]
    return [*facts, Fact(subject.name, "uses", before, False)] if before else facts


def _is_thing(parts: dict[str, str], table: Predicates) -> bool:
    """Whether what is moved is what uses a tool, and no tool itself: 把 Heron 迁到, 把缓存从 A 换成, 把 Jira 换成."""
    moved = parts.get("x", "")
    if parts.get("x2") or _pattern.named_by_use.search(moved):
        return True
    tool = tool_in(moved, table, known=True)
    return not tool or (bool(parts.get("move") or parts.get("host")) and not table.is_technology(tool))


# The facts that Chinese clauses state: whom a clause is about, its verb, and what follows.

_NOT = re.compile(r"(?:不再|不|没有?|未|从不|从没|并未|并不|不是)$")

#: Characters that a shape begins with as the first of a noun: 小区换了物业, 名字, 数据库.
_NOUNS = frozenset("小大名姓数缓编操消队框包语主家时日一二两三四五六七八九十")
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
    framed = False
    for clause in sentence.clauses:
        if GAP in clause.text:
            scene.subject, scene.opening = None, False
            continue
        framed = _pattern.long_ago.search(clause.text) is not None or (
            framed and not _pattern.nowadays.search(clause.text)
        )
        mine = [] if framed else _facts_of(clause.text, scene)
        if (
            (not mine or _pattern.from_a_day.search(clause.text))
            and (lead := times(clause.text, scene.said)).named
            and len(clause.text) <= 12
        ):
            scene.lead = lead  # 去年三月，我搬到了……
        found += mine
        scene.heard = clause.text
        if _pattern.brought_in.search(clause.text):
            scene.subject, scene.others = None, True
        if mine and scene.of_speaker:
            scene.others = False
        else:
            scene.others = _names_others(clause.text) or (scene.others and not _pattern.ourselves.search(clause.text))
    return found


def _names_others(text: str) -> bool:
    return any(_is_somebody(found) for found in _pattern.somebody.finditer(text))


def _is_somebody(found: re.Match[str]) -> bool:
    if found["latin"]:
        return is_person(found["latin"])
    name = found["called"] or found["met"]
    return not name or (name not in lexicon().chinese and not is_place(name))


def _facts_of(text: str, scene: Scene) -> list[Fact]:
    text = allergy_turned(turned(_as_told(text, scene), scene.predicates), scene)
    text = _given_up(text, scene)
    scene.notice = scene.notice or _pattern.notice_zh.fullmatch(text) is not None
    if scene.notice and (last := _pattern.last_day_zh.fullmatch(text)):
        until = announced_for(times(last["day"], scene.said), text, scene.said, lag=MONTH).since
        return [Fact(scene.cast.me.name, "works_at", "", False, until)] if until else []
    if project := _pattern.project.fullmatch(text):
        scene.whole = canonical_subject(project["name"] or project["called"])
    if event := _pattern.of_event.match(text):
        scene.event = event["event"]
        if event["teacher"]:
            return [Fact(scene.event, "teacher", "", False)]
    who, role = replaced(text, scene.predicates)
    if role:
        scene.replaced = f"{who or '我'}的{role}"
    elif scene.replaced:
        text = _pattern.new_one.sub(f"{scene.replaced}换成", text)
        text = f"{scene.replaced}换成{text}" if _DIGITS.fullmatch(text) else text  # 换了手机号：139……
    text, named = _named_relative(text, scene)
    for read in (_cured, _medicine_changed, _takeover, _of_role):
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
        verbal = text[0] in table and text[0] not in _NOUNS
        scene.opening = scene.opening and (verbal or len(text) <= _SHORT)
        _introduce(text, scene)
    return found


def _of_role(text: str, scene: Scene) -> list[Fact]:
    """我的房东是老陈: what the table's roles are said to be."""
    match = _pattern.with_names("role_is", _names(scene.predicates)).fullmatch(_pattern.at_work.sub(_whose_role, text))
    if match is None:
        return []
    who = _pattern.my_place.sub("我", _pattern.now.sub("", _pattern.from_now.sub("", match["who"])))
    if any(each.search(who) for each in (_pattern.former, _pattern.premises, _pattern.planned, _pattern.no_role)):
        return []
    row = scene.predicates.rows[scene.predicates.canonical(match["role"])]
    if match["sum"] is not None and row.value != "amount":
        return []
    moved = match["is"] in ("在", "位于") or (match["change"] or "").startswith("搬")
    if moved and row.value not in ("place", "room", "address", "date", "school"):
        return []  # 我老公在华为上班, 我的车在修, 我的教练搬到上海了
    if match["o"].startswith("姓") and _pattern.kin_end.fullmatch(match["role"]) and not row.hangs_on:
        return []  # 老公姓陈: nobody calls a relative so
    apposed = match["apposed"] is not None
    value = apposed_in(row, match["name"]) if apposed else value_in(row, match["o"], scene)
    value = value or (match["o"] if row.name == "lives_in" and _pattern.street.match(match["o"]) else "")
    before = scene.subject
    subject = subject_in(who, scene, told=row.personal) if value else None
    if subject is not None and subject.name == f"{scene.cast.me.name}的{match['role']}":
        subject = scene.cast.me  # 房东换人了，新房东姓贺
    if subject is not None and subject is before and match["change"] and not subject.first:
        if not _pattern.goes.search(scene.heard):
            return []  # 老韩摔伤了，教练换成林佳音: whose coach, nothing tells
        subject = scene.cast.me  # 老韩要回青岛，教练换成林佳音
    home = row.hangs_on == "lives_in" and not _pattern.for_somebody.match(scene.heard)
    mine = row.personal and (scene.opening or home or (not scene.others and row.name != "salary"))
    if subject is None and value and not who and (mine or (scene.opening and row.hangs_on == "works_at")):
        subject = scene.cast.me  # 新房东姓邵, 领导换成彭姐: mine, where nobody else was named
    if subject is None or (subject.person is False and row.personal):
        return []
    name = scene.cast.me.name if row.personal and subject.name == WE else subject.name
    aspect = Aspect.BEGIN if match["change"] else Aspect.STATE
    shape = Shape(row.name, aspect, "role", "")
    formerly = _pattern.formerly.search(match["who"]) is not None
    fact = Fact(name, row.name, value)
    if row.value == "person" and not match["not"]:
        named = "" if apposed or row.hangs_on or value[0] == "姓" else value
        kin = _pattern.kin_end.fullmatch(match["role"]) is not None and not row.hangs_on
        _go_on_with(f"{who.removesuffix('的') or '我'}的{match['role']}" if kin else "", named, scene)
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


def _go_on_with(relative: str, name: str, scene: Scene) -> None:
    """Let what follows be about whoever was named (老婆叫小芸，在医院当护士); about nobody where neither is given."""
    scene.opening = False
    scene.subject = _named(relative, scene) if relative else scene.cast.meet(Subject(name, True)) if name else None


def _whose_role(found: re.Match[str]) -> str:
    """我在阿里的领导 and 我们公司的领导 as 我的领导; of a company that one left, as it stands."""
    pastime = _pattern.pastime.search(found[0])  # 我在合唱团的老板: not where one works
    return found[0] if pastime or _pattern.former.search(found[0]) else f"{found['who'] or found['own'] or '我'}的"


def _as_told(text: str, scene: Scene) -> str:
    """What somebody said of himself, as a statement about him."""
    report = _pattern.report.match(text)
    if report is None:
        return text
    if (of := _pattern.cared_for.fullmatch(report["who"])) and report["whose"] != "我":
        return f"{of['whose']}{text[report.end() :]}"  # what the doctor says is said of the patient
    if _pattern.carer.search(report["who"]) and report["whose"] != "我":
        return text[report.start("whose") :]
    subject = subject_in(report["who"], scene) if report["whose"] != "它" else None
    mine = subject is not None and subject.first
    if subject is None or mine is not (report["whose"] == "我") or "们" in text[report.end() : report.end() + 1]:
        return text
    return f"{report['who']}{text[report.end() :]}"


def _introduce(text: str, scene: Scene) -> None:
    """A clause that states nothing known may still say whom the next is about (王芳是我的同事)."""
    found = _pattern.introduced.match(text) or _pattern.relative_or_ill.match(text)
    if found is None and (called := _pattern.called.match(text)):
        found = None if called["who"] in lexicon().chinese else called  # 阿杰转正，工资4500
    if found and not _pattern.before_or_after.match(text, found.end("who")):
        subject_in(found["who"], scene)
    elif (met := _pattern.met.search(text)) and not (met["who"] in lexicon().chinese or is_place(met["who"] or "")):
        name = met["who"] or canonical_subject(f"我{met['kin']}", speaker=scene.cast.speaker)
        scene.cast.meet(Subject(name, True, noun=met["kin"] or ""))


def _stated(shape: Shape, match: re.Match[str], before: str, text: str, scene: Scene) -> list[Fact] | None:
    """The facts of a match; None where it is none after all."""
    if shape.predicate in DATED or shape.aspect is Aspect.BEGIN:
        before = _pattern.from_now.sub("", before)
    if _pattern.planned.search(before) or _pattern.aside.search(text, match.start()):
        return None
    if shape.kind == "firm" and match[0].startswith("去") and not _pattern.left_job.search(scene.heard):
        return None  # 去了华为, as a visitor may
    passing = shape.predicate in ("diet", "practises", "avoids", "cannot_eat") or shape.kind == "town"
    if (passing or (shape.predicate == "likes" and shape.aspect is Aspect.END)) and _pattern.for_now.search(text):
        return None
    if shape.predicate == "uses":
        before = limited_to(before)
    parts = {name: (value or "").strip() for name, value in match.groupdict().items()}
    negated = bool(parts.get("not")) or _NOT.search(before.strip()) is not None
    # 原来我对花生不过敏: it turns out, not once upon a time.
    turns_out = negated and before.strip().startswith("原来")
    formerly = (_pattern.formerly.search(before) is not None and not turns_out) or "过" in parts.get("after", "")
    if not before.strip() and (shape.kind in ("relation tool", "banned") or _is_order(shape, match, scene)):
        before = "我们"  # 缓存换成了 Redis: ours
    if not before.strip() and shape.kind == "owned" and scene.subject is None and not scene.others:
        before = "我"
    if not before.strip() and shape.predicate == "uses" and scene.whole and _pattern.hosted.match(text, match.start()):
        before = scene.whole  # of the project, not of the part that was named last
    if shape.kind in ("version", "date", "event", "release"):
        found = made_of_thing(shape, parts, before, scene)
    else:
        told = _pattern.told.search(text) is not None or (shape.predicate == "lives_in" and _between_towns(parts))
        subject = subject_in(before, scene, told=told)
        if subject is None or (scene.predicates.is_safety(shape.predicate) and _pattern.carer.search(subject.name)):
            return None  # who finds out what somebody has does not have it
        brought_in = _pattern.gained.search(scene.heard) or (not subject.noun and "是" in scene.heard)
        if shape.predicate == "named" and not before.strip() and (subject.first or brought_in):
            return None  # 我请了私教，叫大伟; 儿子交了女朋友，叫小雨; 招牌是豆汤饭，叫罗记
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
    if not when.named and scene.lead and (not _pattern.nowadays.search(text) or _pattern.turned.search(scene.heard)):
        when = scene.lead  # 三月换了工作，现在在……, but not 去年离了婚，现在住在……
    if shape.predicate == "practises" and not _pattern.from_then_on.search(text):
        when = NO_TIMES  # 我周一打网球: each Monday
    if shape.predicate in DATED:
        return [] if negated else found
    announced = (
        shape.predicate in ("rent", "salary")
        or (shape.predicate == "school" and not re.search("[了年]", text))
        or (shape.aspect is Aspect.BEGIN and _pattern.from_a_day.search(text))
    )
    if not announced and shape.aspect is Aspect.BEGIN and not re.search("[了年]", text):
        nearer = announced_for(when, text, scene.said)
        if nearer != when and not scene.settled:
            return []  # 我们十月搬去武汉, said in May: a plan
        when = nearer
    when = announced_for(when, text, scene.said) if announced else when
    if when.ahead:
        return []
    if shape.aspect is not Aspect.STATE:
        return [] if negated else [replace(each, valid_from=when.since) for each in found]
    if when.since and when.until:
        return [] if negated else [replace(each, valid_from=when.since, valid_to=when.until) for each in found]
    if (
        when.since
        and when.within
        and scene.said
        and when.within <= scene.said
        and not _pattern.from_then_on.search(text)
    ):
        return [] if negated else [replace(each, valid_from=when.since, valid_to=when.within) for each in found]
    if formerly:
        return [] if negated else [replace(each, holds=False) for each in found]
    return [replace(each, holds=each.holds and not negated, valid_from=when.since) for each in found]
