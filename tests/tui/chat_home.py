"""What the tests of the chat room share: a collection on disk whose model is a FakeOllama, and a way into the room."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from _judging_model import judging_model
from amem_tui.chat.chat_room import ChatScreen
from amem_tui.page import lay_out
from driving import browsing, wait_until

from amem.memory_system import AgenticMemorySystem
from amem.settings import Settings
from amem.testing import FakeOllama, FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from amem_tui.page import Part
    from textual.pilot import Pilot


@dataclass
class Talker:
    """Says these answers in chats, in order, then always the last; analyses as a willing model does."""

    answers: list[str] = field(default_factory=lambda: ["All right."])

    def __call__(self, request: dict[str, Any]) -> str:
        if request.get("format") is not None:
            return str(judging_model(request))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@dataclass
class Home:
    """A collection and the model that talks about it."""

    folder: Path
    talker: Talker
    ollama: FakeOllama
    opened: list[AgenticMemorySystem] = field(default_factory=list)

    def open(self, **settings: Any) -> AgenticMemorySystem:
        """A system on the folder; called again, a second one."""
        given = {"chat_learning": "off", "llm_backend": "ollama", "llm_model": "llama3.2", "llm_retries": 0} | settings
        made = Settings(home=self.folder, dense_base="exact", timezone="UTC", ollama_host=self.ollama.host, **given)
        memory = AgenticMemorySystem(
            settings=made,
            actor="user",
            clock=FrozenClock("2026-03-01T09:00", seed=f"clock {len(self.opened)}"),
            embedder=HashEmbedder(),
            # Analysis by a model costs half a second a note; what is learnt in chats is asked of the model all the same
            # where a test says so.
            analyst=None if made.chat_learning == "turn" else ScriptedAnalyst(),
        )
        self.opened.append(memory)
        return memory

    def close(self) -> None:
        """Close all of them."""
        for memory in self.opened:
            memory.close()


@asynccontextmanager
async def talking(memory: AgenticMemorySystem, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Pilot[None]]:
    """The app in its chat room, with the chat used last open."""
    async with browsing(memory, size) as pilot:
        await pilot.press("c")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen) and room(pilot).opened)
        await wait_until(pilot, lambda: bool(room(pilot).answerer.who or room(pilot).answerer.problem))
        yield pilot


def room(pilot: Pilot[None]) -> ChatScreen:
    """The chat room, in front or not."""
    held = pilot.app.get_screen("chat")
    assert isinstance(held, ChatScreen)
    return held


async def say(pilot: Pilot[None], text: str, *, wait: bool = True) -> None:
    """Type a message and send it; wait for the end of the answer unless told otherwise."""
    room(pilot).composer.text = text
    room(pilot).set_focus(room(pilot).composer)
    await pilot.press("enter")
    if wait:
        await over(pilot)


async def over(pilot: Pilot[None]) -> None:
    """Until nothing is being answered."""
    await pilot.pause()
    await wait_until(pilot, lambda: room(pilot).answering is None)
    await pilot.pause()  # what stands beside the answer is read only then


def spoken(pilot: Pilot[None]) -> list[tuple[str, str]]:
    """Questions and answers as they are shown."""
    views = room(pilot).transcript.views
    return [(laid_out(each.question_parts), laid_out(each.answer_parts)) for each in views]


def laid_out(parts: Sequence[Part], width: int = 80) -> str:
    return "\n".join(line.plain.removeprefix("  ") for line in lay_out(parts, width).lines)


def ending(pilot: Pilot[None], place: int = -1) -> str:
    """What is said of how a turn ended."""
    return room(pilot).transcript.views[place].ending.plain


def aside(pilot: Pilot[None]) -> str:
    """What the panel says, wherever its lines end."""
    return " ".join(laid_out(room(pilot).panel.parts, 400).split())
