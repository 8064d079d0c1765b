"""Copies of the model take 90 MB each; pytest would keep those of the last three runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LARGE = 10_000_000


@pytest.fixture(autouse=True)
def no_large_files_left(tmp_path: Path) -> Iterator[None]:
    yield
    for path in tmp_path.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.stat().st_size > LARGE:
            path.unlink()
