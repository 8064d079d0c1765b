"""What the chat room looks like, wide and small. ``pytest --snapshot-update`` takes the pictures anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browser_app import NotesApp
from amem_tui.chat.chat_room import ChatScreen
from driving import settled, wait_until

from amem.memory_system import AgenticMemorySystem
from amem.note import Kind
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst, ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

pytestmark = pytest.mark.thorough

SIZES = [(120, 36), (60, 20)]
ANSWER = """**Green tea** wants water of *80 degrees*, since boiling water makes it bitter.

1. Warm the pot.
2. Three grams for a cup, two minutes.

| tea | degrees |
|---|---:|
| green | 80 |
| black | 95 |

芝麻不喝茶 🐱。"""


@pytest.fixture
def chatted(tmp_path: Path) -> Iterator[AgenticMemorySystem]:
    """A chat of two turns: one that rests on notes and taught one, one that was stopped."""
    settings = Settings(home=tmp_path, dense_base="exact", timezone="UTC", llm_backend="offline", chat_learning="turn")
    with AgenticMemorySystem(
        settings=settings,
        actor="user",
        clock=FrozenClock("2026-03-01T09:00"),
        embedder=HashEmbedder(),
        analyst=ScriptedAnalyst(),
    ) as memory:
        memory.add("Green tea at 80 degrees, never boiling", kind=Kind.PREFERENCE)
        memory.add("芝麻是只六岁的橘白猫，怕吸尘器 🐱")
        with memory.assistant(chat=ScriptedChat(ANSWER, name="ollama/llama3.2")) as talk:
            talk.say("How hot must green tea be?")
            talk.wait(10)
            for piece in talk.stream("And black tea? I like it strong."):
                if piece.text:
                    break
            talk.wait(10)
        yield memory


def entered(*keys: str) -> Callable[[Pilot[None]], object]:
    async def enter(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("c")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen) and pilot.app.screen.opened)
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)

    return enter


@pytest.mark.parametrize("size", SIZES, ids=["wide", "small"])
def test_a_chat_goes_on(chatted: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(NotesApp(chatted, follow_every=60), terminal_size=size, run_before=entered())


@pytest.mark.parametrize("size", SIZES, ids=["wide", "small"])
def test_what_an_earlier_turn_rested_on(
    chatted: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    keys = ("escape", "x", "left_square_bracket", "p")
    assert snap_compare(NotesApp(chatted, follow_every=60), terminal_size=size, run_before=entered(*keys))
