"""What takes whose place: "Pieter is leaving, Fatima takes over from 1 June", 李雷要走了，从6月1日起由韩梅接手,
"Bought a Fairphone 5 to replace the dead Pixel 6", 旧尼康坏了，换成佳能.

What place that is, such a sentence often leaves to other notes: the fact says only what succeeds what and since
when, and ``amem.writing.fields`` finds the places that were filled by whoever or whatever goes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from amem.language.lexicon import is_person, is_place, lexicon
from amem.language.predicates import same_value
from amem.language.statements.chinese_objects import latin_in, phrase_in
from amem.language.statements.objects import date_in, is_known_place, person_named, thing_in
from amem.language.statements.relations import TASTES
from amem.language.statements.tense import times
from amem.language.subjects import WE
from amem.note import Fact

if TYPE_CHECKING:
    from datetime import datetime

    from amem.language.statements.tense import Scene

_NAME = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?"
_LEAVES = re.compile(
    rf"(?P<x>{_NAME}) (?:is (?:about to |going to )?(?:leav\w+|retir\w+|mov\w+ on|step\w* down|quit\w*)|leaves|left"
    r"|has left|retires|retired|has retired|quit|has quit|resigned|has resigned|steps down|stepped down|moves on"
    r"|moved on|will leave"
    r"|goes on (?:leave|parental leave|maternity leave))\b.*"
)
_TAKES_OVER = re.compile(
    rf"(?P<y>{_NAME}) (?:(?:is|are) (?:now )?taking over|takes over|took over|has taken over|will take over"
    rf"|steps in|stepped in|succeeds|succeeded|replaces|replaced|will replace|will succeed)"
    rf"(?: from (?P<x>{_NAME}|him|her|them)(?![\w-]))?"
    rf"(?P<direct> (?P<x2>{_NAME}|him|her|them)(?= as |$|[,.;]| from | on | in | since ))?"
    r"(?: as (?P<whose>my|our|the|his|her|their) "
    r"(?P<noun>[\w-]+(?: (?!(?:from|on|in|since|as|starting)\b)[\w-]+)?))?(?P<rest>.*)"
)
_LEAVES_ZH = re.compile(
    r"(?P<x>[\u4e00-\u9fff]{2,4}?|[A-Z]\w+)(?:马上|快|即将|下个?月|本月底?)?(?:就)?(?:要)?(?:走了?|离开了?|离职了?|退休了?|调走了?|辞职了?)(?:公司|团队)?$"
)
_TAKES_OVER_ZH = re.compile(
    r"(?:(?P<when>从?[^由，]{0,14}?(?:起|开始)?))?[，,]?由?(?P<y>[\u4e00-\u9fff]{2,4}?|[A-Z]\w+)"
    r"(?:将|会|来)?(?:接替|接任|顶替)(?P<x>[\u4e00-\u9fff]{2,4}?|[A-Z]\w+)?(?:的工作|的位置|的职位)?$"
    r"|(?:(?P<when2>从?[^由，]{0,14}?(?:起|开始)))?由(?P<y2>[\u4e00-\u9fff]{2,4}?|[A-Z]\w+)(?:来|负责)?(?:接手|接管|接任|接替)(?:工作)?$"
    r"|(?P<y3>[\u4e00-\u9fff]{2,3}|[A-Z]\w+)(?:会|将)?(?P<when3>从?[^由，]{2,14}?(?:起|开始))(?:接手|接管|接任|接替)(?:工作)?$"
)
_WE_DID = r"(?:(?:I|we|we both) )?(?:(?:have|has|just|finally|also|already|now) )*"
#: What a person replaced of his own: a thing by its name, whatever it is.
_REPLACED = re.compile(
    rf"{_WE_DID}(?:bought|got|chose|picked) (?P<y>.+?) (?:to replace|in place of|as a replacement for) (?P<x>.+)"
    rf"|{_WE_DID}(?:swapped|traded(?: in)?|exchanged) (?P<x2>.+?) for (?P<y2>.+)"
    rf"|{_WE_DID}replaced (?P<x3>(?:my|our) .+?) (?:with|by) (?P<y3>.+)"
    r"|(?P<y4>.+?) (?:replaces|replaced|has replaced) (?P<x4>(?:my|our) .+)",
    re.IGNORECASE,
)
_WE = re.compile(r"we\b|我们", re.IGNORECASE)
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
_NO_THING = re.compile(r"[我你他她它这那了是在和]|^(?:一|手机|电脑|车|东西|新|什么)")

#: What is told as still to come, and how long ago a day without a year cannot be then.
_AHEAD = re.compile(r"takes over|taking over|will|steps in|replaces|succeeds|起")
_LONG_AGO = timedelta(days=60)


def takeover(plain: str, scene: Scene, text: str) -> list[Fact]:
    """The facts of an English clause in which somebody takes another's place; notes in the scene who is leaving."""
    if leaves := _LEAVES.fullmatch(plain):
        scene.leaving = leaves["x"]
        return []
    found = _TAKES_OVER.fullmatch(plain)
    if found is None:
        return []
    named = found["x"] or found["x2"] or ""
    gone = scene.leaving if named in ("", "him", "her", "them") else named
    new = person_named(found["y"], scene)
    since = _from(plain, text, scene)
    facts = [Fact(gone, "succeeded_by", new, True, since)] if gone and new and gone != new else []
    if found["noun"] and new and found["whose"] in ("my", "our"):
        predicate = scene.predicates.names.get(found["noun"].casefold())
        row = scene.predicates.rows.get(predicate) if predicate else None
        if row is not None and row.value == "person":
            facts = [*facts, Fact(scene.cast.me.name, row.name, new, True, since)]
    return facts


def replacement(plain: str, scene: Scene, text: str) -> list[Fact]:
    """The facts of an English clause in which the speaker replaces one thing by another."""
    found = _REPLACED.fullmatch(plain)
    if found is None:
        return []
    gone, new = (next((found[f"{part}{at}"] for at in ("", 2, 3, 4) if found[f"{part}{at}"]), "") for part in "xy")
    return _instead(_thing(gone, scene), _thing(new, scene), text, scene)


def _thing(text: str, scene: Scene) -> str:
    """The proper name of a thing; '' for what may be a person, a place or a day."""
    name = thing_in(text, scene)
    if not name or name[0].islower() or date_in(name) or is_known_place(name):
        return ""
    return "" if is_person(name.split()[0]) else name


def _thing_zh(text: str, scene: Scene) -> str:
    if latin := latin_in(text, scene.predicates):
        return latin
    thing = phrase_in(text)
    plain = thing in lexicon().chinese or is_place(thing)
    return "" if plain or len(thing) > 6 or _NO_THING.search(thing) else thing


def _instead(gone: str, new: str, text: str, scene: Scene) -> list[Fact]:
    if not gone or not new or same_value(gone, new):
        return []
    when = times(text, scene.said)
    if when.ahead:
        return []
    facts = [Fact(gone, "succeeded_by", new, True, when.since)]
    role = scene.predicates.role(new)
    if role is None or role in TASTES:
        return facts
    user = WE if _WE.match(text) else scene.cast.me.name
    return [*facts, Fact(user, "uses", new, True, when.since)]


def takeover_zh(text: str, scene: Scene) -> list[Fact]:
    """As `takeover` and `replacement`, of a Chinese clause."""
    if replaced := _REPLACED_ZH.fullmatch(text):
        return _instead(_thing_zh(replaced["x"], scene), _thing_zh(replaced["y"], scene), text, scene)
    if scene.broken and (instead := _INSTEAD_ZH.fullmatch(text)):
        return _instead(scene.broken, _thing_zh(instead["y"], scene), text, scene)
    if broke := _BROKE_ZH.fullmatch(text):
        scene.broken = _thing_zh(broke["x"], scene)
    if leaves := _LEAVES_ZH.fullmatch(text):
        scene.leaving = leaves["x"]
        return []
    found = _TAKES_OVER_ZH.fullmatch(text)
    if found is None:
        return []
    new, gone = found["y"] or found["y2"] or found["y3"], found["x"] or scene.leaving
    if not gone or gone == new:
        return []
    return [replace(Fact(gone, "succeeded_by", new), valid_from=_from(text, text, scene))]


def _from(clause: str, text: str, scene: Scene) -> datetime | None:
    """Since when; "takes over from 1 July", said in May of what lies ahead, means the next July."""
    since = times(text, scene.said).since
    if since is None or scene.said is None or not _AHEAD.search(clause) or re.search(r"\d{4}", clause):
        return since
    return since.replace(year=since.year + 1) if scene.said - since > _LONG_AGO else since
