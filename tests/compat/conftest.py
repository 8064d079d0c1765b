"""Memory systems without a model server: scripted judgement, words hashed to vectors, everything else real."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from amem import AgenticMemorySystem
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Open = Callable[..., AgenticMemorySystem]


@pytest.fixture(autouse=True)
def home_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that names no directory must not see the developer's settings either."""
    monkeypatch.setenv("AMEM_HOME", str(tmp_path / "default-home"))


@pytest.fixture
def open_memory() -> Iterator[Open]:
    """Opens memory systems and closes them all in the end."""
    opened: list[AgenticMemorySystem] = []

    def open_(**options: Any) -> AgenticMemorySystem:
        given = {"embedder": HashEmbedder(256), "analyst": ScriptedAnalyst()} | options
        opened.append(AgenticMemorySystem(**given))
        return opened[-1]

    yield open_
    for memory in opened:
        memory.close()
