"""From node to node with the arrow keys: to the nearest in a direction, and to every one by some way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from amem_tui.graph.placing import ASPECT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem_tui.graph.placing import Layout, Spot

Way = Literal["up", "down", "left", "right"]
_WAYS: tuple[Way, ...] = get_args(Way)
#: What lies beside the way counts so many times as far as what lies along it.
_ASIDE = 2.2

Steps = dict[tuple[str, Way], str]


def steps(layout: Layout) -> Steps:
    """Where each arrow key leads from each node. From the centre every node can be reached."""
    spots = layout.spots
    found: Steps = {}
    for here in spots:
        for way in _WAYS:
            far = {there: _distance(spots[here], spots[there], way) for there in spots if there != here}
            near = [(distance, there) for there, distance in far.items() if distance is not None]
            if near:
                found[here, way] = min(near)[1]
    return _all_reached(found, layout)


def _all_reached(found: Steps, layout: Layout) -> Steps:
    """Put a node that no key leads to on the way between two others."""
    start = layout.scene.centre
    for _ in range(len(layout.spots)):
        reached = _reached(found, start)
        lost = [id for id in layout.spots if id not in reached]
        if not lost or start not in layout.spots:
            break
        offers = sorted(
            (distance, here, way, there)
            for there in lost
            for here in reached
            for way in _WAYS
            if (distance := _distance(layout.spots[here], layout.spots[there], way)) is not None
        )
        for _, here, way, there in offers:
            tried = dict(found)
            before = tried.get((here, way))
            tried[here, way] = there
            if before is not None and _distance(layout.spots[there], layout.spots[before], way) is not None:
                tried[there, way] = before
            if len(_reached(tried, start)) > len(reached):
                found = tried
                break
        else:
            break
    return found


def _reached(found: Mapping[tuple[str, Way], str], start: str) -> set[str]:
    seen = {start}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        for way in _WAYS:
            there = found.get((here, way))
            if there is not None and there not in seen:
                seen.add(there)
                waiting.append(there)
    return seen


def _distance(here: Spot, there: Spot, way: Way) -> float | None:
    """How far a node is in a direction, in cells; None when it does not lie there at all."""
    x, y = _gap(here, there), (there.row - here.row) * ASPECT
    along, aside = (y, abs(x)) if way in ("up", "down") else (x, abs(y))
    if way in ("up", "left"):
        along = -along
    if along <= 0 or aside > 3 * along + 4 * ASPECT:
        return None
    return along + _ASIDE * aside


def _gap(here: Spot, there: Spot) -> float:
    """How far to the right (left when negative) another label begins; 0 when one is above the other."""
    if there.left > here.right:
        return there.left - here.right + 1
    if there.right < here.left:
        return there.right - here.left - 1
    middle = (there.left + there.right - here.left - here.right) / 2
    return middle / 8
