"""What to call a topic: the names, tags and keywords that most of its notes share and few others hold."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.note import Kind
from amem.text import index_terms, is_cjk, normalize
from amem.text.stopwords import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.note import MemoryNote
    from amem.storage import Session

#: Tags that say what sort of note it is, not what it is about.
_SORTS = frozenset(map(str, Kind)) | words(
    "consolidated idea rule note notes todo 决定 想法 计划 规矩 问题 错误 笔记 经验 提醒 misc other uncategorized"
)
_NAME, _TAG, _KEYWORD = 1.25, 1.0, 0.8
#: What a label gains where the text itself says it.
_SAID = 0.25
#: A word for a topic stands in at least so many of its notes, and in this share of them.
_LEAST, _SHARE = 2, 0.3
_WORD = re.compile(r"[^\W_]+")


def labels(session: Session, members: Sequence[MemoryNote], *, chinese: bool) -> list[str]:
    """Names for what these notes share and few others carry, the most telling first."""
    weights: defaultdict[str, float] = defaultdict(float)
    spelled: defaultdict[str, Counter[str]] = defaultdict(Counter)
    carrying: defaultdict[str, set[str]] = defaultdict(set)
    for note in members:
        for weight, values in ((_NAME, note.entities), (_TAG, note.tags), (_KEYWORD, note.keywords)):
            for value in values:
                folded = normalize(value).replace("-", " ")
                if _tells(folded):
                    weights[folded] = max(weights[folded], weight)
                    spelled[folded][value] += 1
                    carrying[folded].add(note.id)
    texts = {note.id: _spoken(note.content) for note in members}
    for folded, notes in carrying.items():
        notes |= {id for id, text in texts.items() if text.holds(folded)}
    least = max(_LEAST, math.ceil(_SHARE * len(members)))
    common = {folded: notes for folded, notes in carrying.items() if len(notes) >= least}
    everywhere, total = _held(session, sorted(common)), session.notes.count()

    def worth(folded: str) -> float:
        notes = len(common[folded])
        rare = math.log((total + 1) / max(everywhere.get(folded, 0), notes)) + 0.3
        said = sum(text.holds(folded) for text in texts.values())
        return weights[folded] * (notes + _SAID * said) / len(members) * rare

    # Names stand in any language, other words in the page's own.
    spoken = [folded for folded in common if is_cjk(folded) == chinese or weights[folded] == _NAME]
    ranked = _unlike(sorted(spoken or common, key=lambda folded: (-worth(folded), folded)))
    # A title is about most of its notes: what only some speak of comes after what fits half of them.
    fitting = [folded for folded in ranked[1:] if len(common[folded]) * 2 >= len(members)]
    ordered = [*ranked[:1], *fitting, *(folded for folded in ranked[1:] if folded not in fitting)]
    return [_spelling(spelled[folded]) for folded in ordered]


def core(members: Sequence[MemoryNote], found: Sequence[str]) -> list[str]:
    """Ids of the notes that one of the first two labels, the title, really fits."""
    titled = [normalize(label).replace("-", " ") for label in found[:2]]
    return [
        note.id
        for note in members
        if any(label in _carried(note) or _spoken(note.content).holds(label) for label in titled)
    ]


def title(found: Sequence[str], *, chinese: bool) -> str:
    """A title of the first one or two labels; '' without any."""
    if not found:
        return ""
    first = found[0]
    if not chinese and first[0].islower():
        first = first[0].upper() + first[1:]
    if len(found) == 1:
        return first
    return f"{first} · {found[1]}" if chinese else f"{first} and {found[1]}"


def _held(session: Session, values: Sequence[str]) -> Mapping[str, int]:
    """How many notes of the collection carry each of these (folded) labels, at least."""
    counts = dict.fromkeys(values, 0)
    for role in ("tag", "entity", "keyword"):
        for term, n in session.text.counts(role, [*values, *(value.replace(" ", "-") for value in values)]).items():
            value = term.replace("-", " ")
            counts[value] = max(counts.get(value, 0), n)
    return counts


def _carried(note: MemoryNote) -> set[str]:
    return {normalize(value).replace("-", " ") for value in (*note.entities, *note.tags, *note.keywords)}


def _tells(folded: str) -> bool:
    return folded not in _SORTS and len(folded) > 1 and not any(char.isdigit() for char in folded)


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A text in which labels are looked for: folded, and its words alone between single spaces."""

    folded: str
    words: str

    def holds(self, label: str) -> bool:
        """Whether a folded label stands in it, as whole words where words have spaces between them."""
        return label in self.folded if is_cjk(label) else f" {label} " in self.words


@lru_cache(maxsize=1024)
def _spoken(content: str) -> _Spoken:
    folded = normalize(content).replace("-", " ")
    return _Spoken(folded, f" {' '.join(_WORD.findall(folded))} ")


def _unlike(ranked: Sequence[str]) -> list[str]:
    """The labels in order, but of two that share a word only the first."""
    chosen: list[str] = []
    used: set[str] = set()
    for folded in ranked:
        terms = set(index_terms(folded))
        if terms and not terms & used:
            chosen.append(folded)
            used |= terms
    return chosen


def _spelling(counted: Counter[str]) -> str:
    value = min(counted, key=lambda each: (-counted[each], each))
    return value.replace("-", " ") if value.islower() else value
