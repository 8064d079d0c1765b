"""The phases that re-embed notes, finish purges, tidy the database and weigh links by use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import AmemError, Cancelled, EmbedderMismatch
from amem.maintenance.phase import ACTOR, PhaseReport, PhaseRun
from amem.note import LinkType, MemoryNote
from amem.storage.rows import chunks
from amem.storage.vectors import text_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from amem.collection import Vectorizer
    from amem.storage.store import Session, Store


# The vectors in step with the texts: embed what changed, or everything anew for another model or recipe.

_PAGE = 256


def reindex(
    store: Store, vectorizer: Vectorizer, actor: str, *, progress: Callable[[int, int], None] | None = None
) -> int:
    """Embed every note with the present model and recipe beside the old vectors, then switch in one transaction.

    Search goes on with the old vectors until then. Returns how many notes were embedded.
    """
    with store.read() as session:
        total = session.notes.count()
    dimension, packing = vectorizer.embedder.dimension, vectorizer.packing()
    with store.write() as session:
        space = session.vectors.add_space(
            vectorizer.embedder.name, dimension, vectorizer.recipe, active=False, tokens=packing
        )
        session.begin("reindex", actor, f"{vectorizer.embedder.name}, recipe {vectorizer.recipe}")
    try:
        done = 0
        for notes in _pages(store):
            texts = {text_hash(text): text for text in map(vectorizer.text, notes)}
            with store.read() as session:
                known = session.vectors.known(space, list(texts))
            fresh = [hashed for hashed in texts if hashed not in known]
            rows = vectorizer.compute([texts[hashed] for hashed in fresh], dimension)
            with store.write() as session:
                session.vectors.put(space, dict(zip(fresh, rows, strict=True)))
            done += len(notes)
            if progress is not None:
                progress(done, total)
    except BaseException:
        with store.write() as session:
            session.vectors.drop_unused(space)
        raise
    with store.write() as session:
        hashes: dict[int, bytes] = {}
        for notes in _all(session):
            keys = session.notes.keys_of([note.id for note in notes])
            hashes |= {keys[note.id]: vectorizer.hash(note) for note in notes}
        session.vectors.switch(space, hashes)
    # What was written while the others were embedded.
    vectorizer.embed_missing()
    return total


def _pages(store: Store) -> Iterator[Sequence[MemoryNote]]:
    with store.read() as session:
        ids = session.notes.ids()
    for some in chunks(ids, _PAGE):
        with store.read() as session:
            yield list(session.notes.get_many(some, history=False).values())


def _all(session: Session) -> Iterator[Sequence[MemoryNote]]:
    for some in chunks(session.notes.ids(deleted=True), _PAGE):
        yield list(session.notes.get_many(some, history=False, deleted=True).values())


# What keeps a collection's files in shape: vectors of the present model (monthly), a tidy database (weekly).


def reembed(store: Store, vectorizer: Vectorizer, run: PhaseRun) -> PhaseReport:
    """Embed all notes anew where the settings name another model or recipe than the collection's vectors are of.

    What is nearest to what is another question then, so the next run looks at every note again. All or nothing: one
    that is called off leaves the old vectors in use.
    """
    try:
        vectorizer.check()
    except EmbedderMismatch:
        if run.dry_run:
            with store.read() as session:
                return PhaseReport({"reembedded": session.notes.count()})
    else:
        return PhaseReport()

    def heard(done: int, of: int) -> None:
        if run.cancelled.is_set():
            raise Cancelled("embedding anew was called off", hint="the old vectors are still in use")
        with store.write() as session:
            run.keep(session)
        run.tell(done, of)

    return PhaseReport({"reembedded": reindex(store, vectorizer, ACTOR, progress=heard)})


def finish_purges(finish: Callable[[], str], run: PhaseRun) -> PhaseReport:
    """Finish what purges owe: files that could not be rewritten then.

    Raises AmemError where it still can't be done: the run goes on and says so, the next one tries again.
    """
    if not run.dry_run and (problem := finish()):
        raise AmemError(f"files still hold purged text: {problem}")
    return PhaseReport()


def tidy(store: Store, run: PhaseRun) -> PhaseReport:
    """Let the database gather statistics, merge pieces of its full-text indexes, and give back room that is free.

    In steps of some milliseconds, so that nobody waits, but for a file that is written anew: seconds, once.
    """
    if not run.dry_run:
        store.tidy(run.cancelled.is_set)
    return PhaseReport()


# The monthly phase that weighs links by use: what is recalled together passes more relevance on, what is not, less.

#: Links that say how near two notes are. What says which note is so, or where one came from, use does not change.
WEIGHED = (LinkType.RELATED, LinkType.SUPPORTS, LinkType.CAUSED_BY, LinkType.PART_OF)
LEAST, MOST = 0.7, 1.2
_QUARTER = 90.0
_LINKS_PAGE = 2000
#: A smaller difference is not worth writing down.
_NOTICEABLE = 0.01


def link_weight(recalls: tuple[int, int], age_days: float) -> float:
    """A factor on a link's confidence, from what was recorded alone: ``((1 + uses) / (1 + age / 90)) ** 0.25``.

    `uses` is the fewer of the recalls of both ends, since a link is as useful as the end that is less so. A link that
    is new or whose ends are recalled once a quarter weighs 1; between 0.7 and 1.2.
    """
    return float(min(MOST, max(LEAST, ((1 + min(recalls)) / (1 + max(age_days, 0.0) / _QUARTER)) ** 0.25)))


def weigh_links(store: Store, run: PhaseRun) -> PhaseReport:
    """Weigh every link that a machine made, a page at a time; a run that was killed goes on after the last page."""
    after = int(run.progress.get("done", 0))
    changed = 0
    while not run.cancelled.is_set():
        with store.read() as session:
            page = session.links.uses(WEIGHED, after=after, limit=_LINKS_PAGE)
            now = session.now
        if not page:
            break
        weights = {each.key: link_weight(each.recalls, (now - each.at).total_seconds() / 86_400) for each in page}
        news = {each.key: weights[each.key] for each in page if abs(weights[each.key] - each.weight) > _NOTICEABLE}
        changed, after = changed + len(news), page[-1].key
        if not run.dry_run:
            with store.write() as session:
                session.links.weigh(news)
                run.mark(session, {"done": after, "counts": {"reweighted": changed}})
    return PhaseReport({"reweighted": changed})
