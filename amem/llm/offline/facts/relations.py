"""What "is" states: "Ana's manager is Priya", "MySQL is our database", "the deadline is 3 May", "I'm vegan"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.facts.held import thing_in, value_in
from amem.llm.offline.facts.objects import date_in, is_known_place, phrase_in, version_in
from amem.note import Fact
from amem.truth.subjects import USER, WE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.llm.offline.facts.people import Subject
    from amem.llm.offline.facts.scene import Scene
    from amem.truth.predicates import Predicate

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
