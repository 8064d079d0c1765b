"""Pages: blocks of text that may lead elsewhere, their lines at a width, and the widget that shows them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import accumulate, zip_longest
from typing import TYPE_CHECKING, ClassVar, Protocol

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from amem.language.sentence_parts import breaks
from amem_tui.formatting import one_line
from amem_tui.keymap import cursor_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from textual.selection import Selection

    from amem.note import Link


@dataclass(frozen=True, slots=True, eq=False)
class ToNote:
    """A note of this collection. `link` is the link that leads there, where it can be taken away."""

    id: str
    link: Link | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """What a ``[[name]]`` means, where no note was found that it means, or none was looked for yet."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Address:
    """An address outside, which can be copied and is never fetched."""

    url: str


@dataclass(frozen=True, slots=True, eq=False)
class ToVersion:
    """A version of the open note."""

    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Unfold:
    """More to say about something, on demand."""

    what: str


#: Each stands for one place, so two of the same target are two.
Destination = ToNote | Named | Address | ToVersion | Unfold


#: However deep a text is nested, so many cells are left for its words.
_LEAST = 8
#: Blank cells between two columns.
_GAP = 2


@dataclass(frozen=True, eq=False)
class Leads(Style):
    """A style without a look: its text leads to `destination`, however it is cut or moved; or all of its line does."""

    destination: Destination | None = None
    whole: bool = False

    def __bool__(self) -> bool:
        """Or Textual would leave it out."""
        return True


def leading(text: Content, destination: Destination, start: int = 0, end: int | None = None) -> Content:
    """The text, of which these characters lead to `destination`."""
    return text.stylize(Leads(destination=destination), start, end)


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text; `first` and `rest` stand before its first line and the others.

    `verbatim` keeps blanks and breaks inside words.
    """

    text: Content
    first: Content = field(default_factory=Content)
    rest: Content = field(default_factory=Content)
    verbatim: bool = False

    def lines(self, width: int) -> Iterator[Content]:
        lead, rest = _bounded(self.first, width), _bounded(self.rest, width)
        room = max(1, width - max(lead.cell_length, rest.cell_length))
        for line in wrapped(self.text, room, verbatim=self.verbatim):
            yield lead + line if lead.plain else line
            lead = rest


def side_by_side(
    cells: Sequence[Content], widths: Sequence[int], indent: Content | None = None, right: Sequence[bool] = ()
) -> Iterator[Content]:
    """The lines of texts in columns of so many cells; `right` says which lean there."""
    made = [list(wrapped(cell, width)) for cell, width in zip(cells, widths, strict=False)]
    for row in zip_longest(*made, fillvalue=Content()):
        parts = [Content() if indent is None else indent]
        for column, (line, width) in enumerate(zip(row, widths, strict=False)):
            pad = max(0, width - line.cell_length)
            before = pad if column < len(right) and right[column] else 0
            after = pad - before + (_GAP if column < len(made) - 1 else 0)
            parts.append(line.pad(before, after))
        yield Content("").join(parts)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells below their headers, in columns as wide as there is room; `right` says which lean there."""

    headers: tuple[Content, ...]
    rows: tuple[tuple[Content, ...], ...]
    right: tuple[bool, ...] = ()
    indent: Content = field(default_factory=Content)

    def lines(self, width: int) -> Iterator[Content]:
        """Its lines; below a few cells a column the rows stand one below the other, each cell with its header."""
        indent = _bounded(self.indent, width)
        room = max(1, width - indent.cell_length)
        columns = len(self.headers)
        if room < columns * (_LEAST + _GAP):
            yield from self._stacked(indent, width)
            return
        widths = self._widths(room)
        yield from side_by_side([each.stylize("bold") for each in self.headers], widths, indent, self.right)
        rule = (" " * _GAP).join("─" * each for each in widths)
        yield indent + Content.styled(rule, "$muted")
        for row in self.rows:
            yield from side_by_side(row, widths, indent, self.right)

    def _widths(self, room: int) -> list[int]:
        free = room - _GAP * (len(self.headers) - 1)
        rows = (self.headers, *self.rows)
        cells = [[row[place] for row in rows if place < len(row)] for place in range(len(self.headers))]
        longest = [max(cell_len(line) for cell in column for line in cell.plain.split("\n")) for column in cells]
        widths = [max(1, min(each, free)) for each in longest]
        # The widest give way until all fit: a column that needs little keeps it.
        while sum(widths) > free and max(widths) > _LEAST:
            widths[widths.index(max(widths))] -= 1
        return widths

    def _stacked(self, indent: Content, width: int) -> Iterator[Content]:
        for number, row in enumerate(self.rows or ((),)):
            if number:
                yield indent
            for header, cell in zip(self.headers, row, strict=False):
                name = Content.styled(f"{header.plain}: ", "$secondary")
                yield from Block(name + cell, indent, indent + Content("  ")).lines(width)


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across the page, from what stands before it on."""

    lead: Content = field(default_factory=Content)

    def lines(self, width: int) -> Iterator[Content]:
        yield self.lead + Content.styled("─" * (width - self.lead.cell_length), "$foreground 25%")


class Part(Protocol):
    """What a page is made of."""

    def lines(self, width: int) -> Iterator[Content]:
        """Its lines, none wider than `width` cells."""
        ...


def space() -> Block:
    return Block(Content())


def remark(text: str, style: str = "$muted") -> Block:
    return Block(Content.styled(text, style))


def labelled(label: Content | str, value: Content, *, cells: int = 11) -> Block:
    """A label of so many cells, and beside it what there is to say."""
    head = Content.styled(label.ljust(cells), "$muted") if isinstance(label, str) else label
    return Block(value, head, Content(" " * max(cells, head.cell_length)))


def entry(head: Content, destination: Destination, *more: Content, indent: int = 0) -> Block:
    """Something to choose: a line, and below it what else there is to say."""
    text, first, rest = Content("\n").join([head, *more]), Content(" " * indent), Content(" " * (indent + 2))
    return Block(text.stylize(Leads(destination=destination, whole=True)), first, rest)


@dataclass(frozen=True, slots=True)
class Choice:
    """A place that can be chosen: what it leads to, and its characters as (line, start, end); 0, 0 is a whole line."""

    destination: Destination
    spans: tuple[tuple[int, int, int], ...]

    @property
    def first(self) -> int:
        return self.spans[0][0]

    @property
    def last(self) -> int:
        return self.spans[-1][0]


@dataclass(frozen=True, slots=True)
class Sheet:
    """Blocks laid out: their lines, and the choices on them from the top."""

    lines: tuple[Content, ...] = ()
    choices: tuple[Choice, ...] = ()


def lay_out(parts: Iterable[Part], width: int) -> Sheet:
    """Lines of at most `width` cells."""
    lines: list[Content] = []
    found: dict[int, tuple[Destination, list[tuple[int, int, int]]]] = {}
    for part in parts:
        for line in part.lines(max(1, width)):
            for start, end, style in line.spans:
                if isinstance(style, Leads) and style.destination is not None:
                    _, spans = found.setdefault(id(style.destination), (style.destination, []))
                    spans.append((len(lines), *((0, 0) if style.whole else (start, end))))
            lines.append(line)
    choices = [Choice(destination, tuple(spans)) for destination, spans in found.values()]
    # In a table the second line of one cell comes after the first of the next.
    return Sheet(tuple(lines), tuple(sorted(choices, key=lambda each: each.spans[0])))


def wrapped(text: Content, width: int, *, verbatim: bool = False) -> Iterator[Content]:
    """A text in lines of at most `width` cells; `verbatim` breaks anywhere."""
    for part in text.split("\n", allow_blank=True):
        plain = part.plain
        cuts = []
        if cell_len(plain) > width:
            anywhere = accumulate(map(len, chop_cells(plain, width)[:-1]))
            cuts = list(anywhere) if verbatim else breaks(plain, width, first=width)
        for line in part.divide(cuts) if cuts else [part]:
            yield line if verbatim else line.rstrip()


def _bounded(lead: Content, width: int) -> Content:
    """What stands before a line, cut so that words have room."""
    most = max(0, width - max(_LEAST, width // 2))
    return lead if lead.cell_length <= most else lead[: max(0, most - 1)] + Content.styled("…", "$muted")


#: Characters that are laid out while nobody notices; more are laid out in a thread.
_AT_ONCE = 6_000


#: A place so many lines beyond the edge is near enough to go to; farther ones the page is scrolled to first.
_NEAR = 3


class Page(ScrollView, can_focus=True):
    """Up and down go to the next place where one is near, and scroll where none is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *cursor_keys("step(-1)", "step(1)", "page_up", "page_down", "edge(-1)", "edge(1)"),
        Binding("enter", "follow", "Follow", show=False),
    ]
    BINDING_GROUP_TITLE = "In the text"
    COMPONENT_CLASSES: ClassVar[set[str]] = {"page--chosen"}

    @dataclass
    class Followed(Message):
        """Enter or a click on a place that leads to `destination`, but for an address, which the page copies."""

        destination: Destination

    @dataclass
    class Chose(Message):
        """Another place was chosen, or none."""

        destination: Destination | None

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        #: What it shows.
        self.parts: Sequence[Part] = ()
        self.sheet = Sheet()
        self._laid_out_at = 0
        self._choosing = False
        self._about: object = None
        self._chosen: int | None = None

    @property
    def text(self) -> str:
        return "\n".join(line.plain for line in self.sheet.lines)

    @property
    def chosen(self) -> Destination | None:
        return None if self._chosen is None else self.sheet.choices[self._chosen].destination

    async def show(
        self, parts: Sequence[Part], *, keep: bool = False, choose: bool = False, about: object = None
    ) -> None:
        """Show other blocks; `choose` begins with the first place chosen.

        The place stays with `keep`, or where both pages are `about` the same. All is laid out once the width is known.
        """
        keep = keep or (about is not None and about == self._about)
        self.parts, self._choosing, self._about = parts, choose, about
        place, top = self._chosen, self.scroll_offset.y
        width = self._width
        if width < 1:
            self._take(Sheet(), 0)
            return
        small = sum(len(part.text.plain) if isinstance(part, Block) else _AT_ONCE for part in parts) <= _AT_ONCE
        sheet = lay_out(parts, width) if small else await asyncio.to_thread(lay_out, parts, width)
        if parts is not self.parts:
            return  # something else is to be shown by now
        self._take(sheet, width)
        self.scroll_to(y=top if keep else 0, animate=False, immediate=True)
        begins = 0 if choose else None
        wanted = place if keep and place is not None else begins
        last = len(sheet.choices) - 1
        self.select(None if wanted is None or last < 0 else min(wanted, last), reveal=False)

    async def say(self, words: str) -> None:
        await self.show([Block(Content(words))], about=words)

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        if self.parts and self._width not in (0, self._laid_out_at):
            self._lay_out_again()

    @work(exclusive=True)
    async def _lay_out_again(self) -> None:
        """After a change of width, from about the same place of the text."""
        share = self.scroll_offset.y / max(1, len(self.sheet.lines))
        await self.show(self.parts, keep=True, choose=self._choosing, about=self._about)
        self.scroll_to(y=round(share * len(self.sheet.lines)), animate=False, immediate=True)

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def _take(self, sheet: Sheet, width: int) -> None:
        self.sheet, self._laid_out_at = sheet, width
        self._chosen = None
        self.virtual_size = Size(width, len(sheet.lines))
        self.refresh(layout=bool(self.styles.auto_dimensions))

    def action_step(self, by: int) -> None:
        if (place := self._next(by)) is not None:
            self.select(place)
            return
        top, choice = self.scroll_offset.y, None if self._chosen is None else self.sheet.choices[self._chosen]
        if choice is not None and not (choice.first < top + self.size.height and choice.last >= top):
            self.select(None)
            self.action_step(by)
        else:
            self.scroll_relative(y=by, animate=False)

    def action_edge(self, way: int) -> None:
        self.scroll_to(y=0 if way < 0 else self.max_scroll_y, animate=False, immediate=True)
        if self._chosen is not None:
            self.select(0 if way < 0 else len(self.sheet.choices) - 1, reveal=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where no place is chosen the key means what it means on the screen."""
        return action != "follow" or self._chosen is not None

    def action_follow(self) -> None:
        if isinstance(destination := self.chosen, Address):  # whoever wrote it, a person decides whether to go there
            self.app.copy_to_clipboard(destination.url)
            self.notify(f"Copied {one_line(destination.url, 100)}", timeout=3, markup=False)
        elif destination is not None:
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
        else:
            found = [
                each for each, choice in near.items() if (choice.first >= top if by > 0 else choice.last <= bottom)
            ]
        return min(found, key=lambda place: place * by, default=None)

    def select(self, place: int | None, *, reveal: bool = True) -> None:
        """Choose the place of this number from the top, or none."""
        self._chosen = place
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
        if (place := self._at(at.y + self.scroll_offset.y, at.x + self.scroll_offset.x)) is not None:
            event.stop()
            self.select(place, reveal=False)
            self.action_follow()

    def _at(self, line: int, column: int) -> int | None:
        """The choice at a cell of the page."""
        if line >= len(self.sheet.lines):
            return None
        plain = self.sheet.lines[line].plain
        character = next((n for n in range(len(plain)) if cell_len(plain[: n + 1]) > column), len(plain))
        for place, choice in enumerate(self.sheet.choices):
            for number, start, end in choice.spans:
                if number == line and (start == end or start <= character < end):
                    return place
        return None

    def render_line(self, y: int) -> Strip:
        number = y + self.scroll_offset.y
        width = self.size.width
        if y == 0 and self._width != self._laid_out_at:
            self.call_later(self._fit)
        if number >= len(self.sheet.lines):
            return Strip.blank(width, self.rich_style)
        text, base = self.sheet.lines[number], self.visual_style
        if self._chosen is not None:
            for at, start, end in self.sheet.choices[self._chosen].spans:
                if at == number and start == end:
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
