"""What stands behind "is" in "my landlord is ...", cut out by what the predicate's row of the table says it takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.facts.employers import title_in
from amem.llm.offline.facts.objects import is_known_place, name_in, phrase_in, place_in, school_in
from amem.llm.offline.lexicon import is_person

if TYPE_CHECKING:
    from amem.llm.offline.facts.scene import Scene

_NOW = re.compile(r"(?:now|currently|still|actually|really|called|named|is) ", re.IGNORECASE)
TITLED = re.compile(
    r"(?:(?:Dr|Mr|Mrs|Ms|Prof|Doctor|Professor|Herr|Frau|Senhora?|Dra?|Mme|M)\.? "
    r"(?:[A-Z][\w'’-]+)(?: [A-Z][\w'’-]+){0,2})"
)
_INSIDE = re.compile(r"(?:in|at|on) (?P<o>.+)")
_ROOM = re.compile(r"(?:the |room |floor )")
#: Before the name of a thing: "a second-hand Skoda", "the new blue Yaris".
_BEFORE_NAME = re.compile(r"(?:(?:an?|the|my|our) )?(?:[a-z][a-z-]+ ){0,3}?(?=[A-Z0-9])")
_AMOUNT = re.compile(
    r"(?P<o>(?:about |around )?(?:(?:[€$£¥]|US\$|EUR|USD|GBP|CHF|RMB)\s?\d[\d.,]*\d?k?"
    r"|\d[\d.,]*k?\s?(?:€|\$|£|¥|euros?|dollars?|pounds?|francs?|yuan|kroner|EUR|USD|GBP|CHF|RMB|块钱?|元|欧元?|美元|万元?|千元?)?))"
    r"(?![\w%])",
    re.IGNORECASE,
)
_MONEY_ZH = re.compile(
    r"(?:人民币|[€$£¥])?\s?[\d,.]*[\d一二三四五六七八九十两百千万]+\s?(?:块钱?|元钱?|欧元?|美元|镑|万元?|千元?)?"
)
#: A bound on the amount is not the amount.
_LIMIT = re.compile(r".{0,12}?(?:以内|以下|以上|封顶|上限|的?差)|,? (?:or (?:less|more)|at (?:most|least)|max|tops)\b")
_NUMBER = re.compile(r"(?P<o>\+?\(?\d[\d\s()./-]{4,24}\d)(?!\w)")
_EMAIL = re.compile(r"(?P<o>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)")
#: A street with a number on either side, and what follows it: "Rua da Rosa 14, Lisbon", "14 Mill Lane".
_ADDRESS = re.compile(
    r"(?P<o>(?=[^.;!?]*\d)[A-Z0-9][\w'’./-]*(?:,? [\w'’./-]+){1,9}?)"
    r"(?=[.;!?]?$|[.;!?] | (?:now|since|from|as of)\b)"
)


def value_in(kind: str, text: str, scene: Scene) -> str:
    """The value that the text begins with, of the kind that the table names; '' where it begins with none."""
    text = text.strip()
    while lead := _NOW.match(text):
        text = text[lead.end() :]
    match kind:
        case "person":
            return person_named(text, scene)
        case "place":
            return _place(text, scene)
        case "room":
            inside = _INSIDE.match(text)
            place = inside["o"] if inside else ""
            return name_in(place, scene.predicates) or (phrase_in(place) if _ROOM.match(place) else "")
        case "title":
            return title_in(text)
        case "amount":
            found = _AMOUNT.match(text)
            return found["o"].strip(" ,") if found and not _LIMIT.match(text, found.end()) else ""
        case "number":
            return _first(_NUMBER, text)
        case "email":
            return _first(_EMAIL, text)
        case "address":
            return _first(_ADDRESS, text)
        case "school":
            return school_in(text)
        case "phrase":
            return name_in(text, scene.predicates)
        case "name":
            return thing_in(text, scene)
    return ""


def person_named(text: str, scene: Scene) -> str:
    """A person by name or title and name: "Dr. Okafor", "Pedro Costa"."""
    titled = TITLED.match(text)
    name = titled[0] if titled else name_in(text, scene.predicates)
    if scene.lower and not name and is_person(first := text.split(" ")[0].strip(".,")):
        return first
    place = bool(name) and is_known_place(name) and not is_person(name.split()[0])
    return "" if not name or name[0].isdigit() or place else name


def thing_in(text: str, scene: Scene) -> str:
    """A thing by its proper name, whatever article and adjectives stand before it: "a blue Toyota Yaris"."""
    lead = _BEFORE_NAME.match(text)
    return name_in(text[lead.end() :] if lead else text, scene.predicates, lower=scene.lower)


def amount_zh(text: str) -> str:
    """An amount of money in Chinese: 3500元, 三千五."""
    found = _MONEY_ZH.match(text.strip())
    return found[0].strip() if found and not _LIMIT.match(text.strip(), found.end()) else ""


def _place(text: str, scene: Scene) -> str:
    inside = _INSIDE.match(text)
    name = place_in(inside["o"] if inside else text, scene.predicates, lower=scene.lower)
    return name if inside or is_known_place(name) else ""


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.match(text)
    return found["o"].strip(" ,") if found else ""
