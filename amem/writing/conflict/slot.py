"""The slot rule: one subject, one slot, another value. What was true later holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from amem.text import is_cjk, normalize
from amem.truth.intervals import same_value
from amem.truth.news import may_overtake, overtakes
from amem.truth.subjects import subject_key
from amem.writing.conflict import cues, reasons
from amem.writing.conflict.ending import statement_of, states_more
from amem.writing.conflict.sometimes import only_sometimes
from amem.writing.conflict.verdict import Label, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from amem.note import Fact
    from amem.truth.predicates import Predicates
    from amem.writing.conflict.verdict import Claim

JUDGE = "slot"
SAID_SO, IMPLIED, DIFFER = 0.95, 0.85, 0.75
#: Within this time two people who say different things disagree; after it, something may have changed.
_AT_ONCE = timedelta(days=1)
#: Roles of what everything of ours runs on.
HOSTS = ("cloud", "hosting")
#: Facts a note are compared; nobody states more in one.
_MOST = 40


def judge(earlier: Claim, later: Claim, predicates: Predicates) -> Verdict | None:
    """What the facts of two notes make of them; None where they do not meet in a slot."""
    if banned := _banned(earlier, later):
        reason = reasons.differing(*banned, later.content, predicates)
        return Verdict(Label.CONTRADICTS, DIFFER, reason, JUDGE, quotes=_quotes(earlier, banned[:1]))
    best: Verdict | None = None
    overturned: list[Fact] = []
    for old, new in _meetings(earlier, later, predicates):
        verdict = _of(old, new, earlier, later, predicates)
        if verdict is None:
            continue
        overturned.append(old)
        if best is None or _weight(verdict) > _weight(best):
            best = verdict
    if best is None:
        return None
    quotes = _quotes(earlier, overturned)
    if best.label is not Label.SUPERSEDES:
        return replace(best, quotes=quotes)
    if only_sometimes(earlier.content, later.content):
        return replace(best, whole=False)  # what ended is not the statement, only its being so always
    whole = _is_all(earlier, overturned, predicates) and not states_more(earlier.content, quotes)
    return replace(best, whole=whole, quotes=quotes)


def _quotes(claim: Claim, facts: Iterable[Fact]) -> tuple[str, ...]:
    """The statements of a note that state these facts, in its words."""
    found = (statement_of(claim.content, each.object) for each in facts)
    return tuple(dict.fromkeys(each for each in found if each is not None))


def _banned(earlier: Claim, later: Claim) -> tuple[Fact, Fact] | None:
    """What one note forbids and the other says is used: a rule that is broken, which ends neither."""
    for old in earlier.facts[:_MOST]:
        for new in later.facts[:_MOST]:
            apart = {old.predicate, new.predicate} == {"forbids", "uses"} and old.holds and new.holds
            if apart and subject_key(old.subject) == subject_key(new.subject) and same_value(old.object, new.object):
                return old, new
    return None


def _meetings(earlier: Claim, later: Claim, predicates: Predicates) -> Iterator[tuple[Fact, Fact]]:
    """Facts of one subject and predicate that cannot hold at the same time, as far as their times allow."""
    for new in later.facts[:_MOST]:
        for old in earlier.facts[:_MOST]:
            if old.predicate == new.predicate and subject_key(old.subject) == subject_key(new.subject):
                since, began = new.valid_from or later.true_at, old.valid_from or earlier.true_at
                past = new.holds and new.valid_to is not None and new.valid_to <= later.said_at
                over = old.valid_to is not None and old.valid_to <= since
                follows = since >= began or _is_news(old, new, earlier, later)
                if follows and not past and not over and _apart(old, new, predicates):
                    yield old, new


def _is_news(old: Fact, new: Fact, earlier: Claim, later: Claim) -> bool:
    """Whether the one fact tells of a change after the other was said of no time in particular."""
    return overtakes(_telling(new, later), _telling(old, earlier))


def _telling(fact: Fact, claim: Claim) -> Claim:
    """A claim as of what one of its facts says of a time."""
    dated = claim.dated or fact.valid_from is not None
    return replace(claim, true_at=fact.valid_from or claim.true_at, until=fact.valid_to or claim.until, dated=dated)


def _apart(old: Fact, new: Fact, predicates: Predicates) -> bool:
    if old.holds and new.holds:
        slot = predicates.slot(new.predicate, new.object)
        filled = slot is not None and slot == predicates.slot(old.predicate, old.object)
        return filled and not same_value(old.object, new.object) and not _within(old.object, new.object)
    if old.holds == new.holds:
        return False
    ending = old if not old.holds else new
    return same_value(old.object, new.object) or not normalize(ending.object)


def _within(one: str, other: str) -> bool:
    """Whether one Chinese name begins with the other: 杭州 and 杭州西湖区, where no space tells the parts."""
    first, second = sorted((normalize(one), normalize(other)), key=len)
    return is_cjk(first) and second.startswith(first)


def _of(old: Fact, new: Fact, earlier: Claim, later: Claim, predicates: Predicates) -> Verdict | None:
    said_so = cues.replaces(later.content)
    if not said_so and may_overtake(_telling(old, earlier), _telling(new, later)):
        return Verdict(Label.CONTRADICTS, DIFFER, reasons.unclear(old, new, later.content, predicates), JUDGE)
    never_changes = all(cues.forever(claim.content) for claim in (earlier, later))
    if not said_so and (never_changes or _disagree(earlier, later)):
        return Verdict(Label.CONTRADICTS, DIFFER, reasons.differing(old, new, later.content, predicates), JUDGE)
    confidence = SAID_SO if said_so else IMPLIED
    if not new.holds:
        return Verdict(Label.SUPERSEDES, confidence, reasons.ended(old, later.content, predicates), JUDGE)
    if not old.holds:
        return Verdict(Label.SUPERSEDES, IMPLIED, reasons.resumed(new, later.content, predicates), JUDGE)
    several = predicates.rows[new.predicate].one is not True and not cues.main(later.content)
    if not said_so and several and not _moved_house(new, later, predicates):
        # "We use Redis" and "we use Memcached" may both be so.
        return None
    return Verdict(Label.SUPERSEDES, confidence, reasons.replaced(old, new, later.content, predicates), JUDGE)


def _moved_house(new: Fact, later: Claim, predicates: Predicates) -> bool:
    """Whether something is said to run elsewhere now: what is hosted is hosted in one place."""
    return predicates.role(new.object) in HOSTS and cues.now(later.content)


def _disagree(earlier: Claim, later: Claim) -> bool:
    """Two speakers, at about one time."""
    return earlier.speaker != later.speaker and abs(later.true_at - earlier.true_at) <= _AT_ONCE


def _weight(verdict: Verdict) -> tuple[bool, float]:
    return verdict.label is Label.SUPERSEDES, verdict.confidence


def _is_all(claim: Claim, overturned: list[Fact], predicates: Predicates) -> bool:
    """Whether no fact of a note is left when these fall."""
    fallen = {each.predicate for each in overturned}
    rest = [
        each for each in claim.facts if each not in overturned and not (not each.holds and each.predicate in fallen)
    ]
    return all(predicates.hangs_on(each.predicate) in fallen for each in rest)
