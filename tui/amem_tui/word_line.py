"""Words on one line that can be clicked: the base of tabs and of the rooms on top."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from rich.cells import cell_len
from textual import events, on
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Names: TypeAlias = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Word:
    """A word, the blanks around it included; what a click on it chooses, "" for nothing."""

    id: str
    text: Content


class WordLine(Widget):
    """Whoever derives from it says what there is room for (`words`) and what a click does (`choose`)."""

    #: The word under the mouse.
    hovered: reactive[str] = reactive("")

    def words(self, width: int) -> Sequence[Word]:
        """From the left, in so many cells; what is beyond them is cut off."""
        raise NotImplementedError

    def choose(self, id: str) -> None:
        """A word was clicked."""
        raise NotImplementedError

    def at(self, x: int) -> str:
        words = self.words(self.size.width)
        stops = accumulate(word.text.cell_length for word in words)
        return next((word.id for word, stop in zip(words, stops, strict=True) if x < stop), "")

    def render(self) -> Content:
        words = self.words(self.size.width)
        return Content("").join(
            [word.text.stylize("underline") if word.id and word.id == self.hovered else word.text for word in words]
        )

    @on(events.Click)
    def _click(self, event: events.Click) -> None:
        if id := self.at(event.x):
            self.choose(id)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.hovered = self.at(event.x)

    def on_leave(self) -> None:
        self.hovered = ""


class TabStrip(WordLine):
    """Pages or panes by their `names`, each with shorter ones for less room; the open one is marked."""

    @dataclass
    class Chosen(Message):
        tab: str

    def __init__(self, names: Names, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._names = names
        self.active = next(iter(names))
        self._counts: Mapping[str, int] = {}

    def mark(self, active: str, counts: Mapping[str, int]) -> None:
        """Say which page is open, and how much there is on the others."""
        if (active, counts) != (self.active, self._counts):
            self.active, self._counts = active, counts
            self.refresh()

    def step(self, by: int) -> str:
        """The id of the tab so many after the open one; the first follows the last."""
        ids = list(self._names)
        return ids[(ids.index(self.active) + by) % len(ids)]

    def choose(self, id: str) -> None:
        self.post_message(self.Chosen(id))

    def words(self, width: int) -> Sequence[Word]:
        labels, gap = tab_labels(self._names, self._counts, self.active, width)
        words = []
        for name, label in zip(self._names, labels, strict=True):
            count = f" {self._counts[name]:,}" if self._counts.get(name) else ""
            shown = Content.styled(f" {label.removesuffix(count)}", "$muted") + Content.styled(count, "$foreground")
            text = shown.pad_right(gap - 1)
            here = Content.styled(text.plain, "bold $primary on $panel")
            words.append(Word(name, here if name == self.active else text))
        return _in_sight(words, next(at for at, word in enumerate(words) if word.id == self.active), width)


def tab_labels(names: Names, counts: Mapping[str, int], active: str, width: int) -> tuple[list[str], int]:
    """What the tabs say, and the cells between two, where they can be made to fit `width` cells."""
    brevity = dict.fromkeys(names, 0)
    most = max(map(len, names.values()))
    # The open one keeps its name as long as the others can still be shortened.
    shorter = [(id, n) for n in range(1, most) for id in reversed(names) if id != active]
    shorter.append((active, most - 1))
    gap = 2
    while True:
        said = (forms[min(brevity[id], len(forms) - 1)] for id, forms in names.items())
        labels = [f"{form} {counts[id]:,}" if counts.get(id) else form for id, form in zip(names, said, strict=True)]
        if sum(map(cell_len, labels)) + gap * len(labels) <= width or (gap == 1 and not shorter):
            return labels, gap
        if gap == 1:
            id, shortened = shorter.pop(0)
            brevity[id] = shortened
        gap = 1


def _in_sight(words: Sequence[Word], place: int, width: int) -> Sequence[Word]:
    """The words that fit, the one at a place first and then those nearest to it; arrows where there are more."""
    cells = [word.text.cell_length for word in words]
    if sum(cells) <= width:
        return words
    shown = [place]
    for at in sorted(range(len(words)), key=lambda at: abs(at - place)):
        beside = at in (shown[0] - 1, shown[-1] + 1)
        if beside and sum(cells[each] for each in (*shown, at)) <= width - 2:
            shown = sorted([*shown, at])
    before = [Word(words[shown[0] - 1].id, Content.styled("‹", "$muted"))] if shown[0] else []
    after = [Word(words[shown[-1] + 1].id, Content.styled("›", "$muted"))] if shown[-1] < len(words) - 1 else []
    return [*before, *(words[each] for each in shown), *after]
