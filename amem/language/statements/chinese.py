"""The facts that Chinese clauses state."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from amem.language.lexicon import is_place
from amem.language.statements import chinese_objects as objects
from amem.language.statements import chinese_people as roles
from amem.language.statements.chinese_people import allergy_turned, limited_to, subject_in
from amem.language.statements.clauses import GAP
from amem.language.statements.objects import TRADES_ZH, date_in, is_known_place, version_in
from amem.language.statements.shapes import Aspect, Shape, chinese
from amem.language.statements.succession import takeover_zh
from amem.language.statements.tense import DATED, times
from amem.language.subjects import WE, canonical_subject
from amem.note import Fact

if TYPE_CHECKING:
    from amem.language.statements.clauses import Sentence
    from amem.language.statements.people import Subject
    from amem.language.statements.tense import Scene


# From a Chinese shape that matched to facts: the object cut out of it and judged by what its predicate takes.

#: Around the thing whose version or date it is.
_AFTER_THING = re.compile(r"(?:的?版本号?|的|已经?|把|将|现在|我们|把它|了|今天|昨天|刚刚?|正式)+$")
_BEFORE_THING = re.compile(r"^(?:我们|我|把|将|的|今天|昨天|刚刚?|请?记住|项目把)+")
_NO_THING = re.compile(r"[是在有和跟从到说不没]|[^\w .+#-]|.{15}")
#: Of these a thing may be the subject, too.
_OF_THINGS = ("named", "office", "likes", "dislikes", "uses")
_PERSON = re.compile(
    r"(?P<name>[\u4e00-\u9fffA-Z][\u4e00-\u9fff\w ]{0,12}?\s?"
    r"(?P<title>大夫|医生|医师|师傅|老师|教练|律师|先生|女士|太太|阿姨|教授))(?:那[里边儿])?(?:看病|看)?了?"
)
_NO_FOOD = re.compile(r"[药亏苦饭太多下完到的]|东西|什么|早餐|午餐|晚餐")
_EATEN = re.compile(r"^(?:吃|喝|这份|我的)(?=.)")


def made(shape: Shape, subject: Subject, parts: dict[str, str], scene: Scene) -> list[Fact]:
    """The facts of a match, all of them as if so and untimed (those of what was left behind with `holds` False)."""
    if subject.person is False and shape.predicate not in _OF_THINGS:
        return []
    kind = shape.kind.removeprefix("relation ").rstrip("?")
    value = parts.get("o") or parts.get("o2") or parts.get("o3") or ""
    if kind == "banned":
        name = objects.tool_in(value, scene.predicates, known=True)
        return [Fact(WE, "forbids", name)] if name and scene.predicates.role(name) is not None else []
    if kind == "known":
        return _known(shape, value, subject, scene)
    if kind in ("tool", "bare tool"):
        return _tools(shape, subject, value, parts, scene)
    if kind == "phrases":
        found = [objects.phrase_in(part) for part in objects.listed(value)]
        return [Fact(subject.name, shape.predicate, each) for each in found if each]
    now = _cut(kind, value, scene)
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
    thing = _BEFORE_THING.sub("", _AFTER_THING.sub("", before.strip(" ，,"))).strip()
    if thing and _NO_THING.search(thing):
        return []
    subject = canonical_subject(thing) if thing else WE
    if shape.predicate != "version":
        day = date_in(parts["o"])
        return [Fact(subject, shape.predicate, day)] if day and (thing or shape.predicate == "deadline") else []
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
    value = objects.trimmed(value)
    known = scene.predicates.known(shape.predicate, value)
    if known and shape.predicate == "drives":
        known = objects.phrase_in(value)
    return [Fact(subject.name, shape.predicate, known)] if known else []


def _cut(kind: str, text: str, scene: Scene) -> str:
    if not text:
        return ""
    match kind:
        case "place":
            return objects.place_in(text, scene.predicates)
        case "town":
            known = any(is_place(text[:size]) for size in range(2, 9)) or is_known_place(text)
            return objects.place_in(text, scene.predicates) if known else ""
        case "employer":
            return objects.employer_in(text, scene.predicates)
        case "person" | "relation" | "own name":
            return objects.person_in(text, scene.predicates)
        case "title" | "trade":
            title = objects.phrase_in(text)
            return title if TRADES_ZH.search(title) else ""
        case "diet":
            return text
        case "day":
            return date_in(text)
        case "food":
            thing = objects.phrase_in(text)
            return "" if _NO_FOOD.search(thing) else thing
        case "phrase":
            return objects.phrase_in(_EATEN.sub("", text))
    return objects.phrase_in(text)


def _tools(shape: Shape, subject: Subject, value: str, parts: dict[str, str], scene: Scene) -> list[Fact]:
    if title := _PERSON.fullmatch(value):
        # 换到了何伟医生: a person is not used; a medical title says what role he or she has now.
        medical = title["title"] in ("医生", "大夫", "医师") and shape.aspect is Aspect.BEGIN and subject.person
        name = scene.cast.me.name if subject.name == WE else subject.name
        return [Fact(name, "doctor", title["name"])] if medical else []
    table = scene.predicates
    moved = parts.get("x", "")
    before = objects.tool_in(parts.get("x2") or moved, table, known=True)
    if shape.aspect is Aspect.END:
        return [Fact(subject.name, "uses", before, False)] if before else []
    # 班车改成七点发车了: of what is no known tool, only we and our systems can be users.
    ours = subject.name == WE or subject.person is False or subject.first
    new = objects.tool_in(value, table, known=shape.kind == "bare tool" or not ours)
    if not new or (not ours and shape.kind == "bare tool" and table.role(new) is None):
        return []  # 坐标用SRID 4326 is no user of a tool
    if shape.tail.startswith("(?:把") and not objects.tool_in(moved, table, known=True):
        # 把服务迁到了腾讯云: what is moved is what it is about.
        subject = subject_in(re.sub(r"(?:全部|都)$", "", moved), scene) or subject
    if table.role(new) == "theme":
        # A theme is to somebody's taste; whoever says "we" speaks of himself, too.
        return [Fact(scene.cast.me.name if subject.name == WE else subject.name, "prefers", new)]
    facts = [Fact(subject.name, "uses", new)]
    return [*facts, Fact(subject.name, "uses", before, False)] if before else facts


# The facts that Chinese clauses state: whom a clause is about, its verb, and what follows.

#: In front of a verb these make it a plan, a wish, a duty, or somebody else's words.
_PLANNED = re.compile(
    r"打算|计划|考虑|希望|准备|将要|将会|应该|应当|想(?!起|到)|可能|(?<![主重])要(?!求)|会(?!议|员|计|后|儿)|能|可以|建议|推荐|正在|试试|试用|讨论(?!后)|梦|如(?!今)|假|愿|不如"
    r"|差点|几乎|(?<![特分区性级个])别|劝|让|请(?!记)|帮(?!我记)|教|谁|什么|哪|怎|多少|问|听说|觉得|以为|争取|必须|允许|禁止|拒绝|即将|快要|下个?(?:月|周|星期)|明[天年]|后[天年]|[说写讲]"
)
_NOT = re.compile(r"(?:不再|不|没有?|未|从不|从没|并未|并不|不是)$")
_FORMERLY = re.compile(r"以前|曾经?|过去|从前|之前(?!的)|原来|原先|当年|本来|一度|当时")
#: Behind the verb these make it an aside about another time, or about something else than the subject.
_ASIDE = re.compile(r"的(?:时候|话|那天|那年|那段|人|项目|团队|同事|朋友|消息|公司)|时[要会应]|的时[期间]")
#: With these a time is when it began; without them, when it was so (1月我还住在北京).
_FROM_THEN_ON = re.compile(r"起|开始|以来|自从?|从|了|换成|改|搬到|一直")
_FOR_NOW = re.compile(r"(?<!从)(?:今天|今晚|中午|晚上|昨天|昨晚|周末|这几天|这次|暂时|出差|先)(?!起|开始)")
#: Without 我 a clause tells of what has happened; "使用 MySQL" alone may be advice.
_TOLD = re.compile(r"了|现在|目前|如今|已经?|刚|起|昨|去年|上个?月|上周|今天|过敏|\d月|[一二三四五六七八九十]月")
#: 王芳说她搬家了: who "she" is; 我说过我住在……: said by whoever speaks.
_REPORT = re.compile(
    r"(?P<who>[^，,]{1,10}?)(?:今天|昨天|刚刚?)?(?:跟我|对我|和我|给我|向我|跟大家)?(?:说过?|告诉(?:了)?(?:我|大家)|提到过?)[，,：:]?\s*(?P<whose>[他她我])"
)
#: 妈妈换手机号了，新的是138……: the value of what was said to have changed.
_NEW_ONE = re.compile(r"^(?:现在的?|新的?|新号码?|新号|现)(?:变成|换成|是|改成)了?(?=.)")
_NO_ROLE = re.compile(r"[是在有说问找给跟和]")
#: So few characters before a comma (搬家了，) name nobody else.
_SHORT = 4


def facts_of_sentence(sentence: Sentence, scene: Scene) -> list[Fact]:
    """The facts of a Chinese sentence, clause by clause."""
    scene.begin_sentence()
    scene.opening = True
    found: list[Fact] = []
    for clause in sentence.clauses:
        if GAP in clause.text:
            scene.subject, scene.opening = None, False
            continue
        mine = _facts_of(clause.text, scene)
        if not mine and (lead := times(clause.text, scene.said)).named and len(clause.text) <= 12:
            scene.lead = lead  # 去年三月，我搬到了……
        found += mine
    return found


def _facts_of(text: str, scene: Scene) -> list[Fact]:
    text = allergy_turned(roles.turned(_as_told(text, scene), scene.predicates))
    who, role = roles.replaced(text, scene.predicates)
    if role:
        scene.replaced = f"{who}的{role}" if who else f"我的{role}"
    elif scene.replaced:
        text = _NEW_ONE.sub(f"{scene.replaced}换成", text)
    if found := takeover_zh(text, scene) or _of_role(text, scene):
        return found
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
    if not found and not begun:
        scene.opening = scene.opening and (text[0] in table or len(text) <= _SHORT)
        _introduce(text, scene)
    return found


def _of_role(text: str, scene: Scene) -> list[Fact]:
    """我的房东是老陈: what the table's roles are said to be."""
    match = roles.pattern(scene.predicates).fullmatch(text)
    if match is None or _PLANNED.search(match["who"]) or _NO_ROLE.search(match["who"]):
        return []
    row = scene.predicates.rows[scene.predicates.canonical(match["role"])]
    if match["sum"] is not None and row.value != "amount":
        return []
    apposed = match["apposed"] is not None
    value = roles.apposed_in(row, match["name"]) if apposed else roles.value_in(row, match["o"], scene.predicates)
    subject = subject_in(match["who"], scene, told=row.personal) if value else None
    if subject is None and value and row.personal and not match["who"]:
        subject = scene.cast.me  # 新房东姓邵: mine, where nobody else was named
    if subject is None or (subject.person is False and row.personal):
        return []
    name = scene.cast.me.name if row.personal and subject.name == WE else subject.name
    aspect = Aspect.BEGIN if match["change"] else Aspect.STATE
    shape = Shape(row.name, aspect, "role", "")
    formerly = _FORMERLY.search(match["who"]) is not None
    fact = Fact(name, row.name, value)
    if apposed:
        return [] if formerly else [fact]  # the rest of the clause is about another thing, and so are its times
    return _timed([fact], shape, text, scene, negated=bool(match["not"]), formerly=formerly)


def _as_told(text: str, scene: Scene) -> str:
    """What somebody said of himself, as a statement about him."""
    report = _REPORT.match(text)
    if report is None:
        return text
    subject = subject_in(report["who"], scene)
    mine = subject is not None and subject.first
    if subject is None or mine is not (report["whose"] == "我") or "们" in text[report.end() : report.end() + 1]:
        return text
    return f"{report['who']}{text[report.end() :]}"


def _introduce(text: str, scene: Scene) -> None:
    """A clause that states nothing known may still say whom the next is about (王芳是我的同事)."""
    found = re.match(r"(?P<who>[\w .]{1,20}?|[\u4e00-\u9fff]{2,4}?)(?:是|在|说|告诉|今天|昨天|上周|去年)", text)
    if found:
        subject_in(found["who"], scene)


def _stated(shape: Shape, match: re.Match[str], before: str, text: str, scene: Scene) -> list[Fact] | None:
    """The facts of a match; None where it is none after all."""
    if _PLANNED.search(before) or _ASIDE.search(text, match.start()):
        return None
    passing = shape.predicate == "diet" or shape.kind == "town"
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
    if shape.kind in ("version", "date"):
        found = made_of_thing(shape, parts, before, scene)
    else:
        subject = subject_in(before, scene, told=_TOLD.search(text) is not None)
        if subject is None:
            return None
        found = scene.own(made(shape, subject, parts, scene), subject)
    if not found:
        return None
    return _timed(found, shape, text, scene, negated=negated, formerly=formerly)


def _is_order(shape: Shape, match: re.Match[str], scene: Scene) -> bool:
    """把网站迁到阿里云: what is decided of ours; of tools by name alone, where it opens the sentence."""
    moved = shape.kind == "tool" and shape.tail.startswith("(?:把") and scene.opening and scene.subject is None
    return moved and scene.predicates.role(match["o"]) is not None


def _timed(found: list[Fact], shape: Shape, text: str, scene: Scene, *, negated: bool, formerly: bool) -> list[Fact]:
    when = times(text, scene.said, lasting=shape.aspect is Aspect.STATE and not formerly and "了" not in text)
    if not when.named and scene.lead:
        when = scene.lead
    if shape.predicate in DATED:
        return [] if negated else found
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
