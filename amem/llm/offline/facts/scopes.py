"""What a statement about tools is limited to: "in the mobile app", "for our billing service", "on my laptop"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.facts.objects import phrase_in
from amem.text.stopwords import words
from amem.truth.subjects import WE, canonical_subject

if TYPE_CHECKING:
    from amem.llm.offline.facts.scene import Scene

#: What is no thing of its own: it is all of ours.
_OURS = words(
    "data database everything stack setup infrastructure code codebase tracker deployment deployments tickets "
    "issues all them it projects teams work job office cloud production organisation organization business"
)
#: What stands behind "in the" without being a thing that uses anything.
_NO_THINGS = words(
    "moment time times future past end beginning meantime morning mornings afternoon evening evenings night week weeks "
    "weekend weekends month months year years day days first second last same whole rest side road go fly way other "
    "sake purpose reason record most spring summer autumn fall winter quarter sprint long short meeting meetings"
)
_ENVIRONMENTS = "staging|development|dev|testing|tests|test|local development"
_SCOPE = (
    r"(?:in|for|on|of|from|inside|within|across) "
    rf"(?:(?P<whose>the|our|my|this|that) (?P<noun>[\w-]+(?: [\w-]+){{0,4}})|(?P<stage>{_ENVIRONMENTS})\b)"
)
_INSIDE = re.compile(rf"(?<![\w-]){_SCOPE}", re.IGNORECASE)
_ALONE = re.compile(_SCOPE + r"(?P<rest>)", re.IGNORECASE)
_LEADING = re.compile(rf"{_SCOPE.replace('{0,4}', '{0,4}?')} (?P<rest>(?:we|i)\b.+)", re.IGNORECASE)
_WHOLE = re.compile(r"^(?:(?:the|our|my|all|whole|entire|old|its)\s+)+", re.IGNORECASE)


def scope_in(text: str, scene: Scene) -> str:
    """The thing to which what follows a tool's name limits it; '' where that is all of ours."""
    return next((thing for found in _INSIDE.finditer(text) if (thing := _thing(found, scene))), "")


def scope_alone(text: str, scene: Scene) -> str:
    """The thing that a clause without a verb names ("in the mobile app"); '' for any other clause."""
    found = _ALONE.fullmatch(text)
    return "" if found is None else _thing(found, scene)


def led_by_scope(text: str, scene: Scene) -> tuple[str, str]:
    """A clause without the "in the mobile app" before its "we", and the thing named there."""
    found = _LEADING.fullmatch(text)
    return (text, "") if found is None else (found["rest"], _thing(found, scene))


def thing_named(text: str, scene: Scene) -> str:
    """The thing that "the buoy catalogue" or "clinic scheduler" is; '' where it is all of ours ("our database")."""
    noun = _WHOLE.sub("", text.strip())
    last = noun.split()[-1].casefold() if noun else ""
    if not noun or last in _OURS or noun.casefold().replace(" ", "_") in scene.predicates.role_names:
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
