"""A chat model served by Ollama."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from amem.llm.ollama_server import OllamaServer
from amem.llm.thinking import Thoughts, only_thought
from amem.llm.usage import Usage
from amem.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from amem.message import Message


class OllamaChat:
    """Asks `model` (without prefix) of the server at `host`; connects when it is asked something.

    `timeout` is in seconds: for all of an answer in `complete`, for every silence in `stream`. `max_tokens` bounds the
    answer, so that a small model which repeats itself comes to an end; `window` is the tokens that prompt and answer
    share, and `keep_alive` (``15m``, ``-1`` for ever) how long Ollama keeps the model in memory afterwards.
    """

    def __init__(
        self,
        model: str,
        *,
        host: str = "http://127.0.0.1:11434",
        timeout: float = 60,
        max_tokens: int = 1024,
        window: int = 8192,
        keep_alive: str = "15m",
    ) -> None:
        self._model = model
        self._timeout = timeout
        self._max_tokens = max_tokens
        self._window = window
        # Ollama reads a text as a time with a unit, and a number as seconds.
        self._keep_alive = int(keep_alive) if keep_alive.lstrip("-").isdigit() else keep_alive
        self._usage = Usage()
        self._server = OllamaServer(host, timeout=timeout)

    @property
    def name(self) -> str:
        return f"ollama/{self._model}"

    @property
    def usage(self) -> Usage:
        return self._usage

    @property
    def window(self) -> int:
        """Tokens that prompt and answer share."""
        return self._window

    @property
    def max_tokens(self) -> int:
        """Tokens an answer may have."""
        return self._max_tokens

    def complete(self, prompt: str, *, schema: Mapping[str, object] | None = None, temperature: float = 0.0) -> str:
        """The model's answer, held to `schema` by Ollama's own constrained decoding.

        Raises ServiceUnavailable when nobody answers in time, MissingModel when the model has not been pulled,
        Cancelled after `cancel`.
        """
        deadline = time.monotonic() + self._timeout
        said: list[str] = []
        # Read as a stream: a connection on which something arrives can be given up, and held to its time, in between.
        with closing(self._parts([{"role": "user", "content": prompt}], schema, temperature)) as parts:
            for part in parts:
                said.append(part.message.content or "")
                if not part.done and time.monotonic() > deadline:
                    raise self._server.silent(self._model)
        return "".join(said)

    def stream(self, messages: Sequence[Message], *, temperature: float = 0.7) -> Iterator[str]:
        """The answer in pieces as it is written, without a leading ``<think>`` block.

        Raises what `complete` raises, and BadModelAnswer when the model thought until its tokens were used up; closing
        the iterator ends the call.
        """
        asked = [{"role": str(message.role), "content": message.content} for message in messages]
        thoughts = Thoughts()
        answered, reason = False, None
        with closing(self._parts(asked, None, temperature)) as parts:
            for part in parts:
                reason = part.done_reason
                if shown := thoughts.feed(part.message.content or ""):
                    answered = True
                    yield shown
        if rest := thoughts.end():
            yield rest
        elif not answered and reason == "length":
            raise only_thought(self.name, self._max_tokens)

    def cancel(self) -> None:
        """End the calls that are under way, in whatever thread: they raise Cancelled at once."""
        self._server.break_off()

    def _parts(
        self, messages: list[dict[str, str]], schema: Mapping[str, object] | None, temperature: float
    ) -> Generator[Any, None, None]:
        heard = 0
        counted = False
        try:
            with (
                self._server.call(self._model) as client,
                closing(self._ask(client, messages, schema, temperature)) as parts,
            ):
                for part in parts:
                    heard += 1
                    if part.done:
                        self._usage.add(tokens_in=part.prompt_eval_count or 0, tokens_out=part.eval_count or 0)
                        counted = True
                    yield part
                    if part.done:
                        return
            raise self._server.broke_off(self._model)
        finally:
            if heard and not counted:
                # The server says what a call cost when it ends; of one broken off, a part a token is a fair guess.
                text = "".join(message["content"] for message in messages)
                self._usage.add(tokens_in=tokens(text), tokens_out=heard)

    def _ask(
        self, client: Any, messages: list[dict[str, str]], schema: Mapping[str, object] | None, temperature: float
    ) -> Generator[Any, None, None]:
        parts: Generator[Any, None, None] = client.chat(
            model=self._model,
            messages=messages,
            stream=True,
            format=dict(schema) if schema is not None else None,
            # Thinking aloud before a constrained answer costs minutes on a laptop and is thrown away.
            think=False if schema is not None else None,
            keep_alive=self._keep_alive,
            options={"temperature": temperature, "num_predict": self._max_tokens, "num_ctx": self._window},
        )
        return parts
