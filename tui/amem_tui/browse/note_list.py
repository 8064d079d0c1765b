"""The notes as a list of any length: how a row is read, drawn, marked and opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive

from amem.note import Enrichment, Kind, Layer, Status
from amem.retrieval.confidence import Support
from amem_tui.formatting import GLYPHS, SIGNS, Author, author, clean, one_line, title
from amem_tui.lists import PagedList, begun_late, fit, fitted, split_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, tzinfo

    from amem.retrieval.hit import Hit
    from amem.storage.note_lists import Card
    from amem_tui.lists import Piece


#: Strength from which another bar is lit. A note without any would fade; one with all of them is kept for long.
_LEVELS = (0.1, 0.3, 0.5, 0.7)


@dataclass(frozen=True, slots=True)
class Row:
    """`at` is local; `level` is the strength as 0 to 4 bars.

    For search hits alone: `score`, `why` it was found, `excerpt`: pieces of its text, each with whether it matched,
    `faint` where it gives an answer no support, and the `catalog` that it is in, '' for one of the open collection.
    """

    id: str
    kind: Kind
    title: str
    at: datetime
    author: Author = "person"
    status: Status = Status.ACTIVE
    long_term: bool = False
    level: int = 0
    links: int = 0
    pinned: bool = False
    waiting: bool = False
    score: float | None = None
    why: str = ""
    excerpt: tuple[tuple[str, bool], ...] = ()
    faint: bool = False
    catalog: str = ""


def row_of(card: Card, zone: tzinfo, hit: Hit | None = None) -> Row:
    """The row of a note; with the hit's score and explanation where it was searched for."""
    return Row(
        id=card.id,
        kind=card.kind,
        title=title(card.text),
        at=card.at.astimezone(zone),
        author=author(card.author),
        status=card.status,
        long_term=card.layer is Layer.LONG_TERM,
        level=sum(card.strength >= least for least in _LEVELS),
        links=card.links,
        pinned=card.pinned,
        waiting=card.enrichment is not Enrichment.DONE,
        score=None if hit is None else hit.score,
        why="" if hit is None else one_line(hit.explanation.words(), 300),
        excerpt=() if hit is None else _excerpt(hit),
        faint=hit is not None and hit.support is Support.NONE,
        catalog="" if hit is None else hit.catalog,
    )


def _excerpt(hit: Hit) -> tuple[tuple[str, bool], ...]:
    part = hit.passage
    goes_on = [(" …", False)] if hit.text[part.end :].strip() else []
    from_here = [("… ", False)] if hit.text[: part.start].strip() else []
    return (*from_here, *((clean(piece), matched) for piece, matched in part.pieces()), *goes_on)


# The line of a row: as many columns as there is room for, each exactly as wide as planned.

BARS, UNLIT = "▁▃▅▇", "·"
PINNED, WAITING, MARKED = "▪", "◌", "✓"
#: (sign, what it says of a note).
LEGEND = (
    ("▁▃··", "strength; with none it fades"),
    ("L s", "in long-term or short-term memory"),
    ("3↔", "so many links from and to it"),
    (f"{WAITING}", "its analysis waits"),
    (f"{MARKED}", "marked, to delete or write to a file"),
    ("struck", "another note has taken its place"),
)
#: The look of words that matched.
FOUND = "bold $accent"
_STATUS = {Status.SUPERSEDED: "strike $muted", Status.DELETED: "strike $muted", Status.ARCHIVED: "italic $muted"}
_INDENT = " " * 5
#: The most cells of a catalog's name.
_CATALOG = 10
#: At the end of an excerpt where the note goes on.
_ON = " …"
#: The width of the list from which each column is shown, so that a title keeps 24 cells.
_COLUMNS = {"date": 34, "author": 36, "strength": 38, "links": 43, "layer": 45, "whole_date": 50, "bars": 53}


def columns(width: int) -> set[str]:
    """The names of the columns that a list of so many cells has room for."""
    return {name for name, least in _COLUMNS.items() if width >= least}


def laid_out(row: Row, width: int, *, marked: bool, year: int) -> list[Piece]:
    """The row in `width` cells. Where a date has little room, one of another year than `year` (0: any) shows that."""
    plan = columns(width)
    sign, by = SIGNS[row.author]
    head: list[Piece] = [(MARKED if marked else " ", "bold $accent")]
    if "author" in plan:
        head += [(f"{sign} ", by), (f"{GLYPHS[row.kind]} ", "$secondary")]
    else:
        head.append((f"{GLYPHS[row.kind]} ", by))
    tail = _tail(row, plan, year)
    room = max(1, width - sum(cell_len(text) for text, _ in (*head, *tail)))
    look = _STATUS.get(row.status, "$muted" if row.faint else "")
    first, _ = _titled(row, room, look)
    return [*head, *first, *tail]


def below(row: Row, width: int) -> list[Piece]:
    """The second line of a hit, in `width` cells: how its sentence goes on, or another one that matched, or why."""
    plan = columns(width)
    taken = (5 if "author" in plan else 3) + sum(cell_len(text) for text, _ in _tail(row, plan, 0))
    _, rest = _titled(row, max(1, width - taken), "")
    room = max(1, width - len(_INDENT))
    if not "".join(text for text, _ in rest).strip():
        return [(fit(f"{_INDENT}{row.why}", width), "$muted")]
    return [(_INDENT, ""), *begun_late(rest, room, show=FOUND)]


def _titled(row: Row, room: int, look: str) -> tuple[list[Piece], list[Piece]]:
    """The title in so many cells, and what of the excerpt is left for the line below it."""
    pieces = row.excerpt[:-1] if row.excerpt[-1:] == ((_ON, False),) else row.excerpt
    excerpt = [(text, FOUND if matched else look) for text, matched in pieces]
    said, shown = "".join(text for text, _ in excerpt).rstrip(), row.title.removesuffix("…")
    if not said or not (said.startswith(shown) or shown.startswith(said)):
        dim = [(text, FOUND if matched else "$muted") for text, matched in row.excerpt]
        return [(fit(row.title, room), look)], dim
    if len(shown) > len(said):  # a line of several sentences
        excerpt = [*split_at(excerpt, len(said))[0], (shown[len(said) :], look)]
    # The first line of a note of several may be shorter than what is shown of it.
    title, rest = split_at(excerpt, len(shown))
    first, cut = fitted([*title, ("…", look)] if shown != row.title else title, room)
    left = [(text, each if each == FOUND else "$muted") for text, each in [*cut, *rest]]
    if left:
        left[0] = left[0][0].lstrip(), left[0][1]
    return first, left


def _tail(row: Row, plan: set[str], year: int) -> list[Piece]:
    """What stands right of the title; of a note in a catalog that, not how well it is kept there."""
    tail: list[Piece] = []
    if row.waiting:
        tail.append((f" {WAITING}", "$warning"))
    if row.pinned:
        tail.append((f" {PINNED}", "$accent"))
    if row.catalog:
        if "author" in plan:
            tail.append((f" {fit(row.catalog, min(_CATALOG, cell_len(row.catalog)))}", "$secondary"))
        plan = plan - {"strength", "layer", "links"}
    if "strength" in plan:
        strong = "$success" if row.long_term else "$secondary"
        if "bars" in plan:
            tail += [(f" {BARS[: row.level]}", strong), (UNLIT * (len(BARS) - row.level), "$panel-lighten-1")]
        else:
            tail.append((f" {BARS[row.level - 1] if row.level else ' '}", strong))
    if "layer" in plan:
        tail.append((" L" if row.long_term else " s", "$muted"))
    if "links" in plan:
        number = str(row.links) if row.links < 1000 else f"{row.links // 1000}k"
        tail.append((f"{f'{number}↔' if row.links else '':>5}", "$muted"))
    if "date" in plan and row.score is not None:
        tail.append((f"{row.score:>6.2f}", "$primary"))
        if "whole_date" in plan:
            tail.append((" " * 5, ""))
    elif "whole_date" in plan:
        tail.append((f" {row.at.year:04}-{row.at:%m-%d}", "$muted"))
    elif "date" in plan:
        tail.append((f" {row.at:%m-%d}" if row.at.year == (year or row.at.year) else f"  {row.at.year:04}", "$muted"))
    return [*tail, (" ", "")]


#: A click on so many cells at the left marks the row.
_MARGIN = 2


class NoteList(PagedList[Row | None]):
    """Rows by their place, 0 the first; None for a note that was destroyed since.

    `marked` are the ids that are ticked, `year` the one whose dates need not say it, `empty` stands in an empty list.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open", "Read", show=False)]
    year: reactive[int] = reactive(0)

    @dataclass
    class Ticked(Message):
        """A click in the margin of this row."""

        row: Row

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.marked: set[str] = set()

    def show(
        self,
        count: int,
        pages: Mapping[int, Sequence[Row | None]],
        *,
        place: int = 0,
        explained: bool = False,
        steady: bool = False,
    ) -> None:
        """Replace what is listed and put the cursor at `place`; `explained` gives each row two lines, as hits need.

        `steady` keeps the row under the cursor where it is on the screen, or the top where the list stands at its top.
        """
        self._row_height = 2 if explained else 1
        self.replace(count, pages)
        self.put_cursor(place, steady=steady)

    def tick(self, ids: set[str]) -> None:
        self.marked = ids
        self.refresh()

    def clicked(self, x: int, *, again: bool, double: bool) -> None:
        if x < _MARGIN and self.line is not None:
            self.post_message(self.Ticked(self.line))
        else:
            super().clicked(x, again=again and double, double=double)

    def pieces(self, place: int, part: int, width: int) -> Sequence[Piece]:
        row = self.entry_at(place)
        if row is None:
            self.want()
            return [("   …" if part == 0 else "", "$muted")]
        if part:
            return below(row, width)
        # A scrollbar stands where a row would end with a blank.
        return laid_out(row, width + self.show_vertical_scrollbar, marked=row.id in self.marked, year=self.year)
