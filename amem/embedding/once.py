"""A value that costs seconds to make, made on first use by one thread while the others wait."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Once(Generic[T]):
    """Calls `make` at the first ``get()``; when it raises, the next ``get()`` tries again."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._made: tuple[T] | None = None

    def get(self) -> T:
        made = self._made
        if made is None:
            with self._lock:
                made = self._made
                if made is None:
                    made = self._made = (self._make(),)
        return made[0]
