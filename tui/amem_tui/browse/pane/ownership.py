"""Whose words the fields of a note are: a person's, an agent's, or what a model or a rule concluded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem_tui.browse.pane.asked import Dossier

_PERSON, _AGENT, _MACHINE = ("●", "$success"), ("▲", "$primary"), ("◆", "$accent")
LEGEND = (
    (*_PERSON, "in a person's words"),
    (*_AGENT, "in an agent's"),
    (*_MACHINE, "concluded by a model or a rule"),
)


def mark(field: str, dossier: Dossier, owned: Mapping[str, str]) -> Content:
    """The sign of whose words a field's are, and a blank; `owned` is what `memory.owned_fields` says."""
    how = owned.get(field)
    if how == "edited":
        return Content.styled(f"{_PERSON[0]} ", _PERSON[1])
    sign, colour = of_actor(dossier.around.author) if how == "given" else _MACHINE
    return Content.styled(f"{sign} ", colour)


def of_actor(actor: str) -> tuple[str, str]:
    """The sign and the colour of somebody who writes."""
    return {"user": _PERSON, "agent": _AGENT}.get(actor.split(":")[0], _MACHINE)


def legend(used: str) -> Content:
    """What the signs that were used mean."""
    said = [Content.assemble((f"{sign} ", colour), (words, "$muted")) for sign, colour, words in LEGEND if sign in used]
    return Content("   ").join(said)
