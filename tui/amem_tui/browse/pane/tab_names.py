"""The pages of the open note, in their order: what they are called and how they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem_tui.browse.pane import tab_pages as history_tab
from amem_tui.browse.pane import tab_pages as links_tab
from amem_tui.browse.pane import tab_pages as note_tab
from amem_tui.browse.pane import tab_pages as similar_tab
from amem_tui.browse.pane import tab_pages as sources_tab
from amem_tui.browse.pane import why_tab
from amem_tui.browse.pane.tab_strip import Name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from amem.memory_system import AgenticMemorySystem
    from amem_tui.browse.pane.page_blocks import Part
    from amem_tui.browse.pane.tab_pages import Asked


if TYPE_CHECKING:
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
    "note": note_tab.read_note,
    "links": links_tab.read_links,
    "backlinks": links_tab.read_backlinks,
    "similar": similar_tab.read_similar,
    "history": history_tab.read_history,
    "sources": sources_tab.read_sources,
    "why": why_tab.read,
}
