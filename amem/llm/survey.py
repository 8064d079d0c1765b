"""Whether the model that the settings mean can be used, as ``amem models`` and ``amem doctor`` tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import AmemError, InvalidInput
from amem.llm.choose import choose
from amem.llm.litellm_errors import KEY_HINT
from amem.llm.names import is_ollama
from amem.llm.ollama_models import models, window
from amem.ollama_server import OllamaServer

if TYPE_CHECKING:
    from amem.llm.ollama_models import OllamaModel
    from amem.settings import Settings

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
