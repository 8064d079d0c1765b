"""How sure one can be that a note answers a question, 0..1, and what follows for the question: strong, weak or none.

Rank scores cannot tell: the best of unrelated notes is still first. So each hit has a confidence of its own, a
logistic model over a few signs that people can read (`Signs`): how much of what is asked the note holds, how near its
meaning is, whether it states the very fact or kind of thing that is asked for. Its cosine counts where the embedding
model can read both the question and the note; where it cannot, as MiniLM cannot read Chinese, only words, names and
facts do.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from amem.language import held_terms, index_terms, normalize, query_terms, sentences
from amem.language.asking import asks_for_a_name, details_asked
from amem.language.lexicon import is_person
from amem.language.scripts import CHINESE_BIGRAMS, CHINESE_KEPT, CHINESE_SINGLE_WORDS, is_cjk, words
from amem.language.terms import bigrams, content_terms, is_searched_alone, words_of
from amem.retrieval.entailment import is_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from amem.language.intervals import Interval
    from amem.note import MemoryNote
    from amem.protocols import Matrix
    from amem.query import Query
    from amem.retrieval.explanation import Explanation
    from amem.retrieval.fact_leg import Slots
    from amem.retrieval.hit import Hit
    from amem.retrieval.ranking import Ranking
    from amem.retrieval.words import Frequencies
    from amem.storage.store import Session


# How the signs that a note answers a question add up to a confidence, and from which confidence on that is support.
#
# The numbers are made by ``benchmarks/answering.py --fit`` from labelled questions; ADR 0016 tells how, and how good
# they are.

#: The least confidence in a note that states the fact that is asked for: 7 of 8 such notes answered.
_STATED = 0.85
#: Below this cosine a note that holds no word of a question has nothing to do with it.
_FAR = 0.2
#: From this share of what is asked with, or this cosine, on memory does not say that it holds nothing.
_MOST, _NEAR = 0.5, 0.4
#: So much of what is asked is all of it.
_ALL = 0.9
#: Words that take a question so far away from a note ask for something else.
_OTHER = -0.1


class Support(StrEnum):
    """How well memory supports an answer."""

    STRONG = "strong"
    WEAK = "weak"
    """Something comes near; whoever reads the notes has to tell."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for and against one note as the answer; every sign but `lift` lies in 0..1.

    `held` is the share of what is asked with, words by their rarity and Chinese by its characters, that the note holds.
    `lift` is how much nearer to the note the words that it lacks bring the question, as a difference of cosines: below
    0 they ask for something else. `cosine` and `apart` (how far it lies above the collection's typical note) are, like
    `lift`, 0 where the embedding model cannot read both. `fact` is 1 where the note states what is asked of whom it is
    asked, 0.5 where the question asks for more than that. `strangers` is the share of the question's names that the
    note lacks; `lacks` is 1 where it has no price, date, person or other detail that the question wants. `first` is one
    over the note's place; `few` is 1 where it has no other notes to be mistaken for, 0 from 40
    on. `read` tells whether the embedding model reads both question and note.
    """

    held: float = 0.0
    lift: float = 0.0
    cosine: float = 0.0
    apart: float = 0.0
    fact: float = 0.0
    strangers: float = 0.0
    lacks: float = 0.0
    first: float = 0.0
    few: float = 0.0
    read: bool = False

    @property
    def covered(self) -> float:
        """The share that is held, squared: the half that is missing is what was asked for."""
        return self.held * self.held

    @property
    def bears(self) -> bool:
        """Whether the note holds most of what is asked, or is near it and the words that it lacks ask for no other."""
        return self.held >= _MOST or (self.cosine >= _NEAR and self.lift > _OTHER)


#: What confidence is reckoned from.
NAMES = ("covered", "lift", "apart", "fact", "strangers", "lacks", "first", "few")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which confidence on a note gives an answer weak and strong support, and from which nearness it is near."""

    weak: float
    strong: float
    near: float


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

    def nearness(self, signs: Signs) -> float:
        """What the confidence would be in any place: of what has nothing to do with a question, something is first."""
        return self.confidence(replace(signs, first=0.0))

    def is_near(self, signs: Signs) -> bool:
        """Whether a note that is not sure to answer comes near enough to be shown in place of an answer.

        One that bears on it does, whatever it lacks.
        """
        return signs.bears or self.nearness(signs) >= (self.read if signs.read else self.unread).near

    def support(self, confidence: float, signs: Signs) -> Support:
        """What a note of this confidence gives an answer."""
        least = self.read if signs.read else self.unread
        if confidence >= least.strong or signs.fact >= 1.0:
            return Support.STRONG
        # Being the first of the hits is no reason by itself.
        some = signs.held > 0.0 or signs.fact > 0.0 or signs.cosine >= _FAR
        # Nothing is denied of which a note holds most, or which is much what it is about.
        return Support.WEAK if some and (signs.bears or confidence >= least.weak) else Support.NONE


#: Fitted on the development sets of ``tests/data/answers``: six notebooks of 45 to 49 notes, ten of 3 to 10.
CALIBRATION = Calibration(
    -5.24,
    {
        "covered": 2.52,
        "lift": 9.31,
        "apart": 2.59,
        "fact": 3.38,
        "strangers": -1.29,
        "lacks": -3.41,
        "first": 3.66,
        "few": 0.27,
    },
    Thresholds(0.0534, 0.6387, 0.0089),
    Thresholds(0.0044, 0.4442, 0.0057),
)


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
#: Words that go with any question, or that a price, a date or a place stands for.
_LIGHT = frozenset(
    query_terms(
        "number cost pay paid price time day date exactly current today place person people find found"
        " happen happened see saw new last month week year big long far going called"
    )
)
#: Phrases of Chinese that only ask.
_ASKS_ZH = re.compile(
    r"我们?家的|什么时候|为什么|什么|多少钱?|多久|多长时间|多[长高大远重]|哪[里儿个家所位天种些]?|谁|怎么样?|怎样|如何|几[个点号岁月年次]?|时候|名字"
    r"|现在|目前|如今|到底|一共|告诉|知道|请问|一下"
)
#: "What type of car" asks for a car, and "blood type" for a type.
_KIND_OF = re.compile(r"\b(?:kind|type|sort)s? of\b", re.IGNORECASE)
_TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|Miss|Uncle|Aunt)\.? [A-Z][\w'’-]+")
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
#: Fewer notes do not show how rare a word is.
_AS_MANY = 60
#: So many notes hold enough that looks like an answer and is none.
_MANY = 40
#: What a Chinese character weighs, where a word that half of so many notes hold weighs 1 and a very rare one 5.
_CHARACTER = 2.0
#: What a character is worth that a note holds beside other characters.
_APART = 0.5
#: What words weigh that go with any question.
_PASSING = 0.3
#: What stands over hits none of which surely answers.
NOTHING_CERTAIN = "nothing certain; nearest:"


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found out about one hit."""

    signs: Signs
    confidence: float
    support: Support


@dataclass(frozen=True, slots=True)
class Confidences:
    """Judges the hits of a question.

    `slots` reads which facts it asks for; `reads` tells what share of a text the embedding model can read, 0..1;
    `nearness` tells for each text of a list how near it is to some notes.
    """

    frequencies: Frequencies
    slots: Slots
    reads: Callable[[str], float]
    nearness: Callable[[Sequence[str], Sequence[int]], Matrix] | None = None

    def of(
        self,
        session: Session,
        query: Query,
        ranking: Ranking,
        found: Sequence[tuple[int, Explanation, MemoryNote]],
    ) -> list[Judged]:
        """The verdict on each hit, given as its key, explanation and note, best first."""
        if not found:
            return []
        text = ranking.reading.text
        wanted = query.filter
        given = wanted.as_of or wanted.known_at
        filled = self.slots.filled(session, text, given or session.now, None if given else ranking.reading.period)
        notes = {note.id: note for _, _, note in found}
        stating = {id for each in filled.facts for id in each.notes}
        stating |= {id for each in filled.ended for id in told_over(each, notes)}
        beside = {id for each in filled.asides for id in each.notes}
        question = _Question(ranking, self.frequencies, session, stating, beside, exact=filled.exact)
        reads = self.reads(text) >= _MOSTLY
        signs = [
            question.signs(explanation, note, read=reads and self.reads(note.content) >= _MOSTLY)
            for _, explanation, note in found
        ]
        for place, lift in self._lifts(question, found, signs).items():
            signs[place] = replace(signs[place], lift=lift)
        judged = [_judged(each) for each in signs]
        for place, (each, (_, _, note)) in enumerate(zip(judged, found, strict=True)):
            sure = each.support is Support.STRONG and not each.signs.lacks and each.signs.fact < 1.0
            if sure and (question.may_mean_another(note) or is_beside(text, note.content, note.speaker)):
                judged[place] = _judged(replace(each.signs, lacks=1.0))
        return judged

    def _lifts(
        self, question: _Question, found: Sequence[tuple[int, Explanation, MemoryNote]], signs: Sequence[Signs]
    ) -> dict[int, float]:
        """For the first hits, by place, how much nearer the words that they lack bring the question to them."""
        without: dict[int, str] = {}
        for place, (_, _, note) in enumerate(found[:_LIFTED]):
            if signs[place].cosine and 0.0 < signs[place].held < 1.0:
                without[place] = question.without_missing(note)
        texts = [*dict.fromkeys(each for each in without.values() if each)]
        if not texts or self.nearness is None:
            return {}
        near = self.nearness(texts, [found[place][0] for place in without])
        return {
            place: signs[place].cosine - float(near[texts.index(text), column])
            for column, (place, text) in enumerate(without.items())
            if text
        }


def _judged(signs: Signs) -> Judged:
    confidence = CALIBRATION.confidence(signs)
    return Judged(signs, confidence, CALIBRATION.support(confidence, signs))


_MOSTLY = 0.5
#: So many of the first hits are compared with the question without the words that they lack.
_LIFTED = 3


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word of a question, or a character of its Chinese, and what stands for it in a note.

    `terms` are a word's index terms; `pairs` are the two characters that it forms with either neighbour; `others` are
    names of the same in the other language, English ones as terms.
    """

    text: str
    weight: float
    terms: frozenset[str] = frozenset()
    pairs: tuple[str, ...] = ()
    others: tuple[str | frozenset[str], ...] = ()

    def held(self, terms: set[str], text: str) -> float:
        """How far a text with these of its terms holds it, 0..1: a character whose neighbours differ counts half."""
        other = max((_named(each, terms, text) for each in self.others), default=0.0)
        if self.terms:
            return max(other, len(self.terms & terms) / len(self.terms))
        if any(pair in text for pair in self.pairs):
            return 1.0
        return max(other, 0.0 if self.text not in text else _APART if self.pairs else 1.0)


def _named(name: str | frozenset[str], terms: set[str], text: str) -> float:
    """How far a text with these of its terms holds a name: a single character may be part of another word."""
    if isinstance(name, frozenset):
        return float(name <= terms)
    return 0.0 if name not in text else _APART if len(name) == 1 else 1.0


def _pieces(text: str, frequencies: Callable[[Sequence[str]], tuple[Mapping[str, int], int]]) -> list[_Piece]:
    """What a question asks with. `frequencies` counts for terms how many notes hold them, of how many."""
    tokens = words_of(_KIND_OF.sub(" ", _ASKS_ZH.sub(" ", text)))
    said = {token: frozenset(content_terms(token)) - _ASKING for token in tokens if not is_cjk(token)}
    said = {token: terms for token, terms in said.items() if terms}
    counted, total = frequencies([term for terms in said.values() for term in terms])
    pieces = []
    for token, terms in said.items():
        rarity = max(_rarities(terms, counted, max(total, _AS_MANY)).values())
        pieces.append(_Piece(token, rarity * (_PASSING if terms <= _LIGHT else 1.0), terms))
    for token in tokens:
        if is_cjk(token):
            pieces += _characters(token)
    return pieces


def _characters(run: str) -> Iterator[_Piece]:
    pairs = bigrams(run) if len(run) > 1 else []
    within = {at + step for at, pair in enumerate(pairs) if pair in CHINESE_BIGRAMS for step in (0, 1)}
    said = {at for at, each in enumerate(run) if is_searched_alone(each) or each in CHINESE_SINGLE_WORDS} - within
    for at in sorted(said):
        around = pairs[max(at - 1, 0) : at + 1]
        alone = not {at - 1, at + 1} & said and not any(pair in CHINESE_KEPT for pair in around)
        yield _Piece(run[at], _CHARACTER, pairs=() if alone else tuple(around))


def _translated(piece: _Piece, names: Mapping[str, Sequence[str]]) -> _Piece:
    """The piece with what the words that it is of are called in the other language."""
    text = piece.text.casefold()
    said = [each for each in names if text in (each if piece.pairs or not each.isascii() else each.casefold().split())]
    others = [other for each in said for other in names[each]]
    told = tuple(frozenset(index_terms(each)) if each.isascii() else each for each in others)
    return replace(piece, others=told) if told else piece


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
        self.meaning = reading.meaning or reading.text
        period = reading.period
        asked = reading.text if period is None else reading.text.replace(period.words, " ")

        def counted(terms: Sequence[str]) -> tuple[Mapping[str, int], int]:
            return frequencies.of(session, terms), frequencies.total

        self.total = frequencies.total
        self._one_translated = len(reading.translated) == 1
        self.pieces = [_translated(piece, reading.translated) for piece in _pieces(asked, counted)]
        self.weight = sum(piece.weight for piece in self.pieces)
        others = [each for piece in self.pieces for each in piece.others if isinstance(each, frozenset)]
        self._terms = frozenset().union(*(piece.terms for piece in self.pieces), *others)
        self.names = _names_in(reading.text, reading.names)
        # What states the very fact has the detail, too, and no other note is asked for it.
        told = exact and bool(stating)
        self.details: list[Callable[[str], object]] = [] if told else details_asked(reading.text)
        if not told and asks_for_a_name(reading.text):
            self.details.append(partial(_has_other_name, known=self.names))
        self.stating, self.beside, self.exact = stating, beside, exact

    def signs(self, explanation: Explanation, note: MemoryNote, *, read: bool) -> Signs:
        legs = {leg.leg: leg for leg in explanation.legs}
        dense = legs.get("dense") if read else None
        text = _searched(note)
        names = sum(name in normalize(text) for name in self.names)
        wanted = [any(map(held, self._bearing(note.content))) for held in self.details]
        return Signs(
            held=self._share(text),
            cosine=dense.raw if dense is not None else 0.0,
            apart=dense.scaled if dense is not None else 0.0,
            fact=1.0
            if self.exact and note.id in self.stating
            else 0.5
            if note.id in self.stating | self.beside
            else 0.0,
            strangers=1.0 - names / len(self.names) if self.names else 0.0,
            lacks=float(bool(wanted) and not all(wanted)),
            first=1.0 / explanation.place if explanation.place else 0.0,
            few=max(0.0, 1.0 - self.total / _MANY),
            read=read,
        )

    def may_mean_another(self, note: MemoryNote) -> bool:
        """Whether a note holds nothing of the question but its one word that is known in the other language.

        That gives one of its meanings: 弟弟 is no "Brother" who makes sewing machines.
        """
        if not self._one_translated:
            return False
        text = _searched(note)
        terms, folded = held_terms(text, self._terms), text.casefold()
        return not any(replace(piece, others=()).held(terms, folded) for piece in self.pieces)

    def without_missing(self, note: MemoryNote) -> str:
        """The question without what the note does not hold; '' where nothing is left."""
        text = _searched(note)
        terms, folded = held_terms(text, self._terms), text.casefold()
        left = self.meaning
        for piece in self.pieces:
            if not piece.held(terms, folded):
                left = left.replace(piece.text, " ")
        return " ".join(left.split())

    def _bearing(self, text: str) -> list[str]:
        """The sentences of a note that hold something of what is asked: another's date is not that of a birthday."""
        parted = sentences(text)
        held = [each for each in parted if self._share(each)] if self.details and len(parted) > 1 else []
        return held or [text]

    def _share(self, text: str) -> float:
        if not self.weight:
            return 0.0
        terms, folded = held_terms(text, self._terms), text.casefold()
        return sum(piece.weight * piece.held(terms, folded) for piece in self.pieces) / self.weight


def _searched(note: MemoryNote) -> str:
    return "\n".join([note.content, " ".join(note.keywords), note.speaker or ""])


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
    every, held = sum(weights.values()), set(index_terms(text)) if weights else set()
    return sum(weight for term, weight in weights.items() if term in held) / every if every else 0.0


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
    if best is Support.NONE:
        return ()
    surest = sorted(hits, key=lambda hit: (best is Support.WEAK and not _holds_all(hit), -hit.confidence))
    return tuple(hit.id for hit in surest if hit.support is best)


def _holds_all(hit: Hit) -> bool:
    """Whether a hit holds all that is asked with, and the kind of detail that is wanted."""
    signs = hit.explanation.signs
    return signs is not None and signs.held >= _ALL and not signs.lacks


def _has_other_name(text: str, known: Collection[str]) -> bool:
    """Whether a text has a proper name of no person, which the question does not have; one in Chinese may always."""
    if any(map(is_cjk, text)):
        return True
    found = _names_in(_TITLED.sub(" ", text), {}) - {*known}
    return any(not is_person(name) for name in found)


def _names_in(text: str, known: Mapping[str, int]) -> frozenset[str]:
    """Names that the question holds: capitalised words inside a sentence, and what the collection knows as names."""
    capitalised = {normalize(_POSSESSIVE.sub("", name)) for name in _NAME.findall(text)}
    return frozenset(capitalised - _CALENDAR) | frozenset(known)
