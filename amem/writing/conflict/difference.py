"""What a judge by words finds against a note: two statements that do not go together, and how."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.writing.conflict.statement import Statement

#: Shares of what the smaller of two statements is about that the other has to be about, too: half, most, nearly all.
HALF, MOST, NEARLY_ALL = 0.5, 0.6, 0.8
#: What two statements are both about has to weigh as much as one telling word.
TELLING = 1.0
#: Said within this time, two notes disagree; after it, something may have changed.
AT_ONCE = timedelta(days=1)


class How(StrEnum):
    """The reason."""

    TURNED = "turned"
    REPLACED = "replaced"
    OTHER_VALUE = "other value"
    OTHER_WORD = "other word"
    TAKEN_BACK = "taken back"


@dataclass(frozen=True, slots=True)
class Difference:
    """Two statements that do not go together. `explicit`: the later one says itself that something changed, ended or
    was wrong. `forever`: it is of a sort that does not change. `overlap` in 0..1."""

    how: How
    old: Statement
    new: Statement
    overlap: float
    explicit: bool
    forever: bool = False
