"""Said, denied or asked? What a claim makes of a sentence, held against what the sentence makes of it.

A sentence is taken apart into clauses, and a clause at its negation: what stands behind "not" is denied (in Chinese all
of the clause, where the object comes first as often as not), what stands in an interrogative clause is asked. A claim
may not say what was only asked, nor say what was denied, nor deny what was said. Grammar by pattern goes wrong, so
whatever is hard to tell ("hardly", "used to", "if", a list after a denial) is left alone: a statement that is refused
is lost, and one that is let through has all other guards before it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from amem.text import index_terms, query_terms, sentences, written_in_cjk
from amem.text.clauses import DENIAL, Stance, clauses, stances, without_idioms
from amem.text.stopwords import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from amem.text.clauses import Clause

#: Of a clause's telling words, more than this share has to stand in one place for that place to be what it is about.
_CARRIED = 0.5
#: So short a clause goes on with the list in the one before.
_FRAGMENT_WORDS, _FRAGMENT_CHARACTERS = 4, 5
#: Nobody says more in one sentence; what is longer is pasted.
_LONGEST = 2_000


_OTHER = {Stance.SAID: Stance.DENIED, Stance.DENIED: Stance.SAID}


@dataclass(frozen=True, slots=True)
class Part:
    """A clause, or what stands before or behind its negation: its words, and those that may turn what it means."""

    stance: Stance
    terms: frozenset[str]
    turning: frozenset[str] = frozenset()


#: What may turn or blur what a clause says. Where only one side has such a word nothing is concluded.
_TURNING = re.compile(
    r"\b(?:hat\w+|dislik\w+|avoid\w*|refus\w+|stop\w*|quit\w*|gave up|giv\w+ up|used to|former\w*|ex|lack\w*|miss\w*"
    r"|fail\w*|unable|free|instead|rather|except|only|other than|than|hardly|rarely|seldom|barely|almost|nearly|allowed"
    r"|forbid\w*|forbidden|bann?\w*|cancel\w*|end(?:ed|s)?|left|los[te]\w*|skip\w*|against|until|till|yet|still"
    r"|again|un\w{4,}|too|enough|finish\w*|sure|always|every\w*|all|intoleran\w+|difficult\w*|hard|struggl\w+|wish\w*"
    r"|would|previous\w*|once|moved (?:away|out|from))\b"
    r"|讨厌|反感|避免|戒|停|拒绝|放弃|以前|曾|过去|原来|缺|除了|除非|只|很少|禁止|失|取消|难|离开|搬走|以外|才|少|还|都|全|曾经|差点",
    re.IGNORECASE,
)
#: Ways to like something that claims take for each other; "like" itself would be a stop word.
_LIKES = re.compile(
    r"\b(?:likes?|liked|loves?|loved|enjoys?|enjoyed|is fond of|am fond of|favou?rite)\b", re.IGNORECASE
)
#: Claims that tell of a question.
_REPORTS = re.compile(
    r"\b(?:ask\w*|wonder\w*|question\w*|inquir\w*|enquir\w*|request\w*|look\w* for|interested|curious|seek\w*|want\w*"
    r"|wish\w*|plan\w*|consider\w*|think\w*|need\w*|hop\w+|unsure|whether)\b|问|想|打听|疑|求|希望|打算|考虑|需要|是否",
    re.IGNORECASE,
)


def parts(text: str) -> tuple[Part, ...]:
    """What a text says, denies and asks."""
    # A text of pages is not kept in memory for the sake of the next question about it.
    return _remembered(text) if len(text) <= 4 * _LONGEST else _taken_apart(text)


def _taken_apart(text: str) -> tuple[Part, ...]:
    return tuple(part for sentence in sentences(text) for part in _parts(sentence[:_LONGEST]))


#: Every statement is held against the same few messages.
_remembered = lru_cache(maxsize=512)(_taken_apart)


def answered(question: Iterable[Part], stance: Stance) -> tuple[Part, ...]:
    """A question with an answer to it: yes, no, or something else."""
    turned = []
    for part in question:
        if part.stance is Stance.ASKED:
            turned.append(Part(stance, part.terms, part.turning))
        else:
            turned.append(Part(Stance.UNCLEAR if stance is Stance.DENIED else part.stance, part.terms, part.turning))
    return tuple(turned)


class Grounds:
    """Parts that claims are held against, found by their terms: a page pasted into a chat has thousands of them."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = tuple(parts)
        self._holding: defaultdict[str, list[int]] = defaultdict(list)
        for at, part in enumerate(self._parts):
            for term in part.terms:
                self._holding[term].append(at)

    def sharing(self, terms: Iterable[str]) -> list[tuple[int, Part]]:
        """The parts that share terms with these, in their order, each with how many."""
        counts = Counter(at for term in terms for at in self._holding.get(term, ()))
        return [(counts[at], self._parts[at]) for at in sorted(counts)]


def against(claim: str, grounds: Grounds, people: Collection[str], *, orders: bool = False) -> str | None:
    """Why `claim` is not what its grounds say of its words, or None.

    `people` are terms that name who speaks, which every sentence may be about. With `orders` a claim may say what was
    asked for.
    """
    reports = orders or _REPORTS.search(claim) is not None
    for part in parts(claim):
        terms = part.terms - set(people)
        if part.stance not in _OTHER or not terms:
            continue
        carried = grounds.sharing(terms)
        most = max((count for count, _ in carried), default=0)
        holding = [ground for _, ground in carried]
        if not reports and holding and all(ground.stance is Stance.ASKED for ground in holding):
            return "it was asked, not said"
        if most <= _CARRIED * len(terms):
            continue
        best = [ground for count, ground in carried if count == most]
        if all(_opposite(part, ground) or (ground.stance is Stance.ASKED and not reports) for ground in best):
            asked = all(ground.stance is Stance.ASKED for ground in best)
            return "it was asked, not said" if asked else "the opposite was said"
    return None


def _opposite(part: Part, ground: Part) -> bool:
    return ground.stance is _OTHER[part.stance] and ground.turning == part.turning


def _parts(sentence: str) -> Iterator[Part]:
    parted = clauses(sentence)
    asked = stances(sentence, parted)
    chinese = written_in_cjk(sentence)
    before = Stance.SAID
    for clause, stance in zip(parted, asked, strict=True):
        text = without_idioms(clause.text)
        denial = DENIAL.search(text)
        if stance is not Stance.SAID:
            yield _part(stance, text)
        elif denial is None and "without" in clause.opener.casefold():
            yield _part(Stance.DENIED, text)
        elif denial is None:
            goes_on = before is not Stance.SAID and _is_fragment(clause, chinese=chinese)
            stance = Stance.UNCLEAR if goes_on else Stance.SAID
            yield _part(stance, text)
        elif len(DENIAL.findall(text)) > 1:
            stance = Stance.UNCLEAR
            yield _part(stance, text)
        elif chinese:
            stance = Stance.DENIED
            yield _part(stance, DENIAL.sub("", text))
        else:
            stance = Stance.DENIED
            behind = _part(stance, text[denial.end() :], turned_by=text)
            # What stands before "not" is what the clause is about; that is neither said nor denied.
            yield _part(Stance.UNCLEAR, text[: denial.start()])
            yield behind
        before = stance


def _part(stance: Stance, text: str, turned_by: str = "") -> Part:
    told = _LIKES.sub("fancy", text)
    terms = frozenset(term for term in query_terms(told) if not term[0].isdigit()) - _stops()
    turning = frozenset(match[0].casefold() for match in _TURNING.finditer(turned_by or text))
    return Part(stance, terms, turning)


@cache
def _stops() -> frozenset[str]:
    """Terms of function words: a clause of nothing else is about nothing that could be compared."""
    return frozenset(index_terms(" ".join(ENGLISH)))


def _is_fragment(clause: Clause, *, chinese: bool) -> bool:
    if chinese:
        return len(clause.text) <= _FRAGMENT_CHARACTERS
    return "but" not in clause.opener.casefold() and len(clause.text.split()) <= _FRAGMENT_WORDS
