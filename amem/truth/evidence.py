"""One thing that one note states, with all that matters to whether it still holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from amem.note import Status


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fact of a note that is not deleted.

    `since` is when it was (or, with `holds` False, ceased to be) so: the fact's own time, else the note's, else when
    it was said, with `dated` False. `until` is an end that the note itself states. `order` breaks ties: later arrival,
    greater number.
    `successor` is the note that superseded this one, None when there is none or it was deleted; `retracted` says that
    it was superseded with nothing in its place, `ended` when the superseded note stopped being true. `kept` is set
    where a person said that the note holds in spite of another: nothing but a person ends it then.
    """

    note: str
    order: int
    subject: str
    predicate: str
    object: str
    holds: bool
    since: datetime
    until: datetime | None
    said: datetime
    speaker: str | None
    status: Status
    successor: str | None = None
    retracted: bool = False
    ended: datetime | None = None
    kept: bool = False
    dated: bool = False
