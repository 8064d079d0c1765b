"""What runs behind a page or a window, and serving a page until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from amem.settings import Settings
    from amem_tui.serving.server import Page
    from amem_tui.serving.session import Watcher

#: Runs ``amem`` in this Python, wherever it is called from.
_AMEM = "import sys; sys.argv[0] = 'amem'; from amem.cli import main; main()"


def amem_command(settings: Settings, *words: str, env_file: str | None = None) -> list[str]:
    """The words that run ``amem`` on the settings' collection, from any folder and with any search path."""
    named = ["--home", str(settings.home), "--collection", settings.collection]
    env = [] if env_file is None else ["--env-file", os.path.abspath(env_file)]
    return [sys.executable, "-c", _AMEM, *named, *env, *words]


def serve(settings: Settings, port: int, *, told: Callable[[str], None], env_file: str | None = None) -> None:
    """Serve the browser on a web page until Ctrl-C or SIGTERM; `told` hears its address.

    Raises InvalidInput for a port that cannot be used.
    """
    from amem_tui.serving.server import listening

    page = page_of(settings, listening(port), env_file)
    asyncio.run(_until_stopped(page, lambda: told(page.url)))


def page_of(
    settings: Settings, heard: socket.socket, env_file: str | None = None, watcher: Watcher | None = None
) -> Page:
    """The page of the settings' collection, not yet served; `watcher` hears of the browser behind it."""
    from amem_tui.serving.server import Page, quiet

    quiet()
    command = amem_command(settings, "tui", "--served", env_file=env_file)
    return Page(command, heard, title=f"amem: {settings.collection}", watcher=watcher)


async def _until_stopped(page: Page, begun: Callable[[], None]) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        # Windows has no handlers of this kind; Ctrl-C ends asyncio.run there.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(each, ended.set)
    await page.start()
    try:
        begun()
        await ended.wait()
    finally:
        await page.stop()
