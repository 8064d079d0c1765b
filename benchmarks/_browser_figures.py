"""What the browser costs whoever sits before it: measured on the real app, key by key."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from _browser_terminal import Taken, terminal
from _ranking_scores import percentile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _browser_terminal import Terminal
    from amem_tui.browse.note_list import NoteList
    from amem_tui.browse.note_pane import NotePane
    from amem_tui.browser_app import NotesApp

    from amem import AgenticMemorySystem

DIMENSION = 384
#: A key that is held down comes so many times a second; a quick typist needs so many seconds for a letter.
_HELD, _TYPED = 1 / 30, 0.12
KEYS = 150
WORDS = ("green tea", "running", "kettle week 12", "ops-1000", "postgres", "八十度", "李雷", "the a i", "zzz")
_REST = 0.3


def opened(home: Path, keys: int, words: Sequence[str]) -> dict[str, float]:
    """All figures of a process that has just begun."""
    from amem_tui.browser_app import NotesApp

    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings
    from amem.testing import HashEmbedder

    def open_(settings: Settings, *, create: bool = False) -> AgenticMemorySystem:
        return AgenticMemorySystem(settings=settings, embedder=HashEmbedder(DIMENSION), create=create)

    settings = Settings(home=home, dense_base="exact", timezone="UTC", llm_backend="offline")
    start, begun = time.perf_counter(), time.process_time()
    app = NotesApp(settings=settings, opening=open_)
    return asyncio.run(_sat_before(app, start, begun, keys, words))


async def _sat_before(app: NotesApp, start: float, begun: float, keys: int, words: Sequence[str]) -> dict[str, float]:
    async with terminal(app) as seat:
        sitting = Sitting(app, seat)
        found = {"first paint of the list, ms": (await seat.painting.until(sitting.listed) - start) * 1000}
        found["first paint of the list, ms of processor"] = (time.process_time() - begun) * 1000
        await asyncio.sleep(3 * _REST)
        found["RSS with the list shown, MB"] = memory_now()
        found |= both("arrow, held down: key to repaint", await sitting.arrows(keys))
        found |= both("page down: key to repaint", await sitting.pages("pagedown", keys))
        found |= both("first and last note: key to repaint", await sitting.ends(max(2, keys // 10)))
        found |= both("filter as one types: key to list repainted", await sitting.typing(words))
        found |= both("opening a note: key to note painted", await sitting.notes(max(2, keys // 5)))
        found["RSS after all that, without embedder, MB"] = memory_now()
        found |= both(
            "graph of 40 notes: read, laid out, drawn", await asyncio.to_thread(_graph, app.client.memory, keys // 10)
        )
        found["RSS with all vectors read (similar notes), MB"] = await asyncio.to_thread(_similar, app.client.memory)
    return found


class Sitting:
    """Somebody at the start screen."""

    def __init__(self, app: NotesApp, seat: Terminal) -> None:
        self._app = app
        self._timed = seat.timed
        self._press = seat.press
        self._to_type = seat.to_type

    def listed(self) -> bool:
        """Whether rows are there to be seen."""
        from amem_tui.browse.note_list import NoteList

        lists = self._app.screen.query(NoteList)
        return bool(lists) and lists.first().line is not None

    @property
    def _list(self) -> NoteList:
        from amem_tui.browse.note_list import NoteList

        return self._app.screen.query_one(NoteList)

    @property
    def _pane(self) -> NotePane:
        from amem_tui.browse.note_pane import NotePane

        return self._app.screen.query_one(NotePane)

    async def arrows(self, keys: int) -> list[Taken]:
        """The cursor down, and down again, as fast as a held key comes."""
        return [await self._step("down", self._list.cursor + 1, _HELD) for _ in range(keys)]

    async def pages(self, key: str, keys: int) -> list[Taken]:
        """Page after page, as fast as a held key comes: half of the rows that come up were never read before."""
        found = []
        for _ in range(keys):
            place = min(self._list.count - 1, self._list.cursor + max(1, self._list.size.height - 1))
            found.append(await self._step(key, place, _HELD))
        return found

    async def ends(self, times: int) -> list[Taken]:
        """From one end to the other."""
        found = []
        for _ in range(times):
            found.append(await self._step("end", self._list.count - 1, _REST))
            found.append(await self._step("home", 0, _REST))
        return found

    async def _step(self, key: str, place: int, pause: float) -> Taken:
        def there() -> bool:
            return self._list.cursor == place and all(self._list.entry_at(each) is not None for each in self._list.seen)

        taken = await self._timed(key, there)
        await asyncio.sleep(max(0.0, pause - taken.clock / 1000))
        return taken

    async def typing(self, words: Sequence[str]) -> list[Taken]:
        """Letter by letter, until the list shows what holds what is typed so far."""
        found = []
        for word in words:
            await self._to_type("f")
            for length in range(1, len(word) + 1):
                typed = word[:length].strip()
                if typed == word[: length - 1].strip():  # a space changes nothing
                    await self._key(" ")
                    continue
                taken = await self._timed(word[length - 1], lambda typed=typed: f"“{typed}”" in self._heading)
                found.append(taken)
                await asyncio.sleep(max(0.0, _TYPED - taken.clock / 1000))
            await self._timed("escape", lambda: self._heading == "Notes")
            await asyncio.sleep(_REST)
        return found

    @property
    def _heading(self) -> str:
        return str(self._list.border_title)

    async def notes(self, times: int) -> list[Taken]:
        """One note after the other, each read to its end."""
        found = []
        self._list.focus()
        self._list.cursor = 0
        for _ in range(times):
            for _ in range(6):
                await self._key("down")
            await asyncio.sleep(2 * _REST)
            row = self._list.entry_at(self._list.cursor + 1)
            assert row is not None
            found.append(await self._timed("down", lambda row=row: self._reads(row.id)))
            await asyncio.sleep(_REST)
        return found

    def _reads(self, id: str) -> bool:
        return self._pane.opened_note is not None and self._pane.opened_note.note.id == id

    async def _key(self, key: str) -> None:
        self._press(key)
        await asyncio.sleep(_TYPED)


def _graph(memory: AgenticMemorySystem, times: int) -> list[Taken]:
    from amem_tui.graph.drawing import draw
    from amem_tui.graph.layout import place
    from amem_tui.graph.scene import scene_of

    found: list[Taken] = []
    for card in memory.cards(memory.shelf(), 0, 100):
        start, begun = time.perf_counter(), time.process_time()
        around = memory.graph(card.id, 3, limit=40)
        if len(around.cards) < 40:
            continue
        draw(place(scene_of(around), 110, 34))
        found.append(Taken((time.perf_counter() - start) * 1000, (time.process_time() - begun) * 1000))
        if len(found) > max(3, times):
            break
    return found[1:]


def _similar(memory: AgenticMemorySystem) -> float:
    memory.similar(memory.cards(memory.shelf(), 0, 1)[0].id)
    return memory_now()


def both(name: str, times: Sequence[Taken]) -> dict[str, float]:
    """Their median and 95th percentile, by the clock and of the processor."""
    clock, processor = [each.clock for each in times], [each.processor for each in times]
    found = {f"{name}, p50 ms": percentile(clock, 0.5), f"{name}, p95 ms": percentile(clock, 0.95)}
    found[f"{name}, p50 ms of processor"] = percentile(processor, 0.5)
    found[f"{name}, p95 ms of processor"] = percentile(processor, 0.95)
    return found


def memory_now() -> float:
    """This process's resident memory, MB; not a number where that cannot be asked."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmRSS")) / 1024
