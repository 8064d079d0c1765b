"""The line below every screen: the keys that do something now, the most important first, and where to find the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events, on
from textual.content import Content
from textual.widgets import Footer, Static

from amem_tui.shell.key_lists import display

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import Binding

_HELP = "keys"


class KeyHint(Static):
    """A key and what it does; a click presses it."""

    def __init__(self, binding: Binding, shown: str, *, last: bool = False) -> None:
        super().__init__(
            Content.assemble((shown, "bold $footer-key-foreground"), " ", Content(binding.description)),
            classes="-last" if last else "",
        )
        self._key = binding.key

    @on(events.Click)
    def _press(self) -> None:
        self.app.simulate_key(self._key)


class KeyFooter(Footer):
    """As many keys as there is room for; help stands at the right, where it is always found."""

    def __init__(self) -> None:
        super().__init__(compact=True, show_command_palette=False)

    def compose(self) -> ComposeResult:
        own = {binding.action: place for place, (_, binding) in enumerate(self.screen._bindings)}
        active = [each for each in self.screen.active_bindings.values() if each.binding.show and each.enabled]
        active.sort(key=lambda each: own.get(each.binding.action, len(own)))
        help_key = next((each.binding for each in active if each.binding.action == _HELP), None)
        room = self.size.width - (0 if help_key is None else self._width(help_key))
        shown: dict[str, Binding] = {}
        for each in active:
            binding = each.binding
            if binding is help_key or binding.action in shown:
                continue
            room -= self._width(binding)
            if room < 0:
                break
            shown[binding.action] = binding
        for binding in shown.values():
            yield KeyHint(binding, display(self.app, binding))
        if help_key is not None:
            yield KeyHint(help_key, display(self.app, help_key), last=True)

    @on(events.Resize)
    def _fit(self) -> None:
        self.call_after_refresh(self.recompose)

    def _width(self, binding: Binding) -> int:
        return cell_len(display(self.app, binding)) + cell_len(binding.description) + 3
