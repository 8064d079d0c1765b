"""How things look: Rich on a terminal, tab-separated lines in a pipe, JSON when asked."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from amem.labels import short_id as short_id
from amem.labels import short_ids as short_ids
from amem.visible import escaped_json, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime, tzinfo

    from rich.console import Console, RenderableType
    from rich.style import StyleType
    from rich.text import Text

#: Cells between two columns of a table, and at its edges.
_GAP, _EDGES = 3, 2
#: The column that takes what room is left is of use from so many cells on.
_READABLE = 24
#: Columns that are never broken into lines.
_WHOLE = ("id", "when", "kind", "op", "version", "model")


def say(text: str, *, flush: bool = False) -> None:
    """Print a line of standard output, with control characters shown: a note must not be able to drive the terminal."""
    print(visible(text), flush=flush)


def print_json(value: Any) -> None:
    """The value as indented JSON, letters of every script as themselves."""
    print(escaped_json(json.dumps(value, ensure_ascii=False, indent=2)))


def json_line(value: Any) -> str:
    """The value as one line of JSON Lines."""
    return escaped_json(json.dumps(value, ensure_ascii=False))


def on_terminal() -> bool:
    """Whether standard output is a terminal that a person reads."""
    return sys.stdout.isatty()


def console() -> Console:
    """Standard output as Rich sees it; nothing in a note is taken for markup."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def in_words(value: Any) -> str:
    """A field's value for people, without the marks of a programming language."""
    if isinstance(value, dict) and {"text", "until", "then"} <= value.keys():  # an overturned statement
        from amem.rendering import mark
        from amem.storage.rows import overturned_of

        return f"“{value['text']}” {mark(overturned_of(value))}"
    if isinstance(value, dict) and {"root", "path", "heading"} <= value.keys():  # where a note stands in a file
        heading = f", under {value['heading']}" if value["heading"] else ""
        return f"{value['root']}/{value['path']}{heading}"
    if isinstance(value, dict):
        return "; ".join(f"{name}: {in_words(each)}" for name, each in value.items()) or "(none)"
    if isinstance(value, list | tuple):
        return ", ".join(map(in_words, value)) or "(none)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "(none)" if value in (None, "") else str(value)


def one_line(text: str, width: int | None = None) -> str:
    """The text on one line, cut to `width` terminal cells."""
    line = " ".join(visible(text).split())
    return line if width is None else cut(line, width)


def cut(line: str, width: int) -> str:
    """At most `width` terminal cells of a line; Chinese characters take two."""
    from rich.cells import cell_len, set_cell_size

    return line if cell_len(line) <= width else f"{set_cell_size(line, width - 1).rstrip()}…"


def cell_width(line: str) -> int:
    """How many terminal cells a line takes; Chinese characters take two."""
    from rich.cells import cell_len

    return cell_len(line)


def when(at: datetime | None, zone: tzinfo, *, minutes: bool = True) -> str:
    """A time in the reader's zone, to the minute or the day; empty for None."""
    if at is None:
        return ""
    return at.astimezone(zone).strftime("%Y-%m-%d %H:%M" if minutes else "%Y-%m-%d")


def count(number: int, what: str, many: str | None = None) -> str:
    """``1 note``, ``1,451 notes``."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def styled(*parts: str | tuple[str, StyleType]) -> Text:
    """Plain and styled parts as one text, control characters shown."""
    from rich.text import Text

    made = Text()
    for part in parts:
        text, style = (part, "") if isinstance(part, str) else part
        made.append(visible(text), style)
    return made


def print_wrapped(out: Console, text: Text, *, indent: int = 0, hanging: int = 0) -> None:
    """The text in lines that fit, indented, those after the first by `hanging` more; Chinese breaks anywhere."""
    from amem.text.breaking import breaks

    first, later = " " * indent, " " * (indent + hanging)
    room = max(20, out.width - indent - hanging)
    for number, line in enumerate(text.divide(breaks(text.plain, room, first=room + hanging))):
        line.rstrip()
        out.print(styled(later if number else first) + line, soft_wrap=True)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    wide: str = "",
    spare: Sequence[str] = (),
    title: str = "",
) -> None:
    """A table on a terminal, with the column `wide` taking what room is left; tab-separated lines in a pipe.

    Where a terminal is too narrow, the columns of `spare` are left out, the first one first.
    """
    if not on_terminal():
        for row in rows:
            print("\t".join(one_line(cell) for cell in row))
        return
    out = console()
    cells = [tuple(one_line(cell) for cell in row) for row in rows]
    kept = fitting(columns, cells, out.width, wide=wide, spare=spare)
    shown = [[row[place] for place in kept] for row in cells]
    out.print(table([columns[place] for place in kept], shown, wide=wide, title=title))


def fitting(
    columns: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, wide: str, spare: Sequence[str]
) -> list[int]:
    """Places of the columns that fit into `width` cells, with room to read the one called `wide`."""
    from rich.cells import cell_len

    needed = [
        _READABLE if name == wide else max(map(cell_len, (name, *(row[place] for row in rows))))
        for place, name in enumerate(columns)
    ]
    kept = list(range(len(columns)))
    for name in spare:
        if sum(needed[place] for place in kept) + _GAP * (len(kept) - 1) + _EDGES <= width:
            break
        kept.remove(list(columns).index(name))
    return kept


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, wide: str = "", title: str = "") -> RenderableType:
    """The table, as Rich draws it."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, pad_edge=False, title=title or None, title_justify="left", title_style="bold")
    for column in columns:
        if column == wide:
            made.add_column(column, ratio=1, overflow="ellipsis", no_wrap=True)
        else:
            made.add_column(column, no_wrap=column in _WHOLE, overflow="fold")
    made.expand = bool(wide)
    for row in rows:
        made.add_row(*(styled(one_line(cell)) for cell in row))
    return made
