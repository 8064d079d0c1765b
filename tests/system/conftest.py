"""A home of its own for what opens a memory system without naming a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def home_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that names no directory must not see the developer's settings either."""
    monkeypatch.setenv("AMEM_HOME", str(tmp_path / "default-home"))
