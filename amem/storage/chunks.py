"""Long lists, cut for SQLite: a statement takes so many parameters and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_Item = TypeVar("_Item")
_AT_ONCE = 500


def chunks(items: Sequence[_Item]) -> Iterator[list[_Item]]:
    """Slices small enough for one SQL ``IN``."""
    for start in range(0, len(items), _AT_ONCE):
        yield list(items[start : start + _AT_ONCE])
