"""Words such as "recently", "now", "next" and "last" in a question, and which notes they mean by the notes' own times.

A note's time is when it was said or what it says it is of, not when it arrived: an imported diary is as old as its
days. What is asked for is looked for among the notes that are to the point, so that the newest of a diary of 2019
counts as recent where that diary is all there is.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from amem.retrieval.reading import Recency
from amem.retrieval.timing import times_of
from amem.storage.rows import moment_or_never
from amem.truth.intervals import intervals

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import tzinfo

    from amem.storage import Session
    from amem.truth.predicates import Predicates

#: What may follow "next" and "last" without being anything that takes place once more.
_NO_TURN = (
    r"(?:name|names|minute|resort|straw|words?|legs?|call|chance|one standing|of|to|door|few|couple|\d+|two|three"
    r"|four|five|six|seven|eight|nine|ten|dozen|generation|forever|longer?|week|month|year|night|summer|winter|spring"
    r"|autumn|fall|weekend|decade|century|monday|tuesday|wednesday|thursday|friday|saturday|sunday|day)\b"
)
_WHOSE = r"(?:the|my|our|his|her|their|your|its|\w+['’]s?)"
_WORDS = {
    Recency.RECENT: re.compile(
        r"\b(?:(?:most )?recent(?:ly)?|lately|(?:the )?latest|(?:the )?newest|these days|nowadays"
        r"|(?:(?:in|over|during) )?(?:the )?(?:last|past) few (?:days|weeks|months))\b"
        r"|(?:这|近|前)(?:几|些|两)天|这阵子|这段时间|近段时间|近日|最近|近来|近期|最新",
        re.IGNORECASE,
    ),
    Recency.NEXT: re.compile(
        rf"\b(?:(?<=what is )|(?<=what's )|(?<=what comes )|{_WHOSE} )next\b(?! {_NO_TURN})|\bnext time\b|\bupcoming\b"
        rf"|\bnext (?=(?!{_NO_TURN})\w+(?: \w+)?\W*$)|下一?(?:次|回|场|个(?!月|星期|礼拜|季度)|届|班|站)|接下来",
        re.IGNORECASE,
    ),
    Recency.LAST: re.compile(
        rf"\b(?:(?<!at ){_WHOSE} (?:very )?last|(?<!at the )last time|most recent)\b(?! {_NO_TURN})"
        r"|\b(?:did|have|has|had|was|were) [\w'’]+(?: [\w'’]+){0,2} last\b(?! \w)"
        r"|\bwhen (?:did|was|were) [^?.!]{1,60}? last\b"
        r"|上一?(?:次|回|场|届|班)|最后一?(?:次|回|场)",
        re.IGNORECASE,
    ),
    Recency.NOW: re.compile(
        r"\b(?:right now|now(?! that)|current(?:ly)?|at (?:the moment|present)|presently|as of (?:now|today))\b"
        r"|(?<!出)现在|目前|当前|眼下|如今|现任|此刻",
        re.IGNORECASE,
    ),
}
#: A place that is near, not a time.
_NEAR = re.compile(
    r"(?:离|距离?)[^，。？！,.?!]{0,12}最近"
    r"|最近的[^，。？！,.?!\s的]{0,6}(?:站|医院|超市|药店|机场|路线|地方|距离|店|银行|餐厅|饭馆|公园|学校|厕所|出口|邮局)"
)
_HIDDEN = "\ufffc"
_DAY = timedelta(days=1)


def recency_of(text: str) -> tuple[Recency | None, list[tuple[int, int]]]:
    """What a question asks for by such a word, the most telling first, and where its words stand."""
    plain = _NEAR.sub(lambda near: _HIDDEN * len(near[0]), text)
    for recency, words in _WORDS.items():
        if found := [match.span() for match in words.finditer(plain)]:
            return recency, found
    return None, []


def timely(
    session: Session, recency: Recency, keys: Sequence[int], moment: datetime, zone: tzinfo, predicates: Predicates
) -> Mapping[int, float]:
    """How well the time of each note goes with what is asked, 0..1: 1 for the newest, for the nearest to come.

    0 for a note of nothing that is still to come where the next is asked for, of nothing that has been where the last
    is, and of what is over where it is asked how things are now.
    """
    rows = session.notes.columns(list(keys), ["at", "valid_from", "valid_to", "content"])
    when: dict[int, datetime] = {}
    for key in keys:
        at, begun, ended, content = rows[key]
        said = moment_or_never(at)
        if recency in (Recency.RECENT, Recency.NOW):
            if recency is Recency.RECENT or ended is None or moment_or_never(ended) > moment:
                when[key] = said
            continue
        named = [
            datetime(first.year, first.month, first.day, tzinfo=zone)
            for first, _ in times_of(content, said.astimezone(zone).date())
        ]
        times = [*named, moment_or_never(begun)] if begun else named or [said]
        today = moment.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        if recency is Recency.NEXT:
            ahead = [each for each in times if each >= today]
            if ahead:
                when[key] = min(ahead)
        elif behind := [each for each in times if each < today + _DAY]:
            when[key] = max(behind)
    if recency is Recency.NOW:
        when = {key: at for key, at in when.items() if key not in _ended(session, keys, moment, predicates)}
    order = sorted(set(when.values()), reverse=recency is not Recency.NEXT)
    place = {at: number for number, at in enumerate(order)}
    return {key: 1.0 - place[when[key]] / len(order) if key in when else 0.0 for key in keys}


def _ended(session: Session, keys: Iterable[int], moment: datetime, predicates: Predicates) -> frozenset[int]:
    """Notes that state facts of which none is so any more."""
    stated = [each for each in session.facts.of(list(keys)) if each.holds]
    if not stated:
        return frozenset()
    told = session.facts.about({each.subject for each in stated})
    so = {note for each in intervals(told, predicates) if each.at(moment) for note in each.notes}
    return frozenset(each.order for each in stated) - frozenset(each.order for each in stated if each.note in so)
