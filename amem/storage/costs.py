"""What model calls cost: by day and model, and for each add, chat turn and `remember`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.storage.store import Session


# What one add, one chat turn and one `remember` cost in model calls: sums since the collection was begun.

#: What calls are made for: a note that is added, learning from a chat turn, a conversation that is remembered, and the
#: drafts of merged notes in one run of maintenance.
ADD, LEARNING, REMEMBER, MERGING = "add", "chat learning", "remember", "merging"
#: The answers of chats are counted where the turns are kept.
ANSWER = "chat answer"


@dataclass(frozen=True, slots=True)
class PurposeCost:
    """Calls and tokens that `times` pieces of work for one purpose took; `most_calls` is the most that one took."""

    purpose: str
    times: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    most_calls: int = 0


class Costs:
    """The costs by purpose, in one transaction. Not versioned and not in the change counter: no note changes."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, purpose: str, *, calls: int, tokens_in: int, tokens_out: int) -> None:
        """Count one piece of work."""
        held = self._of(purpose)
        now = PurposeCost(
            purpose,
            held.times + 1,
            held.calls + calls,
            held.tokens_in + tokens_in,
            held.tokens_out + tokens_out,
            max(held.most_calls, calls),
        )
        self._session.remember(_key(purpose), json.dumps(asdict(now)))

    def report(self) -> list[PurposeCost]:
        """Every purpose that anything was spent on."""
        sql = (
            "SELECT count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0) FROM turns WHERE tokens_in > 0"
        )
        ((times, read, written),) = self._session.rows(sql)
        answers = PurposeCost(ANSWER, times, times, read, written, 1)
        found = [self._of(ADD), answers, self._of(LEARNING), self._of(REMEMBER), self._of(MERGING)]
        return [each for each in found if each.times]

    def _of(self, purpose: str) -> PurposeCost:
        value = self._session.remembered(_key(purpose))
        return PurposeCost(**json.loads(value)) if value else PurposeCost(purpose)


def _key(purpose: str) -> str:
    return f"cost {purpose}"


# What model calls cost, by day and model: kept with the collection, so that a budget holds over processes.

_ADD = (
    "INSERT INTO spending (day, model, calls, tokens_in, tokens_out)"
    " VALUES (:day, :model, :calls, :tokens_in, :tokens_out)"
    " ON CONFLICT (day, model) DO UPDATE SET calls = calls + :calls,"
    " tokens_in = tokens_in + :tokens_in, tokens_out = tokens_out + :tokens_out"
)


@dataclass(frozen=True, slots=True)
class DaySpent:
    """What one model cost on one day (``2026-03-01``, in the collection's time zone)."""

    day: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int


class Spending:
    """The spending rows of one transaction. Not versioned and not in the change counter: no note changes."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, day: str, model: str, *, calls: int, tokens_in: int, tokens_out: int) -> None:
        """Add to what a model cost on a day."""
        row = {"day": day, "model": model, "calls": calls, "tokens_in": tokens_in, "tokens_out": tokens_out}
        self._session.change(_ADD, **row)

    def of(self, day: str) -> int:
        """Tokens that all models together read and wrote on that day."""
        sql = "SELECT coalesce(sum(tokens_in + tokens_out), 0) FROM spending WHERE day = :day"
        return int(self._session.value(sql, day=day))

    def report(self, days: int) -> list[DaySpent]:
        """The newest `days` days on which anything was spent, newest first, models by name."""
        sql = "SELECT day, model, calls, tokens_in, tokens_out FROM spending WHERE day IN"
        sql += " (SELECT DISTINCT day FROM spending ORDER BY day DESC LIMIT :days) ORDER BY day DESC, model"
        return [DaySpent(*row) for row in self._session.rows(sql, days=days)]
