"""What follows from the judges' verdicts, and which notes may be hidden."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

from amem.analysis import Conflict, Label, Verdict
from amem.conflict import slot
from amem.conflict.candidates import order
from amem.conflict.compare import confirms
from amem.conflict.ending import around, states_more
from amem.labels import short_id
from amem.language.intervals import intervals, same_value
from amem.note import Fact, LinkType, Status
from amem.storage.reviews import IN_CONFLICT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from amem.analysis import Plan
    from amem.conflict.candidates import Claim, Rival
    from amem.conflict.judges import Judges
    from amem.language.intervals import Interval
    from amem.language.predicates import Predicates
    from amem.settings import Settings
    from amem.storage.store import Session


# What follows from two notes getting in each other's way: the judges' verdicts, and which of them may hide a note.

#: Why a verdict waits that is about a part of the note, though not which.
ONLY_A_PART = "only a part of the note may be out of date"
#: Why a verdict waits on two notes that say the same with other words of denial.
SAID_AGAIN = "both deny the same"
#: Who says so where rules do.
RULES = "amem"
MODEL = "model"
#: Links that say of a pair that it was weighed.
WEIGHED = IN_CONFLICT
#: Verdicts that leave a trace.
CONFLICTS = (Label.CONTRADICTS, Label.SUPERSEDES)


@dataclass(frozen=True, slots=True)
class Opinions:
    """What a model called `name` said of some of the notes, by their ids, and the prompts it was asked with."""

    name: str = ""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    prompts: str = ""


NOBODY_ASKED = Opinions()


@dataclass(frozen=True, slots=True)
class Weighed:
    """A pair with a verdict that leaves a trace: `hides` tells that the earlier note is superseded by it.

    `ends` are statements of the earlier note that end while the rest of it stands. Where neither is so, `waits` says
    why. With `proposes` a person is asked to decide. `made_by` is whose verdict it is.
    """

    earlier: Rival
    later: Rival
    verdict: Verdict
    cosine: float
    hides: bool = False
    waits: str = ""
    proposes: bool = False
    ends: tuple[str, ...] = ()
    made_by: str = RULES

    @property
    def conflict(self) -> Conflict:
        """The pair as it is told of."""
        cosine = round(self.cosine, 4)
        return Conflict(self.earlier.id, self.later.id, self.verdict, cosine, self.hides, self.waits, self.ends)


class Weigher:
    """Weighs pairs. Reads, never writes."""

    def __init__(self, judges: Judges, settings: Settings) -> None:
        self._judges = judges
        self._settings = settings

    def weigh(
        self, session: Session, one: Rival, others: Iterable[Rival], opinions: Opinions = NOBODY_ASKED
    ) -> list[Weighed]:
        """Every pair of `one` and another that is in conflict, but for what was linked, decided or undone before.

        `opinions` are a model's on the others.
        """
        rivals = list(others)
        found = self.in_conflict(one, rivals, opinions)
        if not found:  # as for most notes
            return []
        known = pairs_known(session, one.id)
        undone = session.links.undone([one.id, *(other.id for other in rivals)], WEIGHED)
        return [
            each
            for each in found
            if known.isdisjoint((each.earlier.id, each.later.id))
            and frozenset((each.earlier.id, each.later.id)) not in undone
        ]

    def in_conflict(self, one: Rival, others: Sequence[Rival], opinions: Opinions = NOBODY_ASKED) -> list[Weighed]:
        """Every pair of `one` and another that does not leave each other in peace, whatever was decided before."""
        pairs = [(*order(one.claim, other.claim), other.cosine) for other in others]
        weighed = [
            self._pair(one, other, first is one.claim, verdict, opinions)
            for other, (first, *_), verdict in zip(others, pairs, self._judges.judge_all(pairs), strict=True)
        ]
        return [each for each in weighed if each is not None]

    def _pair(self, one: Rival, other: Rival, is_first: bool, verdict: Verdict, opinions: Opinions) -> Weighed | None:
        """What the rules' verdict and a model's opinion make of two notes; None where they leave each other in peace.

        `is_first` tells that `one` was true before the other.
        """
        cosine, opinion = other.cosine, opinions.verdicts.get(other.id)
        earlier, later = (one, other) if is_first else (other, one)
        if cosine < self._settings.conflict_cosine:
            opinion = None
        by_model = opinion is not None and self._judges.rules_first(earlier.claim, later.claim, cosine) is None
        if opinion is not None and by_model:
            verdict = self._placed(opinion, verdict, earlier.claim)
        if verdict.label not in CONFLICTS:
            return None
        found = Weighed(earlier, later, verdict, cosine, made_by=opinions.name if by_model else RULES)
        if verdict.label is Label.CONTRADICTS:
            return found
        waits = self._why_wait(found, supported=not by_model or self._supports(found))
        # Of a part that nobody can name there is no change that a person could accept: it is linked and flagged.
        named = verdict.whole or bool(verdict.quotes)
        proposes = bool(waits) and named and (by_model or earlier.kept)
        ends = () if waits or verdict.whole else verdict.quotes
        return replace(found, hides=not waits and verdict.whole, waits=waits, proposes=proposes, ends=ends)

    def _placed(self, opinion: Verdict, rules: Verdict, earlier: Claim) -> Verdict:
        """A model's verdict with the statements that it concerns: those it quotes, else those that rules see fallen."""
        if opinion.quotes:
            quotes = tuple(dict.fromkeys(around(earlier.content, each) for each in opinion.quotes))
            return replace(opinion, whole=not states_more(earlier.content, quotes), quotes=quotes)
        if rules.label in CONFLICTS:
            return replace(opinion, whole=rules.whole, quotes=rules.quotes)
        return opinion

    def _supports(self, found: Weighed) -> bool:
        """Whether the rules see a reason, too, why both cannot hold: a model that obeys a note has none."""
        pair = (found.earlier.claim, found.later.claim, found.cosine)
        return self._judges.doubtful(*pair) or self._judges.rules_last(*pair).label in CONFLICTS

    def _why_wait(self, found: Weighed, *, supported: bool) -> str:
        verdict, least = found.verdict, self._settings.supersede_confidence
        if not verdict.whole and not verdict.quotes:
            return ONLY_A_PART
        if confirms(found.earlier.claim, found.later.claim, verdict.quotes):
            return SAID_AGAIN
        if found.earlier.kept:
            return "a person said that the note holds"
        # As it is told: 0.7999... is 0.80, and that is enough where 0.80 is asked.
        if round(verdict.confidence, 2) < least:
            return f"confidence {verdict.confidence:.2f} is below {least:.2f}"
        return "" if supported else "no rule sees why both could not hold"


def pairs_known(session: Session, id: str) -> frozenset[str]:
    """Ids of the notes that were weighed against this one before: linked for it, or decided by a person."""
    linked = {end for link in session.links.around([id]) if link.type in WEIGHED for end in (link.source, link.target)}
    return frozenset(linked | session.flags.decided(id)) - {id}


# Values of one slot that both stand since a person kept one of them: still to be decided.

_WAITS = "a person said that the note holds"


def with_kept(session: Session, predicates: Predicates, known: Iterable[Conflict]) -> list[Conflict]:
    """`known`, and other active notes that state two values of one slot, of which a person made one stand again."""
    found = {frozenset((each.earlier, each.later)): each for each in known}
    decided = session.flags.turned_down()
    for each in _kept_beside(session, predicates):
        pair = frozenset((each.earlier, each.later))
        if pair not in decided:
            found.setdefault(pair, each)
    return list(found.values())


def _kept_beside(session: Session, predicates: Predicates) -> Iterator[Conflict]:
    owned = "json_extract(CASE WHEN json_valid(edited) THEN edited END, '$.{0}') = 'edited'"
    owned = f"({owned.format('status')} OR {owned.format('overturned')})"
    kept = dict(session.rows(f"SELECT id, key FROM notes WHERE status = 'active' AND {owned}"))
    for scope in set(session.notes.scopes_of(list(kept)).values()):
        with session.within(scope):
            yield from _kept_within(session, kept, predicates)


def _kept_within(session: Session, kept: Mapping[str, int], predicates: Predicates) -> Iterator[Conflict]:
    """Those of the session's scope."""
    evidence = session.facts.about({each.subject for each in session.facts.of(list(kept.values()))})
    active = {each.note for each in evidence if each.status is Status.ACTIVE}
    so = [each for each in intervals(evidence, predicates) if each.until is None and active.intersection(each.notes)]
    for one, other in combinations(so, 2):
        if not kept.keys().isdisjoint((*one.notes, *other.notes)) and _clash(one, other, predicates):
            earlier, later = (next(id for id in reversed(each.notes) if id in active) for each in (one, other))
            old, new = (Fact(each.subject, each.predicate, each.object) for each in (one, other))
            reason = slot.why_differing(old, new, new.object, predicates)
            yield Conflict(
                earlier, later, Verdict(Label.CONTRADICTS, slot.DIFFER, reason, slot.SLOT), 0.0, False, _WAITS
            )


def _clash(one: Interval, other: Interval, predicates: Predicates) -> bool:
    if (one.subject, one.predicate) != (other.subject, other.predicate) or same_value(one.object, other.object):
        return False
    place = predicates.slot(one.predicate, one.object)
    return place is not None and place == predicates.slot(other.predicate, other.object)


# A model's word on two notes, read out of its links. It is one opinion; the rules weigh it.


def from_links(plan: Plan, name: str, prompt: str, cosines: Mapping[str, float], least: float) -> tuple[Plan, Opinions]:
    """The plan without its links ``contradicts`` and ``supersedes``, and those as opinions of the model `name`.

    `cosines` are those of the notes that were shown, by id; below `least` a model's word on two notes counts nothing.
    """
    verdicts: dict[str, Verdict] = {}
    dropped = list(plan.dropped)
    for link in plan.links:
        if link.type not in WEIGHED:
            continue
        cosine = cosines.get(link.target, 0.0)
        if cosine < least:
            dropped.append(f"{link.type} {short_id(link.target)}: the notes are too unlike (similarity {cosine:.2f})")
        elif link.target not in verdicts or link.type is LinkType.CONTRADICTS:  # what hides less comes first
            quotes = (link.quote,) if link.quote else ()
            verdicts[link.target] = Verdict(Label(link.type), link.confidence, link.reason, MODEL, quotes=quotes)
    rest = tuple(link for link in plan.links if link.type not in WEIGHED)
    return replace(plan, links=rest, dropped=tuple(dropped)), Opinions(name, verdicts, prompt if verdicts else "")
