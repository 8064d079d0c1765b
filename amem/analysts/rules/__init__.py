"""The analyst that needs no model: rules and word lists for English and Chinese.

Many rooms use its word lists alone, so that the rules are loaded when the analyst is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amem.analysts.rules.rule_analyst import OfflineAnalyst

__all__ = ["OfflineAnalyst"]


def __getattr__(name: str) -> Any:
    if name != "OfflineAnalyst":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from amem.analysts.rules.rule_analyst import OfflineAnalyst

    return OfflineAnalyst
