"""Which notes move between layers and which fade at a given moment: decided from their standings, nothing written."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from amem.note import Kind, Layer, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.settings import Settings
    from amem.storage.standings import Standings
    from amem.strength import Strength

#: What may fade by time alone. What someone is, wants, has decided or may not eat never does.
FADING = (Kind.CHITCHAT, Kind.QUESTION, Kind.EPISODE, Kind.ERROR, Kind.CODE)


class What(StrEnum):
    """What time does to a note."""

    PROMOTED = "promoted"
    DEMOTED = "demoted"
    FADED = "faded"

    @property
    def action(self) -> str:
        """What the log calls it."""
        return {What.PROMOTED: "promote", What.DEMOTED: "demote", What.FADED: "fade"}[self]

    @property
    def change(self) -> Mapping[str, str]:
        """The field that it sets, and to what."""
        if self is What.FADED:
            return {"status": str(Status.ARCHIVED)}
        return {"layer": str(Layer.LONG_TERM if self is What.PROMOTED else Layer.SHORT_TERM)}


@dataclass(frozen=True, slots=True)
class Move:
    """One note's move, with its strength at that moment and the reason in words."""

    key: int
    what: What
    strength: Strength
    why: str


def plan_layers(standings: Standings, at: datetime, settings: Settings) -> list[Move]:
    """Strong notes to long-term memory (``long_term_from``), weak ones back (``short_term_below``), the rest stays.

    A note that was weak from the start is no weaker for that: it is demoted once time has taken as much of it.
    """
    strength = standings.strength(at, settings.decay_rate)
    up = standings.active & ~standings.long_term & (strength >= settings.long_term_from)
    line = settings.short_term_below
    worn = (standings.fresh(at) > line) | (standings.retention(at, settings.decay_rate) <= line)
    down = standings.active & standings.long_term & (strength <= line) & worn
    return [
        *_moves(
            standings,
            up,
            What.PROMOTED,
            at,
            settings,
            lambda held: f"{held.words()} reaches {_short(settings.long_term_from)}",
        ),
        *_moves(standings, down, What.DEMOTED, at, settings, lambda held: f"{held.words()} is down to {_short(line)}"),
    ]


def plan_fading(standings: Standings, at: datetime, settings: Settings) -> list[Move]:
    """Notes of `FADING` kinds below ``fade_below`` that nothing has asked for in ``fade_after_days``; never pins."""
    weak = standings.strength(at, settings.decay_rate) < settings.fade_below
    left = standings.idle(at) > settings.fade_after_days
    fading = standings.active & ~standings.pinned & standings.of_kind(*FADING) & weak & left

    def why(held: Strength) -> str:
        return f"{held.words()} is below {_short(settings.fade_below)}"

    return _moves(standings, fading, What.FADED, at, settings, why)


def relayered(standings: Standings, moves: list[Move]) -> Standings:
    """The standings as they are once these moves are made."""
    up = [move.key for move in moves if move.what is What.PROMOTED]
    down = [move.key for move in moves if move.what is What.DEMOTED]
    return standings.layered((standings.long_term | np.isin(standings.keys, up)) & ~np.isin(standings.keys, down))


def _moves(
    standings: Standings,
    rows: NDArray[np.bool_],
    what: What,
    at: datetime,
    settings: Settings,
    why: Callable[[Strength], str],
) -> list[Move]:
    chosen = standings.where(rows)
    held = chosen.terms(at, settings.decay_rate)
    return [Move(key, what, each, why(each)) for key, each in zip(chosen.keys.tolist(), held, strict=True)]


def _short(line: float) -> str:
    return f"{line:.2g}"
