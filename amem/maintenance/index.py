"""The vectors in step with the texts: embed what changed, or everything anew for another model or recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.storage import text_hash
from amem.vectorizer import embedded_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from amem.note import MemoryNote
    from amem.storage import Session, Store
    from amem.vectorizer import Vectorizer

_PAGE = 256


def embed_missing(store: Store, vectorizer: Vectorizer, ids: Sequence[str] | None = None, *, after: int = 0) -> int:
    """Embed notes (of `ids`; None: all) whose present text has no vector yet, and only those; returns how many."""
    vectorizer.check()
    with store.read() as session:
        missing = session.vectors.missing(ids, after=after)
    for start in range(0, len(missing), _PAGE):
        some = missing[start : start + _PAGE]
        with store.read() as session:
            notes = session.notes.get_many(some, history=False)
        vectors, _ = vectorizer.embed([vectorizer.text(note) for note in notes.values()])
        with store.write() as session:
            vectorizer.keep(session, vectors)
            # Read again: one that was changed meanwhile needs another vector than the one just made.
            for note in session.notes.get_many(some, history=False).values():
                session.notes.address(note.id, vectorizer.hash(note))
    return len(missing)


def reindex(
    store: Store, vectorizer: Vectorizer, actor: str, *, progress: Callable[[int, int], None] | None = None
) -> int:
    """Embed every note with the present model and recipe beside the old vectors, then switch in one transaction.

    Search goes on with the old vectors until then. Returns how many notes were embedded.
    """
    with store.read() as session:
        total = session.notes.count()
    dimension = vectorizer.embedder.dimension
    with store.write() as session:
        space = session.vectors.add_space(vectorizer.embedder.name, dimension, vectorizer.recipe, active=False)
        session.begin("reindex", actor, f"{vectorizer.embedder.name}, recipe {vectorizer.recipe}")
    try:
        done = 0
        for notes in _pages(store):
            texts = {text_hash(text): text for text in (_text(note, vectorizer) for note in notes)}
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
            hashes |= {keys[note.id]: text_hash(_text(note, vectorizer)) for note in notes}
        session.vectors.switch(space, hashes)
    # What was written while the others were embedded.
    embed_missing(store, vectorizer)
    return total


def _text(note: MemoryNote, vectorizer: Vectorizer) -> str:
    return embedded_text(note, vectorizer.recipe)


def _pages(store: Store) -> Iterator[Sequence[MemoryNote]]:
    with store.read() as session:
        ids = session.notes.ids()
    for start in range(0, len(ids), _PAGE):
        with store.read() as session:
            yield list(session.notes.get_many(ids[start : start + _PAGE], history=False).values())


def _all(session: Session) -> Iterator[Sequence[MemoryNote]]:
    ids = session.notes.ids(deleted=True)
    for start in range(0, len(ids), _PAGE):
        some = ids[start : start + _PAGE]
        yield list(session.notes.get_many(some, history=False, deleted=True).values())
