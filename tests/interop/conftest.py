"""A collection in memory with the real model and the offline analyst, and a way to import into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.interop.importing import Importer
from amem.interop.reader import read_path
from amem.memory_system import AgenticMemorySystem
from amem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from amem.interop.formats import Format
    from amem.interop.importing import ImportReport
    from amem.protocols import Embedder

    Import = Callable[..., ImportReport]


@pytest.fixture
def settings(tmp_path: Path, model_cache: Path) -> Settings:
    return Settings(
        home=tmp_path / "home", cache=model_cache, llm_backend="offline", dense_base="exact", timezone="Europe/Lisbon"
    )


@pytest.fixture
def memory(settings: Settings, minilm: Embedder) -> Iterator[AgenticMemorySystem]:
    with AgenticMemorySystem(settings=settings, embedder=minilm) as memory:
        yield memory


@pytest.fixture
def bring_in(memory: AgenticMemorySystem, settings: Settings) -> Import:
    def bring_in(path: Path, format: Format | None = None) -> ImportReport:
        return Importer(memory, cause=f"import of {path.name}").run(read_path(path, settings, format))

    return bring_in
