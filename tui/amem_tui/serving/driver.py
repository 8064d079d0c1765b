"""How the browser talks with the page or window it runs behind, besides keys and what is drawn."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual import events
from textual.drivers.web_driver import WebDriver

if TYPE_CHECKING:
    from amem_tui.browser_app import NotesApp

#: What the process behind the page is told to use, as Textual wants it.
DRIVER = f"{__name__}:PageDriver"
#: Packets: what was chosen in the window's menu; which collection is open; that the browser stays, though told to quit.
CHOSEN, OPENED, STAYS = "chosen", "opened", "stays"


class PageDriver(WebDriver):
    """Textual's driver for pages, that also hears what is chosen in the menu of a window."""

    def on_meta(self, packet_type: str, payload: dict[str, Any]) -> None:
        """Hand what was chosen on to the app; called by the thread that reads."""
        if packet_type == CHOSEN:
            app = cast("NotesApp", self._app)
            app.post_message(events.Callback(callback=partial(app.choose, str(payload.get("what")))))
        else:
            super().on_meta(packet_type, payload)

    def opened(self, collection: str) -> None:
        self.write_meta({"type": OPENED, "collection": collection})

    def stays(self) -> None:
        """Say that the person is asked whether what was typed may be lost."""
        self.write_meta({"type": STAYS})
