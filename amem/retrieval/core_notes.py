"""The notes that stand in every prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from amem.language import normalize, sentences, written_in_cjk
from amem.language.intervals import intervals
from amem.language.predicates import USER, WE
from amem.language.terms import tokens
from amem.llm.prompts import count_words, first_words, line
from amem.note import Kind, Status
from amem.query import Filter
from amem.rendering import doubt_of, holding_facts, holding_text, text_within
from amem.retrieval.budget import BACKGROUND, BACKGROUND_ZH, LABELS_ZH, harmless
from amem.retrieval.explanation import as_plain
from amem.retrieval.ranking import EligibleNotes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from amem.language.intervals import Interval
    from amem.language.predicates import Predicates
    from amem.note import MemoryNote
    from amem.storage.store import Session


# The notes that no prompt may lack: those that state an allergy, a medication, a condition; and what holds of a note.
#
# What counts is what notes state as facts, in whichever language: the rows of the table of predicates marked
# ``safety``, and behind them what somebody eats. A fact that has ended makes no safety note. Where the budget is too
# small for all of them they are shortened: to the sentence that states the fact, to its clause, to the fact itself, and
# last cut with an ellipsis.

#: Words of a note that are shown as they stand; of a longer one the sentence that matters.
_WHOLE = 40
#: What does no harm where it is ignored, but makes an answer about a meal a wrong one.
_HEEDED = frozenset(("diet",))
_PAUSE = re.compile(r"\s*[，,;；：:。.!！?？]\s*")
#: Characters of a fact where not even the facts fit.
_CUTS = (24, 12, 6)


@dataclass(frozen=True, slots=True)
class Core:
    """A core note. `text` is what of it is shown, '' for all of it; `label` what stands there instead of its kind.

    `facts` are those that make it a safety note: what is so in words ("allergic to"), and of what ("shrimp, crab").
    """

    note: MemoryNote
    text: str = ""
    label: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    objects: tuple[str, ...] = ()


def safety_notes(session: Session, predicates: Predicates, allowed: Filter) -> list[Core]:
    """The notes that state facts which may do harm and hold now, each fact by the latest note that states it.

    The user's own stand first, then others', each the latest first; last those that state no more than a diet.
    """
    names = [name for name, row in predicates.rows.items() if row.safety or name in _HEEDED]
    spelled = [normalize(each) for name in names for each in (name, *predicates.rows[name].aliases)]
    moment = allowed.as_of or session.now
    holding = [each for each in intervals(session.facts.stating(spelled), predicates) if each.at(moment)]
    admitted = EligibleNotes(session, allowed).passing_ids({note for each in holding for note in each.notes})
    stated: dict[str, list[Interval]] = {}
    for each in holding:
        if id := next((note for note in reversed(each.notes) if note in admitted), ""):
            stated.setdefault(id, []).append(each)
    notes = session.notes.get_many(list(stated), history=False)
    cores = [
        Core(
            note,
            facts=tuple(_said(stated[id], predicates, chinese=written_in_cjk(note.content))),
            objects=tuple(each.object for each in stated[id]),
        )
        for id, note in notes.items()
    ]
    own = {id: any(each.subject in (USER, WE) for each in facts) for id, facts in stated.items()}
    harm = {id: any(each.predicate not in _HEEDED for each in facts) for id, facts in stated.items()}
    order = {core.note.id: (harm[core.note.id], own[core.note.id], core.note.at or session.now) for core in cores}
    return sorted(cores, key=lambda core: order[core.note.id], reverse=True)


def fitting(cores: Sequence[Core], most: int, size: Callable[[Core], int]) -> list[Core]:
    """All of them, shortened until they fit into `most` tokens by `size`; only where no cut is enough, the first."""
    shown = list(cores)
    steps: tuple[Callable[[Core], Core], ...] = (
        *(_whole, _sentence, _clause, _fact),
        *(partial(_cut, most=most) for most in _CUTS),
    )
    shown = [_whole(core) for core in cores]
    taken, done = [size(core) for core in shown], [0] * len(shown)
    while sum(taken) > most and min(done, default=len(steps)) < len(steps) - 1:
        # The longest gives way, of equals the last.
        open_ = [at for at in range(len(shown)) if done[at] < len(steps) - 1]
        at = max(open_, key=lambda at: (taken[at], at))
        done[at] += 1
        shown[at] = steps[done[at]](cores[at])
        taken[at] = size(shown[at])
    while sum(taken) > most:
        shown.pop()
        taken.pop()
    return shown


def without_ended(
    session: Session, predicates: Predicates, notes: Sequence[MemoryNote], moment: datetime
) -> list[MemoryNote]:
    """The notes but for those that state facts of which none holds at `moment` any more.

    What a statement stated that is marked as overturned does not count: the rest of its note stands.
    """
    subjects = {fact.subject for note in notes for fact in note.facts}
    if not subjects:
        return list(notes)
    told = session.facts.about(subjects)
    so = {id for each in intervals(told, predicates) if each.at(moment) for id in each.notes}
    return [note for note in notes if note.id in so or not any(fact.holds for fact in holding_facts(note))]


def _said(facts: Sequence[Interval], predicates: Predicates, *, chinese: bool) -> Iterable[tuple[str, str]]:
    """The facts in a few words each: "allergic to" and "shrimp, crab"; of somebody else "Theo: nuts"."""
    together: dict[tuple[str, str], list[str]] = {}
    for each in facts:
        together.setdefault((each.subject, each.predicate), []).append(each.object)
    for (subject, predicate), objects in together.items():
        things = ("、" if chinese else ", ").join(objects)
        yield predicates.words(predicate, chinese=chinese), things if subject in (USER, WE) else f"{subject}: {things}"


def _whole(core: Core) -> Core:
    content = " ".join(core.note.content.split())
    return core if first_words(content, _WHOLE) == content else _sentence(core)


def _sentence(core: Core) -> Core:
    return _parts(core, sentences(holding_text(core.note.content, core.note.overturned)), " ")


def _clause(core: Core) -> Core:
    return _parts(core, _PAUSE.split(holding_text(core.note.content, core.note.overturned)), "; ")


def _fact(core: Core) -> Core:
    label = core.facts[0][0]
    rest = (text if said == label else f"{said} {text}" for said, text in core.facts)
    return replace(core, text="; ".join(rest), label=label)


def _cut(core: Core, most: int) -> Core:
    fact = _fact(core)
    if most == _CUTS[-1] and len(core.facts) == 1:  # of two that are so, what is cut would pass for the other
        fact = replace(fact, text=", ".join(core.objects))
    return fact if len(fact.text) <= most else replace(fact, text=f"{fact.text[:most]}…")


def _parts(core: Core, parts: Sequence[str], joined_by: str) -> Core:
    """The parts of the text that name what the facts are about; the facts where none does."""
    objects = [normalize(each) for each in core.objects if each]
    said = joined_by.join(part for part in parts if any(each in normalize(part) for each in objects))
    shown = replace(core, text=line(said, _WHOLE)) if said else _fact(core)
    return core if not shown.label and len(shown.text) >= len(core.note.content) else shown


# Core notes: the few that stand in every prompt, because an answer that ignores them is wrong.
#
# Notes that state an allergy, a medication or another fact that may do harm come first, whatever their kind, and are
# shortened rather than left out (see ``amem.retrieval.core_notes``). Then constraints (what must not happen),
# preferences, decisions and facts; within a kind pinned notes, then the most important. A fact needs to be pinned or
# found important: most are, and only recall can tell which one matters now. What no longer holds is no core note.

ORDER = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION, Kind.FACT)
#: Facts from this importance on are core; 0.5 is what a note has when nobody judged it.
IMPORTANT = 0.7
_WORDS = 40
#: Of each kind so many are looked at: about twice what fits.
_MOST = 40


@dataclass(frozen=True, slots=True)
class CoreNote:
    """A core note as it stands in a prompt: its `line`, and the `tokens` of that."""

    id: str
    kind: Kind
    trust: float
    tokens: int
    line: str


@dataclass(frozen=True, slots=True)
class CoreNotes:
    """The block of core notes for a prompt: `text` ('' for none) is of `tokens`, never more than the `budget`."""

    text: str
    notes: tuple[CoreNote, ...]
    tokens: int
    budget: int

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        plain: dict[str, Any] = as_plain(self)
        return plain


def core_notes(
    session: Session,
    predicates: Predicates,
    most: int,
    *,
    within: Filter | None = None,
    count: Callable[[str], int] = tokens,
) -> list[Core]:
    """The core notes whose lines fit into `most` tokens, active ones only, in the order in which they are shown.

    Notes of what may do harm come first, shortened as far as it takes for all of them to fit; the others as a whole or
    not at all. Left out is what no longer holds. Only those that pass `within`, but for its kinds, its times and its
    cosine, which say what is asked for and not what may be shown.
    """
    allowed = replace(
        within or Filter(), kinds=(), statuses=(Status.ACTIVE,), since=None, until=None, minimum_cosine=None
    )
    if most <= 0:
        return []
    chosen = fitting(safety_notes(session, predicates, allowed), most, lambda core: count(core_line(core)) + 1)
    room = most - sum(count(core_line(core)) + 1 for core in chosen)
    taken = {core.note.id for core in chosen}
    for kind in ORDER:
        listed = [
            note
            for note in session.notes.page(replace(allowed, kinds=(kind,)), limit=_MOST, order="pinned")
            if note.id not in taken and (kind is not Kind.FACT or note.pinned or note.importance >= IMPORTANT)
        ]
        for note in without_ended(session, predicates, listed, allowed.as_of or session.now):
            size = count(core_line(Core(note))) + 1
            if size <= room:
                chosen.append(Core(note))
                room -= size
    return chosen


def core_line(core: Core, *, chinese: bool = False, said: str = "") -> str:
    """A core note as the model reads it, on one line: ``- (constraint) Never calls before nine.``

    `said` tells who said it and when: ``- (constraint, said by you on 2026-05-13) ...``.
    """
    note, told = core.note, f", {said}" if said else ""
    label = core.label or (LABELS_ZH[note.kind] if chinese else str(note.kind))
    label = f"（{label}）" if chinese else f"({label}{told}) "
    text = core.text or text_within(note, lambda whole: count_words(whole) <= _WORDS)
    doubt = doubt_of(note)
    return f"- {label}{line(harmless(text), _WORDS)}" + (f" [{line(harmless(doubt), _WORDS)}]" if doubt else "")


def core_text(cores: Sequence[Core], nothing: str, said: Callable[[MemoryNote], str]) -> str:
    """All of them, each with what `said` tells of it, or the word for none."""
    return "\n".join(core_line(core, said=said(core.note)) for core in cores) or nothing


def background(
    session: Session,
    predicates: Predicates,
    budget: int,
    count: Callable[[str], int],
    *,
    within: Filter | None = None,
    chinese: bool | None = None,
) -> CoreNotes:
    """The core notes that fit into `budget` tokens under their heading, which counts as well.

    It is in Chinese where `chinese` says so; None: where most of the notes are.
    """
    chosen = core_notes(session, predicates, budget - count(f"{BACKGROUND_ZH}\n"), within=within, count=count)
    if chinese is None:
        chinese = sum(written_in_cjk(core.note.content) for core in chosen) * 2 > len(chosen)
    while chosen:
        lines = [core_line(core, chinese=chinese) for core in chosen]
        text = "\n".join([BACKGROUND_ZH if chinese else BACKGROUND, *lines])
        # Of the whole, since what a tokenizer makes of lines together is not what it makes of each.
        size = count(text)
        if size <= budget:
            held = tuple(
                CoreNote(core.note.id, core.note.kind, core.note.trust, count(shown), shown)
                for core, shown in zip(chosen, lines, strict=True)
            )
            return CoreNotes(text, held, size, budget)
        chosen.pop()
    return CoreNotes("", (), 0, budget)
