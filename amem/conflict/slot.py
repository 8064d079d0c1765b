"""The slot rule: one subject, one slot, another value; and why two notes do not go together, in words."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from amem.conflict import cues
from amem.conflict.compare import of_one_day, only_sometimes
from amem.conflict.ending import statement_of, states_more
from amem.conflict.statements import read
from amem.language import is_cjk, normalize, written_in_cjk
from amem.language.intervals import may_overtake, overtakes, same_value
from amem.language.lexicon import is_person
from amem.language.predicates import USER, WE, subject_key
from amem.note import Label, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from amem.conflict.candidates import Claim
    from amem.language.predicates import Predicates
    from amem.note import Fact


# The slot rule: one subject, one slot, another value. What was true later holds.

SLOT = "slot"
SAID_SO, IMPLIED, DIFFER = 0.95, 0.85, 0.75
#: Within this time two people who say different things disagree; after it, something may have changed.
_AT_ONCE = timedelta(days=1)
#: Roles of what everything of ours runs on.
HOSTS = ("cloud", "hosting")
_NAME = "named"
#: Facts a note are compared; nobody states more in one.
_MOST = 40


def judge(earlier: Claim, later: Claim, predicates: Predicates) -> Verdict | None:
    """What the facts of two notes make of them; None where they do not meet in a slot."""
    if banned := _banned(earlier, later):
        reason = why_differing(*banned, later.content, predicates)
        return Verdict(Label.CONTRADICTS, DIFFER, reason, SLOT, quotes=_quotes(earlier, banned[:1]))
    best: Verdict | None = None
    overturned: list[Fact] = []
    for old, new in _meetings(earlier, later, predicates):
        verdict = _of(old, new, earlier, later, predicates)
        if verdict is None:
            continue
        overturned.append(old)
        if best is None or _weight(verdict) > _weight(best):
            best = verdict
    if best is None or of_one_day(later.content):
        return None
    quotes = _quotes(earlier, overturned)
    if best.label is not Label.SUPERSEDES:
        return replace(best, quotes=quotes)
    if only_sometimes(earlier.content, later.content):
        return replace(best, whole=False)  # what ended is not the statement, only its being so always
    whole = _is_all(earlier, overturned, predicates) and not states_more(earlier.content, quotes)
    return replace(best, whole=whole, quotes=quotes)


def _quotes(claim: Claim, facts: Iterable[Fact]) -> tuple[str, ...]:
    """The statements of a note that state these facts, in its words; of a list whose other items hold, the item."""
    fallen = list(facts)
    found = {each: statement_of(claim.content, each.object) for each in fallen}
    for fact, statement in found.items():
        listed = (fact.subject, fact.predicate)
        others = [each for each in claim.facts if each.holds and (each.subject, each.predicate) == listed]
        if statement and any(each not in fallen and each.object in statement for each in others):
            found[fact] = fact.object if fact.object in statement else statement
    return tuple(dict.fromkeys(each for each in found.values() if each is not None))


def _banned(earlier: Claim, later: Claim) -> tuple[Fact, Fact] | None:
    """What one note forbids and the other says is used: a rule that is broken, which ends neither."""
    for old in earlier.facts[:_MOST]:
        for new in later.facts[:_MOST]:
            apart = {old.predicate, new.predicate} == {"forbids", "uses"} and old.holds and new.holds
            if apart and same_value(old.object, new.object):
                ban, use = (old, new) if old.predicate == "forbids" else (new, old)
                ours = ban.subject == WE and _is_thing(use.subject)
                if ours or subject_key(ban.subject) == subject_key(use.subject):
                    return old, new
    return None


def _is_thing(subject: str) -> bool:
    """Whether a subject may be a thing of ours, which our bans hold for: "client portal", not "Ana" or "user's son"."""
    return subject != USER and not re.search("['’]s |的", subject) and not is_person(subject.split()[0])


def _meetings(earlier: Claim, later: Claim, predicates: Predicates) -> Iterator[tuple[Fact, Fact]]:
    """Facts of one subject and predicate that cannot hold at the same time, as far as their times allow."""
    for new in later.facts[:_MOST]:
        for old in earlier.facts[:_MOST]:
            if old.predicate == new.predicate and subject_key(old.subject) == subject_key(new.subject):
                since, began = new.valid_from or later.true_at, old.valid_from or earlier.true_at
                past = new.holds and new.valid_to is not None and new.valid_to <= later.said_at
                over = old.valid_to is not None and old.valid_to <= since
                follows = since >= began or _is_news(old, new, earlier, later)
                apart = not past and not over and follows and _apart(old, new, predicates)
                if apart and not (new.holds and _told_as_past(later.content, new.object)):
                    yield old, new


def _told_as_past(content: str, value: str) -> bool:
    """Whether a note names a value only where it tells of what was: 小何之前，组长是老梁."""
    wanted = normalize(value)
    said = [each for each in read(content) if wanted and wanted in normalize(each.text)]
    return bool(said) and all(each.past for each in said)


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
        return Verdict(Label.CONTRADICTS, DIFFER, why_unclear(old, new, later.content, predicates), SLOT)
    never_changes = all(cues.forever(claim.content) for claim in (earlier, later))
    if not said_so and (never_changes or _disagree(earlier, later)):
        return Verdict(Label.CONTRADICTS, DIFFER, why_differing(old, new, later.content, predicates), SLOT)
    confidence = SAID_SO if said_so else IMPLIED
    if not new.holds:
        return Verdict(Label.SUPERSEDES, confidence, why_ended(old, later.content, predicates), SLOT)
    if not old.holds:
        return Verdict(Label.SUPERSEDES, IMPLIED, why_resumed(new, later.content, predicates), SLOT)
    several = predicates.rows[new.predicate].one is not True and not cues.main(later.content)
    if not said_so and (several or new.predicate == _NAME) and not _is_so_now(new, later, predicates):
        # "We use Redis" and "we use Memcached" may both be so, and who gives another name is somebody else.
        return None
    return Verdict(Label.SUPERSEDES, confidence, why_replaced(old, new, later.content, predicates), SLOT)


def _is_so_now(new: Fact, later: Claim, predicates: Predicates) -> bool:
    """Whether something is said to run elsewhere now, or to have another name: it has one host, and one name."""
    once = new.predicate == _NAME or predicates.role(new.object) in HOSTS
    return once and cues.now(later.content)


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


# Why two notes do not go together, in the language of the later one.

_SHOWN = 80


def why_replaced(old: Fact, new: Fact, text: str, predicates: Predicates) -> str:
    """One value has taken another's place."""
    wording = _in_language_of(text, "'{new}' replaces '{old}'", "后来是“{new}”，不再是“{old}”")
    return wording.format(**_said(text, predicates, old=old, new=new))


def why_ended(old: Fact, text: str, predicates: Predicates) -> str:
    """Something is said not to be so any more."""
    wording = _in_language_of(text, "'{old}' is no longer so", "“{old}”已不再成立")
    return wording.format(**_said(text, predicates, old=old))


def why_resumed(new: Fact, text: str, predicates: Predicates) -> str:
    """Something that had ended is so again."""
    wording = _in_language_of(text, "'{new}' is so again", "“{new}”又成立了")
    return wording.format(**_said(text, predicates, new=new))


def why_differing(old: Fact, new: Fact, text: str, predicates: Predicates) -> str:
    """Two values of one thing, and nothing says which of them holds."""
    wording = _in_language_of(text, "'{new}' and '{old}' cannot both be so", "“{new}”与“{old}”说法不一")
    return wording.format(**_said(text, predicates, old=old, new=new))


def why_unclear(told: Fact, said: Fact, text: str, predicates: Predicates) -> str:
    """A change of long ago was told of after the other was said of no time, and nothing says which of them holds."""
    if told.holds:
        english = "it was told after '{said}' that '{told}' came about long before: nobody said which is so now"
        chinese = "先说“{said}”，后来才说早已是“{told}”：没有人说现在是哪一个"
    else:
        english = "it was told after '{said}' that this had ended long before: nobody said which is so now"
        chinese = "先说“{said}”，后来才说这早已结束：没有人说现在是哪一个"
    return _in_language_of(text, english, chinese).format(**_said(text, predicates, told=told, said=said))


def why_turned(old: str, new: str, text: str) -> str:
    """The later text says the opposite."""
    wording = _in_language_of(text, "'{new}' is the opposite of '{old}'", "“{new}”与“{old}”相反")
    return wording.format(old=cut(old), new=cut(new))


def why_another(old: str, new: str, text: str) -> str:
    """The later text gives another value."""
    wording = _in_language_of(text, "'{new}' where it was '{old}'", "后来是“{new}”，先前是“{old}”")
    return wording.format(old=cut(old), new=cut(new))


def why_again(text: str) -> str:
    """The later text says the same."""
    return _in_language_of(text, "it says the same", "说的是同一件事")


def cut(text: str) -> str:
    """`text` on one line, shortened to what a reason has room for."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1].rstrip() + "…"


def quoted(statement: str) -> str:
    """The words by which a reason quotes a statement, as far as it has room for them."""
    return cut(statement).rstrip(" .!?;,…。！？；，")


def _in_language_of(text: str, english: str, chinese: str) -> str:
    return chinese if written_in_cjk(text) else english


def _said(text: str, predicates: Predicates, **facts: Fact) -> dict[str, str]:
    """Each fact in words, in the language of the text."""
    chinese = written_in_cjk(text)
    return {name: cut(predicates.phrase(fact.predicate, fact.object, chinese=chinese)) for name, fact in facts.items()}
