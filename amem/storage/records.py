"""What storage hands out besides notes, links and sources: operations, versions, reviews, jobs, undo reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Operation:
    """One line of the log. `parent` is the operation that set it off; `undone` tells whether it was taken back.

    `prompts` names what the model (then the `actor`) was asked, with versions: ``analyze 2, evolve 2``.

    `notes` are the ids it changed, `created` those it made, `links` how many links it added or removed (its
    children's not counted).
    """

    id: int
    parent: int | None
    action: str
    actor: str
    cause: str
    at: datetime
    undoes: int | None
    undone: bool
    prompts: str = ""
    notes: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    links: int = 0


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a note: what changed in it (`changes` is {field: (before, after)}), when, by whom and why.

    `prompts` are those of its operation. Of a proposal that a person accepted it says how sure (0..1) its maker was,
    and who that is.
    """

    version: int
    at: datetime
    actor: str
    action: str
    cause: str
    operation: int
    changes: Mapping[str, tuple[Any, Any]]
    prompts: str = ""
    confidence: float | None = None
    proposed_by: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not as it was before: `item` is ``note`` (all of it), a field, or a link, flag, witness or
    proposal with what tells it from others. `why` says so in words: ``changed since by operation 12``.
    """

    note: str
    item: str
    operation: int
    why: str


@dataclass(frozen=True, slots=True)
class UndoReport:
    """What an undo (or redo) did. `operation` is the new log entry, `undone` the one it took back.

    `reverted` holds (note id, item) pairs, `kept` what did not go back to what it was, and `settled` what changed
    beside it, since it follows: a note stands again whose successor is gone, or is overturned by what came meanwhile.
    What is in neither is exactly as it was. `passed_over` is a newer maintenance that stands, where no operation was
    named.
    """

    operation: int
    undone: int
    reverted: tuple[tuple[str, str], ...]
    kept: tuple[Difference, ...]
    settled: tuple[Difference, ...] = ()
    passed_over: int | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """A machine's proposed change that waits for a person. `changes` is {field: (before, after)}."""

    id: int
    note: str
    changes: Mapping[str, tuple[Any, Any]]
    reason: str
    confidence: float
    made_by: str
    created_at: datetime
    expires_at: datetime
    state: str
    operation: int


@dataclass(frozen=True, slots=True)
class Job:
    """Work that a worker has leased: `note` is the note's id, `operation` what set it off."""

    id: int
    kind: str
    note: str
    operation: int | None
    attempts: int
    error: str
