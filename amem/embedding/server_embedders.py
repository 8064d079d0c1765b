"""Embedding models served by Ollama, or reached by LiteLLM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from amem.embedding.onnx_embedder import BATCH, Once, rows_of
from amem.errors import MissingModel, ServiceUnavailable, first_line
from amem.library_imports import OPENAI_COMPATIBLE, import_litellm
from amem.server_call import MOST_BYTES, Bounds, OllamaServer, ServerCalls, made_within, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.protocols import Matrix
    from amem.settings import Settings


class _ServerEmbedder:
    """What asks a server for the vectors of some texts, a batch at a time."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._dimension = Once(lambda: int(self._ask(["dimension"]).shape[1]))

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        """Asks the server once."""
        return self._dimension.get()

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text; the server cuts what is too long for the model.

        Raises ServiceUnavailable when nobody answers, MissingModel when the server lacks the model.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.concatenate([self._ask(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)])

    def _ask(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text of a batch, from one call; each server is called in its own way."""
        raise NotImplementedError


# An embedding model served by Ollama.

PREFIX = "ollama/"


class OllamaEmbedder(_ServerEmbedder):
    """Embeds through ``/api/embed`` of the server at `host`; `name` is ``ollama/<model>``."""

    def __init__(self, name: str, *, host: str, timeout: float, max_bytes: int = MOST_BYTES) -> None:
        super().__init__(name)
        self._model = name.removeprefix(PREFIX)
        self._server = OllamaServer(host)
        self._bounds = Bounds(timeout, size=max_bytes)

    def _ask(self, texts: Sequence[str]) -> Matrix:
        with self._server.call(self._model, self._bounds) as (client, _):
            answer = client.embed(model=self._model, input=list(texts))
        return rows_of(answer.embeddings, len(texts), self._name)


# Any embedding model that LiteLLM reaches, such as ``openai/text-embedding-3-small``.


class LiteLLMEmbedder(_ServerEmbedder):
    """Embeds through LiteLLM, which takes four seconds to import, at first use."""

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__(name)
        self._provider = name.partition("/")[0]
        self._settings = settings
        self._litellm = Once(import_litellm)
        self._calls = ServerCalls()

    def _ask(self, texts: Sequence[str]) -> Matrix:
        litellm = self._litellm.get()
        key = None if self._settings.api_key is None else self._settings.api_key.get_secret_value()
        options: dict[str, Any] = {"timeout": self._settings.llm_timeout, "max_retries": 1}
        if self._provider in OPENAI_COMPATIBLE:
            options |= {"api_base": self._settings.api_base or None, "api_key": key or None}
        bounds = Bounds(self._settings.llm_timeout, size=self._settings.llm_answer_bytes)
        with self._calls.begin(self._name, bounds) as call:
            try:
                with made_within(call):
                    answer = litellm.embedding(model=self._name, input=list(texts), **options)
                rows = sorted(answer.data, key=lambda row: row["index"])
                vectors = [row["embedding"] for row in rows]
            except litellm.exceptions.NotFoundError as error:
                raise MissingModel(
                    f"the provider {self._provider} has no model {self._name}: {quoted(first_line(error), key)}",
                    hint="check the name in the embed_model setting",
                ) from error
            except Exception as error:  # LiteLLM raises its own tree, its providers' and bare ones
                raise call.failure or ServiceUnavailable(
                    f"cannot embed with {self._name}: {quoted(first_line(error), key)}",
                    hint="check the network, api_base, and the API key (AMEM_API_KEY or the provider's own variable)",
                ) from error
        return rows_of(vectors, len(texts), self._name)
