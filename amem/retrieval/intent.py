"""What kind of answer a question wants, by its words."""

from __future__ import annotations

import re

from amem.retrieval.reading import Intent, Reading

#: Words that ask for what is recent. "When" asks for a time, which may be any, and "last year" names one.
_RECENT = re.compile(
    r"\b(?:recent(?:ly)?|lately|latest|newest|these days|nowadays|(?:the )?(?:last|past) few (?:days|weeks))\b"
    r"|(?:这|近|前)(?:几|些|两)天|这阵子|这段时间|近段时间|近日|最近|近来|近期|最新",
    re.IGNORECASE,
)
#: A place, not a time.
_NEAR = re.compile(r"(?:离|距离?)[^，。？！,.?!]{0,12}最近|最近的(?:地铁站?|车站|医院|超市|药店|机场|路线|地方|距离)")

#: Words that ask for all of a subject, not for one thing about it.
_OVERVIEW = re.compile(
    r"\b(?:overview|summar(?:y|ise|ize)|sum up|recap|big picture|tell me (?:all |everything )?about|brief me on"
    r"|(?:all|everything|what) (?:do )?(?:i|we|you) know (?:about|of)|what is known about|where do (?:i|we) stand)\b"
    r"|概[况述览要]|总览|总结|小结|汇总|归纳|梳理|综述|来龙去脉|整体情况|全部情况|介绍一下|讲讲|说说",
    re.IGNORECASE,
)


def asks_for_overview(question: str) -> bool:
    """Whether the question wants a subject as a whole: ``tell me about``, ``an overview of``, 总结, 概况."""
    return _OVERVIEW.search(question) is not None


def asks_for_recent(question: str) -> bool:
    """Whether the question asks for what is recent: ``lately``, ``the latest``, 最近, 最新."""
    return _RECENT.search(_NEAR.sub("", question)) is not None


def reading_of(question: str) -> Reading:
    """The question as it stands."""
    return Reading(
        question,
        (Intent.GENERAL,),
        question,
        recent=asks_for_recent(question),
        overview=asks_for_overview(question),
    )
