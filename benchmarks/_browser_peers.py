"""What one would write without windows: every note read at once and held as a row of Textual's own table."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, ClassVar

from _browser_figures import DIMENSION, both, memory_now
from _browser_terminal import terminal
from textual import on
from textual.app import App, ComposeResult
from textual.widgets import DataTable, Input

if TYPE_CHECKING:
    from pathlib import Path

    from amem.note import MemoryNote

Rows = list[tuple[str, str, str]]


class Naive(App[None]):
    """All rows in a table, and the ones that hold what is typed put into it again at every letter."""

    BINDINGS: ClassVar = [("f", "filter", "Filter")]

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self._rows = rows
        self.shown = ""

    def compose(self) -> ComposeResult:
        yield Input()
        yield DataTable(cursor_type="row")

    def on_mount(self) -> None:
        self.query_one(DataTable).add_columns("day", "kind", "note")
        self.query_one(DataTable).add_rows(self._rows)
        self.query_one(DataTable).focus()

    def action_filter(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        words = event.value.casefold().split()
        table = self.query_one(DataTable)
        table.clear()
        table.add_rows(row for row in self._rows if all(word in row[2].casefold() for word in words))
        self.shown = event.value


def naive(home: Path, keys: int, words: str) -> dict[str, float]:
    """The same figures of such a browser, as far as it has them."""
    from amem import AgenticMemorySystem
    from amem.settings import Settings
    from amem.testing import HashEmbedder

    settings = Settings(home=home, dense_base="exact", timezone="UTC", llm_backend="offline")
    start = time.perf_counter()
    with AgenticMemorySystem(settings=settings, embedder=HashEmbedder(DIMENSION), create=False) as memory:
        app = Naive([_row(note) for note in memory.list(limit=memory.count())])
        return asyncio.run(_sat_before(app, start, keys, words))


async def _sat_before(app: Naive, start: float, keys: int, words: str) -> dict[str, float]:
    async with terminal(app) as seat:

        def table() -> DataTable[str]:
            return app.query_one(DataTable)

        def listed() -> bool:
            return bool(app.query(DataTable)) and table().row_count > 0

        found = {"first paint of the list, ms": (await seat.painting.until(listed) - start) * 1000}
        await asyncio.sleep(1)
        for name, key, step in (("arrow, held down", "down", 1), ("page down", "pagedown", 10)):
            times = []
            for _ in range(keys):
                before = table().cursor_row
                times.append(
                    await seat.timed(key, lambda before=before, step=step: table().cursor_row >= before + step)
                )
            found |= both(f"{name}: key to repaint", times)
        times, typed = [], ""
        await seat.to_type("f")
        for letter in words[:6]:
            typed += letter
            times.append(await seat.timed(letter, lambda typed=typed: app.shown == typed))
        found |= both("filter as one types: key to list repainted", times)
        found["RSS after all that, without embedder, MB"] = memory_now()
    return found


def _row(note: MemoryNote) -> tuple[str, str, str]:
    return f"{note.at:%Y-%m-%d}", str(note.kind), note.content[:200]
