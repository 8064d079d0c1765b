"""What a place on a page leads to when it is followed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.note import Link


@dataclass(frozen=True, slots=True, eq=False)
class ToNote:
    """A note of this collection. `link` is the link that leads there, where it can be taken away."""

    id: str
    link: Link | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """What a ``[[name]]`` means, where no note was found that it means, or none was looked for yet."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Address:
    """An address outside, which can be copied and is never fetched."""

    url: str


@dataclass(frozen=True, slots=True, eq=False)
class ToVersion:
    """A version of the open note."""

    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Unfold:
    """More to say about something, on demand."""

    what: str


#: Each stands for one place, so two of the same target are two.
Aim = ToNote | Named | Address | ToVersion | Unfold
