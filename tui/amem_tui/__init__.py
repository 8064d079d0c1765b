"""The terminal note browser: see, correct and undo what agents wrote. Imports amem, never the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.settings import Settings

__all__ = ["run"]


def run(settings: Settings, *, create: bool = True) -> int:
    """Open the settings' collection, browse it until the person quits, and return an exit code.

    Raises AmemError when the collection cannot be opened (without `create`, when there is none), and InvalidInput,
    before anything is drawn, for a theme or for keys that cannot be used.
    """
    from amem_tui.app import NotesApp
    from amem_tui.shell.mishaps import written_down

    with written_down(settings.home):
        app = NotesApp(settings=settings, create=create)
        try:
            app.run()
        finally:
            app.close()
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0
