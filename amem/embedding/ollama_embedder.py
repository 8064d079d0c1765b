"""An embedding model served by Ollama."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from amem.embedding.once import Once
from amem.embedding.vectors import BATCH, rows_of
from amem.ollama_server import OllamaServer
from amem.server_call import MOST_BYTES, Bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.protocols import Matrix

PREFIX = "ollama/"


class OllamaEmbedder:
    """Embeds through ``/api/embed`` of the server at `host`; `name` is ``ollama/<model>``."""

    def __init__(self, name: str, *, host: str, timeout: float, max_bytes: int = MOST_BYTES) -> None:
        self._name = name
        self._model = name.removeprefix(PREFIX)
        self._server = OllamaServer(host)
        self._bounds = Bounds(timeout, size=max_bytes)
        self._dimension = Once(lambda: int(self._ask(["dimension"]).shape[1]))

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        """Asks the server once."""
        return self._dimension.get()

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text; Ollama cuts what is too long for the model.

        Raises ServiceUnavailable when nobody answers at the host, MissingModel when Ollama lacks the model.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.concatenate([self._ask(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)])

    def _ask(self, texts: Sequence[str]) -> Matrix:
        with self._server.call(self._model, self._bounds) as (client, _):
            answer = client.embed(model=self._model, input=list(texts))
        return rows_of(answer.embeddings, len(texts), self._name)
