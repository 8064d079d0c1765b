"""Changes of a note's fields, with marks of what is gone and what is new, as parts of a page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual.content import Content

from amem.note_changes import (
    DiffKind,
    Piece,
    condensed,
    field_name,
    field_parts,
    field_words,
    list_diff,
    ordered_fields,
    word_diff,
)
from amem.storage.operations import Operation, Version
from amem.summaries import deed, deed_of
from amem_tui.formatting import clean, maker, moment, one_line
from amem_tui.page import Block, remark, side_by_side, space

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import tzinfo

    from amem_tui.page import Line


_STYLES = {DiffKind.SAME: "", DiffKind.REMOVED: "strike $error", DiffKind.ADDED: "$success", DiffKind.SKIPPED: "$muted"}


def changed_text(before: str, after: str, *, around: int | None = None) -> tuple[Content, Content, Content]:
    """Before, with what is gone marked, after, with what is new marked, and both as one; `around` as in `condensed`."""
    pieces = word_diff(clean(before), clean(after))
    if around is not None:
        pieces = condensed(pieces, around)
    arrow = [(" → ", "$muted")] if [each.kind for each in pieces] == [DiffKind.REMOVED, DiffKind.ADDED] else []
    old, new, both = _sides(pieces)
    both = [*old, *arrow, *new] if arrow else both
    return Content.assemble(*old), Content.assemble(*new), Content.assemble(*both)


def items(before: Sequence[str], after: Sequence[str]) -> tuple[Content, Content, Content]:
    """Two lists, side by side and as one: (before, after, both)."""
    pieces = list_diff([one_line(each, 400) for each in before], [one_line(each, 400) for each in after])
    old, new, both = (Content(", ").join(map(Content.assemble, some)) for some in _sides(pieces))
    return old, new, both


def _sides(pieces: Sequence[Piece]) -> list[list[tuple[str, str]]]:
    """Before, after, and both, each piece with its style."""
    left_out = (DiffKind.ADDED, DiffKind.REMOVED, None)
    return [[_styled(each) for each in pieces if each.kind is not gone] for gone in left_out]


def _styled(piece: Piece) -> tuple[str, str]:
    if piece.kind is DiffKind.SKIPPED:
        return f" … {len(piece.text):,} characters … ", _STYLES[piece.kind]
    # A line break that came or went would otherwise not be seen.
    marked = piece.kind is not DiffKind.SAME and not piece.text.strip() and "\n" in piece.text
    return (piece.text.replace("\n", "↵\n") if marked else piece.text), _STYLES[piece.kind]


def operation_head(each: Operation | Version, number: int, cause: str, zone: tzinfo, *more: Content) -> Block:
    """Who did something, when and why, as the operation of this number, and what the model was asked."""
    undone = isinstance(each, Operation) and each.undone
    when = f"  {moment(each.at, zone)}  operation {number}"
    did = deed_of(each) if isinstance(each, Operation) else deed(each.action)
    done = (f"  {did}", "bold strike" if undone else "bold"), ("  undone" if undone else "", "$warning")
    lines = [Content.assemble(maker(each.actor), *done, (when, "$muted"))]
    if cause:
        lines.append(Content(one_line(cause, 400)))
    lines += more
    if each.prompts:
        lines.append(Content.styled(f"prompts: {one_line(each.prompts)}", "$muted"))
    return Block(Content("\n").join(lines))


#: A list of so many characters goes on one line.
_SHORT = 60
_TEXTS = ("content", "context")
_GONE, _NEW = "strike $error", "$success"
#: From so many cells on there is room for two columns.
_BESIDE = 52


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A part of a page: what a field was, is, and both as one. A `long` one has two columns where there is room."""

    name: str
    before: Content
    after: Content
    both: Content
    long: bool

    def lines(self, width: int) -> Iterator[Line]:
        """Its name, and below it what became of it."""
        yield from remark(self.name, "bold $secondary").lines(width)
        if self.long and width >= _BESIDE:
            yield from side_by_side([Block(self.before), Block(self.after)], [width // 2 - 1] * 2)
        else:
            yield from Block(self.both).lines(width)
        yield from space().lines(width)


def compared(
    changes: Mapping[str, tuple[Any, Any]],
    zone: tzinfo,
    titles: Mapping[str, str],
    *,
    around: int | None = None,
    beside: bool = True,
) -> list[FieldChange]:
    """The changed fields, those that say most first; none in two columns but with `beside`."""
    found = [_compared(field, *changes[field], zone, titles, around) for field in ordered_fields(changes)]
    return found if beside else [replace(each, long=False) for each in found]


def _compared(
    field: str, before: Any, after: Any, zone: tzinfo, titles: Mapping[str, str], around: int | None
) -> FieldChange:
    if isinstance(before, list | dict) or isinstance(after, list | dict):
        old, new, both = items(*(field_parts(field, value or [], zone) for value in (before, after)))
        return FieldChange(field_name(field), old, new, both, long=len(both.plain) > _SHORT)
    was, became = (field_words(field, value, zone, titles) for value in (before, after))
    if field in _TEXTS:
        return FieldChange(field_name(field), *changed_text(was, became, around=around), long=True)
    was, became = one_line(was, 400), one_line(became, 400)
    old, new = Content.styled(was, _GONE), Content.styled(became, _NEW)
    arrow = [Content.styled(" → ", "$muted")] if was and became else []
    return FieldChange(field_name(field), old, new, Content("").join([old, *arrow, new]), long=False)
