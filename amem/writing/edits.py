"""Changes that a person or program asks for: edit, delete, restore, link, retag, decide reviews, undo."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from amem import checks
from amem.conflict.corrections import Reweigher, delete, mend, stand_again, stand_by, take_again
from amem.conflict.ending import free
from amem.errors import InvalidInput, NoteNotFound, StaleNote
from amem.labels import short_id
from amem.note import EVERYONE, SCOPES, Link, LinkType, MemoryNote, Scope, Status, is_persons_word
from amem.query import UNDELETED
from amem.storage.rows import VERSIONED, plain
from amem.storage.undo import UndoReport, redo, rollback, undo
from amem.writing.evolution import readdress
from amem.writing.fields import ENRICH_JOB, Canon, as_timestamp, clean, labels
from amem.writing.intake import scope_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.collection import Collection
    from amem.storage.store import Session
    from amem.writing.enrich import Enricher


@dataclass(frozen=True, slots=True)
class Editor:
    """Changes notes of one collection, each call one operation that can be undone."""

    collection: Collection
    reweigher: Reweigher
    canon: Canon
    enricher: Enricher

    def update(self, target: str | MemoryNote, fields: Mapping[str, Any], actor: str, *, wait: bool = True) -> bool:
        """Set fields of a note; False when there is no such note.

        A note object brings its own changed fields and the version it was read at (StaleNote when that moved). A note
        with another text is analysed again, in the background where `wait` does not wait for a model. Raises
        UnknownField and InvalidInput; nothing has changed then.
        """
        operation = self._update(target, fields, actor)
        if operation:
            self.enricher.again([target if isinstance(target, str) else target.id], operation, wait=wait)
        return operation is not None

    def _update(self, target: str | MemoryNote, fields: Mapping[str, Any], actor: str) -> int | None:
        """The operation, 0 when nothing changed, None when there is no such note."""
        id = target if isinstance(target, str) else checks.text("id", target.id)
        with self.collection.store.read() as session:
            now = session.notes.get_many([id]).get(id)
        if now is None:
            return None
        expect = None
        if isinstance(target, MemoryNote):
            fields = _changed(target, now) | dict(fields)
            expect = checks.whole("version", target.version)
            if expect != now.version:
                raise StaleNote(
                    f"note {short_id(id)} changed since it was read (version {now.version}, not {expect})",
                    hint="read it again and repeat the change",
                )
        values = clean(fields, self.collection.settings)
        if "facts" in values:
            values["facts"] = self.canon.given(values["facts"], values.get("speaker", now.speaker))
        links = values.pop("links", None)
        changes = {name: plain(name, value) for name, value in values.items()}
        if "timestamp" in values:
            changes["at"] = plain("at", as_timestamp(values["timestamp"], self.collection.settings)[1])
        changes = {name: value for name, value in changes.items() if value != plain(name, getattr(now, name))}
        if not changes and not self._relinks(id, links):
            return 0
        if "metadata" in changes and scope_of(values["metadata"]) != Scope.of(now.metadata):
            raise InvalidInput(
                f"note {short_id(id)} cannot become another user's, agent's or session's",
                hint=f"add it anew with {', '.join(SCOPES)} as they should be, and delete this one",
            )
        vectors = self._embedded(now, values)
        with self.collection.store.write() as session:
            self.collection.vectorizer.keep(session, vectors)
            names = sorted((changes.keys() | ({"links"} if links is not None else set())) - {"at"})
            operation = session.begin("update", actor, f"changed {', '.join(names)}")
            person = is_persons_word(actor)
            session.notes.change(id, changes, operation, expect=expect, edited=person, given=not person)
            if "content" in changes:
                session.jobs.put(ENRICH_JOB, id, operation)
            readdress(session, id, self.collection.vectorizer)
            if links is not None:
                _replace_links(session, id, links, actor, operation)
        return operation

    def delete(self, id: str, actor: str) -> bool:
        """Hide a note until it is restored; False when there is none."""
        return self.delete_all([id], actor) == 1

    def delete_all(self, ids: Sequence[str], actor: str) -> int:
        """Hide notes, as one operation; returns how many there were to hide.

        What they had taken the place of stands again, so that something answers.
        """
        self.reweigher.refresh()
        with self.collection.store.write() as session:
            known = session.notes.get_many(ids, history=False, usage=False)
            if known:
                operation = session.begin("delete", actor, f"{len(known)} notes" if len(known) > 1 else "")
                delete(session, list(known), operation, self.reweigher)
        return len(known)

    def restore(self, id: str, actor: str) -> bool:
        """Bring a deleted, archived or superseded note back; False when it is active already. Raises NoteNotFound.

        What a person brings back, machines do not put away again by themselves. Raises EmbedderMismatch.
        """
        self.collection.vectorizer.check()
        restored = self._restore(id, actor)
        self.collection.vectorizer.embed_missing([id])
        return restored

    def _restore(self, id: str, actor: str) -> bool:
        with self.collection.store.write() as session:
            note = session.notes.get_many([id], history=False, deleted=True).get(id)
            if note is None:
                raise NoteNotFound(f"no note {id!r}", hint="what was purged is gone for good")
            if note.status is Status.ACTIVE:
                return False
            put_away = note.status is not Status.DELETED
            operation = session.begin("restore", actor)
            if not put_away:
                take_again(session, id, operation)
            if note.status is Status.SUPERSEDED:
                stand_again(session, note, operation, actor)
            elif note.superseded_by is not None:
                free(session, id, operation)
            else:
                changes = {"status": str(Status.ACTIVE)}
                session.notes.change(id, changes, operation, edited=put_away and is_persons_word(actor))
            if put_away:
                session.usage.touch([session.notes.keys_of([id])[id]])
        return True

    def pin(self, id: str, pinned: bool, actor: str) -> bool:
        """Keep a note from ever fading (or let it fade again); False when there is none."""
        return self._set(id, "pin" if pinned else "unpin", actor, {"pinned": pinned})

    def link(self, source: str, target: str, type: str, reason: str, actor: str) -> Link:
        """Link two notes, or give a link that is there another reason.

        Raises NoteNotFound, or InvalidInput for an unknown type, a self-link or a second link with nothing new to say.
        """
        kind = _link_type(type)
        if source == target:
            raise InvalidInput("a note cannot be linked to itself")
        with self.collection.store.write() as session:
            for id in (source, target):
                session.notes.existing(id)
            link = Link(source, target, kind, reason, 1.0, actor, session.now)
            held = session.links.get(source, target, kind)
            if held is not None and reason in ("", held.reason):
                raise InvalidInput(
                    f"{short_id(source)} is linked to {short_id(target)} as {kind} already",
                    hint="another --reason changes why" if not reason else "",
                )
            operation = session.begin("link", actor, reason)
            if held is not None:
                session.links.remove(source, target, kind, operation)
            session.links.put(link, operation)
        return link

    def unlink(self, source: str, target: str, type: str, actor: str) -> bool:
        """Take a link away; False when it was not there."""
        kind = _link_type(type)
        with self.collection.store.write() as session:
            if session.links.get(source, target, kind) is None:
                return False
            return session.links.remove(source, target, kind, session.begin("unlink", actor))

    def rename_tag(self, old: str, new: str, actor: str) -> int:
        """Rename a tag everywhere (merging when the new one is in use); returns how many notes changed."""
        (wanted,) = labels("tags", [new]) or [""]
        if not wanted:
            raise InvalidInput("a tag needs a name")
        embedded = self.collection.vectorizer.reads(["tags"])
        if embedded:
            self.collection.vectorizer.check()
        with self.collection.store.write() as session:
            keys = [key for key, _ in session.text.holding("tag", [old], -1, UNDELETED)]
            notes = session.notes.get_many(list(session.notes.ids_of(keys).values()), history=False)
            if not notes:
                return 0
            operation = session.begin("retag", actor, f"{old} -> {wanted}")
            for note in notes.values():
                tags = [wanted if tag.casefold() == old.casefold() else tag for tag in note.tags]
                session.notes.change(note.id, {"tags": labels("tags", tags)}, operation, edited=is_persons_word(actor))
                readdress(session, note.id, self.collection.vectorizer)
        if embedded:
            self.collection.vectorizer.embed_missing()
        return len(notes)

    def accept(self, review: int, actor: str) -> tuple[str, ...]:
        """Apply a proposed change; returns the fields it set.

        Raises ReviewNotFound; StaleNote when it is outdated; EmbedderMismatch.
        """
        self.collection.vectorizer.check()
        with self.collection.store.write() as session:
            item = session.reviews.get(review)
            note = session.notes.get_many([item.note], history=False, deleted=True)[item.note]
            wanted = {name: pair for name, pair in item.changes.items() if name in VERSIONED}
            moved = [name for name, (before, _) in wanted.items() if plain(name, getattr(note, name)) != before]
            if moved:
                raise StaleNote(
                    f"the {' and '.join(moved)} of note {short_id(item.note)} changed since review {review} was made",
                    hint=f"reject it (amem review reject {review}) and edit the note if you agree",
                )
            operation = session.begin("accept", actor, item.reason)
            changes = {name: after for name, (_, after) in wanted.items()}
            fields = session.notes.change(item.note, changes, operation) if changes else tuple(item.changes)
            readdress(session, item.note, self.collection.vectorizer)
            session.reviews.decide(review, "accepted", operation)
        self.collection.vectorizer.embed_missing()
        return fields

    def reject(self, review: int, actor: str) -> None:
        """Turn a proposed change down. Raises ReviewNotFound."""
        with self.collection.store.write() as session:
            item = session.reviews.get(review)
            operation = session.begin("reject", actor, item.reason)
            session.reviews.decide(review, "rejected", operation)
            if "superseded_by" in item.changes:
                stand_by(session, item.note, operation)
            elif "overturned" in item.changes:
                before, after = item.changes["overturned"]
                proposed = {each["by"] for each in after if each not in before}
                stand_by(session, item.note, operation, proposed)

    def undo(self, operation: int | None, actor: str, *, scope: Scope = EVERYONE) -> UndoReport:
        """Take back an operation and what it set off. Raises NothingToUndo, OperationNotFound, InvalidInput and
        EmbedderMismatch.

        None is the newest; in any case only one that touched nothing outside the scope.
        """
        return self._reverse(lambda session: undo(session, actor, operation), scope)

    def redo(self, undone_by: int | None, actor: str, *, scope: Scope = EVERYONE) -> UndoReport:
        """Do again what was undone last, or by this undo. Raises and is bound as `undo`."""
        return self._reverse(lambda session: redo(session, actor, undone_by), scope)

    def rollback(self, id: str, version: int, actor: str) -> tuple[str, ...]:
        """Set a note back to an earlier version, as a new one; returns the fields that changed.

        Raises NoteNotFound, OperationNotFound and EmbedderMismatch.
        """
        self.collection.vectorizer.check()
        with self.collection.store.write() as session:
            fields = rollback(session, actor, id, version)
            readdress(session, id, self.collection.vectorizer)
        self.collection.vectorizer.embed_missing([id])
        return fields

    def _reverse(self, reverse: Callable[[Session], UndoReport], scope: Scope) -> UndoReport:
        self.collection.vectorizer.check()
        self.reweigher.refresh()
        with self.collection.store.write() as session:
            with session.within(scope):
                report = reverse(session)
            report = replace(report, settled=mend(session, report, self.reweigher))
            # Most of what is taken back changed no text: only that some notes were made, or linked.
            moved = dict.fromkeys(id for id, field in report.reverted if self.collection.vectorizer.reads([field]))
            for note in session.notes.get_many(list(moved), history=False, usage=False, deleted=True).values():
                session.notes.address(note.id, self.collection.vectorizer.hash(note))
        self.collection.vectorizer.embed_missing([id for id, _ in report.reverted])
        return report

    def _set(self, id: str, action: str, actor: str, changes: Mapping[str, Any]) -> bool:
        with self.collection.store.write() as session:
            note = session.notes.get_many([id], history=False).get(id)
            if note is None:
                return False
            if any(plain(name, getattr(note, name)) != value for name, value in changes.items()):
                session.notes.change(id, changes, session.begin(action, actor))
        return True

    def _relinks(self, id: str, wanted: Sequence[str] | None) -> bool:
        """Whether replacing the untyped links by these would do anything."""
        if wanted is None:
            return False
        with self.collection.store.read() as session:
            return any(_link_changes(session, id, wanted))

    def _embedded(self, note: MemoryNote, values: Mapping[str, Any]) -> dict[bytes, NDArray[np.float32]]:
        """Vectors for the note as it will be; nothing to do when what is embedded stays the same."""
        before = self.collection.vectorizer.text(note)
        after = self.collection.vectorizer.text(replace(note, **values))
        return {} if after == before else self.collection.vectorizer.embed([after])[0]


def _changed(note: MemoryNote, now: MemoryNote) -> dict[str, Any]:
    """Fields of a note object that differ from what is stored; what amem keeps itself is refused by `clean`."""
    names = (*sorted({*VERSIONED} - {"at"}), "links", "recorded_at", "retrieval_count", "last_accessed")
    return {name: getattr(note, name) for name in names if getattr(note, name) != getattr(now, name)}


def _replace_links(session: Session, id: str, wanted: Sequence[str], actor: str, operation: int) -> None:
    """Make these the untyped links of a note; typed ones have ``link`` and ``unlink``."""
    gone, fresh = _link_changes(session, id, wanted)
    for target in gone:
        session.links.remove(id, target, LinkType.RELATED, operation)
    for target in fresh:
        session.links.put(Link(id, target, LinkType.RELATED, "given by hand", 1.0, actor, session.now), operation)


def _link_changes(session: Session, id: str, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Targets of the untyped links to take away and to add; a note linked by another type needs no second link."""
    held = session.links.of(id)
    targets = {link.target for link in held}
    gone = [link.target for link in held if link.type is LinkType.RELATED and link.target not in wanted]
    return gone, [target for target in wanted if target not in targets and target != id]


def _link_type(name: str) -> LinkType:
    try:
        return LinkType(name)
    except ValueError:
        raise InvalidInput(f"there is no link type {name!r}", hint=f"the types are {', '.join(LinkType)}") from None
