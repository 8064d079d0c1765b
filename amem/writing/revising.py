"""Many notes brought up to date at once, as what they came from has changed: one operation, one undo."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from amem.conflict.corrections import Reweigher, delete, take_again
from amem.conflict.ending import free, unlink_successors
from amem.errors import InvalidInput
from amem.note import MemoryNote, Status
from amem.storage.rows import plain
from amem.writing.evolution import readdress
from amem.writing.fields import ENRICH_JOB, as_timestamp, clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.collection import Collection
    from amem.storage.store import Session
    from amem.writing.enrich import Enricher

_PAGE = 256


@dataclass(frozen=True, slots=True)
class Change:
    """What a note becomes: other `fields`, and with `back` active again. `version` is that which this is based on."""

    id: str
    version: int
    fields: Mapping[str, Any]
    back: bool = False


@dataclass(slots=True)
class Revised:
    """What was done: the operation (None: nothing), the notes that need an analyst, and those left as they were.

    `stale` changed between planning and writing; `refused` says of ids why what they were to become cannot be kept.
    """

    operation: int | None = None
    reworded: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reviser:
    """Brings notes of one collection up to date."""

    collection: Collection
    reweigher: Reweigher
    enricher: Enricher

    def revise(
        self,
        changes: Sequence[Change],
        hidden: Sequence[str],
        *,
        actor: str,
        action: str,
        cause: str,
        parent: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        at_last: Callable[[Session, int], None] | None = None,
    ) -> Revised:
        """Make the changes and hide those notes, in one transaction; `at_last` is given it with the operation.

        What a note says afterwards is nobody's edit: it may be changed again in the same way. Notes with another text
        are analysed again then; `progress` hears (done, of how many). Raises EmbedderMismatch.
        """
        self.collection.vectorizer.check()
        done = Revised()
        cleaned = self._cleaned(changes, done)
        vectors = self._embedded(cleaned)
        self.reweigher.refresh()
        with self.collection.store.write() as session:
            self.collection.vectorizer.keep(session, vectors)
            ids = [*(each.id for each, _ in cleaned), *hidden]
            notes = session.notes.get_many(ids, history=False, usage=False, deleted=True)
            current = [each for each in cleaned if each[0].id in notes and notes[each[0].id].version == each[0].version]
            fitting = {each.id for each, _ in current}
            done.stale = [each.id for each, _ in cleaned if each.id not in fitting]
            gone = [id for id in hidden if id in notes and notes[id].status is not Status.DELETED]
            if current or gone:
                done.operation = session.begin(action, actor, cause, parent=parent)
                for each, values in current:
                    if each.back:
                        _bring_back(session, notes[each.id], done.operation)
                    self._change(session, each.id, values, done.operation)
                done.reworded = [each.id for each, values in current if "content" in values]
                delete(session, gone, done.operation, self.reweigher)
                if at_last is not None:
                    at_last(session, done.operation)
        for number, id in enumerate(done.reworded, start=1):
            assert done.operation is not None
            self.enricher.revise(id, done.operation)
            if progress is not None:
                progress(number, len(done.reworded))
        self.collection.vectorizer.embed_missing([each.id for each in changes])
        return done

    def _cleaned(self, changes: Sequence[Change], done: Revised) -> list[tuple[Change, dict[str, Any]]]:
        cleaned = []
        for each in changes:
            try:
                values = clean(each.fields, self.collection.settings)
                if "timestamp" in values:
                    values["at"] = as_timestamp(values["timestamp"], self.collection.settings)[1]
            except InvalidInput as error:
                done.refused[each.id] = str(error)
            else:
                cleaned.append((each, values))
        return cleaned

    def _embedded(self, cleaned: Sequence[tuple[Change, dict[str, Any]]]) -> dict[bytes, NDArray[np.float32]]:
        """Vectors of the texts that the notes will have."""
        found: dict[bytes, NDArray[np.float32]] = {}
        moved = [
            (each, values) for each, values in cleaned if self.collection.vectorizer.reads(list(values)) or each.back
        ]
        for start in range(0, len(moved), _PAGE):
            some = moved[start : start + _PAGE]
            with self.collection.store.read() as session:
                ids = [each.id for each, _ in some]
                notes = session.notes.get_many(ids, history=False, usage=False, deleted=True)
            texts = []
            for each, values in some:
                if each.id in notes:
                    texts.append(self.collection.vectorizer.text(replace(notes[each.id], **values)))
            found |= self.collection.vectorizer.embed(texts)[0]
        return found

    def _change(self, session: Session, id: str, values: Mapping[str, Any], operation: int) -> None:
        changes = {name: plain(name, value) for name, value in values.items()}
        session.notes.change(id, changes, operation, given=True)
        if "content" in values:
            session.jobs.put(ENRICH_JOB, id, operation)
        readdress(session, id, self.collection.vectorizer)


def _bring_back(session: Session, note: MemoryNote, operation: int) -> None:
    if note.status is Status.DELETED:
        take_again(session, note.id, operation)
    if note.superseded_by is not None or note.status is Status.SUPERSEDED:
        free(session, note.id, operation)
        unlink_successors(session, note.id, operation)
    else:
        session.notes.change(note.id, {"status": str(Status.ACTIVE)}, operation)
