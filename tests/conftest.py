"""What every test shares: no settings from outside, no network to the model hub, one real MiniLM."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

import pytest
from platformdirs import user_cache_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amem.protocols import Embedder

FROM_OUTSIDE = ("OLLAMA_HOST", "OPENAI_API_KEY")


@pytest.fixture(scope="session", autouse=True)
def no_settings_from_outside() -> Iterator[None]:
    """Tests see neither the developer's settings nor the model hub."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("AMEM_") or name in FROM_OUTSIDE:
                patch.delenv(name)
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


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


@pytest.fixture(scope="session")
def minilm(model_cache: Path) -> Embedder:
    """The real all-MiniLM-L6-v2."""
    from amem.embedding import make_embedder
    from amem.settings import Settings

    return make_embedder(Settings(cache=model_cache))
