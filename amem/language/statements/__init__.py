"""Facts by rules: what a note states as subject, predicate and object, in English and Chinese. Precision first."""

from __future__ import annotations

from amem.language.statements.fact_finding import facts_in

__all__ = ["facts_in"]
