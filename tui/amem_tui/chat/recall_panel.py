"""Beside the conversation: what was recalled for a turn and why, and what was learnt from it, each undoable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from amem.conversation.learned import LearnedKind
from amem.conversation.reply import LEARNING, grouped
from amem_tui.formatting import GLYPHS, day, folded, one_line, plural, title

if TYPE_CHECKING:
    from datetime import tzinfo

    from amem.conversation.learned import Learned
    from amem.conversation.reply import Recalled
    from amem.conversation.session import TurnDetail


_TITLE, _WHY = 90, 160
_SIGNS = {
    LearnedKind.REMEMBERED: ("+", "$success"),
    LearnedKind.CHANGED: ("~", "$warning"),
    LearnedKind.SUPERSEDED: ("×", "$error"),
    LearnedKind.FORGOTTEN: ("-", "$error"),
}


class RecallPanel(OptionList):
    """A line for each note; those that were learnt know the operation that takes them back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
    ]

    @dataclass
    class Opened(Message):
        note: str

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="panel", compact=True)
        self._zone = zone
        self._learnt: dict[str, Learned] = {}
        self._notes: dict[str, str] = {}
        self._shown: tuple[TurnDetail, bool] | None = None
        self._width = 0

    def on_resize(self) -> None:
        if self._shown is not None and self.scrollable_content_region.width != self._width:
            detail, waiting = self._shown
            self.show(detail, waiting=waiting)

    def on_mount(self) -> None:
        self.border_title = "Learnt and recalled"

    @property
    def note(self) -> str | None:
        chosen = self.highlighted_option
        return None if chosen is None or chosen.id is None else self._notes.get(chosen.id)

    @property
    def undoable(self) -> int | None:
        """What `u` takes back: the learnt line under the cursor, else the newest thing that was learnt here."""
        chosen = self.highlighted_option
        if self.has_focus and chosen is not None and chosen.id in self._learnt:
            learnt = self._learnt[chosen.id]
            return None if learnt.undone else learnt.operation
        return max((each.operation for each in self._learnt.values() if not each.undone), default=None)

    def show(self, detail: TurnDetail, *, waiting: bool = False) -> None:
        """Show what belongs to a turn; `waiting` says that nobody knows yet what was learnt."""
        before, place = self.highlighted_option, self.scroll_offset
        self._shown, self._width = (detail, waiting), self.scrollable_content_region.width
        self._learnt, self._notes = {}, {}
        self.clear_options()
        turn = "" if detail.number is None else f" for turn {detail.number}"
        self.border_title = Content(f"Learnt and recalled{turn}")
        self.add_options([*self._lessons(detail, waiting), *self._recalled(detail)])
        ids = [option.id for option in self.options]
        if before is not None and before.id is not None and before.id in ids:
            self.highlighted = ids.index(before.id)
            self.scroll_to(place.x, place.y, animate=False)
        else:
            self.highlighted = next((at for at, option in enumerate(self.options) if not option.disabled), None)
            self.scroll_home(animate=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_id is not None and event.option_id in self._notes:
            self.post_message(self.Opened(self._notes[event.option_id]))

    # -- lines -------------------------------------------------------------------------------------------------

    def _recalled(self, detail: TurnDetail) -> list[Option]:
        options: list[Option] = []
        if detail.unanswered and detail.recalled:
            options.append(_words("No model answered.", "$muted"))
        elif detail.in_memory is False:
            options.append(_words("Not in memory: nothing recalled supports an answer.", "$warning"))
        elif detail.in_memory:
            options.append(_words("✓ marks what an answer can rest on.", "$muted"))
        for group in grouped(detail.recalled, shown=detail.shown):
            options.append(_heading(group.title[0].upper() + group.title[1:]))
            for each in group.notes:
                id = f"recalled {each.part} {each.note}"
                self._notes[id] = each.note
                options.append(Option(self._line(each, whole=group.whole), id=id))
        if not detail.recalled:
            said = "Nothing was recalled." if detail.number else "Notes that come to mind for a question, and why."
            options += [_heading("Recalled"), *_sentence(said, self._width)]
        return options

    def _line(self, each: Recalled, *, whole: bool) -> Content:
        said = "(purged since)" if each.purged else one_line(title(each.text), _TITLE)
        score = f"{each.score:.2f} " if each.part == "recalled" else ""
        head = Content.assemble(
            ("✓ " if each.supports else "  ", "$success"), (score, "$secondary"), (said, "bold" if whole else "")
        )
        if not whole:
            return head
        kind = f"{GLYPHS[each.kind]} {each.kind}" if each.kind else ""
        about = "  ".join(part for part in (day(each.at, self._zone) if each.at else "", kind) if part)
        under = [about, *folded(one_line(each.why, _WHY), self._width - 4)]
        return Content("\n").join([head, *(Content.assemble((f"  {line}", "$muted")) for line in under if line)])

    def _lessons(self, detail: TurnDetail, waiting: bool) -> list[Option]:
        options: list[Option] = []
        lessons = [(taught, each) for taught in detail.taught for each in taught.notes]
        links = sum(taught.links for taught in detail.taught)
        options.append(_heading(f"Learnt, {plural(links, 'link')}" if links else "Learnt"))
        for taught, each in lessons:
            id = f"learnt {taught.operation} {each.note}"
            self._notes[id], self._learnt[id] = each.note, each
            options.append(Option(_lesson(each), id=id))
        if waiting:
            options.append(_words("Learning from what was said…", "$muted"))
        elif detail.learning in LEARNING and detail.number is not None:
            options.append(_words(f"{LEARNING[detail.learning].capitalize()}.", "$muted"))
        elif not lessons:
            said = "Nothing." if detail.number else "Notes made of what you say. u takes each of them back."
            options += _sentence(said, self._width)
        return options


def _lesson(each: Learned) -> Content:
    sign, colour = _SIGNS[each.lesson]
    said = one_line(title(each.text), _TITLE) if each.text else "(purged since)"
    how = "taken back" if each.undone else str(each.lesson)
    return Content.assemble(
        (f"{sign} ", "$muted" if each.undone else colour),
        (f"{how}  ", "$muted"),
        (said, "$muted strike" if each.undone else ""),
    )


def _heading(words: str) -> Option:
    return Option(Content.assemble((words, "bold $primary")), disabled=True)


def _sentence(words: str, width: int) -> list[Option]:
    return [_words(line, "$muted") for line in folded(words, width - 2)]


def _words(words: str, colour: str) -> Option:
    return Option(Content.assemble((words, colour)), disabled=True)
