"""Stores to test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.storage.store import Store
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-02-01T09:00")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the collection will be; not made yet."""
    return tmp_path / "home" / "memories"


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, folder: Path, clock: FrozenClock) -> Iterator[Store]:
    """An empty collection, once in a file and once in memory."""
    made = Store(folder if request.param == "file" else None, clock)
    yield made
    made.close()


@pytest.fixture
def file_store(folder: Path, clock: FrozenClock) -> Iterator[Store]:
    """An empty collection in a file."""
    made = Store(folder, clock)
    yield made
    made.close()
