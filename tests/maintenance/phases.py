"""A phase that leaves its mark on every changed note, a cycle that runs it, and all that a collection then holds."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from amem.maintenance.cycle import Cycle
from amem.maintenance.phase import PhaseReport, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem
    from amem.maintenance.phase import MaintenanceReport, Phase, PhaseRun
    from amem.storage.store import Store


class Marking:
    """Gives every changed note a category, one transaction each; `meanwhile` is called between two of them."""

    def __init__(
        self,
        store: Store,
        category: str = "seen",
        name: str = "marking",
        *,
        meanwhile: Callable[[int], Any] | None = None,
    ) -> None:
        self.name = name
        self.looked_at: list[str] = []
        self._store = store
        self._category = category
        self._meanwhile = meanwhile

    def run(self, run: PhaseRun) -> PhaseReport:
        with self._store.read() as session:
            keys = run.changed(session)
            ids = session.notes.ids_of(keys)
        self.looked_at += [ids[key] for key in keys]
        marked: list[Reason] = []
        for number, key in enumerate(keys):
            if run.cancelled.is_set():
                break
            with self._store.read() as session:
                note = session.notes.get_many([ids[key]])[ids[key]]
            if note.category != self._category:
                marked.append(Reason(note.id, "promoted", f"it was {note.category}"))
                if not run.dry_run:
                    with self._store.write() as session:
                        operation = run.begin(session, "mark", "as every note")
                        session.notes.change(note.id, {"category": self._category}, operation)
                        run.mark(session, {"done": key, "counts": {"promoted": len(marked)}})
            if self._meanwhile is not None:
                self._meanwhile(number)
        return PhaseReport({"promoted": len(marked)}, tuple(marked))


def cycle_of(memory: AgenticMemorySystem, *phases: Phase, gone: Callable[[str], bool] = lambda owner: False) -> Cycle:
    return Cycle(memory.parts.store, lambda cycle: phases, memory.parts.worker.owner.one_more, gone)


def run(cycle: Cycle, *, dry_run: bool = False, cancelled: threading.Event | None = None) -> MaintenanceReport:
    return cycle.run("nightly", dry_run=dry_run, cancelled=cancelled or threading.Event())


def dump(memory: AgenticMemorySystem) -> dict[str, list[tuple[Any, ...]]]:
    """All there is of notes, but for which version and change each is."""
    with memory.parts.store.read() as session:
        run = session.rows
        columns = [row[1] for row in run("PRAGMA table_info(notes)") if row[1] not in ("version", "seq", "vector_seq")]
        return {
            "notes": run(f"SELECT {', '.join(columns)} FROM notes WHERE status <> 'deleted' ORDER BY key"),
            "links": run("SELECT source, target, type, reason, confidence, made_by, at FROM links ORDER BY 1, 2"),
            "facts": run("SELECT * FROM facts ORDER BY 1, 2"),
            "flags": [(flag.note, flag.because, flag.reason) for flag in session.flags.open()],
        }
