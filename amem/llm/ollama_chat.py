"""A chat model served by Ollama."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from amem.language.terms import tokens
from amem.llm.guarded import Usage, counted
from amem.llm.thought_filter import Thoughts, only_thought
from amem.server_call import MOST_BYTES, Bounds, OllamaServer

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from amem.note import Message


class OllamaChat:
    """Asks `model` (without prefix) of the server at `host`; connects when it is asked something.

    `timeout` is in seconds: for all of an answer in `complete`, for every silence in `stream`, which may take
    `stream_timeout` in all; `max_bytes` bounds either. `max_tokens` bounds the answer, so that a small model which
    repeats itself comes to an end; `window` is the tokens that prompt and answer share, and `keep_alive` (``15m``,
    ``-1`` for ever) how long Ollama keeps the model in memory afterwards.
    """

    def __init__(
        self,
        model: str,
        *,
        host: str = "http://127.0.0.1:11434",
        timeout: float = 60,
        stream_timeout: float = 900,
        max_bytes: int = MOST_BYTES,
        max_tokens: int = 1024,
        window: int = 8192,
        keep_alive: str = "15m",
    ) -> None:
        self.name = f"ollama/{model}"
        self._model = model
        self._whole = Bounds(timeout, size=max_bytes)
        self._streamed = Bounds(stream_timeout, timeout, max_bytes)
        self.max_tokens = max_tokens
        self.window = window
        # Ollama reads a text as a time with a unit, and a number as seconds.
        self._keep_alive = int(keep_alive) if keep_alive.lstrip("-").isdigit() else keep_alive
        self.usage = Usage()
        self._server = OllamaServer(host)

    def complete(self, prompt: str, *, schema: Mapping[str, object] | None = None, temperature: float = 0.0) -> str:
        """The model's answer, held to `schema` by Ollama's own constrained decoding.

        Raises ServiceUnavailable when nobody answers in time, MissingModel when the model has not been pulled,
        Cancelled after `cancel`.
        """
        asked = [{"role": "user", "content": prompt}]
        # Read as a stream, since a connection on which something arrives can be given up in between.
        with closing(self._parts(asked, schema, temperature, self._whole)) as parts:
            return "".join(part.message.content or "" for part in parts)

    def stream(self, messages: Sequence[Message], *, temperature: float = 0.7) -> Iterator[str]:
        """The answer in pieces as it is written, without a leading ``<think>`` block.

        Raises what `complete` raises, and BadModelAnswer when the model thought until its tokens were used up; closing
        the iterator ends the call.
        """
        asked = [{"role": str(message.role), "content": message.content} for message in messages]
        thoughts = Thoughts()
        answered, reason = False, None
        with closing(self._parts(asked, None, temperature, self._streamed)) as parts:
            for part in parts:
                reason = part.done_reason
                if shown := thoughts.feed(part.message.content or ""):
                    answered = True
                    yield shown
        if rest := thoughts.end():
            yield rest
        elif not answered and reason == "length":
            raise only_thought(self.name, self.max_tokens)

    def cancel(self) -> None:
        """End the calls that are under way, in whatever thread: they raise Cancelled at once."""
        self._server.break_off()

    def _parts(
        self, messages: list[dict[str, str]], schema: Mapping[str, object] | None, temperature: float, bounds: Bounds
    ) -> Generator[Any, None, None]:
        heard = 0
        known = False
        try:
            with (
                self._server.call(self._model, bounds) as (client, call),
                closing(self._ask(client, messages, schema, temperature)) as parts,
            ):
                for part in parts:
                    heard += 1
                    call.heard()
                    if part.done:
                        spent = [counted(self.name, each) for each in (part.prompt_eval_count, part.eval_count)]
                        self.usage.add(tokens_in=spent[0], tokens_out=spent[1])
                        known = True
                    yield part
                    if part.done:
                        return
            # An answer that has no length of its own ends like any other when its connection is broken off.
            raise call.failure or self._server.broke_off(self._model)
        finally:
            if heard and not known:
                # The server says what a call cost when it ends; of one broken off, a part a token is a fair guess.
                text = "".join(message["content"] for message in messages)
                self.usage.add(tokens_in=tokens(text), tokens_out=heard)

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
            options={"temperature": temperature, "num_predict": self.max_tokens, "num_ctx": self.window},
        )
        return parts
