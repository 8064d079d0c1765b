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
from enum import Enum
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from amem.text import index_terms, query_terms, sentences, written_in_cjk
from amem.text.stopwords import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

#: Of a clause's telling words, more than this share has to stand in one place for that place to be what it is about.
_CARRIED = 0.5
#: So short a clause goes on with the list in the one before.
_FRAGMENT_WORDS, _FRAGMENT_CHARACTERS = 4, 5
#: Nobody says more in one sentence; what is longer is pasted.
_LONGEST = 2_000


class Stance(Enum):
    """What a clause does with its words."""

    SAID = "said"
    DENIED = "denied"
    ASKED = "asked"
    UNCLEAR = "unclear"


_OTHER = {Stance.SAID: Stance.DENIED, Stance.DENIED: Stance.SAID}


@dataclass(frozen=True, slots=True)
class Part:
    """A clause, or what stands before or behind its negation: its words, and those that may turn what it means."""

    stance: Stance
    terms: frozenset[str]
    turning: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Clause:
    text: str
    opener: str
    """What parts it from the clause before: marks, a conjunction, or both."""


_BREAK = re.compile(
    r"\s*[,;:()…，；：（）—–]+\s*(?:(?:and|but|or|so|because|since|although|though|while|who|which|whose|where|if)\b)?"
    r"|\b(?:and|but|or|so|because|since|although|though|while|whereas|when|whenever|after|before|if|whether|unless|who"
    r"|which|whose|where|without)\b"
    # "That" begins what somebody baked, not what somebody does not think.
    r"|(?<!think )(?<!believe )(?<!suppose )(?<!expect )(?<!guess )(?<!true )(?<!say )(?<!said )(?<!not )\bthat\b"
    r"|但是?|不过(?!敏|期|来|去)|可是|而且|因为|所以|虽然|如果|要是",
    re.IGNORECASE,
)
#: They hold the word "not" and deny nothing, or nothing that stands behind it.
_NO_DENIAL = re.compile(
    r"\b(?:not (?:only|just|to mention|long|far|bad)|can(?:'t|not) (?:wait|believe|help|complain|get enough|stop)"
    r"|could(?:n't| not) (?:believe|help|agree more|be happier|be better|wait)|no (?:doubt|problem|worries|matter"
    r"|wonder|\.|(?=\d))|why not|never mind|nothing but"
    r"|(?:(?:do|does|did)(?:n't| not)|never) (?:forget|worry|hesitate|mind)"
    r"|did(?:n't| not) (?:know|realise|realize)|or not)\b"
    r"|^\W*(?:no|nope|nah)\b(?=\W*$|[,.!]|\s+(?:i|he|she|we|they|it|that|my|our)\b)"
    r"|不错|不仅|不但|不只|不光|不管|不论|无论|不好意思|不知不觉|不得不|不用说|没关系|没问题|没错|没想到|别人|别的|特别|个别|区别|级别"
    r"|分别|告别|性别|别墅|未来|未婚|无线|无聊|对不起|了不起|差不多|不久|不断|不然|要不|不少|忍不住|不禁|别忘|(?:不要|别)担心"
    r"|(?:是|有|能|会|要|对|好|可)(?:不|没)(?:是|有|能|会|要|对|好|可以)",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?:not|\w+n't|cannot|cant|dont|doesnt|didnt|isnt|arent|wasnt|wont|never|no|none|nobody|nothing|nowhere|neither|nor)\b"
    r"|[不没無无别未勿]",
    re.IGNORECASE,
)
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
_QUESTION = re.compile(r"[?？][\"'”’）)\s]*$|吗[。!！\s]*$")
_UNMARKED = re.compile(
    r"(?:do|does|did|is|are|am|was|were|can|could|should|will|would|have|has) "
    r"(?:i|you|we|they|he|she|it|my|your|our|his|her|the|there|this|that)\b"
    r"|(?:what|where|who|when|why|how|which)(?:'s| (?:is|are|do|does|did|was|were|can|should|will|would)) ",
    re.IGNORECASE,
)
_FIRST_WORDS = r"\W*(?:(?:and|but|so|or|well|oh|hey|hi|also|then|please|ok(?:ay)?|btw|by the way)\W+)*"
_INVERTED = re.compile(
    rf"{_FIRST_WORDS}(?:(?:do|does|did|is|are|am|was|were|can|could|should|shall|will|would|have|has|had|may|might|isn't"
    r"|aren't|don't|doesn't|didn't|can't|won't|wouldn't|shouldn't|haven't|hasn't)\b(?!\W*$)"
    r"|(?:what|where|when|why|who|whom|whose|which|how)\b)",
    re.IGNORECASE,
)
#: They ask somebody to take note, and so say what is to be noted.
_TELLS = re.compile(
    rf"{_FIRST_WORDS}(?:(?:can|could|would|will) you (?:please |kindly |pls )?(?:remember|note|keep in mind|remind|save"
    r"|write down|memori[sz]e|store)(?: (?:me|us))?|did(?:n't)? (?:you|i) (?:know|tell you|mention|hear)"
    r"|have(?:n't)? i (?:told you|mentioned)|do(?:n't)? you (?:remember|recall|know) that|guess what)\b"
    r"(?! *(?:if|whether|what|where|who|when|which|how|why)\b)"
    r"|\W*你?(?:能不能|可不可以|能|可以)?(?:请你?|麻烦你?|帮我)*(?:记住|记一下|记得|记下|提醒我)(?!.*(?:什么|哪|谁|是否|多少))",
    re.IGNORECASE,
)
#: After a statement they ask no more than whether it was heard.
_TAG = re.compile(
    r"\W*(?:right|correct|huh|eh|ok(?:ay)?|yes|you know|(?:is|are|do|does|did|was|were|have|has|can|will)(?:n't)?"
    r" (?:it|i|you|he|she|we|they)|don't you think|对吗|对吧|对不对|是吗|是吧|是不是|好吗|行吗|可以吗)\W*",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\W*(?:(?:if|whether|unless|suppose|assuming|whenever)\b|如果|要是|假如|假设|除非|是否)", re.IGNORECASE
)
_ASKS_ZH = re.compile(r"谁|什么|哪|怎么|怎样|如何|多少|几[个点次时]|吗|呢|为何|是不是|有没有|能不能|会不会|是否")
_REASON = re.compile(r"(?:because|since|although|though|while)$|因为|虽然", re.IGNORECASE)
_SPEAKS_OF_ONESELF = re.compile(r"\W*(?:i|i'm|i've|my|we|we're|our)\b", re.IGNORECASE)
_RELATIVE = re.compile(r"(?:who|which|whose|where)$", re.IGNORECASE)
#: After these "who lives in Porto" is what is asked; after a noun it says something of it.
_ASKS_WHO = re.compile(r"(?:know|tell|me|us|ask|remember|wonder|guess|see|sure|say|about|of|you)\W*$", re.IGNORECASE)
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
    clauses = _clauses(sentence)
    asked = _asked(sentence, clauses)
    chinese = written_in_cjk(sentence)
    before = Stance.SAID
    for clause, stance in zip(clauses, asked, strict=True):
        text = _NO_DENIAL.sub(" ", clause.text.replace("’", "'"))
        denial = _DENIAL.search(text)
        if stance is not Stance.SAID:
            yield _part(stance, text)
        elif denial is None and "without" in clause.opener.casefold():
            yield _part(Stance.DENIED, text)
        elif denial is None:
            goes_on = before is not Stance.SAID and _is_fragment(clause, chinese=chinese)
            stance = Stance.UNCLEAR if goes_on else Stance.SAID
            yield _part(stance, text)
        elif len(_DENIAL.findall(text)) > 1:
            stance = Stance.UNCLEAR
            yield _part(stance, text)
        elif chinese:
            stance = Stance.DENIED
            yield _part(stance, _DENIAL.sub("", text))
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


def _clauses(sentence: str) -> list[_Clause]:
    found: list[_Clause] = []
    start, opener = 0, ""
    for match in _BREAK.finditer(sentence):
        if text := sentence[start : match.start()].strip():
            found.append(_Clause(text, opener))
            opener = ""
        start, opener = match.end(), opener + match[0].strip()
    if text := sentence[start:].strip():
        found.append(_Clause(text, opener))
    return found


def _asked(sentence: str, clauses: Sequence[_Clause]) -> list[Stance]:
    """For each clause whether it asks, says something, or only supposes it; denials are told apart later."""
    asks = _QUESTION.search(sentence) or (_UNMARKED.match(sentence) and sentence[-1] not in ".!。！…,")
    if not asks or _TELLS.match(sentence):
        return [Stance.UNCLEAR if _supposes(clause) else Stance.SAID for clause in clauses]
    found: list[Stance] = []
    asking = False
    for number, clause in enumerate(clauses):
        last = number == len(clauses) - 1
        if last and number and _TAG.fullmatch(clause.text):
            found[-1] = Stance.UNCLEAR
            found.append(Stance.UNCLEAR)
        elif _RELATIVE.search(clause.opener) and asking and not _ASKS_WHO.search(clauses[number - 1].text):
            found.append(Stance.UNCLEAR)
        elif _REASON.search(clause.opener) or (asking and _turns_to_oneself(clause)):
            found.append(Stance.SAID)
        elif last or asking or _supposes(clause) or _INVERTED.match(clause.text) or _ASKS_ZH.search(clause.text):
            asking = True
            found.append(Stance.ASKED)
        else:
            found.append(Stance.SAID)
    return found


def _supposes(clause: _Clause) -> bool:
    return _CONDITION.match(clause.text) is not None or _CONDITION.search(clause.opener.rpartition(",")[2]) is not None


def _turns_to_oneself(clause: _Clause) -> bool:
    """ "What should I see, I live in Porto?" """
    return clause.opener in (",", "，", ";", "；", "—", "–", ":") and _SPEAKS_OF_ONESELF.match(clause.text) is not None


def _is_fragment(clause: _Clause, *, chinese: bool) -> bool:
    if chinese:
        return len(clause.text) <= _FRAGMENT_CHARACTERS
    return "but" not in clause.opener.casefold() and len(clause.text.split()) <= _FRAGMENT_WORDS
