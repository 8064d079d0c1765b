"""A page to read: draws the lines that are in view, and moves among the places that lead elsewhere."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from amem_tui.browse.page_blocks import Block, Choice, Sheet, lay_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.selection import Selection

    from amem_tui.browse.page_blocks import Destination, Part


#: Characters that are laid out while nobody notices; more are laid out in a thread.
_AT_ONCE = 6_000
#: A place so many lines beyond the edge is near enough to go to; farther ones the page is scrolled to first.
_NEAR = 3


class Page(ScrollView, can_focus=True):
    """Up and down go to the next place where one is near, and scroll where none is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1)", "Up", show=False),
        Binding("down,j", "step(1)", "Down", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
        Binding("home", "edge(-1)", "First", show=False),
        Binding("end,G", "edge(1)", "Last", show=False),
        Binding("enter", "follow", "Follow", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"page--chosen"}

    @dataclass
    class Followed(Message):
        """Enter or a click on a place that leads to `destination`."""

        destination: Destination

    @dataclass
    class Chose(Message):
        """Another place was chosen, or none."""

        destination: Destination | None

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._parts: Sequence[Part] = ()
        self.sheet = Sheet()
        self._laid_out_at = 0
        self._choosing = False
        self._chosen: int | None = None
        self._strips: dict[int, Strip] = {}

    @property
    def text(self) -> str:
        """All words of the page, line by line as they are shown."""
        return "\n".join(line.text.plain for line in self.sheet.lines)

    @property
    def chosen(self) -> Destination | None:
        """What the chosen place leads to."""
        return None if self._chosen is None else self.sheet.choices[self._chosen].destination

    async def show(self, parts: Sequence[Part], *, keep: bool = False, choose: bool = False) -> None:
        """Show other blocks; `keep` leaves the place where it was, `choose` begins with the first place chosen.

        A page that is not on the screen yet is laid out once its width is known.
        """
        self._parts, self._choosing = parts, choose
        place, top = self._chosen, self.scroll_offset.y
        width = self._width
        if width < 1:
            self._take(Sheet(), 0)
            return
        small = sum(len(part.text.plain) if isinstance(part, Block) else _AT_ONCE for part in parts) <= _AT_ONCE
        sheet = lay_out(parts, width) if small else await asyncio.to_thread(lay_out, parts, width)
        if parts is not self._parts:
            return  # something else is to be shown by now
        self._take(sheet, width)
        self.scroll_to(y=top if keep else 0, animate=False, immediate=True)
        begins = 0 if choose else None
        wanted = place if keep and place is not None else begins
        last = len(sheet.choices) - 1
        self._choose(None if wanted is None or last < 0 else min(wanted, last), reveal=False)

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        if self._parts and self._width not in (0, self._laid_out_at):
            self._lay_out_again()

    @work(exclusive=True)
    async def _lay_out_again(self) -> None:
        """After a change of width, from about the same place of the text."""
        share = self.scroll_offset.y / max(1, len(self.sheet.lines))
        await self.show(self._parts, keep=True, choose=self._choosing)
        self.scroll_to(y=round(share * len(self.sheet.lines)), animate=False, immediate=True)

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def _take(self, sheet: Sheet, width: int) -> None:
        self.sheet, self._laid_out_at = sheet, width
        self._chosen = None
        self._strips.clear()
        self.virtual_size = Size(width, len(sheet.lines))
        self.refresh()

    def action_step(self, by: int) -> None:
        place = self._next(by)
        if place is not None:
            self._choose(place)
        elif self._chosen is not None and not self._seen(self.sheet.choices[self._chosen]):
            self._choose(None)
            self.action_step(by)
        else:
            self.scroll_relative(y=by, animate=False)

    def action_edge(self, way: int) -> None:
        if way < 0:
            self.scroll_home(animate=False)
        else:
            self.scroll_end(animate=False)
        if self._chosen is not None:
            self._choose(0 if way < 0 else len(self.sheet.choices) - 1, reveal=False)

    def action_follow(self) -> None:
        if (destination := self.chosen) is not None:
            self.post_message(self.Followed(destination))

    def _next(self, by: int) -> int | None:
        """The next place in that direction that is in view or nearly."""
        top, bottom = self.scroll_offset.y, self.scroll_offset.y + self.size.height - 1
        near = {
            place: choice
            for place, choice in enumerate(self.sheet.choices)
            if choice.first <= bottom + _NEAR and choice.last >= top - _NEAR
        }
        if self._chosen in near:
            found = [place for place in near if (place - self._chosen) * by > 0]
        elif by > 0:
            found = [place for place, choice in near.items() if choice.first >= top]
        else:
            found = [place for place, choice in near.items() if choice.last <= bottom]
        return None if not found else min(found) if by > 0 else max(found)

    def _seen(self, choice: Choice) -> bool:
        top = self.scroll_offset.y
        return choice.first < top + self.size.height and choice.last >= top

    def _choose(self, place: int | None, *, reveal: bool = True) -> None:
        self._chosen = place
        self._strips.clear()
        self.refresh()
        if place is not None and reveal:
            choice, top, height = self.sheet.choices[place], self.scroll_offset.y, self.size.height
            if choice.last >= top + height:
                self.scroll_to(y=min(choice.first, choice.last - height + 1), animate=False, immediate=True)
            elif choice.first < top:
                self.scroll_to(y=choice.first, animate=False, immediate=True)
        self.post_message(self.Chose(self.chosen))

    @on(events.Click)
    def _clicked(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is None or self.screen.get_selected_text():
            return
        line, column = at.y + self.scroll_offset.y, at.x + self.scroll_offset.x
        if (place := self._at(line, column)) is not None:
            event.stop()
            self._choose(place, reveal=False)
            self.action_follow()

    def _at(self, line: int, column: int) -> int | None:
        """The choice at a cell of the page."""
        if line >= len(self.sheet.lines):
            return None
        plain = self.sheet.lines[line].text.plain
        character = next((n for n in range(len(plain)) if cell_len(plain[: n + 1]) > column), len(plain))
        for place, choice in enumerate(self.sheet.choices):
            for number, start, end in choice.spans:
                if number == line and (start == end or start <= character < end):
                    return place
        return None

    def watch_has_focus(self, focused: bool) -> None:
        super().watch_has_focus(focused)
        self._strips.clear()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        number = y + self.scroll_offset.y
        width = self.size.width
        if y == 0 and self._width != self._laid_out_at:
            self.call_later(self._fit)
        if number >= len(self.sheet.lines):
            return Strip.blank(width, self.rich_style)
        if number not in self._strips:
            self._strips[number] = self._drawn(number, width)
        return self._strips[number]

    def _drawn(self, number: int, width: int) -> Strip:
        line = self.sheet.lines[number]
        text, base = line.text, self.visual_style
        if self._chosen is not None:
            for at, start, end in self.sheet.choices[self._chosen].spans:
                if at == number and line.whole:
                    base = self.get_visual_style("page--chosen")
                    # The cursor's own colour is readable on it in every theme.
                    text = text.stylize(base) if self.has_focus else text
                elif at == number:
                    text = text.stylize(self.get_visual_style("page--chosen"), start, end)
        selected = None if self.text_selection is None else self.text_selection.get_span(number)
        if selected is not None:
            start, end = selected
            marked = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            text = text.stylize(marked, start, len(text) if end == -1 else end)
        made = text.render(base, end="", parse_style=self._get_style)
        strip = Strip([Segment(part, (base + style).rich_style) for part, style in made])
        return strip.adjust_cell_length(width, base.rich_style).apply_offsets(0, number)

    @property
    def allow_select(self) -> bool:
        return True

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract(self.text), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self._strips.clear()
        self.refresh()
