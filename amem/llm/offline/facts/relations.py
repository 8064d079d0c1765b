"""What "is" states: "Ana's manager is Priya", "MySQL is our database", "the deadline is 3 May", "I'm vegan"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.llm.offline.facts.held import TITLED, person_named, thing_in, value_in
from amem.llm.offline.facts.objects import date_in, is_known_place, phrase_in, version_in
from amem.note import Fact
from amem.truth.subjects import USER, WE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.llm.offline.facts.people import Subject
    from amem.llm.offline.facts.scene import Scene
    from amem.truth.predicates import Predicate, Predicates

_DIET = re.compile(
    r"(?:(?:strictly|fully|strict) )?(?P<o>vegetarian|vegan|pescatarian|flexitarian|kosher|halal|keto)\b"
    r"(?! \w+ (?:restaurant|place|food))",
    re.IGNORECASE,
)
_OF = re.compile(
    r"(?:now |currently |still |also )*(?P<noun>(?:my|our|his|her|their|[A-Z][\w-]+'s) (?:\w+ ){0,2}?\w+)\b"
    r"(?: (?:at|for|now|since|in)\b.*)?$"
)
#: "The landlord of the bakery", "the rent for the workshop".
_OF_SOMETHING = re.compile(r"(?P<noun>[\w-]+(?: [\w-]+)?) (?:of|for|at) (?P<owner>.+)", re.IGNORECASE)
#: "My rent went up to 950 euros", "the address changed to ...".
_CHANGED = re.compile(
    r"(?:(?:went|goes|gone|go) (?:up|down)|rose|risen|increased|raised|dropped|fell|lowered|cut|changed|switched|moved)"
    r" (?:from (?P<x>.+?) )?to (?P<o>.+)",
    re.IGNORECASE,
)
#: With these the person named is leaving, or has left, the place that he or she filled.
_GONE = re.compile(r"\b(?:retir\w+|quit\w*|resign\w*|leav\w+|left|died|dead|passed away|replac\w+|no longer)\b")
_AFTER_NAME = re.compile(
    r"[,.;!)]|$| (?:is|was|has|had|will|can|who|and|said|told|gave|came|went|brought|sent|wrote|found|took|made|thinks"
    r"|at|from|in|to|about|for|on|today|yesterday|(?!sheets|docs)[a-z]+(?:ed|s))\b"
)
_FAVOURITE = re.compile(
    r"(?P<o>[\w'’ -]{2,40}?) (?:is|are) (?:now |still |by far )?my (?:all-time )?favou?rite(?: [\w-]+){1,2}",
    re.IGNORECASE,
)
_AT_DATE = re.compile(r"(?:now )?(?:due )?(?:set for |scheduled for |moved to |on |by |in )?(?P<o>.+)", re.IGNORECASE)


def relation(subject: Subject, rest: str, scene: Scene) -> list[Fact]:
    """The fact of a clause "subject is rest"; [] where it states none that the table has a predicate for."""
    if diet := _DIET.match(rest) if subject.person else None:
        return [Fact(subject.name, "diet", diet["o"])]
    owner, noun = _whose(subject, scene)
    if noun and owner is not None and (found := _of_noun(owner, noun, rest, scene)):
        return found
    if (
        (of := _OF.fullmatch(rest))
        and subject.noun == ""
        and (other := scene.cast.of(of["noun"].split()))
        and other.noun
        and other.owner
    ):
        return _of_noun(other.owner, other.noun, subject.name, scene)
    return []


def changed(subject: Subject, clause: str, scene: Scene) -> list[Fact]:
    """The facts of a clause that says what somebody's rent, address or landlord changed to."""
    owner, noun = _whose(subject, scene)
    match = _CHANGED.match(clause) if noun and owner is not None else None
    if match is None or owner is None:
        return []
    return _of_noun(owner, noun, match["o"], scene)


def apposed(text: str, scene: Scene) -> list[Fact]:
    """What "our landlord Amélia brought mint" and "my dentist Dr. Sá" say by the way."""
    found = []
    for match in _roles_of_people(_people(scene.predicates)).finditer(text) if not _GONE.search(text) else ():
        owner = {"my": scene.cast.me.name, "our": WE}.get(match["whose"].casefold(), match["whose"][:-2])
        name = person_named(match["o"], scene)
        who = scene.cast.of(name.split())
        # "My accountant Google sheet": a name that is none of a person's stands before a verb, if alone.
        sure = " " in name or (who is not None and who.person) or _AFTER_NAME.match(match["o"][len(name) :])
        if name and (TITLED.match(match["o"]) or (who is not None and who.person is not False and sure)):
            found += _of_noun(owner, match["noun"].casefold(), name, scene)
    return found


def favourite(text: str, scene: Scene) -> list[Fact]:
    """ "Jasmine tea is my favourite tea": what whoever speaks prefers."""
    match = _FAVOURITE.fullmatch(text)
    thing = phrase_in(match["o"], 3) if match else ""
    return [Fact(scene.cast.me.name, "prefers", thing)] if thing else []


def _whose(subject: Subject, scene: Scene) -> tuple[str | None, str]:
    """Whose what it is: "the landlord of Ana" is Ana's, "the rent" and "the landlord" of nobody else the speaker's."""
    of = _OF_SOMETHING.fullmatch(subject.noun) if subject.owner == "" else None
    if of is None:
        return subject.owner, subject.noun
    at = len(subject.name) - len(of["owner"])
    owner = scene.cast.of(subject.name[at:].split()) or scene.cast.of(["the", *subject.name[at:].split()])
    return (None, "") if owner is None else (owner.name, of["noun"])


def _of_noun(owner: str, noun: str, value: str, scene: Scene) -> list[Fact]:
    """Whose what is which. The noun's last words name a predicate or the role of something used."""
    listed = noun.split()
    for start in range(len(listed)):
        name = " ".join(listed[start:])
        role = name.replace(" ", "_")
        if role in scene.predicates.role_names and (owner or start == 0):
            thing = thing_in(value, scene)
            if thing and scene.predicates.role(thing) in (role, None) and not is_known_place(thing):
                return [Fact(owner or WE, "uses", thing)] if any(map(str.isalpha, thing)) else []
        if name.startswith(("favourite ", "favorite ")):
            thing = phrase_in(value)
            return [Fact(owner, "prefers", thing)] if thing and owner else []
        predicate = scene.predicates.names.get(name)
        if predicate is not None:
            return _with(scene.predicates.rows[predicate], owner, listed[:start], value, scene)
    return []


def _with(row: Predicate, owner: str, before: Sequence[str], value: str, scene: Scene) -> list[Fact]:
    if row.value in ("date", "version") and not (row.name == "birthday" and not (owner and not before)):
        # "The release deadline" is that of the release; nobody's deadline is ours.
        named = f"{owner}'s " if before and owner not in ("", USER, WE) else ""
        subject = named + " ".join(before) or owner or WE
        match = _AT_DATE.match(value)
        found = version_in(value) if row.value == "version" else date_in(match["o"] if match else value)
    elif row.personal and owner in ("", WE):
        # "The rent is 950 euros", "our landlord": whoever lives there says so.
        subject, found = scene.cast.me.name, "" if before else value_in(row.value, value, scene)
    else:
        subject = owner
        found = value_in(row.value, value, scene) if owner and not before else ""
    return [Fact(subject, row.name, found)] if found else []


def _people(predicates: Predicates) -> tuple[str, ...]:
    """The English names of what people are to one another: "landlord", "team lead"."""
    named = {name for name, row in predicates.names.items() if predicates.rows[row].value == "person"}
    return tuple(sorted((name for name in named if name.isascii()), key=lambda name: (-len(name), name)))


@lru_cache(maxsize=8)
def _roles_of_people(nouns: tuple[str, ...]) -> re.Pattern[str]:
    listed = "|".join(map(re.escape, nouns))
    return re.compile(
        rf"\b(?P<whose>[Mm]y|[Oo]ur|[A-Z][\w-]+['’]s) (?:(?:new|current|own) )?(?P<noun>(?i:{listed})),? (?P<o>[A-Z].*)"
    )
