"""What tense, negation and times make of a fact: that it is so, that it is no longer, or nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from amem.llm.offline.facts.shapes import Aspect, Form, Shape
from amem.llm.offline.facts.when import times

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.llm.offline.facts.scene import Scene
    from amem.llm.offline.facts.when import Times
    from amem.note import Fact

#: With these behind it "have lived in Porto" goes on to this day.
_ONGOING = re.compile(
    r"\b(?:since|for (?:the|\d+|an?|about|almost|over|more|one|two|three|four|five|six|seven|eight|nine|ten|years"
    r"|months|ages|many|some))\b",
    re.IGNORECASE,
)
_FORMERLY = re.compile(r"\b(?:formerly|previously|in the past|back then|at one time)\b", re.IGNORECASE)
_NO_MORE = re.compile(r"\b(?:any ?more|any longer)\b", re.IGNORECASE)
#: Predicates whose object is a date.
DATED = ("deadline", "date", "birthday")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_HALF_A_YEAR = timedelta(days=183)
_ALMOST = re.compile(r"\b(?:almost|nearly) (?:\w+ed|quit|left|got|went|gave|bought)\b", re.IGNORECASE)


class Tense(StrEnum):
    """When a verb group places what it tells."""

    NOW = "now"
    PERFECT = "perfect"
    PAST = "past"
    THEN = "then"
    """"Was": a state of affairs of the past, or something done to somebody."""
    FORMERLY = "formerly"
    """"Used to"."""
    NONE = ""


@dataclass(slots=True)
class Group:
    """What stands between subject and main verb: auxiliaries, negation, habit of the past."""

    plural: bool = False
    be: Tense = Tense.NONE
    have: bool = False
    had: bool = False
    did: bool = False
    do: bool = False
    used_to: bool = False
    negated: bool = False
    ended: bool = False
    always: bool = False
    still: bool = False

    def of_be(self) -> Tense:
        """The tense of a form of "be"."""
        return Tense.FORMERLY if self.used_to else Tense.PERFECT if self.have else self.be

    def tense(self, forms: frozenset[Form], shape: Shape) -> Tense:
        """The tense of a main verb; none where its form does not fit what stands before it."""
        if self.had:
            return Tense.NONE
        if shape.after:
            wanted = Form.ADJECTIVE if shape.after == "is" else Form.PARTICIPLE
            return self.of_be() if self.be and wanted in forms else Tense.NONE
        if self.used_to:
            return Tense.FORMERLY if Form.BASE in forms else Tense.NONE
        if self.be:
            if Form.GERUND not in forms:
                return Tense.NONE
            if self.be is Tense.NOW or self.have:
                return Tense.NOW
            # "Was moving" may never have got there.
            return Tense.THEN if shape.aspect is Aspect.STATE else Tense.NONE
        if self.have:
            return Tense.PERFECT if Form.PARTICIPLE in forms else Tense.NONE
        if self.did or self.do:
            fitting = Form.BASE in forms
            return Tense.NONE if not fitting else Tense.PAST if self.did else Tense.NOW
        present = Form.BASE in forms if self.plural else Form.THIRD in forms  # "the long run" has no verb in it
        if Form.PAST in forms and not (present and shape.aspect is Aspect.STATE):
            return Tense.PAST  # "quit" may be either, and "I quit" tells that it is done
        return Tense.NOW if present else Tense.NONE


def told(found: Sequence[Fact], group: Group, tense: Tense, aspect: Aspect, scene: Scene, text: str) -> list[Fact]:
    """The facts as far as tense, negation and times let them be so; `text` is the clause."""
    if _ALMOST.search(text):
        return []
    if all(each.predicate in DATED for each in found):
        # The date is what it is about, and may well lie ahead.
        done = tense in (Tense.NOW, Tense.PAST, Tense.PERFECT) or (tense is Tense.THEN and aspect is Aspect.BEGIN)
        return list(found) if done and not group.negated else []
    goes_on = aspect is Aspect.STATE and tense in (Tense.NOW, Tense.PERFECT)
    when = times(text, scene.said, lasting=goes_on)
    if not when.named and scene.lead:
        when = scene.lead
    if aspect is Aspect.BEGIN and all(each.predicate == "rent" for each in found):
        when = _announced(when, text, scene.said)
    if when.ahead:
        return []
    if aspect is not Aspect.STATE:
        stated = _done(found, group, tense, aspect, scene, when)
    elif goes_on:
        stated = _ongoing(found, group, tense, text, when)
    else:
        stated = _over(found, group, tense, text, when)
    # Whoever does not like tea any more does not prefer it either.
    lost = group.ended or _NO_MORE.search(text) is not None
    gone = [each for each in stated if lost and each.predicate == "likes" and not each.holds]
    return [*stated, *(replace(each, predicate="prefers") for each in gone)]


def _announced(when: Times, text: str, said: datetime | None) -> Times:
    """The times of a change told ahead: "raised to 790 from June", said in May, means the June that is nearer."""
    since = when.since
    if said is not None and since is not None and said - since > _HALF_A_YEAR and not _YEAR.search(text):
        since = since.replace(year=since.year + 1, day=min(since.day, 28) if since.month == 2 else since.day)
    return when if since is None else replace(when, since=since, ahead=False)


def _done(found: Sequence[Fact], group: Group, tense: Tense, aspect: Aspect, scene: Scene, when: Times) -> list[Fact]:
    """Something that began or ended; "I am moving" and "I join them in May" are plans."""
    is_over = aspect is Aspect.END and tense is Tense.NOW and bool(group.be)  # "is divorced"
    # "We move the list to Listmonk" is decided; "I move to Lisbon in May" and "we are moving" are plans.
    simply = not group.be and group.plural
    used = all(each.predicate == "uses" for each in found)
    decided = used and tense is Tense.NOW and (scene.decided or simply)
    past = tense in (Tense.PAST, Tense.PERFECT, Tense.THEN)
    if group.negated or not (past or is_over or decided):
        return []
    return [replace(each, valid_from=when.since) for each in found]


def _ongoing(found: Sequence[Fact], group: Group, tense: Tense, text: str, when: Times) -> list[Fact]:
    """A state that is so now, or with a negation is not; "have lived in Porto" alone is long ago."""
    if tense is Tense.PERFECT:
        no_more = group.ended or _NO_MORE.search(text) is not None
        still = _ONGOING.search(text) is not None or group.always or when.since is not None
        if not still or (group.negated and not no_more):
            return []
    until = None if group.negated else when.until
    holds = not group.negated
    return [replace(each, holds=holds and each.holds, valid_from=when.since, valid_to=until) for each in found]


def _over(found: Sequence[Fact], group: Group, tense: Tense, text: str, when: Times) -> list[Fact]:
    """A state of the past: so in a month that is named, over since a time that is named, else only not so any more."""
    if group.negated:
        return []
    if when.since and when.until:
        return [replace(each, valid_from=when.since, valid_to=when.until) for each in found]
    if when.until:
        return [replace(each, holds=False, valid_from=when.until) for each in found]
    if when.since and when.within:
        return [replace(each, valid_from=when.since, valid_to=when.within) for each in found]
    if tense is Tense.FORMERLY or _FORMERLY.search(text):
        return [replace(each, holds=False) for each in found]
    return []
