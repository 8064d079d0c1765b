"""Small collections in which nothing is linked but what is said here, for the graph and its pictures."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from amem_tui.browse.browse_room import BrowseScreen
from amem_tui.browser_app import NotesApp
from amem_tui.graph.graph_room import GraphScreen
from driving import settled, wait_until

from amem.memory_system import AgenticMemorySystem
from amem.note import Link, LinkType, MemoryNote
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
TEXTS = {
    "move": "I moved to Lisbon with the cat",
    "rotterdam": "I live in Rotterdam, in a small attic",
    "cat": "芝麻是只六岁的橘白猫，怕吸尘器 🐱",
    "vet": "The vet found a kidney disease",
    "food": "The cat eats low-phosphorus food only",
    "biscuits": "The cat may eat any biscuit",
    "bus": "Take bus 28 to the vet",
    "gone": "This one is deleted",
}


@contextmanager
def collection(folder: Path, *, seed: str = "one") -> Iterator[AgenticMemorySystem]:
    """A home of one's own; opened once more it wants another seed."""
    with AgenticMemorySystem(
        settings=Settings(home=folder, dense_base="exact", timezone="UTC", llm_backend="offline", conflict_score=1.0),
        clock=FrozenClock("2026-03-01T09:00", seed=seed),
        embedder=HashEmbedder(),
        analyst=ScriptedAnalyst(),
    ) as memory:
        yield memory


def move(memory: AgenticMemorySystem) -> dict[str, str]:
    """A cat moves to Lisbon: ids by name. The move is the newest note, and has three neighbours."""
    ids = {name: memory.add(text).id for name, text in reversed(TEXTS.items())}
    memory.supersede(ids["rotterdam"], ids["move"], "the city is another")
    memory.link(ids["move"], ids["cat"], "related", "both speak of the cat")
    memory.link(ids["cat"], ids["rotterdam"], "related", "the cat lived there")
    memory.acting_as("agent:helper").link(ids["food"], ids["vet"], "caused_by", "the kidneys")
    memory.link(ids["cat"], ids["food"], "related", "it eats that")
    memory.link(ids["food"], ids["biscuits"], "contradicts", "one says only, one says any")
    memory.link(ids["vet"], ids["bus"], "part_of", "the way there")
    memory.link(ids["move"], ids["gone"], "supports", "nobody sees this")
    memory.delete(ids["gone"])
    memory.pin(ids["cat"])
    return ids


def hub(memory: AgenticMemorySystem, spokes: int) -> str:
    """A note that points to very many others, all in one write; its id. It is the newest."""
    with memory.parts.store.write() as session:
        operation = session.begin("import", "user")
        centre = MemoryNote("The hub of it all", id="hub", at=NOW, recorded_at=NOW)
        for number in range(spokes):
            note = MemoryNote(f"Spoke {number} of many", id=f"spoke-{number:05}", at=NOW, recorded_at=NOW)
            session.notes.insert(note, operation, reliability=0.5, text_hash=b"")
            session.links.put(Link(centre.id, note.id, LinkType.RELATED, "", 1.0, "user", NOW), operation)
        session.notes.insert(centre, operation, reliability=0.5, text_hash=b"")
    return centre.id


@asynccontextmanager
async def in_the_graph(
    memory: AgenticMemorySystem, id: str | None, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[Pilot[None]]:
    """The app in its graph, entered as one does who has this note open."""
    app = NotesApp(memory, follow_every=0.2)
    async with app.run_test(size=size, notifications=True) as pilot:
        await graph_of(pilot, id)
        yield pilot


async def graph_of(pilot: Pilot[None], id: str | None) -> None:
    """Enter the graph of this note."""
    assert isinstance(pilot.app, NotesApp)
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))
    await settled(pilot)
    pilot.app.client.note = id
    await pilot.press("g")
    await settled(pilot)
    assert isinstance(pilot.app.screen, GraphScreen)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """One key after the other, and then what they set off."""
    await pilot.press(*keys)
    await rested(pilot)


async def rested(pilot: Pilot[None]) -> None:
    """Until nothing is being read any more."""

    def at_rest() -> bool:
        return all(worker.is_finished or worker.group == "follow" for worker in pilot.app.workers)

    for _ in range(2):
        await pilot.pause(0.01)
        await wait_until(pilot, at_rest)
