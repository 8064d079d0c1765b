"""The terminal note browser: see, correct and undo what agents wrote. Imports amem, never the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.settings import Settings

__all__ = ["run"]


def run(settings: Settings, *, create: bool = True) -> int:
    """Open the settings' collection, browse it until the person quits, and return an exit code.

    Raises AmemError when it cannot be opened or is not there (without `create`), and InvalidInput for a theme or keys.
    """
    import sys

    from textual.messages import ExitApp

    from amem_tui.browser_app import NotesApp
    from amem_tui.failures import leaving_on_hang_up, logging_to_home

    secrets = () if settings.api_key is None else (settings.api_key.get_secret_value(),)
    with logging_to_home(settings.home, *secrets):
        app = NotesApp(settings=settings, create=create)
        with leaving_on_hang_up(sys.__stdin__, lambda: app.post_message(ExitApp())):
            try:
                app.run()
            finally:
                app.close()
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0
