"""Which MCP client gets which collection, opened when it is first needed, and under which name the log knows it.

The settings of an agent bring its collection, catalogs and rights; a client that has a collection for itself and bears
the name of an agent gets those of that agent.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, TypeVar

from amem.errors import StorageGone

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings
    from amem.tools import Toolbox

    Result = TypeVar("Result")

#: What a client that gives no name is called.
UNNAMED = "mcp"
#: The tools for MCP clients, in the order in which they are told of them. Each costs its client tokens in every chat.
TOOLS = (
    "remember",
    "search",
    "ask",
    "list",
    "tags",
    "read",
    "write",
    "link",
    "supersede",
    "delete",
    "publish",
    "history",
    "undo",
    "facts",
    "context",
    "maintain",
)
_OTHER = re.compile(r"[^\w.-]+")


class Collections:
    """The collections of one server: one for all clients, or with `per_client` one for each client's name.

    Without `chroma` the notes are not kept in Chroma, too, which takes a second to import and as long to end: for a
    process that one client starts for itself. A name is what the client says of itself: it keeps programs apart that
    mean well, and is no lock. `notify` hears one line when something takes its time. Safe to use from many threads.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        read_only: bool = False,
        per_client: bool = False,
        chroma: bool = True,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings if chroma else settings.replaced(dense_base="exact")
        self.read_only = read_only
        self.per_client = per_client
        self._notify = notify
        self._open: dict[str, AgenticMemorySystem] = {}
        self._lock = threading.Lock()
        self._closed = False

    def tools(self) -> Sequence[str]:
        """The names of the tools that there are: where nothing may be written only those that read."""
        from amem.tools.toolbox import EVERY

        return [name for name in TOOLS if EVERY[name].reads or not self.read_only]

    def actor(self, client: str) -> str:
        """Who the log says it was: the agent whose memory is served, else ``agent:<the client's name>``."""
        return f"agent:{self.settings.agent or plain_name(client)}"

    def of(self, client: str) -> AgenticMemorySystem:
        """The collection of the client of that name, open; what it does is logged as done by its `actor`.

        Raises CollectionNotFound where nothing may be written and it is not there, and StorageError.
        """
        name = plain_name(client) if self.per_client else self.settings.collection
        with self._lock:
            memory = self._open.get(name)
            if memory is None:
                memory = self._open[name] = self._opened(name)
        return memory.acting_as(self.actor(client))

    def toolbox(self, client: str) -> Toolbox:
        """The client's tools. Errors as in `of`."""
        from amem.tools import Toolbox

        return Toolbox(self.of(client), names=self.tools(), actor=self.actor(client))

    def served(self, client: str, work: Callable[[str], Result]) -> Result:
        """What `work` makes of the client, with its collection opened anew where its file was replaced meanwhile."""
        try:
            return work(client)
        except StorageGone:  # nothing was read or written; a server lives for days
            self.forget(client)
            return work(client)

    def forget(self, client: str) -> None:
        """Close the client's collection, to be opened anew: its file was replaced, by a restored copy perhaps."""
        client = plain_name(client)
        with self._lock:
            memory = self._open.pop(client if self.per_client else self.settings.collection, None)
        if memory is not None:
            memory.close()

    def close(self) -> None:
        """Close every collection; none is opened afterwards. Twice is fine."""
        with self._lock:
            self._closed = True
            for memory in self._open.values():
                memory.close()
            self._open.clear()

    def _opened(self, name: str) -> AgenticMemorySystem:
        from amem.errors import StorageError
        from amem.memory_system import AgenticMemorySystem

        if self._closed:
            raise StorageError("the server is ending", hint="start it again")
        named = self.per_client and name in self.settings.agents
        settings = self.settings.as_agent(name) if named else self.settings.replaced(collection=name)
        return AgenticMemorySystem(settings=settings, notify=self._notify, read_only=self.read_only)


def plain_name(client: str) -> str:
    """A client's name as a log and a folder can hold it: ``Claude Code`` becomes ``claude-code``."""
    return _OTHER.sub("-", client.strip().lower())[:40].strip("-._") or UNNAMED
