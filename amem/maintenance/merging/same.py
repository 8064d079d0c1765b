"""Whether two notes say the same thing about the same thing, so that one can stand for both.

Precision comes first: two notes left apart cost a line, two merged wrongly cost a memory.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC
from typing import TYPE_CHECKING

from amem.clock import local_time
from amem.llm.offline.lexicon import lexicon
from amem.maintenance.merging.times import moves_with_the_day
from amem.maintenance.merging.wording import Said, Wording, covers, reordered, said, turned_round
from amem.note import Enrichment, Kind, MemoryType, Scope, Status
from amem.text import normalize
from amem.truth.subjects import subject_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.note import MemoryNote

#: What is made of other notes, or followed word for word, is never merged.
#: The difference that a person may overrule: nothing but the wording was found to differ.
OTHER_WORDS = "other words"
_NEVER = frozenset({Kind.EPISODE, Kind.TOPIC, Kind.PROCEDURE, Kind.CODE})


def may_merge(note: MemoryNote, owned: Mapping[str, str]) -> bool:
    """Whether a note may be merged with any other at all; `owned` says which of its fields people hold.

    What a person pinned or edited is that person's, and what an analyst has still to read may change.
    """
    return (
        note.status is Status.ACTIVE
        and not note.overturned  # merged, a statement would stand again, or lose what came after it
        and note.kind not in _NEVER
        and "episode" not in note.metadata
        and not note.pinned
        and "edited" not in owned.values()
        and note.enrichment is Enrichment.DONE
    )


def difference(one: MemoryNote, other: MemoryNote, days: float) -> str:
    """Why two notes that may be merged are not the same, in words; '' when they are. `days` is the most between them.

    How near their vectors are is for the caller to ask.
    """
    first, second = said(one.content), said(other.content)
    if normalize(one.speaker or "") != normalize(other.speaker or ""):
        return "another speaker"
    if Scope.of(one.metadata) != Scope.of(other.metadata):
        return "another user, agent or session"
    if one.kind.memory_type is not other.kind.memory_type or (Kind.QUESTION in (one.kind, other.kind)) != (
        one.kind is other.kind is Kind.QUESTION
    ):
        return "another kind"
    if apart := _apart(one, other, days):
        return apart
    if _names(one) != _names(other):
        return "another name"
    if first.numbers != second.numbers:
        return "another number"
    if first.times != second.times:
        return "another time"
    if first.denials != second.denials or first.questions != second.questions:
        return "one denies or asks what the other states"
    if _disagree(one, other):
        return "another fact"
    if _same_words(first, second) or (_same_facts(one, other) and _another_verb(first, second)):
        return ""
    if len(first.sentences) == len(second.sentences) == 1 and _reworded(one, other, first, second):
        return ""
    return OTHER_WORDS


def may_say_the_same(one: MemoryNote, other: MemoryNote, days: float) -> bool:
    """Whether a person should say if two notes are the same: they state the same facts, and differ in wording alone."""
    return difference(one, other, days) == OTHER_WORDS and _same_facts(one, other)


def unsaid(one: Said, other: Said) -> list[Wording]:
    """The sentences of `other` that `one` does not say."""
    return [each for each in other.sentences if not any(covers(held, each) for held in one.sentences)]


def _apart(one: MemoryNote, other: MemoryNote, days: float) -> str:
    if one.at is None or other.at is None or abs((one.at - other.at).total_seconds()) > days * 86_400:
        return "too long between them"
    if one.valid_from != other.valid_from or one.valid_to != other.valid_to:
        moved = one.valid_from is not None and other.valid_from is not None
        if moved or one.valid_to != other.valid_to:
            return "true at another time"
    # What happened twice in the same words happened twice; so did what was "today" on two days.
    happened = one.kind.memory_type is MemoryType.EPISODIC
    if (happened or moves_with_the_day(one.content) or moves_with_the_day(other.content)) and _day(one) != _day(other):
        return "another day"
    return ""


def _day(note: MemoryNote) -> object:
    return local_time(note.timestamp, UTC).date()


def _names(note: MemoryNote) -> frozenset[str]:
    """The note's names; those with digits in them are compared as numbers and times."""
    return frozenset(normalize(name) for name in note.entities if not any(char.isdigit() for char in name))


def _in_order(note: MemoryNote) -> list[str]:
    """The note's names as they stand in its text."""
    text = normalize(note.content)
    return sorted(_names(note), key=lambda name: (text.find(name), name))


def _disagree(one: MemoryNote, other: MemoryNote) -> bool:
    """Whether both state something of one subject and predicate, and not the same."""
    stated: list[defaultdict[tuple[str, str], set[tuple[str, bool]]]] = [defaultdict(set), defaultdict(set)]
    for held, note in zip(stated, (one, other), strict=True):
        for fact in note.facts:
            held[subject_key(fact.subject), normalize(fact.predicate)].add((normalize(fact.object), fact.holds))
    first, second = stated
    return any(first[key] != second[key] for key in first.keys() & second.keys())


def _same_words(one: Said, other: Said) -> bool:
    """Whether one of the texts says all that the other says, but for whole sentences that limit nothing."""
    if not one.sentences or not other.sentences:
        return False
    missing, extra = unsaid(one, other), unsaid(other, one)
    # A sentence that each says in its own way may say two things; one that only one of them has says one thing more.
    return not (missing and extra) and not any(each.limits for each in (*missing, *extra))


def _same_facts(one: MemoryNote, other: MemoryNote) -> bool:
    """Whether both state the same, and something."""
    stated = [
        {(subject_key(fact.subject), fact.predicate, normalize(fact.object), fact.holds) for fact in note.facts}
        for note in (one, other)
    ]
    return bool(stated[0]) and stated[0] == stated[1]


def _reworded(one: MemoryNote, other: MemoryNote, first: Said, second: Said) -> bool:
    """Whether two sentences say the same in another order.

    "A is B" may be turned round. Else the facts must be the same, which tell who does what to whom, and hold every
    name that the sentences do; then all other words must be in both.
    """
    left, right = first.sentences[0], second.sentences[0]
    if left.whose != right.whose and left.whose and right.whose:
        return False
    if turned_round(left, right):
        return True
    if not _same_facts(one, other):
        return False
    if _in_order(one) != _in_order(other):
        return False
    stated = [text for fact in one.facts for text in (fact.subject, fact.object)]
    named = all(any(name in normalize(text) for text in stated) for name in _names(one))
    return named and reordered(left, right, stated)


def _another_verb(one: Said, other: Said) -> bool:
    """Whether two texts of one sentence differ in one verb only ("moved", "relocated")."""
    if len(one.sentences) != 1 or len(other.sentences) != 1 or one.sentences[0].whose != other.sentences[0].whose:
        return False
    first, second = one.sentences[0].words, other.sentences[0].words
    changed = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    return len(first) == len(second) and len(changed) == 1 and lexicon().verbs.issuperset(changed[0])
