"""Purge notes for good, remove their text from files, and write pages and summaries made of them anew."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from typing import TYPE_CHECKING, Any

from amem.collection_folders import collection_names
from amem.conflict.ending import free, lift_all_by
from amem.errors import AmemError, StorageBusy, with_hint
from amem.labels import short_id
from amem.note import Status
from amem.storage.purging import Left, Owed, Purged, owe, owed, purge, settle_owed
from amem.writing.evolution import readdress
from amem.writing.fields import ENRICH_JOB

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from amem.collection import Collection
    from amem.conflict.corrections import Reweigher
    from amem.maintenance.topics import Topics
    from amem.writing.enrich import Enricher

_log = logging.getLogger("amem")
#: Of what a purge destroys so many ids are kept for the log.
_NAMED = 8


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """What a purge did. `notes` are the ids that are gone: those asked for, and what was made of them.

    `rewritten` are notes that were rewritten without their words, `stands_again` those whose place they had; `removed`
    counts what went besides. `left` names what says the same and stays: other notes in their own words, and other
    collections and files of the home that hold a sentence of theirs. `owed` says why files of this collection still
    hold the text, '' when none does: ``maintain`` and ``doctor(repair=True)`` finish it.
    """

    operation: int
    notes: tuple[str, ...]
    rewritten: tuple[str, ...] = ()
    stands_again: tuple[str, ...] = ()
    removed: Mapping[str, int] | None = None
    left: tuple[Left, ...] = ()
    owed: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {
            "purged": list(self.notes),
            "operation": self.operation,
            "rewritten": list(self.rewritten),
            "stands_again": list(self.stands_again),
            "removed": dict(self.removed or {}),
            "left": [{"id": each.note, "where": each.where} for each in self.left],
            "owed": self.owed,
        }


@dataclass(frozen=True, slots=True)
class Purges:
    """Destroys notes of one collection for good, with what was made of them.

    `sum_up_again` writes the notes of these episodes anew, by rules, as a part of an operation.
    """

    collection: Collection
    reweigher: Reweigher
    enricher: Enricher
    topics: Topics
    sum_up_again: Callable[[Sequence[str], int], None]

    def purge(self, ids: Sequence[str], actor: str) -> PurgeReport | None:
        """Destroy notes and what derives from them; what they superseded stands again. None when there are none."""
        wanted = list(dict.fromkeys(ids))
        done = self._purge(wanted, actor)
        if done is None:
            return None
        first = [id for id in wanted if id in done.notes]
        left = self.finish()
        self.enricher.again(done.unread, done.operation, wait=False)
        return PurgeReport(
            done.operation,
            tuple(dict.fromkeys([*first, *done.notes])),
            tuple(done.rewritten),
            tuple(dict.fromkeys([*done.freed, *done.back])),
            done.removed,
            (*done.left, *(Left("", name) for name in self._files_with(done.sentences))),
            left,
        )

    def _purge(self, ids: Sequence[str], actor: str) -> Purged | None:
        """One commit, with what that leaves to be done written down; until that is done, files hold the text."""
        with self.collection.store.write() as session:
            known = session.notes.keys_of(ids)
            if not known:
                return None
            named = ", ".join([*map(short_id, list(known)[:_NAMED]), *(["…"] if len(known) > _NAMED else [])])
            operation = session.begin("purge", actor, f"{len(known)} destroyed for good ({named})")
            done = purge(session, list(known), operation, _is_common)
            standing = session.notes.get_many(done.freed, history=False, usage=False)
            for note in standing.values():
                if note.status is Status.SUPERSEDED:
                    free(session, note.id, operation)
            lift_all_by(session, list(done.notes), operation)
            for id in done.back:
                session.notes.change(id, {"status": str(Status.ACTIVE)}, operation)
            for id in done.rewritten:
                readdress(session, id, self.collection.vectorizer)
            for id in done.unread:
                session.jobs.put(ENRICH_JOB, id, operation)
            done.count("vectors", session.vectors.drop_orphans())
            session.vectors.disown_copies()
            owe(session, done)
        if done.freed:
            self.reweigher.refresh()
            with self.collection.store.write() as session:
                self.reweigher.settle(session, done.freed, parent=operation)
        return done

    def _files_with(self, texts: Sequence[str]) -> list[str]:
        """Other collections of the home, and files that lie in it, which hold one of these texts; by path in it."""
        if self.collection.folder is None:
            return []
        home, wanted = self.collection.settings.home, [text.encode("utf-8", "surrogatepass") for text in texts]
        others = [home / name for name in collection_names(home) if home / name != self.collection.folder]
        files = [path for folder in (home, *others) for path in sorted(folder.iterdir())]
        held = []
        for path in files:
            if path.is_symlink() or not path.is_file() or not path.stat().st_size:
                continue
            try:
                with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
                    if any(data.find(text) >= 0 for text in wanted):
                        held.append(path.relative_to(home).as_posix())
            except OSError as error:
                _log.warning("whether %s holds purged text cannot be told: %s", path, error)
        return held

    def finish(self) -> str:
        """Do what purges still owe: no file holds what was purged then. Returns why it can't be done, '' when it is."""
        with self.collection.store.read() as session:
            due = owed(session)
        if due is None:
            return ""
        try:
            self.collection.store.shrink()
            if not self.collection.dense.forget_purged():
                raise StorageBusy(
                    "another process has the Chroma folder open", hint="end it, or wait until it makes the folder anew"
                )
            self._make_anew(due)
            with self.collection.store.write() as session:
                settle_owed(session, due)
        except AmemError as error:
            return with_hint(error)
        return ""

    def _make_anew(self, due: Owed) -> None:
        """Write the pages of topics and the summaries of episodes again, by rules, from what is left."""
        if due.episodes:
            self.sum_up_again(due.episodes, due.operation)
        self.topics.write_again(due.topics, due.operation)


def _is_common(word: str) -> bool:
    # Imported here, so that opening a collection to read it does not load the rules.
    from amem.analysts.rules.keywords import is_common_tag

    return is_common_tag(word)
