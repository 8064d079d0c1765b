"""Conflicts of a note carried out in its own transaction: the overturned hidden, the doubtful linked and flagged."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cmp_to_key
from types import MappingProxyType
from typing import TYPE_CHECKING

from amem.analysis import Label
from amem.clock import zone
from amem.conflict.candidates import (
    Candidate,
    as_rival,
    claim_of,
    ended,
    keep,
    order,
    recall,
    rivals,
    states_something,
)
from amem.conflict.decision import NOBODY_ASKED, RULES, Weigher
from amem.conflict.ending import (
    flag_what_leans,
    free,
    hide,
    leads_to,
    lift_all_by,
    marked,
    part_of,
    standing_after,
    still_states,
    unlink_successors,
)
from amem.language import sentences
from amem.note import Link, LinkType, Status
from amem.receipt import Queued
from amem.storage.rows import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from amem.analysis import Conflict
    from amem.conflict.candidates import Claim, Rival
    from amem.conflict.decision import Opinions, Weighed
    from amem.conflict.judges import Judges
    from amem.language.predicates import Predicates
    from amem.note import MemoryNote, Overturned
    from amem.settings import Settings
    from amem.storage.store import Session


# Words that take back what was said before: "forget that", "never mind what I said about the trip", 算了, 当我没说.

#: A note told by itself takes back the one told right before it, not what was said on another day.
_RIGHT_BEFORE = timedelta(hours=1)
_END = r"(?=\s*(?:[,.;:!?…—–-]|$))"
_SAID = r"(?:said|told you|wrote|mentioned)"
_ENGLISH = re.compile(
    r"(?:(?:no|oh|wait|ok(?:ay)?|actually|sorry|hm+|please|well|and|but|just)\b[,.!… ]*)*"
    r"(?:"
    rf"(?:forget|scratch|ignore|disregard|strike|never ?mind) "
    rf"(?:that|this|(?:what|everything|all|the thing|the part) (?:that )?I(?:'ve| have)?(?: just)? {_SAID}"
    rf"|(?:that )?I (?:just )?(?:said|mentioned) (?:that|it)|my last (?:message|note|sentence|statement))"
    r"(?: (?:just now|earlier|before|a (?:minute|moment) ago))?"
    r"(?: (?:about|on|regarding) (?P<about>[^,.;:!?]{2,60}))?"
    r"|I take (?:that|it|what I (?:just )?said)(?: back)(?: about (?P<of>[^,.;:!?]{2,60}))?"
    rf"|I didn['’]t (?:mean|say) that"
    r")" + _END,
    re.IGNORECASE,
)
_JUST = r"(?:我)?(?:刚才|刚刚|刚|之前|上面|前面)?(?:我)?"
_CHINESE = re.compile(
    r"(?:(?:不|不对|哦|噢|等等|等一下|抱歉|不好意思|呃|啊|嗯|那|还是|请|麻烦)[，,。！!…\s]*)*"
    r"(?:"
    r"算了(?:吧)?(?=\s*(?:[。.!！…~]|$))"
    r"|(?:算了(?:吧)?[，,\s]*)?(?:"
    r"(?:就)?当我没(?:说|讲|提)(?:过)?"
    rf"|(?:忘掉|忘了|忘记|忽略|别管|不用管|撤回|收回){_JUST}(?:说|讲|提)(?:过|到)?的?"
    r"(?:(?:关于|有关)(?P<about>[^，,。！!？?；;]{1,20}?)的?)?(?:话|事情?|那句话?|那些话?|内容)?"
    rf"|{_JUST}(?:说|讲)的(?:话|那句)?(?:不算|不作数|作废|收回)"
    r"|(?:收回|撤回)(?:我)?(?:刚才|刚刚|前面|上面)的话"
    r"|(?:刚才|刚刚|上一?|前一?)(?:那|这)?(?:句话?|条)(?:不算|不作数|作废|收回|当我没说)"
    r"))(?:吧|了|啊)?(?=\s*(?:[，,。.；;！!？?…~]|$))"
)

_BREAKS = " \t\n,.;:!?…—–-~，。；：！？、"


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Where a text takes something back: `before` is what the text itself says before that, `about` what it names."""

    before: str
    about: str = ""


def take_back_in(text: str) -> TakeBack | None:
    """The first sentence of a text that takes back what was said; None where none does."""
    said: list[str] = []
    for sentence in sentences(text):
        bare = sentence.strip()
        match = _ENGLISH.match(bare) or _CHINESE.match(bare)
        if match is not None:
            about = next((value for value in match.groupdict().values() if value), "")
            return TakeBack(" ".join(said[-1:]), about.strip())
        said.append(bare)
    return None


def without_take_backs(text: str, *, bare: bool = False) -> str:
    """`text` without the words that take something back; '' when it says nothing else.

    With `bare` a sentence that goes on after them ("scratch that, to Bonn") stays whole.
    """
    every = sentences(text)
    kept = [sentence if bare and _beside(sentence) else _beside(sentence) for sentence in every]
    return text if kept == every else " ".join(each for each in kept if each)


def _beside(sentence: str) -> str:
    match = _ENGLISH.match(sentence) or _CHINESE.match(sentence)
    return sentence if match is None else sentence[match.end() :].lstrip(_BREAKS)


def said_right_before(session: Session, note: MemoryNote) -> MemoryNote | None:
    """The note that `note`, told by itself, takes back: the last that the same person told a moment ago.

    A line of a file takes nothing back, and of what is said in a conversation more is known there. Nothing is taken
    back twice, or against a person's word.
    """
    found = take_back_in(note.content)
    if found is None or found.before or found.about or note.at is None:
        return None
    key = session.notes.told_before(note, since=note.at - _RIGHT_BEFORE)
    if key is None or session.sources.of([note.id])[note.id]:
        return None
    last, owned = session.notes.bare([key])[key]
    stands = last.status is Status.ACTIVE and owned.get("status") != "edited"
    return last if stands and states_something(last) else None


def void(session: Session, note: MemoryNote, predicates: Predicates, operation: int) -> None:
    """Take a note back as if it had never been so; what it had taken the place of stands again."""
    began = claim_of(session, note, 0).true_at
    for id in session.notes.replaced_by([note.id]):
        free(session, id, operation)
        unlink_successors(session, id, operation)
    lift_all_by(session, [note.id], operation)
    session.notes.change(note.id, standing_after(note, None, began), operation)
    flag_what_leans(session, note, None, session.now, predicates, operation)


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
