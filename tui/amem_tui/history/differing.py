"""A change of text as people see it: what is gone struck in red, what is new in green."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from amem_tui.history.word_diff import Fate, Piece, condensed, list_diff, word_diff
from amem_tui.phrases import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STYLES = {Fate.SAME: "", Fate.REMOVED: "strike $error", Fate.ADDED: "$success", Fate.SKIPPED: "$muted"}


def inline(before: str, after: str, *, around: int | None = None) -> Content:
    """Both texts as one. `around` leaves out what is unchanged, but for so many characters beside a change."""
    pieces = _pieces(before, after, around)
    if [piece.fate for piece in pieces] == [Fate.REMOVED, Fate.ADDED]:
        return Content.assemble(_styled(pieces[0]), (" → ", "$muted"), _styled(pieces[1]))
    return _assembled(pieces)


def sides(before: str, after: str, *, around: int | None = None) -> tuple[Content, Content]:
    """The text before, what is gone marked, and the text after, what is new marked. `around` as for `inline`."""
    pieces = _pieces(before, after, around)
    return (
        _assembled(piece for piece in pieces if piece.fate is not Fate.ADDED),
        _assembled(piece for piece in pieces if piece.fate is not Fate.REMOVED),
    )


def items(before: Sequence[str], after: Sequence[str]) -> tuple[Content, Content, Content]:
    """Two lists, side by side and as one: (before, after, both)."""
    pieces = list_diff([one_line(each, 400) for each in before], [one_line(each, 400) for each in after])
    both = [[each for each in pieces if each.fate is not gone] for gone in (Fate.ADDED, Fate.REMOVED, None)]
    old, new, one = (Content(", ").join([Content.assemble(_styled(each)) for each in some]) for some in both)
    return old, new, one


def _pieces(before: str, after: str, around: int | None) -> tuple[Piece, ...]:
    pieces = word_diff(clean(before), clean(after))
    return pieces if around is None else condensed(pieces, around)


def _assembled(pieces: Iterable[Piece]) -> Content:
    return Content.assemble(*(_styled(piece) for piece in pieces))


def _styled(piece: Piece) -> tuple[str, str]:
    if piece.fate is Fate.SKIPPED:
        return f" … {len(piece.text):,} characters … ", _STYLES[piece.fate]
    # A line break that came or went would otherwise not be seen.
    marked = piece.fate is not Fate.SAME and not piece.text.strip() and "\n" in piece.text
    return (piece.text.replace("\n", "↵\n") if marked else piece.text), _STYLES[piece.fate]
