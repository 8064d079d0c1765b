"""Text to vectors: MiniLM by ONNX, sentence-transformers, Ollama, or any LiteLLM embedding model.

Importing this room, and making an embedder, loads no model and no model library; the first text does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.embedding.choose import describe as describe
    from amem.embedding.choose import ensure_model as ensure_model
    from amem.embedding.choose import make_embedder as make_embedder
    from amem.embedding.origin import ModelOrigin as ModelOrigin

__all__ = ["ModelOrigin", "describe", "ensure_model", "make_embedder"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "origin" if name == "ModelOrigin" else "choose"
    return getattr(import_module(f"{__name__}.{module}"), name)
