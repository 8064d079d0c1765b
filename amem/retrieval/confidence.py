"""How sure one can be that a note answers a question, 0..1, and what follows for the question: strong, weak or none.

Rank scores cannot tell: the best of unrelated notes is still first. So each hit has a confidence of its own, a
logistic model over a few signs that people can read (`Signs`): how much of what is asked the note holds, how near its
meaning is, whether it states the very fact, time or kind of thing that is asked for. Its cosine counts where the
embedding model can read both the question and the note; where it cannot, as MiniLM cannot read Chinese, only words,
names, facts and times do.

``benchmarks/answering.py --fit`` makes the tables below from labelled questions; ADR 0016 tells how, and how good it
is.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from amem.language import index_terms, normalize, query_terms, search_terms
from amem.language.scripts import words
from amem.language.terms import asked_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from amem.language.intervals import Interval
    from amem.note import MemoryNote
    from amem.query import Query
    from amem.retrieval.explanation import Explanation, LegShare
    from amem.retrieval.fact_leg import Slots
    from amem.retrieval.hit import Hit
    from amem.retrieval.ranking import Ranking
    from amem.retrieval.words import Frequencies
    from amem.storage.store import Session

#: Words of asking, not of what is asked for: they are rare in notes and would weigh much.
_ASKING = frozenset(
    query_terms("tell told say said mention mentioned remember recall call called name know talk talked ask asked")
) | frozenset(
    words(
        """
        叫什 是什 么名 什么 时候 多少 是多 名字 告诉 说过 提过 记得 知道 有没 没有 哪里 哪个 哪些 是哪 在哪 怎么
        怎样 如何 为什 几岁 东西 事情 现在 还是 我叫 叫做
        """
    )
)
QUANTITY = re.compile(
    r"\bhow (?:much|many|long|far|often|old|big|tall|high|fast)\b|\b(?:what time|number|price|cost|phone|size)\b"
    r"|多少|几[个只条次岁天年月块元毫克斤公里米分点号]|多久|多长|多大|多高|多远|多重|剂量|价格|数量|比例|号码|电话|几点",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"\d|[一二三四五六七八九十百千万两半]"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|twice|noon|midnight)\b"
)
_WHO = re.compile(r"\bwho(?:m|se)?\b|谁|哪位|哪个人|姓什么", re.IGNORECASE)
#: Kinds of detail that questions ask for, and what a note holds that has one.
_DETAILS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(held, re.IGNORECASE))
    for asked, held in (
        (r"\bphone\b|\bnumber to call\b|电话|手机号", r"(?:\d[\s-]?){5,}|尾号|\b(?:call|ring)\b.*\d"),
        (
            r"\bhow much (?:is|was|are|were|do|does|did|will|would)\b"
            r"|\b(?:price|costs?|rent|salary|earn|fee|wage|paid)\b|多少钱|价格|单价|租金|房租|月租|工资|薪水|花了多少|收费",
            r"[$€£¥]\s?\d|\d[\d.,]*\s?(?:k\b|euros?|eur\b|dollars?|pounds?|刀|元|块|万|欧|镑)|\d{2,}",
        ),
        (r"\bhow old\b|\bwhat age\b|几岁|多大年纪|多大了", r"\d+[ -]?(?:years?|岁)|\bturns? \d|\bborn\b|出生|\d+岁"),
        (
            r"\bbirthday\b|\bborn\b|生日",
            r"\bborn\b|birthday|生日|\bturns? \d|出生|\d+月\d+",
        ),
        (r"\bwhat time\b|几点", r"\d{1,2}[:.]\d\d|\d\s?(?:am|pm)\b|\bnoon\b|\bmidnight\b|点|\bat \d"),
        (
            r"\bhow long\b|\bhow often\b|多久|多长时间",
            r"\d|\b(?:minutes?|hours?|days?|weeks?|months?|years?|daily|weekly|every)\b|分钟|小时|天|周|个月|年|每",
        ),
        (
            r"\bhow (?:many|far|tall|high|fast|big|heavy)\b|\bwhat (?:size|port|percentage)\b"
            r"|多少|几[个只条次本张位家台块]|多高|多远|多重|号码",
            NUMBER.pattern,
        ),
        (
            r"\bwhen (?:is|are|does|do|will|am|can|should)\b|\bwhat (?:day|date)\b|什么时候|哪天|哪一天|几号|几月",
            rf"{NUMBER.pattern}|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|may|june|july|august|september"
            r"|october|november|december)\b|tomorrow|tonight|next|月|号|周|星期|明天|后天|下",
        ),
        (r"\be-?mail\b|邮箱", r"@"),
        (r"\bpass(?:word|code)\b|\bpin\b|密码", r"pass|pin|code|密码|\d{3,}"),
        (r"\bplate\b|车牌", r"plate|车牌"),
    )
)
_CLAUSE = re.compile(r"[,;:.!?，。；：！？、\n()（）—]+(?!\d)")
_NAME = re.compile(r"(?<=[\w,;:] )[A-ZÀ-Þ][\w'’\-]+")
_POSSESSIVE = re.compile(r"['’]s?$")
_CALENDAR = words(
    """
    january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday i i'm i've i'll
    """
)


#: A mark has the day of the reader's calendar, a fact that of the world's.
_A_DAY = timedelta(days=1)
#: The least confidence in a note that states the fact that is asked for: 7 of 8 such notes answered.
_STATED = 0.85
#: Fewer notes do not show what cosine a typical one has.
_FEW = 20
#: Below this cosine a note that holds no word of a question has nothing to do with it.
_FAR = 0.2
#: What stands over hits none of which surely answers.
NOTHING_CERTAIN = "nothing certain; nearest:"


class Support(StrEnum):
    """How well memory supports an answer."""

    STRONG = "strong"
    WEAK = "weak"
    """Something comes near; whoever reads the notes has to tell."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for and against one note as the answer; every sign lies in -1..1, most in 0..1.

    `held` is the share of the question's telling terms, weighted by how rare they are, that the note holds, `together`
    that one clause of it does; `nowhere` the share that no note of the collection holds; `characters` the share of the
    question's single Chinese characters that the note holds. `cosine` and `apart` (how far it lies above the
    collection's typical note) are 0 where the embedding model cannot read both. `fact` is 1 where the note states what
    is asked of whom it is asked, 0.5 where the question asks for more than that. `strangers` is the share of the
    question's names that the note lacks. `timed` is 1 for a note of the time that is asked for, -1 for one of another
    time; `lacks` and `has` tell whether the note has what the question wants, such as a price, a date or a person.
    `asks` is 1 for a note that only asks. `first` is one over the note's place, `score` the search's. `read` tells
    whether the embedding model reads both question and note.
    """

    held: float = 0.0
    together: float = 0.0
    nowhere: float = 0.0
    characters: float = 0.0
    cosine: float = 0.0
    apart: float = 0.0
    fact: float = 0.0
    strangers: float = 0.0
    timed: float = 0.0
    lacks: float = 0.0
    has: float = 0.0
    asks: float = 0.0
    first: float = 0.0
    score: float = 0.0
    read: bool = False


#: The signs that confidence is reckoned from.
NAMES = tuple(field.name for field in fields(Signs))


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which confidence on a note gives an answer weak and strong support."""

    weak: float
    strong: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The model: a weight for each sign, and thresholds for notes that the embedding model `read` and did not read."""

    bias: float
    weights: Mapping[str, float]
    read: Thresholds
    unread: Thresholds

    def confidence(self, signs: Signs) -> float:
        """The chance that the note answers the question, 0..1."""
        total = self.bias
        for name, weight in self.weights.items():
            total += weight * getattr(signs, name)
        found = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))
        # Whoever asks for a fact and nothing else has it where it is stated, however little else speaks for the note.
        return max(found, _STATED) if signs.fact >= 1.0 else found

    def support(self, confidence: float, signs: Signs) -> Support:
        """What a note of this confidence gives an answer."""
        least = self.read if signs.read else self.unread
        if confidence >= least.strong or signs.fact >= 1.0:
            return Support.STRONG
        # Being the first of the hits is no reason by itself.
        some = signs.held > 0.0 or signs.characters > 0.0 or signs.fact > 0.0 or signs.cosine >= _FAR
        return Support.WEAK if some and confidence >= least.weak else Support.NONE


#: Fitted on the development half of ``tests/data/answers``.
CALIBRATION = Calibration(
    -4.99,
    {
        "held": 0.19,
        "characters": 1.97,
        "apart": 3.72,
        "fact": 2.72,
        "strangers": -1.07,
        "timed": 0.18,
        "lacks": -2.65,
        "first": 2.24,
        "score": 2.42,
    },
    Thresholds(0.0656, 0.7845),
    Thresholds(0.0139, 0.4224),
)


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found out about one hit."""

    signs: Signs
    confidence: float
    support: Support


class Confidences:
    """Judges the hits of a question.

    `slots` reads which facts it asks for; `reads` tells what share of a text the embedding model can read, 0..1.
    """

    def __init__(self, frequencies: Frequencies, slots: Slots, reads: Callable[[str], float]) -> None:
        self._frequencies, self._slots, self._reads = frequencies, slots, reads

    def of(
        self, session: Session, query: Query, ranking: Ranking, found: Sequence[tuple[Explanation, MemoryNote]]
    ) -> list[Judged]:
        """The verdict on each hit, given as its explanation and note."""
        if not found:
            return []
        text = ranking.reading.text
        wanted = query.filter
        filled = self._slots.filled(session, text, wanted.as_of or wanted.known_at or session.now)
        notes = {note.id: note for _, note in found}
        stating = {id for each in filled.facts for id in each.notes}
        stating |= {id for each in filled.ended for id in told_over(each, notes)}
        beside = {id for each in filled.asides for id in each.notes}
        question = _Question(ranking, self._frequencies, session, stating, beside, exact=filled.exact)
        reads = self._reads(text) >= _MOSTLY
        judged = []
        for explanation, note in found:
            read = reads and self._reads(note.content) >= _MOSTLY
            signs = question.signs(explanation, note, read=read)
            confidence = CALIBRATION.confidence(signs)
            judged.append(Judged(signs, confidence, CALIBRATION.support(confidence, signs)))
        return judged


_MOSTLY = 0.5


class _Question:
    """What a question asks for, looked up once for all of its hits."""

    def __init__(
        self,
        ranking: Ranking,
        frequencies: Frequencies,
        session: Session,
        stating: set[str],
        beside: set[str],
        *,
        exact: bool,
    ) -> None:
        reading = ranking.reading
        self.text = reading.text
        self.period = reading.period
        terms = telling(reading.text)
        characters = [term for term in asked_terms(reading.text) if len(term) == 1 and term not in terms]
        counted = frequencies.of(session, [*terms, *characters])
        self.total = frequencies.total
        self.weights = _rarities(terms, counted, self.total)
        self.characters = _rarities(characters, counted, self.total)
        self.unheard = {term for term in terms if not counted.get(term)}
        self.names = _names_in(reading.text, reading.names)
        self.details = [held for asked, held in _DETAILS if asked.search(reading.text)]
        self.wants_person = _WHO.search(reading.text) is not None
        self.stating, self.beside, self.exact = stating, beside, exact

    def signs(self, explanation: Explanation, note: MemoryNote, *, read: bool) -> Signs:
        legs = {leg.leg: leg for leg in explanation.legs}
        dense = legs.get("dense") if read else None
        text = "\n".join([note.content, " ".join(note.keywords), note.speaker or ""])
        held = set(search_terms(text))
        names = sum(name in normalize(text) for name in self.names)
        time = legs.get("time")
        wanted = [held.search(note.content) is not None for held in self.details]
        if self.wants_person:
            wanted.append(_other_names(note, self.names))
        clauses = [set(search_terms(clause)) for clause in _CLAUSE.split(note.content)]
        return Signs(
            held=_share(self.weights, held),
            together=max((_share(self.weights, clause) for clause in clauses), default=0.0),
            nowhere=_share(self.weights, self.unheard),
            characters=_share(self.characters, held) if self.characters else 0.0,
            cosine=dense.raw if dense is not None else 0.0,
            apart=self._apart(dense) if dense is not None else 0.0,
            fact=1.0
            if self.exact and note.id in self.stating
            else 0.5
            if note.id in self.stating | self.beside
            else 0.0,
            strangers=1.0 - names / len(self.names) if self.names else 0.0,
            timed=0.0 if self.period is None else 1.0 if time is not None and time.scaled >= 1.0 else -1.0,
            lacks=float(bool(wanted) and not all(wanted)),
            has=float(bool(wanted) and all(wanted)),
            asks=float(explanation.prior.asks),
            first=1.0 / explanation.place if explanation.place else 0.0,
            score=explanation.score,
            read=read,
        )

    def _apart(self, dense: LegShare) -> float:
        # A few notes are no sample to tell what is typical by; unrelated texts have about 0.1, give or take 0.1.
        return dense.scaled if self.total >= _FEW else min(1.0, max(0.0, (dense.raw - 0.1) / 0.8))


def telling(question: str) -> list[str]:
    """The terms of a question that say what is asked for; words of asking count only when there are no others."""
    terms = query_terms(question)
    return [term for term in terms if term not in _ASKING] or terms


def weights_of(question: str, frequency: Mapping[str, int], total: int) -> dict[str, float]:
    """The telling terms of a question, each with how rare it is: `frequency` says how many of `total` notes hold it."""
    return _rarities(telling(question), frequency, total)


def _rarities(terms: Iterable[str], frequency: Mapping[str, int], total: int) -> dict[str, float]:
    # What no note holds weighs most.
    return {term: math.log1p(max(total, 1) / (min(frequency.get(term, 0), total) + 0.5)) for term in terms}


def share_held(weights: Mapping[str, float], text: str) -> float:
    """How much of what is asked a text holds, 0..1: its share of these weights."""
    return _share(weights, set(index_terms(text))) if weights else 0.0


def told_over(fact: Interval, notes: Mapping[str, MemoryNote]) -> tuple[str, ...]:
    """The ids of the notes that say that a fact is over; of those that stated it where none of these does.

    `notes` are known by now: what ended a statement of theirs is marked there.
    """
    if fact.ended_by is not None and fact.certain:
        return (fact.ended_by,)
    marks = [mark for id in fact.notes if id in notes for mark in notes[id].overturned]
    after = [mark.by for mark in marks if mark.by and fact.until is not None and abs(mark.until - fact.until) <= _A_DAY]
    return tuple(dict.fromkeys(after)) or fact.notes


def best_support(hits: Sequence[Hit]) -> Support:
    """How well the hits of a question support an answer: as well as the best of them.

    Never none where some notes are in a language in which the question could not be looked up: one may hold it.
    """
    found = {hit.support for hit in hits}
    if any(hit.explanation.reading is not None and hit.explanation.reading.foreign for hit in hits):
        found.add(Support.WEAK)
    return next((each for each in (Support.STRONG, Support.WEAK) if each in found), Support.NONE)


def supporting(hits: Sequence[Hit]) -> tuple[str, ...]:
    """The ids of the hits that support an answer as well as the best does, the surest first."""
    best = best_support(hits)
    surest = sorted(hits, key=lambda hit: -hit.confidence)
    return tuple(hit.id for hit in surest if hit.support is best is not Support.NONE)


def _share(weights: Mapping[str, float], held: set[str]) -> float:
    every = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in held) / every if every else 0.0


def _names_in(text: str, known: Mapping[str, int]) -> frozenset[str]:
    """Names that the question holds: capitalised words inside a sentence, and what the collection knows as names."""
    capitalised = {normalize(_POSSESSIVE.sub("", name)) for name in _NAME.findall(text)}
    return frozenset(capitalised - _CALENDAR) | frozenset(known)


def _other_names(note: MemoryNote, asked: frozenset[str]) -> bool:
    """Whether a note names anybody or anything that the question does not."""
    named = {normalize(each) for each in (*note.entities, *_NAME.findall(note.content), note.speaker or "")} - {""}
    return bool(named - asked)
