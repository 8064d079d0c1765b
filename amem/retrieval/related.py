"""Hits as the plain text that A-Mem's ``find_related_memories`` hands to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.retrieval.hit import Hit


def related_text(hits: Sequence[Hit]) -> str:
    """One line per hit, tab-separated ``name:value`` pairs; line breaks and tabs within a value become spaces."""
    return "".join(f"{_line(index, hit)}\n" for index, hit in enumerate(hits))


def _line(index: int, hit: Hit) -> str:
    parts = {
        "memory index": str(index),
        "talk start time": hit.timestamp,
        "memory content": hit.text,
        "memory context": hit.context,
        "memory keywords": ", ".join(hit.keywords),
        "memory tags": ", ".join(hit.tags),
    }
    return "\t".join(f"{name}:{' '.join(value.split())}" for name, value in parts.items())
