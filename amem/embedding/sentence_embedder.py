"""Any sentence-transformers model, by name or path, on torch."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.embedding.onnx_embedder import BATCH, Once, unit_rows
from amem.errors import MissingExtra, MissingModel, first_line
from amem.language.scripts import Literacy
from amem.library_imports import defaults

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.protocols import Matrix

logger = logging.getLogger("amem.embedding")


class SentenceEmbedder:
    """Embeds with the sentence-transformers model called `name`, loaded at first use."""

    def __init__(self, name: str, notify: Callable[[str], None]) -> None:
        self._name = name
        self._notify = notify
        self._model = Once(self._load)
        self._literacy = Once(self._read)
        self._dimension = Once(lambda: int(self.embed(["dimension"]).shape[1]))
        # Its tokenizer changes its own padding and truncation during a call.
        self._one_at_a_time = Lock()

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        # Measured, because the method that tells it is called differently in versions 5 and 6.
        return self._dimension.get()

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text; the model cuts what is too long for it and sorts texts by length itself."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        model = self._model.get()
        with self._one_at_a_time:
            return unit_rows(model.encode(list(texts), batch_size=BATCH, show_progress_bar=False))

    def knows(self, text: str) -> float:
        """The share of the text that the model's vocabulary has words for, 0..1; 1 where it cannot be told."""
        if text.isascii() or (literacy := self._literacy.get()) is None:
            return 1.0
        with self._one_at_a_time:
            return literacy.of(text)

    def _read(self) -> Literacy | None:
        # A few models come with a tokenizer in Python, or take no text at all.
        tokenizer = getattr(getattr(self._model.get(), "tokenizer", None), "backend_tokenizer", None)
        return None if tokenizer is None else Literacy(tokenizer)

    def _load(self) -> Any:
        from amem.embedding.minilm import hub_answers

        transformer = import_sentence_transformers()
        self._notify(f"loading {self._name} with sentence-transformers")
        local = Path(self._name).is_dir() or not hub_answers()
        try:
            return transformer(self._name, local_files_only=local)
        except (OSError, ValueError) as error:
            logger.debug("sentence-transformers cannot load %s: %s", self._name, error)
            raise MissingModel(
                f"sentence-transformers cannot load the model {self._name}: {first_line(error)}",
                hint="check the name and the network, or set embed_model to all-MiniLM-L6-v2",
            ) from error


def import_sentence_transformers() -> Any:
    """The SentenceTransformer class; raises MissingExtra where the package is not installed."""
    # OpenMP reads this once, when torch is imported: threads that spin while they wait make a text 30 times slower on
    # a busy machine.
    with defaults(OMP_WAIT_POLICY="PASSIVE"), warnings.catch_warnings():
        # Deprecations inside torch and transformers are not the caller's to mend.
        warnings.simplefilter("ignore")
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtra(
                f"this embedding model needs sentence-transformers ({error})",
                hint='pip install "amem[sentence-transformers]"',
            ) from error
    return SentenceTransformer
