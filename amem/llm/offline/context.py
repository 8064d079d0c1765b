"""One sentence around a note: who said it, when, what sort of thing it is, about what, and its gist."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.gist import gist_of, lowered, shorten, without_lead_in
from amem.llm.offline.keyphrases import keyphrases
from amem.llm.offline.lexicon import Sort
from amem.llm.offline.reading import read
from amem.llm.offline.tags import themes_of
from amem.llm.offline.times import iso, with_dates
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.analysis import Draft
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
_UNCOUNTED = (Kind.CODE, Kind.CHITCHAT)
#: A note with no more content words than this leans on what was said before it.
_LEANS = 3
_SPEAKER = re.compile(r"^([^:：\n]{1,40})[:：]\s*(.+)$", re.DOTALL)


def context_of(draft: Draft, reading: Reading, kind: Kind, keywords: Sequence[str], vocabulary: Vocabulary) -> str:
    """The sentence, in the note's language. Dates are given only as far as the draft and its words give them."""
    if draft.previous and _leans(reading, kind):
        return _in_reply(draft, reading, kind, keywords, vocabulary)
    gist = gist_of(reading, kind, keywords, _GIST)
    about = _about(reading, gist, keywords)
    who = draft.speaker or _subject(reading)
    lead = (_chinese_lead if reading.chinese else _english_lead)(who, _day(draft, reading.chinese), kind, about)
    return _sentence(lead, draft, reading, gist, _rest(reading, gist, keywords))


def _sentence(lead: str, draft: Draft, reading: Reading, gist: str, rest: str) -> str:
    dated = with_dates(gist, draft.at.date() if draft.at else None)
    if reading.chinese:
        stop = "" if dated.endswith(("?", "？", "!", "！", "…")) and not rest else "。"
        return f"{lead}：{dated}{rest}{stop}"
    body = lowered(dated, reading)
    stop = "" if body.endswith(("?", "!", "…")) and not rest else "."
    return f"{lead}: {body}{rest}{stop}"


def _english_lead(who: str | None, day: str, kind: Kind, about: Sequence[str]) -> str:
    noun = _NOUNS[kind][0]
    subject = f" about {' and '.join(about)}" if about else ""
    if kind is Kind.EPISODE:
        lead = " ".join(part for part in (who, f"on {day}" if day else "") if part)
        return (lead + (f",{subject}" if lead else subject)) or "What happened"
    of = f" of {day}" if day else ""
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


def _day(draft: Draft, chinese: bool) -> str:
    return iso(draft.at.date(), chinese) if draft.at else ""


def _about(reading: Reading, gist: str, keywords: Sequence[str]) -> list[str]:
    """Up to two themes; those that the gist does not name itself come first."""
    themes = [theme.tag(reading.chinese).replace("-", " ") for theme in themes_of(reading)[:3]]
    folded = gist.casefold()
    fresh = [theme for theme in themes if theme not in folded]
    if fresh:
        return fresh[:2]
    return themes[:1] or [keyword for keyword in keywords if keyword.casefold() not in folded][:2]


def _rest(reading: Reading, gist: str, keywords: Sequence[str]) -> str:
    """What a note of several sentences speaks of beside its gist."""
    if len(reading.sentences) < 2:
        return ""
    folded = gist.casefold()
    others = [keyword for keyword in keywords if keyword.casefold() not in folded][:3]
    if not others:
        return ""
    return f"（还提到{'、'.join(others)}）" if reading.chinese else f" (also: {', '.join(others)})"


def _subject(reading: Reading) -> str | None:
    """The person whom the first word names and of whom the note then says something."""
    if not reading.words:
        return None
    first = reading.words[0]
    if not first.person or (not first.cjk and not first.capital):
        return None
    if len(reading.words) > 1 and reading.words[1].person and not reading.words[1].gap and not first.possessive:
        return f"{first.text} {reading.words[1].text}" if not first.cjk else None
    return None if first.possessive else first.text


def _leans(reading: Reading, kind: Kind) -> bool:
    content = sum(1 for word in reading.words if word.sort in (Sort.COMMON, Sort.CONTENT))
    return kind is Kind.CHITCHAT or (content <= _LEANS and kind not in (Kind.DECISION, Kind.CONSTRAINT, Kind.CODE))


def _in_reply(draft: Draft, reading: Reading, kind: Kind, keywords: Sequence[str], vocabulary: Vocabulary) -> str:
    """The context of a short reply, which makes sense only beside what it replies to."""
    match = _SPEAKER.match(draft.previous[-1])
    speaker, said = (match[1], match[2]) if match else (None, draft.previous[-1])
    before = read(said.strip())
    asked = before.text.rstrip().endswith(("?", "？")) and kind is not Kind.QUESTION
    if asked:
        topic = shorten(without_lead_in(before.sentence(len(before.sentences) - 1)), 110)
    else:
        topics = [theme.tag(reading.chinese).replace("-", " ") for theme in themes_of(before)[:1]]
        topics += [word for word in keyphrases(before, (), vocabulary) if word.casefold() not in topics]
        topic = ("、" if reading.chinese else ", ").join(topics[:3]) or shorten(before.text, 80)
    gist = shorten(" ".join(without_lead_in(reading.text).split()).rstrip(".。"), _GIST)
    day = _day(draft, reading.chinese)
    if reading.chinese:
        verb = "提问" if kind is Kind.QUESTION else "回答" if asked else "回应"
        to = f"{speaker}的" if speaker else ""
        head = f"{draft.speaker or ''}{day}{verb}{to}{f'问题“{topic}”' if asked else f'话（{topic}）'}"
    else:
        noun = "question" if kind is Kind.QUESTION else "answer" if asked else "reply"
        noun = "reaction" if kind is Kind.CHITCHAT and not asked else noun
        who = f"{draft.speaker}'s {noun}" if draft.speaker else f"{'An' if noun[0] in 'aeiou' else 'A'} {noun}"
        of = f" of {day}" if day else ""
        head = f"{who}{of} to " + (
            f'{speaker}\'s question "{topic}"'
            if asked and speaker
            else f'the question "{topic}"'
            if asked
            else f"{speaker} on {topic}"
            if speaker
            else f"what was said on {topic}"
        )
    return _sentence(head, draft, reading, gist, "")
