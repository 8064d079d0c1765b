"""Lines that begin with what they are about; long ones go on below where they began."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from amem.language.sentences import breaks
from amem.maintenance.health import Line, Mark
from amem_tui.formatting import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.geometry import Size


_MARKS = {Mark.GOOD: ("✓ ", "$success"), Mark.WATCH: ("! ", "$warning"), Mark.PLAIN: ("  ", "")}
_LABEL, _LEAST = 14, 12
_LONGEST = 2_000


class Sayings(Widget):
    """A line is a `Line`, whose `command` is the key to press, or a heading, which may be empty."""

    DEFAULT_CSS = "Sayings { height: auto; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line | str] = ()

    def show(self, lines: Sequence[Line | str]) -> None:
        """Say these."""
        self._lines = lines
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._laid(width))

    def render(self) -> Content:
        return Content("\n").join(self._laid(self.size.width))

    def _laid(self, width: int) -> list[Content]:
        return [row for line in self._lines for row in _rows(line, width)]


def _rows(line: Line | str, width: int) -> list[Content]:
    if isinstance(line, str):
        return [Content.styled(line, "bold $primary")]
    hang = 2 + (_LABEL if width >= 2 * _LABEL + _LEAST else 1)
    what = one_line(line.what, _LONGEST)
    room = max(_LEAST, width - hang - (len(line.command) + 2 if line.command else 0))
    first = room if hang > _LABEL else max(_LEAST, width - 2 - _LABEL)
    starts = [0, *breaks(what, room, first=first), len(what)]
    parts = [what[start:end].rstrip() for start, end in pairwise(starts)]
    label = line.about + " " * max(1, _LABEL - cell_len(line.about))
    key = (f"  {line.command}", "bold $accent") if line.command else ""
    rows = [Content.assemble(_MARKS[line.mark], (label, "bold"), parts[0], key)]
    rows += [Content.assemble(" " * hang, part) for part in parts[1:]]
    return rows
