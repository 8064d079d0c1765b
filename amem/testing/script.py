"""What a stand-in is to answer: one value for ever, a list used up in order, or a function of what it was asked."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Answer = TypeVar("Answer")


class Script(Generic[Answer]):
    """Hands out scripted answers, to several threads if need be. `name` is what runs out, in the error that says so."""

    def __init__(self, name: str, answers: Answer | Sequence[Answer] | Callable[..., Answer]) -> None:
        self._name = name
        self._answers: Any = answers
        self._left = deque(answers) if isinstance(answers, (list, tuple)) else None
        self._lock = threading.Lock()

    def next(self, *asked: Any) -> Answer:
        """The next answer. Raises LookupError when a list is used up."""
        if self._left is not None:
            with self._lock:
                if not self._left:
                    raise LookupError(f"the script has no {self._name} left")
                answer: Answer = self._left.popleft()
                return answer
        answer = self._answers(*asked) if callable(self._answers) else self._answers
        return answer
