"""A chat model with what a day's work needs around it: retries, a budget, an end to waiting, and being called off."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from amem.errors import BudgetSpent, Cancelled, ServiceUnavailable
from amem.llm.breaker import Breaker
from amem.llm.usage import Metered, Spent, Usage
from amem.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from amem.message import Message
    from amem.protocols import ChatModel

    Outcome = TypeVar("Outcome")

_log = logging.getLogger(__name__)

#: How often a call under way is looked after; it ends this long after it was called off.
_LOOK_SECONDS = 0.1
#: Seconds before the second attempt; doubled before each further one up to the longest, with jitter.
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 8.0


class Ledger(Protocol):
    """Keeps what models cost in a day, for all processes that work on a collection."""

    def spent_today(self) -> int:
        """Tokens read and written today."""
        ...

    def add(self, model: str, spent: Spent) -> None:
        """Count what calls to a model cost."""
        ...


@runtime_checkable
class Breaking(Protocol):
    """A chat model whose calls under way can be ended from another thread."""

    def cancel(self) -> None: ...


class GuardedChat:
    """Asks `chat`; itself a ChatModel, with the same name, usage and window.

    - A call that failed in passing is tried again, `retries` times, after growing waits (`wait` is tenacity's).
    - Before each attempt the day's tokens are compared with `budget` (0: no limit); what calls cost goes to `ledger`.
      Calls that run at the same time may overdraw it by what they cost themselves.
    - When `cancelled` is set, waits end, calls under way are broken off where `chat` can do that, and Cancelled is
      raised.
    - `breaker` keeps a server that hangs from being waited for by every note of an import. A stream is asked for by a
      person who waits, and always tried.

    Safe in many threads when `chat` is.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        retries: int = 2,
        budget: int = 0,
        ledger: Ledger | None = None,
        cancelled: threading.Event | None = None,
        breaker: Breaker | None = None,
        wait: Any = None,
    ) -> None:
        self._chat = chat
        self._retries = retries
        self._budget = budget
        self._ledger = ledger
        self._cancelled = cancelled or threading.Event()
        self._breaking = chat if isinstance(chat, Breaking) and cancelled is not None else None
        self._breaker = breaker or Breaker()
        self._wait = wait
        self._unmetered = Usage()

    @property
    def name(self) -> str:
        return self._chat.name

    @property
    def usage(self) -> Usage:
        """What the calls cost; of a model that does not say, an estimate."""
        return self._chat.usage if isinstance(self._chat, Metered) else self._unmetered

    @property
    def window(self) -> int:
        """Tokens that prompt and answer share; 0 when the model does not say."""
        return int(getattr(self._chat, "window", 0))

    @property
    def max_tokens(self) -> int:
        """Tokens an answer may have; 0 when the model does not say."""
        return int(getattr(self._chat, "max_tokens", 0))

    def complete(self, prompt: str, *, schema: Mapping[str, object] | None = None, temperature: float = 0.0) -> str:
        """The model's answer. Raises what the model raises, BudgetSpent and Cancelled."""

        def attempt() -> str:
            self._permitted()
            with self._watched(), self._entered():
                answer = self._chat.complete(prompt, schema=schema, temperature=temperature)
                self._guess(prompt, answer)
            return answer

        self._breaker.check()
        with self._judged():
            answer = self._persistently(attempt)
        self._breaker.answered()
        return answer

    def stream(self, messages: Sequence[Message], *, temperature: float = 0.7) -> Iterator[str]:
        """The answer in pieces. An attempt that failed is repeated only while nothing was said yet.

        Raises what `complete` raises; closing the iterator ends the call.
        """

        def attempt() -> tuple[Iterator[str], str | None]:
            self._permitted()
            pieces = self._chat.stream(messages, temperature=temperature)
            return pieces, self._next(pieces)

        with self._watched(), self._judged():
            pieces, piece = self._persistently(attempt)
            self._breaker.answered()
            said: list[str] = []
            try:
                while piece is not None:
                    said.append(piece)
                    yield piece
                    if self._cancelled.is_set():
                        raise self._called_off()
                    piece = self._next(pieces)
            finally:
                with self._entered():
                    _close(pieces)
                    self._guess("".join(message.content for message in messages), "".join(said))

    def _next(self, pieces: Iterator[str]) -> str | None:
        # A stream may be read by a different thread each time, and what a call cost is known to the thread it ended in.
        with self._entered():
            return next(pieces, None)

    def _persistently(self, attempt: Callable[[], Outcome]) -> Outcome:
        import tenacity

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_in_passing),
            stop=tenacity.stop_after_attempt(self._retries + 1),
            wait=self._wait or growing_wait(),
            sleep=tenacity.sleep_using_event(self._cancelled),
            before_sleep=_tell,
            reraise=True,
        )
        return retrying(attempt)

    def _permitted(self) -> None:
        if self._cancelled.is_set():
            raise self._called_off()
        if self._budget and self._ledger is not None:
            spent = self._ledger.spent_today()
            if spent >= self._budget:
                raise BudgetSpent(
                    f"today's {self._budget:,} tokens for models are spent ({spent:,})",
                    hint="raise llm_daily_tokens (AMEM_LLM_DAILY_TOKENS); tomorrow `amem enrich` finishes what waits",
                )

    def _called_off(self) -> Cancelled:
        return Cancelled(f"the call to {self.name} was called off", hint="what was stored stays; amem enrich goes on")

    def _guess(self, asked: str, said: str) -> None:
        if not isinstance(self._chat, Metered):
            self._unmetered.add(tokens_in=tokens(asked), tokens_out=tokens(said))

    @contextmanager
    def _entered(self) -> Iterator[None]:
        """What the block spends in this thread goes into the ledger, also when it fails."""
        before = self.usage.here
        try:
            yield
        finally:
            spent = self.usage.here - before
            if self._ledger is not None and spent.calls:
                self._ledger.add(self.name, spent)

    @contextmanager
    def _judged(self) -> Iterator[None]:
        """A server that could not be reached in the block counts against it."""
        try:
            yield
        except ServiceUnavailable as error:
            self._breaker.failed(error)
            raise

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Break off the calls of the block when the work is called off."""
        chat, over = self._breaking, threading.Event()
        if chat is None:
            yield
            return

        def watch() -> None:
            # Again and again: the call may be about to begin when the work is called off.
            while not over.wait(_LOOK_SECONDS):
                if self._cancelled.is_set():
                    chat.cancel()

        threading.Thread(target=watch, name="amem-watch", daemon=True).start()
        try:
            yield
        finally:
            over.set()


def growing_wait() -> Any:
    """Exponential waits with jitter, as tenacity takes them."""
    import tenacity

    return tenacity.wait_exponential(_FIRST_WAIT, max=_LONGEST_WAIT) + tenacity.wait_random(0, _FIRST_WAIT)


def _in_passing(error: BaseException) -> bool:
    return isinstance(error, ServiceUnavailable) and error.passing


def _tell(state: Any) -> None:
    _log.info("attempt %d failed, trying again: %s", state.attempt_number, state.outcome.exception())


def _close(pieces: Iterator[str]) -> None:
    close = getattr(pieces, "close", None)
    if close is not None:
        close()
