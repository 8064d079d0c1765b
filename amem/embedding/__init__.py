"""Text to vectors: MiniLM by ONNX, sentence-transformers, Ollama, or any LiteLLM embedding model.

Importing this room, and making an embedder, loads no model and no model library; the first text does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.embedding.embedder_choice import describe as describe
    from amem.embedding.embedder_choice import ensure_model as ensure_model
    from amem.embedding.embedder_choice import make_embedder as make_embedder

__all__ = ["describe", "ensure_model", "make_embedder"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.embedder_choice"), name)
