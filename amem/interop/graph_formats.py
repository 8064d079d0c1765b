"""The note graph written down: a page that opens offline, a picture, and what other programs read."""

from __future__ import annotations

import json
import math
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from amem.interop.exporting import refuse_existing, write_lines
from amem.interop.graph import Edge, Node, NoteGraph, Readable, read_graph
from amem.labels import counted, cut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


#: The colours of kinds, as the widget has them.
COLORS: Mapping[str, str] = {
    "fact": "#4e79a7",
    "preference": "#f28e2b",
    "decision": "#59a14f",
    "constraint": "#e15759",
    "config": "#b07aa1",
    "code": "#76b7b2",
    "error": "#d4a017",
    "question": "#ff9da7",
    "chitchat": "#9c755f",
    "procedure": "#6b8e23",
    "episode": "#5c6bc0",
    "topic": "#c2185b",
}
_WIDTH, _HEIGHT, _MARGIN = 960, 640, 40
#: Notes that a static picture names.
_NAMED = 40
#: Of a name in it: most cells (a Chinese character takes two), the width of a cell and the height of a line in pixels.
_CELLS, _CELL, _LINE = 26, 6.0, 13.0
_FAINT = 0.3


def heading(graph: NoteGraph, collection: str, which: str = "") -> str:
    """What a graph shows, in words: of which collection, around which note, or of `which` notes ("tag work")."""
    notes = counted(len(graph.nodes), "note")
    if graph.focus:
        middle = next(node.title for node in graph.nodes if node.id == graph.focus)
        return f"{collection}: “{middle}” and {counted(len(graph.nodes) - 1, 'note')} near it"
    if graph.left_out:
        notes = f"the strongest {len(graph.nodes):,} of {counted(len(graph.nodes) + graph.left_out, 'note')}"
    return f"{collection}: {notes} with {which}" if which else f"{collection}: {notes}"


def html(graph: NoteGraph, title: str = "amem") -> str:
    """One page with all in it: it opens in any browser, asks no other host, and shows a picture without scripts."""
    # "<" could end the script element; inside JSON it may stand as an escape.
    data = json.dumps(graph.to_dict(), ensure_ascii=False).replace("<", "\\u003c")
    page = Template(_static("graph_page.html"))
    return page.substitute(title=escape(title), picture=svg(graph), data=data, script=widget_script())


def write_page(
    memory: Readable, collection: str, path: Path, about: str | None, hops: int, *, replace: bool = False
) -> int:
    """Write the graph around `about`, or without it of the `collection`, as `html`; returns how many notes it shows.

    Raises InvalidInput for a file that is there, unless it may `replace` it; OSError when it cannot be written.
    """
    refuse_existing(path, replace=replace)
    graph = read_graph(memory, about, hops=hops)
    write_lines(path, [html(graph, heading(graph, collection))])
    return len(graph.nodes)


def widget_script() -> str:
    """The module that draws the graph in notebooks and on pages."""
    return _static("widget.js")


def _static(name: str) -> str:
    return (files("amem") / "jupyter" / "static" / name).read_text(encoding="utf-8")


def svg(graph: NoteGraph, width: int = _WIDTH, height: int = _HEIGHT) -> str:
    """A picture of so many pixels; the layout is the same for the same graph (networkx's spring layout, seeded)."""
    places = _places(graph, width, height)
    tied: dict[str, int] = {}
    for edge in graph.edges:
        for end in (edge.source, edge.target):
            tied[end] = tied.get(end, 0) + 1
    first = sorted(graph.nodes, key=lambda node: (-tied.get(node.id, 0), -node.strength, node.id))
    faint = {node.id for node in graph.nodes if node.status != "active"}
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            ' role="img" font-family="sans-serif" font-size="11" style="max-width:100%;height:auto">',
            f"<title>{counted(len(graph.nodes), 'note')}, {counted(len(graph.edges), 'link')}</title>",
            '<g stroke="#8a8f98" stroke-width="1">',
            *(_line(edge, places, bool(faint & {edge.source, edge.target})) for edge in graph.edges),
            "</g>",
            *(
                f'<circle cx="{places[node.id][0]}" cy="{places[node.id][1]}" r="{_radius(node.strength):.1f}"'
                f' fill="{COLORS.get(node.kind, "#8a8f98")}"{_opacity(node.id in faint)}>'
                f"<title>{escape(_visible(node.title))}</title></circle>"
                for node in graph.nodes
            ),
            # A grey that reads on white and on black.
            '<g text-anchor="middle" fill="#7d838d">',
            *(
                f'<text x="{x:.1f}" y="{y:.1f}">{escape(_visible(label))}</text>'
                for x, y, label in _labels(first, places, width, height)
            ),
            "</g>",
            "</svg>",
        ]
    )


def graphml(graph: NoteGraph) -> str:
    """GraphML, as Gephi, yEd and Cytoscape read it."""
    import networkx as nx

    made = nx.MultiDiGraph()
    for node in graph.nodes:
        plain = {name: _visible(value) for name, value in (("title", node.title), ("text", node.text))}
        rest = {"kind": node.kind, "layer": node.layer, "status": node.status, "topic": _visible(node.topic)}
        times = {"since": node.since, "until": node.until}
        made.add_node(node.id, **plain, **rest, **times, tags=_visible(", ".join(node.tags)), strength=node.strength)
    for edge in graph.edges:
        made.add_edge(
            edge.source, edge.target, type=edge.type, reason=_visible(edge.reason), by=_visible(edge.by), at=edge.at
        )
    return "\n".join(nx.generate_graphml(made)) + "\n"


def dot(graph: NoteGraph) -> str:
    """A directed graph in Graphviz's DOT."""
    lines = ["digraph amem {", '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];']
    for node in graph.nodes:
        label, color = _quoted(node.title or node.id), _quoted(COLORS.get(node.kind, "#8a8f98"))
        lines.append(f"  {_quoted(node.id)} [label={label}, color={color}, tooltip={_quoted(node.text)}];")
    for edge in graph.edges:
        label, tip = _quoted(edge.type), _quoted(edge.reason)
        lines.append(f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [label={label}, tooltip={tip}];")
    return "\n".join([*lines, "}", ""])


def as_json(graph: NoteGraph) -> str:
    """``{"nodes": [...], "edges": [...], "left_out": n, "focus": id}``, indented."""
    return json.dumps(graph.to_dict(), ensure_ascii=False, indent=2) + "\n"


#: What a graph can be written as, by the name of its format.
WRITERS: Mapping[str, Callable[[NoteGraph], str]] = {
    "html": html,
    "svg": svg,
    "graphml": graphml,
    "dot": dot,
    "json": as_json,
}


def _places(graph: NoteGraph, width: int, height: int) -> dict[str, tuple[float, float]]:
    import networkx as nx

    made: nx.Graph = nx.Graph()
    made.add_nodes_from(node.id for node in graph.nodes)
    made.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    # A weak link of each note to a middle that is not drawn: else what no link ties to the rest flies off, and the
    # rest has no room. The method is named because networkx takes another, which needs SciPy, for large graphs.
    made.add_edges_from(((node.id, "") for node in graph.nodes), weight=0.05)
    laid = nx.spring_layout(made, k=3 / math.sqrt(len(made) or 1), seed=1, iterations=200, method="force")
    laid.pop("", None)
    xs, ys = [float(x) for x, _ in laid.values()], [float(y) for _, y in laid.values()]
    left, across = min(xs, default=0.0), (max(xs, default=0.0) - min(xs, default=0.0)) or 1.0
    top, down = min(ys, default=0.0), (max(ys, default=0.0) - min(ys, default=0.0)) or 1.0
    wide, high = width - 2 * _MARGIN, height - 2 * _MARGIN
    return {
        id: (round(_MARGIN + wide * (float(x) - left) / across, 1), round(_MARGIN + high * (float(y) - top) / down, 1))
        for id, (x, y) in laid.items()
    }


def _line(edge: Edge, places: Mapping[str, tuple[float, float]], faint: bool) -> str:
    (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
    dashed = ' stroke-dasharray="5 3"' if edge.type == "supersedes" else ""
    told = escape(_visible(f"{edge.type}: {edge.reason}"))
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"{dashed}{_opacity(faint)}><title>{told}</title></line>'


def _opacity(faint: bool) -> str:
    return f' opacity="{_FAINT}"' if faint else ""


def _radius(strength: float) -> float:
    return 4 + 7 * math.sqrt(min(1.5, max(0.0, strength)))


def _labels(
    nodes: Sequence[Node], places: Mapping[str, tuple[float, float]], width: int, height: int
) -> list[tuple[float, float, str]]:
    """Middle, foot and text of names: below, above or beside their notes, or left out, so that none lies on another."""
    from rich.cells import cell_len

    def box(x: float, y: float, wide: float, high: float) -> tuple[float, float, float, float]:
        return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2

    taken = [box(*places[node.id], 2 * _radius(node.strength), 2 * _radius(node.strength)) for node in nodes]
    shown: list[tuple[float, float, str]] = []
    for node in nodes:
        (x, y), r = places[node.id], _radius(node.strength)
        title = cut(node.title, _CELLS)
        wide = cell_len(title) * _CELL
        below, beside = r + _LINE / 2 + 1, r + wide / 2 + 4
        for cx, cy in ((x, y + below), (x, y - below), (x + beside, y), (x - beside, y)):
            left, top, right, bottom = name = box(cx, cy, wide, _LINE)
            if left < 0 or top < 0 or right > width or bottom > height:
                continue
            if all(left >= each[2] or right <= each[0] or top >= each[3] or bottom <= each[1] for each in taken):
                taken.append(name)
                shown.append((cx, cy + _LINE * 0.3, title))
                break
        if len(shown) == _NAMED:
            break
    return shown


def _visible(text: str) -> str:
    """The text without the control characters that no XML may hold."""
    return "".join(
        char if char in "\t\n" or (char >= " " and char not in "\ufffe\uffff") else "\ufffd" for char in text
    )


def _quoted(text: str) -> str:
    body = _visible(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{body}"'
