"""Where somebody works, as what, and in which team."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.facts.objects import is_known_place, name_in, phrase_in, school_in
from amem.llm.offline.facts.shapes import Aspect
from amem.llm.offline.lexicon import is_person
from amem.note import Fact
from amem.text.stopwords import words

if TYPE_CHECKING:
    from amem.llm.offline.facts.people import Subject
    from amem.llm.offline.facts.scene import Scene
    from amem.llm.offline.facts.shapes import Shape

#: Trades and ranks that a job title ends in.
_TRADES = words(
    "engineer developer programmer designer manager director lead architect analyst scientist researcher consultant "
    "nurse doctor surgeon dentist pharmacist physiotherapist therapist psychologist vet veterinarian teacher professor "
    "lecturer tutor student intern apprentice lawyer solicitor paralegal accountant auditor bookkeeper banker broker "
    "economist journalist reporter editor writer author translator interpreter photographer illustrator artist "
    "musician actor dancer chef cook baker barista waiter waitress bartender driver pilot sailor mechanic electrician "
    "plumber carpenter builder farmer gardener florist hairdresser cleaner receptionist secretary assistant "
    "administrator officer president chairman founder cofounder co-founder partner freelancer contractor cto ceo cfo "
    "coo vp head supervisor coordinator specialist technician librarian firefighter policeman paramedic soldier judge "
    "principal recruiter salesperson cashier clerk postdoc statistician biologist chemist physicist mathematician "
    "geologist tester sre devops owner master counselor counsellor social-worker midwife"
)
TRADES_ZH = re.compile(
    r"(?:工程师|开发|程序员|设计师|经理|总监|主管|组长|架构师|分析师|科学家|研究员|顾问|护士|医生|老师|教师|教授|讲师|律师|会计|记者|编辑|作家|翻译|摄影师|厨师|司机"
    r"|飞行员|助理|秘书|总裁|董事长|创始人|合伙人|负责人|专员|实习生|学生|产品|运营|测试|运维|前端|后端|销售|公务员|警察|演员|画家|音乐家|CEO|CTO|CFO|COO)$"
)
#: What is joined, left or quit without being an employer.
_NO_EMPLOYER = words(
    "facebook instagram twitter linkedin discord tiktok reddit whatsapp telegram snapchat mastodon duolingo strava "
    "church army navy school college gym club zoom teams meet skype netflix spotify"
)
#: With these behind it somebody left for the day, or joined in something.
_CLOCK = re.compile(
    r"\b(?:at|around|by) (?:\d|noon|midnight|half|quarter|lunch)|\bo'clock\b|\b(?:early|late|before|after) ",
    re.IGNORECASE,
)
_GUEST = re.compile(
    r"\b(?:for|in|on) (?:an? |the )?"
    r"(?:call|lunch|dinner|coffee|drinks?|meeting|trip|holiday|visit|walk|weekend|party)\b",
    re.IGNORECASE,
)
#: "St Mary's hospital", "St. Mary's", "Ana's bakery": no other possessive is an employer.
_NAMED_AFTER = re.compile(
    r"(?:the )?(?P<o>(?:(?:St\.?|Saint|[A-Z][\w-]+) )?[A-Z][\w-]+['’]s"
    r"(?: [A-Z][\w-]+){0,2}? (?i:hospital|clinic|school|college|university|academy|hospice|church|bakery|restaurant|bar"
    r"|café|cafe|pub|shop|bookshop|pharmacy|hotel|nursery|foundation|institute|company|garage|farm)"
    r"|(?:St\.?|Saint) [A-Z][\w-]+['’]s)(?![\w-])"
)
_BEGUN = words("start starts started starting begin begins began begun beginning")
_NO_TEAM = words("a the my our right same best winning whole new")


def employers(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """Where the subject works, or works no more; as what, where that is said along with it."""
    text = parts.get("o", "")
    org = organisation(text, scene)
    if not org:
        ends = shape.aspect is Aspect.END and shape.kind.endswith("?") and not text
        return [Fact(subject.name, "works_at", "", False)] if ends else []
    if parts["verb"] in _BEGUN and school_in(org) and " as " not in text:
        return []  # a pupil starts at a school as well as a teacher
    loose = shape.tail.startswith("(?P<o>")  # "joined", "left", "quit" and whatever follows
    if loose and (_CLOCK.search(text) or _GUEST.search(text) or is_known_place(org)):
        return []
    found = [Fact(subject.name, "works_at", org, shape.aspect is not Aspect.END)]
    new = organisation(parts.get("new", ""), scene)
    if new and not is_known_place(new):
        found.append(Fact(subject.name, "works_at", new))
    title = title_in(parts.get("title", ""))
    return [*found, Fact(subject.name, "job_title", title)] if title and found[0].holds else found


def titles(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """What somebody works as, and where that is said along with it."""
    title = title_in(parts["o"])
    if not title:
        return []
    found = [Fact(subject.name, "job_title", title)]
    org = organisation(parts.get("org", ""), scene) if shape.aspect is Aspect.STATE else ""
    return [*found, Fact(subject.name, "works_at", org)] if org and not is_known_place(org) else found


def teams(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """The team that somebody is on."""
    name = re.sub(r"^the |\s+team$", "", parts["o"], flags=re.IGNORECASE).strip()
    if not name or name.casefold() in _NO_TEAM:
        return []
    found = [Fact(subject.name, "team", name)]
    org = organisation(parts.get("org", ""), scene)
    return [*found, Fact(subject.name, "works_at", org)] if org else found


def organisation(text: str, scene: Scene) -> str:
    """The name that `text` begins with, if it may be an employer's."""
    if after := _NAMED_AFTER.match(text):
        return after["o"]
    name = name_in(text, scene.predicates, lower=scene.lower)
    listed = name.split()
    if not listed or name in ("St", "Saint") or name[0].isdigit() or listed[0].casefold() in _NO_EMPLOYER:
        return ""
    return "" if len(listed) == 1 and is_person(name) else name


def title_in(text: str) -> str:
    """The job title that `text` begins with: words that end in a trade, or "head of" something."""
    title = phrase_in(text)
    listed = title.casefold().split()
    return title if listed and listed[-1] in _TRADES else ""
