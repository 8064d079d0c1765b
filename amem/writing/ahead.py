"""Slow work done some items ahead of whoever takes the results, which come in the order of the items."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(work: Callable[[Item], Result], items: Iterable[Item], at_once: int) -> Iterator[tuple[Item, Future[Result]]]:
    """Each item with what `work` makes of it, in order; up to `at_once` are worked on at the same time.

    Items are taken, in the caller's thread, only when there is a thread for them; while the caller deals with a result,
    one fewer is worked on. With `at_once` 1 nothing happens in other threads. The threads are daemons: whoever is
    interrupted need not wait for a model to finish its sentence.
    """
    stream = iter(items)
    running: deque[tuple[Item, Future[Result]]] = deque()
    while True:
        for item in stream:
            running.append((item, _begun(work, item, aside=at_once > 1)))
            if len(running) >= at_once:
                break
        if not running:
            return
        yield running.popleft()


def _begun(work: Callable[[Item], Result], item: Item, *, aside: bool) -> Future[Result]:
    future: Future[Result] = Future()
    if aside:
        threading.Thread(target=_run, args=(work, item, future), name="amem-analyse", daemon=True).start()
    else:
        _run(work, item, future)
    return future


def _run(work: Callable[[Item], Result], item: Item, future: Future[Result]) -> None:
    try:
        result = work(item)
    except BaseException as error:  # whoever takes the result hears of it
        future.set_exception(error)
    else:
        future.set_result(result)
