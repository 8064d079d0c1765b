"""A collection in a home of its own, from which tests fork."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def memory(home: Path) -> Iterator[AgenticMemorySystem]:
    with opened(home) as memory:
        yield memory


def opened(home: Path, collection: str = "memories", **more: object) -> AgenticMemorySystem:
    given = {"embedder": HashEmbedder(), "clock": FrozenClock(), **more}
    return AgenticMemorySystem(directory=home, collection=collection, **given)
