"""What every test shares: no settings from outside, no network to the model hub, one real MiniLM.

And for those that ask for it a memory system without a model server: scripted judgement, words hashed to vectors,
everything else real.
"""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from cpu_times import CpuTimes
from platformdirs import user_cache_path

from amem.embedding.onnx_embedder import OnnxModel
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from amem import AgenticMemorySystem
    from amem.protocols import Embedder

    Open = Callable[..., AgenticMemorySystem]

_LONGEST_NAME = 200
_ROOM = 2 * 1024**3
FROM_OUTSIDE = ("OLLAMA_HOST", "OPENAI_API_KEY")

# The same examples in every run, and no limit of time on a busy machine. `make test-all` names the second profile.
hypothesis.settings.register_profile("fast", max_examples=20, derandomize=True, database=None, deadline=None)
hypothesis.settings.register_profile("thorough", max_examples=150, derandomize=True, database=None, deadline=None)
hypothesis.settings.load_profile("fast")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-times", action="store_true", help="sum up the processor time of each folder and test")


def pytest_configure(config: pytest.Config) -> None:
    """Collections of tests live in memory where there is room: waiting for a disk after each commit tests the disk."""
    if config.getoption("--cpu-times"):
        config.pluginmanager.register(CpuTimes())
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))
    # Whoever starts tests in the background may ignore interrupts, and so would all programs that tests start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a page of text by its beginning: names go from process to process and into the environment of programs."""
    if not isinstance(val, str | bytes) or len(val) <= _LONGEST_NAME:
        return None
    return f"{val[:20]!a}, {len(val)} long"


@pytest.fixture(scope="session", autouse=True)
def no_settings_from_outside() -> Iterator[None]:
    """Tests see neither the developer's settings nor the model hub.

    Chroma, which takes a second to import, runs where a test asks for it (tests/index, tests/chroma).
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("AMEM_") or name in FROM_OUTSIDE:
                patch.delenv(name)
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("AMEM_DENSE_BASE", "exact")
        yield


@pytest.fixture(scope="session", autouse=True)
def garbage_is_looked_for_less_often() -> Iterator[None]:
    """Thousands of tests and all that they import are a lot to look through: every seventh second went into it."""
    before = gc.get_threshold()
    gc.set_threshold(20_000, 20, 20)
    gc.freeze()  # what was imported stays
    yield
    gc.set_threshold(*before)


@pytest.fixture(autouse=True)
def no_loop_left_behind() -> Iterator[None]:
    """LiteLLM takes an event loop and never closes it; collected later, it would fail some other test as a warning."""
    yield
    if "litellm" not in sys.modules:
        return
    # asyncio has no public way to ask for the current loop without making one.
    local = getattr(asyncio.get_event_loop_policy(), "_local", None)
    loop = getattr(local, "_loop", None)
    if loop is not None and not loop.is_running() and not loop.is_closed():
        loop.close()
        asyncio.set_event_loop(None)


@pytest.fixture(scope="session")
def model_cache() -> Path:
    """The everyday model cache, so that the model is exported once, not once per run or worker."""
    return user_cache_path("amem", appauthor=False)


@pytest.fixture(scope="session", autouse=True)
def everyday_model_is_opened_once(model_cache: Path) -> Iterator[None]:
    """Hundreds of commands run in this one process, and each would spend a tenth of a second on opening it again."""
    opened = OnnxModel.open
    opened_once = cache(opened)

    def open_(folder: Path, max_tokens: int | None = None) -> OnnxModel:
        return (opened_once if model_cache in folder.parents else opened)(folder, max_tokens)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OnnxModel, "open", open_)
        yield


@pytest.fixture(scope="session")
def minilm(model_cache: Path) -> Embedder:
    """The real all-MiniLM-L6-v2."""
    from amem.embedding import make_embedder
    from amem.settings import Settings

    return make_embedder(Settings(cache=model_cache))


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-03-01T10:00")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def open_memory(home: Path, clock: FrozenClock) -> Iterator[Open]:
    """Opens memory systems on `home` (``directory=None``: in memory) and closes them all in the end."""
    from amem import AgenticMemorySystem

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
