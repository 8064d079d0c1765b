"""Opening a collection for the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings


def open_collection(settings: Settings, *, create: bool = True) -> AgenticMemorySystem:
    """The settings' collection, for a person. Raises StorageError, and CollectionNotFound without `create`."""
    from amem.memory_system import AgenticMemorySystem

    # Chroma is imported in the background, when the browser has long been drawn, and only where it lacks notes.
    return AgenticMemorySystem(settings=settings, actor="user", create=create)
