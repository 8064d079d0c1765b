"""Which model is meant, where it runs, whether it can be used."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from amem.errors import AmemError, InvalidInput, ServiceUnavailable
from amem.llm.guarded import GuardedChat, Ledger
from amem.llm.litellm_chat import KEY_HINT
from amem.llm.model_names import DEFAULTS, full_name, is_ollama
from amem.llm.ollama_models import OllamaModel, chat_models, models, window
from amem.server_call import OllamaServer

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from amem.language.predicates import Predicates
    from amem.protocols import Analyst, ChatModel
    from amem.settings import Settings


# Where a model runs: what is served from this machine thinks about one thing at a time.


def served_here(model: str, settings: Settings) -> bool:
    """True when the model of that full name is asked over loopback; a hosted one (no ``api_base``) is elsewhere."""
    url = settings.ollama_host if is_ollama(model) else settings.api_base
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# Who analyses notes and answers prompts: what the settings ask for, or what ``auto`` finds on this machine.

if TYPE_CHECKING:
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
        from amem.analysts.rules import OfflineAnalyst

        return OfflineAnalyst(predicates)
    from amem.analysts.model_analyst import ModelAnalyst

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


# Whether the model that the settings mean can be used, as ``amem models`` and ``amem doctor`` tell it.

#: Whoever asks what there is waits a little longer than whoever adds a note.
SURVEY_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Survey:
    """`model` reads notes ('' for the offline rules), `reason` says why in a sentence.

    `problem` is what keeps it from being used, '' when nothing does, and `hint` what to do about that. `served` is what
    Ollama at `host` has, None when no Ollama answers there.
    """

    model: str
    reason: str
    problem: str
    hint: str
    host: str
    served: tuple[OllamaModel, ...] | None

    @property
    def analyst(self) -> str:
        """The name of who reads notes: the model's, ``offline`` for the rules, '' when the settings name nobody."""
        return self.model or ("" if self.problem else "offline")

    def to_dict(self, settings: Settings) -> dict[str, Any]:
        """JSON-ready, with what Ollama's models are used for under these settings and how much they read at a time."""
        used = {"notes": self.model, "embedding": settings.embed_model}
        ours = {use: model.removeprefix("ollama/") for use, model in used.items() if model.startswith("ollama/")}
        models = [
            {
                "name": each.name,
                "for": "chat" if each.chats else "embed",
                "size": each.size,
                "context": window(self.host, each.name, SURVEY_SECONDS),
                "remote": each.remote,
                "used_for": [use for use, model in ours.items() if each.called(model)],
            }
            for each in self.served or ()
        ]
        return {
            "backend": settings.llm_backend,
            "model": self.analyst,
            "reason": self.reason,
            "problem": self.problem,
            "hint": self.hint,
            "ollama": {"host": self.host, "reachable": self.served is not None, "models": models},
            "api_key": settings.api_key is not None,
            "api_base": settings.api_base,
        }


def survey(settings: Settings) -> Survey:
    """Look at Ollama and at the settings. Models on the network are not asked: that may cost something."""
    host = settings.ollama_host
    found = models(host, SURVEY_SECONDS)
    served = None if found is None else tuple(found)
    try:
        choice = choose(settings)
    except InvalidInput as error:
        return Survey("", "nobody analyses notes", str(error), error.hint, host, served)
    problem = _problem(choice.model, settings, served)
    if problem is None:
        return Survey(choice.model, choice.reason, "", "", host, served)
    return Survey(choice.model, choice.reason, str(problem), problem.hint, host, served)


def _problem(model: str, settings: Settings, served: tuple[OllamaModel, ...] | None) -> AmemError | None:
    if is_ollama(model):
        return _not_served(model.removeprefix("ollama/"), settings, served)
    if model.startswith("openai/") and settings.api_key is None and not settings.api_base:
        return AmemError(f"no API key for {model}", hint=KEY_HINT)
    return None


def _not_served(name: str, settings: Settings, served: tuple[OllamaModel, ...] | None) -> AmemError | None:
    host = settings.ollama_host
    server = OllamaServer(host)
    if served is None:
        return server.absent()
    if not any(each.called(name) for each in served):
        return server.lacks(name)
    reads = window(host, name, SURVEY_SECONDS)
    if 0 < reads < settings.llm_context:
        # Ollama cuts longer prompts without a word.
        return AmemError(
            f"{name} reads at most {reads:,} tokens, and llm_context counts on {settings.llm_context:,}",
            hint=f"set AMEM_LLM_CONTEXT={reads}",
        )
    return None


def told(found: Survey, settings: Settings, spent: int) -> list[tuple[str, str]]:
    """A survey in words, (about, what) by line; `spent` is today's tokens."""
    lines = [("analysis", found.reason)]
    if found.problem:
        lines.append(("problem", f"{found.problem} ({found.hint})"))
    if found.served is None:
        lines.append(("ollama", f"no Ollama answers at {found.host}"))
    else:
        lines.append(("ollama", f"answers at {found.host}" + ("" if found.served else ", but has no model yet")))
    where = f" for {settings.api_base}" if settings.api_base else ""
    lines.append(("openai", f"an API key is set{where}" if settings.api_key else f"no API key is set{where}"))
    lines.append(("offline", "the built-in rules are always there; they analyse notes, but do not chat"))
    limit = f"of {settings.llm_daily_tokens:,} tokens" if settings.llm_daily_tokens else "tokens, without a limit"
    lines.append(("today", f"{spent:,} {limit}"))
    return lines
