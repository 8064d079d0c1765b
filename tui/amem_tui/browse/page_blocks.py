"""Pages as values: blocks of text with places that lead elsewhere, and the lines they make at a width."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from amem.language.sentences import breaks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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


@dataclass(frozen=True, slots=True)
class Place:
    """Characters `start` to `end` of a text lead to `destination`."""

    start: int
    end: int
    destination: Destination


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page. `whole` belongs with all of it to one choice, which its first place leads to."""

    text: Content
    places: tuple[Place, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text. `first` and `rest` stand before its first line and the others.

    `verbatim` keeps blanks and breaks inside words; an `entry` is chosen as a whole and leads where its first place
    does.
    """

    text: Content
    places: tuple[Place, ...] = ()
    first: Content = field(default_factory=Content)
    rest: Content = field(default_factory=Content)
    verbatim: bool = False
    entry: bool = False

    def lines(self, width: int) -> Iterator[Line]:
        """Its lines, none wider than `width` cells."""
        first, rest = _bounded(self.first, width), _bounded(self.rest, width)
        room = max(1, width - max(first.cell_length, rest.cell_length))
        for number, line in enumerate(wrapped(self.text, self.places, room, verbatim=self.verbatim)):
            lead = first if number == 0 else rest
            shift = len(lead.plain)
            places = tuple(Place(each.start + shift, each.end + shift, each.destination) for each in line.places)
            if self.entry:
                places = tuple(Place(0, 0, each.destination) for each in self.places[:1])
            yield Line(lead + line.text if shift else line.text, places, self.entry)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells below their headers, in columns as wide as there is room; `right` says which lean there."""

    headers: tuple[Block, ...]
    rows: tuple[tuple[Block, ...], ...]
    right: tuple[bool, ...] = ()
    indent: Content = field(default_factory=Content)
    _gap: int = 2

    def lines(self, width: int) -> Iterator[Line]:
        """Its lines; below a few cells a column the rows stand one below the other, each cell with its header."""
        indent = _bounded(self.indent, width)
        room = max(1, width - indent.cell_length)
        columns = len(self.headers)
        if room < columns * (_LEAST + self._gap):
            yield from self._stacked(indent, width)
            return
        widths = self._widths(room)
        yield from self._row([Block(each.text.stylize("bold"), each.places) for each in self.headers], widths, indent)
        rule = (" " * self._gap).join("─" * each for each in widths)
        yield Line(indent + Content.styled(rule, "$muted"))
        for row in self.rows:
            yield from self._row(row, widths, indent)

    def _widths(self, room: int) -> list[int]:
        free = room - self._gap * (len(self.headers) - 1)
        rows = (self.headers, *self.rows)
        cells = [[row[place] for row in rows if place < len(row)] for place in range(len(self.headers))]
        longest = [max(cell_len(line) for cell in column for line in cell.text.plain.split("\n")) for column in cells]
        widths = [max(1, min(each, free)) for each in longest]
        # The widest give way until all fit: a column that needs little keeps it.
        while sum(widths) > free and max(widths) > _LEAST:
            widths[widths.index(max(widths))] -= 1
        return widths

    def _row(self, cells: Sequence[Block], widths: Sequence[int], indent: Content) -> Iterator[Line]:
        made = [
            list(wrapped(cell.text, cell.places, width)) or [Line(Content())]
            for cell, width in zip(cells, widths, strict=False)
        ]
        for number in range(max(map(len, made))):
            parts, places, shift = [indent], [], len(indent.plain)
            for column, (lines, width) in enumerate(zip(made, widths, strict=False)):
                line = lines[number] if number < len(lines) else Line(Content())
                pad = max(0, width - line.text.cell_length)
                before = pad if column < len(self.right) and self.right[column] else 0
                after = pad - before + (self._gap if column < len(made) - 1 else 0)
                parts += [Content(" " * before), line.text, Content(" " * after)]
                places += [Place(p.start + shift + before, p.end + shift + before, p.destination) for p in line.places]
                shift += before + len(line.text.plain) + after
            yield Line(Content("").join(parts), tuple(places))

    def _stacked(self, indent: Content, width: int) -> Iterator[Line]:
        for number, row in enumerate(self.rows or ((),)):
            if number:
                yield Line(indent)
            for header, cell in zip(self.headers, row, strict=False):
                name = Content.styled(f"{header.text.plain}: ", "$secondary")
                places = tuple(Place(p.start + len(name), p.end + len(name), p.destination) for p in cell.places)
                yield from Block(name + cell.text, places, indent, indent + Content("  ")).lines(width)


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across the page."""

    def lines(self, width: int) -> Iterator[Line]:
        yield Line(Content.styled("─" * width, "$foreground 25%"))


Part = Block | Table | Rule


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

    lines: tuple[Line, ...] = ()
    choices: tuple[Choice, ...] = ()


def lay_out(parts: Iterable[Part], width: int) -> Sheet:
    """Lines of at most `width` cells."""
    lines: list[Line] = []
    found: dict[int, tuple[Destination, list[tuple[int, int, int]]]] = {}
    for part in parts:
        for line in part.lines(max(1, width)):
            for place in line.places:
                _, spans = found.setdefault(id(place.destination), (place.destination, []))
                spans.append((len(lines), place.start, place.end))
            lines.append(line)
    choices = [Choice(destination, tuple(spans)) for destination, spans in found.values()]
    # In a table the second line of one cell comes after the first of the next.
    return Sheet(tuple(lines), tuple(sorted(choices, key=lambda each: each.spans[0])))


def wrapped(text: Content, places: Sequence[Place], width: int, *, verbatim: bool = False) -> Iterator[Line]:
    """A text in lines of at most `width` cells, its places cut as the text is; `verbatim` breaks anywhere."""
    start = 0
    for part in text.split("\n", allow_blank=True):
        plain = part.plain
        cuts = []
        if cell_len(plain) > width:
            cuts = _anywhere(plain, width) if verbatim else breaks(plain, width, first=width)
        at = 0
        for line in part.divide(cuts) if cuts else [part]:
            end = at + len(line.plain)
            shown = line if verbatim else line.rstrip()
            inside = tuple(
                Place(
                    max(each.start, start + at) - start - at, min(each.end, start + end) - start - at, each.destination
                )
                for each in places
                if each.start < start + end and each.end > start + at
            )
            yield Line(shown, inside)
            at = end
        start += len(plain) + 1


def _anywhere(text: str, width: int) -> list[int]:
    """Breaks as soon as a line is full."""
    found: list[int] = []
    taken = 0
    for place, char in enumerate(text):
        cells = cell_len(char)
        if taken + cells > width and place:
            found.append(place)
            taken = 0
        taken += cells
    return found


def _bounded(lead: Content, width: int) -> Content:
    """What stands before a line, cut so that words have room."""
    most = max(0, width - max(_LEAST, width // 2))
    return lead if lead.cell_length <= most else lead[: max(0, most - 1)] + Content.styled("…", "$muted")
