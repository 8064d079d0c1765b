"""What the assistant hands back: replies, the pieces they arrive in, what was learnt, what might be forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from amem.storage.chats import TurnState

if TYPE_CHECKING:
    from datetime import datetime

    from amem.note import Kind
    from amem.storage.chats import Recollection, Turn


@dataclass(frozen=True, slots=True)
class Recalled:
    """A note that was recalled for an answer, with why, as people are shown it.

    `text` is what the note said when it was recalled, '' where it has been purged since. `score` and `trust` lie
    in 0..1; `injected` tells whether it stood in what a model was to read, `supports` whether the answer could rest on
    it, `part` whether it is ``recalled``, a ``core`` note or an ``episode`` of the chat.
    """

    note: str
    version: int
    text: str
    score: float
    trust: float
    why: str
    injected: bool
    supports: bool
    part: str = "recalled"
    kind: Kind | None = None
    at: datetime | None = None
    purged: bool = False

    def kept(self) -> Recollection:
        """What of it is stored with the turn."""
        from amem.storage.chats import Recollection

        return Recollection(
            self.note, self.version, round(self.score, 4), self.why, self.injected, self.part, self.supports
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "id": self.note,
            "version": self.version,
            "text": self.text,
            "score": self.score,
            "trust": self.trust,
            "why": self.why,
            "injected": self.injected,
            "supports": self.supports,
            "part": self.part,
            "kind": None if self.kind is None else str(self.kind),
            "at": None if self.at is None else self.at.isoformat(),
            "purged": self.purged,
        }


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn's outcome.

    `notice` is a line of amem's own that stands before the answer (that the memory holds nothing about it), `text`
    what the model said (partial when interrupted). When no model answered, `error` says so and `hint` what to do, and
    `recalled` still holds what was found. `in_memory` is False when the question was one only memory could answer and
    nothing recalled supports an answer; None when that could not be told. `turn` is None when incognito.
    """

    text: str
    state: TurnState
    recalled: tuple[Recalled, ...] = ()
    notice: str = ""
    error: str = ""
    hint: str = ""
    model: str = ""
    in_memory: bool | None = None
    session: str = ""
    turn: int | None = None

    @property
    def answered(self) -> bool:
        """True when the model answered in full."""
        return self.state is TurnState.ANSWERED


class PieceKind(StrEnum):
    """What a piece of a streamed reply is."""

    RECALLED = "recalled"
    """Recall is over and the model is about to be asked: `recalled` is filled in."""
    NOTICE = "notice"
    """`text` is a line of amem's own, to be shown before the answer."""
    TEXT = "text"
    """`text` is the next part of the answer."""
    DONE = "done"
    """The end, always sent: `reply` is the whole reply, with the error if there was one."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a reply as it arrives."""

    kind: PieceKind
    text: str = ""
    recalled: tuple[Recalled, ...] = ()
    reply: Reply | None = None


@dataclass(frozen=True, slots=True)
class Learnt:
    """What was learnt from a turn (or from a day's). `operations` are what `undo` takes back.

    `saved` are titles of notes that were made, where they are known. `degraded` says that the model failed and the
    offline rules did it for now; `error` why.
    """

    remembered: int = 0
    updated: int = 0
    superseded: int = 0
    corroborated: int = 0
    episodes: int = 0
    turns: int = 0
    operations: tuple[int, ...] = ()
    degraded: bool = False
    error: str = ""
    waiting: int = 0
    saved: tuple[str, ...] = ()

    def __add__(self, other: Learnt) -> Learnt:
        return Learnt(
            self.remembered + other.remembered,
            self.updated + other.updated,
            self.superseded + other.superseded,
            self.corroborated + other.corroborated,
            self.episodes + other.episodes,
            self.turns + other.turns,
            self.operations + other.operations,
            self.degraded or other.degraded,
            self.error or other.error,
            self.waiting + other.waiting,
            (*self.saved, *other.saved),
        )

    def line(self) -> str:
        """``saved “I moved to Porto”: undo with /undo``; '' when nothing came of it."""
        return self.words(undo=": undo with /undo")

    def words(self, undo: str = "") -> str:
        """``saved 2 notes, superseded 1``, followed by how to `undo` that; '' when nothing came of it."""
        counts = {
            "updated": self.updated,
            "superseded": self.superseded,
            "confirmed": self.corroborated,
        }
        parts = [self._told_saved()] if self.remembered else []
        said = ", ".join([*parts, *(f"{word} {count}" for word, count in counts.items() if count)])
        if said:
            said += undo
        if self.degraded:
            said = "; ".join(part for part in (said, f"learnt by the built-in rules for now ({self.error})") if part)
        elif self.error:
            said = "; ".join(part for part in (said, f"not learnt from yet: {self.error}") if part)
        return said

    def _told_saved(self) -> str:
        if self.remembered == 1:
            return f"saved “{self.saved[0]}”" if len(self.saved) == 1 else "saved 1 note"
        return f"saved {self.remembered:,} notes"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note that `forget` might mean: shown first, deleted only when chosen by its id."""

    note: str
    text: str
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What `forget` did: `note` is the id it hid, or None with the `candidates` to choose from.

    `worded` is False where none of them has any of the words, and they merely come near in meaning. `operation` is what
    brings a hidden note back when it is undone.
    """

    note: str | None
    candidates: tuple[Candidate, ...] = ()
    worded: bool = True
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """A turn as it was, with what the recalled notes said then and what was learnt from it (note ids)."""

    turn: Turn
    recalled: tuple[Recalled, ...]
    learnt: tuple[str, ...] = ()

    def reply(self) -> Reply:
        """The reply as far as it is kept: without its notice and hint."""
        turn = self.turn
        return Reply(
            text=turn.answer,
            state=turn.state,
            recalled=self.recalled,
            error=turn.error,
            model=turn.model,
            in_memory=turn.supported,
            session=turn.session,
            turn=turn.number,
        )
