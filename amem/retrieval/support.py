"""Does anything in memory support an answer? Decided from reasons, not from rank scores, which only order hits.

Two reasons count: how much of what the question asks for a note holds (its telling words, each weighted by how rare
it is in the collection), and, for questions in Latin script, how close the note is in meaning. The default embedding
model knows English only; to it, all Chinese texts are alike (cosine 0.57 to 0.68 for questions that have an answer
and for those that have none), so there only words count. The thresholds are measured on the demo's notes and on
LoCoMo; ``tests/conversation/test_support.py`` holds the figures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from amem.text import index_terms, query_terms, written_in_cjk
from amem.text.stopwords import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.retrieval.hit import Hit

#: From this share of the question's telling words on (weighted by rarity), a note supports an answer.
HELD = 0.5
#: Below this share nothing does: what is left are words such as "type" that any note may hold.
HARDLY_HELD = 0.15
#: From this cosine on, a note supports an answer to a question in Latin script.
CLOSE = 0.5
#: Below this cosine notes are no closer to a question than to any other.
HARDLY_CLOSE = 0.35
#: Below this cosine, and with none of the question's words, a note is beside the point: no model needs to read it.
BESIDE = 0.2

#: Words of asking, not of what is asked for: they are rare in notes and would weigh much.
_ASKING = frozenset(
    query_terms("tell told say said mention mentioned remember recall call called name know talk talked ask asked")
) | frozenset(
    words(
        """
        叫什 是什 么名 什么 时候 多少 是多 名字 告诉 说过 提过 记得 知道 有没 没有 哪里 哪个 哪些 是哪 在哪 怎么
        怎样 如何 为什 几岁 东西 事情 现在 还是 我叫 叫做
        """
    )
)


class Support(StrEnum):
    """Whether memory supports an answer."""

    YES = "yes"
    PERHAPS = "perhaps"
    """Something comes near; whoever reads the notes has to tell."""
    NO = "no"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A note that may support an answer: what it says, and its cosine to the question where that is known."""

    note: str
    text: str
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict, the notes behind it (none for NO), the best share of words and the best cosine. `beside` are notes
    that have neither words nor, for a question in Latin script, meaning in common with the question."""

    support: Support
    notes: tuple[str, ...] = ()
    held: float = 0.0
    cosine: float = 0.0
    beside: frozenset[str] = frozenset()


def evidence_of(hit: Hit) -> Evidence:
    """What a hit has to say for itself; a cosine only where it was found by meaning."""
    cosine = next((leg.raw for leg in hit.explanation.legs if leg.leg == "dense"), None)
    return Evidence(hit.id, "\n".join([hit.content, " ".join(hit.keywords)]), cosine)


def telling(question: str) -> list[str]:
    """The terms of a question that say what is asked for; words of asking count only when there are no others."""
    terms = query_terms(question)
    return [term for term in terms if term not in _ASKING] or terms


def weights_of(question: str, frequency: Mapping[str, int], total: int) -> dict[str, float]:
    """The telling terms of a question, each with how rare it is (see `judge`)."""
    return {term: math.log1p(max(total, 1) / (min(frequency.get(term, 0), total) + 0.5)) for term in telling(question)}


def share_held(weights: Mapping[str, float], text: str) -> float:
    """How much of what is asked a text holds, 0..1: its share of these weights."""
    every = sum(weights.values())
    terms = set(index_terms(text)) if every else set()
    return sum(weight for term, weight in weights.items() if term in terms) / every if every else 0.0


def judge(question: str, evidence: Sequence[Evidence], frequency: Mapping[str, int], total: int) -> Judgement:
    """Weigh the evidence; `frequency` says of each of the question's `telling` terms how many of `total` notes hold
    it. Words that no note holds weigh most: what the question is about is then not in memory."""
    weights = weights_of(question, frequency, total)
    latin = not written_in_cjk(question)
    best, supporting, near, beside = (0.0, 0.0), [], [], set()
    for each in evidence:
        held = share_held(weights, each.text)
        cosine = each.cosine or 0.0 if latin else 0.0
        best = max(best[0], held), max(best[1], cosine)
        if held >= HELD or cosine >= CLOSE:
            supporting.append(each.note)
        elif held >= HARDLY_HELD or cosine >= HARDLY_CLOSE:
            near.append(each.note)
        elif held == 0 and latin and cosine < BESIDE:
            beside.add(each.note)
    support = Support.YES if supporting else Support.PERHAPS if near else Support.NO
    return Judgement(support, tuple(supporting or near), *best, frozenset(beside))
