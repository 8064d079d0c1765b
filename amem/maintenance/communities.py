"""Which notes belong together: communities in the graph of their links."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Web = Mapping[str, Mapping[str, float]]

#: The same web always falls into the same communities.
_SEED = 7
#: A community of more notes than this is looked at by itself once more: it is several subjects grown together.
_LARGE = 60


def communities(links: Iterable[tuple[str, str, float]], size: int) -> list[frozenset[str]]:
    """Groups of at least `size` notes that are linked more among each other than with others, the largest first.

    `links` are (note, note, weight) in either direction; of several between two notes the strongest counts. Found by
    Louvain's method (Blondel et al. 2008), seeded.
    """
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    for one, other, weight in links:
        if one != other and weight > 0:
            pair = (min(one, other), max(one, other))
            weights[pair] = max(weights[pair], weight)
    web: defaultdict[str, dict[str, float]] = defaultdict(dict)
    # In a fixed order, since the method's result depends on it.
    for (one, other), weight in sorted(weights.items()):
        web[one][other] = web[other][one] = weight
    large = [part for group in _louvain(web) for part in _parted(web, group) if len(part) >= size]
    return sorted(large, key=lambda group: (-len(group), min(group)))


def _parted(web: Web, group: frozenset[str]) -> Sequence[frozenset[str]]:
    if len(group) <= _LARGE:
        return [group]
    within = {one: {other: weight for other, weight in web[one].items() if other in group} for one in sorted(group)}
    inner = _louvain(within)
    return inner if len(inner) > 1 else [group]


def _louvain(web: Web) -> list[frozenset[str]]:
    """The communities of two levels: more only join communities to larger ones.

    By hand, since networkx takes four times as long, which is most of the first maintenance of many notes.
    """
    names, chance = list(web), random.Random(_SEED)
    places = {name: place for place, name in enumerate(names)}
    near = [{places[other]: weight for other, weight in web[name].items()} for name in names]
    first = _moved(near, [0.0] * len(near), chance)
    # A community is a node of the second level, what is within it a loop.
    numbers = {label: number for number, label in enumerate(dict.fromkeys(sorted(first)))}
    of = [numbers[label] for label in first]
    between: list[dict[int, float]] = [{} for _ in numbers]
    loops = [0.0] * len(numbers)
    for one, other, weight in _edges(near):
        if of[one] == of[other]:
            loops[of[one]] += weight
        else:
            for here, there in ((of[one], of[other]), (of[other], of[one])):
                between[here][there] = between[here].get(there, 0.0) + weight
    second = _moved(between, loops, chance)
    found: defaultdict[int, set[str]] = defaultdict(set)
    for name, place in zip(names, of, strict=True):
        found[second[place]].add(name)
    return [frozenset(found[label]) for label in sorted(found)]


def _moved(near: Sequence[Mapping[int, float]], loops: Sequence[float], chance: random.Random) -> list[int]:
    """For each node the community that it ends up in when each moves where modularity gains most, until none does."""
    of = list(range(len(near)))
    degrees = [sum(each.values()) + 2 * loop for each, loop in zip(near, loops, strict=True)]
    weight = sum(degrees) / 2
    twice = 2 * weight**2
    sums, order = list(degrees), list(of)
    chance.shuffle(order)
    moving = bool(weight)
    while moving:
        moving = False
        for node in order:
            old, degree = of[node], degrees[node]
            to: dict[int, float] = {}
            for other, strength in near[node].items():
                label = of[other]
                to[label] = to.get(label, 0.0) + strength
            sums[old] -= degree
            stay = to.get(old, 0.0) / weight - sums[old] * degree / twice
            best, most = old, 0.0
            for label, strength in to.items():
                gain = strength / weight - sums[label] * degree / twice - stay
                if gain > most:
                    best, most = label, gain
            sums[best] += degree
            if best != old:
                of[node], moving = best, True
    return of


def _edges(near: Sequence[Mapping[int, float]]) -> Iterator[tuple[int, int, float]]:
    return ((one, other, weight) for one, each in enumerate(near) for other, weight in each.items() if one < other)
