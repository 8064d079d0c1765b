"""Who takes whose place: "Pieter is leaving, Fatima takes over from 1 June", 李雷要走了，从6月1日起由韩梅接手.

What place that is, such a sentence often leaves to other notes: the fact says only who succeeds whom and since when,
and ``amem.writing.successors`` finds the places that are filled by whoever leaves.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from amem.llm.offline.facts.held import person_named
from amem.llm.offline.facts.when import times
from amem.note import Fact

if TYPE_CHECKING:
    from datetime import datetime

    from amem.llm.offline.facts.scene import Scene

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


def takeover_zh(text: str, scene: Scene) -> list[Fact]:
    """As `takeover`, of a Chinese clause."""
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
