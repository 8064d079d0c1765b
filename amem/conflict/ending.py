"""What ends with a statement: its words, and what leans on it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from amem.conflict.candidates import NEAR_DUPLICATE, states_something
from amem.conflict.clause_parts import Bond, Of, bonds_of
from amem.conflict.statements import Statement, read
from amem.language import normalize, written_in_cjk
from amem.language.intervals import same_value
from amem.language.scripts import Patterns
from amem.note import Fact, Link, LinkType, MemoryNote, Overturned, Scope, Status
from amem.rendering import fallen, holding_text, one_line, segments
from amem.storage.rows import plain, read_time

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import datetime

    from amem.language.predicates import Predicates
    from amem.storage.store import Session


_pattern = Patterns("conflict/ending")

# How a note loses its standing and gets it back: status, successor and end are set and taken back together.


def standing_after(note: MemoryNote, successor: str | None, ended: datetime) -> dict[str, Any]:
    """The plain fields of a note that `successor` (None: nothing) took the place of; an end that it states stays."""
    end = note.valid_to if note.valid_to is not None and note.valid_to < ended else ended
    return {"status": str(Status.SUPERSEDED), "superseded_by": successor, "valid_to": plain("valid_to", end)}


def hide(
    session: Session, note: MemoryNote, link: Link, ended: datetime, operation: int, *, by_hand: bool = False
) -> None:
    """Put the source of `link` in the place of `note`, its target, from `ended` on.

    `by_hand` says that a person wants it so, who may have said before that the note stands.
    """
    session.notes.change(note.id, standing_after(note, link.source, ended), operation, disowned=by_hand)
    session.links.put(link, operation)


def free(session: Session, id: str, operation: int, *, edited: bool = False) -> None:
    """Make a superseded note active again, ending when it did before; `edited` says that a person wants it so."""
    ends = plain("valid_to", _end_before(session, id))
    fields = {"status": str(Status.ACTIVE), "superseded_by": None, "valid_to": ends}
    session.notes.change(id, fields, operation, edited=edited)


def unlink_successors(session: Session, id: str, operation: int) -> None:
    """Take away what says that others took this note's place."""
    for link in session.links.around([id]):
        if link.type is LinkType.SUPERSEDES and link.target == id:
            session.links.remove(link.source, id, link.type, operation)


def lift(session: Session, note: MemoryNote, lifted: Collection[Overturned], operation: int, *, edited: bool) -> None:
    """Let overturned statements of a note stand again; `edited` says that a person wants it so.

    A note that has overturned no other of its statements is unlinked.
    """
    left = [each for each in note.overturned if each not in lifted]
    session.notes.change(note.id, {"overturned": plain("overturned", left)}, operation, edited=edited)
    for by in {each.by for each in lifted} - {each.by for each in left}:
        if by and session.links.get(by, note.id, LinkType.SUPERSEDES) is not None:
            session.links.remove(by, note.id, LinkType.SUPERSEDES, operation)


def lift_all_by(session: Session, ids: Sequence[str], operation: int) -> list[str]:
    """Let the statements stand again that these notes overturned, since they are gone; returns whose they are."""
    found = session.notes.overturned_by(ids) if ids else {}
    for note in found.values():
        lift(session, note, [each for each in note.overturned if each.by in ids], operation, edited=False)
    return list(found)


def successors(session: Session, id: str) -> Iterator[MemoryNote]:
    """A note, what took its place, what took that one's place and so on, deleted ones too, each once."""
    seen: set[str] = set()
    following: str | None = id
    while following is not None and following not in seen:
        seen.add(following)
        note = session.notes.get_many([following], history=False, usage=False, deleted=True).get(following)
        if note is None:
            return
        yield note
        following = note.superseded_by


def leads_to(session: Session, id: str, other: str) -> bool:
    """Whether the chain of what took a note's place passes through the other."""
    return any(note.superseded_by == other for note in successors(session, id))


def _end_before(session: Session, id: str) -> datetime | None:
    """When a superseded note ended before it was superseded; an end that somebody has given it since is kept."""
    note = session.notes.get_many([id], history=False, usage=False, deleted=True)[id]
    now = plain("valid_to", note.valid_to)
    own: str | None = now
    left: str | None = now
    for version in session.operations.history(id):
        changes = version.changes
        if version.version > 1 and changes.get("status", ("", ""))[1] == Status.SUPERSEDED:
            own, left = changes.get("valid_to", (now, now))
        elif "superseded_by" in changes and "valid_to" in changes:
            left = changes["valid_to"][1]
    return read_time(own if left == now else now)


# Statements of a note that end while the rest of it stands: which words they are, and what is left without them.

_BETWEEN = " ,，"
#: Marks at the end of a statement, which whoever names it may leave out.
_ENDS = " .!?;,…。！？；，"
#: Sorts of values that say when; a common word beside them ("搬过来的") tells nothing by itself.
_DATES = frozenset({"year", "month", "day"})
_COMMON = 0.5
#: Weight of its words from which a statement says something.
_TOLD = 1.0
#: Characters of the later note that a mark keeps.
_THEN = 160


@dataclass(frozen=True, slots=True)
class Named:
    """Statements of a note, in its words; `only_part` says that what was named is less than them."""

    text: str
    only_part: bool = False


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A statement from `start` to `said`, to `end` with what goes on with it.

    `alone` says that nothing goes on with it but what stands and falls with it.
    """

    start: int
    said: int
    end: int
    alone: bool = True


def marked(
    note: MemoryNote,
    quotes: Iterable[str],
    *,
    until: datetime,
    by: MemoryNote | None = None,
    reason: str = "",
    confidence: float = 1.0,
) -> list[Overturned]:
    """The note's overturned statements with these, in the order of its text; `by` None takes them back.

    What is marked already stays as it is; a quote that the note does not hold is left out.
    """
    then = "" if by is None else " ".join(by.content.split())[:_THEN]
    fresh = [
        Overturned(quote, until, "" if by is None else by.id, then, reason, confidence)
        for quote in quotes
        if quote in note.content
    ]
    found = segments(note.content, [*note.overturned, *fresh])
    return [each.overturned for each in found if each.overturned is not None]


def still_states(content: str, told: Sequence[Overturned]) -> bool:
    """Whether a note says anything without its overturned statements: nothing is left of it, else."""
    return bool(stated(holding_text(content, told)))


# A long note fills many slots, and each pair of facts asks where the same values stand.
@lru_cache(maxsize=1024)
def naming(content: str, value: str) -> tuple[Statement, ...]:
    """The statements of the content that name a value."""
    wanted = normalize(value)
    return tuple(each for each in read(content) if wanted and wanted in normalize(each.text))


def statement_of(content: str, value: str) -> str | None:
    """The statement of the content that names a value, in its words; None where none does."""
    said = naming(content, value)
    best = next((each for each in said if each.said), said[0] if said else None)
    return None if best is None else quote(content, best)


def quote(content: str, statement: Statement) -> str | None:
    """A statement in the very words of the note, with what stands and falls with it; None where they are not there.

    That is since when it is so, what follows a colon, and what "which" adds: "I am a vegetarian since 2023: no fish".
    """
    start = content.find(statement.text)
    if start < 0:
        return statement.around if statement.around and statement.around in content else None
    end, below = start + len(statement.text), False
    for each in read(content):
        at = content.find(each.text, end) if each.sentence == statement.sentence else -1
        if at < 0 or content[end:at].strip(_BETWEEN).casefold() != each.opener.strip(_BETWEEN).casefold():
            continue
        below = below or each.opener.strip()[:1] in (":", "：")
        if not below and not _adds(each):
            break
        end = at + len(each.text)
    return content[start:end].strip()


@lru_cache(maxsize=1024)
def bonds(content: str) -> tuple[tuple[Statement, Bond], ...]:
    """Whom the statements of a content speak of beside what they say, in the very words of the note, where the rest of
    the note says anything without them."""
    found: list[tuple[Statement, Bond]] = []
    last: Statement | None = None
    for each in read(content):
        for bond in bonds_of(each.text, each.about):
            placed = _placed(content, each, bond, last)
            if placed is not None:
                found.append((each, placed))
        last = each
    return tuple(found)


def _placed(content: str, said: Statement, bond: Bond, last: Statement | None) -> Bond | None:
    """A bond with the words of the note that end with it; None where nothing is left of the statement without them."""
    if bond.had:
        whole = quote(content, said)
        return None if whole is None else replace(bond, text=whole)
    start = content.find(bond.text, max(content.find(said.text), 0))
    if start < 0:
        return None
    alone = bond.text == said.text.rstrip(_ENDS)
    if alone and last is not None and last.sentence == said.sentence and not bond.name and said.opener in (",", "，"):
        # "Karin, my boss, lives in Lund"
        begin = content.rfind(said.opener, 0, start)
        name = last.text if last.names and set(last.about) == set(last.names) else ""
        return replace(bond, text=content[begin : start + len(bond.text)], name=name) if name else None
    if alone and last is not None and said.opener == "and" and " with " in last.text:
        return replace(bond, text=content[content.rfind("and", 0, start) : start + len(bond.text)])
    if alone and bond.name and not content[start + len(bond.text) :].startswith(" and "):
        if not content[start + len(bond.text) :].strip(_ENDS):
            return None
        return replace(bond, text=bond.text.removesuffix(bond.name).rstrip())
    # "I live with Ada" says nothing without her.
    keys = keys_of(bond, said)
    left = sum(weight for key, weight in said.about.items() if key not in keys)
    return bond if alone or left >= _TOLD or said.values else None


def keys_of(bond: Bond, said: Statement) -> frozenset[str]:
    """The words by which another clause speaks of whom a bond of this statement names."""
    named = {key for key in said.about if said.names.get(key, key) == bond.name} if bond.name else set()
    return frozenset({*named, *filter(None, (bond.role, bond.name.casefold()))})


def part_stating(content: str, value: str) -> str | None:
    """The words of the content that state a value, as they may end while the rest stands; None where none do.

    That is what somebody of this name is to somebody, or the statement without whom it names: "I live in Ghent" of "I
    live in Ghent with my wife Ada", "lives in Basel" of "My sister Mia lives in Basel".
    """
    wanted = normalize(value)
    named = [(said, bond) for said, bond in bonds(content) if bond.role and bond.name]
    own = next((bond.text for _, bond in named if normalize(bond.name) == wanted), None)
    whole = own or statement_of(content, value)
    if own is not None or whole is None:
        return own
    for said, bond in named:
        before, _, behind = whole.partition(bond.text)
        opens = not before and not bond.had
        rests = [behind.strip().removeprefix(bond.name)] if opens else [] if bond.had else [before, behind]
        rest = next((each.strip(_ENDS) for each in rests if wanted in normalize(each)), "")
        if rest and said.text in whole:
            return rest
    return whole


def statements_of(content: str) -> list[str]:
    """What a note states, in its own words, and whom it speaks of beside that."""
    said = [found for each in read(content) if each.about and (found := quote(content, each)) is not None]
    return [*said, *(bond.text for _, bond in bonds(content))]


def part_of(note: MemoryNote, told: Sequence[Overturned]) -> MemoryNote:
    """The note as if it said no more than these statements of it."""
    gone = fallen(replace(note, overturned=list(told)))
    words = " ".join(each.text for each in told)
    return replace(note, content=words, facts=[note.facts[place] for place in gone], overturned=[])


def around(content: str, words: str) -> str:
    """The statement of the content that these words of it are a part of; the words themselves where none is."""
    found = next((each for each in read(content) if words in each.text), None)
    return words if found is None else quote(content, found) or words


def part_named(content: str, words: str) -> Named | None:
    """The statements of the content that a person means by these words of it; None where it does not have them.

    Words that begin or stop within a statement ("to hazelnuts" of "I am allergic to penicillin and to hazelnuts") are
    `only_part` of it, and name nothing by themselves.
    """
    said = _stretches(content)
    wanted = re.split(r"\s+", words.strip().rstrip(_ENDS))
    if not any(wanted):
        return None
    found: Named | None = None
    for match in re.finditer(r"\s+".join(map(re.escape, wanted)), content, re.IGNORECASE):
        meant = [each for each in said if each.start < match.end() and match.start() < each.end]
        if not meant:
            found = found or Named(match[0])
            continue
        first, last = meant[0], meant[-1]
        whole = content[first.start : max(match.end(), last.end)].strip()
        named = not _words(content[first.start : match.start()]) and (
            not _words(content[match.end() : last.end]) or (last.alone and not _words(content[match.end() : last.said]))
        )
        if named:
            return Named(whole)
        found = found or Named(whole, only_part=True)
    return found


def _stretches(content: str) -> list[_Stretch]:
    """The statements of the content by place, each with the items and phrases that only go on with it."""
    found: list[_Stretch] = []
    at, sentence = 0, -1
    for each in read(content):
        start = content.find(each.text, at)
        text = each.text if start >= 0 else each.around
        start = start if start >= 0 else content.find(text)
        if start < 0 or (found and start < found[-1].end):
            continue
        at = start + len(text)
        goes_on = each.frame is not None and each.frame.of is Of.NOTHING and not each.claims
        if goes_on and found and each.sentence == sentence:
            found[-1] = replace(found[-1], end=at, alone=False)
            continue
        behind = quote(content, each) or ""
        at = max(at, start + len(behind)) if content.startswith(behind, start) else at
        found.append(_Stretch(start, start + len(text), at))
        sentence = each.sentence
    return found


def _words(text: str) -> bool:
    return any(map(str.isalnum, text))


def states_more(content: str, quotes: Sequence[str]) -> bool:
    """Whether a note states anything beside these quotes; without any, whether it states more than one thing."""
    rest = [each for each in stated(content) if not any(each.text in quote for quote in quotes)]
    return len(rest) > (0 if quotes else 1)


def stated(content: str) -> list[Statement]:
    """The clauses that say something by themselves: no heading before a colon, and nothing that only goes on."""
    said = read(content)
    found: list[Statement] = []
    for place, each in enumerate(said):
        before, behind = said[place - 1] if place else None, said[place + 1] if place + 1 < len(said) else None
        named = each.claims and (each.people or each.frame is not None)
        heading = behind is not None and behind.opener.strip()[:1] in (":", "：") and not named
        # "It is blue and old": "old" says no more by itself than "it is blue" does.
        beside = before is not None and before.sentence == each.sentence and _points(before)
        goes_on = beside and each.frame is not None and not each.frame.verb
        if _states(each) and not heading and not goes_on:
            found.append(each)
    return found


def _states(each: Statement) -> bool:
    """Whether a clause says something by itself: "which I love" and "because of the rain" belong to another."""
    reason = _pattern.reason.search(each.opener) is not None
    return bool(each.about or each.values) and not (reason or _points(each) or _adds(each))


def _points(each: Statement) -> bool:
    """Whether a clause is about what the one before it is about: "it is blue"."""
    return each.inherited or (each.frame is not None and each.frame.of is Of.POINTED_AT)


def _adds(each: Statement) -> bool:
    """Whether a clause only says more of the statement before it: who or what that is, or since when it is so."""
    sorts = [value.sort for value in each.values]
    dated = not _DATES.isdisjoint(sorts) and sorts.count("number") <= 1
    return _pattern.relative.search(each.opener) is not None or (dated and sum(each.about.values()) <= _COMMON)


# What leans on a note that no longer holds: notes that link to it, and facts that hang on one of its facts.

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
    old = cut(ended.content, _SHOWN)
    if written_in_cjk(ended.content if successor is None else successor.content):
        return f"“{old}”已被收回" if successor is None else f"“{old}”已被“{cut(successor.content, _SHOWN)}”取代"
    return f"“{old}” was taken back" if successor is None else f"“{cut(successor.content, _SHOWN)}” superseded “{old}”"


def cut(text: str, most: int = 80) -> str:
    """`text` on one line, shortened to what a reason has room for."""
    return one_line(text, most)


def quoted(statement: str) -> str:
    """The words by which a reason quotes a statement, as far as it has room for them."""
    return cut(statement).rstrip(" .!?;,…。！？；，")
