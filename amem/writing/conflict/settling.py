"""Conflicts of a note carried out in its own transaction: the overturned hidden, the doubtful linked and flagged.

What counts is when things were true, not when they came: a note from an old diary takes its place in the chain, and
may be superseded the moment it arrives.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cmp_to_key
from types import MappingProxyType
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.note import Link, LinkType, Status
from amem.receipt import Queued
from amem.storage.rows import plain
from amem.writing.conflict.candidates import as_rival, rivals, states_something
from amem.writing.conflict.claims import claim_of, ended, order
from amem.writing.conflict.ending import marked, part_of, still_states
from amem.writing.conflict.leaning import flag_what_leans
from amem.writing.conflict.standing import hide, leads_to, standing_after
from amem.writing.conflict.takebacks import said_right_before, void
from amem.writing.conflict.verdict import Label
from amem.writing.conflict.weighing import NOBODY_ASKED, RULES, Weigher
from amem.writing.neighbours import Candidate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from amem.note import MemoryNote, Overturned
    from amem.settings import Settings
    from amem.storage import Session
    from amem.truth.predicates import Predicates
    from amem.writing.conflict.candidates import Rival
    from amem.writing.conflict.judges import Judges
    from amem.writing.conflict.verdict import Claim, Conflict
    from amem.writing.conflict.weighing import Opinions, Weighed

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
        nearest = sorted(near, key=lambda each: (-each.cosine, each.key))[: self._settings.conflict_neighbours]
        seen = {each.key for each in nearest}
        more = [key for key in session.notes.keys_of(list(named)).values() if key not in seen]
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
        weighed = self.weigher.weigh(session, as_rival(session, key, note, owned), found, opinions)
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
        if not still_states(earlier.note.content, told):
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
    return moment if moment >= earlier.true_at else later.said_at
