"""What one add, one chat turn and one `remember` cost in model calls: sums since the collection was begun."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from amem.storage import tables

if TYPE_CHECKING:
    from amem.storage.session import Session

_META = tables.meta
_TURNS = tables.turns
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
        self._run = session.connection.execute

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
        self._run(_META.delete().where(_META.c.key == _key(purpose)))
        self._run(_META.insert().values(key=_key(purpose), value=json.dumps(asdict(now))))

    def report(self) -> list[PurposeCost]:
        """Every purpose that anything was spent on."""
        columns = (func.count(), func.sum(_TURNS.c.tokens_in), func.sum(_TURNS.c.tokens_out))
        answered = self._run(select(*columns).where(_TURNS.c.tokens_in > 0)).one()
        answers = PurposeCost(ANSWER, answered[0], answered[0], answered[1] or 0, answered[2] or 0, 1)
        found = [self._of(ADD), answers, self._of(LEARNING), self._of(REMEMBER), self._of(MERGING)]
        return [each for each in found if each.times]

    def _of(self, purpose: str) -> PurposeCost:
        value = self._run(select(_META.c.value).where(_META.c.key == _key(purpose))).scalar()
        return PurposeCost(**json.loads(value)) if value else PurposeCost(purpose)


def _key(purpose: str) -> str:
    return f"cost {purpose}"
