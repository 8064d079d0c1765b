"""What a fact is about, cut out of the words behind a verb: a name, a place, a thing, a version, a date."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.facts.clauses import GAP
from amem.llm.offline.lexicon import is_person, is_place, lexicon, stem
from amem.text.sentences import is_bound
from amem.text.stopwords import ENGLISH, words

if TYPE_CHECKING:
    from amem.truth.predicates import Predicates

#: They begin what no longer belongs to a name or thing.
_STOP = words(
    "in on at for with because since as so to from by during when while after before until till about if via using per "
    "which who that where and or but instead than over into again now currently anymore today yesterday tonight "
    "tomorrow last next this too also yet already these those though although is are was were has have had will would "
    "both either rather then between under out back there here recently finally soon ago every each any not never "
    "without mainly mostly daily full-time part-time remotely together went does did do only more"
)
#: Pronouns and pointers: whoever likes "it" or joined "them" says nothing that stands alone.
_POINTERS = words(
    "it its it's he him his she her they them their you your yours me us mine ours this that these those there here "
    "some any all both each what when where how who whom whose which why everyone everybody someone something "
    "anything everything nothing nobody anyone so such to myself yourself himself herself itself themselves "
    "time not never no yes very really so-called being i we being more most much many other others another lot few"
)
_JOINERS = words("of de da do dos das di du del van von der la le el & y the and")
_ARTICLES = words("the a an my our")
#: Tools whose names in small letters are words of every day.
_AMBIGUOUS = words(
    "go teams linear zed cursor rails sketch oracle flask zoom notion render edge safari brave pixel loki git helix"
)
_TRAILING = " .,;:!?'\"’”)。，、！"
_VERSION = re.compile(
    r"(?:version |v\.? ?)?(?P<version>\d+(?:\.\d+){0,3}(?:[-.]?(?:alpha|beta|rc|lts)\.?\d*)?)(?![\w.]*\w)",
    re.IGNORECASE,
)
_MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = re.compile(
    rf"(?:the )?(?P<date>\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTHS}\b(?:,? \d{{4}})?"
    rf"|{_MONTHS}\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?|{_MONTHS}(?: \d{{4}})?\b"
    r"|(?:next )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|Q[1-4](?: \d{4})?\b"
    r"|(?:(?:\d{4}|今|明)年)?\d{1,2}月(?:\d{1,2}[日号]|[底初])?|(?:下下?个?|本|这)?(?:周|星期)[一二三四五六日天]|\d{1,2}[日号])",
    re.IGNORECASE,
)

_SCHOOL = re.compile(
    r"(?:the )?(?P<o>(?:[A-Z][\w.'’-]*\s){0,8}(?:of |the )?(?:[A-Z][\w.'’-]*\s){0,8}"
    r"(?:School|Academy|College|Kindergarten|Nursery|Primary|Elementary|High|Secondary|Grammar|University|Gymnasium"
    r"|Lyceum|Montessori|Preschool|Kita|(?<=\w )(?:primary|elementary|high|secondary|nursery|kindergarten|school))"
    r"(?: (?:School|school|Academy|College))?)(?![\w-])"
)

#: "A two-room flat in Leipzig": what somebody lives in, before where it is.
_DWELLING = re.compile(
    r"^(?:an?|the|my|our) (?:[\w-]+ ){0,4}?(?:flat|apartment|house|room|studio|cottage|loft|bungalow|townhouse|condo)"
    r"(?: on [A-Z][\w-]+(?: [A-Z][\w-]+)?)? in (?!an?\b|the\b)",
    re.IGNORECASE,
)


def name_in(text: str, predicates: Predicates, *, lower: bool = False) -> str:
    """The proper name that `text` begins with; '' when it begins with none.

    A name in small letters counts where the table knows it, or with `lower` when it is no everyday word.
    """
    found: list[str] = []
    for at, raw in enumerate(text.split()):
        word = raw.strip(_TRAILING + "(“‘")
        if not word or GAP in word:
            break
        folded = word.casefold()
        if folded == "the" and not found:
            continue
        proper = word[0].isupper() or word[0].isdigit() or any(mark.isupper() for mark in word)
        if found and folded in ("or", "nor"):
            return ""  # "in Porto or Lisbon" is in neither, for all one knows
        if not (proper and (folded not in _POINTERS or word.isupper())) and not (folded in _JOINERS and found and at):
            break
        found.append(word)
        if is_bound(raw):
            found[-1] = raw  # "Dr. Haddad"
        elif raw[-1] in _TRAILING:
            break
    while found and found[-1].casefold() in _JOINERS:
        found.pop()
    if any(word.endswith(("'s", "’s")) for word in found):
        return ""  # of something else
    if found and not found[0][0].isdigit():
        return "" if found[0].casefold() in _POINTERS and len(found) == 1 else " ".join(found)
    return _small(text, predicates, lower=lower)


def _small(text: str, predicates: Predicates, *, lower: bool) -> str:
    """A name that is written without capitals ("postgres 16", "vs code", "lisbon")."""
    listed = [word.strip(_TRAILING) for word in text.split()[:3]]
    for length in range(len(listed), 0, -1):
        name = " ".join(listed[:length])
        if name in _AMBIGUOUS:
            continue
        role = predicates.role(name)
        if (role is not None and predicates.role(" ".join(listed[: length - 1])) is None) or is_place(name):
            versioned = len(listed) > length and _VERSION.fullmatch(listed[length]) is not None
            return f"{name} {listed[length]}" if versioned else name
    if lower and listed and listed[0].isalpha() and not is_everyday(listed[0]):
        return listed[0]
    return ""


def is_everyday(word: str) -> bool:
    """Whether the lexicon has an English word as a word of every day."""
    return word.casefold() in ENGLISH or stem(word) in lexicon().known


def place_in(text: str, predicates: Predicates, *, lower: bool = False) -> str:
    """The place that `text` begins with."""
    name = name_in(_DWELLING.sub("", text), predicates, lower=lower)
    return (
        ""
        if not name or predicates.role(name) is not None or (is_person(name.split()[0]) and not is_known_place(name))
        else name
    )


def is_known_place(name: str) -> bool:
    """Whether the gazetteer has it, or the words it begins with."""
    parts = name.split()
    return any(is_place(" ".join(parts[:length])) for length in range(len(parts), 0, -1))


def phrase_in(text: str, longest: int = 5) -> str:
    """The few words that `text` begins with, up to the next preposition; '' for a pronoun or a longer story."""
    found: list[str] = []
    for raw in text.split():
        word = raw.strip(_TRAILING + "(“‘")
        folded = word.casefold()
        if not found and folded in _ARTICLES:
            continue
        doing = bool(found) and found[0].casefold().endswith("ing")  # "running my own studio"
        if not word or GAP in word or folded in _STOP or (found and folded in _ARTICLES and not doing):
            break
        found.append(word)
        if len(found) > longest:
            return ""
        if raw[-1] in _TRAILING:
            break
    while found and found[-1].casefold().endswith("ly") and len(found) > 1:
        found.pop()
    if not found or found[0].casefold() in _POINTERS or found[-1].casefold() in _POINTERS:
        return ""
    return " ".join(found)


def version_in(text: str) -> str:
    """The version number that `text` begins with."""
    found = _VERSION.match(text.strip())
    return "" if found is None else found["version"]


def date_in(text: str) -> str:
    """The date that `text` begins with, as it is written."""
    found = _DATE.match(text.strip())
    return "" if found is None else found["date"]


def school_in(text: str) -> str:
    """A school by the name that `text` begins with; '' for any other name."""
    found = _SCHOOL.match(text.strip())
    return found["o"].strip(" ,") if found else ""
