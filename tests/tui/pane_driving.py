"""Driving the open note in tests: its pages, and what is chosen on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem_tui.browse.note_pane import NotePane
from amem_tui.rooms import TabStrip
from driving import listed, opened, settled, wait_until

if TYPE_CHECKING:
    from amem_tui.page import Page
    from textual.pilot import Pilot

TABS = ("note", "links", "backlinks", "similar", "history", "sources", "why")


def pane(pilot: Pilot[None]) -> NotePane:
    return pilot.app.screen_stack[1].query_one(NotePane)


def page(pilot: Pilot[None]) -> Page:
    return pane(pilot).page


def read(pilot: Pilot[None]) -> str:
    """All words of the open page."""
    return page(pilot).text


def flat(pilot: Pilot[None]) -> str:
    """The same on one line, however it was wrapped."""
    return " ".join(read(pilot).split())


def labels(pilot: Pilot[None]) -> list[str]:
    strip = pane(pilot).query_one(TabStrip)
    return [word.text.plain.strip() for word in strip.words(strip.size.width)]


async def turn_to(pilot: Pilot[None], tab: str) -> None:
    """Open a page by key."""
    steps = TABS.index(tab) - TABS.index(pane(pilot).tab)
    key = "right_square_bracket" if steps > 0 else "left_square_bracket"
    await pilot.press(*[key] * abs(steps))
    assert pane(pilot).tab == tab
    await settled(pilot)


async def go_to(pilot: Pilot[None], content: str) -> None:
    """Move the list's cursor down to the note with this text."""
    listed(pilot).focus()
    for _ in range(listed(pilot).count):
        if opened(pilot) == content:
            return
        row = listed(pilot).line
        await pilot.press("down")
        await wait_until(pilot, lambda before=row: listed(pilot).line != before)
        await settled(pilot)
    assert opened(pilot) == content
