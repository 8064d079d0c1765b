"""What a judge says of two notes, and what came of it: frozen values, in receipts and in answers alike."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Label(StrEnum):
    """What the note that was true later is to the one that was true earlier."""

    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    SUPPORTS = "supports"
    RELATED = "related"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's word on two notes.

    With ``supersedes`` the `earlier` note was true and no longer is. `whole` is False where that concerns only a part
    of what it says: then `quotes` are the statements that ended, in the note's own words, and the rest of it stands;
    without any the judge could not say which. `judge` is slot, nli, model or heuristic; `confidence` lies in 0..1;
    `reason` says it in words, in the language of the later note.
    """

    label: Label
    confidence: float = 1.0
    reason: str = ""
    judge: str = ""
    whole: bool = True
    quotes: tuple[str, ...] = ()


NO_CONFLICT = Verdict(Label.NONE)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two notes of the collection that a judge has something to say of; `earlier` and `later` are ids.

    In a dry run one of them is '' and stands for the text that was tried. `hides` tells that the earlier note would
    be, or was, superseded, `ends` which of its statements would be, or were, marked as overturned while it stands.
    Where neither is so, `waits` says why not (partly out of date, not sure enough, a person's word against it), or is
    '' for a label that ends nothing.
    """

    earlier: str
    later: str
    verdict: Verdict
    cosine: float
    hides: bool = False
    waits: str = ""
    ends: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The conflict as JSON-ready values."""
        return {
            "earlier": self.earlier,
            "later": self.later,
            "label": str(self.verdict.label),
            "confidence": round(self.verdict.confidence, 4),
            "reason": self.verdict.reason,
            "judge": self.verdict.judge,
            "whole": self.verdict.whole,
            "cosine": self.cosine,
            "hides": self.hides,
            "waits": self.waits,
            "ends": list(self.ends),
        }
