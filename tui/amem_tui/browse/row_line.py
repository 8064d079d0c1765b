"""The line of a row: as many columns as there is room for, each exactly as wide as planned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.note import Status
from amem_tui.cells import fit, fitted, parted, shortened

if TYPE_CHECKING:
    from amem_tui.browse.rows import Author, Row
    from amem_tui.cells import Piece

AUTHORS: dict[Author, str] = {"person": "●", "agent": "▲", "machine": "◆"}
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
FOUND = "note-list--found"
_INDENT = " " * 5
#: At the end of an excerpt where the note goes on.
_ON = " …"
#: Cells that a title keeps as long as there is a column to give up.
_TITLE = 24
#: What gets room first, in cells: the short date, who wrote it, strength, links, layer, the whole date, four bars.
_COLUMNS = (("date", 6), ("author", 2), ("strength", 2), ("links", 5), ("layer", 2), ("whole_date", 5), ("bars", 3))


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns are shown at a width."""

    width: int
    date: bool = False
    author: bool = False
    strength: bool = False
    links: bool = False
    layer: bool = False
    whole_date: bool = False
    bars: bool = False


@lru_cache(maxsize=64)
def columns(width: int) -> Columns:
    """Those that leave a title its room; from the last to the first they drop out as the list gets narrow."""
    room = width - _TITLE - 4
    shown: set[str] = set()
    for name, cells in _COLUMNS:
        if cells > room:
            break
        room -= cells
        shown.add(name)
    return Columns(width, **dict.fromkeys(shown, True))


def laid_out(row: Row, width: int, *, marked: bool, year: int) -> list[Piece]:
    """The row in `width` cells. Where a date has little room, one of another year than `year` (0: any) shows that."""
    plan = columns(width)
    by = f"note-list--{row.author}"
    head: list[Piece] = [(MARKED if marked else " ", "note-list--mark")]
    if plan.author:
        head += [(f"{AUTHORS[row.author]} ", by), (f"{row.glyph} ", "note-list--glyph")]
    else:
        head.append((f"{row.glyph} ", by))
    tail = _tail(row, plan, year)
    room = max(1, width - sum(len(text) for text, _ in head) - sum(len(text) for text, _ in tail))
    look = f"note-list--{row.status}" if row.status is not Status.ACTIVE else "note-list--dim" if row.faint else ""
    first, _ = _titled(row, room, look)
    return [*head, *first, *tail]


def below(row: Row, width: int) -> list[Piece]:
    """The second line of a hit, in `width` cells: how its sentence goes on, or another one that matched, or why."""
    plan = columns(width)
    taken = (5 if plan.author else 3) + sum(len(text) for text, _ in _tail(row, plan, 0))
    _, rest = _titled(row, max(1, width - taken), "")
    room = max(1, width - len(_INDENT))
    if not "".join(text for text, _ in rest).strip():
        return [(fit(f"{_INDENT}{row.why}", width), "note-list--dim")]
    return [(_INDENT, ""), *shortened(rest, room, show=FOUND)]


def _titled(row: Row, room: int, look: str) -> tuple[list[Piece], list[Piece]]:
    """The title in so many cells, and what of the excerpt is left for the line below it."""
    pieces = row.excerpt[:-1] if row.excerpt[-1:] == ((_ON, False),) else row.excerpt
    excerpt = [(text, FOUND if matched else look) for text, matched in pieces]
    said, shown = "".join(text for text, _ in excerpt).rstrip(), row.title.removesuffix("…")
    if not said or not (said.startswith(shown) or shown.startswith(said)):
        dim = [(text, FOUND if matched else "note-list--dim") for text, matched in row.excerpt]
        return [(fit(row.title, room), look)], dim
    if len(shown) > len(said):  # a line of several sentences
        excerpt = [*parted(excerpt, len(said))[0], (shown[len(said) :], look)]
    # The first line of a note of several may be shorter than what is shown of it.
    title, rest = parted(excerpt, len(shown))
    first, cut = fitted([*title, ("…", look)] if shown != row.title else title, room)
    left = [(text, each if each == FOUND else "note-list--dim") for text, each in [*cut, *rest]]
    if left:
        left[0] = left[0][0].lstrip(), left[0][1]
    return first, left


def _tail(row: Row, plan: Columns, year: int) -> list[Piece]:
    """What stands right of the title; every text here takes one cell a character."""
    tail: list[Piece] = []
    if row.waiting:
        tail.append((f" {WAITING}", "note-list--waiting"))
    if row.pinned:
        tail.append((f" {PINNED}", "note-list--pin"))
    if plan.strength:
        strong = "note-list--long" if row.long_term else "note-list--short"
        if plan.bars:
            tail += [(f" {BARS[: row.level]}", strong), (UNLIT * (len(BARS) - row.level), "note-list--unlit")]
        else:
            tail.append((f" {BARS[row.level - 1] if row.level else ' '}", strong))
    if plan.layer:
        tail.append((" L" if row.long_term else " s", "note-list--dim"))
    if plan.links:
        number = str(row.links) if row.links < 1000 else f"{row.links // 1000}k"
        tail.append((f"{f'{number}↔' if row.links else '':>5}", "note-list--dim"))
    if plan.date and row.score is not None:
        tail.append((f"{row.score:>6.2f}", "note-list--score"))
        if plan.whole_date:
            tail.append((" " * 5, ""))
    elif plan.whole_date:
        tail.append((f" {row.at.year:04}-{row.at:%m-%d}", "note-list--dim"))
    elif plan.date:
        tail.append(
            (f" {row.at:%m-%d}" if row.at.year == (year or row.at.year) else f"  {row.at.year:04}", "note-list--dim")
        )
    return [*tail, (" ", "")]
