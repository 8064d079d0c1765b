"""The widgets without a browser: what a page says changes them, and only what it may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Told

    from amem import AgenticMemorySystem

pytest.importorskip("anywidget", reason="needs anywidget (amem's dev extra)")


def said(widget: Any, **content: Any) -> None:
    """Let the widget hear what a page sends."""
    widget._handle_custom_msg(content, [])


def test_a_graph_widget_starts_with_its_note_selected(memory: AgenticMemorySystem, told: Told) -> None:
    from amem.jupyter import GraphWidget

    graph = GraphWidget(memory, told.kettle)
    assert (graph.selected, len(graph.graph["nodes"])) == (told.kettle, 2)
    note = graph.note
    assert note is not None
    assert note.content == "The kettle keeps water at 80 degrees."
    assert GraphWidget(memory).note is None


def test_a_double_click_adds_the_neighbours(memory: AgenticMemorySystem, told: Told) -> None:
    from amem.jupyter import GraphWidget

    graph = GraphWidget(memory, told.kettle)
    said(graph, type="expand", id=told.tea)
    assert {node["id"] for node in graph.graph["nodes"]} == {told.kettle, told.tea, told.chinese}
    assert graph.expand(told.tea) == 0
    graph.refresh()
    assert len(graph.view.nodes) == 2


def test_a_page_reaches_no_note_that_it_does_not_show(memory: AgenticMemorySystem, told: Told) -> None:
    from amem.jupyter import GraphWidget

    graph = GraphWidget(memory, told.kettle)
    for content in ({"type": "expand", "id": told.evil}, {"type": "expand", "id": 7}, {"type": "drop"}, {}):
        said(graph, **content)
    assert len(graph.view.nodes) == 2


def test_a_note_purged_meanwhile_is_said_to_be_gone(memory: AgenticMemorySystem, told: Told) -> None:
    from amem.jupyter import GraphWidget

    graph = GraphWidget(memory, told.kettle)
    memory.purge(told.tea)
    said(graph, type="expand", id=told.tea)
    assert "no note" in graph.problem


@pytest.mark.parametrize(
    ("trait", "value"), [("color_by", "mood"), ("as_of", "soon"), ("height", 3), ("selected", None)]
)
def test_a_wrong_value_is_refused(memory: AgenticMemorySystem, told: Told, trait: str, value: Any) -> None:
    from traitlets import TraitError

    from amem.jupyter import GraphWidget

    graph = GraphWidget(memory)
    with pytest.raises(TraitError):
        setattr(graph, trait, value)


def test_what_shows_no_widgets_gets_a_picture_and_plain_text(memory: AgenticMemorySystem, told: Told) -> None:
    from amem.jupyter import GraphWidget

    graph = GraphWidget(memory)
    graph.as_of = "2025-08-01"
    data, _ = graph._repr_mimebundle_()
    assert data["text/plain"] == "note graph: 2 notes, 1 links"
    assert data["image/svg+xml"].count("<circle") == 2


def test_the_browser_searches_opens_and_undoes(memory: AgenticMemorySystem, told: Told) -> None:
    from amem.jupyter import NoteBrowser

    memory.update(told.tea, content="Green tea wants 70 degrees.")
    browser = NoteBrowser(memory, "green tea")
    assert browser.hits[0]["id"] == told.tea
    said(browser, type="open", id=told.tea)
    assert browser.note["text"] == "Green tea wants 70 degrees."
    assert {link["id"] for link in browser.note["links"]} == {told.kettle, told.chinese}
    last = next(step for step in browser.note["history"] if step["changes"][0]["field"] == "content")
    assert last["changes"][0]["before"] == "Green tea wants 80 degrees."

    said(browser, type="undo", operation=last["operation"])
    assert browser.note["text"] == "Green tea wants 80 degrees."
    assert browser.message.startswith("Undone")


def test_the_browser_lists_the_newest_without_a_question_and_says_what_is_wrong(
    memory: AgenticMemorySystem, told: Told
) -> None:
    from amem.jupyter import NoteBrowser

    browser = NoteBrowser(memory)
    assert browser.hits[0]["id"] == told.chinese
    said(browser, type="open", id="nobody")
    assert browser.message == "No note 'nobody'."
    before = memory.pulse()[1]
    said(browser, type="undo", operation=1)
    assert memory.pulse()[1] == before


def test_without_anywidget_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    import amem.jupyter

    for name in ("amem.jupyter.graph_widget", "amem.jupyter.note_browser"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"amem\[jupyter\]"):
        _ = amem.jupyter.GraphWidget
