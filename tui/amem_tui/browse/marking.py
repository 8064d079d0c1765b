"""Marks on notes of the list, which outlast what is listed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual import on, work

from amem_tui.browse.listed import Listed
from amem_tui.browse.listing import ids_of
from amem_tui.browse.note_list import NoteList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem_tui.browse.rows import Row
    from amem_tui.desk import Desk

_MOST = 1000


class Marking(Listed):
    """Keeps the ids of the marked notes, in the order in which they were marked."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._marks: dict[str, None] = {}

    def _marked(self) -> list[str]:
        return list(self._marks)

    def _mark(self, ids: Sequence[str], marked: bool) -> None:
        for id in ids:
            if marked:
                self._marks[id] = None
            else:
                self._marks.pop(id, None)
        self._notes.tick(set(self._marks))
        self._subtitle()
        self.refresh_bindings()

    def _toggle(self, row: Row) -> None:
        self._mark([row.id], row.id not in self._marks)

    def _forget(self, ids: Sequence[str]) -> None:
        super()._forget(ids)
        self._mark(ids, False)

    def action_mark(self) -> None:
        if self._notes.row is not None:
            self._toggle(self._notes.row)
            self._notes.action_step(1)

    @on(NoteList.Ticked)
    def _ticked(self, event: NoteList.Ticked) -> None:
        self._toggle(event.row)

    @work(group="mark", exclusive=True)
    async def action_mark_all(self) -> None:
        with self._desk.refusals():
            if self._shelf is not None:
                ids = await self.ask(partial(ids_of, self.memory, self._shelf, _MOST))
            else:
                rows = (self._notes.entry_at(place) for place in range(self._notes.count))
                ids = [row.id for row in rows if row is not None]
            every = all(id in self._marks for id in ids)
            self._mark(ids, not every)
            if not every and self._notes.count > len(ids):
                self._desk.say(f"Marked the first {len(ids):,} of {self._notes.count:,}")
