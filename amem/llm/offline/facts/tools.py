"""What is used, and in which version."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.facts.held import TITLED, person_named
from amem.llm.offline.facts.objects import is_everyday, is_known_place, name_in, version_in
from amem.llm.offline.facts.scopes import scope_in, thing_named
from amem.llm.offline.facts.shapes import Aspect
from amem.llm.offline.facts.when import times
from amem.llm.offline.lexicon import is_person
from amem.note import Fact
from amem.text.stopwords import words
from amem.truth.subjects import USER, WE, canonical_subject

if TYPE_CHECKING:
    from amem.llm.offline.facts.people import Subject
    from amem.llm.offline.facts.scene import Scene
    from amem.llm.offline.facts.shapes import Shape

_NO_TOOL = words(
    "production staging it everything marathon errands monday tuesday wednesday thursday friday saturday sunday "
    "january february march april may june july august september october november december "
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays mornings afternoons evenings "
    "english french german italian spanish portuguese dutch russian polish greek turkish arabic hebrew hindi chinese "
    "mandarin cantonese japanese korean latin swedish danish norwegian finnish"
)
#: What has one of these roles is to somebody's taste, not in use: a theme at any time, a drink where it is a change.
TASTES = ("drink", "theme")
_HOSTS = ("cloud", "hosting")
_ALL_OF_US = words("everything site website platform product infrastructure production")
_FORBIDDEN = re.compile(
    r"(?:(?:the )?(?:use of |using ))?(?P<o>\S+(?: \S+){0,2}?) (?:is|are) (?:now |strictly |still |also )?"
    r"(?:forbidden|banned|prohibited|off[- ]limits|(?:not|no longer) (?:allowed|permitted))\b"
    r"(?: (?:for|in|with|on) (?P<scope>(?:the |our |all )?[a-z][\w-]*(?: [a-z][\w-]*){0,3})$)?.*"
    r"|(?:we|you|nobody|no one|teams?|everyone) (?:must|may|can|should) (?:not|never) "
    r"(?:use|deploy to|host (?:\w+ )?on|run (?:\w+ )?on) (?P<o2>.+)",
    re.IGNORECASE,
)
#: What is no thing of its own: a ban for them is one for us.
_MEDICAL = re.compile(r"(?:Dra?\.?|Doctor) ")
_ANYBODY = words("anyone anybody anything everyone everybody everything us all production now good work use")
_ARTICLES = words("the a an our my")


def tools(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """What is used now (group ``o``) and what no more (``x``)."""
    if shape.aspect is Aspect.BEGIN and TITLED.match(parts.get("o", "")):
        return _practitioner(parts, subject, scene)
    new, old = (tool_name(parts.get(part, ""), scene, tastes=True) for part in ("o", "x"))
    if taste := scene.predicates.role(new or old) if scene.predicates.role(new or old) in TASTES else None:
        return _tastes(shape, new, old, subject) if taste == "theme" or shape.aspect is not Aspect.STATE else []
    about = _about(parts, subject, scene)
    if shape.aspect is Aspect.END:
        # "I gave up Italian": only of us and of systems need what is dropped be no tool that the table knows.
        personal = subject.name != WE and subject.person is not False
        if not old or (personal and shape.tail.startswith(("up ", "(?P<x>")) and scene.predicates.role(old) is None):
            return []
        ended = [Fact(about, "uses", old, False)]
        return [*ended, Fact(about, "uses", new)] if new else ended
    if not new or not about or (parts.get("x") and not old):
        return []
    found = [Fact(about, "uses", new)]
    return [*found, Fact(about, "uses", old, False)] if old else found


def _practitioner(parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """ "I switched to Dr. Haddad": a person is not used; whoever is called a doctor is one, unless a role is named."""
    name = person_named(parts["o"], scene)
    thing = parts.get("thing", "").split()
    role = scene.predicates.names.get(thing[-1].casefold(), "") if thing else "doctor" if _MEDICAL.match(name) else ""
    row = scene.predicates.rows.get(role)
    if not name or row is None or row.value != "person" or not subject.person:
        return []
    return [Fact(USER if subject.name == WE else subject.name, role, name)]


def _tastes(shape: Shape, new: str, old: str, subject: Subject) -> list[Fact]:
    """A theme or a drink that is chosen is preferred, and is the subject's own."""
    name = USER if subject.name == WE else subject.name
    given_up = [Fact(name, "prefers", old, False)] if old else []
    return [*given_up, Fact(name, "prefers", new)] if new else given_up


def forbidden(text: str, scene: Scene) -> list[Fact]:
    """What "GCP is forbidden" says that we must not use; of tools by name alone."""
    found = _FORBIDDEN.fullmatch(text)
    name = tool_name((found["o"] or found["o2"]), scene) if found else ""
    if not name or scene.predicates.role(name) is None:
        return []
    # "AWS is forbidden for customer data": of the data, not of all that we do.
    scope = found["scope"] if found else None
    if not scope or times(scope, scene.said).named or scope.split()[-1].casefold() in _ANYBODY:
        return [Fact(WE, "forbids", name)]
    about = canonical_subject(scope) if scope.casefold().endswith(" data") else thing_named(scope, scene)
    return [Fact(about or WE, "forbids", name)]


def swaps(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """Of "PostgreSQL was replaced by MySQL" and "MySQL replaced PostgreSQL": what we use in the one's place."""
    other = tool_name(parts.get("new") or parts.get("x", ""), scene)
    if not other or subject.first or subject.name == WE or scene.predicates.role(subject.name) is None:
        return []
    new, old = (other, subject.name) if parts.get("new") else (subject.name, other)
    return [Fact(WE, "uses", new), Fact(WE, "uses", old, False)]


def versions(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """The version that a thing is at; whoever upgrades what has a role uses the new one in it."""
    version = version_in(parts["o"])
    if not version:
        return []
    if shape.aspect is Aspect.STATE:
        return [Fact(subject.name, "version", version)] if subject.person is not True else []
    thing = name_in(parts["thing"], scene.predicates, lower=True)
    if not thing or thing.casefold() != parts["thing"].casefold():
        return []
    found = [Fact(thing, "version", version)]
    if old := version_in(parts.get("x", "")):
        found.append(Fact(thing, "version", old, False))
    if scene.predicates.role(thing) is not None and subject.person:
        found.append(Fact(subject.name, "uses", f"{thing} {version}"))
    return found


def tool_name(text: str, scene: Scene, *, tastes: bool = False) -> str:
    """The name that `text` begins with, if it may be a tool's; with `tastes` a theme or a drink counts."""
    listed = text.split()
    if listed and listed[0].casefold() in _ARTICLES:
        listed.pop(0)
    name = name_in(" ".join(listed), scene.predicates, lower=scene.lower)
    if not any(mark.isalpha() for mark in name) or name.split()[0].casefold() in _NO_TOOL:
        return ""
    role, first = scene.predicates.role(name), name.split()[0]
    if role is None and (is_known_place(name) or is_person(first) or (scene.lower and is_everyday(first))):
        return ""
    return "" if role in TASTES and not tastes else name


def _about(parts: dict[str, str], subject: Subject, scene: Scene) -> str:
    """What it is that uses the tool: the thing moved, else where it is used, else the subject; '' where nothing tells.

    "We moved the buoy catalogue to MySQL" is about the catalogue, "we use SQLite in the mobile app" about the app.
    """
    if role := parts.get("role"):
        # "Moved CI from Jenkins": without an article only what has a role is a thing.
        return subject.name if role.casefold().replace(" ", "_") in scene.predicates.role_names else ""
    if subject.noun in _ALL_OF_US and subject.owner == "" and scene.predicates.role(parts.get("o", "")) in _HOSTS:
        return WE  # what "the site" runs on is what we host on
    if parts.get("thing"):
        return thing_named(parts["thing"], scene) or subject.name
    if not subject.first and subject.name != WE:
        return subject.name
    for text in (parts.get("o", ""), parts.get("x", "")):
        if thing := scope_in(text, scene):
            return thing
    return scene.about or subject.name
