"""From a shape that matched to facts: the object cut out of it and judged by what its predicate takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.facts.employers import employers, teams, titles
from amem.llm.offline.facts.held import thing_in, value_in
from amem.llm.offline.facts.objects import date_in, is_known_place, name_in, phrase_in, place_in
from amem.llm.offline.facts.shapes import Aspect
from amem.llm.offline.facts.tools import swaps, tools, versions
from amem.llm.offline.lexicon import is_person
from amem.note import Fact
from amem.truth.subjects import USER, WE

if TYPE_CHECKING:
    from amem.llm.offline.facts.people import Subject
    from amem.llm.offline.facts.scene import Scene
    from amem.llm.offline.facts.shapes import Shape

_TASTES = ("likes", "dislikes")
_JOINED = re.compile(r"^both | (?:as well as|along with|plus|&)(?: to)? |/", re.IGNORECASE)


def cut(shape: Shape, verb: str, match: re.Match[str], subject: Subject, scene: Scene) -> list[Fact]:
    """The facts of a match, all of them as if so and untimed (those of what was left behind with `holds` False)."""
    parts = {"verb": verb} | {name: (text or "").strip() for name, text in match.groupdict().items()}
    return _MAKERS[shape.kind.rstrip("?")](shape, parts, subject, scene)


def _intolerance(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    return [Fact(subject.name, shape.predicate, parts["verb"])]


def _simple(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    text = parts.get("o") or parts.get("x", "")
    if shape.predicate in _TASTES and text.casefold().startswith("the "):
        return []  # "I love the colours" is said of what lies on the table
    value = _value(shape.kind.rstrip("?"), text, scene)
    ends = shape.aspect is Aspect.END
    if shape.predicate == "rent" and shape.aspect is Aspect.BEGIN:
        # "The landlord raised the rent": mine; "Ana's landlord raised the rent": hers, for all one knows.
        mine = subject.owner in (None, "", WE, scene.cast.me.name)
        return [Fact(scene.cast.me.name, "rent", value)] if value and mine else []
    if shape.predicate == "school" and shape.aspect is Aspect.BEGIN and subject.first:
        return []  # "I started at Hillside School" may be a teacher's word
    if not value and not (ends and shape.kind[-1:] == "?") and shape.kind != "none":
        return []
    return [Fact(subject.name, shape.predicate, value, not ends)]


def _phrases(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """Each thing of a list without commas: "nuts as well as cats"."""
    values = [phrase_in(each) for each in _JOINED.split(parts["o"])]
    return [Fact(subject.name, shape.predicate, value) for value in values if value]


def _value(kind: str, text: str, scene: Scene) -> str:
    match kind:
        case "place":
            return place_in(text, scene.predicates, lower=scene.lower)
        case "name":
            return name_in(text, scene.predicates)
        case "person":
            return _person(text, scene)
        case "phrase":
            return phrase_in(text)
        case "diet":
            return text
        case "amount" | "school":
            return value_in(kind, text, scene)
        case "thing":
            return thing_in(text, scene)
    return ""


def _cars(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """A car that was bought or sold, by a make that the table knows ("I bought a mini fridge" names none)."""
    ends = shape.aspect is Aspect.END
    thing = thing_in(parts["x" if ends else "o"], scene)
    known = bool(thing) and thing[0].isupper() and scene.predicates.known(shape.predicate, thing)
    return [Fact(subject.name, shape.predicate, thing, not ends)] if known else []


def _known(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """What the table lists for the predicate, since the verb alone says too little ("I have asthma", "I have time")."""
    value = scene.predicates.known(shape.predicate, parts["o"])
    if shape.predicate == "drives" and value:
        value = thing_in(parts["o"], scene) or value
    return [Fact(subject.name, shape.predicate, value)] if value else []


def _person(text: str, scene: Scene) -> str:
    """A person by name; "my friend Ana" is Ana."""
    listed = text.split()
    for start in range(min(3, len(listed))):
        if listed[start][0].isupper() and (start == 0 or listed[0].casefold() in ("my", "our", "his", "her", "their")):
            return name_in(" ".join(listed[start:]), scene.predicates)
    first = listed[0].strip(".,") if listed else ""
    return first if scene.lower and is_person(first) else ""


def _moves(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """Where somebody, or somebody's office, moved to."""
    if subject.noun.endswith("office") and subject.owner:
        office = name_in(parts["o"], scene.predicates) or phrase_in(parts["o"])
        return [Fact(subject.owner, "office", office)] if office else []
    place = place_in(parts["o"], scene.predicates, lower=scene.lower)
    left = place_in(parts["x"], scene.predicates, lower=scene.lower)
    if not place or subject.person is False or (parts["x"] and not left):
        return []
    # "We moved to Notion", "I moved to GitLab": any product; a team that moved house did so to a place that is known.
    odd = any(mark.isupper() for word in place.split() for mark in word[1:])
    if not is_known_place(place) and (subject.name == WE or odd):
        return []
    found = [Fact(subject.name, "lives_in", place)]
    return [*found, Fact(subject.name, "lives_in", left, False)] if left else found


def _dates(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """What was put on a day: the deadline of something, or the day on which something takes place."""
    day = date_in(parts["o"])
    thing = parts.get("thing", "")
    listed = (thing or (subject.name if subject.owner == "" else subject.noun)).split()
    if not day or not listed or (not thing and subject.person is not False):
        return []
    due = scene.predicates.names.get(listed[-1].casefold()) == "deadline"
    about = " ".join(listed[:-1] if due else listed)
    if about and not thing and subject.owner not in ("", USER, WE):
        about = f"{subject.owner}'s {about}"  # each child has a school play of its own
    return [Fact(about or WE, "deadline" if due else "date", day)]


_MAKERS = {
    **dict.fromkeys(("place", "name", "person", "phrase", "diet", "none"), _simple),
    **dict.fromkeys(("amount", "school", "thing"), _simple),
    "phrases": _phrases,
    "car": _cars,
    "known": _known,
    "intolerance": _intolerance,
    "move": _moves,
    "employer": employers,
    "title": titles,
    "team": teams,
    "tool": tools,
    "swap": swaps,
    "version": versions,
    "date": _dates,
}
