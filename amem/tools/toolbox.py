"""The toolbox: the memory tools that one agent may call on one collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem import checks
from amem.checks import checked
from amem.errors import AmemError, InvalidInput
from amem.note import EVERYONE
from amem.tools import changing, finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.memory_system import AgenticMemorySystem
    from amem.scoped import ScopedMemory
    from amem.tools.tool import Tool

_PREFIX = "memory_"
EVERY = {tool.name: tool for tool in (*finding.TOOLS, *changing.TOOLS)}
#: What a function-calling model is given where its program picks nothing else.
_USUAL = ("add", "search", "context", "read", "update", "delete", "links")


class Toolbox:
    """The memory tools of one collection. What they change is logged as done by `actor` and can be undone.

    Of a `ScopedMemory` (see `AgenticMemorySystem.scoped`) they add notes under its ids, and find, show and change no
    others: whose notes they are is for the program to say, not for the model. So they do with a `user_id`, `agent_id`
    or `session_id`. `names` picks the tools. Raises InvalidInput for an id that is none, an unknown tool, and one that
    cannot be confined to ids.
    """

    @checked
    def __init__(
        self,
        memory: AgenticMemorySystem | ScopedMemory,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        names: Sequence[str] = _USUAL,
        actor: str = "agent",
    ) -> None:
        part = memory.scoped(user_id=user_id, agent_id=agent_id, session_id=session_id)
        self._memory = part.acting_as(actor)
        self.tools: Mapping[str, Tool] = {name: _tool(name, confined=part.scope != EVERYONE) for name in names}

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """The tools in the shape that function-calling models are given: each name begins with ``memory_``."""
        return [
            {
                "type": "function",
                "function": {"name": _PREFIX + name, "description": tool.description, "parameters": tool.schema},
            }
            for name, tool in self.tools.items()
        ]

    def run(self, name: str, arguments: Mapping[str, Any] | str | None) -> Any:
        """Run one tool by its bare name and return its result. Raises AmemError for whatever a model can get wrong."""
        tool = self.tools.get(checks.text("the name of a tool", name))
        if tool is None:
            raise InvalidInput(f"there is no tool {checks.shown(name)}", hint=f"the tools are {', '.join(self.tools)}")
        return tool.run(self._memory, **tool.checked(arguments))

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
        """Run one call; `name` is that of its definition, `arguments` is an object or its JSON text.

        Returns ``{"ok": true, "result": ...}``, or ``{"ok": false, "error": ..., "hint": ...}`` for whatever a model
        can get wrong, so that it can be handed back as it is.
        """
        try:
            bare = checks.text("the name of a tool", name).removeprefix(_PREFIX)
            if name == bare or bare not in self.tools:
                names = ", ".join(_PREFIX + each for each in self.tools)
                raise InvalidInput(f"there is no tool {checks.shown(name)}", hint=f"the tools are {names}")
            return {"ok": True, "result": self.run(bare, arguments)}
        except AmemError as error:
            return {"ok": False, "error": str(error), "hint": error.hint}


def _tool(name: str, *, confined: bool) -> Tool:
    tool = EVERY.get(name)
    if tool is None:
        raise InvalidInput(f"there is no tool {checks.shown(name)}", hint=f"the tools are {', '.join(EVERY)}")
    if confined and not tool.confined:
        raise InvalidInput(
            f"the tool {name!r} works on a whole collection and cannot be confined to ids",
            hint="leave it out, or give the agent a collection of its own",
        )
    return tool
