"""The browser in a window of its own: by pywebview where that is installed, else in the default web browser."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import threading
import webbrowser
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from amem_tui.serving.command import page_of, serve_here
from amem_tui.serving.server import listening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from amem.settings import Settings
    from amem_tui.serving.server import Page

_WIDTH, _HEIGHT = 1280, 820
#: Seconds that the server may take to begin, and to end.
_PATIENCE = 10.0


def open_desktop(settings: Settings, *, told: Callable[[str], None], env_file: str | None = None) -> None:
    """Open a window on the settings' collection, and return when it was closed.

    Where no window can be had, `told` hears why and the default web browser shows the page, until Ctrl-C.
    """
    page = page_of(settings, listening(0), env_file)
    window = _window()
    if window is not None:
        with served(page):
            try:
                window.create_window(f"amem: {settings.collection}", page.url, width=_WIDTH, height=_HEIGHT)
                window.start()
            except window.errors.WebViewException as error:
                told(f"no window could be opened ({error}); your web browser shows it instead")
            else:
                return
        page = page_of(settings, listening(0), env_file)
    serve_here(page, lambda: _show(page, told))


@contextmanager
def served(page: Page) -> Iterator[None]:
    """The page, served by a thread meanwhile: windows want the main one for themselves."""
    loop, ended, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()

    async def run() -> None:
        await page.start()
        ready.set()
        try:
            await ended.wait()
        finally:
            await page.stop()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()), name="amem page", daemon=True)
    thread.start()
    try:
        if not ready.wait(_PATIENCE):
            raise RuntimeError("the page was not served in time")
        yield
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(_PATIENCE)
        if not thread.is_alive():
            loop.close()


def _window() -> Any:
    """pywebview, or None where it is not installed."""
    return importlib.import_module("webview") if importlib.util.find_spec("webview") else None


def _show(page: Page, told: Callable[[str], None]) -> None:
    told(page.url)
    if not webbrowser.open(page.url):
        told("no web browser was found; open the address yourself")
