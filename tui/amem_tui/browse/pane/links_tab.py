"""Links from the note and to it: of what type, why, by whom, how sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from amem_tui.browse.pane.aims import ToNote
from amem_tui.browse.pane.entries import MOST, card_title, entry, say, space
from amem_tui.phrases import maker, one_line, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.memory_system import AgenticMemorySystem
    from amem.note import Link
    from amem_tui.browse.pane.asked import Asked
    from amem_tui.browse.pane.leaf import Part

_NO_LINKS = "No note is linked from here. + links one."
_NO_BACKLINKS = "No note links here."


def read_links(memory: AgenticMemorySystem, asked: Asked) -> list[Part]:
    """What the note links to."""
    links = memory.links(asked.note.id)
    return _entries(memory, links, [link.target for link in links], "→") or [say(_NO_LINKS)]


def read_backlinks(memory: AgenticMemorySystem, asked: Asked) -> list[Part]:
    """What links to the note."""
    links = memory.backlinks(asked.note.id)
    return _entries(memory, links, [link.source for link in links], "←") or [say(_NO_BACKLINKS)]


def _entries(memory: AgenticMemorySystem, links: Sequence[Link], ends: Sequence[str], arrow: str) -> list[Part]:
    cards = memory.cards_of(list(dict.fromkeys(ends[:MOST])))
    found: list[Part] = []
    for link, end in zip(links[:MOST], ends, strict=False):
        head = Content.assemble((f"{str(link.type).replace('_', ' ')} {arrow} ", "$secondary"))
        found.append(entry(head + card_title(cards.get(end), end), ToNote(end, link), _why(link)))
    if len(links) > MOST:
        found += [space(), say(f"and {plural(len(links) - MOST, 'link')} more")]
    return found


def _why(link: Link) -> Content:
    """``◆ rules  90% sure  both are about tea``."""
    sure = "" if link.confidence >= 1 else f"  {link.confidence:.0%} sure"
    weight = "" if abs(link.weight - 1) < 0.005 else f"  weight {link.weight:.2f}"
    reason = f"  {one_line(link.reason, 200)}" if link.reason else ""
    return Content.assemble(maker(link.made_by), (f"{sure}{weight}{reason}", "$muted"))
