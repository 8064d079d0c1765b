"""Who analyses notes and answers prompts: what the settings ask for, or what ``auto`` finds on this machine."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import InvalidInput, ServiceUnavailable
from amem.llm.guarded import GuardedChat
from amem.llm.names import DEFAULTS, full_name, is_ollama
from amem.llm.ollama_models import chat_models

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from amem.llm.guarded import Ledger
    from amem.protocols import Analyst, ChatModel
    from amem.settings import Settings
    from amem.truth.predicates import Predicates

    Notify = Callable[[str], None]

_log = logging.getLogger(__name__)

#: Most tokens of an answer: notes that are analysed together take about 180 each.
_ANALYSIS_TOKENS, _CHAT_TOKENS = 2048, 2048


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that reads notes, by its full name ('' for the offline rules), and a sentence that says so and why."""

    model: str
    reason: str


def choose(settings: Settings) -> Choice:
    """Who reads notes with these settings. Only for ``auto`` this asks Ollama what it has, 0.3 s at most.

    A backend that is named is taken as it is: that it does not answer is found out, and said, when it is used.
    Raises InvalidInput when a model has to be named and is not.
    """
    if settings.llm_backend == "offline":
        return Choice("", "notes are analysed by built-in rules")
    if settings.llm_backend != "auto":
        model = full_name(settings.llm_backend, settings.llm_model)
        return Choice(model, f"notes are analysed by {model}")
    asked = settings.llm_model.strip()
    if asked.startswith("openai/"):
        return Choice(asked, f"notes are analysed by {asked}")
    host = settings.ollama_host
    models = chat_models(host)
    if not models:
        missing = f"no Ollama answers at {host}" if models is None else f"Ollama at {host} has no chat model"
        return Choice("", f"notes are analysed by built-in rules: {missing}")
    model = full_name("ollama", asked or models[0])
    return Choice(model, f"notes are analysed by {model}, which Ollama serves at {host}")


def make_analyst(
    settings: Settings,
    predicates: Callable[[], Predicates] | None = None,
    *,
    notify: Notify | None = None,
    ledger: Ledger | None = None,
    cancelled: threading.Event | None = None,
) -> Analyst:
    """The analyst that the settings ask for (see `choose`).

    What ``auto`` chose is logged and handed to `notify` as one sentence, so this is best called when the first note
    arrives. `predicates` is the table that facts found by rules go by. `ledger` counts what the model costs against the
    day's budget; setting `cancelled` calls its work off.
    """
    model = _chosen(settings, notify).model
    if not model:
        from amem.llm.offline import OfflineAnalyst

        return OfflineAnalyst(predicates)
    from amem.llm.analyst import ModelAnalyst

    chat = chat_model(model, settings, max_tokens=min(_ANALYSIS_TOKENS, settings.llm_context // 2))
    return ModelAnalyst(_guarded(chat, settings, ledger, cancelled), prompts=settings.home / "prompts")


def make_chat(
    settings: Settings,
    *,
    notify: Notify | None = None,
    ledger: Ledger | None = None,
    cancelled: threading.Event | None = None,
) -> GuardedChat:
    """The chat model that the settings ask for; nothing heavy is imported and, unless ``auto``, nobody is asked yet.

    `notify`, `ledger` and `cancelled` are those of `make_analyst`. Raises InvalidInput when the backend is ``offline``,
    ServiceUnavailable when ``auto`` finds no model.
    """
    if settings.llm_backend == "offline":
        raise InvalidInput(
            "the offline backend analyses notes but cannot chat", hint="set llm_backend to ollama, openai or litellm"
        )
    choice = choose(settings)
    if not choice.model:
        raise ServiceUnavailable(
            f"no chat model was found: no Ollama with a model answers at {settings.ollama_host}",
            hint=f"start Ollama and run `amem models pull {DEFAULTS['ollama']}`, or set llm_backend and llm_model",
        )
    if settings.llm_backend == "auto":
        _say(f"answers come from {choice.model}", notify)
    chat = chat_model(choice.model, settings, max_tokens=min(_CHAT_TOKENS, settings.llm_context // 4))
    return _guarded(chat, settings, ledger, cancelled)


def chat_model(name: str, settings: Settings, *, max_tokens: int = _ANALYSIS_TOKENS) -> ChatModel:
    """The model of that full name (see `full_name`), reached as the settings say, with no guard around it."""
    if is_ollama(name):
        from amem.llm.ollama_chat import OllamaChat

        return OllamaChat(
            name.removeprefix("ollama/"),
            host=settings.ollama_host,
            timeout=settings.llm_timeout,
            stream_timeout=settings.llm_stream_timeout,
            max_bytes=settings.llm_answer_bytes,
            max_tokens=max_tokens,
            window=settings.llm_context,
            keep_alive=settings.llm_keep_alive,
        )
    from amem.llm.litellm_chat import LiteLLMChat

    return LiteLLMChat(
        name,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        api_base=settings.api_base,
        timeout=settings.llm_timeout,
        stream_timeout=settings.llm_stream_timeout,
        max_bytes=settings.llm_answer_bytes,
        max_tokens=max_tokens,
        window=settings.llm_context,
    )


def _chosen(settings: Settings, notify: Notify | None) -> Choice:
    choice = choose(settings)
    if settings.llm_backend == "auto":
        _say(choice.reason, notify)
    return choice


def _say(sentence: str, notify: Notify | None) -> None:
    _log.info(sentence)
    if notify is not None:
        notify(sentence)


def _guarded(
    chat: ChatModel, settings: Settings, ledger: Ledger | None, cancelled: threading.Event | None
) -> GuardedChat:
    return GuardedChat(
        chat, retries=settings.llm_retries, budget=settings.llm_daily_tokens, ledger=ledger, cancelled=cancelled
    )
