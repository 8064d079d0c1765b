"""The monthly phase that weighs links by use: what is recalled together passes more relevance on, what is not, less."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.maintenance.shift import PhaseReport
from amem.note import LinkType
from amem.storage.link_use import link_uses, weigh_links

if TYPE_CHECKING:
    from amem.maintenance.shift import Shift
    from amem.storage import Store

#: Links that say how near two notes are. What says which note is so, or where one came from, use does not change.
WEIGHED = (LinkType.RELATED, LinkType.SUPPORTS, LinkType.CAUSED_BY, LinkType.PART_OF)
LEAST, MOST = 0.7, 1.2
_QUARTER = 90.0
_PAGE = 2000
#: A smaller difference is not worth writing down.
_NOTICEABLE = 0.01


def link_weight(recalls: tuple[int, int], age_days: float) -> float:
    """A factor on a link's confidence, from what was recorded alone: ``((1 + uses) / (1 + age / 90)) ** 0.25``.

    `uses` is the fewer of the recalls of both ends, since a link is as useful as the end that is less so. A link that
    is new or whose ends are recalled once a quarter weighs 1; between 0.7 and 1.2.
    """
    return float(min(MOST, max(LEAST, ((1 + min(recalls)) / (1 + max(age_days, 0.0) / _QUARTER)) ** 0.25)))


class WeighPhase:
    """Weighs every link that a machine made."""

    name = "links"

    def __init__(self, store: Store) -> None:
        self._store = store

    def run(self, shift: Shift) -> PhaseReport:
        """Weigh them a page at a time; a run that was killed goes on after the last page."""
        after = int(shift.progress.get("done", 0))
        changed = 0
        while not shift.cancelled.is_set():
            with self._store.read() as session:
                page = link_uses(session, WEIGHED, after=after, limit=_PAGE)
                now = session.now
            if not page:
                break
            weights = {each.key: link_weight(each.recalls, (now - each.at).total_seconds() / 86_400) for each in page}
            news = {each.key: weights[each.key] for each in page if abs(weights[each.key] - each.weight) > _NOTICEABLE}
            changed, after = changed + len(news), page[-1].key
            if not shift.dry_run:
                with self._store.write() as session:
                    weigh_links(session, news)
                    shift.mark(session, {"done": after, "counts": {"reweighted": changed}})
        return PhaseReport({"reweighted": changed})
