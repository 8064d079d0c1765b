"""Every chat model that LiteLLM reaches, and what its errors mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError, Cancelled, InvalidInput, MissingModel, ServiceUnavailable
from amem.language.terms import tokens
from amem.library_imports import OPENAI_COMPATIBLE, import_litellm
from amem.llm.guarded import Usage, counted
from amem.llm.thought_filter import Thoughts, only_thought
from amem.server_call import MOST_BYTES, Bounds, ServerCalls, late, made_within, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from amem.note import Message


# What LiteLLM's exceptions, and those of the clients under it, mean in amem's own terms.

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


# Every chat model that LiteLLM reaches: OpenAI, Anthropic, OpenAI-compatible servers and many more.


class LiteLLMChat:
    """Asks `model`, named as LiteLLM names it, such as ``openai/gpt-4o-mini``.

    LiteLLM takes seconds to import, so that happens at the first call. `api_base` is the URL of an OpenAI-compatible
    server (or, for ``ollama_chat/...``, of Ollama); such servers need no key. `timeout`, `stream_timeout` and
    `max_bytes` are those of OllamaChat, `max_tokens` bounds the answer, `window` is the tokens that prompt and answer
    share.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        api_base: str | None = None,
        timeout: float = 60,
        stream_timeout: float = 900,
        max_bytes: int = MOST_BYTES,
        max_tokens: int = 1024,
        window: int = 8192,
    ) -> None:
        self.name = model
        self._api_key = api_key or None
        self._api_base = api_base or None
        self._timeout = timeout
        self._whole = Bounds(timeout, size=max_bytes)
        self._streamed = Bounds(stream_timeout, timeout, max_bytes)
        self._calls = ServerCalls()
        self.max_tokens = max_tokens
        self.window = window
        self.usage = Usage()

    def complete(self, prompt: str, *, schema: Mapping[str, object] | None = None, temperature: float = 0.0) -> str:
        """The model's answer, held to `schema` where the provider can.

        Raises ServiceUnavailable when nobody answers or there is no key, MissingModel when the provider has no such
        model, InvalidInput when LiteLLM knows no provider of that name.
        """
        litellm, options = self._reached()
        if schema is not None:
            answer_format = {"name": "answer", "schema": dict(schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": answer_format}
        with self._calls.begin(self.name, self._whole) as call:
            try:
                with made_within(call):
                    answer = self._ask(litellm, [{"role": "user", "content": prompt}], temperature, options)
                content = answer.choices[0].message.content
            except Exception as error:  # LiteLLM raises its own tree, its providers' and bare ones
                raise call.failure or self._meaning(litellm, error) from error
        self._count(getattr(answer, "usage", None))
        return content or ""

    def stream(self, messages: Sequence[Message], *, temperature: float = 0.7) -> Iterator[str]:
        """The answer in pieces as it is written, without a leading ``<think>`` block.

        Raises what `complete` raises, and BadModelAnswer when the model thought until its tokens were used up; closing
        the iterator ends the call.
        """
        litellm, options = self._reached()
        options |= {"stream": True, "stream_options": {"include_usage": True}}
        asked = [{"role": str(message.role), "content": message.content} for message in messages]
        thoughts = Thoughts()
        heard, answered, spent, answer = 0, False, None, None
        with self._calls.begin(self.name, self._streamed) as call:
            try:
                with made_within(call):
                    answer = self._ask(litellm, asked, temperature, options)
                for part in answer:
                    heard += 1
                    call.heard()
                    spent = getattr(part, "usage", None) or spent
                    if (piece := _said(part)) and (shown := thoughts.feed(piece)):
                        answered = True
                        yield shown
                # LiteLLM says "stop" at the end of every stream; only this tells one that was cut.
                if getattr(answer, "received_finish_reason", "stop") is None:
                    raise call.failure or self._broke_off()
            except (GeneratorExit, ServiceUnavailable, Cancelled):
                raise
            except Exception as error:
                raise call.failure or self._meaning(litellm, error) from error
            finally:
                _close(answer)
                if spent is not None:
                    self._count(spent)
                elif heard:
                    # What a call cost is said at its end; of one broken off, a part a token is a fair guess.
                    text = "".join(message["content"] for message in asked)
                    self.usage.add(tokens_in=tokens(text), tokens_out=heard)
        if rest := thoughts.end():
            yield rest
        elif not answered and getattr(answer, "received_finish_reason", None) == "length":
            raise only_thought(self.name, self.max_tokens)

    def cancel(self) -> None:
        """End the calls that are under way, in whatever thread: they raise Cancelled at once."""
        self._calls.break_off()

    def _ask(self, litellm: Any, messages: list[dict[str, str]], temperature: float, options: dict[str, Any]) -> Any:
        return litellm.completion(
            model=self.name,
            messages=messages,
            temperature=temperature,
            max_tokens=self.max_tokens,
            timeout=self._timeout,
            max_retries=0,
            drop_params=True,  # some models take no temperature or no schema; the answer is validated anyway
            **options,
        )

    def _reached(self) -> tuple[Any, dict[str, Any]]:
        """LiteLLM, and the options that say where the model is and who asks."""
        if self.name.startswith("openai/"):
            self._require_key()  # before the import, which takes seconds
        litellm = import_litellm()
        options: dict[str, Any] = {"api_base": self._api_base} if self._api_base else {}
        try:
            provider = litellm.get_llm_provider(self.name)[1]
        except litellm.exceptions.BadRequestError as error:
            raise InvalidInput(
                f"LiteLLM knows no provider for the model {self.name!r}",
                hint="name it as provider/model, for example openai/gpt-4o-mini",
            ) from error
        if provider in OPENAI_COMPATIBLE:
            # OpenAI's client wants some key even for a server that asks for none.
            options["api_key"] = self._api_key or "none"
        if provider == "openai":
            self._require_key()
        return litellm, options

    def _require_key(self) -> None:
        if self._api_key is None and self._api_base is None:
            raise ServiceUnavailable(f"no API key for {self.name}", hint=KEY_HINT)

    def _count(self, spent: Any) -> None:
        told = (getattr(spent, "prompt_tokens", None), getattr(spent, "completion_tokens", None))
        read, written = (counted(self.name, each) for each in told)
        self.usage.add(tokens_in=read, tokens_out=written)

    def _broke_off(self) -> ServiceUnavailable:
        return ServiceUnavailable(
            f"{self.name} broke off before it had answered", hint="ask again; see the server's log", passing=True
        )

    def _meaning(self, litellm: Any, error: Exception) -> Exception:
        return meaning(litellm, error, self.name, timeout=self._timeout, secret=self._api_key)


def _said(part: Any) -> str:
    choices = getattr(part, "choices", None)
    return (choices[0].delta.content or "") if choices else ""


def _close(answer: Any) -> None:
    """Let go of the connection of a stream, read to its end or not; LiteLLM itself offers that to asyncio only."""
    stream = getattr(answer, "completion_stream", None)
    for each in (stream, getattr(stream, "streaming_response", None), getattr(stream, "response", None)):
        close = getattr(each, "close", None)
        if callable(close):
            close()
