"""A collection and a folder, and short ways to say what is in either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.vault.state import SyncReport

    Open = Callable[..., AgenticMemorySystem]


@dataclass
class Desk:
    """A memory, and the folder that it is synced with."""

    memory: AgenticMemorySystem
    folder: Path

    def sync(self, *, dry_run: bool = False) -> SyncReport:
        return self.memory.vault(self.folder).sync(dry_run=dry_run)

    def settled(self) -> SyncReport:
        """Sync, and hold that a second one finds nothing to do."""
        report = self.sync()
        again = self.sync()
        assert again.is_quiet, again.to_dict()
        return report

    def files(self) -> dict[str, str]:
        """Every file that a person sees, by path."""
        found = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {
            name: path.read_bytes().decode("utf-8", "replace")
            for path in found
            if not (name := path.relative_to(self.folder).as_posix()).startswith(".")
        }

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def replace(self, name: str, old: str, new: str) -> None:
        path = self.folder / name
        text = path.read_bytes().decode()
        assert old in text, text
        path.write_bytes(text.replace(old, new).encode())

    def id_of(self, name: str) -> str:
        return next(line[4:] for line in self.files()[name].splitlines() if line.startswith("id: "))

    def content(self, name: str) -> str:
        note = self.memory.read(self.id_of(name))
        assert note is not None
        return note.content


@pytest.fixture
def desk(open_memory: Open, tmp_path: Path) -> Desk:
    return Desk(open_memory(directory=None), tmp_path / "vault")
