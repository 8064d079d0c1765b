"""Memory systems without a model server: scripted judgement, words hashed to vectors, everything else real."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from amem import AgenticMemorySystem
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Open = Callable[..., AgenticMemorySystem]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-03-01T10:00")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def open_memory(home: Path, clock: FrozenClock) -> Iterator[Open]:
    """Opens memory systems on `home` and closes them all in the end."""
    opened: list[AgenticMemorySystem] = []

    def open_(**options: Any) -> AgenticMemorySystem:
        given: dict[str, Any] = {"embedder": HashEmbedder(256), "analyst": ScriptedAnalyst(), "clock": clock}
        if "settings" not in options:
            given["directory"] = home
        opened.append(AgenticMemorySystem(**(given | options)))
        return opened[-1]

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: Open) -> AgenticMemorySystem:
    return open_memory()
