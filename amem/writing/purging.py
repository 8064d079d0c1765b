"""A purge: notes and what is made of them destroyed, in one commit, with what that leaves to be done written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import Status
from amem.storage.purging import owe, purge
from amem.writing.apply import readdress
from amem.writing.conflict.standing import free, lift_all_by
from amem.writing.steps import ENRICH_JOB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.storage import Store
    from amem.storage.purging import Purged
    from amem.vectorizer import Vectorizer
    from amem.writing.conflict.reweighing import Reweigher


class Purger:
    """Destroys notes of one collection for good."""

    def __init__(self, store: Store, vectorizer: Vectorizer, reweigher: Reweigher) -> None:
        self._store = store
        self._vectorizer = vectorizer
        self._reweigher = reweigher

    def purge(self, ids: Sequence[str], actor: str) -> Purged | None:
        """Destroy notes and what derives from them; what they superseded stands again. None when there are none.

        The files still hold what was destroyed, until what is owed is done.
        """
        with self._store.write() as session:
            known = session.notes.keys_of(ids)
            if not known:
                return None
            operation = session.begin("purge", actor, f"{len(known)} destroyed for good")
            done = purge(session, list(known), operation, _is_common)
            standing = session.notes.get_many(done.freed, history=False, usage=False)
            for note in standing.values():
                if note.status is Status.SUPERSEDED:
                    free(session, note.id, operation)
            lift_all_by(session, list(done.notes), operation)
            for id in done.back:
                session.notes.change(id, {"status": str(Status.ACTIVE)}, operation)
            for id in done.rewritten:
                readdress(session, id, self._vectorizer)
            for id in done.unread:
                session.jobs.put(ENRICH_JOB, id, operation)
            done.count("vectors", session.vectors.drop_orphans())
            session.vectors.disown_copies()
            owe(session, done)
        if done.freed:
            self._reweigher.refresh()
            with self._store.write() as session:
                self._reweigher.settle(session, done.freed, parent=operation)
        return done


def _is_common(word: str) -> bool:
    """Whether a word is one of those that the rules file notes under: it quotes no note that happens to have it."""
    # Here, so that opening a collection to read it does not load the rules.
    from amem.llm.offline.tags import is_kind_tag, theme_named

    return is_kind_tag(word) or theme_named(word) is not None
