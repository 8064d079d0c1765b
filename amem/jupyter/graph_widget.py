"""The note graph as a widget: what a person does in it changes its traits, and what a program sets shows in it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from amem.clock import parse_time
from amem.errors import AmemError
from amem.interop.graph import LIMIT, NoteGraph, Readable, iso, read_graph
from amem.interop.graph_formats import svg

if TYPE_CHECKING:
    from amem.note import MemoryNote
    from amem.query import Filter

SCRIPT = Path(__file__).parent / "static" / "widget.js"
COLOR_BY = ("kind", "tag", "layer", "topic")


class GraphWidget(anywidget.AnyWidget):
    """The notes of a collection and the links among them, to be looked at and explored.

    Shows the notes within `hops` links of `about`, or without it the strongest that pass `filter`, at most `limit`. A
    click selects a note, a double click adds its neighbours, the pointer shows a note and why each link is there; the
    slider shows the collection as it was, the box finds notes. `height` is in pixels.

    Traits, which can be set and observed: `selected` (a note's id, '' for none), `color_by` (kind, tag, layer or
    topic), `as_of` (ISO 8601, '' for now), `query`, `height`. `note` is the selected note, `view` what is shown as a
    `NoteGraph`. Raises NoteNotFound for `about`, InvalidInput for a wrong value, TraitError for a wrong trait.
    """

    _esm = SCRIPT
    shape = traitlets.Unicode("graph", read_only=True).tag(sync=True)
    graph = traitlets.Dict().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    color_by = traitlets.Enum(COLOR_BY, default_value="kind").tag(sync=True)
    as_of = traitlets.Unicode("").tag(sync=True)
    query = traitlets.Unicode("").tag(sync=True)
    height = traitlets.Int(480, min=120, max=4000).tag(sync=True)

    def __init__(
        self,
        memory: Readable,
        about: str | None = None,
        *,
        hops: int = 1,
        limit: int = LIMIT,
        filter: Filter | None = None,
        **traits: Any,
    ) -> None:
        self._memory = memory
        self._asked: dict[str, Any] = {"about": about, "hops": hops, "limit": limit, "filter": filter}
        self.view: NoteGraph = read_graph(memory, **self._asked)
        #: What the last expansion could not do, '' where all went well.
        self.problem = ""
        super().__init__(graph=self.view.to_dict(), **{"selected": self.view.focus, **traits})
        self.on_msg(self._told)

    @traitlets.validate("as_of")
    def _moment(self, proposal: Any) -> str:
        given = proposal["value"]
        try:
            return iso(parse_time(given, UTC)) if given else ""
        except AmemError as error:
            raise traitlets.TraitError(str(error)) from error

    @property
    def note(self) -> MemoryNote | None:
        """The selected note as it is now; None when none is."""
        return self._memory.read_many([self.selected]).get(self.selected) if self.selected else None

    def expand(self, id: str, limit: int = 40) -> int:
        """Add the notes one link from this one, at most `limit`; returns how many were new. Raises NoteNotFound."""
        before = len(self.view.nodes)
        self._show(self.view | read_graph(self._memory, id, limit=limit))
        return len(self.view.nodes) - before

    def refresh(self) -> None:
        """Read the graph anew, as it was asked for at first."""
        self._show(read_graph(self._memory, **self._asked))

    def _show(self, view: NoteGraph) -> None:
        self.view = view
        self.graph = view.to_dict()

    def _told(self, _: Any, content: Any, __: Any) -> None:
        # What comes from a page is untrusted: only a note that is shown can be expanded.
        shown = {node.id for node in self.view.nodes}
        match content:
            case {"type": "expand", "id": str(id)} if id in shown:
                try:
                    self.expand(id)
                    self.problem = ""
                except AmemError as error:
                    self.problem = str(error)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, and a picture of it for whatever shows no widgets: GitHub, nbconvert, mail."""
        made = super()._repr_mimebundle_(**options)
        if made is None:
            return None
        data, metadata = made if isinstance(made, tuple) else (made, {})
        view = self.view.at(datetime.fromisoformat(self.as_of)) if self.as_of else self.view
        plain = f"note graph: {len(view.nodes)} notes, {len(view.edges)} links"
        return data | {"text/plain": plain, "image/svg+xml": svg(view)}, metadata
