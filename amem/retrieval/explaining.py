"""What a ranking knows of one note, as an explanation of its score."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from amem.retrieval.explanation import Explanation, LegShare
from amem.retrieval.highlight import matched_words
from amem.retrieval.words import Words

if TYPE_CHECKING:
    from collections.abc import Container

    from amem.note import MemoryNote
    from amem.retrieval.explanation import Lent
    from amem.retrieval.fusion import Part
    from amem.retrieval.legs import Answer
    from amem.retrieval.ranking import Ranked, Ranking


def explained(ranking: Ranking, ranked: Ranked, note: MemoryNote, *, place: int | None) -> Explanation:
    """Why a ranked note has its score: the shares of all that gave it any."""
    factor = ranked.prior.factor
    return Explanation(
        id=ranked.id,
        score=ranked.score,
        relevance=ranked.relevance,
        prior=ranked.prior,
        legs=tuple(
            _share(ranking, ranking.answers.get(leg), ranked.key, leg, part, factor)
            for leg, part in ranked.parts.items()
        ),
        link_share=max(0.0, ranked.relevance - ranked.direct) * factor if ranked.via else 0.0,
        via=ranked.via,
        place=place,
        reading=ranking.reading,
        fusion=ranking.fusion,
        notes=(*ranking.notes, *ranked.notes),
        content=note.content,
    )


def silent(ranking: Ranking, key: int, told: Container[str]) -> tuple[LegShare, ...]:
    """What the legs not `told` of think of a note, to whose score they gave nothing."""
    # Where raw input answered for them, the legs' own opinions are told.
    told_by = ranking if ranking.heard is None else ranking.heard
    return tuple(
        _share(ranking, told_by.answers.get(leg), key, leg, part, 0.0)
        for leg, part in told_by.fused.parts(key, silent=True).items()
        if leg not in told and not math.isnan(part.raw)
    )


def _share(ranking: Ranking, answer: Answer | None, key: int, leg: str, part: Part, factor: float) -> LegShare:
    question = ranking.reading.text
    matched = () if answer is None else answer.matched(key)
    lent: tuple[Lent, ...] = ()
    if isinstance(answer, Words):
        matched = matched_words(question, matched)
        lent = tuple(replace(each, words=matched_words(question, each.words)) for each in answer.lent(key))
    if leg == "speaker":
        matched = (ranking.reading.named,)
    return LegShare(leg, part.rank, part.raw, part.share * factor, matched, part.scaled, part.weight, lent)
