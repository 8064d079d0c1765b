"""Laying out and drawing a graph: labels that can be read, a picture that stays as it is."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations
from typing import get_args

import pytest
from amem_tui.graph import drawing as braille
from amem_tui.graph.drawing import LOOKS, Stroke, Way, beyond, branches, draw, drawn
from amem_tui.graph.layout import Layout, natural, place, toward
from amem_tui.graph.scene import Edge, Node, Scene
from rich.cells import cell_len

from amem.note import LinkType

SIZES = [(120, 25), (80, 15), (70, 9), (200, 60)]
NAMES = (
    "Green tea at 80 degrees, never boiling",
    "芝麻是只六岁的橘白猫，怕吸尘器 🐱",
    "שלום עולם זה פתק",
    "👨‍👩‍👧 family",
)


def scene(count: int, *, seed: int = 1, depth: int = 3, crossing: int = 20, weight: int = 0) -> Scene:
    """A centre and `count` nodes around it, by chance."""
    chance = random.Random(seed)
    nodes = {"0": Node("0", NAMES[0], "•", weight=weight * 9)}
    via: dict[str, str] = {}
    edges = []
    for number in range(1, count + 1):
        inner = [id for id, node in nodes.items() if node.hop < depth]
        other, id = chance.choice(inner), str(number)
        nodes[id] = Node(
            id, NAMES[number % 4] + id, "!", hop=nodes[other].hop + 1, pinned=number % 7 == 0, more=number % 3 * 40,
            weight=weight * (number % 9),
        )  # fmt: skip
        via[id] = other
        edges.append(Edge(id, other, chance.choice(list(LinkType))))
    for _ in range(crossing if count > 1 else 0):
        one, other = chance.sample(sorted(nodes), 2)
        edges.append(Edge(one, other, chance.choice(list(LinkType))))
    return Scene("0", nodes, tuple(edges), via)


def assert_readable(layout: Layout) -> None:
    """Every label is on the screen, and none touches another."""
    for spot in layout.spots.values():
        assert 0 <= spot.row < layout.height
        assert 0 <= spot.left < spot.right <= layout.width
        assert spot.left <= spot.port < spot.right
    for one, other in combinations(layout.spots.values(), 2):
        assert one.row != other.row or one.right < other.left or other.right < one.left


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [0, 1, 2, 5, 13, 39])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_labels_never_overlap_nor_leave_the_screen(size: tuple[int, int], count: int, depth: int) -> None:
    for seed in range(3):
        layout = place(scene(count, seed=seed, depth=depth), *size)
        assert layout.spots.keys() == layout.scene.nodes.keys()
        assert_readable(layout)
        rows = draw(layout, "0")
        assert len(rows) == size[1]
        for row in rows:
            assert sum(cell_len(run.text) for run in row) == size[0]


@pytest.mark.parametrize("size", [(0, 0), (3, 1), (10, 3), (24, 4)])
def test_what_finds_no_room_is_left_out(size: tuple[int, int]) -> None:
    layout = place(scene(39), *size)
    assert_readable(layout)
    assert len(layout.spots) < 40
    draw(layout, "0")


def test_forty_notes_find_room_for_a_dozen_cells_each() -> None:
    layout = place(scene(39, depth=1), 120, 25)
    assert min(spot.width for spot in layout.spots.values()) >= 12


def test_a_few_notes_are_named_in_full() -> None:
    layout = place(scene(3, crossing=0, depth=1), 120, 25)
    assert all(layout.spots[id].width == natural(node) for id, node in layout.scene.nodes.items())


def test_the_same_graph_gives_the_same_picture() -> None:
    one, other = (draw(place(scene(30), 120, 25), "3") for _ in range(2))
    assert one == other


def test_linked_notes_stand_side_by_side() -> None:
    """Two circles of friends among twelve neighbours: on the ring, nobody stands between two of one circle."""
    nodes = {"0": Node("0", "centre", "•")} | {str(n): Node(str(n), f"n {n}", "•", hop=1) for n in range(1, 13)}
    edges = [Edge("0", id, LinkType.RELATED) for id in nodes if id != "0"]
    edges += [Edge(str(one), str(one + 2), LinkType.RELATED) for one in range(1, 11)]
    layout = place(Scene("0", nodes, tuple(edges), dict.fromkeys(list(nodes)[1:], "0")), 120, 25)
    middle = layout.spots["0"]

    def turn(id: str) -> float:
        spot = layout.spots[id]
        return toward((spot.port - middle.port) / 60, (spot.row - middle.row) / 12.5)

    odd = [int(id) % 2 for id in sorted(list(nodes)[1:], key=turn)]
    assert sum(one != other for one, other in zip(odd, [*odd[1:], odd[0]], strict=True)) == 2


def test_a_step_to_another_centre_keeps_notes_in_the_order_in_which_they_stood_around_it() -> None:
    before = place(scene(12, depth=1, crossing=0), 120, 25)
    centre = max(before.spots, key=lambda id: before.spots[id].port)  # what is farthest right
    held = before.scene
    others = {id: replace(node, hop=1) for id, node in held.nodes.items() if id != centre}
    nodes = {centre: replace(held.nodes[centre], hop=0)} | others
    edges = tuple(Edge(centre, id, LinkType.RELATED) for id in others)
    after = place(Scene(centre, nodes, edges, dict.fromkeys(others, centre)), 120, 25, before=before)
    assert_readable(after)

    def around(layout: Layout) -> list[str]:
        middle = layout.spots[centre]
        turns = {
            id: toward((layout.spots[id].port - middle.port) / 60, (layout.spots[id].row - middle.row) / 12.5)
            for id in others
        }
        return sorted(turns, key=lambda id: turns[id])

    one, other = around(before), around(after)
    start = other.index(one[0])
    kept = sum(here == there for here, there in zip(one, [*other[start:], *other[:start]], strict=True))
    assert kept >= 9
    assert after.spots["0"].port < after.spots[centre].port  # where one came from is where one looks back to


def test_a_layout_of_the_same_notes_keeps_their_order() -> None:
    first = place(scene(14, depth=1), 120, 25)
    again = place(scene(14, depth=1), 120, 25, before=first)

    def order(layout: Layout) -> list[str]:
        return sorted(layout.spots, key=lambda id: (layout.spots[id].row, layout.spots[id].port))

    assert sum(one == other for one, other in zip(order(first), order(again), strict=True)) >= 11


def leads(layout: Layout) -> dict[tuple[str, Way], str]:
    """Where each arrow key leads from each node."""
    keys = [(id, way) for id in layout.spots for way in get_args(Way)]
    return {key: there for key in keys if (there := beyond(layout, *key)) is not None}


@pytest.mark.parametrize("size", [(120, 25), (80, 15)])
@pytest.mark.parametrize("count", [1, 2, 6, 20, 39])
def test_arrow_keys_reach_every_node_from_the_centre(count: int, size: tuple[int, int]) -> None:
    for seed in range(8):
        layout = place(scene(count, seed=seed, depth=1 + seed % 3), *size)
        reached, waiting = {"0"}, ["0"]
        while waiting:
            here = waiting.pop()
            for (source, _), there in leads(layout).items():
                if source == here and there not in reached:
                    reached.add(there)
                    waiting.append(there)
        assert reached == layout.spots.keys()


@pytest.mark.parametrize("count", [2, 5, 20, 39])
def test_an_arrow_key_leads_in_its_direction(count: int) -> None:
    layout = place(scene(count, depth=2), 120, 25)
    for (here, way), there in leads(layout).items():
        one, other = layout.spots[here], layout.spots[there]
        assert {
            "up": other.row < one.row,
            "down": other.row > one.row,
            "left": other.left < one.left or other.right < one.right,
            "right": other.left > one.left or other.right > one.right,
        }[way]


def test_a_place_on_a_ring_is_a_share_of_a_turn_from_the_top() -> None:
    directions = {(0, -1): 0, (1, 0): 0.25, (0, 1): 0.5, (-1, 0): 0.75}
    assert {at: toward(*at) for at in directions} == pytest.approx(directions)
    assert toward(1, -1) < 0.25 < toward(1, 1) < 0.5 < toward(-1, 1) < 0.75 < toward(-1, -1)


def test_a_line_is_made_of_dots_and_has_the_colour_of_the_weightiest_through_its_cell() -> None:
    lines, ranks = drawn([Stroke((0, 0), (19, 0), 1), Stroke((4, 0), (7, 0), 5)], 10, 2)
    assert lines[0] == "⠉" * 10
    assert ranks == [[1, 1, 5, 5, 1, 1, 1, 1, 1, 1], [0] * 10]
    dashed, _ = drawn([Stroke((0, 0), (19, 0), 1, braille.DASHED)], 10, 1)
    assert dashed != ["⠉" * 10]


def test_links_of_each_type_are_told_apart_without_colours() -> None:
    lines = {drawn([Stroke((0, 0), (47, 0), 1, look.dashes)], 24, 1)[0][0] for look in LOOKS.values()}
    assert len(lines) == len(LOOKS) == len(LinkType)
    assert drawn([Stroke((0, 0), (13, 0), 1, braille.DASH_DOT)], 7, 1)[0] == ["⠉⠉⠉⠉ ⠉ "]


def test_lines_beyond_the_screen_are_cut_off() -> None:
    lines, _ = drawn([Stroke((-30, -30), (50, 60), 1)], 4, 4)
    assert [len(line) for line in lines] == [4, 4, 4, 4]
    assert drawn([], 3, 2) == (["   ", "   "], [[0, 0, 0], [0, 0, 0]])


def test_contradiction_and_succession_are_drawn_differently_and_point_somewhere() -> None:
    nodes = {"0": Node("0", "centre", "•"), "1": Node("1", "old", "•", hop=1), "2": Node("2", "other", "•", hop=1)}
    edges = (Edge("0", "1", LinkType.SUPERSEDES), Edge("0", "2", LinkType.CONTRADICTS))
    picture = draw(place(Scene("0", nodes, edges, {"1": "0", "2": "0"}), 80, 9), "0")
    lines = {tone: "".join(run.text for row in picture for run in row if run.tone == tone)
             for tone in ("supersedes", "contradicts")}  # fmt: skip
    assert "⠤⠄⠠⠤" in lines["supersedes"].replace("⠒", "⠤")
    assert "⠤⠤⠤⠤⠤⠤" not in lines["contradicts"].replace("⠒", "⠤")
    assert {"▸", "◂"} & set(lines["supersedes"])
    assert {"▸", "◂"} & set(lines["contradicts"])


def test_topics_are_circles_as_large_as_they_have_notes() -> None:
    layout = place(scene(9, depth=1, crossing=0, weight=10), 120, 25)
    assert_readable(layout)
    radii = {layout.scene.nodes[id].weight: spot.radius for id, spot in layout.spots.items() if spot.radius}
    assert [radii[weight] for weight in sorted(radii)] == sorted(radii.values())
    assert "90" in "".join(run.text for row in draw(layout) for run in row)


def test_a_tree_holds_every_node_once_below_what_it_hangs_on() -> None:
    found = branches(scene(25))
    ids = [branch.node.id for branch in found]
    assert sorted(ids) == sorted(scene(25).nodes)
    for number, branch in enumerate(found):
        if number:
            assert ids.index(scene(25).via[branch.node.id]) < number
            assert branch.edge is not None
            assert len(branch.lead) == 2 * branch.node.hop
