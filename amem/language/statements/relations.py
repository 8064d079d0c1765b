"""What "is" states, and facts of work, tools and allergies."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.language.lexicon import is_everyday, is_person
from amem.language.predicates import USER, WE, Predicate, canonical_subject
from amem.language.scripts import Patterns, word_list, words
from amem.language.statements import objects
from amem.language.statements.clauses import Subject
from amem.language.statements.tense import TASTES, Aspect, Scene, Shape, times
from amem.note import Fact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_pattern = Patterns("statements/relations")


# What is used, and in which version.

_NO_TOOL = word_list("no tool")
_HOSTS = ("cloud", "hosting")
_ALL_OF_US = words("everything site website platform product infrastructure production service services")
_ANYBODY = words("anyone anybody anything everyone everybody everything us all production now good work use")
_ARTICLES = words("the a an our my")


def tools(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """What is used now (group ``o``) and what no more (``x``)."""
    if shape.aspect is Aspect.BEGIN and objects.TITLED.match(parts.get("o", "")):
        return _practitioner(parts, subject, scene)
    if shape.aspect is Aspect.STATE and (rather := _pattern.rather.match(parts.get("o", ""))):
        parts = parts | {"o": rather["o"], "x": rather["x"]}
    new, old = (tool_name(parts.get(part, ""), scene, tastes=True) for part in ("o", "x"))
    unsaid = bool(new) and not old and not scene.predicates.is_technology(new)
    if unsaid and shape.aspect is Aspect.BEGIN and parts["verb"].startswith("mov") and not parts.get("thing"):
        return []  # "I moved to Marketing", "moved to Wiedikon"
    for_a_time = shape.aspect is Aspect.END and _pattern.for_a_time.search(
        f"{parts.get('x', '')} for {parts.get('o', '')}"
    )
    if for_a_time or scene.predicates.known("takes_medication", new or old):
        return []
    if taste := scene.predicates.role(new or old) if scene.predicates.role(new or old) in TASTES else None:
        return _tastes(shape, new, old, subject) if taste == "theme" or shape.aspect is not Aspect.STATE else []
    about = _about(parts, subject, scene)
    if shape.aspect is Aspect.END:
        # "I gave up Italian": only of us and of systems need what is dropped be no tool that the table knows.
        personal = subject.name != WE and subject.person is not False
        if not old or (
            personal and shape.tail.startswith(("up ", "(?P<x>")) and not scene.predicates.is_technology(old)
        ):
            return []
        ended = [Fact(about, "uses", old, False)]
        return [*ended, Fact(about, "uses", new)] if new else ended
    if not new or not about or (parts.get("x") and not old):
        return []
    if (role := scene.predicates.role(new)) is not None and role == scene.predicates.role(about):
        return []  # "SQLite kept locking, so it runs on Postgres now": what "it" is was said before
    found = [Fact(about, "uses", new)]
    return [*found, Fact(about, "uses", old, False)] if old else found


def moved(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """As `tools`, where only the object says that it is one: "we moved Heron to PostgreSQL", "Heron is on AWS"."""
    new, old = (tool_name(parts.get(part, ""), scene) for part in ("o", "x"))
    known = any(name and scene.predicates.is_technology(name) for name in (new, old))
    thing = parts.get("thing", "")
    if not known or (thing and (is_person(thing.split()[0]) or scene.predicates.is_technology(thing))):
        return []
    return tools(shape, parts, subject, scene)


def _practitioner(parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """ "I switched to Dr. Haddad": a person is not used; whoever is called a doctor is one, unless a role is named."""
    name = objects.person_named(parts["o"], scene)
    thing = parts.get("thing", "").split()
    role = (
        scene.predicates.names.get(thing[-1].casefold(), "")
        if thing
        else "doctor"
        if _pattern.medical.match(name)
        else ""
    )
    if not name or scene.predicates.row(role).value != "person" or not subject.person:
        return []
    return [Fact(USER if subject.name == WE else subject.name, role, name)]


def _tastes(shape: Shape, new: str, old: str, subject: Subject) -> list[Fact]:
    """A theme or a drink that is chosen is preferred, and is the subject's own."""
    name = USER if subject.name == WE else subject.name
    lost = ("prefers", "likes") if shape.aspect is Aspect.END else ("prefers",)
    given_up = [Fact(name, each, old, False) for each in lost] if old else []
    return [*given_up, Fact(name, "prefers", new)] if new else given_up


def forbidden(text: str, scene: Scene) -> list[Fact]:
    """What "GCP is forbidden" says that we must not use; of tools by name alone."""
    found = _pattern.forbidden.fullmatch(text)
    name = tool_name((found["o"] or found["o2"]), scene) if found else ""
    if not name or scene.predicates.role(name) is None:
        return []
    # "AWS is forbidden for customer data": of the data, not of all that we do.
    scope = found["scope"] if found else None
    if not scope or times(scope, scene.said).named or scope.split()[-1].casefold() in _ANYBODY:
        return [Fact(WE, "forbids", name)]
    about = canonical_subject(scope) if scope.casefold().endswith(" data") else objects.thing_named(scope, scene)
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
    version = objects.version_in(parts["o"])
    if not version:
        return []
    if shape.aspect is Aspect.STATE:
        return [Fact(subject.name, "version", version)] if subject.person is not True else []
    thing = objects.name_in(parts["thing"], scene.predicates, lower=True)
    if not thing or thing.casefold() != parts["thing"].casefold():
        return []
    found = [Fact(thing, "version", version)]
    if old := objects.version_in(parts.get("x", "")):
        found.append(Fact(thing, "version", old, False))
    if scene.predicates.role(thing) is not None and subject.person:
        found.append(Fact(subject.name, "uses", f"{thing} {version}"))
    return found


def tool_name(text: str, scene: Scene, *, tastes: bool = False) -> str:
    """The name that `text` begins with, if it may be a tool's; with `tastes` a theme or a drink counts."""
    listed = text.split()
    if listed and listed[0].casefold() in _ARTICLES:
        listed.pop(0)
    name = objects.name_in(" ".join(listed), scene.predicates, lower=scene.lower)
    no_tool = _pattern.on_a_street.search(name) or objects.school_in(name)
    if not any(mark.isalpha() for mark in name) or name.split()[0].casefold() in _NO_TOOL or no_tool:
        return ""
    role, first = scene.predicates.role(name), name.split()[0]
    if role is None and (objects.is_known_place(name) or is_person(first) or (scene.lower and is_everyday(first))):
        return ""
    return "" if role in TASTES and not tastes else name


def _about(parts: dict[str, str], subject: Subject, scene: Scene) -> str:
    """What it is that uses the tool: the thing moved, else where it is used, else the subject; '' where nothing tells.

    "We moved the buoy catalogue to MySQL" is about the catalogue, "we use SQLite in the mobile app" about the app.
    """
    whole = parts["thing"].split()[1:] if parts.get("thing") else [subject.noun] if subject.owner == "" else []
    if len(whole) == 1 and whole[0].casefold() in _ALL_OF_US and scene.predicates.role(parts.get("o", "")) in _HOSTS:
        return WE  # what "the site" runs on is what we host on
    if parts.get("thing"):
        return objects.thing_named(parts["thing"], scene) or subject.name
    if subject.owner == "" and subject.noun in objects.OURS:
        return WE
    if not subject.first and subject.name != WE:
        return subject.name
    for text in (parts.get("o", ""), parts.get("x", "")):
        if thing := objects.scope_in(text, scene, named=bool(parts.get("x"))):
            return thing
    return scene.about or subject.name


# What "is" states: "Ana's manager is Priya", "MySQL is our database", "the deadline is 3 May", "I'm vegan".


def relation(subject: Subject, rest: str, scene: Scene) -> list[Fact]:
    """The fact of a clause "subject is rest"; [] where it states none that the table has a predicate for."""
    if subject.former:
        return []
    if diet := _pattern.diet.match(rest) if subject.person else None:
        return [Fact(subject.name, "diet", diet["o"])]
    if (age := _pattern.age.fullmatch(rest.strip())) and subject.person and not subject.many and subject.name != WE:
        return [Fact(subject.name, "age", age["o"])]
    owner, noun = _whose(subject, scene)
    if owner and noun and (noun == "place" or scene.predicates.names.get(noun) == "lives_in"):
        home = Subject(scene.cast.me.name if owner == WE else owner, True)
        if found := _address(re.sub("^(?:now )?(?:in|at) ", "", rest), home, scene, sure=False):
            return found  # "our new place is at 12 Rose Lane"
    if noun and owner is not None and (found := _of_noun(owner, noun, rest, scene)):
        return found
    if (
        (of := _pattern.of.fullmatch(rest))
        and subject.noun == ""
        and (other := scene.cast.of(f"{of['noun']}{of['where'] or ''}".split()))
        and other.noun
        and other.owner
        and not other.former
    ):
        return _of_noun(other.owner, other.noun, subject.name, scene)
    return []


def changed(subject: Subject, clause: str, scene: Scene) -> list[Fact]:
    """The facts of a clause that says what somebody's rent, address or landlord changed to."""
    owner, noun = _whose(subject, scene)
    match = _pattern.changed.match(clause) if noun and owner is not None and not subject.former else None
    if match is None or owner is None or (subject.person and clause.startswith("moved")):
        return []  # "my wife moved to Hull"
    return _of_noun(owner, noun, match["o"], scene)


def apposed(text: str, goes_on: str, scene: Scene) -> list[Fact]:
    """What "our landlord Amélia brought mint" and "my dentist Dr. Sá" say by the way; `goes_on` is behind an "and"."""
    found = []
    for match in (
        _roles_of_people(scene.predicates.persons).finditer(text)
        if not _pattern.gone.search(f"{text} {goes_on}")
        else ()
    ):
        owner = {"my": scene.cast.me.name, "our": WE}.get(match["whose"].casefold(), match["whose"][:-2])
        name = objects.person_named(match["o"], scene)
        who = scene.cast.of(name.split())
        # "My accountant Google sheet": a name that is none of a person's stands before a verb, if alone.
        sure = " " in name or (who is not None and who.person) or _pattern.after_name.match(match["o"][len(name) :])
        if name and (objects.TITLED.match(match["o"]) or (who is not None and who.person is not False and sure)):
            found += _of_noun(owner, match["noun"].casefold(), name, scene)
    return found


def _whose(subject: Subject, scene: Scene) -> tuple[str | None, str]:
    """Whose what it is: "the landlord of Ana" is Ana's, "the rent" and "the landlord" of nobody else the speaker's."""
    of = _pattern.of_something.fullmatch(subject.noun) if subject.owner == "" else None
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
        played = scene.predicates.role(objects.thing_in(value, scene)) or ""
        if "_" in played and played.rpartition("_")[2] == name:
            role = played  # "Tern's queue is NATS", which is known to be a message queue
        if role in scene.predicates.role_names and (owner or start == 0):
            thing = objects.thing_in(value, scene)
            if thing and scene.predicates.role(thing) in (role, None) and not objects.is_known_place(thing):
                return [Fact(owner or WE, "uses", thing)] if any(map(str.isalpha, thing)) else []
        if name.startswith(("favourite ", "favorite ")):
            thing = objects.phrase_in(value)
            return [Fact(owner, "prefers", thing)] if thing and owner else []
        predicate = scene.predicates.names.get(name)
        if predicate is not None:
            return _with(scene.predicates.rows[predicate], owner, listed[:start], value, scene)
    return []


def _with(row: Predicate, owner: str, before: Sequence[str], value: str, scene: Scene) -> list[Fact]:
    if row.value in ("date", "time", "version") and not (row.name == "birthday" and not (owner and not before)):
        # "The release deadline" is that of the release; nobody's deadline is ours.
        named = f"{owner}'s " if before and owner not in ("", USER, WE) else ""
        subject = named + " ".join(before) or owner or WE
        match = _pattern.at_date.match(value)
        said = match["o"] if match else value
        found = objects.version_in(value) if row.value == "version" else objects.when_in(said)[row.value == "time"]
    elif (row.personal and owner in ("", WE)) or (owner == WE and row.hangs_on == "works_at"):
        # "The rent is 950 euros", "our landlord": whoever lives there says so.
        subject, found = scene.cast.me.name, "" if before else objects.value_in(row.value, value, scene)
    else:
        subject = owner
        found = objects.value_in(row.value, value, scene) if owner and not before else ""
    if row.value == "name" and _pattern.on_a_street.search(found):
        return []  # "the gym moved to Mill Street"
    if row.name == "birthday" and found.casefold().endswith("day"):
        return []  # "Leo's birthday is on Saturday", this year
    return [Fact(subject, row.name, found)] if found else []


@lru_cache(maxsize=8)
def _roles_of_people(nouns: tuple[str, ...]) -> re.Pattern[str]:
    listed = "|".join(re.escape(noun) for noun in nouns if noun.isascii())
    return re.compile(
        rf"\b(?P<whose>[Mm]y|[Oo]ur|[A-Z][\w-]+['’]s) (?:(?:new|current|own) )?(?P<noun>(?i:{listed})),? (?P<o>[A-Z].*)"
    )


# From a shape that matched to facts: the object cut out of it and judged by what its predicate takes.

_TASTES = ("likes", "dislikes")


def cut(shape: Shape, verb: str, match: re.Match[str], subject: Subject, scene: Scene) -> list[Fact]:
    """The facts of a match, all of them as if so and untimed (those of what was left behind with `holds` False)."""
    parts = {"verb": verb} | {name: (text or "").strip() for name, text in match.groupdict().items()}
    return _MAKERS[shape.kind.rstrip("?")](shape, parts, subject, scene)


def _simple(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    text = parts.get("o") or parts.get("x", "")
    if shape.predicate in _TASTES and text.casefold().startswith("the "):
        return []  # "I love the colours" is said of what lies on the table
    value = _VALUES[shape.kind.rstrip("?")](text, scene)
    if shape.predicate in _TASTES and value and _pattern.not_all.match(text.partition(value)[2]):
        return []  # "I hate films with sad endings"
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


def _age(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """How old somebody turned."""
    found = (
        None if subject.person is False or subject.many or subject.name == WE else _pattern.age.fullmatch(parts["o"])
    )
    return [Fact(subject.name, "age", found["o"])] if found else []


def _phrases(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """Each thing of a list without commas: "nuts as well as cats"."""
    values = [objects.phrase_in(each) for each in _pattern.joined.split(parts["o"])]
    return [Fact(subject.name, shape.predicate, value) for value in values if value]


#: How the value of a simple shape is cut out, by its kind.
_VALUES: dict[str, Callable[[str, Scene], str]] = {
    "place": lambda text, scene: objects.place_in(text, scene.predicates, lower=scene.lower),
    "name": lambda text, scene: objects.name_in(text, scene.predicates),
    "person": lambda text, scene: _person(text, scene),
    "phrase": lambda text, scene: objects.phrase_in(text),
    "diet": lambda text, scene: text,
    "thing": objects.thing_in,
    "amount": lambda text, scene: objects.value_in("amount", text, scene),
    "school": lambda text, scene: objects.school_in(text),
    "none": lambda text, scene: "",
}


def _owned(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """A car or phone bought or sold, by a make that the table knows ("a mini fridge", "a Tesla charger" name none)."""
    ends = shape.aspect is Aspect.END
    text = parts["x" if ends else "o"]
    thing = objects.thing_in(text, scene)
    if (
        not thing
        or not thing[0].isupper()
        or _pattern.for_others.search(text)
        or _pattern.not_had.match(text)
        or not _pattern.itself.match(text.partition(thing)[2])
    ):
        return []
    if scene.predicates.known("drives", thing):
        return [Fact(subject.name, "drives", thing, not ends)]
    return [Fact(subject.name, "uses", thing, not ends)] if scene.predicates.role(thing) == "phone" else []


def _known(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """What the table lists for the predicate, since the verb alone says too little ("I have asthma", "I have time")."""
    dose = _pattern.dose.match(parts["o"])
    if dose and _pattern.until.search(parts["o"]):
        return []  # "I took 20 mg of citalopram until May": a dose that ended, not the medicine
    value = scene.predicates.known(shape.predicate, parts["o"][dose.end() if dose else 0 :])
    if value and _pattern.about_it.match(parts["o"].partition(value)[2]):
        return []  # "I have asthma checks on Friday"
    found = Fact(subject.name, shape.predicate, value, shape.aspect is not Aspect.END)
    if value and shape.predicate == "takes_medication":
        scene.medicine = found
        rather = _pattern.rather_than.search(parts["o"])
        before = scene.predicates.known(shape.predicate, rather["x"]) if rather else ""
        return [found, *([Fact(subject.name, shape.predicate, before, False)] if before not in ("", value) else [])]
    return [found] if value else []


def _medicines(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """What somebody takes from now on, and what in its place no more; "instead" alone ends the only other medicine."""
    new, old = (scene.predicates.known(shape.predicate, parts.get(part, "")) for part in ("o", "x"))
    if not new or (parts.get("x") and not old):
        return []
    before = scene.medicine
    in_its_place = _pattern.in_its_place.search(parts["o"]) or parts["verb"].startswith(("switch", "chang"))
    found = [Fact(subject.name, shape.predicate, new)]
    if not old and in_its_place:
        known = before is not None and before.subject == subject.name
        old = before.object if before is not None and known else ""
    elif not old:
        return found
    scene.medicine = found[0]
    return found if old == new else [*found, Fact(subject.name, shape.predicate, old, False)]


def _habits(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """What somebody gave up, or does no longer take, where the table knows it as a habit: coffee, sugar, cigarettes."""
    if shape.kind == "smoking":
        habit = "" if parts["o"] and not _pattern.at_all.fullmatch(parts["o"]) else "smoking"
    else:
        said = _pattern.at_all.sub("", parts["o"])
        thing = objects.phrase_in(said)
        whole = shape.aspect is Aspect.END or len(thing.split()) == len(said.split())
        habit = thing if whole and scene.predicates.known(shape.predicate, thing) == thing else ""
        habit = "" if _pattern.for_a_time.search(said) else habit
    return [Fact(subject.name, shape.predicate, habit, shape.aspect is not Aspect.END)] if habit else []


def _foods(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """What somebody does not eat, or eats again: a food that nothing else is said of ("does not eat in the car")."""
    said = _pattern.at_all.sub("", parts["o"])
    thing = objects.phrase_in(said, 3)
    last = thing.casefold().split()[-1:]
    food = _FOODS.issuperset(last) if shape.kind == "food" else _NO_FOODS.isdisjoint(thing.casefold().split())
    whole = bool(last) and len(thing.split()) == len(said.split())
    return [Fact(subject.name, shape.predicate, thing, shape.kind != "again")] if whole and food else []


_FOODS, _NO_FOODS = word_list("foods"), word_list("no foods")


def _leases(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """What is rented to live in, or will be from a day on; nothing for a holiday."""
    place = (
        "" if _pattern.stay.search(parts["o"]) else objects.place_in(parts["o"], scene.predicates, lower=scene.lower)
    )
    if not place:
        return []
    street = shape.predicate == "lives_in" and _pattern.on_a_street.search(place)
    return [Fact(subject.name, "address" if street else shape.predicate, place)]


def _person(text: str, scene: Scene) -> str:
    """A person by name; "my friend Ana" is Ana."""
    listed = text.split()
    for start in range(min(3, len(listed))):
        if listed[start][0].isupper() and (start == 0 or listed[0].casefold() in ("my", "our", "his", "her", "their")):
            return objects.name_in(" ".join(listed[start:]), scene.predicates)
    return ""


def _homes(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """Where somebody lives: the street with its number, the town, or both."""
    said = _pattern.in_a_flat.sub("", parts["o"])
    if found := _address(said, subject, scene, sure=shape.aspect is Aspect.STATE):
        return found
    # "Moved into a new flat in Graz", "moved into our Graz flat"; "moved into management" names no place.
    home = _pattern.home_of.match(said)
    said = home["place"] if home else said
    place = objects.place_in(said, scene.predicates, lower=scene.lower)
    if shape.kind == "street" and not (home or objects.DWELLING.match(said)):
        return []
    road = _pattern.on_a_street.search(place)
    if not place or (shape.kind == "road" and not road):
        return []
    return [Fact(subject.name, "address" if road else "lives_in", place)]


def _address(text: str, subject: Subject, scene: Scene, *, sure: bool) -> list[Fact]:
    street, town = objects.street_in(text, scene.predicates, sure=sure)
    if not street or subject.person is False:
        return []
    whole = f"{street}, {town}" if town else street
    return [Fact(subject.name, "address", whole), *([Fact(subject.name, "lives_in", town)] if town else [])]


def _moves(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """Where somebody, or somebody's office, moved to."""
    if subject.noun.endswith("office") and subject.owner:
        office = objects.name_in(parts["o"], scene.predicates) or objects.phrase_in(parts["o"])
        return [Fact(subject.owner, "office", office)] if office else []
    if found := _address(parts["o"], subject, scene, sure=False):
        return found
    if school := objects.school_in(parts["o"]):
        # A teacher may move to one as well.
        pupil = subject.person is not False and not subject.first and subject.name != WE and " as " not in parts["o"]
        return [Fact(subject.name, "school", school)] if pupil else []
    place = objects.place_in(parts["o"], scene.predicates, lower=scene.lower)
    left = objects.place_in(parts["x"], scene.predicates, lower=scene.lower)
    if not place or subject.person is False or (parts["x"] and not left):
        return []
    if firm := objects.firm_in(parts["o"], scene.predicates):
        # "Moved to Barclays, the team is nice": of a bank only such words tell that it is not where the account is.
        job = subject.name != WE and (scene.working or not scene.predicates.known("bank", firm))
        return [Fact(subject.name, "works_at", firm)] if job and not scene.dwelling else []
    if scene.working and not scene.dwelling and not objects.is_known_place(place):
        return []
    if _pattern.within.search(parts["o"]) or (is_everyday(place) and not objects.is_known_place(place)):
        return []  # "the Berlin team", "Marketing"
    if _pattern.on_a_street.search(place) and not left:
        return [Fact(subject.name, "address", place)]  # "we moved to Quarry Road"
    if left and not (objects.is_known_place(place) or objects.is_known_place(left)):
        return []  # "Maria moved from Google to Meta"
    # "We moved to Notion", "I moved to GitLab": any product; a team that moved house did so to a place that is known.
    odd = any(mark.isupper() for word in place.split() for mark in word[1:])
    product = scene.predicates.role(place) is not None
    if not objects.is_known_place(place) and (product or odd or (subject.name == WE and not scene.dwelling)):
        return []
    found = [Fact(subject.name, "lives_in", place)]
    return [*found, Fact(subject.name, "lives_in", left, False)] if left else found


def _dates(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """What was put on a day: the deadline of something, or the day on which something takes place."""
    day, clock = objects.when_in(parts["o"])
    thing = parts.get("thing", "")
    listed = (thing or (subject.name if subject.owner == "" else subject.noun)).split()
    if not (day or clock) or not listed or (not thing and subject.person is not False):
        return []
    due = scene.predicates.names.get(listed[-1].casefold()) == "deadline" or shape.kind == "due"
    if due and shape.kind != "due":
        listed.pop()
    about = " ".join(listed)
    if about and not thing and subject.owner not in ("", USER, WE):
        about = f"{subject.owner}'s {about}"  # each child has a school play of its own
    found = [Fact(about or WE, "deadline" if due else "date", day)] if day else []
    return [*found, Fact(about or WE, "time", clock)] if clock else found


def _releases(shape: Shape, parts: dict[str, str], subject: Subject, scene: Scene) -> list[Fact]:
    """On which day something is released or launched: "we ship on 15 June", "Heron launches on 3 May"."""
    day = objects.date_in(parts["o"])
    noun = "launch" if parts["verb"].startswith(("launch", "go", "went")) else "release"
    thing = objects.thing_named(parts.get("thing") or ("" if subject.person else subject.name), scene)
    return [Fact(f"{thing} {noun}".strip(), "date", day)] if day else []


_MAKERS: dict[str, Callable[[Shape, dict[str, str], Subject, Scene], list[Fact]]] = {
    **dict.fromkeys(_VALUES, _simple),
    "phrases": _phrases,
    "age": _age,
    "owned": _owned,
    "known": _known,
    "intolerance": lambda shape, parts, subject, scene: [Fact(subject.name, shape.predicate, parts["verb"])],
    "medicine": _medicines,
    "habit": _habits,
    "smoking": _habits,
    "practice": _known,
    "lease": _leases,
    "child": lambda shape, parts, subject, scene: [
        Fact(subject.name, "child", (parts.get("name") or parts["o"]).strip(".,;"))
    ],
    "move": _moves,
    "employer": objects.employers,
    "title": objects.titles,
    "team": objects.teams,
    "tool": tools,
    "moved": moved,
    "home": _homes,
    "street": _homes,
    "road": _homes,
    **dict.fromkeys(("avoided", "again", "food"), _foods),
    "due": _dates,
    "release": _releases,
    "swap": swaps,
    "version": versions,
    "date": _dates,
}
