"""Where a model comes from, as ``amem setup`` and ``amem doctor`` tell it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelOrigin:
    """A model's name, the place it comes from in words, and whether it can be used without a download or an export."""

    name: str
    place: str
    ready: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.place}"
