"""Forgetting: notes move between the layers of memory, and what never mattered fades out of sight."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from amem.maintenance.phase import ACTOR, Phase, PhaseReport, PhaseRun, Reason
from amem.note import Kind, Layer, Status
from amem.storage.rows import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.language.predicates import Predicates
    from amem.settings import Settings
    from amem.storage.store import Session, Store
    from amem.storage.usage import Standings
    from amem.strength import Strength


# What time may not archive: what a person wrote, what says how things are now, what replaced another note.

#: Why a note stays that a person wrote by hand.
OWN = "you wrote it, and archive_own_notes is off"


def lasting(
    session: Session, keys: Sequence[int], at: datetime, settings: Settings, predicates: Predicates
) -> dict[int, str]:
    """Which of these notes neither fade nor are summed up, each with the reason; `at` is the moment of the plan.

    What a person wrote outside a chat stays unless ``archive_own_notes`` is on.

    A fact counts when its subject has one such value at a time, or when it hangs on one, and nothing says that it is
    over by then. That something is no longer so counts as well: without it, what was so before would stand.
    """
    found = {} if settings.archive_own_notes else dict.fromkeys(session.notes.written_by_hand(keys), OWN)
    found |= dict.fromkeys(session.notes.replacing(keys), "it took the place of another note")
    for fact in session.facts.unended(keys, at):
        if predicates.slot(fact.predicate, fact.object) or predicates.hangs_on(fact.predicate):
            found[fact.note] = f"it says how things are now: {fact.subject} {fact.predicate} {fact.object}".rstrip()
    return found


# Which notes move between layers and which fade at a given moment: decided from their standings, nothing written.

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
    strength = standings.strength(at)
    up = standings.active & ~standings.long_term & (strength >= settings.long_term_from)
    line = settings.short_term_below
    worn = (standings.fresh(at) > line) | (standings.retention(at) <= line)
    down = standings.active & standings.long_term & (strength <= line) & worn
    return [
        *_moves(
            standings,
            up,
            What.PROMOTED,
            at,
            lambda held: f"{held.words()} reaches {_short(settings.long_term_from)}",
        ),
        *_moves(standings, down, What.DEMOTED, at, lambda held: f"{held.words()} is down to {_short(line)}"),
    ]


def plan_fading(standings: Standings, at: datetime, settings: Settings) -> list[Move]:
    """Notes of `FADING` kinds below ``fade_below`` that nothing has asked for in ``fade_after_days``; never pins."""
    weak = standings.strength(at) < settings.fade_below
    left = standings.idle(at) > settings.fade_after_days
    fading = standings.active & ~standings.pinned & standings.of_kind(*FADING) & weak & left

    def why(held: Strength) -> str:
        return f"{held.words()} is below {_short(settings.fade_below)}"

    return _moves(standings, fading, What.FADED, at, why)


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
    why: Callable[[Strength], str],
) -> list[Move]:
    chosen = standings.where(rows)
    held = chosen.terms(at)
    return [Move(key, what, each, why(each)) for key, each in zip(chosen.keys.tolist(), held, strict=True)]


def _short(line: float) -> str:
    return f"{line:.2g}"


# What of a plan may be done: not what a person set by hand, what somebody took back once, or what is so now.


def layer_moves(session: Session, standings: Standings, at: datetime, settings: Settings) -> list[Move]:
    """Which of these notes change layer at that moment."""
    return _permitted(session, plan_layers(standings, at, settings))


def fade_plan(
    session: Session, standings: Standings, at: datetime, settings: Settings, predicates: Predicates
) -> tuple[list[Move], dict[int, str]]:
    """Which of these notes fade then, from the layers that they will be in, and why others stay that are as weak."""
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


# The two phases of maintenance that time brings about: notes move between layers, then what is weak fades.


def layer_phase(store: Store, settings: Settings) -> Phase:
    """Moves notes between short-term and long-term memory."""
    return _phase(store, "layers", "changed layer", partial(layer_moves, settings=settings))


def fade_phase(store: Store, settings: Settings, predicates: Callable[[], Predicates]) -> Phase:
    """Archives what is weak, old and of no lasting kind, unless it says how things are now."""

    def plan(session: Session, standings: Standings, at: datetime) -> list[Move]:
        return fade_plan(session, standings, at, settings, predicates())[0]

    return _phase(store, "fade", "faded", plan)


def _phase(store: Store, name: str, said: str, plan: Callable[[Session, Standings, datetime], list[Move]]) -> Phase:
    """A phase that plans moves for all active notes in one pass and carries them out a page at a time.

    `plan` says what is to be moved at a moment of the notes that have these standings, `said` what the log calls that.
    What was moved is not planned again, so a run that was killed goes on by beginning anew.
    """

    def run(run: PhaseRun) -> PhaseReport:
        with store.read() as session:
            planned = plan(session, session.usage.standings(), session.now)
            if run.dry_run:
                return _report(_reasons(session, planned))
        done: list[Reason] = []
        for page in chunks(planned):
            if run.cancelled.is_set():
                break
            with store.write() as session:
                # Planned again: somebody may have recalled, edited or deleted some of them meanwhile.
                moves = plan(session, session.usage.standings([move.key for move in page]), session.now)
                reasons = _reasons(session, moves)
                page_of = run.begin(session, name, f"{len(moves)} {said}") if moves else None
                for move, reason in zip(moves, reasons, strict=True):
                    # Each is an operation of its own, so that it says why and can be taken back alone.
                    operation = session.begin(move.what.action, ACTOR, reason.why, parent=page_of)
                    session.notes.change(reason.id, move.what.change, operation)
                done += reasons
                run.mark(session, {"counts": _report(done).counts})
            run.tell(len(done), len(planned))
        return _report(done)

    return Phase(name, run)


def _report(reasons: Sequence[Reason]) -> PhaseReport:
    return PhaseReport(Counter(reason.what for reason in reasons), tuple(reasons))


def _reasons(session: Session, moves: Sequence[Move]) -> list[Reason]:
    ids = session.notes.ids_of([move.key for move in moves])
    return [Reason(ids[move.key], str(move.what), move.why) for move in moves]
