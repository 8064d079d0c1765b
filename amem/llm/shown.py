"""What a model was shown, and what of its answer was refused: the two things every reader of answers keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.llm.reading import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

#: An answer that goes wrong a hundred times needs no hundred sentences.
_MOST_DROPPED = 20


class Handles:
    """The short names (``n1``, ``m1``, ``p1``) under which things were shown; nothing else can be named."""

    def __init__(self, handles: Iterable[str]) -> None:
        self._handles = {handle.casefold(): handle for handle in handles}

    def find(self, value: Any) -> str | None:
        """The handle that `value` names, in any case and with brackets around it or not; None for any other."""
        return self._handles.get(clean(value, 20).strip("[]<>()【】 ").casefold()) if isinstance(value, str) else None


class Dropped:
    """What was refused, in sentences."""

    def __init__(self) -> None:
        self._sentences: list[str] = []

    def add(self, sentence: str) -> None:
        """Keep one more sentence, while there are few."""
        if len(self._sentences) < _MOST_DROPPED:
            self._sentences.append(sentence)

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(self._sentences)

    def objects(self, answer: dict[str, Any], name: str) -> list[dict[str, Any]]:
        """The objects in the list that `answer` has under `name`; what is no list or no object is dropped."""
        value = answer.get(name)
        if value is not None and not isinstance(value, list):
            self.add(f"{name}, which is no list")
        items = value if isinstance(value, list) else []
        for item in items:
            if not isinstance(item, dict):
                self.add(f"an item of {name} that is no object")
        return [item for item in items if isinstance(item, dict)]


def quoted(value: Any) -> str:
    """`value` as it stands in a sentence about it, however odd it is."""
    return repr(clean(value, 40)) if isinstance(value, (str, int, float)) else f"a {type(value).__name__}"
