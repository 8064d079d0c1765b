"""Where on its ring each node goes: linked nodes side by side, what hangs on a node behind it.

A place on a ring is a share of a turn, 0 at the top and clockwise. Equal shares are equal steps down the screen: rows
are what labels need, and a circle's top and bottom would crowd them into a few.
"""

from __future__ import annotations

from math import atan2, cos, pi, pow, sin
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem_tui.graph.scene import Scene

#: Between an ellipse (2) and a box: this fills the corners of a screen and still reads as a ring.
_SHAPE = 2.6
_PASSES = 12
#: What hangs on one node takes no more of a turn than this, so that it stays on that node's side.
_WIDEST = 0.5
#: A lone node goes by so much of its share to the side, towards the top or the bottom.
_BESIDE = 0.3


def point(place: float) -> tuple[float, float]:
    """(x, y) of a place on the ring around (0, 0) that reaches from -1 to 1 each way, y downwards."""
    place %= 1.0
    y = -1 + 4 * place if place < 0.5 else 3 - 4 * place
    x = pow(max(0.0, 1 - pow(abs(y), _SHAPE)), 1 / _SHAPE)
    return (x if place < 0.5 else -x), y


def toward(x: float, y: float) -> float:
    """The place on the ring in this direction from its middle; the inverse of `point`."""
    reach = pow(pow(abs(x), _SHAPE) + pow(abs(y), _SHAPE), 1 / _SHAPE)
    if reach == 0:
        return 0.25
    down = max(-1.0, min(1.0, y / reach))
    return (down + 1) / 4 if x >= 0 else (0.5 + (1 - down) / 4) % 1.0


def places(scene: Scene, facing: Mapping[str, float]) -> dict[str, float]:
    """A place for every node but the centre. `facing` are places that nodes should keep as far as possible."""
    hung: dict[str, list[str]] = {}
    for id, via in scene.via.items():
        hung.setdefault(via, []).append(id)
    tied = _ties(scene)
    first = _first_ring(hung.get(scene.centre, []), hung, tied, facing)
    size = _sizes(scene, hung)
    found: dict[str, float] = {}
    total = sum(size[id] for id in first) or 1.0
    start = _turn(first, size, total, facing)
    for id in first:
        share = size[id] / total
        found[id] = (start + share / 2) % 1.0
        _spread(id, found[id], min(share, _WIDEST), hung, size, tied, facing, found)
        start += share
    return found


def _first_ring(
    ids: Sequence[str],
    hung: Mapping[str, Sequence[str]],
    tied: Mapping[str, Mapping[str, int]],
    facing: Mapping[str, float],
) -> list[str]:
    """The order around the centre: as it was where that is known, else so that links between nodes are short."""
    branch = {below: id for id in ids for below in _branch(id, hung)}
    between: dict[str, dict[str, int]] = {id: {} for id in ids}
    for one, others in tied.items():
        for other, weight in others.items():
            here, there = branch.get(one), branch.get(other)
            if here is not None and there is not None and here != there:
                between[here][there] = between[here].get(there, 0) + weight
    if any(id in facing for id in ids):
        return _as_they_were(ids, between, facing)
    return _shortened(_chained(ids, between), between)


def _as_they_were(
    ids: Sequence[str], between: Mapping[str, Mapping[str, int]], facing: Mapping[str, float]
) -> list[str]:
    """Newcomers go beside what they are linked to, and to the end where that is nothing."""

    def desired(id: str) -> float:
        near = [facing[other] for other in between[id] if other in facing]
        return facing.get(id, _mean(near) if near else 0.999)

    return sorted(ids, key=desired)


def _chained(ids: Sequence[str], between: Mapping[str, Mapping[str, int]]) -> list[str]:
    """One after another, each the one with most links to those just before it."""
    left = list(ids)
    chain: list[str] = []
    while left:
        recent = chain[-4:]

        def pull(id: str, recent: Sequence[str] = recent) -> float:
            return sum(between[id].get(other, 0) * (place + 1) for place, other in enumerate(recent))

        # Without a pull, begin anew with what has fewest links: an end of its own chain.
        best = max(left, key=lambda id: (pull(id), -sum(between[id].values()) if pull(id) == 0 else 0))
        left.remove(best)
        chain.append(best)
    return chain


def _shortened(chain: list[str], between: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Exchange neighbours for as long as that shortens the links along the ring."""
    count = len(chain)
    at = {id: place for place, id in enumerate(chain)}

    def length(id: str, place: int) -> int:
        return sum(
            weight * min(abs(place - at[other]), count - abs(place - at[other]))
            for other, weight in between[id].items()
        )

    for _ in range(_PASSES):
        changed = False
        for place in range(count):
            after = (place + 1) % count
            one, other = chain[place], chain[after]
            if one == other:
                continue
            before = length(one, place) + length(other, after)
            at[one], at[other] = after, place
            if length(one, after) + length(other, place) < before:
                chain[place], chain[after] = other, one
                changed = True
            else:
                at[one], at[other] = place, after
        if not changed:
            break
    return chain


def _spread(
    id: str,
    middle: float,
    share: float,
    hung: Mapping[str, Sequence[str]],
    size: Mapping[str, float],
    tied: Mapping[str, Mapping[str, int]],
    facing: Mapping[str, float],
    found: dict[str, float],
) -> None:
    """What hangs on a node, behind it: those that look elsewhere on the side where that is."""

    def lean(below: str) -> float:
        if below in facing:
            return _signed(facing[below] - middle)
        near = [_signed(found[other] - middle) for other in tied.get(below, {}) if other in found and other != id]
        return sum(near) / len(near) if near else 0.0

    below = sorted(hung.get(id, []), key=lean)
    total = sum(size[each] for each in below) or 1.0
    start = middle - share / 2
    if len(below) == 1:  # not straight behind: on the same row there would be no room for either's label
        start += share * _BESIDE * (1 if (middle % 0.5) > 0.25 else -1)
    for each in below:
        part = share * size[each] / total
        found[each] = (start + part / 2) % 1.0
        start += part
        _spread(each, found[each], part, hung, size, tied, facing, found)


def _sizes(scene: Scene, hung: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """How much of a ring each node needs: one share, or what hangs on it does."""
    size: dict[str, float] = {}
    for id in sorted(scene.nodes, key=lambda id: -scene.nodes[id].hop):
        size[id] = max(1.0, 0.8 * sum(size[below] for below in hung.get(id, [])))
    return size


def _turn(first: Sequence[str], size: Mapping[str, float], total: float, facing: Mapping[str, float]) -> float:
    """Where the first share begins: so that what is known stays where it was; a lone node looks to the right."""
    if not any(id in facing for id in first):
        return -0.25 if len(first) == 1 else 0.0
    begin, away = 0.0, []
    for id in first:
        if id in facing:
            away.append((facing[id] - (begin + size[id] / total / 2)) % 1.0)
        begin += size[id] / total
    return _mean(away)


def _branch(id: str, hung: Mapping[str, Sequence[str]]) -> list[str]:
    return [id, *(each for below in hung.get(id, []) for each in _branch(below, hung))]


def _ties(scene: Scene) -> dict[str, dict[str, int]]:
    """How often two nodes are linked, the centre's links left out: they pull in no direction."""
    found: dict[str, dict[str, int]] = {}
    for edge in scene.edges:
        if scene.centre not in (edge.source, edge.target):
            for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                row = found.setdefault(here, {})
                row[there] = row.get(there, 0) + 1
    return found


def _mean(shares: Sequence[float]) -> float:
    """The mean of places on a ring."""
    x, y = sum(cos(2 * pi * each) for each in shares), sum(sin(2 * pi * each) for each in shares)
    if abs(x) < 1e-9 and abs(y) < 1e-9:
        return shares[0] % 1.0
    return (atan2(y, x) / (2 * pi)) % 1.0


def _signed(turn: float) -> float:
    """A turn by the shorter way, from -0.5 to 0.5."""
    return (turn + 0.5) % 1.0 - 0.5
