"""Choose notes for a prompt within a token budget, the delimiters around them, and the core notes."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from amem.language import index_terms, normalize, sentences, written_in_cjk
from amem.language.intervals import Interval, intervals
from amem.language.predicates import USER, WE, Predicates
from amem.language.terms import tokens
from amem.llm.prompts import count_words, first_words, line
from amem.note import Kind, MemoryNote, Plain, Status
from amem.query import Filter
from amem.rendering import doubt_of, holding_facts, holding_text, text_within

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.storage.store import Session


# The delimiters amem puts round notes in a prompt, and how to take what they hold out of a text again.
#
# Notes in a prompt are data to the model that reads them, and never news to amem: a host that sends its whole prompt
# to be remembered, or a model that repeats what it was shown, must not make amem learn its own notes again.
#
# A chat of amem's own has ``<amem-recalled>``; a context made for somebody else's prompt has core notes under
# ``[Background]`` (``[背景知识]``) and recalled ones between ``=== RELEVANT MEMORIES ===`` and
# ``=== END MEMORIES ===``.

RECALLED_START = "<amem-recalled>"
RECALLED_END = "</amem-recalled>"
MEMORIES_START = "=== RELEVANT MEMORIES ==="
MEMORIES_END = "=== END MEMORIES ==="
BACKGROUND = "[Background]"
BACKGROUND_ZH = "[背景知识]"
#: What a kind is called before a core note.
LABELS_ZH = {Kind.CONSTRAINT: "约束", Kind.PREFERENCE: "偏好", Kind.DECISION: "决定", Kind.FACT: "事实"}

_START = r"<\s*amem-recalled\s*>"
_END = r"<\s*/\s*amem-recalled\s*>"
_OPENS = r"(?<!=)={2,}+\s*+RELEVANT\s++MEMORIES\s*+={2,}+"
_CLOSES = r"(?<!=)={2,}+\s*+END\s++(?:OF\s++)?MEMORIES\s*+={2,}+"
_HEADING = r"\[\s*(?:Background|背景知识)\s*\]"
_LABEL = rf"[(（](?:{'|'.join([*Kind, *LABELS_ZH.values()])})[)）]"
#: What may stand before a line of a prompt that is quoted.
_QUOTED = r"^[ \t>]*"
_BLOCKS = (
    re.compile(rf"{_START}.*?(?:{_END}|\Z)", re.IGNORECASE | re.DOTALL),
    re.compile(rf"{_QUOTED}{_OPENS}.*?(?:{_CLOSES}|\Z)", re.IGNORECASE | re.DOTALL | re.MULTILINE),
)
_LINES = (
    re.compile(rf"{_QUOTED}{_HEADING}[ \t]*\n(?:{_QUOTED}- {_LABEL}[^\n]*(?:\n|\Z))+", re.IGNORECASE | re.MULTILINE),
    #: One entry alone, with the lines of it that are set in.
    re.compile(
        rf"{_QUOTED}\[[^\[\]\n]{{1,40}}\] \((?:trust|confidence): [01]\.\d\d[^()\n]*\)"
        r"[^\n]*(?:\n[ \t>]*  \S[^\n]*)*\n?",
        re.MULTILINE,
    ),
    #: The lines that ``find_related_memories`` gives to programs written for A-Mem, which have no delimiters.
    re.compile(r"^memory index:\d+\ttalk start time:[^\n]*\n?", re.MULTILINE),
)
_ANY = re.compile("|".join((_START, _END, _OPENS, _CLOSES)), re.IGNORECASE)
_FRAME = re.compile("|".join((_START, _END, _OPENS, _CLOSES, _HEADING)), re.IGNORECASE)
#: By which servers tell who speaks; inside a note some of them would still take it so.
_TURN = re.compile(r"<\|(?=[^<>|\s]{1,40}\|>)")
#: What must stand in a text, folded or not, that holds any of these.
_HINTS = ("amem-recalled", "memories", "background", "背景知识", "(trust: ", "(confidence: ", "memory index:")


def as_recalled(text: str) -> str:
    """`text` between the delimiters; delimiters that stand in it already are taken out, so that it cannot end early."""
    return f"{RECALLED_START}\n{_without(_ANY, text).strip()}\n{RECALLED_END}"


def harmless(text: str) -> str:
    """`text` without anything that could pass for the frame of a context, however it is spelled.

    A line in which letters of other widths or invisible ones spell a delimiter is folded first. The marks by which
    chat templates tell who speaks (``<|im_end|>``) are broken as well.
    """
    # By every line break there is, not only by those that a parser splits at.
    lines = (_folded(line) if _FRAME.search(_folded(line)) else line for line in text.splitlines())
    return _TURN.sub("< |", _without(_FRAME, "\n".join(lines)))


def without_recalled(text: str) -> str:
    """`text` without notes that amem put into a prompt: between delimiters, under their heading, or entry by entry.

    A block that was never closed is left out to the end. Text without any comes back as it is; white space round what
    was taken out is trimmed.
    """
    folded = text.casefold()
    if not any(hint in folded for hint in _HINTS):
        return text
    rest = text
    for block in _BLOCKS:
        rest = block.sub("\n", rest)
    for lines in _LINES:
        rest = lines.sub("", rest)
    rest = _without(_ANY, rest)
    return text if rest == text else rest.strip()


def _without(pattern: re.Pattern[str], text: str) -> str:
    """Until none is left: what stands round one that is taken out may make another."""
    while pattern.search(text):
        text = pattern.sub("", text)
    return text


def _folded(line: str) -> str:
    return "".join(
        character for character in unicodedata.normalize("NFKC", line) if unicodedata.category(character) != "Cf"
    )


# Of what was recalled, the notes that say again what others say.

#: A summary of which other notes hold this share of the words says nothing beside them.
_REPEATED = 0.8


def redundant_summaries(
    session: Session, notes: Mapping[str, MemoryNote], beside: Collection[str], supporting: Sequence[str]
) -> set[str]:
    """Of the recalled `notes`, those that only sum up an episode of which others tell; those `beside` the point do not.

    Others made of the same messages do, unless the summary is among the `supporting` notes and none of them is; and
    any others that hold nearly all its words do.
    """
    summaries = {id for id, note in notes.items() if "episode" in note.metadata}
    telling = [id for id in notes if id not in summaries and id not in beside]
    if not summaries or not telling:
        return set()
    made_of = {
        id: {source.id for source in found} for id, found in session.notes.sources_of([*summaries, *telling]).items()
    }
    held = {term for id in telling for term in index_terms(notes[id].content)}
    found = set()
    for id in summaries:
        same = [other for other in telling if made_of.get(id, set()) & made_of.get(other, set())]
        terms = set(index_terms(notes[id].content))
        answers_alone = id in supporting and not any(other in supporting for other in same)
        if (same and not answers_alone) or len(terms & held) >= _REPEATED * len(terms):
            found.add(id)
    return found


# Which notes go into a budget of tokens: those that add most for what they cost.
#
# What a note adds is the chance that it holds what is asked, times how much of it is new beside what was picked
# before (maximal marginal relevance, Carbonell & Goldstein 1998, as a product); what it costs are its tokens (the
# greedy rule for a gain with diminishing returns under a budget, Lin & Bilmes 2010). The chance grows much faster
# than the score, which counts how far a note stands out: on conversations 0.2 means one in 150, 0.3 one in 30, 0.5
# one in 5.

#: The power of the score with which that chance grows.
_STEEP = 4
#: What is less new than that repeats what is there.
REPEATS = 0.15
#: Up to this cosine notes are about one thing rather than saying one thing.
_ABOUT = 0.5
#: So much of what two notes say may be the same before one is less new for the other: they answer one question.
_COMMON = 0.5
#: 一 is in too many words to be a number wherever it stands.
_TELLING = re.compile(
    r"\d[\d.,:/-]*\d|\d|[一二三四五六七八九十百千万两半]{2,}|[二三四五六七八九十百千万两半]"
    r"|一(?=[个只条次岁天年月日号点元块片包盒瓶杯张本位家台斤克毫升公里米分小周])"
)
_NEGATION = re.compile(r"\b(?:not|no|never|none|nobody|nothing|without|cannot|neither)\b|n['’]t\b|不|没|别|未|无", re.I)


@dataclass(frozen=True)
class Candidate:
    """A note that could be picked: its text as it would stand there, the `tokens` of that, and its `score` (0..1).

    `vector` is None where nearness by meaning says nothing of likeness.
    """

    id: str
    text: str
    tokens: int
    score: float
    vector: NDArray[np.float32] | None = None

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(index_terms(self.text))

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(_TELLING.findall(self.text))

    @cached_property
    def negated(self) -> bool:
        return len(_NEGATION.findall(self.text)) % 2 == 1


@dataclass(frozen=True, slots=True)
class Picked:
    """Places of the candidates that go in, in the order in which they were picked; `repeats` tells of others which
    picked one says the same."""

    chosen: tuple[int, ...]
    repeats: dict[int, int]


def pick(candidates: Sequence[Candidate], room: int, first: int | None = None) -> Picked:
    """The candidates that fit into `room` tokens together, the one at `first` in any case if it fits."""
    new = [1.0] * len(candidates)
    nearest = [-1] * len(candidates)
    base = _base(candidates)
    chosen: list[int] = []
    for asked in ([] if first is None else [first], range(len(candidates))):
        left = [place for place in asked if place not in chosen]
        while True:
            left = [place for place in left if candidates[place].tokens <= room and new[place] >= REPEATS]
            if not left:
                break
            best = max(left, key=lambda at: (_worth(candidates[at], new[at]), -at))
            left.remove(best)
            chosen.append(best)
            room -= candidates[best].tokens
            for place in range(len(candidates)):
                said = alike(candidates[place], candidates[best], base)
                fresh = 1.0 - max(0.0, said - _COMMON) / (1.0 - _COMMON)
                if place not in chosen and fresh < new[place]:
                    new[place], nearest[place] = fresh, best
    repeats = {
        place: nearest[place] for place in range(len(candidates)) if place not in chosen and new[place] < REPEATS
    }
    return Picked(tuple(chosen), repeats)


def alike(one: Candidate, other: Candidate, base: float = _ABOUT) -> float:
    """How much of what `one` says `other` says already, 0..1: by words, and by meaning above what is usual.

    Two notes that differ in a number or a negation say two things, however alike.
    """
    if not one.terms:
        return 0.0
    said = len(one.terms & other.terms) / len(one.terms)
    if one.vector is not None and other.vector is not None:
        said = max(said, (float(one.vector @ other.vector) - base) / (1.0 - base))
    if one.numbers - other.numbers or one.negated != other.negated:
        said = min(said, _COMMON)
    return min(1.0, max(0.0, said))


def _worth(candidate: Candidate, new: float) -> float:
    return candidate.score**_STEEP * new / max(candidate.tokens, 1)


def _base(candidates: Sequence[Candidate]) -> float:
    """How near these notes are to each other anyway, as they answer one question."""
    vectors = [each.vector for each in candidates if each.vector is not None]
    if len(vectors) < 2:
        return _ABOUT
    matrix = np.stack(vectors)
    cosines = matrix @ matrix.T
    count = len(vectors)
    return min(0.9, max(_ABOUT, float((cosines.sum() - np.trace(cosines)) / (count * (count - 1)))))


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
    from amem.retrieval.ranking import EligibleNotes  # what only takes marks out of a text needs none of a search

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
# shortened rather than left out. Then constraints (what must not happen), preferences, decisions and facts; within a
# kind pinned notes, then the most important. A fact needs to be pinned or found important: most are, and only recall
# can tell which one matters now. What no longer holds is no core note.

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
class CoreNotes(Plain):
    """The block of core notes for a prompt: `text` ('' for none) is of `tokens`, never more than the `budget`."""

    text: str
    notes: tuple[CoreNote, ...]
    tokens: int
    budget: int

    def __str__(self) -> str:
        return self.text


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
