"""What is to become of one note: when it leaves its layer and when it fades, if nothing recalls it until then."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import NoteNotFound
from amem.maintenance.forgetting.lasting import lasting
from amem.maintenance.forgetting.permitted import fade_moves, layer_moves
from amem.maintenance.forgetting.plan import FADING, plan_fading
from amem.note import Layer, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.maintenance.forgetting.plan import Move, What
    from amem.note import Kind, MemoryNote
    from amem.settings import Settings
    from amem.storage import Session
    from amem.strength import Strength
    from amem.truth.predicates import Predicates

#: Nobody plans farther than ten years.
_FARTHEST = 3_650
#: How much of the past a curve shows at most, how much of the future at least (in days), and its points.
_PAST, _LEAST_AHEAD, _POINTS = 120.0, 60.0, 240


@dataclass(frozen=True, slots=True)
class Outlook:
    """How one note stands at `at`, and what time will do to it.

    `moves` is the first day on which maintenance would change its layer, to `moves_to`; `fades` the first on which it
    would archive it; None for never (in ten years). `stays` says why it never fades, '' when it does. `days` from now
    and the share `kept` (0..1) then are its retention curve, from its last use (120 days ago at most) on.
    """

    id: str
    kind: Kind
    content: str
    status: Status
    pinned: bool
    at: datetime
    now: Strength
    moves: datetime | None
    moves_to: Layer | None
    fades: datetime | None
    stays: str
    days: NDArray[np.float64]
    kept: NDArray[np.float64]


def look_ahead(
    session: Session, settings: Settings, predicates: Predicates, id: str, ahead: float | None = None
) -> Outlook:
    """The outlook of a note; its curve reaches `ahead` days from now. Raises NoteNotFound."""
    key = session.notes.keys_of([id]).get(id)
    if key is None:
        raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
    at, late = session.now, session.now + timedelta(days=_FARTHEST)
    standings = session.usage.standings([key])
    note, _ = session.notes.bare([key])[key]

    def layer_on(day: int) -> What | None:
        found = layer_moves(session, standings, at + timedelta(days=day), settings)
        return found[0].what if found else None

    def fades_on(day: int) -> bool:
        return bool(fade_moves(session, standings, at + timedelta(days=day), settings, predicates))

    # Only the strong rise, and they do it at once; from then on time takes without ever giving back.
    moves = 0 if layer_on(0) else _first_day(lambda day: layer_on(day) is not None)
    moved = None if moves is None else layer_on(moves)
    fades = _first_day(fades_on)
    now = standings.terms(at, settings.decay_rate)[0]
    if ahead is None:
        ahead = max(_LEAST_AHEAD, 1.25 * max((day for day in (moves, fades) if day is not None), default=0))
    days = np.linspace(-min(now.age_days, _PAST), max(ahead, 1.0), _POINTS)
    return Outlook(
        id=note.id,
        kind=note.kind,
        content=note.content,
        status=note.status,
        pinned=note.pinned,
        at=at,
        now=now,
        moves=None if moves is None else at + timedelta(days=moves),
        moves_to=None if moved is None else Layer(moved.change["layer"]),
        fades=None if fades is None else at + timedelta(days=fades),
        stays=""
        if fades is not None
        else _why(session, note, key, plan_fading(standings, late, settings), late, settings, predicates),
        days=days,
        kept=now.kept_after(days),
    )


def _first_day(happens: Callable[[int], bool]) -> int | None:
    """The first day on which it happens, given that what has happened once goes on happening."""
    if not happens(_FARTHEST):
        return None
    low, high = -1, _FARTHEST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if happens(middle) else (middle, high)
    return high


def _why(
    session: Session,
    note: MemoryNote,
    key: int,
    planned: Sequence[Move],
    late: datetime,
    settings: Settings,
    predicates: Predicates,
) -> str:
    if note.status is not Status.ACTIVE:
        return f"it is {note.status} already"
    if note.pinned:
        return "it is pinned"
    if note.kind not in FADING:
        return f"a {note.kind} never fades by time alone"
    if not planned:
        return "it stays strong enough"
    held = lasting(session, [key], late, settings, predicates)
    return held.get(key, "somebody wanted it to stay")
