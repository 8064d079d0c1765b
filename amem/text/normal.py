"""The form in which two texts count as the same text: only cosmetic differences are folded."""

from __future__ import annotations

import unicodedata

# NFKC would make 10² and 102 the same number.
_RAISED = str.maketrans(
    {
        **{raised: f"^{digit}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
        **{lowered: f"_{digit}" for digit, lowered in enumerate("₀₁₂₃₄₅₆₇₈₉")},
        **dict.fromkeys("\u200b\u2060\ufeff\u00ad\ufe0e\ufe0f", ""),
        **dict.fromkeys("‘’‛", "'"),
        **dict.fromkeys("“”„‟", '"'),
    }
)


def normalize(text: str) -> str:
    """`text` without differences of case, width, spacing, quotes' shape and closing full stops.

    Numbers keep every digit and point ("3.5" is not "35", "4 2" is not "42"), and a question mark stays, since a
    question is not its answer. Text made of nothing but closing punctuation stays as it is.
    """
    folded = text.casefold() if text.isascii() else _fold(text)
    collapsed = " ".join(folded.split())
    return collapsed.rstrip(" .!。") or collapsed


def _fold(text: str) -> str:
    composed = unicodedata.normalize("NFKC", text.translate(_RAISED)).casefold()
    return unicodedata.normalize("NFKC", composed)
