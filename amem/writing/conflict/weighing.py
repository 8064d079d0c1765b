"""What follows from two notes getting in each other's way: the judges' verdicts, and which of them may hide a note."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from amem.storage.disagreements import IN_CONFLICT
from amem.writing.conflict.claims import order
from amem.writing.conflict.ending import around, states_more
from amem.writing.conflict.verdict import Conflict, Label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from amem.settings import Settings
    from amem.storage import Session
    from amem.writing.conflict.candidates import Rival
    from amem.writing.conflict.judges import Judges
    from amem.writing.conflict.verdict import Claim, Verdict

#: Why a verdict waits that is about a part of the note, though not which.
ONLY_A_PART = "only a part of the note may be out of date"
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
        self._judges.foresee([order(one.claim, other.claim) for other in rivals])
        weighed = [self.pair(one, other, opinions.verdicts.get(other.id), opinions.name) for other in rivals]
        found = [each for each in weighed if each is not None]
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

    def pair(self, one: Rival, other: Rival, opinion: Verdict | None = None, name: str = "") -> Weighed | None:
        """The verdict on two notes, in whichever order; None where they leave each other in peace."""
        cosine = other.cosine
        first, second = order(one.claim, other.claim)
        earlier, later = (one, other) if first is one.claim else (other, one)
        if opinion is not None and cosine < self._settings.conflict_cosine:
            opinion = None
        sure = None if opinion is None else self._judges.rules_first(first, second, cosine)
        by_model = opinion is not None and sure is None
        verdict = sure or self._judges.judge(first, second, cosine)
        if opinion is not None and by_model:
            verdict = self._placed(opinion, verdict, first)
        if verdict is None or verdict.label not in CONFLICTS:
            return None
        found = Weighed(earlier, later, verdict, cosine, made_by=name if by_model else RULES)
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
