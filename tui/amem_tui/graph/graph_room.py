"""The graph around a note, or the topics of the whole collection: where one is, what is chosen, and the way back."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events, on, work
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from amem.interop.graph_formats import write_page
from amem.labels import counted
from amem.note import LinkType, Status
from amem.storage.links import TELLING
from amem_tui.dialogs import path_prompt
from amem_tui.formatting import GLYPHS, day, link_words, maker, one_line, title
from amem_tui.graph.drawing import LOOKS, GraphCanvas, GraphTree, NodeClicked
from amem_tui.graph.scene import LOOSE, GraphQuery, GraphResult, facts, read_graph
from amem_tui.lists import fit
from amem_tui.rooms import NotesScreen, Word, WordLine

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import tzinfo
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.worker import Worker

    from amem.interop.graph import LocalGraph
    from amem.maintenance.topic_notes import TopicMap
    from amem.note import Link
    from amem_tui.client import CollectionClient
    from amem_tui.graph.drawing import Way


class TypeRow(WordLine, can_focus=True):
    """A toggle for each type, of which a click calls `toggle`; its cursor is seen while it has the keyboard."""

    def __init__(self, toggle: Callable[[], object], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._toggle = toggle
        self._hidden: Collection[LinkType] = ()
        self._counts: Mapping[LinkType, int] = {}
        #: The one under the cursor.
        self.type = TELLING[0]

    def show(self, counts: Mapping[LinkType, int], hidden: Collection[LinkType]) -> None:
        """How many links of each type are drawn, and which types are not."""
        self._counts, self._hidden = counts, hidden
        self.refresh()

    def move(self, by: int) -> None:
        self.type = TELLING[(TELLING.index(self.type) + by) % len(TELLING)]
        self.refresh()

    def choose(self, id: str) -> None:
        self.type = LinkType(id)
        self._toggle()

    def words(self, width: int) -> Sequence[Word]:
        for form in range(6):
            found = [self._word(type, form) for type in TELLING]
            if sum(each.cell_length for each in found) <= width:
                break
        if self.has_focus:
            place = TELLING.index(self.type)
            found[place] = found[place].stylize("reverse")
        return [Word(str(type), text) for type, text in zip(TELLING, found, strict=True)]

    def _word(self, type: LinkType, form: int) -> Content:
        """A type in one of six forms, each shorter; a piece of its line tells it without colour, but in the last."""
        look, number, name = LOOKS[type], self._counts.get(type, 0), link_words(type)
        shown = [name, name, name, look.half, look.short, look.short][form]
        colour = "$muted strike" if type in self._hidden else look.colour if number else "$muted"
        if form == 5 or (form == 2 and not number):
            return Content.assemble(" ", (look.short, colour), " ")
        count = f" {number}" if number and form in (0, 2) else ""
        end = " " if form in (0, 2, 3) else ""
        return Content.assemble((f" {look.sample} ", look.colour), (shown, colour), (count, "$muted"), end)


_NAMED = 46
#: From this width on the first line has room for more than the date.
_ROOMY = 70


def about_note(graph: LocalGraph, id: str, zone: tzinfo, width: int) -> Content:
    """Its title and date in `width` cells, then its links to what is drawn: to the centre first, then the telling."""
    card = graph.cards[id]
    who = Content.assemble((f"  {card.kind}", "$muted"), "  ", maker(card.author)) if width >= _ROOMY else ""
    status = f"  {card.status}" if card.status is not Status.ACTIVE else ""
    pinned = "  ▪ pinned" if card.pinned else ""
    said = Content.assemble((f"  {day(card.at, zone)}", "$muted"), who, (status, "$warning"), (pinned, "$accent"))
    name = title(card.text)
    shown = fit(name, max(8, min(cell_len(name), width - said.cell_length - 2)))
    head = Content.assemble((f"{GLYPHS[card.kind]} ", "$secondary"), (shown, "bold"), said)
    mine = [link for link in graph.links if id in (link.source, link.target)]
    mine.sort(
        key=lambda link: (graph.centre not in (link.source, link.target), TELLING.index(link.type), -link.confidence)
    )
    none = "It has no link of the types that are shown." if card.links else "Nothing is linked to this note yet."
    rest = f"{counted(card.links - len(mine), 'more link')}, to notes that are not drawn" if mine else none
    last = [Content.styled(rest, "$muted")] if not mine or card.links > len(mine) else []
    return Content("\n").join([head, *(_link(graph, link, id) for link in mine), *last])


def about_topic(seen: TopicMap, id: str, zone: tzinfo) -> Content:
    """What a topic is about, how many notes it has, and what it has most in common with."""
    topics = {topic.id: topic for topic in seen.topics}
    if (topic := topics.get(id)) is None:
        said = f"  {counted(seen.loose, 'note')}\nMaintenance finds topics where many notes are linked (Health, H)."
        return Content.assemble(("Notes in no topic", "bold"), (said, "$muted"))
    found = "declared" if topic.declared else "found by its links"
    said = f"  {counted(topic.notes, 'note')}  {found}  {day(topic.updated, zone).strip()}"
    lines = [Content.assemble((f"# {one_line(topic.name)}", "bold"), (said, "$muted"))]
    if topic.summary:
        lines.append(Content(one_line(topic.summary, 400)))
    for (one, other), number in sorted(seen.ties.items(), key=lambda tie: -tie[1]):
        if id in (one, other):
            there = topics[other if one == id else one].name
            tied = "1 link or shared note" if number == 1 else f"{number:,} links and shared notes"
            lines.append(Content.assemble(("— ", "$muted"), one_line(there, _NAMED), (f"  {tied}", "$muted")))
    return Content("\n").join(lines)


def _link(graph: LocalGraph, link: Link, id: str) -> Content:
    out = link.source == id
    other, way = graph.cards[link.target if out else link.source], "→" if out else "←"
    why = (f"  “{one_line(link.reason, 240)}”" if link.reason else "", "$muted")
    what, name = (f"{way} {link_words(link.type)}  ", LOOKS[link.type].colour), one_line(title(other.text), _NAMED)
    return Content.assemble(what, name, why, "  ", maker(link.made_by), (f"  {link.confidence:.0%}", "$muted"))


#: Below so many columns or rows there is a tree in the place of the picture.
_NARROW, _LOW = 70, 18
#: From so many rows on there is room for more below the picture.
_HIGH = 30
#: At most so many notes, and so many cells for each.
_MOST, _FEWEST, _CELLS, _TOPIC_CELLS = 40, 10, 60, 120


class GraphScreen(NotesScreen):
    """What a note is linked to. It follows the note that is open, and from there its own way."""

    ROOM = "graph"
    HELP = """
- ▸ which way a link points
- ⠶⠶⠶ a strong link (80 % sure or more)
- +3 links that lead out of the picture
"""

    def __init__(self, client: CollectionClient) -> None:
        super().__init__(client)
        self.view = GraphQuery()
        self._result = GraphResult()
        self._chosen: str | None = None
        self._trail: list[tuple[GraphQuery, str | None]] = []
        self._came_for: str | None = None
        self._reading: Worker[None] | None = None
        self._again = False
        self._asked_for = (0, 0)

    def furnish(self) -> ComposeResult:
        yield TypeRow(self.action_hide, id="types")
        yield GraphCanvas(id="canvas")
        yield GraphTree(id="tree")
        yield Static(id="graph-hint")
        with VerticalScroll(id="about-box", can_focus=False):
            yield Static(id="about")

    def on_mount(self) -> None:
        self._shape()
        self.set_focus(self._shown)

    def load(self) -> None:
        note = self.client.note
        if note is not None and note != self._came_for:
            self._trail.clear()
            self._look(replace(self.view, centre=note, topics=False))
        elif self._reading is not None and not self._reading.is_finished:
            self._again = True  # a busy writer must not keep a slow answer from ever being shown
        else:
            self._reading = self._read()
        self._came_for = note

    def _look(self, view: GraphQuery, *, chosen: str | None = None) -> None:
        self.view, self._chosen = view, chosen
        self.refresh_bindings()
        self._reading = self._read()

    @work(exclusive=True, group="graph")
    async def _read(self) -> None:
        self._again = True
        while self._again:
            self._again = False
            view = self.view
            if view.topics and self._result.topics is None:
                self.bar.tell("Counting topics… ")
            self._asked_for = self._limits
            with self.client.refusals(lambda words: self._show(GraphResult(hint=words))):
                self._show(await self.ask(read_graph, self.memory, view, *self._asked_for))

    def _show(self, result: GraphResult) -> None:
        self._result = result
        self.set_class(result.scene is None, "-empty")
        self.set_class(result.topics is not None, "-topics")
        self.query_one("#graph-hint", Static).update(Content(result.hint))
        if (scene := result.scene) is not None:
            chosen = self._chosen = next((id for id in scene.nodes if id == self._chosen), scene.centre)
            self.query_one(GraphCanvas).show(scene, chosen)
            self.query_one(GraphTree).show(scene, chosen)
        counts = Counter(link.type for link in result.graph.links) if result.graph is not None else Counter[LinkType]()
        self.query_one(TypeRow).show(counts, self.view.hidden)
        self.bar.tell(f"{facts(result)} ")
        self._tell()

    def _tell(self) -> None:
        result, zone = self._result, self.client.zone
        about, chosen = Content(""), self._chosen
        if chosen is not None and result.scene is not None and chosen in result.scene.nodes:
            if result.graph is not None:
                about = about_note(result.graph, chosen, zone, self.size.width - 3)
            elif result.topics is not None:
                about = about_topic(result.topics, chosen, zone)
        self.query_one("#about", Static).update(about)
        self.query_one("#about-box").scroll_home(animate=False)
        self.refresh_bindings()

    @on(events.Resize)
    def _resized(self) -> None:
        self._shape()
        if self._asked_for != self._limits and self._result.scene is not None:
            self.reload()

    def _shape(self) -> None:
        if not self.query("#about"):
            return  # a screen may learn its size before it is furnished
        tree = self.size.width < _NARROW or self.size.height < _LOW
        moved = isinstance(self.focused, GraphCanvas | GraphTree) and tree != self.has_class("-tree")
        self.set_class(tree, "-tree")
        self.set_class(self.size.height < _HIGH, "-low")
        self.set_class(self.size.height < _LOW, "-short")
        if moved:
            self.set_focus(self._shown)

    @property
    def _shown(self) -> GraphCanvas | GraphTree:
        return self.query_one(GraphTree) if self.has_class("-tree") else self.query_one(GraphCanvas)

    @property
    def _limits(self) -> tuple[int, int]:
        if self.has_class("-tree"):
            return _MOST, _MOST
        cells = self.size.width * (self.size.height - (12 if self.size.height >= _HIGH else 9))
        return max(_FEWEST, min(_MOST, cells // _CELLS)), max(_FEWEST, min(_MOST, cells // _TOPIC_CELLS))

    @on(NodeClicked)
    def _clicked(self, event: NodeClicked) -> None:
        self.set_focus(self._shown)
        self.choose(event.id)
        if event.entered:
            if self.check_action("centre", ()):
                self.action_centre()
            elif self.check_action("read", ()):
                self.action_read()

    def choose(self, id: str | None) -> None:
        if id is not None:
            self._chosen = self.query_one(GraphCanvas).chosen = self.query_one(GraphTree).chosen = id
            self._tell()

    def action_step(self, way: Way) -> None:
        if not self._on_types:
            self.choose(self._shown.beyond(way))
        elif way in ("left", "right"):
            self.query_one(TypeRow).move(1 if way == "right" else -1)
        else:
            self.set_focus(self._shown)

    def action_next(self, by: int) -> None:
        if self._on_types:
            self.query_one(TypeRow).move(by)
        elif (order := self._shown.order()) and self._chosen in order:
            self.choose(order[(order.index(self._chosen) + by) % len(order)])

    def action_home(self) -> None:
        if self._result.scene is not None:
            self.choose(self._result.scene.centre)

    def action_scroll_about(self, pages: int) -> None:
        box = self.query_one("#about-box", VerticalScroll)
        box.scroll_relative(y=pages * max(1, box.size.height - 1), animate=False)

    def action_centre(self) -> None:
        """Make the chosen node the centre; the way back is kept."""
        self._trail.append((self.view, self._chosen if self.view.topics else self.view.centre))
        self._look(replace(self.view, centre=self._chosen, topics=False), chosen=self._chosen)

    def action_back(self) -> None:
        view, chosen = self._trail.pop()
        kept = replace(view, depth=self.view.depth, hidden=self.view.hidden)
        self._look(kept, chosen=chosen)

    def action_read(self) -> None:
        if self._chosen is not None:
            self.client.app.read_note(self._chosen)

    def action_depth(self, hops: int) -> None:
        self._look(replace(self.view, depth=hops), chosen=self._chosen)

    def action_overview(self) -> None:
        self._trail.append((self.view, self._chosen))
        self._look(replace(self.view, topics=True))

    def action_around(self) -> None:
        while self._trail:
            view, chosen = self._trail.pop()
            if not view.topics:
                self._look(replace(view, depth=self.view.depth), chosen=chosen)
                return
        self._look(replace(self.view, topics=False))

    def action_page(self) -> None:
        """Write what is in the middle and around it, or the whole collection, as a page for a web browser."""
        view, depth = self.view, self._result.depth
        about = None if view.topics else view.centre
        collection = self.memory.settings.collection

        def write(path: Path, replace: bool) -> int:
            return write_page(self.memory, collection, path, about, depth, replace=replace)

        name, then = f"{collection}-graph.html", ": open it in a web browser"
        self.app.push_screen(path_prompt(self.client, "Write the graph as a page", name, write, then=then))

    @property
    def _on_types(self) -> bool:
        return isinstance(self.focused, TypeRow)

    def action_types(self) -> None:
        self.set_focus(self._shown if self._on_types else self.query_one(TypeRow))

    def action_hide(self) -> None:
        types = self.view.hidden ^ {self.query_one(TypeRow).type}
        self._look(replace(self.view, hidden=types), chosen=self._chosen)

    def action_all_types(self) -> None:
        self._look(replace(self.view, hidden=frozenset()), chosen=self._chosen)

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _focus_moved(self) -> None:
        self.refresh_bindings()

    def action_leave(self) -> None:
        if self._on_types:
            self.set_focus(self._shown)
        else:
            super().action_leave()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view, on_types = self.view, self._on_types
        notes = self._result.scene is not None and not view.topics
        chosen = self._result.scene is not None and self._chosen not in (None, LOOSE) and not on_types
        return {
            "centre": chosen and (view.topics or self._chosen != view.centre),
            "page": not on_types,
            "read": chosen,
            "back": bool(self._trail),
            "depth": notes and parameters != (self._result.depth,),
            "overview": not view.topics,
            "around": view.topics,
            "types": notes,
            "hide": on_types,
            "all_types": bool(view.hidden) and not view.topics,
        }.get(action, True)
