"""A-Mem's ``LLMController``, for programs written for it; new ones take `amem.analysts.choose.make_chat`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from amem import checks
from amem.analysts.choose import chat_model, make_chat
from amem.checks import validated
from amem.errors import InvalidInput
from amem.llm.model_names import full_name
from amem.settings import Settings, load_settings

if TYPE_CHECKING:
    import threading

    from amem.llm.guarded import Ledger
    from amem.protocols import ChatModel

__all__ = ["BaseLLMController", "LLMController", "OllamaController", "OpenAIController", "SGLangController"]

_BACKENDS = ("openai", "ollama", "sglang", "litellm", "auto", "offline")


class BaseLLMController(ABC):
    """Anything that completes prompts."""

    @abstractmethod
    def get_completion(
        self, prompt: str, response_format: Mapping[str, Any] | None = None, temperature: float = 0.7
    ) -> str:
        """The model's answer; `response_format` is OpenAI's: ``json_schema``, ``json_object`` or None."""


@validated
class _ChatController(BaseLLMController):
    """Completes prompts with a chat model that is made at the first one, so that making a controller costs nothing."""

    def __init__(self, make: Callable[[], ChatModel]) -> None:
        self._make = make
        self._chat: ChatModel | None = None

    @property
    def chat(self) -> ChatModel:
        """The chat model behind this controller. Raises what making it raises."""
        if self._chat is None:
            self._chat = self._make()
        return self._chat

    def get_completion(
        self, prompt: str, response_format: Mapping[str, Any] | None = None, temperature: float = 0.7
    ) -> str:
        """The model's answer, as it came.

        Raises ServiceUnavailable when nobody answers or there is no API key, MissingModel when the model is not there;
        A-Mem answered with empty JSON then, which looked like an answer.
        """
        return self.chat.complete(prompt, schema=_schema(response_format), temperature=temperature)


@validated
class OpenAIController(_ChatController):
    """A model of OpenAI, or of a server that speaks its protocol (setting ``api_base``)."""

    def __init__(self, model: str = "gpt-4", api_key: str | None = None) -> None:
        super().__init__(lambda: _chat("openai", model, load_settings(api_key=api_key)))
        self.model = model


@validated
class OllamaController(_ChatController):
    """A model served by Ollama (setting ``ollama_host``)."""

    def __init__(self, model: str = "llama2") -> None:
        super().__init__(lambda: _chat("ollama", model, load_settings()))
        self.model = model


@validated
class SGLangController(_ChatController):
    """A model served by SGLang, through its OpenAI-compatible endpoint."""

    def __init__(self, model: str = "llama2", sglang_host: str = "http://localhost", sglang_port: int = 30000) -> None:
        base = f"{sglang_host}:{sglang_port}/v1"
        super().__init__(lambda: _chat("openai", model, load_settings(api_base=base)))
        self.model = model


@validated
class LLMController:
    """A-Mem's controller: ``LLMController("ollama", "llama3.2").llm.get_completion(prompt)``.

    Making one needs no key, no network and no model; what is missing is reported when a completion is asked for. Keys,
    hosts and time limits that are not given come from the settings. Raises InvalidInput for an unknown backend.
    """

    llm: BaseLLMController

    def __init__(
        self,
        backend: str = "openai",
        model: str = "gpt-4",
        api_key: str | None = None,
        sglang_host: str = "http://localhost",
        sglang_port: int = 30000,
    ) -> None:
        if backend == "openai":
            self.llm = OpenAIController(model, api_key)
        elif backend == "ollama":
            self.llm = OllamaController(model)
        elif backend == "sglang":
            self.llm = SGLangController(model, sglang_host, sglang_port)
        elif backend in _BACKENDS:
            self.llm = _ChatController(
                lambda: make_chat(load_settings(llm_backend=backend, llm_model=model, api_key=api_key))
            )
        else:
            raise InvalidInput(f"unknown backend {backend!r}", hint=f"it is one of {', '.join(_BACKENDS)}")

    @classmethod
    def of(
        cls, settings: Settings, *, ledger: Ledger | None = None, cancelled: threading.Event | None = None
    ) -> LLMController:
        """The controller of a memory system with these settings; for the others see `make_chat`."""
        controller = cls.__new__(cls)
        controller.llm = _ChatController(lambda: make_chat(settings, ledger=ledger, cancelled=cancelled))
        return controller

    def get_completion(
        self, prompt: str, response_format: Mapping[str, Any] | None = None, temperature: float = 0.7
    ) -> str:
        """The same as ``.llm.get_completion``."""
        return self.llm.get_completion(prompt, response_format, temperature)


def _chat(backend: str, model: str, settings: Settings) -> ChatModel:
    return chat_model(full_name(backend, model), settings)


def _schema(response_format: Mapping[str, Any] | None) -> Mapping[str, object] | None:
    kind = (response_format or {}).get("type")
    if response_format is None or kind is None or kind == "text":
        return None
    if kind == "json_object":
        return {"type": "object"}
    named = response_format.get("json_schema") if kind == "json_schema" else None
    schema = named.get("schema") if isinstance(named, Mapping) else None
    if not isinstance(schema, dict):
        raise InvalidInput(
            f"cannot read the response_format of type {checks.shown(kind)}",
            hint='use {"type": "json_schema", "json_schema": {"schema": {...}}} or {"type": "json_object"}',
        )
    return schema
