"""A question on its way out: legs, fusion, links, prior, and hits that say why."""

from __future__ import annotations

from amem.retrieval.ancestors import Ancestor
from amem.retrieval.explanation import Explanation, KeptOut, LegShare, Lent, Prior, Via
from amem.retrieval.hit import Hit
from amem.retrieval.protocols import DenseIndex
from amem.retrieval.recall import Recall
from amem.retrieval.related import related_text

__all__ = [
    "Ancestor",
    "DenseIndex",
    "Explanation",
    "Hit",
    "KeptOut",
    "LegShare",
    "Lent",
    "Prior",
    "Recall",
    "Via",
    "related_text",
]
