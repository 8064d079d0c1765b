"""Two questions before something is done to the whole collection: which cycle, and whether to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from amem.maintenance.cycle import CYCLES

if TYPE_CHECKING:
    from textual.app import ComposeResult

_WHAT = {
    "nightly": "layers, fading, conflicts, merging, topics",
    "weekly": "that, and sums up what is old and fading",
    "monthly": "all that, the index, and links by use",
}


class CycleScreen(ModalScreen[str | None]):
    """Which cycle of maintenance; the answer is its name, None for none. `due` is marked, and chosen first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "decide('')", "Cancel"),
        Binding("n", "decide('nightly')", "Nightly", show=False),
        Binding("w", "decide('weekly')", "Weekly", show=False),
        Binding("m", "decide('monthly')", "Monthly", show=False),
        Binding("j", "move(1)", "Down", show=False),
        Binding("k", "move(-1)", "Up", show=False),
    ]

    def __init__(self, heading: str, due: str | None) -> None:
        super().__init__()
        self._heading, self._due = heading, due

    def compose(self) -> ComposeResult:
        with Vertical(classes="question") as sheet:
            sheet.border_title = self._heading
            sheet.border_subtitle = "enter chooses, escape cancels"
            yield OptionList(*(Option(self._option(cycle), id=cycle) for cycle in CYCLES), id="cycles", compact=True)

    def on_mount(self) -> None:
        cycles = self.query_one(OptionList)
        cycles.highlighted = CYCLES.index(self._due or CYCLES[0])
        cycles.focus()

    def _option(self, cycle: str) -> Content:
        due = ("  due", "$warning") if cycle == self._due else ""
        return Content.assemble((f" {cycle:<9}", "bold"), (_WHAT[cycle], "$muted"), due)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def action_move(self, by: int) -> None:
        cycles = self.query_one(OptionList)
        cycles.action_cursor_down() if by > 0 else cycles.action_cursor_up()

    def action_decide(self, cycle: str) -> None:
        self.dismiss(cycle or None)


class GoOnScreen(ModalScreen[bool]):
    """Whether to do it; `y` or enter says so."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "decide(True)", "Yes"),
        Binding("n,escape,q", "decide(False)", "No"),
    ]

    def __init__(self, heading: str, question: str) -> None:
        super().__init__()
        self._heading, self._question = heading, question

    def compose(self) -> ComposeResult:
        with Vertical(classes="question") as sheet:
            sheet.border_title = self._heading
            sheet.border_subtitle = "y goes on, escape does not"
            yield Static(Content(self._question))

    def action_decide(self, yes: bool) -> None:
        self.dismiss(yes)
