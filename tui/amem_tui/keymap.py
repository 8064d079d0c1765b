"""Every key there is, by what it does, and a person's own keys in place of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import InvalidInput
from amem_tui.browse import keys as browse
from amem_tui.chat import keys as chat
from amem_tui.graph import keys as graph
from amem_tui.health import keys as health
from amem_tui.history import keys as history
from amem_tui.log import keys as log
from amem_tui.review import keys as review
from amem_tui.shell import keys as shell
from amem_tui.timeline import keys as timeline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.binding import Binding

_ROOMS = (shell, browse, graph, history, timeline, chat, review, log, health)


def every_key() -> dict[str, Binding]:
    """Bindings by id, ``browse.delete``; those of every screen first."""
    return {binding.id: binding for room in _ROOMS for binding in room.KEYS if binding.id is not None}


def own_keys(wanted: Mapping[str, str]) -> dict[str, str]:
    """The keys of the setting ``tui_keys``, as Textual takes them.

    Raises InvalidInput for what names nothing that a key does.
    """
    known = every_key()
    for name in wanted:
        if name not in known:
            raise InvalidInput(
                f"tui_keys: there is nothing called {name!r}", hint=f"for example {', '.join(list(known)[:4])}"
            )
    return dict(wanted)
