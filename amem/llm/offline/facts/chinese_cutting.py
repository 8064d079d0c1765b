"""From a Chinese shape that matched to facts: the object cut out of it and judged by what its predicate takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.facts import chinese_objects as objects
from amem.llm.offline.facts.chinese_people import subject_in
from amem.llm.offline.facts.employers import TRADES_ZH
from amem.llm.offline.facts.objects import date_in, is_known_place, version_in
from amem.llm.offline.facts.shapes import Aspect
from amem.llm.offline.lexicon import is_place
from amem.note import Fact
from amem.truth.subjects import WE, canonical_subject

if TYPE_CHECKING:
    from amem.llm.offline.facts.people import Subject
    from amem.llm.offline.facts.scene import Scene
    from amem.llm.offline.facts.shapes import Shape

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
