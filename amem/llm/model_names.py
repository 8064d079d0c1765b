"""The provider of a model name: ``llama3`` belongs to the backend named beside it, ``openai/gpt-4o-mini`` to OpenAI."""

from __future__ import annotations

from amem.errors import InvalidInput

#: The model that is asked for when a backend is named and a model is not.
DEFAULTS = {"ollama": "llama3.2", "openai": "gpt-4o-mini"}

_OLLAMA = ("ollama/", "ollama_chat/")


def full_name(backend: str, model: str) -> str:
    """The model's name with its provider in front: ``ollama/...`` or what LiteLLM understands.

    A prefix ``ollama/`` or ``openai/`` wins over `backend`. Any other slash is part of the name, since Ollama
    (``hf.co/user/model``) and OpenAI-compatible servers (``meta-llama/Llama-3.1-8B``) have such names; only the backend
    ``litellm`` reads it as LiteLLM's provider prefix. Raises InvalidInput when a model has to be named and is not.
    """
    name = model.strip() or DEFAULTS.get(backend, "")
    if not name:
        raise InvalidInput(
            f"the backend {backend} needs the name of a model",
            hint="set llm_model (AMEM_LLM_MODEL), for example anthropic/claude-3-5-haiku-latest",
        )
    for prefix in _OLLAMA:
        if name.startswith(prefix):
            return "ollama/" + name.removeprefix(prefix)
    if backend == "litellm" or name.startswith("openai/"):
        return name
    return f"{backend}/{name}"


def is_ollama(name: str) -> bool:
    """Whether a full name means a model of Ollama."""
    return name.startswith("ollama/")


def ollama_name(name: str) -> str:
    """The name by which Ollama itself knows a model. Raises InvalidInput for the name of another backend's."""
    model = name.strip()
    for prefix in _OLLAMA:
        model = model.removeprefix(prefix)
    if not model or model.startswith(("openai/", "anthropic/")):
        raise InvalidInput(f"{name!r} is no model of Ollama", hint="names look like llama3.2 or qwen3:4b")
    return model
