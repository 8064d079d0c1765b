"""Who analyses notes and answers prompts: what the settings ask for, or what ``auto`` finds on this machine."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from amem.errors import InvalidInput, ServiceUnavailable
from amem.llm.names import full_name, is_ollama
from amem.llm.ollama_models import chat_models

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.protocols import Analyst, ChatModel
    from amem.settings import Settings

_log = logging.getLogger(__name__)


def make_analyst(settings: Settings, *, notify: Callable[[str], None] | None = None) -> Analyst:
    """The analyst that the settings ask for.

    With ``llm_backend="auto"`` this asks Ollama (0.3 s at most) whether it has a chat model, so it is best called when
    the first note arrives; the choice is logged and handed to `notify` as one sentence. A backend that is named is
    taken as it is: that it does not answer is found out, and said, when it is used.
    """
    name = settings.llm_backend
    if name == "auto":
        model, reason = _find(settings)
        _log.info(reason)
        if notify is not None:
            notify(reason)
    else:
        model = "" if name == "offline" else full_name(name, settings.llm_model)
    if not model:
        from amem.llm.offline import OfflineAnalyst

        return OfflineAnalyst()
    from amem.llm.analyst import ModelAnalyst

    return ModelAnalyst(chat_model(model, settings), prompts=settings.home / "prompts")


def make_chat(settings: Settings) -> ChatModel:
    """The chat model that the settings ask for; nothing heavy is imported and, unless ``auto``, nobody is asked yet.

    Raises InvalidInput when the backend is ``offline``, ServiceUnavailable when ``auto`` finds no model.
    """
    if settings.llm_backend == "offline":
        raise InvalidInput(
            "the offline backend analyses notes but cannot chat", hint="set llm_backend to ollama, openai or litellm"
        )
    if settings.llm_backend != "auto":
        return chat_model(full_name(settings.llm_backend, settings.llm_model), settings)
    model, reason = _find(settings)
    if not model:
        raise ServiceUnavailable(
            f"no chat model was found: no Ollama with a model answers at {settings.ollama_host}",
            hint="start Ollama and run `ollama pull llama3.2`, or set llm_backend and llm_model",
        )
    _log.info(reason)
    return chat_model(model, settings)


def chat_model(name: str, settings: Settings) -> ChatModel:
    """The model of that full name (see `full_name`), reached as the settings say."""
    if is_ollama(name):
        from amem.llm.ollama_chat import OllamaChat

        return OllamaChat(name.removeprefix("ollama/"), host=settings.ollama_host, timeout=settings.llm_timeout)
    from amem.llm.litellm_chat import LiteLLMChat

    key = settings.api_key.get_secret_value() if settings.api_key else None
    return LiteLLMChat(name, api_key=key, api_base=settings.api_base, timeout=settings.llm_timeout)


def _find(settings: Settings) -> tuple[str, str]:
    """The model that ``auto`` takes, '' for none, and a sentence that says so."""
    asked = settings.llm_model.strip()
    if asked.startswith("openai/"):
        return asked, f"notes are analysed by {asked}"
    host = settings.ollama_host
    models = chat_models(host)
    if not models:
        missing = f"no Ollama answers at {host}" if models is None else f"Ollama at {host} has no chat model"
        return "", f"notes are analysed by the offline rules: {missing}"
    model = full_name("ollama", asked or models[0])
    return model, f"notes are analysed by {model}, which Ollama serves at {host}"
