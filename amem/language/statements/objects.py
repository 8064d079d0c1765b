"""What a fact is about, cut out of the words behind a verb."""

from __future__ import annotations

import re

from amem.language import is_cjk
from amem.language.lexicon import is_everyday, is_person, is_place
from amem.language.predicates import WE, Predicates, bare_name, canonical_subject
from amem.language.scripts import Patterns, word_list, words
from amem.language.sentence_parts import is_bound
from amem.language.statements.clauses import GAP, Subject
from amem.language.statements.tense import Aspect, Scene, Shape
from amem.note import Fact

_pattern = Patterns("statements/objects")


# What a fact is about, cut out of the words behind a verb: a name, a place, a thing, a version, a date.

_STOP = word_list("end of object")
_POINTERS = word_list("pointers")
_JOINERS = words("of de da do dos das di du del van von der la le el & y the and")
_ARTICLES = words("the a an my our")
_AMBIGUOUS = word_list("tools like words")
_TRAILING = " .,;:!?'\"’”)。，、！"


#: "A two-room flat in Leipzig": what somebody lives in, before where it is.
DWELLING = _pattern("dwelling")


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
            versioned = len(listed) > length and _pattern.version.fullmatch(listed[length]) is not None
            return f"{name} {listed[length]}" if versioned else name
    if lower and listed and listed[0].isalpha() and not is_everyday(listed[0]):
        return listed[0]
    return ""


def place_in(text: str, predicates: Predicates, *, lower: bool = False) -> str:
    """The place that `text` begins with."""
    name = re.sub(r"(?: \d+)+$", "", name_in(DWELLING.sub("", text), predicates, lower=lower))  # "Berlin 3 weeks ago"
    return (
        ""
        if not name or predicates.role(name) is not None or (is_person(name.split()[0]) and not is_known_place(name))
        else name
    )


def street_in(text: str, predicates: Predicates, *, sure: bool) -> tuple[str, str]:
    """The street with its number that `text` begins with, and the town behind it ('' where none is named).

    Without `sure` (an address is not certain to follow) the name has to tell: "moved to Django 5" names no street.
    """
    found = _pattern.street.match(text.strip())
    if found is None or predicates.role(found["street"]) is not None or date_in(found["street"]):
        return "", ""
    name = found["name"]
    if name and (is_known_place(name) or not (sure or found["town"] or _pattern.street_name.search(name))):
        return "", ""
    return found["street"], found["town"] or ""


def town_in(text: str, predicates: Predicates) -> str:
    """The town that `text` names and nothing else, a postcode before it left out."""
    town = re.sub(r"^(?:[A-Z]{1,2}-)?\d{4,6} ", "", text)
    return town if name_in(town, predicates) == town else ""


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
    found = _pattern.version.match(text.strip())
    return "" if found is None else found["version"]


def when_in(text: str) -> tuple[str, str]:
    """The day and the time of day that `text` begins with, in either order and as written; '' for what it lacks."""
    plain = re.sub(r"^每(?:天|个?工作日|晚)的?", "", text.strip())
    day = date_in(plain)
    rest = re.sub(r"^[ ,的]+", "", plain[plain.find(day) + len(day) :]) if day else plain
    found = _pattern.time_of_day.match(rest)
    if found is None:
        return day, ""
    return day or date_in(re.sub(r"^,? ?(?:on )?", "", rest[found.end() :])), found["time"]


def date_in(text: str) -> str:
    """The date that `text` begins with, as it is written."""
    found = _pattern.date.match(text.strip())
    return "" if found is None else found["date"]


def school_in(text: str) -> str:
    """A school by the name that `text` begins with; '' for any other name."""
    found = _pattern.school.match(text.strip())
    return found["o"].strip(" ,") if found else ""


# What a value may be, in either language: the one place that turns down what a verb or "is" would let through.

_DAYS = word_list("calendar")
#: Where somebody stays, and no home.
NO_HOME = _pattern("no_home")


def firm_in(text: str, predicates: Predicates) -> str:
    """The employer or bank that `text` names, by a name that the table knows; '' for any other word."""
    name = predicates.known("works_at", text) or predicates.known("bank", text)
    rest = text.strip()[len(name) :]
    return "" if name and is_cjk(name[-1]) and rest and re.match("[\u4e00-\u9fff]", rest) else name


def fits(fact: Fact, predicates: Predicates) -> bool:
    """Whether the value may be one of its predicate: an employer is no day, a home no company, a manager no firm."""
    row, value = predicates.rows.get(fact.predicate), fact.object
    if row is None or not value or row.value in ("date", "time", "amount", "number", "version"):
        return True
    folded = value.casefold().split()
    if row.name not in ("likes", "dislikes", "prefers", "named", "uses") and row.value != "person":
        days = (word if word in _DAYS else word.removesuffix("s") for word in folded)
        if _DAYS.issuperset(days):
            return False
    if row.name in ("lives_in", "planned_home"):
        return not firm_in(value, predicates) and not NO_HOME.search(value)
    if row.value == "person":
        return firm_in(value, predicates) != value
    if row.name == "drives":
        return not _DEMONYMS.issuperset(folded)
    return row.name != "allergic_to" or not _pattern.no_allergen.search(value)


# Where somebody works, as what, and in which team.

_TRADES = word_list("trades")
TRADES_ZH = re.compile(f"(?:{'|'.join(word_list('trades in chinese'))})$")
_NO_EMPLOYER = word_list("no employer")
_CLUBS = word_list("clubs")
_AS = re.compile(r"\bas an? (?P<title>[^,.;!?]+)")
_BEGUN = words("start starts started starting begin begins began begun beginning")
_NO_TEAM = words("a the my our right same best winning whole new")


def employers(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """Where the subject works, or works no more; as what, where that is said along with it."""
    text = parts.get("o", "")
    org = organisation(text, scene)
    if not org:
        ends = shape.aspect is Aspect.END and shape.kind.endswith("?") and not text
        return [Fact(subject.name, "works_at", "", False)] if ends else []
    titled = " as " in text or parts.get("title")
    if parts["verb"] in _BEGUN and (school_in(org) or is_known_place(org)) and not titled:
        return []  # a pupil starts at a school as well as a teacher, a student at Leeds
    loose = shape.tail.startswith("(?P<o>")  # "joined", "left", "quit" and whatever follows
    if loose and (
        _pattern.clock.search(text) or _pattern.guest.search(text) or is_known_place(org) or _is_club(org, text)
    ):
        return []
    product = scene.predicates.is_technology(org) and firm_in(org, scene.predicates) != org
    if loose and (product or TITLED.match(text) or _pattern.left_so.match(text.partition(org)[2])):
        return []  # "left Visual Studio Code", "left Mrs. Vos", "left Google Maps on"
    role = _AS.search(text)
    if "volunteer" in (role["title"] if role else parts.get("title", "")):
        return []  # who is paid there as nothing has another employer
    found = [Fact(subject.name, "works_at", org, shape.aspect is not Aspect.END)]
    new = organisation(parts.get("new", ""), scene)
    if new and not is_known_place(new):
        found.append(Fact(subject.name, "works_at", new))
    title = title_in(parts.get("title", "") or (role["title"] if role and shape.aspect is Aspect.STATE else ""))
    return [*found, Fact(subject.name, "job_title", title)] if title and found[0].holds else found


def _is_club(org: str, text: str) -> bool:
    """Whether what is joined or left is no employer: "the Brass Band", "Repair Cafe as a volunteer"."""
    after = text.partition(org)[2].split()
    ends = {org.split()[-1].casefold(), after[0].strip(_TRAILING).casefold() if after else ""}
    role = _AS.search(text)
    paid = role is not None and bool(title_in(role["title"]))
    return not paid and bool(ends & _CLUBS)


def titles(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """What somebody works as, and where that is said along with it."""
    title = title_in(parts["o"]) or title_in(f"{parts['verb']} {parts['o']}")  # "I'm head of science"
    if not title:
        return []
    found = [Fact(subject.name, "job_title", title)]
    org = organisation(parts.get("org", ""), scene) if shape.aspect is Aspect.STATE else ""
    return [*found, Fact(subject.name, "works_at", org)] if org and not is_known_place(org) else found


def teams(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """The team that somebody is on."""
    name = re.sub(r"^the |\s+team$", "", parts["o"], flags=re.IGNORECASE).strip()
    if not name or name.casefold() in _NO_TEAM:
        return []
    found = [Fact(subject.name, "team", name)]
    org = organisation(parts.get("org", ""), scene)
    return [*found, Fact(subject.name, "works_at", org)] if org and not school_in(org) else found


def organisation(text: str, scene: Scene) -> str:
    """The name that `text` begins with, if it may be an employer's: Groundwork of "a charity called Groundwork"."""
    if called := _pattern.called.match(text):
        text = text[called.end() :]
    if after := _pattern.named_after.match(text):
        return max(after["o"], school_in(text), key=len)  # "St Anne's Primary"
    name = name_in(text, scene.predicates, lower=scene.lower)
    listed = name.split()
    if not listed or name in ("St", "Saint") or name[0].isdigit() or listed[0].casefold() in _NO_EMPLOYER:
        return ""
    if any(scene.predicates.known(each, text) for each in ("likes", "takes_medication")):
        return ""  # "I quit coffee'"
    return "" if len(listed) == 1 and is_person(name) else name


#: "A good cook" is what somebody is like.
_JUDGED = word_list("judged")


def title_in(text: str) -> str:
    """The job title that `text` begins with: words that end in a trade, or "head of" something."""
    if heads := _pattern.heads.match(text):
        return heads[0]
    title = phrase_in(text)
    listed = title.casefold().split()
    return title if listed and listed[-1] in _TRADES and listed[0] not in _JUDGED else ""


# What a statement about tools is limited to: "in the mobile app", "for our billing service", "on my laptop".

#: They name no thing of their own: what "the docs" use is what we use.
OURS = word_list("all of ours")
_NO_THINGS = word_list("no thing")


def scope_in(text: str, scene: Scene, *, named: bool = False) -> str:
    """The thing to which what follows a tool's name limits it; '' where that is all of ours.

    With `named` a name alone counts: "replaced Jenkins in Osprey", but not "in Berlin" or "for Ana".
    """
    for found in _pattern.in_named.finditer(text) if named else ():
        name = bare_name(found["name"])
        first = name.split()[0]
        if not (is_known_place(name) or is_person(first) or date_in(first) or scene.predicates.is_technology(name)):
            return name
    return next((thing for found in _pattern.inside_scope.finditer(text) if (thing := _thing(found, scene))), "")


def scope_alone(text: str, scene: Scene) -> str:
    """The thing that a clause without a verb names ("in the mobile app"); '' for any other clause."""
    found = _pattern.alone.fullmatch(text)
    return "" if found is None else _thing(found, scene)


def led_by_scope(text: str, scene: Scene) -> tuple[str, str]:
    """A clause without the "in the mobile app" before its "we", and the thing named there."""
    found = _pattern.leading.fullmatch(text)
    named = _pattern.in_named.match(text[:1].lower() + text[1:]) if found is None else None
    if named is not None and (thing := scope_in(named[0], scene, named=True)):
        rest = text[named.end() :].lstrip(" ,")
        return (rest, thing) if rest[:3].casefold() == "we " else (text, "")  # "for Puffin we chose Svelte"
    return (text, "") if found is None else (found["rest"], _thing(found, scene))


def thing_named(text: str, scene: Scene) -> str:
    """The thing that "the buoy catalogue" or "clinic scheduler" is; '' where it is all of ours ("our database")."""
    noun = _pattern.whole.sub("", text.strip())
    last = noun.split()[-1].casefold() if noun else ""
    if not noun or last in OURS or noun.casefold().replace(" ", "_") in scene.predicates.role_names:
        return ""
    thing = canonical_subject(f"the {noun}")
    return "" if thing == WE else thing


def _thing(found: re.Match[str], scene: Scene) -> str:
    if found["stage"]:
        return found["stage"].casefold()
    noun = phrase_in(found["noun"])
    if not noun or any(word in _NO_THINGS for word in noun.casefold().split()):
        return ""
    thing = thing_named(noun, scene)
    mine = bool(thing) and found["whose"].casefold() == "my"
    return canonical_subject(f"my {noun}", speaker=scene.cast.speaker) if mine else thing


# What stands behind "is" in "my landlord is ...", cut out by what the predicate's row of the table says it takes.

TITLED = _pattern("titled")
_NUMBER = re.compile(r"(?P<o>\+?\(?\d[\d\s()./-]{4,24}\d)(?!\w)")
_EMAIL = re.compile(r"(?P<o>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)")


def value_in(kind: str, text: str, scene: Scene) -> str:
    """The value that the text begins with, of the kind that the table names; '' where it begins with none."""
    text = text.strip()
    while lead := _pattern.now.match(text):
        text = text[lead.end() :]
    match kind:
        case "person":
            return person_named(text, scene)
        case "place":
            return _place(text, scene)
        case "room":
            inside = _pattern.inside.match(text)
            place = inside["o"] if inside else ""
            return name_in(place, scene.predicates) or (phrase_in(place) if _pattern.room.match(place) else "")
        case "title":
            return title_in(text)
        case "amount":
            found = _pattern.amount.match(text)
            return found["o"].strip(" ,") if found and not _pattern.limit.match(text, found.end()) else ""
        case "number" | "email" | "address":
            found = {"number": _NUMBER, "email": _EMAIL, "address": _pattern.address}[kind].match(text)
            return found["o"].strip(" ,") if found else ""
        case "school":
            return school_in(text)
        case "phrase":
            return name_in(text, scene.predicates)
        case "name":
            return thing_in(text, scene)
    return ""


def person_named(text: str, scene: Scene) -> str:
    """A person by name or title and name: "Dr. Okafor", "Pedro Costa"."""
    if called := _pattern.called.match(text):
        text = text[called.end() :]  # "a woman called Patel"
    titled = TITLED.match(text)
    name = titled[0] if titled else name_in(text, scene.predicates)
    other = bool(name) and (is_known_place(name) or name.casefold() in _DEMONYMS) and not is_person(name.split()[0])
    return "" if not name or name[0].isdigit() or other or title_in(name) else name


_DEMONYMS = word_list("no tool") | word_list("demonyms")


def thing_in(text: str, scene: Scene) -> str:
    """A thing by its proper name, whatever article and adjectives stand before it: "a blue Toyota Yaris"."""
    lead = _pattern.before_name.match(text)
    return name_in(text[lead.end() :] if lead else text, scene.predicates, lower=scene.lower)


def amount_zh(text: str) -> str:
    """An amount of money in Chinese: 3500元, 三千五."""
    found = _pattern.money_zh.match(text.strip())
    return found[0].strip() if found and not _pattern.limit.match(text.strip(), found.end()) else ""


def _place(text: str, scene: Scene) -> str:
    inside = _pattern.inside.match(text)
    name = place_in(inside["o"] if inside else text, scene.predicates, lower=scene.lower)
    return name if inside or is_known_place(name) else ""
