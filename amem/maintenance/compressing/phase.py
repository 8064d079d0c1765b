"""The weekly phase that sums up: groups of weak old notes make way for a short one, and stay in the archive."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from amem.clock import zone
from amem.errors import AmemError, Cancelled, StorageError
from amem.maintenance.compressing.digest import MARK, digest_of, gists
from amem.maintenance.compressing.groups import groups_of
from amem.maintenance.compressing.modelled import summed_up
from amem.maintenance.forgetting.lasting import lasting
from amem.maintenance.shift import ACTOR, PhaseReport, Reason
from amem.note import Kind, Link, LinkType, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.maintenance.shift import Shift
    from amem.note import MemoryNote
    from amem.protocols import PageWriter
    from amem.settings import Settings
    from amem.storage import Session, Store
    from amem.truth.predicates import Predicates
    from amem.vectorizer import Vectorizer

_log = logging.getLogger("amem")

#: What may be summed up. What someone is, wants, has decided or may not eat, and how things are done, stays as it is.
COMPRESSED = (Kind.EPISODE, Kind.CHITCHAT, Kind.QUESTION, Kind.ERROR)
#: Days that a note is left as it is: half the time after which it fades alone.
AFTER_DAYS = 30.0


@dataclass(frozen=True, slots=True)
class _Planned:
    parts: tuple[MemoryNote, ...]
    note: MemoryNote
    by: str


class CompressPhase:
    """Sums up notes as weak as those that fade. `writer` gives the model that words it, None for their own words."""

    name = "compress"

    def __init__(
        self,
        store: Store,
        vectorizer: Vectorizer,
        settings: Settings,
        predicates: Callable[[], Predicates],
        writer: Callable[[], PageWriter | None],
    ) -> None:
        self._store = store
        self._vectorizer = vectorizer
        self._settings = settings
        self._predicates = predicates
        self._writer = writer

    def run(self, shift: Shift) -> PhaseReport:
        """Sum up what can be; in a dry run, say what that is. What was summed up is no candidate any more, so a run
        that was killed goes on by beginning anew."""
        with self._store.read() as session:
            groups = groups_of(self._candidates(session, shift))
        summed: list[_Planned] = []
        for number, parts in enumerate(groups, 1):
            if shift.cancelled.is_set():
                break
            planned = self._plan(parts, by_model=not shift.dry_run)
            if shift.dry_run or self._write(shift, planned, before=sum(len(each.parts) for each in summed)):
                summed.append(planned)
            shift.tell(number, len(groups))
        reasons = [reason for each in summed for reason in _reasons(each)]
        return PhaseReport({"compressed": len(reasons)}, tuple(reasons))

    def _candidates(self, session: Session, shift: Shift) -> list[MemoryNote]:
        standings, at = session.usage.standings(), session.now
        weak = standings.strength(at, self._settings.decay_rate) < self._settings.fade_below
        wanted = weak & standings.active & ~standings.pinned & standings.of_kind(*COMPRESSED)
        keys = standings.keys[wanted & (standings.idle(at) > AFTER_DAYS)].astype(np.int64).tolist()
        held = lasting(session, keys, at, self._settings, self._predicates())
        left_alone = shift.taken_back(session, "compress", keys) | held.keys()
        found = session.notes.bare([key for key in keys if key not in left_alone])
        return [note for note, owned in found.values() if owned.get("status") != "edited" and MARK not in note.metadata]

    def _plan(self, parts: tuple[MemoryNote, ...], *, by_model: bool) -> _Planned:
        writer = self._writer() if by_model else None
        by, lines = ACTOR, gists(parts)
        if writer is not None:
            try:
                lines = summed_up(writer, parts) or lines
                by = writer.name
            except (Cancelled, StorageError):
                raise
            except AmemError as error:  # their own words do as well
                _log.warning("%d old notes are summed up by rules: %s", len(parts), error)
        return _Planned(parts, digest_of(parts, lines, zone(self._settings.timezone), by), by)

    def _write(self, shift: Shift, planned: _Planned, *, before: int) -> bool:
        """False when one of them was changed, or recalled, meanwhile."""
        note, ids = planned.note, [part.id for part in planned.parts]
        vectors, _ = self._vectorizer.embed([self._vectorizer.text(note)])
        with self._store.write() as session:
            held = session.notes.get_many(ids, history=False, usage=False)
            if any(part.id not in held or held[part.id].version != part.version for part in planned.parts):
                return False
            self._vectorizer.keep(session, vectors)
            page = shift.begin(session, "compress", f"{len(ids)} old notes in one")
            operation = page if planned.by == ACTOR else session.begin("compress", planned.by, "sum up", parent=page)
            keys = session.notes.keys_of(ids)
            reliable = [each for (each,) in session.notes.columns(list(keys.values()), ("reliability",)).values()]
            session.notes.insert(
                note, operation, reliability=min(reliable), text_hash=self._vectorizer.hash(note), given=()
            )
            for id in ids:
                link = Link(note.id, id, LinkType.DERIVED_FROM, "sums it up", 1.0, ACTOR, session.now)
                session.links.put(link, operation)
                session.notes.change(id, {"status": str(Status.ARCHIVED)}, page)
            shift.mark(session, {"counts": {"compressed": before + len(ids)}})
        return True


def _reasons(planned: _Planned) -> list[Reason]:
    why = f"weak, old, and one of {len(planned.parts)} that belong together"
    return [Reason(part.id, "compressed", why) for part in planned.parts]
