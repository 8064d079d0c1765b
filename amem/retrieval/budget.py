"""Which notes go into a budget of tokens, and how they are marked in a prompt."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from amem.language import index_terms, written_in_cjk
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from amem.note import MemoryNote
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


def told_by_others(
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
    made_of = {id: {source.id for source in found} for id, found in session.sources.of([*summaries, *telling]).items()}
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


def comparable(text: str) -> bool:
    """Whether vectors tell how alike such texts are: to an English model all Chinese ones are."""
    return not written_in_cjk(text)


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
