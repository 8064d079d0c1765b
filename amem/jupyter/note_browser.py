"""The note browser as a widget: search with reasons, a note with its links and history, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from amem.errors import AmemError
from amem.interop.graph import TITLE
from amem.jupyter.graph_widget import SCRIPT
from amem.labels import title
from amem.query import Query
from amem.rendering import standing_text
from amem.retrieval.confidence import Support
from amem.summaries import reversal_lines

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem
    from amem.retrieval.hit import Hit
    from amem.storage.operations import Version

#: Hits that a search lists.
FOUND = 12
_LONGEST = 280


class NoteBrowser(anywidget.AnyWidget):
    """A search box, what it finds with its reasons, and one note with its links and history, each step undoable.

    Looking counts as no use. Traits: `query` (set it to search) and `selected` (a note's id, '' for none; set it to
    open one); `message` says what happened last.
    """

    _esm = SCRIPT
    shape = traitlets.Unicode("browser", read_only=True).tag(sync=True)
    query = traitlets.Unicode("").tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    hits = traitlets.List(traitlets.Dict()).tag(sync=True)
    note = traitlets.Dict().tag(sync=True)
    message = traitlets.Unicode("").tag(sync=True)

    def __init__(self, memory: AgenticMemorySystem, query: str = "") -> None:
        self._memory = memory
        super().__init__()
        self.on_msg(self._told)
        self.query = query
        self._try(self._search)
        self.observe(lambda _: self._try(self._search), "query")

    @traitlets.observe("selected")
    def _opened(self, change: Any) -> None:
        self._try(lambda: self._open(change["new"]))

    def search(self, query: str) -> None:
        """List what answers `query`; the newest notes for an empty one."""
        self.query = query

    def undo(self, operation: int) -> None:
        """Take back an operation, and say what came of it."""

        def act() -> None:
            done = self._memory.undo(operation)
            self._search()
            self._open(self.selected)
            said = "; ".join(reversal_lines(self._memory, done))
            self.message = f"{said[0].upper()}{said[1:]}"

        self._try(act)

    def _told(self, _: Any, content: Any, __: Any) -> None:
        # What comes from a page is untrusted: a note that is not there, or an operation, is refused by the memory.
        match content:
            case {"type": "search", "query": str(query)}:
                self.search(query)
            case {"type": "open", "id": str(id)}:
                self.selected = id
            case {"type": "undo", "operation": int(operation)} if any(
                step["operation"] == operation for step in self.note.get("history", ())
            ):
                self.undo(operation)

    def _try(self, act: Any) -> None:
        try:
            act()
        except AmemError as error:
            self.message = str(error)

    def _search(self) -> None:
        if not self.query.strip():
            self.hits = [
                {"id": each.id, "title": title(each.content, TITLE), "text": "", "why": "", "weak": False, "meta": meta}
                for each in self._memory.list(limit=FOUND)
                for meta in [" · ".join([f"{each.at:%Y-%m-%d}" if each.at else "", str(each.kind)])]
            ]
            self.message = f"{self._memory.count():,} notes"
            return
        found = self._memory.ask(Query(self.query, FOUND, touch=False, passages=True))
        self.hits = [_row(hit) for hit in found]
        self.message = f"{len(found)} found"

    def _open(self, id: str) -> None:
        if not id:
            self.note = {}
            return
        shown = self._memory.read(id)
        if shown is None:
            self.note = {}
            self.message = f"No note {id!r}."
            return
        out, back = self._memory.links(id), self._memory.backlinks(id)
        others = self._memory.read_many([*(link.target for link in out), *(link.source for link in back)])
        ends = [
            *((f"{link.type} → ", link.target, link) for link in out),
            *((f"← {link.type} ", link.source, link) for link in back),
        ]
        when = shown.at or shown.recorded_at
        meta = [
            f"{when:%Y-%m-%d}" if when else "",
            str(shown.kind),
            str(shown.status),
            " ".join(f"#{tag}" for tag in shown.tags),
            id,
        ]
        self.note = {
            "id": id,
            "title": title(shown.content, TITLE) or id,
            "text": standing_text(shown.content, shown.overturned),
            "context": shown.context,
            "meta": " · ".join(each for each in meta if each),
            "links": [
                {"id": other, "type": type, "title": title(others[other].content, TITLE), "reason": link.reason}
                for type, other, link in ends
                if other in others
            ],
            "history": [_step(version) for version in reversed(self._memory.history(id))],
        }


def _row(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "title": title(hit.content, TITLE) or hit.id,
        "text": "".join(piece for piece, _ in hit.passage.pieces()),
        "why": hit.explanation.words(),
        "weak": hit.support is not Support.STRONG,
        "meta": " · ".join([f"{hit.confidence:.0%} sure", hit.timestamp, str(hit.kind)]),
    }


def _step(version: Version) -> dict[str, Any]:
    return {
        "version": version.version,
        "operation": version.operation,
        "action": version.action,
        "actor": version.actor,
        "at": f"{version.at:%Y-%m-%d %H:%M}",
        "cause": version.cause,
        "changes": [
            {"field": field, "before": _plain(before), "after": _plain(after)}
            # Its text first: that is what people look for.
            for field, (before, after) in sorted(version.changes.items(), key=lambda change: change[0] != "content")
        ],
    }


def _plain(value: Any) -> str:
    if value in (None, "", [], {}):
        return ""
    return _shortened(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
