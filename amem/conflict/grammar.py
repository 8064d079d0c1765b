"""What an English clause is said of, and its verb: enough to tell a claim from a greeting, an order, or a cry.

Grammar by word lists. A clause whose parts it cannot tell is no claim: what is not understood contradicts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import TYPE_CHECKING

from amem.conflict.cues import concepts
from amem.language.lexicon import Sort, lexicon
from amem.language.scripts import words as words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.language.word_reading import Word


class Of(Enum):
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
_HELPERS = _NO_VERB | words_of(
    """
    do does did don't doesn't didn't can can't cannot could couldn't will won't would wouldn't should shouldn't
    may might must shall got gotten get gets getting finally recently currently often usually actually probably
    definitely
    """
)
_COMMON_VERBS = words_of(
    """
    go goes went gone going come comes came make makes made take takes took taken give gives gave given put puts
    keep keeps kept use uses used using see sees saw seen know knows knew think thinks thought say says said tell
    tells told want wants need needs own owns like likes liked seem seems become becomes became feel feels felt
    """
)
_AMOUNTS = words_of("no plenty enough many much more less few several two three")
_GET = words_of("got gotten get gets getting")
_BEFORE_NOUN = words_of("with without for in at on by from after before since")
_OF = _BEFORE_NOUN | {"of", "to"}
_LEADING = words_of(
    """
    and but so or well also then now today yesterday tonight since because although though while yes no yeah nope
    ok okay oh hey hi hello thanks actually finally recently lately currently anyway still just maybe again after
    before when if that as who which whose where with without for in on at by from these days nowadays meanwhile
    sorry please too
    """
)
_DETERMINERS = words_of(
    "the a an my our his her their its this that these those some any every each all both no another"
)
_AFTER_ORDER = _DETERMINERS | words_of("out up in on off down over it them me us him to at for with")
_IRREGULAR_PAST = words_of(
    """
    gave quit left sold bought went got took came began broke built brought cut drew drove ate fell felt found
    flew forgot froze had held heard kept knew led lent lost made met paid put ran read rode rose said saw sent
    set shut sang sat slept spoke spent stood swam taught told thought threw tore wore won wrote rewrote
    """
)


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
    if not _BEFORE_NOUN.isdisjoint(forms[:at]):
        at = _subject_behind(words, forms, at)
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


def _subject_behind(words: Sequence[Word], forms: Sequence[str], at: int) -> int:
    """Where the subject begins behind what a preposition brings along: "with two new colleagues I am"."""
    for place in range(at, min(at + 7, len(words))):
        if forms[place] in _PEOPLE:
            return place
        if forms[place] in _BE | _HAVE | _HELPERS:
            break
    return at


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
