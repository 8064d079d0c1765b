"""Was it stated? What a model says it learnt, held against what was said."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from amem.language import index_terms, query_terms, sentences, written_in_cjk
from amem.language.numerals import CARDINALS, SPELLED, value_of
from amem.language.scripts import ENGLISH, Patterns
from amem.language.sentence_parts import DENIAL, Clause, Stance, clauses, stances, without_idioms
from amem.language.times import with_dates
from amem.language.word_reading import names, read
from amem.note import Message, Role

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence


# Said, denied or asked? What a claim makes of a sentence, held against what the sentence makes of it.
#
# A sentence is taken apart into clauses, and a clause at its negation: what stands behind "not" is denied (in Chinese
# all of the clause, where the object comes first as often as not), what stands in an interrogative clause is asked. A
# claim may not say what was only asked, nor say what was denied, nor deny what was said. Grammar by pattern goes
# wrong, so whatever is hard to tell ("hardly", "used to", "if", a list after a denial) is left alone: a statement
# that is refused is lost, and one that is let through has all other guards before it.

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


_pattern = Patterns("conversation/grounding")


def parts(text: str) -> tuple[Part, ...]:
    """What a text says, denies and asks."""
    # A text of pages is not kept in memory for the sake of the next question about it.
    return _remembered(text) if len(text) <= 4 * _LONGEST else _taken_apart(text)


def _taken_apart(text: str) -> tuple[Part, ...]:
    return tuple(part for sentence in sentences(text) for part in _sentence_parts(sentence[:_LONGEST]))


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
    reports = orders or _pattern.reports.search(claim) is not None
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


def _sentence_parts(sentence: str) -> Iterator[Part]:
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
    told = _pattern.likes.sub("fancy", text)
    terms = frozenset(term for term in query_terms(told) if not term[0].isdigit()) - _stops()
    turning = frozenset(match[0].casefold() for match in _pattern.turning.finditer(turned_by or text))
    return Part(stance, terms, turning)


@cache
def _stops() -> frozenset[str]:
    """Terms of function words: a clause of nothing else is about nothing that could be compared."""
    return frozenset(index_terms(" ".join(ENGLISH)))


def _is_fragment(clause: Clause, *, chinese: bool) -> bool:
    if chinese:
        return len(clause.text) <= _FRAGMENT_CHARACTERS
    return "but" not in clause.opener.casefold() and len(clause.text.split()) <= _FRAGMENT_WORDS


# Was it stated? What a model says it learnt from a conversation, held against what was said in it.
#
# A statement must name messages it was shown, one of them a person's; what only the assistant, a tool or the system
# said is no news. Its numbers and names must stand in those messages or in what people said round them, and it must
# share words with them. Nor may it say what they only asked, or the opposite of what they say (`stance`). What fails
# is dropped with a sentence that says why. None of this can prove that a statement is true to its words, but it stops
# the inventions that do most harm: a name, a date or an amount that nobody gave.

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_IN_WORDS = {word: str(value) for word, value in (CARDINALS | SPELLED).items() if value <= 20} | {
    **{"零": "0", "a": "1", "an": "1", "once": "1", "twice": "2", "dozen": "12", "half": "30", "半": "30"}
}
_ENGLISH_NUMBER = re.compile(r"\b(?:" + "|".join(word for word in _IN_WORDS if word.isascii()) + r")\b", re.IGNORECASE)
_THOUSANDS = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "k": 1_000}
_ENGLISH_ROUND = re.compile(
    r"\b(\d+|" + "|".join(word for word in _IN_WORDS if word.isascii()) + r")[ -]?(hundred|thousand|million|k)\b",
    re.IGNORECASE,
)
_TENS = {word: value for word, value in CARDINALS.items() if value >= 20}
_ENGLISH_TENS = re.compile(
    rf"\b({'|'.join(_TENS)})(?:[ -](one|two|three|four|five|six|seven|eight|nine))?\b", re.IGNORECASE
)
_CHINESE_NUMBER = re.compile(r"[零一二三四五六七八九十两半]")
_CHINESE_ROUND = re.compile(r"[\d零一二三四五六七八九十百千万两]+")
#: What has more digits is a key or a constant, and compared as it is written.
_LONGEST_NUMBER = 30
#: Written out, and no part of a word such as "一起", "千万", "十分" or "万一": what a claim may not make up either.
_CHINESE_AMOUNT = re.compile(
    rf"(?:[\d一二三四五六七八九两]{{1,{_LONGEST_NUMBER}}}+[十百千万]|十[一二三四五六七八九])[\d零一二三四五六七八九十百千万两]*"
)
#: A short answer takes what it means from the question before it.
_ANSWER_WORDS, _ANSWER_CHARACTERS = 6, 14
_ASKS = re.compile(r"[?？]|[吗呢么][。!！]?\s*$")
#: Of a statement's telling words, this share has to be in the messages it names.
_SHARED = 0.2
#: How models speak of those who talk.
_ROLES = frozenset(("user", "users", "the user", "assistant", "the assistant", "speaker", "用户", "助手", "我"))


class _Cited:
    """What stands in the messages that a statement names. Many statements name the same ones."""

    def __init__(self, messages: Sequence[Message], words: str, parts: Iterable[Part]) -> None:
        self.people = [message for message in messages if message.role is Role.USER]
        self.roles = sorted({str(message.role) for message in messages})
        self.words = words
        self.parts = Grounds(parts)

    def with_words(self, known: str) -> _Cited:
        """The same with more words that may be repeated."""
        if not known:
            return self
        other = copy(self)
        other.words = f"{self.words}\n{known}"
        for name in ("numbers", "terms", "folded"):
            other.__dict__.pop(name, None)
        return other

    @cached_property
    def numbers(self) -> set[str]:
        return _numbers(self.words, spelled=True)

    @cached_property
    def terms(self) -> set[str]:
        return set(index_terms(self.words))

    @cached_property
    def folded(self) -> str:
        return self.words.casefold()


class Said:
    """A passage as evidence. `people` are further names of those who speak (what the user is called)."""

    def __init__(self, said: Sequence[Message], earlier: Sequence[Message], people: Iterable[str]) -> None:
        self._said = {f"m{number}": message for number, message in enumerate(said, start=1)}
        self._order = list(said)
        self._people = {name.casefold() for name in people if name} | {
            message.speaker.casefold() for message in (*said, *earlier) if message.speaker
        }
        self._round = [message for message in (*earlier, *said) if message.role is Role.USER]
        self._named: dict[tuple[frozenset[str], bool], _Cited] = {}

    def cited(self, handles: Sequence[str]) -> list[Message]:
        """The messages under these handles, in their order; system messages and unknown handles are left out."""
        wanted = set(handles)
        return [
            message for handle, message in self._said.items() if handle in wanted and message.role is not Role.SYSTEM
        ]

    def refuses(
        self, text: str, handles: Sequence[str], *, known: str = "", all_roles: bool = False, orders: bool = False
    ) -> str | None:
        """Why `text` does not follow from the messages it names, or None when nothing speaks against it.

        `known` is text that it may repeat besides (a known procedure). With `all_roles` what the assistant and tools
        did counts as well, as long as a person had a part in it: a procedure is often shown rather than told. With
        `orders` people may have asked for what `text` says, as they do for a step of a procedure.
        """
        cited = self._cited(handles, all_roles)
        if not cited.roles:
            return "it names no message that was shown"
        if not cited.people:
            return f"only the {' and the '.join(cited.roles)} said so"
        cited = cited.with_words(known)
        otherwise = None if all_roles else against(text, cited.parts, self._speakers, orders=orders)
        if otherwise or text in cited.words:
            return otherwise
        numbers = claimed_numbers(text)
        missing = numbers and numbers - cited.numbers - self._numbers_round
        if missing:
            return f"nobody said {sorted(missing)[0]}"
        for name in _names(text):
            if name.casefold() not in cited.folded and not self._is_named(name, cited.terms):
                return f"nobody spoke of {name}"
        return None if self._shares_words(text, cited.terms) else "it is not in the messages it names"

    def _cited(self, handles: Sequence[str], all_roles: bool) -> _Cited:
        key = frozenset(handles), all_roles
        if key not in self._named:
            cited = self.cited(handles)
            people = [message for message in cited if message.role is Role.USER]
            grounds = cited if all_roles else [*people, *self._answered(people)]
            parts = () if all_roles else self._parts(people)
            self._named[key] = _Cited(cited, "\n".join(dated_text(message) for message in grounds), parts)
        return self._named[key]

    @cached_property
    def _told_round(self) -> str:
        """What people said in the passage and before it."""
        return "\n".join(dated_text(message) for message in self._round)

    @cached_property
    def _numbers_round(self) -> set[str]:
        return _numbers(self._told_round, spelled=True)

    @cached_property
    def _terms_round(self) -> set[str]:
        return {*index_terms(self._told_round), *(term for person in self._people for term in index_terms(person))}

    def _answered(self, people: Sequence[Message]) -> list[Message]:
        """What the assistant had asked or said right before a person agreed to it or answered it shortly."""
        asked = []
        for before, message in zip(self._order, self._order[1:], strict=False):
            if message in people and before.role is Role.ASSISTANT and _leans(message.content, before.content):
                asked.append(before)
        return asked

    @cached_property
    def _speakers(self) -> set[str]:
        """Terms that name those who talk."""
        return {term for person in (*self._people, *_ROLES) for term in index_terms(person)}

    def _parts(self, people: Sequence[Message]) -> list[Part]:
        """What people say, deny and ask in these messages, and what they answered."""
        found: list[Part] = []
        for before, message in zip([None, *self._order], self._order, strict=False):
            if message not in people:
                continue
            if before is not None and before.role is Role.ASSISTANT and _leans(message.content, before.content):
                found += answered(parts(before.content), _answer(message.content, before.content))
            found += parts(message.content)
        for question, answer in pairwise(people):
            if answer.speaker != question.speaker or _pattern.assent.match(answer.content):
                found += answered(parts(question.content), _answer(answer.content, question.content))
        return found

    def _is_named(self, name: str, held: set[str]) -> bool:
        folded = name.casefold()
        if folded in self._people or folded in _ROLES or folded in self._told_round.casefold():
            return True
        return all(term in held or term in self._terms_round for term in query_terms(name))

    def _shares_words(self, text: str, held: set[str]) -> bool:
        telling = [term for term in query_terms(text) if term not in self._speakers]
        return not telling or sum(term in held for term in telling) >= max(1.0, _SHARED * len(telling))


def _leans(answer: str, question: str) -> bool:
    if _pattern.assent.match(answer):
        return True
    short = len(answer) <= _ANSWER_CHARACTERS if written_in_cjk(answer) else len(answer.split()) <= _ANSWER_WORDS
    return (short or _pattern.heard.match(answer) is not None) and _ASKS.search(question) is not None


def _answer(answer: str, question: str) -> Stance:
    """What an answer makes of a question that says something and asks whether it is so."""
    if _pattern.denial.match(answer):
        # "No" to "don't you eat meat?" may mean either.
        asked = any(part.stance is Stance.DENIED for part in parts(question))
        return Stance.UNCLEAR if asked else Stance.DENIED
    return Stance.SAID if _pattern.assent.match(answer) or _pattern.heard.match(answer) else Stance.UNCLEAR


def dated_text(message: Message) -> str:
    """What was said, with the date it was said on and the dates it means, in the ways a model may write them."""
    if message.at is None:
        return message.content
    day = message.at.date()
    return f"{with_dates(message.content, day)} ({day.isoformat()}, {day:%B} {day.day})"


def claimed_numbers(text: str) -> set[str]:
    """The numbers that a claim makes, in digits and in words that can mean nothing but an amount."""
    found = _numbers(text) | _amounts(text)
    amounts = (match[0] for match in _CHINESE_AMOUNT.finditer(text))
    return found | _values(amounts)


def _amounts(text: str) -> set[str]:
    """Tens, hundreds, thousands and millions that are written out in English."""
    found = {
        str(_TENS[match[1].casefold()] + int(_IN_WORDS[match[2].casefold()] if match[2] else 0))
        for match in _ENGLISH_TENS.finditer(text)
    }
    return found | {
        str(int(_IN_WORDS.get(match[1].casefold(), match[1])) * _THOUSANDS[match[2].casefold()])
        for match in _ENGLISH_ROUND.finditer(text)
        if len(match[1]) <= _LONGEST_NUMBER
    }


def _numbers(text: str, *, spelled: bool = False) -> set[str]:
    """The numbers in a text as plain digits; with `spelled`, also those written as words, and hours as 24."""
    found = {_plain(part) for match in _NUMBER.finditer(text) for part in _parts(match[0])}
    if spelled:
        found |= {_IN_WORDS[match[0].casefold()] for match in _ENGLISH_NUMBER.finditer(text)}
        found |= {_IN_WORDS[match[0]] for match in _CHINESE_NUMBER.finditer(text)}
        found |= _amounts(text)
        rounded = (match[0] for match in _CHINESE_ROUND.finditer(text))
        found |= _values(rounded)
        found |= {str(int(match[1] or match[3]) % 12 + 12) for match in _pattern.afternoon.finditer(text)}
        # "At seven" may be written 7:00.
        found |= {"0"}
    return found


def _values(numbers: Iterable[str]) -> set[str]:
    """What these numbers come to that hold Chinese characters, in digits."""
    values = (value_of(number) for number in numbers if len(number) <= _LONGEST_NUMBER)
    return {str(value) for value in values if value is not None}


def _parts(number: str) -> list[str]:
    """1,000 is one number, 19:30 and 2.5 are two each."""
    bare = number.replace(",", "")
    return re.split(r"[.:]", bare)


def _plain(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _names(text: str) -> list[str]:
    return [name.text for name in names(read(text)) if not name.date]
