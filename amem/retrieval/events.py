"""A time that is named by what happened then: "before we moved", 换工作之后."""

from __future__ import annotations

import re
from dataclasses import dataclass

from amem.retrieval.reading import Event
from amem.text.terms import content_terms

_ENGLISH = re.compile(
    r"(?:^\W{0,3}|(?P<verb>\b\w{1,20}) |[^\w\s]\s{0,3})"
    r"(?P<side>(?i:before|(?:right |just |shortly |soon )?after|(?:ever )?since|until|till|prior to|following))\s"
    r"(?P<what>(?:(?i:the|my|our|his|her|their|its|i|we|he|she|they|it|this|that)|\w{1,30}['’]s|[A-Z]\w{0,30}|\w{1,30}ing)\b"
    r"[^?!,;:.\n]{1,120})",
)
#: With these before it, "after" and "following" have nothing to do with time.
_PHRASES = re.compile(
    r"(?:look|looks|looked|looking|named|take|takes|took|taking|ask|asks|asked|run|runs|ran|be|seek|the|day|week|month"
    r"|year|weeks|days|months|years|night|morning|is|are|was|were|am)",
    re.IGNORECASE,
)
#: Where a clause ends and what is asked begins: "before we moved where did we live".
_NEXT = re.compile(r"\s(?:what|who|where|which|why|how|when|did|does|do|is|are|was|were|had|has|have)\s", re.IGNORECASE)
_CHINESE = re.compile(
    r"(?P<what>[^，。；？！,.?!;\s]{2,30}?)(?:的?(?P<side>之前|以前|之后|以后)"
    r"|(?P<short>前|后)(?=[我你他她它咱]|，|,|都?有?(?:什么|哪|谁|怎)))"
)
#: These with 前 or 后 are words of their own, and these before them name no event.
_NO_EVENT = re.compile(
    r"(?:很久|不久|好久|多久|此|这|那|在此|从此|除此|自此|这件事|在这|在那|[一二三四五六七八九十\d]+个?(?:天|周|年|月|星期|小时|分钟|点))$"
)
_ENDS_A_WORD = re.compile(r"(?:目|以|之|从|眼|当|面|最|然|背|今|往|向|先|身|幕|日|事|落)$")
_LEADS = re.compile(r"^(?:自从|自|从|在|当|等|到|那么|请问|问一下)|^(?:我们?|你们?|咱们?)?(?:是)?在(?=.{2})")


@dataclass(frozen=True, slots=True)
class Happening:
    """The event and where its words stand."""

    event: Event
    start: int
    end: int


def event_of(text: str) -> Happening | None:
    """What happened that the question measures time by; None where it does not, or says it with nothing to look for."""
    for match in _ENGLISH.finditer(text):
        if match["verb"] and _PHRASES.fullmatch(match["verb"]):
            continue
        what = match["what"]
        if ends := _NEXT.search(what):
            what = what[: ends.start()]
        end = match.start("what") + len(what)
        if content_terms(what):
            before = match["side"].casefold() in ("before", "until", "till", "prior to")
            return Happening(Event(text[match.start("side") : end], what.strip(), before), match.start("side"), end)
    for match in _CHINESE.finditer(text):
        what, start = match["what"], match.start()
        if lead := _LEADS.match(what):
            what, start = what[lead.end() :], start + lead.end()
        if _NO_EVENT.search(what) or (match["short"] and _ENDS_A_WORD.search(what)) or not content_terms(what):
            continue
        before = (match["side"] or match["short"]).endswith("前")
        return Happening(Event(text[start : match.end()], what, before), start, match.end())
    return None
