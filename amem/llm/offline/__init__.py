"""The analyst that needs no model: rules and word lists for English and Chinese."""

from __future__ import annotations

from amem.llm.offline.analyst import OfflineAnalyst
from amem.llm.offline.entities import entities

__all__ = ["OfflineAnalyst", "entities"]
