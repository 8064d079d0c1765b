"""Something long that is being done to the collection: how far it is, and the way to call it off."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.content import Content

if TYPE_CHECKING:
    from collections.abc import Callable

_BAR, _BLANK = "━", "─"


@dataclass(slots=True)
class Errand:
    """`title` says what is done; `phase`, `done` and `of` how far it is; `through` are the phases before this one.

    It hears of its progress in the thread that does it, and tells `changed` of it on the loop it was made on.
    """

    title: str
    changed: Callable[[], None]
    stoppable: bool = True
    cancelled: threading.Event = field(default_factory=threading.Event)
    phase: str = ""
    done: int = 0
    of: int = 0
    through: list[str] = field(default_factory=list)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def hear(self, phase: str, done: int, of: int) -> None:
        """Progress, from whichever thread."""
        try:
            self._loop.call_soon_threadsafe(self._note, phase, done, of)
        except RuntimeError:  # the program has ended meanwhile
            self.cancelled.set()

    def count(self, done: int, of: int) -> None:
        """Progress of something that has no phases."""
        self.hear("", done, of)

    def words(self, width: int) -> Content:
        """One line for what is done, one for the bar, in `width` cells."""
        if self.cancelled.is_set():
            state = "stopping…"
        elif self.of:
            state = f"{self.phase}  {self.done:,} of {self.of:,}".strip()
        else:
            state = f"{self.phase} …".strip()
        full = round(width * min(self.done, self.of) / self.of) if self.of else 0
        through = f"  ✓ {' '.join(self.through)}" if self.through else ""
        return Content.assemble(
            (self.title, "bold"),
            (f"  {state}", "$primary"),
            (through, "$muted"),
            "\n",
            (_BAR * full, "$primary"),
            (_BLANK * (width - full), "$panel-lighten-1"),
        )

    def _note(self, phase: str, done: int, of: int) -> None:
        if phase != self.phase and self.phase and self.phase not in self.through:
            self.through.append(self.phase)
        self.phase, self.done, self.of = phase, done, of
        self.changed()
