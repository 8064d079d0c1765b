"""Changes of fields as people read them, struck in red and new in green."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from amem_tui.history.word_diff import Fate, Piece, condensed, list_diff, word_diff
from amem_tui.phrases import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.widget import Widget

    from amem_tui.history.field_values import FieldChange


# A change of text as people see it: what is gone struck in red, what is new in green.

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


# Changes of fields as people read them: beside each other where there is room, else as one text.


class ChangesView(VerticalScroll):
    """Shows one change at a time; it scrolls with the keys of every scrolling pane once it has the focus."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="changes")
        self._shown: object = None

    async def show(self, blocks: Sequence[Widget], *, about: object = None) -> None:
        """Replace what is shown. The place in it is kept while it is `about` the same."""
        same = about is not None and about == self._shown
        self._shown = about
        place = self.scroll_y
        async with self.batch():
            await self.remove_children()
            await self.mount_all(blocks)
        self.scroll_to(y=place if same else 0, animate=False)

    async def say(self, words: str | Content) -> None:
        """Show a sentence alone."""
        await self.show([said(words)], about=str(words))


def said(words: str | Content, classes: str = "said") -> Static:
    """A line or more of words."""
    return Static(Content(words) if isinstance(words, str) else words, classes=classes, markup=False)


def field_blocks(changes: Iterable[FieldChange], *, beside: bool = True) -> list[Widget]:
    """Each changed field under its name; long ones in two columns where the screen is wide, and `beside` is asked."""
    blocks: list[Widget] = []
    for change in changes:
        blocks.append(said(change.name, "field-name"))
        if beside and change.long:
            columns = (said(change.before, "column"), said(change.after, "column"))
            blocks.append(Horizontal(*columns, classes="columns"))
            blocks.append(said(change.both, "both -narrow-only"))
        else:
            blocks.append(said(change.both, "both"))
    return blocks
