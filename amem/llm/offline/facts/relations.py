"""What "is" states: "Ana's manager is Priya", "MySQL is our database", "the deadline is 3 May", "I'm vegan"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.facts.employers import title_in
from amem.llm.offline.facts.objects import date_in, is_known_place, name_in, phrase_in, version_in
from amem.llm.offline.lexicon import is_person
from amem.note import Fact
from amem.truth.subjects import USER, WE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.llm.offline.facts.people import Subject
    from amem.llm.offline.facts.scene import Scene

_DIET = re.compile(
    r"(?:(?:strictly|fully|strict) )?(?P<o>vegetarian|vegan|pescatarian|flexitarian|kosher|halal|keto)\b"
    r"(?! \w+ (?:restaurant|place|food))",
    re.IGNORECASE,
)
_OF = re.compile(
    r"(?:now |currently |still |also )*(?P<noun>(?:my|our|his|her|their|[A-Z][\w-]+'s) (?:\w+ ){0,2}?\w+)\b"
    r"(?: (?:at|for|now|since|in)\b.*)?$"
)
_AT_DATE = re.compile(r"(?:now )?(?:due )?(?:set for |scheduled for |moved to |on |by |in )?(?P<o>.+)", re.IGNORECASE)
_INSIDE = re.compile(r"(?:now )?(?:in|at|on) (?P<o>.+)")
_ROOM = re.compile(r"(?:the |room |floor )")
_ARTICLE = re.compile(r"(?:now )?(?:an?|the) ")


def relation(subject: Subject, rest: str, scene: Scene) -> list[Fact]:
    """The fact of a clause "subject is rest"; [] where it states none that the table has a predicate for."""
    if diet := _DIET.match(rest) if subject.person else None:
        return [Fact(subject.name, "diet", diet["o"])]
    if subject.noun and subject.owner is not None and (found := _of_noun(subject.owner, subject.noun, rest, scene)):
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


def _of_noun(owner: str, noun: str, value: str, scene: Scene) -> list[Fact]:
    """Whose what is which. The noun's last words name a predicate or the role of something used."""
    listed = noun.split()
    for start in range(len(listed)):
        name = " ".join(listed[start:])
        role = name.replace(" ", "_")
        if role in scene.predicates.role_names and (owner or start == 0):
            thing = name_in(value, scene.predicates, lower=scene.lower)
            fits = thing and scene.predicates.role(thing) in (role, None) and not is_known_place(thing)
            return [Fact(owner or WE, "uses", thing)] if fits else []
        if name.startswith(("favourite ", "favorite ")):
            thing = phrase_in(value)
            return [Fact(owner, "prefers", thing)] if thing and owner else []
        predicate = scene.predicates.names.get(name)
        if predicate is not None:
            return _with(predicate, owner, listed[:start], value, scene)
    return []


def _with(predicate: str, owner: str, before: Sequence[str], value: str, scene: Scene) -> list[Fact]:
    if predicate in ("deadline", "date", "version") or (predicate == "birthday" and owner and not before):
        # "The release deadline" is that of the release; nobody's deadline is ours.
        named = f"{owner}'s " if before and owner not in ("", USER, WE) else ""
        subject = named + " ".join(before) or owner or WE
        match = _AT_DATE.match(value)
        found = version_in(value) if predicate == "version" else date_in(match["o"] if match else value)
    else:
        subject = owner
        found = _held(predicate, value, scene) if owner and not before else ""
    return [Fact(subject, predicate, found)] if found else []


def _held(predicate: str, value: str, scene: Scene) -> str:
    """What "is" says somebody's manager, office, title or other thing of the table is."""
    match predicate:
        case "manager" | "married_to":
            name = name_in(value.removeprefix("called ").removeprefix("named "), scene.predicates)
            return "" if not name or name[0].isdigit() or is_known_place(name) else name
        case "office":
            inside = _INSIDE.match(value)
            place = inside["o"] if inside else ""
            return name_in(place, scene.predicates) or (phrase_in(place) if _ROOM.match(place) else "")
        case "job_title":
            return title_in(value)
        case "named":
            plain = value.strip(" .")
            return name_in(value, scene.predicates) or (plain if scene.lower and is_person(plain) else "")
    return name_in(_ARTICLE.sub("", value), scene.predicates)
