"""Every chat model that LiteLLM reaches: OpenAI, Anthropic, OpenAI-compatible servers and many more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError, InvalidInput, MissingModel, ServiceUnavailable
from amem.litellm_import import import_litellm
from amem.llm.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY_HINT = "set AMEM_API_KEY or OPENAI_API_KEY for OpenAI, the provider's own (ANTHROPIC_API_KEY, ...) for others"

#: Providers that `api_key` is meant for. It never goes to anybody else, since it may be OpenAI's: LiteLLM finds the
#: other providers' keys in their own variables (``ANTHROPIC_API_KEY``, ...).
OPENAI_COMPATIBLE = frozenset(("openai", "hosted_vllm", "litellm_proxy", "lm_studio", "llamafile"))

_OWN_PREFIX = re.compile(r"^(?:(?:litellm\.)?\w+Error: )+")


class LiteLLMChat:
    """Asks `model`, named as LiteLLM names it, such as ``openai/gpt-4o-mini``.

    LiteLLM takes seconds to import, so that happens at the first call. `api_base` is the URL of an OpenAI-compatible
    server (or, for ``ollama_chat/...``, of Ollama); such servers need no key. `timeout` is in seconds.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        api_base: str | None = None,
        timeout: float = 60,
        max_tokens: int = 1024,
    ) -> None:
        self._model = model
        self._api_key = api_key or None
        self._api_base = api_base or None
        self._timeout = timeout
        self._max_tokens = max_tokens
        self._usage = Usage()

    @property
    def name(self) -> str:
        return self._model

    @property
    def usage(self) -> Usage:
        return self._usage

    def complete(self, prompt: str, *, schema: Mapping[str, object] | None = None, temperature: float = 0.0) -> str:
        """The model's answer, held to `schema` where the provider can.

        Raises ServiceUnavailable when nobody answers or there is no key, MissingModel when the provider has no such
        model, InvalidInput when LiteLLM knows no provider of that name.
        """
        if self._model.startswith("openai/"):
            self._require_key()
        litellm = import_litellm()
        options = self._access(litellm)
        if schema is not None:
            answer_format = {"name": "answer", "schema": dict(schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": answer_format}
        try:
            answer = litellm.completion(
                model=self._model,
                messages=[{"role": "user", "content": prompt}],
                temperature=temperature,
                max_tokens=self._max_tokens,
                timeout=self._timeout,
                max_retries=0,
                drop_params=True,  # some models take no temperature or no schema; the answer is validated anyway
                **options,
            )
            content = answer.choices[0].message.content
        except Exception as error:  # LiteLLM raises its own tree, its providers' and bare ones
            raise self._refused(litellm, error) from error
        spent = getattr(answer, "usage", None)
        self._usage.add(
            tokens_in=getattr(spent, "prompt_tokens", 0) or 0, tokens_out=getattr(spent, "completion_tokens", 0) or 0
        )
        return content or ""

    def _require_key(self) -> None:
        if self._api_key is None and self._api_base is None:
            raise ServiceUnavailable(f"no API key for {self._model}", hint=KEY_HINT)

    def _access(self, litellm: Any) -> dict[str, Any]:
        options = {"api_base": self._api_base} if self._api_base else {}
        try:
            provider = litellm.get_llm_provider(self._model)[1]
        except litellm.exceptions.BadRequestError as error:
            raise InvalidInput(
                f"LiteLLM knows no provider for the model {self._model!r}",
                hint="name it as provider/model, for example openai/gpt-4o-mini",
            ) from error
        if provider in OPENAI_COMPATIBLE:
            # OpenAI's client wants some key even for a server that asks for none.
            options["api_key"] = self._api_key or "none"
        if provider == "openai":
            self._require_key()
        return options

    def _refused(self, litellm: Any, error: Exception) -> AmemError:
        kinds = litellm.exceptions
        reason = self._reason(error)
        if isinstance(error, (kinds.AuthenticationError, kinds.PermissionDeniedError)):
            # The provider's own words can hold parts of the key.
            return ServiceUnavailable(f"{self._model} needs an API key that its provider accepts", hint=KEY_HINT)
        if isinstance(error, kinds.NotFoundError):
            return MissingModel(
                f"the provider has no model {self._model}: {reason}", hint="check llm_model (AMEM_LLM_MODEL)"
            )
        if isinstance(error, kinds.Timeout):
            return ServiceUnavailable(
                f"{self._model} did not answer within {self._timeout:g} seconds",
                hint="raise llm_timeout (AMEM_LLM_TIMEOUT)",
            )
        return ServiceUnavailable(
            f"{self._model} could not answer: {reason}", hint="check the network and api_base (AMEM_API_BASE)"
        )

    def _reason(self, error: Exception) -> str:
        line = _OWN_PREFIX.sub("", str(error).strip().partition("\n")[0])[:200] or type(error).__name__
        return line.replace(self._api_key, "***") if self._api_key else line
