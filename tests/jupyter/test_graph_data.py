"""The graph that pictures are made of, and what it is written as."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import networkx
import pytest

from amem import labels
from amem.errors import InvalidInput, NoteNotFound
from amem.interop.graph import TITLE, NoteGraph, read_graph
from amem.interop.graph_formats import WRITERS, heading, html
from amem.query import Filter

if TYPE_CHECKING:
    from conftest import Told

    from amem import AgenticMemorySystem


def test_the_graph_holds_all_notes_and_why_each_link_is_there(memory: AgenticMemorySystem, told: Told) -> None:
    graph = read_graph(memory)

    assert {node.id for node in graph.nodes} == set(told)
    assert {(edge.source, edge.target, edge.type) for edge in graph.edges} == {
        (told.kettle, told.tea, "supports"),
        (told.chinese, told.tea, "related"),
    }
    assert "both on green tea" in {edge.reason for edge in graph.edges}
    tea = next(node for node in graph.nodes if node.id == told.tea)
    assert (tea.kind, tea.tags, tea.since, tea.until) == ("preference", ("tea",), "2025-05-01T08:00:00Z", "")


def test_around_a_note_there_is_what_it_is_linked_to(memory: AgenticMemorySystem, told: Told) -> None:
    assert {node.id for node in read_graph(memory, told.kettle).nodes} == {told.kettle, told.tea}
    assert {node.id for node in read_graph(memory, told.kettle, hops=2).nodes} == {told.kettle, told.tea, told.chinese}
    both = read_graph(memory, told.kettle) | read_graph(memory, told.chinese)
    assert len(both.nodes) == 3
    assert len(both.edges) == 2


def test_a_limit_leaves_out_and_says_how_many(memory: AgenticMemorySystem, told: Told) -> None:
    graph = read_graph(memory, limit=3)
    assert (len(graph.nodes), graph.left_out) == (3, 1)
    assert len(read_graph(memory, filter=Filter(tags=("tea",))).nodes) == 1


def test_a_note_that_ended_is_there_with_its_end_and_stood_before_it(memory: AgenticMemorySystem) -> None:
    old = memory.add("I live in Rome.", time="2025-01-01").id
    new = memory.add("I live in Oslo.", time="2025-06-01").id
    memory.supersede(old, new, "moved")

    graph = read_graph(memory)
    shown = {node.id: node for node in graph.nodes}
    assert shown[old].status == "superseded"
    assert shown[old].until == "2025-06-01T00:00:00Z"
    then = graph.at(datetime(2025, 3, 1, tzinfo=UTC))
    assert [(node.id, node.status) for node in then.nodes] == [(old, "active")]
    assert then.edges == ()


def test_what_cannot_be_drawn_is_refused(memory: AgenticMemorySystem, told: Told) -> None:
    with pytest.raises(NoteNotFound):
        read_graph(memory, "nobody")
    with pytest.raises(InvalidInput, match="limit"):
        read_graph(memory, limit=0)
    with pytest.raises(InvalidInput, match="filter"):
        read_graph(memory, told.tea, filter=Filter())


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Tom Tom", "Tom Tom"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("- [ ] buy milk", "buy milk"),
        ("\n\n  绿茶  ", "绿茶"),
        ("x" * 80, "x" * 59 + "…"),
        ("###", "###"),
        ("```\n```", "``` ```"),
    ],
)
def test_a_title_is_the_first_words_without_marks(text: str, title: str) -> None:
    assert labels.title(text, TITLE) == title


def test_graphml_and_json_are_read_back_whole(memory: AgenticMemorySystem, told: Told) -> None:
    graph = read_graph(memory)

    held = networkx.parse_graphml(WRITERS["graphml"](graph), force_multigraph=True)
    assert set(held.nodes) == set(told)
    assert {(source, target) for source, target, _ in held.edges} == {
        (told.kettle, told.tea),
        (told.chinese, told.tea),
    }
    assert held.nodes[told.chinese]["tags"] == "茶"
    plain = json.loads(WRITERS["json"](graph))
    assert {node["id"] for node in plain["nodes"]} == set(told)


def test_the_picture_is_well_formed_and_the_same_each_time(memory: AgenticMemorySystem, told: Told) -> None:
    graph = read_graph(memory)
    svg = WRITERS["svg"](graph)

    tree = ElementTree.fromstring(svg)
    assert len(tree.findall(".//{*}circle")) == 4
    assert svg == WRITERS["svg"](graph)
    assert "绿茶要用八十度的水泡" in svg


def test_a_title_says_what_a_graph_shows(memory: AgenticMemorySystem, told: Told) -> None:
    def shown(which: str = "", **asked: Any) -> str:
        return heading(read_graph(memory, **asked), "tea", which)

    assert shown() == "tea: 4 notes"
    assert shown(limit=1) == "tea: the strongest 1 of 4 notes"
    assert shown("kind fact", filter=Filter(kinds=("fact",))) == "tea: 2 notes with kind fact"
    assert shown(about=told.kettle) == "tea: “The kettle keeps water at 80 degrees.” and 1 note near it"


def test_control_characters_in_a_note_break_no_format(memory: AgenticMemorySystem) -> None:
    memory.add('Bell \x07 and "quotes" \\ and\nlines', kind="fact")
    graph = read_graph(memory)

    ElementTree.fromstring(WRITERS["svg"](graph))
    networkx.parse_graphml(WRITERS["graphml"](graph))
    assert '\\"quotes\\" \\\\ and\\nlines' in WRITERS["dot"](graph)


def test_nothing_of_a_note_ends_the_pages_script(memory: AgenticMemorySystem, told: Told) -> None:
    page = html(read_graph(memory), "<b>")
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "<title>&lt;b&gt;</title>" in page


@pytest.mark.parametrize("name", list(WRITERS))
def test_an_empty_graph_can_be_written(name: str) -> None:
    assert WRITERS[name](NoteGraph((), ()))
