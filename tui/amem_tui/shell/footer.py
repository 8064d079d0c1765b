"""The line below every screen: the keys that do something now, the most important first, and where to find the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events, on
from textual.content import Content
from textual.widgets import Footer, Static

from amem_tui.shell.key_lists import display

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import Binding
    from textual.screen import Screen

_HELP = "keys"


@dataclass(frozen=True, slots=True)
class Hint:
    """A key that does something now; `last` stands at the right."""

    key: str
    shown: str
    what: str
    last: bool = False


class KeyHint(Static):
    """A key and what it does; a click presses it."""

    def __init__(self, hint: Hint) -> None:
        super().__init__(
            Content.assemble((hint.shown, "bold $footer-key-foreground"), " ", Content(hint.what)),
            classes="-last" if hint.last else "",
        )
        self._key = hint.key

    @on(events.Click)
    def _press(self) -> None:
        self.app.simulate_key(self._key)


class KeyFooter(Footer):
    """As many keys as there is room for; help stands at the right, where it is always found."""

    def __init__(self) -> None:
        super().__init__(compact=True, show_command_palette=False)
        self._shown: tuple[Hint, ...] = ()
        self._to_renew = False

    def compose(self) -> ComposeResult:
        self._shown = self._hints()
        yield from (KeyHint(hint) for hint in self._shown)

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Look what the keys do now; screens say at every key that is pressed that it may have changed."""
        if screen is self.screen and screen.app.app_focus:
            self._fit()

    async def _renew(self) -> None:
        """Make the line anew where it reads differently."""
        self._to_renew = False
        if self.is_attached and self._hints() != self._shown:
            await self.recompose()

    def _hints(self) -> tuple[Hint, ...]:
        own = {binding.action: place for place, (_, binding) in enumerate(self.screen._bindings)}
        first = getattr(self.screen, "FOOTER", ())
        own |= {action: place - len(first) for place, action in enumerate(first)}
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
        hints = [self._hint(binding) for binding in shown.values()]
        return (*hints, *(() if help_key is None else (self._hint(help_key, last=True),)))

    def _hint(self, binding: Binding, *, last: bool = False) -> Hint:
        return Hint(binding.key, display(self.app, binding), binding.description, last)

    @on(events.Resize)
    def _fit(self) -> None:
        if not self._to_renew:
            self._to_renew = True
            self.call_after_refresh(self._renew)

    def _width(self, binding: Binding) -> int:
        return cell_len(display(self.app, binding)) + cell_len(binding.description) + 3
