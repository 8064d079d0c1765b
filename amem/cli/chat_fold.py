"""Text that is still being written, folded at words as it arrives.

A terminal breaks a line wherever it ends. This breaks between words, and between Chinese characters but not before
punctuation, and it indents every line: only amem's own lines begin at the edge, so that no model can imitate them.
"""

from __future__ import annotations

from amem.text.breaking import may_break
from amem.visible import visible

_TAB = " " * 4
_NARROWEST = 8


class Folder:
    """Takes text in pieces and gives it back folded to `width` cells, all lines indented by `indent` spaces.

    What cannot be placed yet, because the word may go on, is held back; `end` gives the rest. Control characters are
    shown, not obeyed.
    """

    def __init__(self, width: int, *, indent: int = 2) -> None:
        self._indent = " " * indent
        self._room = max(width - indent, _NARROWEST)
        self._taken = 0
        self._line_begun = False
        self._spaces = ""
        self._word = ""
        self._size = 0
        self._cut = False

    def feed(self, text: str) -> str:
        """What of the text so far can be shown."""
        from rich.cells import get_character_cell_size

        shown: list[str] = []
        for char in visible(text.replace("\r", "").replace("\t", _TAB)):
            if char == "\n":
                shown.append(self._place() + "\n")
                self._taken, self._spaces, self._line_begun = 0, "", False
            elif char.isspace():
                shown.append(self._place())
                self._spaces += char
            else:
                if self._word and may_break(self._word[-1], char):
                    shown.append(self._place())
                self._word += char
                self._size += get_character_cell_size(char)
                if self._size > self._room:
                    shown.append(self._place(cut=True))
        return "".join(shown)

    def end(self) -> str:
        """The rest; the text is over."""
        return self._place()

    def _place(self, *, cut: bool = False) -> str:
        """The word that is held back, on this line or the next; one longer than a line is `cut`, its rest follows."""
        if not self._word:
            self._cut = False
            return ""
        before = "" if self._cut else self._go_to_word()
        word = self._filling(self._word)
        self._word, self._size, self._cut = "", 0, cut
        return before + word

    def _go_to_word(self) -> str:
        from rich.cells import cell_len

        # Spaces at the beginning of a line that the writer began are indentation; at a fold they are not needed.
        spaces, self._spaces = self._spaces, ""
        if not self._line_begun:
            self._line_begun = True
            spaces = spaces[: (self._room - _NARROWEST) // 2] if cell_len(spaces) > self._room - _NARROWEST else spaces
            self._taken = cell_len(spaces)
            return self._indent + spaces
        if self._taken + cell_len(spaces) + self._size > self._room:
            self._taken = 0
            return f"\n{self._indent}"
        self._taken += cell_len(spaces)
        return spaces

    def _filling(self, word: str) -> str:
        from rich.cells import get_character_cell_size

        shown: list[str] = []
        for char in word:
            size = get_character_cell_size(char)
            if self._taken + size > self._room:
                shown.append(f"\n{self._indent}")
                self._taken = 0
            shown.append(char)
            self._taken += size
        return "".join(shown)
