"""Beside the conversation: what was recalled for a turn and why, and what was learnt from it, each undoable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from amem.conversation.chat_learning import Learned, LearnedKind
from amem.conversation.reply import LEARNING, grouped
from amem.labels import counted
from amem_tui.formatting import GLYPHS, day, one_line, title
from amem_tui.page import Block, Page, ToNote, entry, remark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from amem.conversation.reply import Recalled
    from amem.conversation.session import TurnDetail
    from amem_tui.page import Part


_TITLE, _WHY = 90, 160
_SIGNS = {
    LearnedKind.REMEMBERED: ("+", "$success"),
    LearnedKind.CHANGED: ("~", "$warning"),
    LearnedKind.SUPERSEDED: ("×", "$error"),
    LearnedKind.FORGOTTEN: ("-", "$error"),
}


@dataclass(frozen=True, slots=True, eq=False)
class ToLearned(ToNote):
    """A note of which something was learnt, and what."""

    learned: Learned | None = None


class RecallPanel(Page):
    """An entry for each note; those that were learnt know the operation that takes them back."""

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="panel")
        self._zone = zone
        self._learned: list[Learned] = []

    def on_mount(self) -> None:
        self.border_title = "Learnt and recalled"

    @property
    def note(self) -> str | None:
        """The id of the note under the cursor."""
        return self.chosen.id if isinstance(self.chosen, ToNote) else None

    @property
    def undoable(self) -> int | None:
        """What `u` takes back: the learnt line under the cursor, else the newest thing that was learnt here."""
        if self.has_focus and isinstance(self.chosen, ToLearned) and self.chosen.learned is not None:
            return None if self.chosen.learned.undone else self.chosen.learned.operation
        return max((each.operation for each in self._learned if not each.undone), default=None)

    async def show_turn(self, detail: TurnDetail, *, waiting: bool = False) -> None:
        """Show what belongs to a turn; `waiting` says that nobody knows yet what was learnt."""
        turn = "" if detail.number is None else f" for turn {detail.number}"
        self.border_title = Content(f"Learnt and recalled{turn}")
        self._learned = [each for taught in detail.taught for each in taught.notes]
        before = self.chosen
        await self.show([*self._lessons(detail, waiting), *self._recalled(detail)], choose=True, about=detail.number)
        if isinstance(before, ToNote):  # it stays on its note, which may have moved
            same = (n for n, each in enumerate(self.sheet.choices) if _same(each.destination, before))
            self.select(next(same, 0 if self.sheet.choices else None))

    def _recalled(self, detail: TurnDetail) -> Iterator[Part]:
        if detail.unanswered and detail.recalled:
            yield remark("No model answered.")
        elif detail.in_memory is False:
            yield remark("Not in memory: nothing recalled supports an answer.", "$warning")
        elif detail.in_memory:
            yield remark("✓ marks what an answer can rest on.")
        for group in grouped(detail.recalled, shown=detail.shown):
            yield _heading(group.title[0].upper() + group.title[1:])
            for each in group.notes:
                yield self._entry(each, whole=group.whole)
        if not detail.recalled:
            yield _heading("Recalled")
            yield remark(
                "Nothing was recalled." if detail.number else "Notes that come to mind for a question, and why."
            )

    def _entry(self, each: Recalled, *, whole: bool) -> Block:
        said = "(purged since)" if each.purged else one_line(title(each.text), _TITLE)
        score = f"{each.score:.2f} " if each.part == "recalled" else ""
        mark = ("✓ " if each.supports else "  ", "$success")
        head = Content.assemble(mark, (score, "$secondary"), (said, "bold" if whole else ""))
        if not whole:
            return entry(head, ToNote(each.note))
        kind = f"{GLYPHS[each.kind]} {each.kind}" if each.kind else ""
        about = "  ".join(part for part in (day(each.at, self._zone) if each.at else "", kind) if part)
        why = [Content.styled(line, "$muted") for line in (about, one_line(each.why, _WHY)) if line]
        return entry(head, ToNote(each.note), *why)

    def _lessons(self, detail: TurnDetail, waiting: bool) -> Iterator[Part]:
        links = sum(taught.links for taught in detail.taught)
        yield _heading(f"Learnt, {counted(links, 'link')}" if links else "Learnt")
        for each in self._learned:
            yield entry(_lesson(each), ToLearned(each.note, learned=each))
        if waiting:
            yield remark("Learning from what was said…")
        elif detail.learning in LEARNING and detail.number is not None:
            yield remark(f"{LEARNING[detail.learning].capitalize()}.")
        elif not self._learned:
            yield remark("Nothing." if detail.number else "Notes made of what you say. u takes each of them back.")


def _same(one: object, other: ToNote) -> bool:
    return type(one) is type(other) and isinstance(one, ToNote) and one.id == other.id


def _lesson(each: Learned) -> Content:
    sign, colour = _SIGNS[each.lesson]
    said = one_line(title(each.text), _TITLE) if each.text else "(purged since)"
    how = "taken back" if each.undone else str(each.lesson)
    return Content.assemble(
        (f"{sign} ", "$muted" if each.undone else colour),
        (f"{how}  ", "$muted"),
        (said, "$muted strike" if each.undone else ""),
    )


def _heading(words: str) -> Block:
    return remark(words, "bold $primary")
