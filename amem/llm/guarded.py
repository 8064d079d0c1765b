"""A chat model with retries, a circuit breaker, a daily budget, usage counts and cancellation."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from amem.errors import BudgetSpent, Cancelled, ServiceUnavailable
from amem.language.terms import tokens
from amem.note import Cost, Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from amem.protocols import Analyst, ChatModel

    Outcome = TypeVar("Outcome")


# What the calls of a chat model cost: one counter that many threads may share.

#: Tokens of one call that no model reads or writes.
_MOST_TOKENS = 1_000_000_000


def counted(who: str, tokens: object) -> int:
    """Tokens as a server tells them; 0 where it does not. Raises ServiceUnavailable for a count that cannot be one."""
    if tokens is None:
        return 0
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not 0 <= tokens <= _MOST_TOKENS:
        raise ServiceUnavailable(
            f"{who} tells of a number of tokens that cannot be one", hint="see what listens there: no model answers so"
        )
    return tokens


class Usage:
    """Adds up what calls cost, in all and for each thread.

    What one piece of work cost, whatever other threads do meanwhile, is the difference of `here` after and before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._total = Cost()
        self._thread = threading.local()

    def add(self, *, tokens_in: int = 0, tokens_out: int = 0) -> None:
        """Count one call of the current thread."""
        self._count(Cost(1, tokens_in, tokens_out))

    def rung(self, name: str) -> None:
        """Count that this rung of the ladder gave the current thread an answer."""
        self._count(Cost(rungs={name: 1}))

    def _count(self, spent: Cost) -> None:
        self._thread.spent = self.here + spent
        with self._lock:
            self._total += spent

    @property
    def total(self) -> Cost:
        """Every thread's calls."""
        with self._lock:
            return self._total

    @property
    def here(self) -> Cost:
        """The calls of the current thread."""
        spent: Cost = getattr(self._thread, "spent", Cost())
        return spent

    @property
    def calls(self) -> int:
        return self.total.calls

    @property
    def tokens_in(self) -> int:
        return self.total.tokens_in

    @property
    def tokens_out(self) -> int:
        return self.total.tokens_out


@runtime_checkable
class Metered(Protocol):
    """A chat model (or an analyst) that counts what its calls cost."""

    @property
    def usage(self) -> Usage: ...


def spent_by(analyst: Analyst) -> Cost:
    """What an analyst has used so far in this thread: others may be asking the same model meanwhile."""
    usage = getattr(analyst, "usage", None)
    return Cost() if usage is None else usage.here


# Leaving a server alone for a while after it failed several times in a row.

#: Failed calls after which it is left alone, and for how many seconds.
_FAILURES, _REST = 3, 30.0


class Breaker:
    """After three calls in a row that found no server, refuses calls for half a minute, then lets one try.

    Without it an import of a thousand notes would wait a thousand times for a server that hangs. Safe in many threads.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failed = 0
        self._until = 0.0
        self._last: ServiceUnavailable | None = None

    def check(self) -> None:
        """Raise ServiceUnavailable while the server is left alone."""
        with self._lock:
            if self._last is None or self._failed < _FAILURES:
                return
            left = self._until - self._clock()
            if left > 0:
                raise ServiceUnavailable(
                    f"not asked again for {left:.0f} s, since {self._failed} calls in a row failed: {self._last}",
                    hint=self._last.hint,
                )
            # Whoever comes first tries; the others go on without until it knows more.
            self._until = self._clock() + _REST

    def failed(self, error: ServiceUnavailable) -> None:
        """Count a call that found no server."""
        with self._lock:
            self._failed += 1
            self._last = error
            self._until = self._clock() + _REST

    def answered(self) -> None:
        """The server answers: all is forgotten."""
        with self._lock:
            self._failed = 0
            self._last = None


# A chat model with what a day's work needs around it: retries, a budget, an end to waiting, and being called off.

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

    def add(self, model: str, spent: Cost) -> None:
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
        self.name = chat.name
        #: What the calls cost; of a model that does not say, an estimate.
        self.usage = chat.usage if isinstance(chat, Metered) else Usage()
        #: Tokens that prompt and answer share, and that an answer may have; 0 when the model does not say.
        self.window, self.max_tokens = int(getattr(chat, "window", 0)), int(getattr(chat, "max_tokens", 0))
        self._retries = retries
        self._budget = budget
        self._ledger = ledger
        self._cancelled = cancelled or threading.Event()
        self._breaking = chat if isinstance(chat, Breaking) and cancelled is not None else None
        self._breaker = breaker or Breaker()
        self._wait = wait

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
            self.usage.add(tokens_in=tokens(asked), tokens_out=tokens(said))

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
