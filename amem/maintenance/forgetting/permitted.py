"""What of a plan may be done: not what a person set by hand, what somebody took back once, or what is so now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.maintenance.forgetting.lasting import lasting
from amem.maintenance.forgetting.plan import plan_fading, plan_layers, relayered
from amem.maintenance.shift import ACTOR

if TYPE_CHECKING:
    from datetime import datetime

    from amem.maintenance.forgetting.plan import Move
    from amem.settings import Settings
    from amem.storage import Session
    from amem.storage.standings import Standings
    from amem.truth.predicates import Predicates


def layer_moves(session: Session, standings: Standings, at: datetime, settings: Settings) -> list[Move]:
    """Which of these notes change layer at that moment."""
    return _permitted(session, plan_layers(standings, at, settings))


def fade_moves(
    session: Session, standings: Standings, at: datetime, settings: Settings, predicates: Predicates
) -> list[Move]:
    """Which of these notes fade at that moment, from the layers that they will be in."""
    return fade_plan(session, standings, at, settings, predicates)[0]


def fade_plan(
    session: Session, standings: Standings, at: datetime, settings: Settings, predicates: Predicates
) -> tuple[list[Move], dict[int, str]]:
    """Which of these notes fade at that moment, and why the others stay that are as weak."""
    settled = relayered(standings, layer_moves(session, standings, at, settings))
    moves = plan_fading(settled, at, settings)
    held = lasting(session, [move.key for move in moves], at, settings, predicates)
    return _permitted(session, [move for move in moves if move.key not in held]), held


def _permitted(session: Session, moves: list[Move]) -> list[Move]:
    keys = [move.key for move in moves]
    ids = session.notes.ids_of(keys)
    owned = session.notes.owned_fields(list(ids.values()))
    back = {
        what: session.operations.taken_back(what.action, ACTOR, [move.key for move in moves if move.what is what])
        for what in {move.what for move in moves}
    }

    def by_hand(move: Move) -> bool:
        return any(owned[ids[move.key]].get(field) == "edited" for field in move.what.change)

    return [move for move in moves if move.key not in back[move.what] and not by_hand(move)]
