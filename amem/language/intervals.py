"""From when to when something was so, from evidence in whatever order it was told."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Protocol

from amem.labels import short_id
from amem.language import written_in_cjk
from amem.language.predicates import Predicates, closer, same_value, subject_key, value_key
from amem.note import Status, plain_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# One thing that one note states, with all that matters to whether it still holds.


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fact of a note that is not deleted.

    `since` is when it was (or, with `holds` False, ceased to be) so: the fact's own time, else the note's, else when
    it was said, with `dated` False. `until` is an end that the note itself states. `order` breaks ties: later arrival,
    greater number.
    `successor` is the note that superseded this one, None when there is none or it was deleted; `retracted` says that
    it was superseded with nothing in its place, `ended` when the superseded note stopped being true. `kept` is set
    where a person said that the note holds in spite of another: nothing but a person ends it then.
    """

    note: str
    order: int
    subject: str
    predicate: str
    object: str
    holds: bool
    since: datetime
    until: datetime | None
    said: datetime
    speaker: str | None
    status: Status
    successor: str | None = None
    retracted: bool = False
    ended: datetime | None = None
    kept: bool = False
    dated: bool = False


# Which of two statements about one thing is the later word, where a change is told after it came about.
#
# "I live in Ghent" says how things stand when it is said, and not since when. "I moved to Brugge last week", told
# after it, dates its change before that moment and yet is the news. "I moved to Berlin in 2022", told in 2026, is
# history: it does not overturn what was said in 2024. Between the two, "I moved to Brugge in May", told in November
# right after "I live in Ghent", may be either, and no rule can tell.

#: A change is news for as long after it came about: "three months ago" still is.
_FRESH = timedelta(days=92)
#: Of what was said longer ago than this one may have spoken as of its own time; what is told since is about others.
_RECENT = timedelta(days=366)


class Telling(Protocol):
    """What was said, and of when: `since` is the moment `said` where it names no time of its own (`dated` False)."""

    @property
    def since(self) -> datetime: ...
    @property
    def until(self) -> datetime | None: ...
    @property
    def said(self) -> datetime: ...
    @property
    def order(self) -> int: ...
    @property
    def dated(self) -> bool: ...


def is_news(told: Telling) -> bool:
    """Whether it dates a change shortly before it was told, and says of no end that is over."""
    return _lasts(told) and timedelta(0) <= told.said - told.since <= _FRESH


def overtakes(news: Telling, bare: Telling) -> bool:
    """Whether `bare`, which names no time and was said first, was so only until the change that `news` tells of."""
    return _comes_after(news, bare) and is_news(news)


def may_overtake(told: Telling, bare: Telling) -> bool:
    """Whether `told`, too late to be news, may yet be the later word on what `bare` said not long before it."""
    late = _lasts(told) and told.said - told.since > _FRESH
    return late and _comes_after(told, bare) and told.said - bare.said <= _RECENT


def _comes_after(told: Telling, bare: Telling) -> bool:
    """Whether it was told after `bare`, which names no time, of a time before that."""
    return not bare.dated and told.since <= bare.since and (bare.said, bare.order) < (told.said, told.order)


def _lasts(told: Telling) -> bool:
    """Whether it says since when something is so, and of no end that is over."""
    return told.dated and (told.until is None or told.until > told.said)


def placed(members: list[Evidence], *, one: bool) -> list[Evidence]:
    """Evidence on one thing, each that names no time put right before the first change that was told after it.

    `one` tells that there is room for one value only.
    """
    replacing = {each.successor for each in members}
    changes = [each for each in members if each.dated and (is_news(each) or each.note in replacing)]
    if not changes:
        return members
    changes.sort(key=lambda each: (each.since, each.said, each.order))
    found = []
    for each in members:
        change = next((new for new in changes if _ends(new, each) and _clash(each, new, one=one)), None)
        found.append(each if change is None else replace(each, since=change.since))
    return found


def _ends(change: Evidence, each: Evidence) -> bool:
    """Whether a change is the later word: it is news, or it was decided that what is in doubt gave way to it."""
    return overtakes(change, each) or (each.successor == change.note and may_overtake(change, each))


def _clash(old: Evidence, new: Evidence, *, one: bool) -> bool:
    """Whether both cannot be so at a time."""
    if old.holds and new.holds:
        return one and not same_value(old.object, new.object)
    ending = old if new.holds else new
    return old.holds is not new.holds and (not ending.object or same_value(old.object, new.object))


#: What is so from its beginning, whenever that was said.
TIMELESS = ("birthday",)

# From when to when something was so: a subject's facts in the order in which they were true, whenever they were told.
#
# A value of a slot (where someone lives) ends where the next one begins; a fact that is said not to hold any more
# ends there; what hangs on another predicate (a manager on an employer) is presumed to have ended with it; what names
# no time was so until the change that is told after it (``amem.language.intervals``). Nothing is kept of this: it is
# reckoned from the evidence each time, so that a diary imported late falls into its place.

__all__ = ["Interval", "intervals", "same_value"]

_NEVER = (datetime.min.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC), 0)


@dataclass(frozen=True, slots=True)
class Interval:
    """`subject` `predicate` `object` from `since` until `until` (None: it still is so).

    `notes` state it, the first first; `ended_by` is the note that says what came after, None where none does.
    `certain` is False where the end is only presumed; `because` says in words what ended it, in the language of what
    did, `reasons` in English and in Chinese. Where nobody said when it began, only that it ended, `since` is `until`.
    `doubted_by` are notes because of which it may be out of date.
    """

    subject: str
    predicate: str
    object: str
    since: datetime
    until: datetime | None
    notes: tuple[str, ...]
    ended_by: str | None = None
    certain: bool = True
    because: str = ""
    doubted_by: tuple[str, ...] = ()
    reasons: tuple[str, str] = ("", "")

    def at(self, moment: datetime) -> bool:
        """Whether it was so at that time."""
        return self.since <= moment and (self.until is None or moment < self.until)

    def span(self, zone: tzinfo, *, chinese: bool = False) -> str:
        """From when to when: ``since 2024-02-01``, ``2024-02-01 – 2026-03-01``, ``until 2020-01-01 ?`` for a guess.

        '' for a birthday that holds: of it nobody asks since when it is.
        """
        since = self.since.astimezone(zone).date().isoformat()
        if self.until is None:
            return "" if self.predicate in TIMELESS else f"{since} 起" if chinese else f"since {since}"
        until = self.until.astimezone(zone).date().isoformat() + ("" if self.certain else " ?")
        if self.since != self.until:
            return f"{since} – {until}"
        return f"至 {until}" if chinese else f"until {until}"

    def ending(self, *, chinese: bool | None = None) -> str:
        """What ended it: ``ended: OpenAI since``, 已结束：后来是柏林; while it holds, which notes put that in doubt.

        In Chinese, in English, or (`chinese` None) in the language of what ended it or is in doubt.
        """
        if self.doubted_by:
            ids = ", ".join(map(short_id, self.doubted_by))
            chinese = written_in_cjk(self.object) if chinese is None else chinese
            return f"可能已过时：见 {ids}" if chinese else f"may be out of date: see {ids}"
        because = self.because if chinese is None else self.reasons[chinese] or self.because
        if self.until is None or not because:
            return ""
        if written_in_cjk(because) if chinese is None else chinese:
            return f"{'已结束' if self.certain else '推测已结束'}：{because}"
        return f"{'ended' if self.certain else 'presumed ended'}: {because}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; times are ISO 8601 in UTC."""
        return plain_fields(self, "reasons")


def presumed(ever: Sequence[Interval], at: datetime) -> list[Interval]:
    """Return what hung on something that ended by then and was not said anew: neither so nor certainly over."""
    return [
        each
        for each in ever
        if not each.certain
        and each.until is not None
        and each.until <= at
        and not any(other.predicate == each.predicate and each.until <= other.since <= at for other in ever)
    ]


def intervals(evidence: Iterable[Evidence], predicates: Predicates) -> list[Interval]:
    """Every interval that the evidence makes, by subject and predicate, each in order of time.

    Evidence must be all there is of its subjects, since one fact ends another. Predicates may be under any of their
    names.
    """
    runs: list[_Run] = []
    for (_, _, slot), members in _groups(evidence, predicates).items():
        runs += (
            _one_at_a_time(members, nested=predicates.row(slot).value == "place") if slot else _side_by_side(members)
        )
    _end_what_hangs_on(runs, predicates)
    return sorted((run.interval() for run in runs), key=_by_subject)


#: Why something ended, in English and in Chinese.
_STATED = "the note says until when", "笔记写明了到什么时候"
_TAKEN_BACK = "it was taken back", "已撤回"
_SUPERSEDED = "another note superseded it", "已被另一条笔记取代"


@dataclass(frozen=True, slots=True)
class _End:
    """`reasons` say why, in English and Chinese; `chinese` tells in which of these what ended it is written."""

    at: datetime
    by: str | None
    reasons: tuple[str, str]
    chinese: bool = False
    certain: bool = True
    word: Evidence | None = None


@dataclass(slots=True, eq=False)
class _Run:
    """An interval that grows while the evidence is walked through in order of time.

    `stated` is an end that its notes state, the latest such word, `ceased` the last of its notes to be superseded,
    `stands` whether a note of it stands, so that the record of others does not end it; `last` is the last word for it.
    """

    first: Evidence
    object: str = ""
    stated: _End | None = None
    ceased: _End | None = None
    stands: bool = False
    kept: bool = False
    notes: dict[str, None] = field(default_factory=dict)
    last: Evidence = field(init=False)
    end: _End | None = None

    def __post_init__(self) -> None:
        self.object = self.first.object
        self.add(self.first)

    def add(self, each: Evidence) -> None:
        """Let another word for it count."""
        self.object = closer(self.object, each.object)
        self.notes.setdefault(each.note)
        self.last = each
        self.kept = self.kept or each.kept
        stated = None if each.until is None else _End(each.until, None, _STATED)
        if each.ended is None:
            self.stands = True
            self.stated = stated or self.stated
            return
        ceased = _End(max(each.ended, each.since), each.successor, _TAKEN_BACK if each.retracted else _SUPERSEDED)
        ceased = stated if stated is not None and stated.at < ceased.at else ceased
        if self.ceased is None or ceased.at >= self.ceased.at:
            self.ceased = ceased

    def own_end(self) -> _End | None:
        """What its own notes, and the record of them, say of its end."""
        return self.stated if self.stands else self.ceased

    def finish(self, by: Evidence | None = None) -> None:
        """End it by what came after (None: nothing did), or earlier where its own notes say so."""
        self.end = self.own_end()
        if by is not None and (self.end is None or by.since < self.end.at):
            reasons = _after(by.object, holds=by.holds)
            self.end = _End(by.since, by.note, reasons, written_in_cjk(by.object), word=by)

    def goes_on(self, each: Evidence) -> bool:
        """Whether this word for it still concerns it, and not its return after it had ended."""
        end = self.own_end()
        return end is None or each.since <= end.at

    def interval(self) -> Interval:
        """The interval, as its end stands."""
        end, since = self.end, self.first.since
        parts = (self.first.subject, self.first.predicate, self.object)
        if end is None:
            return Interval(*parts, since, None, tuple(self.notes))
        because = end.reasons[end.chinese]
        times = min(since, end.at), end.at
        return Interval(*parts, *times, tuple(self.notes), end.by, end.certain, because, reasons=end.reasons)


def _groups(evidence: Iterable[Evidence], predicates: Predicates) -> dict[tuple[str, str, str], list[Evidence]]:
    """What is walked through together, in order of time: a slot, or all of a many-valued predicate."""
    groups: defaultdict[tuple[str, str, str], list[Evidence]] = defaultdict(list)
    of_all: list[tuple[tuple[str, str], Evidence]] = []
    names: dict[str, str] = {}
    for each in evidence:
        if each.predicate not in names:
            names[each.predicate] = predicates.canonical(each.predicate)
        name = names[each.predicate]
        each = _begun_by_its_end(each if each.predicate == name else replace(each, predicate=name))
        about = (subject_key(each.subject), each.predicate)
        if each.holds or each.object:
            groups[*about, predicates.slot(each.predicate, each.object) or ""].append(each)
        else:
            of_all.append((about, each))
    slots: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for subject, predicate, slot in groups:
        slots[subject, predicate].append(slot)
    for about, each in of_all:  # "she quit": whatever it was
        for slot in slots[about]:
            groups[*about, slot].append(each)
    return {key: sorted(_settled(members, one=bool(key[2])), key=_in_time) for key, members in groups.items()}


def _in_time(each: Evidence) -> tuple[datetime, datetime, int, bool]:
    """What concerns one moment counts in the order it was said in; in one breath an end before what begins."""
    return (*_told(each), each.holds)


def _told(each: Evidence) -> tuple[datetime, datetime, int]:
    return each.since, each.said, each.order


def _begun_by_its_end(each: Evidence) -> Evidence:
    """What is so "until 2020", said today, did not begin today."""
    return replace(each, since=each.until) if each.until is not None and each.until < each.since else each


def _settled(members: Iterable[Evidence], *, one: bool) -> list[Evidence]:
    """The evidence that counts. Where the note that superseded one is among it, its facts say when that one ended."""
    # What was taken back before it began never was so; an end that was taken back ended nothing.
    counting = [
        each
        for each in members
        if not (each.retracted and each.ended is not None and (not each.holds or each.ended <= each.since))
    ]
    counting = placed(counting, one=one)
    told: dict[tuple[str, str], tuple[datetime, datetime, int]] = {}
    for each in counting:
        key = (each.note, "" if one else value_key(each.object))
        told[key] = max(_told(each), told.get(key, _told(each)))
    settled = []
    for each in counting:
        if each.successor is not None:
            values = ("",) if one else ("", value_key(each.object))
            if any(told.get((each.successor, value), _NEVER) >= _told(each) for value in values):
                each = replace(each, ended=None, successor=None)
        settled.append(each)
    return settled


def _one_at_a_time(members: Iterable[Evidence], *, nested: bool) -> list[_Run]:
    """The runs of a slot: a value ends the one before, unless a person kept that.

    With `nested` values may lie in one another, as a quarter in its town: two that one note gives for one time both
    stand (搬到里斯本 …… 新家在 Graça).
    """
    done: list[_Run] = []
    open_: list[_Run] = []
    for each in members:
        of_it = [run for run in open_ if same_value(run.object, each.object) or not (each.holds or each.object)]
        again = next((run for run in of_it if run.goes_on(each)), None) if each.holds else None
        over = [
            run
            for run in (open_ if each.holds else of_it)
            if run is not again
            and not (run.kept and run.goes_on(each))
            and not (nested and each.holds and run.last.note == each.note and run.last.since == each.since)
        ]
        for run in over:
            run.finish(each)
        done += over
        open_ = [run for run in open_ if run not in over]
        if again is not None:
            again.add(each)
        elif each.holds:
            open_.append(_Run(each))
    for run in open_:
        run.finish()
    return done + open_


def _side_by_side(members: Iterable[Evidence]) -> list[_Run]:
    """The runs of a predicate that holds any number of values: each is ended under its own name only."""
    done: list[_Run] = []
    open_: dict[str, _Run] = {}
    for each in members:
        value = value_key(each.object)
        if each.holds and value in open_ and open_[value].goes_on(each):
            open_[value].add(each)
            continue
        # Of several, nothing tells which one "something else instead" takes the place of.
        over = [value] if each.holds or each.object else list(open_) if len(open_) == 1 else []
        for name in over:
            if name in open_ and (each.holds or not open_[name].kept):
                open_[name].finish(each)
                done.append(open_.pop(name))
        if each.holds:
            open_[value] = _Run(each)
    for run in open_.values():
        run.finish()
    return done + list(open_.values())


def _end_what_hangs_on(runs: Iterable[_Run], predicates: Predicates) -> None:
    """End what hangs on something that ended, unless it was said again since."""
    of: defaultdict[tuple[str, str], list[_Run]] = defaultdict(list)
    for run in runs:
        of[subject_key(run.first.subject), run.first.predicate].append(run)
    for subject, predicate in sorted(of, key=lambda key: _depth(key[1], predicates)):
        base = predicates.hangs_on(predicate)
        ends = [(run.end, run) for run in of.get((subject, base), ()) if run.end is not None] if base else []
        ends.sort(key=lambda pair: pair[0].at)
        moments = [end.at for end, _ in ends]
        for run in of[subject, predicate]:
            place = bisect_right(moments, run.last.since)
            # What was last said, without a time, before the end was told hangs on what ended.
            word = ends[-1][0].word if place and place == len(moments) else None
            if word is not None and overtakes(word, run.last):
                place -= 1
            if place == len(moments) or run.kept or (run.end is not None and run.end.at <= moments[place]):
                continue
            end, gone = ends[place]
            english, chinese = (
                predicates.phrase(gone.first.predicate, gone.object, chinese=each) for each in (False, True)
            )
            reasons = f"{english} until then", f"此前{chinese}"
            run.end = _End(end.at, end.by, reasons, written_in_cjk(gone.object), certain=False)


def _after(object: str, *, holds: bool) -> tuple[str, str]:
    """What came of it, in English and in Chinese: "OpenAI since", 后来是柏林, "no longer vegetarian"."""
    if holds:
        return f"{object} since", f"后来是{object}"
    return f"no longer {object}".rstrip(), f"不再是{object}" if object else "不再如此"


def _depth(predicate: str, predicates: Predicates) -> int:
    """How many others it hangs on, one on the next; a table that hangs in a circle counts each once."""
    seen = {predicate}
    while (base := predicates.hangs_on(predicate)) is not None and base not in seen:
        seen.add(base)
        predicate = base
    return len(seen)


def _by_subject(each: Interval) -> tuple[str, str, datetime, str]:
    return (subject_key(each.subject), each.predicate, each.since, each.object.casefold())
