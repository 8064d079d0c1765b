"""A screen with an open note on it: its pages by key, and links made and taken away."""

from __future__ import annotations

from functools import partial

from amem_tui import changes
from amem_tui.browse.note_pane import NotePane
from amem_tui.browse.pane.link_picker import LinkPicker
from amem_tui.notes_screen import NotesScreen


class ReadingScreen(NotesScreen):
    """Answers `PANE_KEYS`."""

    @property
    def _pane(self) -> NotePane:
        return self.query_one(NotePane)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without a note there are no pages, and without a chosen link there is none to take away."""
        if action in ("tab", "link", "unlink"):
            shown = self.query(NotePane)  # none before the screen is furnished
            return any(pane.chosen_link if action == "unlink" else pane.dossier for pane in shown)
        return super().check_action(action, parameters)

    def action_tab(self, by: int) -> None:
        self._pane.action_step_tab(by)

    def action_link(self) -> None:
        if self._pane.dossier is not None:
            self.app.push_screen(LinkPicker(self._desk, self._pane.dossier.note))

    def action_unlink(self) -> None:
        if (link := self._pane.chosen_link) is not None:
            self.change(partial(changes.unlink, self.memory, link))
