"""What follows from the judges' verdicts on a note: which notes may be hidden, and that carried out.

The overturned are hidden and the doubtful linked and flagged, in the note's own transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cmp_to_key
from types import MappingProxyType
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.conflict.candidates import Candidate, as_rival, claim_of, ended, keep, order, recall, rivals, states_something
from amem.conflict.compare import confirms
from amem.conflict.cues import take_back_in
from amem.conflict.ending import (
    around,
    flag_what_leans,
    free,
    hide,
    leads_to,
    lift_all_by,
    marked,
    part_of,
    standing_after,
    states_more,
    still_states,
    unlink_successors,
)
from amem.labels import short_id
from amem.language import written_in_cjk
from amem.note import Conflict, Label, Link, LinkType, MemoryNote, Overturned, Queued, Scope, Status, Verdict
from amem.storage.reviews import IN_CONFLICT
from amem.storage.rows import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from amem.analysis import Plan
    from amem.conflict.candidates import Claim, Rival
    from amem.conflict.judges import Judges
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
        # A model that obeys a note sees a conflict that no rule sees.
        supported = not by_model or self._judges.may_differ(earlier.claim, later.claim, cosine)
        waits = self._why_wait(found, supported=supported)
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


# A note that takes back the one right before it.

#: A note told by itself takes back the one told right before it, not what was said on another day.
_RIGHT_BEFORE = timedelta(hours=1)


def said_right_before(session: Session, note: MemoryNote) -> MemoryNote | None:
    """The note that `note`, told by itself, takes back: the last that the same person told a moment ago.

    A line of a file takes nothing back, and of what is said in a conversation more is known there. Nothing is taken
    back twice, or against a person's word.
    """
    found = take_back_in(note.content)
    if found is None or found.before or found.about or note.at is None:
        return None
    key = session.notes.told_before(note, since=note.at - _RIGHT_BEFORE)
    if key is None or session.notes.sources_of([note.id])[note.id]:
        return None
    last, owned = session.notes.bare([key])[key]
    stands = last.status is Status.ACTIVE and owned.get("status") != "edited"
    return last if stands and states_something(last) else None


def void(
    session: Session, note: MemoryNote, predicates: Predicates, operation: int, statements: Sequence[str] = ()
) -> None:
    """Take a note, or only these statements of it, back as if it had never been so.

    What a whole note had taken the place of stands again.
    """
    began = claim_of(session, note, 0).since
    if statements:
        told = marked(note, statements, until=began)
        session.notes.change(note.id, {"overturned": plain("overturned", told)}, operation)
        part = part_of(note, [each for each in told if each not in note.overturned])
        return flag_what_leans(session, part, None, session.now, predicates, operation, whole=False)
    for id in session.notes.replaced_by([note.id]):
        free(session, id, operation)
        unlink_successors(session, id, operation)
    lift_all_by(session, [note.id], operation)
    session.notes.change(note.id, standing_after(note, None, began), operation)
    flag_what_leans(session, note, None, session.now, predicates, operation)


# What follows is carried out, in the note's own transaction.

if TYPE_CHECKING:
    Cosines = Callable[[Sequence[int]], Sequence[float]]
    Begin = Callable[[str], int]

NOBODYS: Mapping[str, str] = MappingProxyType({})
#: What the log calls it.
ACTION = "supersede"


@dataclass(slots=True)
class Settled:
    """What was done about one note, for the receipt: `superseded` are the ids that it hid.

    `astray` are those of its rivals, or its own, that a clock in the future dated.
    """

    links: list[Link] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    superseded_by: str | None = None
    queued: list[Queued] = field(default_factory=list)
    astray: list[str] = field(default_factory=list)


def begins(session: Session, note: MemoryNote, parent: int | None, prompts: str = "") -> Begin:
    """Operations below `parent` for what comes of a note; `prompts` are what the model was asked."""

    def begin(by: str) -> int:
        asked = "" if by == RULES else prompts
        return session.begin(ACTION, by, f"{note.id[:8]} was weighed", parent=parent, prompts=asked)

    return begin


#: A word that more notes than this carry says little of which belong together.
_RARE = 30


def _sharing(session: Session, note: MemoryNote, most: int) -> list[int]:
    """Keys of notes that share rare words with a Chinese one: the default embedder cannot read it, and its nearest are
    any notes."""
    if most <= 0 or not written_in_cjk(note.content):
        return []
    with session.within(Scope.of(note.metadata)):
        found = session.text.sharing_rare((*note.entities, *note.keywords), most=_RARE, limit=most + 1)
    own = session.notes.keys_of([note.id]).get(note.id)
    return [key for key in found if key != own][:most]


class Settler:
    """Weighs stored notes against others and does what follows."""

    def __init__(self, judges: Judges, predicates: Callable[[], Predicates], settings: Settings) -> None:
        self.weigher = Weigher(judges, settings)
        self._predicates = predicates
        self._settings = settings

    def rivals(
        self,
        session: Session,
        note: MemoryNote,
        near: Iterable[Candidate],
        cosines: Cosines,
        named: Iterable[str] = (),
    ) -> list[Rival]:
        """What the note is weighed against, those `named` by id among it; nothing for one that states nothing."""
        if not states_something(note):
            return []
        most = self._settings.conflict_neighbours
        sharing = _sharing(session, note, most // 2)
        nearest = sorted(near, key=lambda each: (-each.cosine, each.key))[: most - len(sharing)]
        seen = {each.key for each in nearest}
        others = dict.fromkeys([*session.notes.keys_of(list(named)).values(), *sharing])
        more = [key for key in others if key not in seen]
        if more:
            nearest += [Candidate(key, cosine) for key, cosine in zip(more, cosines(more), strict=True)]
        return rivals(session, note, nearest, self._predicates(), cosines)

    def settle(
        self,
        session: Session,
        note: MemoryNote,
        key: int,
        near: Iterable[Candidate],
        cosines: Cosines,
        *,
        parent: int | None,
        owned: Mapping[str, str] = NOBODYS,
        opinions: Opinions = NOBODY_ASKED,
    ) -> Settled:
        """Weigh an active note, stored under `key`, and carry out what comes of it, as operations below `parent`.

        `owned` are the fields that people own in it, `opinions` a model's on others.
        """
        taken_back = said_right_before(session, note)
        if taken_back is not None:
            void(session, taken_back, self._predicates(), session.begin("retract", RULES, note.content, parent=parent))
            return Settled(superseded=[taken_back.id])
        found = self.rivals(session, note, near, cosines, opinions.verdicts)
        unknown = recall(session, found)
        own = as_rival(session, key, note, owned)
        weighed = self.weigher.weigh(session, own, found, opinions)
        keep(session, [own, *unknown])
        if not weighed:
            return Settled()
        return self.carry_out(session, note, weighed, begins(session, note, parent, opinions.prompts))

    def carry_out(self, session: Session, note: MemoryNote, weighed: Sequence[Weighed], begin: Begin) -> Settled:
        """Do what the verdicts on one note and others ask for; `begin` makes the operation for each who judged."""
        work = _Work(session, self._predicates(), self._settings, note, begin)
        successors = [each for each in weighed if each.hides and each.earlier.id == note.id]
        successor = min(successors, key=cmp_to_key(_sooner), default=None)
        for each in weighed:
            if each.hides and each.later.id == note.id:
                work.replace(each)
            elif each.ends and each.later.id == note.id:
                work.end(each)
        if successor is not None:
            work.replace(successor)
        for each in weighed:
            # Of a note that is superseded already it need not be said that it is doubtful, too.
            if each.ends and each.earlier.id == note.id and successor is None:
                work.end(each)
            elif not each.hides and not each.ends and successor is None:
                work.leave(each)
        sides = [side for each in weighed for side in (each.earlier, each.later) if side.claim.astray]
        told = {id for each in work.done.conflicts for id in (each.earlier, each.later)}
        work.done.astray = list(dict.fromkeys(side.id for side in sides if side.id in told))
        return work.done


class _Work:
    """One note's conflicts, as they are carried out: an operation for each who judged, begun when it has something."""

    def __init__(
        self,
        session: Session,
        predicates: Predicates,
        settings: Settings,
        note: MemoryNote,
        begin: Begin,
    ) -> None:
        self.done = Settled()
        self._session = session
        self._predicates = predicates
        self._settings = settings
        self._note = note
        self._begin = begin
        self._operations: dict[str, int] = {}

    def replace(self, weighed: Weighed) -> None:
        """Hide the earlier note behind the later, unless what took its place before was true before this was."""
        earlier, later = weighed.earlier, weighed.later
        if earlier.note.status is Status.SUPERSEDED and not self._comes_between(earlier, later):
            return
        # In a circle nothing would stand: the word that came last does.
        if leads_to(self._session, later.id, earlier.id):
            return
        operation = self._operation(weighed)
        link = self._link(weighed)
        hide(self._session, earlier.note, link, ended(earlier.claim, later.claim), operation)
        moment = _known(earlier.claim, later.claim)
        flag_what_leans(self._session, earlier.note, later.note, moment, self._predicates, operation)
        self.done.links.append(link)
        self.done.conflicts.append(weighed.conflict)
        if later.id == self._note.id:
            self.done.superseded.append(earlier.id)
        else:
            self.done.superseded_by = later.id

    def end(self, weighed: Weighed) -> None:
        """Mark the statements of the earlier note that ended; one of which nothing is left is superseded."""
        earlier, later = weighed.earlier, weighed.later
        if not (earlier.note.status is later.note.status is Status.ACTIVE):
            return
        told = self._told(weighed)
        if not still_states(earlier.note.content, [each for each in told if each.until <= self._session.now]):
            return self.replace(weighed)
        operation = self._operation(weighed)
        link = self._link(weighed)
        self._session.notes.change(earlier.id, {"overturned": plain("overturned", told)}, operation)
        self._session.links.put(link, operation)
        part = part_of(earlier.note, [each for each in told if each not in earlier.note.overturned])
        earlier.note.overturned = told
        moment = _known(earlier.claim, later.claim)
        flag_what_leans(self._session, part, later.note, moment, self._predicates, operation, whole=False)
        self.done.links.append(link)
        self.done.conflicts.append(weighed.conflict)

    def leave(self, weighed: Weighed) -> None:
        """Link two notes that both stay, and see to it that somebody looks at them."""
        earlier, later = weighed.earlier, weighed.later
        if not (earlier.note.status is later.note.status is Status.ACTIVE):
            return
        operation = self._operation(weighed)
        link = self._link(weighed)
        self._session.links.put(link, operation)
        self.done.links.append(link)
        self.done.conflicts.append(weighed.conflict)
        if weighed.proposes:
            self.done.queued.append(self._propose(weighed, operation))
        else:
            self._session.flags.put(earlier.id, later.id, weighed.verdict.reason, operation)
        if weighed.verdict.label is Label.SUPERSEDES and not weighed.verdict.whole:
            moment = _known(earlier.claim, later.claim)
            flag_what_leans(self._session, earlier.note, later.note, moment, self._predicates, operation, whole=False)

    def _comes_between(self, earlier: Rival, later: Rival) -> bool:
        """Whether the later note was true before that which has the earlier one's place; before a lost one any was."""
        held = earlier.note.superseded_by
        if held is None:
            return False
        keys = self._session.notes.keys_of([held])
        if held not in keys:
            return True
        note, _ = self._session.notes.bare([keys[held]])[keys[held]]
        if note.status is Status.DELETED:
            return True
        merged = self._session.links.get(held, earlier.id, LinkType.SUPERSEDES) is None
        return not merged and order(later.claim, claim_of(self._session, note, keys[held]))[0] is later.claim

    def _operation(self, weighed: Weighed) -> int:
        by = weighed.made_by
        if by not in self._operations:
            self._operations[by] = self._begin(by)
        return self._operations[by]

    def _link(self, weighed: Weighed) -> Link:
        verdict = weighed.verdict
        return Link(
            weighed.later.id,
            weighed.earlier.id,
            LinkType(verdict.label),
            verdict.reason,
            verdict.confidence,
            weighed.made_by,
            self._session.now,
        )

    def _told(self, weighed: Weighed) -> list[Overturned]:
        """The earlier note's overturned statements, those of the verdict among them."""
        earlier, later = weighed.earlier, weighed.later
        return marked(
            earlier.note,
            weighed.verdict.quotes,
            until=ended(earlier.claim, later.claim).astimezone(zone(self._settings.timezone)),
            by=later.note,
            reason=weighed.verdict.reason,
            confidence=weighed.verdict.confidence,
        )

    def _propose(self, weighed: Weighed, operation: int) -> Queued:
        earlier, later = weighed.earlier, weighed.later
        after = standing_after(earlier.note, later.id, ended(earlier.claim, later.claim))
        if not weighed.verdict.whole:
            after = {"overturned": plain("overturned", self._told(weighed))}
        review = self._session.reviews.propose(
            earlier.id,
            {name: (plain(name, getattr(earlier.note, name)), value) for name, value in after.items()},
            operation=operation,
            base_version=earlier.note.version,
            reason=weighed.verdict.reason,
            confidence=weighed.verdict.confidence,
            made_by=weighed.made_by,
            days=self._settings.review_days,
        )
        return Queued(str(review), earlier.id, weighed.waits)


def _sooner(one: Weighed, other: Weighed) -> int:
    """Negative where the later note of the first pair was true before that of the other."""
    return -1 if order(one.later.claim, other.later.claim)[0] is one.later.claim else 1


def _known(earlier: Claim, later: Claim) -> datetime:
    """Until when one could lean on the earlier: of a change that is told afterwards one knows when it is told."""
    moment = ended(earlier, later)
    return moment if moment >= earlier.since else later.said
