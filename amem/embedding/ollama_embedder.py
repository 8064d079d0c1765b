"""An embedding model served by Ollama."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from amem.embedding.once import Once
from amem.embedding.vectors import BATCH, rows_of
from amem.errors import MissingModel, ServiceUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.protocols import Matrix

PREFIX = "ollama/"


class OllamaEmbedder:
    """Embeds through ``/api/embed`` of the server at `host`; `name` is ``ollama/<model>``."""

    def __init__(self, name: str, *, host: str, timeout: float) -> None:
        self._name = name
        self._model = name.removeprefix(PREFIX)
        self._host = host
        self._timeout = timeout
        self._client = Once(self._connect)
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

    def _connect(self) -> Any:
        import ollama

        return ollama.Client(host=self._host, timeout=self._timeout)

    def _ask(self, texts: Sequence[str]) -> Matrix:
        import httpx
        import ollama

        client = self._client.get()
        try:
            answer = client.embed(model=self._model, input=list(texts))
        except ollama.ResponseError as error:
            if error.status_code == 404:
                raise MissingModel(
                    f"Ollama at {self._host} does not have the model {self._model}",
                    hint=f"run `amem models pull {self._model}`",
                ) from error
            raise ServiceUnavailable(
                f"Ollama at {self._host} could not embed with {self._model}: {error.error}",
                hint=f"see its log, or try: ollama run {self._model}",
            ) from error
        except (ConnectionError, httpx.HTTPError) as error:
            raise ServiceUnavailable(
                f"no Ollama answers at {self._host} (embedding with {self._model})",
                hint="start it with: ollama serve, or set ollama_host",
            ) from error
        return rows_of(answer.embeddings, len(texts), self._name)
