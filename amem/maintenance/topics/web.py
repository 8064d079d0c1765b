"""Which notes belong together: communities in the graph of their links."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    import networkx

#: The same web always falls into the same communities.
_SEED = 7
#: More levels only join communities to larger ones.
_LEVELS = 2
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
    if not weights:
        return []
    import networkx

    web = networkx.Graph()
    # In a fixed order, since the method's result depends on it.
    web.add_weighted_edges_from((one, other, weight) for (one, other), weight in sorted(weights.items()))
    found = [part for group in _louvain(web) for part in _parted(web, group)]
    large = [group for group in found if len(group) >= size]
    return sorted(large, key=lambda group: (-len(group), min(group)))


def neighbours(links: Iterable[tuple[str, str, float]], moved: AbstractSet[str]) -> set[str]:
    """The notes that are linked to one of `moved`, and these themselves."""
    near = set(moved)
    for one, other, _ in links:
        if one in moved or other in moved:
            near |= {one, other}
    return near


def joining(
    links: Iterable[tuple[str, str, float]], topics: Mapping[str, AbstractSet[str]], free: AbstractSet[str]
) -> dict[str, str]:
    """Of the `free` notes those that most of the weight of their links leads into one topic (by id), and which.

    A note that has joined draws others after it. `topics` stay as they are: parting the web anew for each note that
    came would shuffle them all.
    """
    place = {note: id for id in sorted(topics, reverse=True) for note in topics[id]}
    ties: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for one, other, weight in links:
        for note, end in ((one, other), (other, one)):
            if note in free and note not in place and note != end:
                ties[note][end] = max(ties[note].get(end, 0.0), weight)
    joined: dict[str, str] = {}
    waiting = sorted(ties)
    while True:
        found = {note: id for note in waiting if (id := _drawn(ties[note], place)) is not None}
        if not found:
            return joined
        place |= found
        joined |= found
        waiting = [note for note in waiting if note not in found]


def _drawn(ties: Mapping[str, float], place: Mapping[str, str]) -> str | None:
    """The topic to which more than half of the weight leads."""
    pull: defaultdict[str, float] = defaultdict(float)
    for end, weight in ties.items():
        if end in place:
            pull[place[end]] += weight
    return next((id for id, weight in pull.items() if weight * 2 > sum(ties.values())), None)


def _louvain(web: networkx.Graph) -> Sequence[frozenset[str]]:
    import networkx

    return [frozenset(group) for group in networkx.community.louvain_communities(web, seed=_SEED, max_level=_LEVELS)]


def _parted(web: networkx.Graph, group: frozenset[str]) -> Sequence[frozenset[str]]:
    if len(group) <= _LARGE:
        return [group]
    inner = _louvain(web.subgraph(sorted(group)))
    return inner if len(inner) > 1 else [group]
