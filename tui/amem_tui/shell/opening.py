"""Opening a collection for the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings


def open_collection(settings: Settings, *, create: bool = True) -> AgenticMemorySystem:
    """The settings' collection, for a person. Raises StorageError, and CollectionNotFound without `create`."""
    from amem.memory_system import AgenticMemorySystem

    # Chroma takes a second to import and gains a browser nothing; the exact scan finds the same notes.
    exact = settings.model_copy(update={"dense_base": "exact"})
    return AgenticMemorySystem(settings=exact, actor="user", create=create)
