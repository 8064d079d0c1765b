"""One sentence around a note: who said it, when, what sort of thing it is, about what, and its gist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.llm.offline.gist import gist_of, lowered, whole
from amem.llm.offline.replies import leans, reply_lead
from amem.llm.offline.tags import themes_of
from amem.note import Kind
from amem.text.times import iso, with_dates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.analysis import Draft
    from amem.llm.offline.entities import Name
    from amem.llm.offline.reading import Reading
    from amem.protocols import Vocabulary

_GIST = 160
_NOUNS = {
    Kind.EPISODE: ("account", "经历"),
    Kind.FACT: ("note", "记录"),
    Kind.PREFERENCE: ("preference", "偏好"),
    Kind.DECISION: ("decision", "决定"),
    Kind.CONSTRAINT: ("constraint", "约束"),
    Kind.CONFIG: ("setting", "配置"),
    Kind.CODE: ("code", "代码"),
    Kind.ERROR: ("error", "报错"),
    Kind.QUESTION: ("question", "提问"),
    Kind.CHITCHAT: ("small talk", "闲聊"),
    Kind.PROCEDURE: ("procedure", "步骤"),
    Kind.TOPIC: ("topic", "主题"),
}
#: Kinds of which the person named first is the one who decided, likes, or did.
_PERSONAL = (Kind.DECISION, Kind.PREFERENCE, Kind.CONSTRAINT)
_UNCOUNTED = (Kind.CODE, Kind.CHITCHAT)


def context_of(
    draft: Draft,
    reading: Reading,
    kind: Kind,
    keywords: Sequence[str],
    named: Sequence[Name],
    vocabulary: Vocabulary,
) -> str:
    """The sentence, in the note's language. Dates are given only as far as the draft and its words give them."""
    day = iso(draft.at.date(), reading.chinese) if draft.at else ""
    who = draft.speaker or (_subject(reading) if kind in _PERSONAL else None)
    if draft.previous and leans(reading, kind):
        lead = reply_lead(draft, reading, kind, day, vocabulary)
        return _sentence(lead, draft, named, reading.chinese, whole(reading, _GIST))
    small = kind is Kind.CHITCHAT
    gist = whole(reading, _GIST) if small else gist_of(reading, kind, keywords, _GIST)
    about = _about(reading, gist)
    lead = (_chinese_lead if reading.chinese else _english_lead)(who, day, kind, about)
    rest = "" if small or kind is Kind.CODE else _rest(reading, gist, keywords)
    return _sentence(lead, draft, named, reading.chinese, gist, rest)


def _sentence(lead: str, draft: Draft, named: Sequence[Name], chinese: bool, gist: str, rest: str = "") -> str:
    body = with_dates(gist, draft.at.date() if draft.at else None)
    stop = "。" if chinese else "."
    closed = not rest and body.endswith(("?", "？", "!", "！", "…"))
    colon, body = ("：", body) if chinese else (": ", lowered(body, named))
    return f"{lead}{colon if body else ''}{body}{rest}{'' if closed else stop}"


def _english_lead(who: str | None, day: str, kind: Kind, about: Sequence[str]) -> str:
    noun = _NOUNS[kind][0]
    subject = f"about {' and '.join(about)}" if about else ""
    if kind is Kind.EPISODE and (who or day):
        lead = f"{who} on {day}" if who and day else who or f"On {day}"
        return f"{lead}, {subject}" if subject else lead
    of = f" of {day}" if day else ""
    subject = f" {subject}" if subject else ""
    if who:
        return f"{who}'s {noun}{of}{subject}"
    if kind in _UNCOUNTED:
        return f"{noun.capitalize()}{of}{subject}"
    return f"{'An' if noun[0] in 'aeiou' else 'A'} {noun}{of}{subject}"


def _chinese_lead(who: str | None, day: str, kind: Kind, about: Sequence[str]) -> str:
    space = " " if who and who[-1].isascii() and (day or about) else ""
    subject = f"关于{'和'.join(about)}" if about else ""
    head = f"{who or ''}{space}{day}{subject}"
    return f"{head}的{_NOUNS[kind][1]}" if head else _NOUNS[kind][1]


def _about(reading: Reading, gist: str) -> list[str]:
    """Up to two themes; those that the gist does not name itself come first."""
    themes = [theme.phrase(reading.chinese) for theme in themes_of(reading)[:3]]
    folded = gist.casefold()
    fresh = [theme for theme in themes if theme.casefold() not in folded]
    return fresh[:2] or themes[:1]


def _rest(reading: Reading, gist: str, keywords: Sequence[str]) -> str:
    """What a note of several sentences speaks of beside its gist."""
    if len(reading.sentences) < 2 and len(reading.text) <= _GIST:
        return ""
    folded = gist.casefold()
    others = [keyword for keyword in keywords if keyword.casefold() not in folded][:3]
    if not others:
        return ""
    return f"（还提到{'、'.join(others)}）" if reading.chinese else f" (also: {', '.join(others)})"


def _subject(reading: Reading) -> str | None:
    """The person whom the first word names and of whom the note then says something."""
    if not reading.words or not reading.words[0].person:
        return None
    first, *others = reading.words[:2]
    if first.possessive or not (first.cjk or first.capital) or (others and others[0].gap):
        return None
    return first.text
