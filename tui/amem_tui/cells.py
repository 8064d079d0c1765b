"""Text cut and padded by terminal cells, in which a Chinese character or an emoji takes two."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size


def fit(text: str, width: int) -> str:
    """The text in exactly `width` cells: padded with blanks, or cut with an ellipsis."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, max(0, width - 1)).rstrip() + "…", width)
