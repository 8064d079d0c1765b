"""What LiteLLM's exceptions, and those of the clients under it, mean in amem's own terms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError, MissingModel, ServiceUnavailable
from amem.server_call import late, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY_HINT = "set AMEM_API_KEY or OPENAI_API_KEY for OpenAI, the provider's own (ANTHROPIC_API_KEY, ...) for others"

_OWN_PREFIX = re.compile(r"^(?:(?:litellm\.)?\w+Error: |\w+Exception - )+")
#: An account without money answers as an overloaded server does, but not for a moment.
_NO_MONEY = ("insufficient_quota", "exceeded your current quota", "billing")


def meaning(litellm: Any, error: Exception, model: str, *, timeout: float, secret: str | None = None) -> AmemError:
    """The error to raise for `error`; neither `secret` nor any other that is known appears in it."""
    kinds = litellm.exceptions
    within = getattr(error, "original_exception", None)
    if isinstance(error, kinds.MidStreamFallbackError) and isinstance(within, Exception):
        error = within
    reason = _reason(error, secret)
    if isinstance(error, (kinds.AuthenticationError, kinds.PermissionDeniedError)):
        # The provider's own words can hold parts of the key.
        return ServiceUnavailable(f"{model} needs an API key that its provider accepts", hint=KEY_HINT)
    if isinstance(error, kinds.NotFoundError):
        return MissingModel(f"the provider has no model {model}: {reason}", hint="check llm_model (AMEM_LLM_MODEL)")
    if isinstance(error, kinds.Timeout):
        return late(model, timeout)
    return ServiceUnavailable(
        f"{model} could not answer: {reason}",
        hint="check the network and api_base (AMEM_API_BASE)",
        passing=_passing(kinds, error),
    )


def _passing(kinds: Any, error: Exception) -> bool:
    """Whether asking again soon may help: an overloaded or failing server, a connection that was cut."""
    if isinstance(error, kinds.RateLimitError):
        return not any(sign in str(error).lower() for sign in _NO_MONEY)
    if isinstance(error, kinds.APIConnectionError):
        # Under this name LiteLLM also raises what it did not expect; a server that refuses will do so again.
        return not any(_refused(each) for each in _chain(error))
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and status >= 500 and not any(_refused(each) for each in _chain(error))


def _refused(error: BaseException) -> bool:
    import httpx

    words = str(error).lower()
    return isinstance(error, (ConnectionRefusedError, httpx.ConnectError)) or "connection refused" in words


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        yield at
        seen.add(id(at))
        at = at.__cause__ or at.__context__


def _reason(error: Exception, secret: str | None) -> str:
    return quoted(_OWN_PREFIX.sub("", str(error).strip().partition("\n")[0]), secret) or type(error).__name__
