"""The rooms of the browser: one screen for each task, made when it is first entered."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem_tui.desk import Desk
    from amem_tui.notes_screen import NotesScreen


@dataclass(frozen=True, slots=True)
class Room:
    """`screen` is "module:class": what nobody enters is not imported."""

    name: str
    title: str
    screen: str

    def open(self, desk: Desk) -> NotesScreen:
        """Make its screen."""
        module, name = self.screen.split(":")
        made: NotesScreen = getattr(import_module(module), name)(desk)
        return made


#: In the order of the bar above every screen; the first is where one starts.
ROOMS = {
    room.name: room
    for room in (
        Room("browse", "Browse", "amem_tui.browse.browse_screen:BrowseScreen"),
        Room("graph", "Graph", "amem_tui.graph.graph_screen:GraphScreen"),
        Room("history", "History", "amem_tui.history.history_screen:HistoryScreen"),
        Room("timeline", "Timeline", "amem_tui.timeline.timeline_screen:TimelineScreen"),
        Room("chat", "Chat", "amem_tui.chat.chat_room:ChatScreen"),
        Room("review", "Review", "amem_tui.review.review_screen:ReviewScreen"),
        Room("log", "Log", "amem_tui.log.log_screen:LogScreen"),
        Room("health", "Health", "amem_tui.health.health_screen:HealthScreen"),
    )
}
START = "browse"
