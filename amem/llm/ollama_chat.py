"""A chat model served by Ollama, through its own Python package."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from amem.errors import MissingModel, ServiceUnavailable
from amem.llm.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping


class OllamaChat:
    """Asks `model` (without prefix) of the server at `host`; connects at the first call.

    `timeout` is in seconds; `max_tokens` bounds the answer, so that a small model which repeats itself comes to an end.
    """

    def __init__(
        self, model: str, *, host: str = "http://127.0.0.1:11434", timeout: float = 60, max_tokens: int = 1024
    ) -> None:
        self._model = model
        self._host = host
        self._timeout = timeout
        self._max_tokens = max_tokens
        self._usage = Usage()
        self._lock = threading.Lock()
        self._client: Any = None

    @property
    def name(self) -> str:
        return f"ollama/{self._model}"

    @property
    def usage(self) -> Usage:
        return self._usage

    def complete(self, prompt: str, *, schema: Mapping[str, object] | None = None, temperature: float = 0.0) -> str:
        """The model's answer, held to `schema` by Ollama's own constrained decoding.

        Raises ServiceUnavailable when nobody answers in time, MissingModel when the model has not been pulled.
        """
        import httpx
        import ollama

        try:
            answer = self._connected().chat(
                model=self._model,
                messages=[{"role": "user", "content": prompt}],
                format=dict(schema) if schema is not None else None,
                # Thinking aloud before a constrained answer costs minutes on a laptop and is thrown away.
                think=False if schema is not None else None,
                options={"temperature": temperature, "num_predict": self._max_tokens},
            )
        except ollama.ResponseError as error:
            raise self._refused(error.status_code, str(error.error)) from error
        except httpx.TimeoutException as error:
            raise ServiceUnavailable(
                f"{self.name} did not answer within {self._timeout:g} seconds",
                hint="raise llm_timeout (AMEM_LLM_TIMEOUT) or take a smaller model",
            ) from error
        except httpx.HTTPError as error:
            raise ServiceUnavailable(
                f"Ollama at {self._host} broke off before {self.name} had answered",
                hint="see Ollama's log; a model that does not fit into memory ends like this",
            ) from error
        except ConnectionError as error:
            raise ServiceUnavailable(
                f"no Ollama answers at {self._host}",
                hint="start it with `ollama serve`, or set ollama_host (OLLAMA_HOST)",
            ) from error
        except (ValueError, TypeError) as error:  # json's and pydantic's errors about a body that is not Ollama's
            raise ServiceUnavailable(
                f"what listens at {self._host} does not answer like Ollama",
                hint="check ollama_host (OLLAMA_HOST)",
            ) from error
        self._usage.add(tokens_in=answer.prompt_eval_count or 0, tokens_out=answer.eval_count or 0)
        return answer.message.content or ""

    def close(self) -> None:
        """Let go of the connection; the next call makes a new one."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _connected(self) -> Any:
        import ollama

        with self._lock:
            if self._client is None:
                self._client = ollama.Client(host=self._host, timeout=self._timeout)
            return self._client

    def _refused(self, status: int, reason: str) -> MissingModel | ServiceUnavailable:
        if status == 404:
            return MissingModel(
                f"Ollama at {self._host} does not have the model {self._model}",
                hint=f"run `ollama pull {self._model}`",
            )
        return ServiceUnavailable(
            f"Ollama at {self._host} could not answer with {self._model}: {reason.strip()[:200] or status}",
            hint=f"see Ollama's log, or try `ollama run {self._model}`",
        )
