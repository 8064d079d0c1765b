"""The review queue: changes that machines proposed and a person decides."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from amem_tui import changes
from amem_tui.naming import titles
from amem_tui.notes_screen import NotesScreen
from amem_tui.phrases import changed, maker, one_line
from amem_tui.review.keys import KEYS

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from amem.memory_system import AgenticMemorySystem
    from amem.storage import Review


class ReviewScreen(NotesScreen):
    """Open proposals, oldest first."""

    ROOM = "review"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def furnish(self) -> ComposeResult:
        yield OptionList(id="proposals", compact=True)

    def reload(self) -> None:
        self._reload()

    @work(exclusive=True)
    async def _reload(self) -> None:
        with self._desk.refusals():
            waiting = await self.ask(partial(_named, self.memory))
            shown = self.query_one(OptionList)
            place = shown.highlighted or 0
            shown.clear_options()
            for review, name in waiting:
                shown.add_option(Option(_proposal(review, name), id=str(review.id)))
            if waiting:
                shown.highlighted = min(place, len(waiting) - 1)
            else:
                shown.add_option(Option("Nothing waits for you.", disabled=True))

    def action_decide(self, how: str) -> None:
        chosen = self.query_one(OptionList).highlighted_option
        if chosen is not None and chosen.id is not None:
            decide: Callable[[AgenticMemorySystem, int], str] = getattr(changes, how)
            self.change(partial(decide, self.memory, int(chosen.id)))


def _named(memory: AgenticMemorySystem) -> list[tuple[Review, str]]:
    """Each open proposal with the title of the note it would change."""
    waiting = memory.reviews()
    named = titles(memory, [review.note for review in waiting])
    return [(review, named[review.note]) for review in waiting]


def _proposal(review: Review, name: str) -> Content:
    who = Content.assemble(
        "  ",
        maker(review.made_by),
        (f"  {review.confidence:.0%} sure  ", "$muted"),
        one_line(review.reason),
    )
    return Content("\n").join([Content.assemble((name, "bold")), who, changed(review.changes), Content("")])
