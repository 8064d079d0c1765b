"""The facts that English sentences state, clause by clause."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from amem.language.lexicon import is_person, lexicon, stem
from amem.language.predicates import USER, WE
from amem.language.scripts import Patterns, read_list, word_list, words
from amem.language.statements import objects
from amem.language.statements.clauses import Clause, Sentence, Subject
from amem.language.statements.relations import apposed, changed, cut, forbidden, relation, tool_name
from amem.language.statements.tense import (
    DATED,
    MONTH,
    Aspect,
    Form,
    Group,
    Tense,
    announced_for,
    english,
    instead,
    since_when,
    times,
    told,
)
from amem.note import Fact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.language.statements.tense import Scene

_pattern = Patterns("statements/english")


# What may stand before an English statement and is no part of it: "By the way, last month ...", "I'm" for "I am".

_SHORT = [
    (re.compile(pattern, re.IGNORECASE), f" {full}" if pattern[0] in "'n" else full)
    for pattern, _, full in (line.partition("  ") for _, line in read_list("short_forms.txt"))
]


def expanded(text: str) -> str:
    """The clause with its short forms written out."""
    if "'" in text or "’" in text or "can" in text or "got" in text:
        text = text.replace("’", "'")
        for pattern, full in _SHORT:
            text = pattern.sub(full, text)
    return text


def without_lead(text: str) -> tuple[str, str]:
    """The clause without what leads into it, and that."""
    lead = _pattern.lead.match(text)
    return (text, "") if lead is None else (text[lead.end() :], lead[0])


# Who or what takes whose place: "Pieter is leaving, Fatima takes over", "Bought a Fairphone 5 to replace the Pixel 6".
# What place that is, such a sentence often leaves to other notes: see ``amem.writing.fields``.


def takeover(plain: str, scene: Scene, text: str) -> list[Fact]:
    """The facts of an English clause in which somebody takes another's place; notes in the scene who is leaving."""
    if leaves := _pattern.leaves.fullmatch(plain):
        scene.leaving = leaves["x"]
        return []
    found = _pattern.takes_over.fullmatch(plain)
    if found is None:
        return []
    named = found["x"] or found["x2"] or ""
    gone = scene.leaving if named in ("", "him", "her", "them") else named
    new = objects.person_named(found["y"], scene)
    since = since_when(plain, text, scene)
    facts = [Fact(gone, "succeeded_by", new, True, since)] if gone and new and gone != new else []
    if found["noun"] and new and found["whose"] in ("my", "our"):
        row = scene.predicates.row(scene.predicates.names.get(found["noun"].casefold(), ""))
        if row.value == "person":
            facts = [*facts, Fact(scene.cast.me.name, row.name, new, True, since)]
    return facts


def replacement(plain: str, scene: Scene, text: str) -> list[Fact]:
    """The facts of an English clause in which the speaker replaces one thing by another."""
    found = _pattern.replaced.fullmatch(plain)
    if found is None:
        return []
    if objects.scope_in(plain, scene, named=True):
        return []  # "swapped RabbitMQ for NATS in Tern": in use there alone
    gone, new = (next((found[f"{part}{at}"] for at in ("", 2, 3, 4) if found[f"{part}{at}"]), "") for part in "xy")
    return instead(_thing(gone, scene), _thing(new, scene), text, scene)


def _thing(text: str, scene: Scene) -> str:
    """The proper name of a thing; '' for what may be a person, a place or a day."""
    name = objects.thing_in(text, scene)
    if not name or name[0].islower() or objects.date_in(name) or objects.is_known_place(name):
        return ""
    return "" if is_person(name.split()[0]) else name


# The facts that English sentences state, clause by clause: a subject, its verb with tense and negation, the rest.

#: A subject has at most so many words before its verb.
_FURTHEST = 6
#: Clauses that begin so tell of another time or thing.
_SUBORDINATE = words("when whenever before after once while as until till which who where whereas")
_GOES_ON = words("and then but so now")
#: Of these a list may follow: "allergic to nuts, eggs and milk".
_LISTED = words("likes dislikes allergic_to intolerant_to cannot_eat takes_medication has_condition uses")
_NOT_LISTED = words("i we he she it they you not no too so but more less very then also maybe my your")
_ALLERGIES = words("allergic_to intolerant_to")
_ADVERBS = word_list("adverbs")
_OPENERS = word_list("verb openers")
_OPENERS_LATER = words("no might went wound")
_DETERMINERS = words("the my our his her their a an this at")
_NO_VERBS = words("a an the at on in head off")
_CARERS = word_list("carers")


def facts_of_sentence(sentence: Sentence, scene: Scene) -> list[Fact]:
    """What an English sentence states."""
    scene.begin_sentence()
    found: list[Fact] = []
    listing: Fact | None = None
    address: Fact | None = None
    for at, clause in enumerate(sentence.clauses):
        joint, known = clause.opener.rpartition(" ")[2].strip(",;:()"), len(found)
        scene.opening = at == 0
        told_of = scene.cast.named_last(sentence.clauses[at - 1], clause.opener) if joint == "who" and at else None
        if told_of is not None:
            scene.subject = scene.cast.meet(told_of)  # "lunch with Rob, who has just moved to Wiedikon"
        elif joint in _SUBORDINATE:
            scene.cast.hear(clause.text)
            scene.others = scene.cast.others_in(clause.text) or scene.others
            continue
        if (
            address is not None
            and clause.opener.strip() == ","
            and (town := objects.town_in(clause.text, scene.predicates))
        ):
            longer = replace(address, object=f"{address.object}, {clause.text}")
            found[found.index(address)], address = longer, longer
            lives = address.subject == scene.cast.me.name or is_person(address.subject.split()[0])
            if found[-1] == longer and lives:
                found.append(replace(longer, predicate="lives_in", object=town))
            continue
        nearby = (clause, *sentence.clauses[at + 1 : at + 2])
        scene.about = next((thing for each in nearby if (thing := objects.scope_alone(each.text, scene))), scene.about)
        again = (
            _pattern.again_to.match(clause.text) if listing is not None and listing.predicate in _ALLERGIES else None
        )
        if listing is not None and again:
            thing = objects.phrase_in(clause.text[again.end() :])
            found += [replace(listing, object=thing)] if thing else []
        elif listing is not None and _continues_list(sentence.clauses, at):
            found += _one_more(listing, clause.text, scene)
        else:
            follows = told_of is not None or (
                at > 0 and (joint in _GOES_ON or (not joint and not clause.text.startswith("like")))
            )
            stated = _facts_of_both(sentence.clauses, at, scene) or _facts_of(clause.text, scene, follows=follows)
            joined = next((each.text for each in sentence.clauses[at + 1 : at + 2] if each.opener == "and"), "")
            stated += [each for each in apposed(clause.text, joined, scene) if each not in stated]
            only = stated[0] if len(stated) == 1 else None
            last = stated[-1] if len({each.predicate for each in stated}) == 1 else None
            listing = last if last is not None and (only or last.predicate in _ALLERGIES) else None
            listing = listing if listing is not None and listing.predicate in _LISTED else None
            found += stated
            address = next((each for each in stated if each.predicate == "address"), None)
        following = sentence.clauses[at + 1 : at + 2]
        scene.cast.hear(clause.text, alone=not any(each.opener.endswith(("and", "who")) for each in following))
        named = False if len(found) > known and scene.of_speaker else scene.cast.others_in(clause.text)
        scene.others = scene.others if named is None else named
    return found


def _facts_of(text: str, scene: Scene, *, follows: bool) -> list[Fact]:
    """What a clause states. With `follows` it may go on with the subject before ("and joined OpenAI")."""
    plain, lead = without_lead(_pattern.of_a_thing.sub(r"the \g<thing> deadline", expanded(text)))
    if lead and not scene.lead:
        scene.lead = times(lead, scene.said)
    mine = not scene.others or scene.cast.others_in(plain) is False
    found = (_first_or_last_day(plain, scene, text) or replacement(plain, scene, text)) if mine else []
    found = found or takeover(plain, scene, text)
    if found or (found := forbidden(plain, scene)):
        return found
    plain, scope = objects.led_by_scope(plain, scene)
    scene.about = scope or scene.about
    listed = plain.split()
    at = next((i for i in range(min(len(listed), _FURTHEST + 1)) if _is_verbal(listed, i)), None)
    if at is None and follows and scene.subject and listed[0].casefold() in ("my", "our") and scene.cast.of(listed):
        return []  # "Mia, my niece, is five": still Mia
    if at is None:
        scene.note_mention(listed)
        if (planned := _pattern.appointed.fullmatch(plain)) and objects.date_in(planned["day"]):
            scene.cast.meet(Subject(planned["thing"], False))
        return []
    if at:
        scene.subject = subject = scene.cast.of(listed[:at])
        if subject is not None:
            scene.cast.meet(subject)
        elif (thing := scene.cast.bare(listed[:at])) is not None:
            # "Stand-up is at 9:00", "Heron uses Redis": of nobody such a clause says these.
            named = at == 1 and listed[0][0].isupper()
            stated = (*DATED, "rent", "salary", "version", *(("uses",) if named else ()))
            return [each for each in _predicated(thing, listed[at:], scene, text) if each.predicate in stated]
    else:
        ordered = Subject(WE, True, we=True) if scene.opening and _pattern.order.match(plain) else None
        subject = scene.subject if follows else scene.elliptic(listed[0]) or ordered
    if subject is None:
        return []
    # "Pedro is vegan and allergic to peanuts": the verb of the clause before is that of this one, too.
    forms = english().forms.get(listed[at].casefold(), frozenset())
    goes_on = not at and forms == {Form.ADJECTIVE}
    return _predicated(subject, listed[at:], scene, text, be=scene.be if goes_on else Tense.NONE)


def _facts_of_both(clauses: Sequence[Clause], at: int, scene: Scene) -> list[Fact]:
    """What "Tom and Sarah live in Leeds" says of each; [] where "and" joins no two subjects."""
    if at != 1 or clauses[1].opener != "and":
        return []
    one = scene.cast.of(without_lead(expanded(clauses[0].text))[0].split())
    listed = expanded(clauses[1].text).split()
    verb = next((i for i in range(1, min(len(listed), _FURTHEST + 1)) if _is_verbal(listed, i)), 0)
    other = scene.cast.of(listed[:verb]) if verb else None
    if one is None or other is None or one.person is False or other.person is False:
        return []
    found: list[Fact] = []
    for each, spouse in ((one, other), (other, one)):
        for fact in _predicated(replace(each, many=True), listed[verb:], scene, clauses[1].text):
            # "Tom and Sarah are divorced", "Marek and I broke up": from each other.
            parted = fact.predicate in ("married_to", "partner") and not fact.object
            found.append(replace(fact, object=spouse.name) if parted else fact)
    return found


def _predicated(
    subject: Subject, listed: Sequence[str], scene: Scene, text: str, *, be: Tense = Tense.NONE
) -> list[Fact]:
    """What the words from the verb group on say of the subject."""
    group = Group(plural=subject.plural, be=be)
    for at, raw in enumerate(listed):
        word, rest = raw.strip(","), " ".join(listed[at + 1 :])
        if not _is_habit(word, rest):
            found = _stated(subject, group, word, rest, scene, text)
            if found is not None:
                return found
            if not at and (reported := _pattern.reported.fullmatch(" ".join(listed))):
                return _of_report(subject, reported["rest"], scene, text)
            if decided := _pattern.decided.fullmatch(" ".join(listed[at:])):
                return _of_decision(subject, decided["rest"], scene, text)
        if barred := _pattern.barred.fullmatch(" ".join(listed[at:])):
            return _of_food(subject, barred, group, text, scene)
        if not _consume(group, word.casefold(), rest):
            return []
    return []


def _stated(subject: Subject, group: Group, word: str, rest: str, scene: Scene, text: str) -> list[Fact] | None:
    """The facts of the first shape that fits here; [] where one fits and states nothing, None where none does."""
    scene.be = group.be
    text = _pattern.model_year.sub(r"\g<thing>", text)
    if group.be and (found := relation(subject, f"{word} {rest}", scene)):
        return told(found, group, group.of_be(), Aspect.STATE, scene, text)
    if found := changed(subject, f"{word} {rest}", scene):
        done = Tense.NONE if group.did or group.do else Tense.THEN if group.be else Tense.PAST
        return told(found, group, done, Aspect.BEGIN, scene, text)
    table, folded = english(), word.casefold()
    for shape in table.shapes.get(folded, ()):
        match = shape.match(rest)
        if match is None or (shape.people and subject.person is False):
            continue
        if folded == "at" and shape.kind == "employer" and not group.still:
            continue  # "I'm at Google" may be a visit, "I'm still at Google" is none
        if shape.kind in ("habit", "smoking", "avoided") and shape.aspect is Aspect.STATE and not group.negated:
            continue  # who drinks coffee need not like it, who no longer does has given it up
        tense = group.tense(table.forms[folded], shape)
        if tense and (found := scene.own(cut(shape, folded, match, subject, scene), subject)):
            rents = shape.kind == "lease" and tense is Tense.NOW  # "I rent a flat in Graz"
            stated = told(found, group, tense, Aspect.STATE if rents else shape.aspect, scene, text)
            return [replace(each, holds=True) for each in stated] if shape.kind == "avoided" else stated
    return None


#: What an auxiliary or a word of denial sets in its group.
_SETS = {"have": "have", "has": "have", "had": "had", "did": "did", "do": "do", "does": "do"}
_SETS |= {"not": "negated", "never": "negated"}


def _consume(group: Group, folded: str, rest: str) -> bool:
    """Take an auxiliary, an adverb or a negation into the group; False for anything else."""
    if folded in ("am", "is", "are"):
        group.be = Tense.NOW
    elif folded in ("was", "were") or (folded == "be" and group.used_to):
        group.be = Tense.THEN
    elif folded == "will" or (folded == "be" and group.will):
        group.will, group.be = True, Tense.NOW if folded == "be" else group.be
    elif folded == "been":
        group.be = Tense.NOW if group.have else Tense.THEN
    elif folded in _SETS:
        setattr(group, _SETS[folded], True)
    elif _is_habit(folded, rest):
        group.used_to = True
    elif folded == "no" and rest.casefold().startswith("longer"):
        group.negated = group.ended = True
    else:
        group.always = group.always or folded == "always"
        group.still = group.still or folded == "still"
        return folded in _ADVERBS or (folded == "longer" and group.ended) or (folded == "to" and group.used_to)
    return True


def _is_habit(word: str, rest: str) -> bool:
    return word.casefold() == "used" and rest.startswith("to ")


def _is_verbal(listed: Sequence[str], at: int) -> bool:
    """Whether the verb group begins here; not in "the build", nor with a name that is also a verb."""
    word, folded = listed[at], listed[at].casefold().strip(",")
    if folded in _NO_VERBS or (at and listed[at - 1].casefold() in _DETERMINERS):
        return False
    if at and word[0].isupper() and not word.isupper():
        return False
    forms = english().forms
    following = forms.get(listed[at + 1].casefold(), frozenset()) if at + 1 < len(listed) else frozenset()
    if (
        folded not in _OPENERS
        and Form.BASE in forms.get(folded, ())
        and (
            listed[at + 1 : at + 2] in (["is"], ["was"], ["will"], ["deadline"])
            or (Form.PAST in following and Form.BASE not in following)
        )
    ):
        return False  # "the Heron launch was", "the release slipped", "band practice moves", "the report deadline"
    return folded in forms or folded in _OPENERS or (at > 0 and (folded in _ADVERBS or folded in _OPENERS_LATER))


def _of_report(subject: Subject, rest: str, scene: Scene, text: str) -> list[Fact]:
    first, _, more = rest.partition(" ")
    pronoun = first.casefold()
    cares = subject.noun.rpartition(" ")[2] in _CARERS
    if cares and subject.owner not in (None, "", USER, WE, scene.cast.me.name) and pronoun in ("he", "she", "they"):
        # What Ana's doctor says is said of Ana.
        return _predicated(Subject(subject.owner or "", True, many=pronoun == "they"), more.split(), scene, text)
    if subject.person is False and not cares:
        return []  # what an article says of others
    if cares and pronoun in ("he", "she", "they"):
        return []
    of_another = subject.owner not in (None, "", USER, WE, scene.cast.me.name)
    if pronoun == "i" if subject.first else pronoun in ("he", "she", "they"):
        found = _predicated(subject, more.split(), scene, text)
        # "Ana's mother says she is allergic": Ana or her mother, and it must not be the wrong one.
        return [each for each in found if not (of_another and scene.predicates.is_safety(each.predicate))]
    if pronoun in ("he", "she", "they", "i", "we", "it"):
        return []
    return _facts_of(rest, scene, follows=False)


def _of_decision(subject: Subject, rest: str, scene: Scene, text: str) -> list[Fact]:
    word, _, more = rest.partition(" ")
    for shape in english().shapes.get(word.casefold(), ()):
        settled = shape.predicate in ("uses", *DATED)
        match = shape.match(more) if settled and not shape.after else None
        if match and (found := cut(shape, word.casefold(), match, subject, scene)):
            if shape.predicate in DATED:
                return found
            when = times(text, scene.said)
            return [] if when.ahead else [replace(each, valid_from=when.since) for each in found]
    return []


def _of_food(subject: Subject, barred: re.Match[str], group: Group, text: str, scene: Scene) -> list[Fact]:
    """What somebody must not eat; "again" says that it is over."""
    said = _pattern.no_more.sub("", barred["o"])
    thing = objects.phrase_in(said, 3)
    again = barred["not"] is None
    if barred["have"] and thing.casefold().rpartition(" ")[2] not in word_list("foods"):
        return []  # "can't have visitors"
    if not thing or group.negated or subject.person is False or _pattern.for_now.search(said):
        return []
    if again and not re.search(r"\b(?:again|now)\b", barred["o"]):
        return []
    when = times(text, scene.said)
    # Who may eat it again is not allergic to it any more.
    stated = ("cannot_eat", "allergic_to") if again else ("cannot_eat",)
    return [] if when.ahead else [Fact(subject.name, each, thing, not again, when.since) for each in stated]


def _first_or_last_day(plain: str, scene: Scene, text: str) -> list[Fact]:
    """ "First day at Marulho": where whoever says so works from then on, or no more."""
    scene.notice = scene.notice or _pattern.notice.fullmatch(plain) is not None
    day = _pattern.day.match(plain) if scene.opening else None
    org = objects.organisation(day["o"], scene) if day else ""
    last = _pattern.last_day.fullmatch(plain) if scene.notice or (org and not objects.school_in(org)) else None
    if last is not None:
        until = announced_for(times(last["day"], scene.said), text, scene.said, lag=MONTH).since
        return [Fact(scene.cast.me.name, "works_at", org, False, until)] if until else []
    if (
        day is None
        or not org
        or (objects.school_in(org) and not _pattern.as_role.search(plain))
        or _pattern.is_on.search(day["o"])
    ):
        return []
    when = times(text, scene.said)
    holds = day["which"].casefold() == "first"
    return [] if when.ahead else [Fact(scene.cast.me.name, "works_at", org, holds, when.since)]


def _one_more(listing: Fact, text: str, scene: Scene) -> list[Fact]:
    """What a clause adds to a list before it; nothing for another deed ("allergic to bees and carry an EpiPen")."""
    thing = tool_name(text, scene) if listing.predicate == "uses" else objects.phrase_in(text)
    row = scene.predicates.rows[listing.predicate]
    if row.known and row.safety:
        thing = scene.predicates.known(listing.predicate, text)
    first = thing.split(" ")[0]
    deed = " " in text.strip() and not first.endswith("ing") and stem(first) in lexicon().verbs
    return [replace(listing, object=thing)] if thing and not deed else []


def _continues_list(clauses: Sequence[Clause], at: int) -> bool:
    """Whether a clause of a word or two only lengthens the list before it; commas alone make no list."""
    clause, listed = clauses[at], clauses[at].text.split()
    if len(listed) > 3 or any(
        (_is_verbal((word,), 0) and not word.endswith("ing")) or word.casefold() in _NOT_LISTED for word in listed
    ):
        return False
    joint = clause.opener.rpartition(" ")[2].strip()
    return joint == "and" or (joint == "," and any(other.opener.endswith("and") for other in clauses[at + 1 :]))
