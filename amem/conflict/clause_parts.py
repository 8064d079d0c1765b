"""A clause taken apart: what it is said of, of whom, its verb, its numbers and dates, and which of its kind it names.

Grammar by word lists. A clause whose parts it cannot tell is no claim: what is not understood contradicts nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

from amem.conflict.cues import concepts, lines
from amem.language.lexicon import Sort, lexicon, stem
from amem.language.numerals import CARDINALS, ORDINALS, digits_of, month_number, weekday_number
from amem.language.predicates import USER, WE
from amem.language.scripts import Patterns, word_list, written_in_cjk
from amem.language.scripts import words as words_of
from amem.language.sentence_parts import names_somebody

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from amem.language.word_reading import Word


_pattern = Patterns("conflict/clause_parts")

# What an English clause is said of, and its verb: enough to tell a claim from a greeting, an order, or a cry.


class Of(StrEnum):
    """What a clause is said of."""

    PERSON = "person"
    THING = "thing"
    LEFT_OUT = "left out"
    """ "Switched to tea": whoever speaks, or was spoken of."""
    POINTED_AT = "pointed at"
    """ "It is ...": whatever the clause before was about."""
    NOTED = "noted"
    """A note without a verb, but with a number or a day: "Dinner with Ana on Friday"."""
    NOTHING = "nothing"
    """No claim: an order, a cry, a greeting, something about whoever is spoken to."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a clause is said `of`, the key of its verb ('' where unknown), and the keys of the thing's words."""

    of: Of
    verb: str = ""
    thing: tuple[str, ...] = ()


NO_CLAIM = Frame(Of.NOTHING)
_PEOPLE = words_of("i i'm i've we we're we've he she they i'd i'll we'd we'll everyone everybody nobody")
_POINTING = words_of("it it's this that there these those here what's that's there's")
_YOU = words_of("you your you're you've yours yourself u ur let's lets let")
_ASKING = words_of("what how who when where why which whose")
_BE = words_of("is are was were be been being am isn't aren't wasn't weren't 's 're 'm")
_HAVE = words_of("has have had hasn't haven't hadn't 've having")
_NO_VERB = words_of("just also still really to no not only now even never always ever longer already")
_HELPERS = _NO_VERB | word_list("helping verbs")
_COMMON_VERBS = word_list("common verbs")
_AMOUNTS = words_of("no plenty enough many much more less few several two three")
_GET = words_of("got gotten get gets getting")
_OF = words_of("of to with without for in at on by from after before since")
_LEADING = word_list("leading words")
_DETERMINERS = word_list("determiners")
_AFTER_ORDER = _DETERMINERS | words_of("out up in on off down over it them me us him to at for with")
_IRREGULAR_PAST = word_list("irregular past")


def is_noun(text: str) -> bool:
    """Whether none of its words is a pronoun, a preposition or a verb of every day: "gardening log 3"."""
    return (_PEOPLE | _POINTING | _BE | _HAVE | _OF | _HELPERS | _COMMON_VERBS).isdisjoint(text.casefold().split())


def frame_of(words: Sequence[Word], *, exclaimed: bool = False) -> Frame:
    """The frame of a clause in words, without what stands outside it. `exclaimed`: it ends in an exclamation mark."""
    forms = [word.text.casefold().replace("’", "'") for word in words]
    at = 0
    while at < len(words) and (forms[at] in _LEADING or words[at].sort is Sort.TIME or forms[at].endswith("ly")):
        if forms[at] in _DETERMINERS and at + 1 < len(words) and words[at + 1].sort >= Sort.WEAK:
            break
        at += 1
    if at >= len(words) or any(form in _YOU for form in forms) or forms[at] in _ASKING:
        return NO_CLAIM
    first = forms[at]
    if first in _PEOPLE:
        # Of "I'm" and "we've" the words keep "I" and "we".
        return Frame(Of.PERSON, _verb(words, forms, at + 1, "be" if words[at].possessive else ""))
    if first in ("there", "there's") and (first != "there" or (forms[at + 1 : at + 2] and forms[at + 1] in _BE)):
        return Frame(Of.THING, "there")
    if first in _POINTING and (at + 1 >= len(words) or _is_verb(words, forms, at + 1) or first.endswith("'s")):
        return Frame(Of.POINTED_AT, _verb(words, forms, at + 1))
    if _is_past(words[at], first):
        return Frame(Of.LEFT_OUT, _key(words[at]))
    return _said_of_a_thing(words, forms, at, exclaimed=exclaimed)


def _said_of_a_thing(words: Sequence[Word], forms: Sequence[str], at: int, *, exclaimed: bool) -> Frame:
    """The frame of a clause that begins with a noun, if it has a verb behind it."""
    begins_with_verb = (
        words[at].verb
        and words[at].key not in lexicon().adjectives
        and forms[at] not in _DETERMINERS
        and not forms[at].endswith("ing")
    )
    ordered = forms[at + 1 : at + 2] and forms[at + 1] in _AFTER_ORDER
    if begins_with_verb and (not words[at].capital or ordered):
        return Frame(Of.NOTHING, verb=_key(words[at]))
    subject: list[Word] = []
    for place in range(at, len(words)):
        if place > at and _is_verb(words, forms, place):
            told = [word for word in subject if word.sort >= Sort.WEAK]
            if not told and place + 1 < len(words):
                subject.append(words[place])  # "the Sunday shift": no verb yet
                continue
            if not told or (begins_with_verb and len(subject) == 1 and forms[place] not in _BE | _HAVE):
                return NO_CLAIM
            if any(word.person for word in told):
                return Frame(Of.PERSON, _verb(words, forms, place))
            noun = list(takewhile(lambda word: word.text.casefold() not in _OF, subject))
            thing = tuple(_key(word) for word in noun if word.text.casefold() not in _DETERMINERS | _NO_VERB)
            return Frame(Of.THING, _verb(words, forms, place), thing)
        subject.append(words[place])
    new = forms[at] == "new" or any(word.sort in (Sort.NUMBER, Sort.TIME) for word in words)
    noted = new and not exclaimed and not begins_with_verb
    told = [word for word in subject if word.sort >= Sort.WEAK]
    return Frame(Of.NOTED) if noted and told else NO_CLAIM


def _is_verb(words: Sequence[Word], forms: Sequence[str], at: int) -> bool:
    form, word = forms[at], words[at]
    if form in _BE or form in _HAVE or form in _COMMON_VERBS:
        return True
    if form in _HELPERS:
        return form not in _NO_VERB
    before = forms[at - 1] if at else ""
    if before in _DETERMINERS or word.possessive or (at and words[at - 1].sort is Sort.NUMBER):
        return False
    # "Kaya sings alto", "the choir rehearses in": what ends so after a noun, known as a verb or not.
    return (
        word.verb
        or (form.endswith("s") and not form.endswith("ss") and at + 1 < len(words) and not word.capital)
        or (form.endswith("ed") and len(form) > 4)
    )


def _verb(words: Sequence[Word], forms: Sequence[str], at: int, found: str = "") -> str:
    """The key of the first full verb from `at` on, past its helpers; "be" or "have" where there is no other."""
    been = bool(found)
    for place in range(at, min(at + 7, len(words))):
        form = forms[place]
        if form in _BE:
            found = "be"
        elif form in _HAVE:
            found = found or "have"
            if forms[place + 1 : place + 2] and forms[place + 1] in _DETERMINERS | _AMOUNTS:
                return "have"  # "has no free space" has nothing to do with freeing
        elif form in _GET:
            found = "get"
        elif form not in _HELPERS and not form.endswith("ly"):
            told = (
                words[place].verb or form in _COMMON_VERBS or form.endswith(("ing", "ed")) or (place == at and not been)
            )
            return _key(words[place]) if told and form not in _DETERMINERS else found
    return found


def _is_past(word: Word, form: str) -> bool:
    return form in _IRREGULAR_PAST or (form.endswith("ed") and len(form) > 4 and word.sort <= Sort.WEAK)


def _key(word: Word) -> str:
    return concepts(word.key)[0]


# Of whom a clause speaks: who stands where its subject does.

#: Somebody who was named before, or nobody that the clause names.
THIRD = frozenset({"he", "she", "they"})
#: Between somebody's name and what somebody else is to them.
OF = "'s "
_PRONOUNS = {
    **dict.fromkeys(("i", "i'm", "i've", "my", "me", "mine", "我", "本人", "俺", "自己"), USER),
    **dict.fromkeys(("we", "we're", "our", "us", "我们", "咱们", "咱"), WE),
    **dict.fromkeys(("he", "his", "him", "他"), "he"),
    **dict.fromkeys(("she", "her", "她"), "she"),
    **dict.fromkeys(("they", "their", "他们", "她们"), "they"),
}
_OURS = frozenset({"my", "our", "me", "us", "我", "我们"})
_OWNERS = frozenset({"my", "our", "我", "我们", "your", "his", "her", "their", "他", "她"})
#: Who is meant by what they are to somebody; "my brother" is not I.
_KIN = {name: row.split()[0] for row in lines("kin.txt") for name in row.split()}
KIN = frozenset(_KIN.values())
"""What `kin` gives, and `Statement.people` holds of kin."""
RELATIVES = KIN - words_of(
    "partner girlfriend boyfriend friend roommate neighbour colleague classmate teammate boss child parent"
)
"""Those of `KIN` of whom nobody is two to one person: who is a sister is no cousin."""
_AND = frozenset({"and", "&", "和", "与", "跟"})
#: 小侄子, 大姨.
_BY_AGE = frozenset("小大二三")
#: So many words may stand before the subject, and between "Leo's" and who is meant.
_FROM_START, _TO_OWNED = 7, 3
#: With one of these a clause about Leo's landlord is about Leo, too.
_THEIRS = words_of("his her their him them he she 他 她")
#: 小明同学 is how one calls 小明.
_TITLES = words_of("同学 老板 经理 领导")
#: Who is meant by what they do; of the Chinese ones how the words end.
_SOMEBODY = word_list("kin") | word_list("trades") | word_list("carers") | words_of("trainer guest")


def people_of(words: Sequence[Word], named: Mapping[str, str]) -> frozenset[str]:
    """The subject's people, by name, kin or pronoun; empty where the subject is a thing or was left out.

    Who belongs to somebody is not that somebody, unless what follows is "his": "Leo's classmate", 小明的同学.
    """
    found: set[str] = set()
    owner, meant = "", -1
    ours = any(word.text.casefold() in _OURS for word in words)
    for at, word in enumerate(words[:_FROM_START]):
        if at < meant:
            continue  # "Leo's new piano teacher"
        folded = word.text.casefold()
        following = next((each.text.casefold() for each in words[at + 1 : at + 3] if each.text != "的"), "")
        by_kin = at == meant or (folded in _KIN and _is_meant(words, at))
        if by_kin or word.key in named:
            person = _called(word) if by_kin else word.key  # "Is Dad in hospital?" is of one's father
            person = f"{owner}{OF}{person}" if owner else person
            meant_next = _somebody_of(words, at)
            if meant_next is None:
                found.add(person)
                continue
            owner, meant = person, meant_next
            if any(each.text.casefold() in _THEIRS for each in words[meant:]):
                found.add(owner)
        elif following == "of" and _is_somebody(word):
            behind = words[at + 2 : at + 5]  # "A friend of Leo's"
            of = next((each for each in behind if each.key in named or each.text.casefold() in _KIN), None)
            if of is not None:
                found.add(f"{of.key if of.key in named else _called(of)}{OF}{_called(word)}")
            break
        elif folded in _PRONOUNS:
            if folded in _OWNERS and following in _KIN:
                continue
            # "They moved our flight" is about our flight.
            if _PRONOUNS[folded] not in THIRD or not ours:
                found.add(_PRONOUNS[folded])
            break
        elif not (folded in _AND or (folded in _BY_AGE and following in _KIN)) and (
            word.sort >= Sort.WEAK or (found and word.sort is not Sort.TIME)
        ):
            break
    return frozenset(found)


def _called(word: Word) -> str:
    return _KIN.get(word.text.casefold()) or concepts(word.key)[0]


def _somebody_of(words: Sequence[Word], at: int) -> int | None:
    """Where the noun stands for who belongs to the person at this place; None where nobody does, as in "Leo's car"."""
    start = at + 1
    if words[at].cjk:
        if words[start:] and words[start].text != "的":
            return start if words[start].text in _KIN and words[start].text not in _TITLES else None
        start += 1
    elif not words[at].possessive:
        return None
    for place in range(start, min(start + _TO_OWNED, len(words))):
        word = words[place]
        if word.sort < Sort.WEAK or (word.gap and place > start):
            return None
        compound = not word.possessive and words[place + 1 : place + 2] and _is_noun_beside(words[place + 1])
        if _is_somebody(word) and not compound:
            return place
    return None


def _is_somebody(word: Word) -> bool:
    """Whether a noun names somebody by what they are to somebody, or do."""
    folded = word.text.casefold()
    return folded in _KIN or folded in _SOMEBODY or (word.cjk and names_somebody(folded))


def _is_noun_beside(word: Word) -> bool:
    """Whether a word goes on with the noun before it: "customer list"."""
    return not word.gap and word.sort >= Sort.COMMON and not word.verb and not word.cjk


def kin(word: Word) -> tuple[str, ...]:
    """The name under which a word for kin goes in any language; empty for any other word."""
    name = _KIN.get(word.text.casefold())
    return () if name is None else (name,)


def kin_words(name: str) -> list[str]:
    """The words for kin, in any language, that go under this name."""
    return [word for word, known in _KIN.items() if known == name]


def _is_meant(words: Sequence[Word], at: int) -> bool:
    """ "My child", "Grandpa Emil" and 我爸 are somebody; "as a child" is not."""
    word = words[at]
    before = words[at - 1].text.casefold() if at else ""
    return word.cjk or at == 0 or word.capital or before in _OWNERS or words[at - 1].possessive


# Who belongs to somebody, told of beside what a clause says: "with my partner Wouter", "My boss Karin", 和老公.


@dataclass(frozen=True, slots=True)
class Bond:
    """Words of a clause by which it tells of somebody else: the rest of it may stand without them.

    `text` are these words, with the name in "with our dog Kiko" and without it in "My boss Karin lives in Lund", which
    goes on telling of Karin. `role` is what they are, as clauses are about it, and `name` what they are called; '' for
    what is not said. `ours` says that they belong to whoever speaks; `had` that the clause only says that there is one
    ("I have a dog called Rex"), so that it ends as a whole.
    """

    text: str
    role: str
    name: str
    ours: bool
    had: bool = False


_ROLES = sorted({*filter(str.isascii, _KIN), *_SOMEBODY, *word_list("pets")}, key=lambda word: (-len(word), word))
_BOND = _pattern.with_names("bond", _ROLES)
_HAD = _pattern.with_names("had", _ROLES)
_SPEAKS = re.compile(r"(?:i|we)\b", re.IGNORECASE)
_WITH = _pattern("with")
_BESIDE = re.compile(r"(?:,| and) $")
_AND_I = frozenset({"和我", "跟我", "与我", "和咱", "跟咱"})


def bonds_of(text: str, about: Collection[str]) -> list[Bond]:
    """Everybody whom a clause speaks of beside what it says; `about` are the keys of its telling words."""
    return list(_bonds_in_chinese(text, about) if written_in_cjk(text) else _bonds_in_english(text))


def _bonds_in_english(text: str) -> Iterator[Bond]:
    for match in _HAD.finditer(text):
        yield Bond(text, _role(match["role"]), match["name"], ours=_SPEAKS.match(text) is not None, had=True)
    for match in _BOND.finditer(text):
        start, end = match.span()
        name = re.sub(r"^,? (?:called |named )?", "", match["name"] or "") or match["bare"] or ""
        role = _role(match["role"] or "")
        ours = (match["owner"] or "my").casefold() in _OURS
        before, behind = text[:start], text[end:]
        if not before.strip():
            if name and behind.strip(" .,"):
                yield Bond(text[: match.end("role")], role, name, ours)
            elif name or not behind.strip(" .,"):
                yield Bond(text.rstrip(" .,"), role, name, ours)
            continue
        beside, goes_on = _WITH.search(before), _pattern.goes_on.match(behind)
        if beside and goes_on:
            yield Bond(text[start : end + goes_on.end()], role, name, ours)
        elif beside or ((beside := _BESIDE.search(before)) and " with " in before):
            yield Bond(text[beside.start() : end].strip(" "), role, name, ours)


def _bonds_in_chinese(text: str, about: Collection[str]) -> Iterator[Bond]:
    names = sorted((key for key in about if not key.isascii() and key in text), key=lambda key: (-len(key), key))

    def name_at(place: int) -> str:
        return next((name for name in names if text.startswith(name, place)), "")

    for match in _pattern.had_zh.finditer(text):
        name = name_at(match.end())
        kind = match if match["role"] else _pattern.kind_zh.match(text, match.end() + len(name))
        if name and kind:
            yield Bond(text, _role(kind["role"]), name, _is_own(text[: match.start()]), had=True)
    for match in _pattern.with_zh.finditer(text):
        name = name_at(match.end())
        end = match.end() + len(name)
        if not (match["role"] or name) or name in _KIN or text.startswith("的", end):
            continue
        goes_on = text[end : end + 1] in tuple("、和跟与")  # 老婆、 of 和老婆、孩子
        words = text[match.start() + 1 : end + 1] if goes_on else text[match.start() : end]
        words += next((each for each in ("一起", "一块儿", "一块") if text.startswith(each, end)), "")
        yield Bond(words, _role(match["role"] or ""), name, _is_own(match["owner"] or text[: match.start()]))
    if opening := _pattern.opening_zh.match(text):
        name = name_at(opening.end())
        end = opening.end() + len(name)
        if text[end : end + 2] in _AND_I:
            yield Bond(text[: end + 1], _role(opening["role"]), name, _is_own(opening["owner"] or ""))
        elif opening["owner"] and name:
            yield Bond(opening[0], _role(opening["role"]), name, _is_own(opening["owner"]))


def _is_own(words: str) -> bool:
    """Whether whoever speaks stands in these words, or nobody does."""
    return not words or "我" in words or "咱" in words


def _role(word: str) -> str:
    """What clauses about somebody of this role are about; '' for ''."""
    folded = word.casefold()
    return _KIN.get(folded) or concepts(stem(folded) if folded.isascii() else folded)[0]


# The numbers and dates of a clause: what two notes that speak of one thing may differ in.

_NUMBER_WORDS = CARDINALS | ORDINALS | {"hundred": 100}
_VALUE = _pattern.with_names("value", [word for word in _NUMBER_WORDS if word != "one"])
_TOKEN = re.compile(r"\d|[a-z]+")
_OF_VALUES = frozenset("0123456789") | _NUMBER_WORDS.keys() | word_list("value words")
#: They stand before what is counted, and do not tell what that is.
_CLASSIFIERS = frozenset("个只条台辆本件页间批箱份套家号张把双封棵支幅篇")
#: Words beside a number that do not tell what is counted.
_NO_UNIT = word_list("no units")


#: By the first letters or the first character of the word.
_DAY_NAMES = {
    **{"yes": "yesterday", "las": "last", "tom": "tomorrow"},
    **{"昨": "yesterday", "明": "tomorrow", "去": "last", "上": "last", "前": "before", "后": "after"},
}


@dataclass(frozen=True, slots=True)
class Value:
    """A number, year, month or weekday (`sort`), written the same in every language.

    `units` may be what the number counts or numbers ("people", "floor"); empty where that is not said.
    """

    sort: str
    text: str
    units: frozenset[str] = frozenset()

    def numbers_the_same(self, other: Value) -> bool:
        """Whether both may be values of one thing: three people are none of what floor 4 is."""
        return self.sort != other.sort or bool(self.units & other.units) or not (self.units and other.units)


def values_of(text: str) -> frozenset[Value]:
    """Every value in a text."""
    return frozenset([_value(match) for match in _values_in(_ISO.sub(_spelt_out, text))])


_ISO = re.compile(r"(?<!\d)(?P<year>20\d\d)-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-3]\d)(?!\d)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "june", "july", "aug", "sept", "oct", "nov", "dec")


def _spelt_out(match: re.Match[str]) -> str:
    """2026-03-01 as a person writes it."""
    return f"{int(match['day'])} {_MONTHS[int(match['month']) - 1]} {match['year']}"


def value_places(text: str) -> list[tuple[int, int]]:
    """Where the values of a text stand, as [start, end)."""
    return [match.span() for match in _values_in(text)]


def _values_in(text: str) -> Iterable[re.Match[str]]:
    # Most clauses hold none, as their words tell sooner than the pattern.
    if text.isascii() and _OF_VALUES.isdisjoint(_TOKEN.findall(text.casefold())):
        return ()
    return _VALUE.finditer(text)


def _value(match: re.Match[str]) -> Value:
    if match["noon"] or match["midnight"]:
        return Value("number", "12" if match["noon"] else "0", frozenset({"clock"}))
    if match["today"]:
        return Value("day", _DAY_NAMES.get(match["today"].casefold()[:3], _DAY_NAMES.get(match["today"][0], "today")))
    if match["weekday"]:
        return Value("weekday", str(weekday_number(match["weekday"]) + 1))
    if match["month"]:
        return Value("month", str(month_number(match["month"])))
    if match["day"]:
        return Value("weekday", str(weekday_number(match["day"]) + 1))
    number, units = _number(match)
    if "月" in units:
        return Value("month", number)
    if "年" in units or (match["number"] and re.fullmatch(r"(?:19|20)\d\d", number)):
        return Value("year", number)
    counted = frozenset(filter(None, map(_unit, units)))
    return Value("number", _hour(number) if "clock" in counted or ":" in number else number, counted)


def _hour(number: str) -> str:
    """Return a time of day on a clock of twelve hours: 3 for "3 pm", "15:00" and 下午三点."""
    hour, _, minute = number.partition(":")
    if not hour.isdecimal() or int(hour) > 24:
        return number
    return f"{(int(hour) - 1) % 12 + 1}" + (f":{minute}" if minute.strip("0") else "")


def _number(match: re.Match[str]) -> tuple[str, list[str]]:
    """A number in digits, and the words beside it."""
    if match["han"]:
        number, unit = digits_of(match["han"]) or match["han"], match["hans"]
        return (f"{number}:30", ["点"]) if unit == "点半" else (number, [unit])
    if match["large"]:
        return digits_of(match["large"]) or match["large"], []
    if match["word"]:
        return str(_NUMBER_WORDS[match["word"].casefold()]), [match["counted"] or ""]
    if match["number"]:
        number = match["number"].casefold().removeprefix("v")
        beside = [match["counter"] or "", match["unit"] or ""]
        return digits_of(number + (match["scale"] or "")) or number.replace(",", ""), beside
    return "1", []


def _unit(word: str) -> str:
    folded = word.casefold()
    if folded in ("am", "pm", "点", "oclock"):
        return "clock"
    if folded in _CLASSIFIERS:
        return ""
    if folded in _NO_UNIT or folded in _NUMBER_WORDS:
        return ""
    return concepts(stem(folded) if folded.isascii() else folded)[0]


# Which one of several of a kind a text speaks of: the second batch, locker 12, 第三次.


@dataclass(frozen=True, slots=True)
class Item:
    """Which one of its `kind` a text begins with, by its number; `listed` tells that a colon follows."""

    kind: str
    which: str
    listed: bool


@lru_cache(maxsize=2048)
def ordinal_of(text: str) -> tuple[str, str] | None:
    """What kind of thing a text begins with, and which one: "the second batch"; None for none."""
    match = _pattern.ordinal.match(text)
    if match is not None:
        return match["kind"].casefold(), match["which"].casefold()
    match = _pattern.ordinal_zh.match(text)
    return None if match is None else (_first(match, "kind", "of"), _first(match, "which", "when"))


@lru_cache(maxsize=2048)
def item_of(text: str) -> Item | None:
    """The item that a text begins with: "Seat 4", "4."; None for other texts."""
    match = _pattern.item.match(text)
    if match is None:
        return None
    kind = _first(match, "kind", "kind_zh", "kind_before").casefold()
    which = _first(match, "which", "which_zh", "which_after", "list")
    return Item(kind, which, text[match.end() : match.end() + 1] in (":", "："))


@lru_cache(maxsize=2048)
def label_of(text: str) -> str | None:
    """The heading that a text begins with, before its colon or comma: "Day 2"; None for other texts."""
    match = _pattern.label.match(text)
    return None if match is None else match[0]


def _first(match: re.Match[str], *groups: str) -> str:
    return next((match[name] for name in groups if match[name]), "")
