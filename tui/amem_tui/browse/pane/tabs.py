"""The pages of the pane, in their order: what they are called and how they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem_tui.browse.pane import history_tab, links_tab, note_tab, similar_tab, sources_tab, why_tab
from amem_tui.browse.pane.tab_strip import Name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from amem.memory_system import AgenticMemorySystem
    from amem_tui.browse.pane.asked import Asked
    from amem_tui.browse.pane.leaf import Part

    #: Reads a page of what is asked for, in a thread.
    Reader = Callable[[AgenticMemorySystem, Asked], list[Part]]

NAMES = (
    Name("note", "Note"),
    Name("links", "Links"),
    Name("backlinks", "Backlinks", "Linked"),
    Name("similar", "Similar", "Sim"),
    Name("history", "History", "Hist"),
    Name("sources", "Sources", "Source", "Src"),
    Name("why", "Why"),
)
READERS: Mapping[str, Reader] = {
    "note": note_tab.read,
    "links": links_tab.read_links,
    "backlinks": links_tab.read_backlinks,
    "similar": similar_tab.read,
    "history": history_tab.read,
    "sources": sources_tab.read,
    "why": why_tab.read,
}
