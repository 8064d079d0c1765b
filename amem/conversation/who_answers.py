"""Who answers in a chat: said in words, listed, and changed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from amem.errors import AmemError, MissingModel, ServiceUnavailable
from amem.llm.names import is_ollama
from amem.llm.ollama_models import chat_models, models

if TYPE_CHECKING:
    from amem.conversation.assistant import Assistant
    from amem.settings import Settings


def with_model(settings: Settings, name: str) -> Settings:
    """These settings with another model; one without a prefix belongs to the backend, Ollama where that is offline.

    Raises InvalidInput.
    """
    backend = "ollama" if settings.llm_backend in ("auto", "offline") else settings.llm_backend
    return settings.replaced(llm_backend=backend, llm_model=name)


def available(settings: Settings) -> list[str] | None:
    """The chat models that Ollama has; None when no Ollama answers."""
    return chat_models(settings.ollama_host)


def check(settings: Settings, model: str) -> None:
    """Ask Ollama whether it has the model of that full name; models of others are taken at their word.

    Raises MissingModel or ServiceUnavailable, each with what to do.
    """
    if not is_ollama(model):
        return
    name = model.removeprefix("ollama/")
    # Not only those that amem would choose by itself: one that Ollama asks elsewhere for may be named, too.
    found = models(settings.ollama_host)
    if found is None:
        raise ServiceUnavailable(
            f"no Ollama answers at {settings.ollama_host}", hint="start it with `ollama serve`", passing=True
        )
    if not any(each.called(name) for each in found):
        raise MissingModel(f"Ollama has no model {name}", hint=f"run `amem models pull {name}`")


def missing(settings: Settings, assistant: Assistant) -> MissingModel | None:
    """What to say when the assistant's model is known not to be there; None when it is, or nobody can tell.

    A server that does not answer now may do so for the next message, and without any model memory is shown.
    """
    try:
        check(settings, assistant.model)
    except MissingModel as error:
        return error
    except AmemError:
        return None
    return None


def answering(settings: Settings, model: str) -> str:
    """``llama3.2, from Ollama at 127.0.0.1:11434``: who answers and where that runs."""
    if is_ollama(model):
        return f"{model.removeprefix('ollama/')}, from Ollama at {urlsplit(settings.ollama_host).netloc}"
    return f"{model}, at {urlsplit(settings.api_base).netloc}" if settings.api_base else f"{model}, over the network"


def reason(error: str | AmemError, hint: str = "") -> str:
    """What went wrong and what to do, as whatever failed said it: in brackets after it."""
    what, hint = (error, hint) if isinstance(error, str) else (str(error), error.hint)
    return f"{what}{f' ({hint})' if hint else ''}"
