"""Purges, and what they owe: files rid of the text, pages and summaries that were made of it made anew."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from typing import TYPE_CHECKING, Any

from amem.collection import collection_names
from amem.conversation.rule_file import load_rules
from amem.errors import AmemError, StorageBusy, with_hint
from amem.maintenance.shift import ACTOR
from amem.maintenance.topic_notes import known_topics
from amem.storage.purging import Left, owed, settle_owed
from amem.system.topics import Topics
from amem.writing.edits import Purger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.storage.purging import Owed


_log = logging.getLogger("amem")


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


class Purging(Topics):
    """Destroys notes for good, with what was made of them."""

    def purge(self, ids: str | Sequence[str]) -> PurgeReport | None:
        """Destroy notes, their history and what derives from them; None when there are none. `undo` can't take it back.

        What other notes say in their own words stays, and is named. When the files cannot be rewritten now (no room
        left, another process reads), the report says so in `owed`, and the next `maintain` finishes it.
        """
        wanted = [ids] if isinstance(ids, str) else list(dict.fromkeys(ids))
        purger = Purger(self._store, self._vectorizer, self._reweigher)
        done = purger.purge(wanted, self.actor)
        if done is None:
            return None
        first = [id for id in wanted if id in done.notes]
        left = self.finish_purges()
        if done.unread and self._analyst().local:
            for id in done.unread:
                self._enricher.revise(id, done.operation)
        elif done.unread and self._background:
            self._worker.wake()
        return PurgeReport(
            done.operation,
            tuple(dict.fromkeys([*first, *done.notes])),
            tuple(done.rewritten),
            tuple(dict.fromkeys([*done.freed, *done.back])),
            done.removed,
            (*done.left, *(Left("", name) for name in self._files_with(done.sentences))),
            left,
        )

    def _files_with(self, texts: Sequence[str]) -> list[str]:
        """Other collections of the home, and files that lie in it, which hold one of these texts; by path in it."""
        if self._folder is None:
            return []
        home, wanted = self.settings.home, [text.encode("utf-8", "surrogatepass") for text in texts]
        others = [home / name for name in collection_names(home) if home / name != self._folder]
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

    def finish_purges(self) -> str:
        """Do what purges still owe: no file holds what was purged then. Returns why it can't be done, '' when it is."""
        with self._store.read() as session:
            due = owed(session)
        if due is None:
            return ""
        try:
            self._store.shrink()
            if not self._dense.forget_purged():
                raise StorageBusy(
                    "another process has the Chroma folder open", hint="end it, or wait until it makes the folder anew"
                )
            self._make_anew(due)
            with self._store.write() as session:
                settle_owed(session, due)
        except AmemError as error:
            return with_hint(error)
        return ""

    def _make_anew(self, due: Owed) -> None:
        """Write the pages of topics and the summaries of episodes again, by rules, from what is left."""
        if due.episodes:
            self._learner().sum_up_again(due.episodes, load_rules(self.settings.home), due.operation)
        with self._store.read() as session:
            topics = [known for known in known_topics(session) if known.id in due.topics] if due.topics else []
        keeper = self._topic_keeper()
        for known in topics:
            draft = keeper.draft(sorted(known.members), known, scope=known.scope, ask=False)
            if draft is None:
                continue
            vectors = keeper.embed(draft)
            with self._store.write() as session:
                keeper.put(session, draft, vectors, session.begin("topic", ACTOR, draft.name, parent=due.operation))
