"""What leans on a note that no longer holds: notes that link to it, and facts that hang on one of its facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import LinkType, Scope, Status
from amem.text import normalize, written_in_cjk
from amem.truth.intervals import same_value
from amem.writing.conflict.candidates import states_something
from amem.writing.neighbours import NEAR_DUPLICATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from amem.note import Fact, Link, MemoryNote
    from amem.storage import Session
    from amem.truth.predicates import Predicates

#: Links that say that one note rests on the other. That two are related says so only where a person linked them: those
#: of an analyst are made of shared names, and having a name in common is no ground to doubt a note.
_GROUND = (LinkType.SUPPORTS, LinkType.CAUSED_BY, LinkType.DERIVED_FROM, LinkType.PART_OF)
_SHOWN = 60


def flag_what_leans(
    session: Session,
    ended: MemoryNote,
    successor: MemoryNote | None,
    moment: datetime,
    predicates: Predicates,
    operation: int,
    *,
    whole: bool = True,
) -> None:
    """Flag as possibly out of date what leaned on `ended`, which stopped being true at `moment`, wholly or in part."""
    because = ended.id if successor is None else successor.id
    facts = [fact for fact in ended.facts if fact.holds and _overturned(fact, successor, whole=whole)]
    scope = Scope.of(ended.metadata)
    hanging = _hanging(session, facts, scope, predicates, moment)
    leaning = [*(_linking(session, ended, moment) if whole else ()), *hanging]
    for id in dict.fromkeys(leaning):
        if id not in (ended.id, because):
            session.flags.put(id, because, _reason(ended, successor), operation)


def _linking(session: Session, ended: MemoryNote, moment: datetime) -> Iterator[str]:
    """Active notes from before that link to it, because of what it says."""
    links = [link for link in session.links.to(ended.id) if _rests(link)]
    notes = session.notes.get_many([link.source for link in links], history=False, usage=False)
    for note in notes.values():
        if Scope.of(note.metadata) != Scope.of(ended.metadata):
            continue  # a link from before notes of different users were kept apart
        if note.status is Status.ACTIVE and states_something(note) and note.at is not None and note.at < moment:
            yield note.id


def _rests(link: Link) -> bool:
    by_person = link.made_by.split(":")[0] == "user" and not link.reason.startswith(NEAR_DUPLICATE)
    return link.type in _GROUND or (link.type is LinkType.RELATED and by_person)


def _hanging(
    session: Session, overturned: Sequence[Fact], scope: Scope, predicates: Predicates, moment: datetime
) -> Iterator[str]:
    """Active notes with a fact of the same subject that is presumed to have ended with one of these."""
    for fact in overturned:
        hanging = [normalize(name) for name in predicates.hanging_on(fact.predicate)]
        with session.within(scope):
            told = session.facts.about([fact.subject], hanging) if hanging else []
        for each in told:
            if each.holds and each.status is Status.ACTIVE and each.since < moment:
                yield each.note


def _overturned(fact: Fact, successor: MemoryNote | None, *, whole: bool) -> bool:
    if successor is None:
        return True
    news = [new for new in successor.facts if new.predicate == fact.predicate]
    if any(new.holds and same_value(new.object, fact.object) for new in news):
        return False
    return whole or bool(news)


def _reason(ended: MemoryNote, successor: MemoryNote | None) -> str:
    old = _short(ended.content)
    if written_in_cjk(ended.content if successor is None else successor.content):
        return f"“{old}”已被收回" if successor is None else f"“{old}”已被“{_short(successor.content)}”取代"
    return f"“{old}” was taken back" if successor is None else f"“{_short(successor.content)}” superseded “{old}”"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1].rstrip() + "…"
