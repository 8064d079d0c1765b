"""The terminal note browser: see, correct and undo what agents wrote. Imports amem, never the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.settings import Settings

__all__ = ["run"]


def run(settings: Settings) -> int:
    """Open the settings' collection, browse it until the person quits, and return an exit code.

    Raises AmemError when the collection cannot be opened.
    """
    from amem.memory_system import AgenticMemorySystem
    from amem_tui.app import NotesApp

    # Chroma takes a second to import and gains a browser nothing; the exact scan finds the same notes.
    exact = settings.model_copy(update={"dense_base": "exact"})
    with AgenticMemorySystem(settings=exact, actor="user") as memory:
        app = NotesApp(memory)
        app.run()
        return app.return_code or 0
