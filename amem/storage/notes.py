"""Notes and the sources they came from into the database, each change with its version; versions compared."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput, NoteNotFound, OperationNotFound, StaleNote
from amem.labels import short_id
from amem.note import MemoryNote, Scope, Source, Status
from amem.storage.note_reading import MADE_FROM, NoteReading, normal_hash, read_sources
from amem.storage.rows import (
    ROLE,
    VERSIONED,
    Part,
    as_json,
    cell,
    flat_fields,
    from_cell,
    note_of,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence, Set


#: What tells together whether a note stands: taken back together or not at all.
STANDING = ("status", "superseded_by", "valid_to")
#: What full text and terms are made of: a change to one of these concerns them.
_INDEXED = frozenset({"content", "keywords", "tags", "context", "entities"})
#: The lists of words that notes are found by, and what sort of word each holds.
_TERMS = {"tags": ROLE["tag"], "entities": ROLE["entity"], "keywords": ROLE["keyword"]}
#: What the index of facts is made of.
_OF_FACTS = frozenset({"facts", "overturned"})


class Notes(NoteReading):
    """The notes of one transaction, to be read and changed."""

    def insert(
        self,
        note: MemoryNote,
        operation: int,
        *,
        reliability: float,
        text_hash: bytes | None,
        given: Iterable[str] = (),
    ) -> int:
        """Store a new note as version 1; returns its key. Raises InvalidInput when the id is taken.

        `given` names the fields that whoever added the note filled in, so that analysis never replaces them.
        """
        values = {field: plain(field, getattr(note, field)) for field in VERSIONED}
        seq = self._session.seq
        owners = dict.fromkeys(sorted(given), "given")
        row = {field: cell(field, value) for field, value in values.items()} | {
            "id": note.id,
            "normal": normal_hash(note.content),
            "reliability": reliability,
            "recorded_at": note.recorded_at or self._session.now,
            "version": 1,
            "edited": json.dumps(owners),
            "text_hash": text_hash,
            "seq": seq,
            "vector_seq": seq,
        }
        try:
            key = self._session.insert("notes", row)
        except sqlite3.IntegrityError as error:
            raise InvalidInput(f"a note {note.id!r} exists already", hint="use update() to change it") from error
        self._record(key, 1, operation, {"status": [None, values["status"]]}, owners)
        self._session.text.put(key, note)
        self._put_terms(key, note)
        self._session.facts.put(key, note, new=True)
        self._owned = None if Scope.of(note.metadata).ids else self._owned
        return key

    def change(
        self,
        id: str,
        changes: Mapping[str, Any],
        operation: int,
        *,
        expect: int | None = None,
        edited: bool = False,
        given: bool = False,
        disowned: bool = False,
    ) -> tuple[str, ...]:
        """Set fields to new (plain) values, record the version; returns the fields that really changed.

        `expect` is the version the change was based on (StaleNote when it moved); `edited` marks the fields as a
        person's own, `given` as filled in by whoever changed them, as `add` does, `disowned` as nobody's. Whoever
        changes what is embedded also calls `address`.
        """
        row = self._row(id)
        if expect is not None and row["version"] != expect:
            raise StaleNote(
                f"note {short_id(id)} changed since it was read (version {row['version']}, not {expect})",
                hint="read it again and repeat the change",
            )
        if "content" in changes:
            held = changes.get("overturned", from_cell("overturned", row["overturned"]))
            # What an edit took out of the text need not be said to be over.
            changes = {**changes, "overturned": [each for each in held if each["text"] in changes["content"]]}
        before = {field: from_cell(field, row[field]) for field in changes}
        different = {field: value for field, value in changes.items() if value != before[field]}
        if not different:
            return ()
        values: dict[str, Any] = {field: cell(field, value) for field, value in different.items()}
        values["version"] = row["version"] + 1
        owners = _owners(json.loads(row["edited"]), different, edited=edited, given=given, disowned=disowned)
        if owners:
            values["edited"] = _owned(row["edited"], owners)
        if "content" in different:
            values["normal"] = normal_hash(different["content"])
        recorded = {field: [before[field], value] for field, value in different.items()}
        self._record(row["key"], values["version"], operation, recorded, owners)
        if row["status"] == Status.DELETED and "status" in different:
            # Those who follow the vectors forgot this one when it was deleted.
            values["vector_seq"] = self._session.seq
        was_read = row["key"] in self._read
        self._set(row["key"], values)
        if was_read:
            self._remember({**row, **values})
        # Both indexes hold every note that is not deleted, whatever its status.
        hidden = "status" in different and Status.DELETED in (row["status"], different["status"])
        if hidden or not _INDEXED.isdisjoint(different):
            self._index_again(row["key"], note_of({**row, **values}), _INDEXED if hidden else different.keys())
        if hidden or not _OF_FACTS.isdisjoint(different):
            self._session.facts.put(row["key"], note_of({**row, **values}))
        if different.get("status") == Status.ARCHIVED:
            self._session.usage.archived(row["key"])
        return tuple(different)

    def _row(self, id: str) -> dict[str, Any]:
        held = self._read.get(self._keys.get(id, -1))
        if held is not None:
            return held[2]
        rows = self._session.records("SELECT * FROM notes WHERE id = :id", id=id)
        if not rows:
            raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
        return rows[0]

    def reword(self, id: str, values: Mapping[str, Any], operation: int) -> None:
        """Set fields to (plain) values as if they had never had others: the version that is recorded tells of none."""
        row = self._row(id)
        cells: dict[str, Any] = {field: cell(field, value) for field, value in values.items()}
        cells["version"] = row["version"] + 1
        if "content" in values:
            cells["normal"] = normal_hash(values["content"])
        self._record(row["key"], cells["version"], operation, {}, {})
        self._set(row["key"], cells)
        note = note_of({**row, **cells})
        self._index_again(row["key"], note, values.keys())
        self._session.facts.put(row["key"], note)

    def own(self, key: int, owners: Mapping[str, str | None]) -> None:
        """Say whose words fields are ("given", "edited" or None), where undo and redo set them back."""
        held = self._session.value("SELECT edited FROM notes WHERE key = :key", key=key)
        self._set(key, {"edited": _owned(held, owners)})

    def address(self, id: str, text_hash: bytes) -> None:
        """Say which text's vector is the note's own; nothing changes when it is that one already."""
        sql = "UPDATE notes SET text_hash = :hash, vector_seq = :seq, seq = :seq WHERE id = :id"
        sql += " AND coalesce(text_hash, x'') <> :hash"
        self._session.change(sql, id=id, hash=text_hash, seq=self._session.seq)

    def corroborate(self, id: str, who: str, operation: int) -> None:
        """Note that `who` said the same; each who counts once, for as long as an operation that said so stands."""
        key = self.keys_of([id])[id]
        row = {"note": key, "who": who, "at": self._session.now, "operation": operation}
        self._session.insert("corroborations", row, either="IGNORE")
        self._set(key, {})

    def purge(self, ids: Iterable[str]) -> None:
        """Destroy notes, their versions, links, sources of their own and vectors; only a tombstone stays."""
        for id, key in self.keys_of(list(ids)).items():
            hashed = self._session.value("SELECT text_hash FROM notes WHERE key = :key", key=key)
            self._session.text.remove(key)
            self._session.sources.purge_of(key)
            self._session.links.purge(id)
            self._session.vaults.forget_name(id)
            self._session.change("DELETE FROM note_terms WHERE note = :key", key=key)
            self._session.change("DELETE FROM notes WHERE key = :key", key=key)
            self._read.pop(key, None)
            self._owned = None
            if hashed is not None:
                self._session.vectors.purge(hashed)
            self._unquote(id)
            self._session.insert("tombstones", {"note": key, "id": id, "seq": self._session.seq})

    def differences(self, id: str, older: int, newer: int | None = None) -> dict[str, tuple[Any, Any]]:
        """The fields in which two versions differ, {field: (in the older, in the newer)}, as plain values.

        `newer` None is the note as it is now. Version 0 is before the note was there: each of its fields is None then,
        and what is empty in the other is left out. Raises NoteNotFound and OperationNotFound.
        """
        now = self._now(id)
        after = now if newer is None else now | self._then(id, newer)
        if older == 0:
            return {field: (None, value) for field, value in after.items() if value not in (None, "", [], {}, False)}
        before = now | self._then(id, older)
        return {field: (before[field], value) for field, value in after.items() if value != before[field]}

    def would_roll_back(self, id: str, version: int) -> dict[str, tuple[Any, Any]]:
        """The changes that a rollback would make, {field: (now, then)}. Raises NoteNotFound and OperationNotFound."""
        now, then = self._now(id), self._then(id, version)
        # Whether a note stands is the business of those who hide and restore it, not of an old text coming back.
        if "status" in then or "superseded_by" in then:
            then = {field: value for field, value in then.items() if field not in STANDING}
        return {field: (now[field], value) for field, value in then.items() if value != now[field]}

    def _unquote(self, id: str) -> None:
        """Take the words of a note that is destroyed out of what it overturned in others, and out of their history."""
        by = f'%"by": {as_json(id)}%'
        for key, told in self._session.rows("SELECT key, overturned FROM notes WHERE overturned LIKE :by", by=by):
            self._set(key, {"overturned": as_json(_unquoted(json.loads(told), id))})
        for version, told in self._session.rows("SELECT id, changes FROM versions WHERE changes LIKE :by", by=by):
            changes = json.loads(told)
            if "overturned" in changes:
                changes["overturned"] = [_unquoted(each, id) for each in changes["overturned"]]
                self._session.update("versions", {"changes": as_json(changes)}, id=version)

    def _now(self, id: str) -> dict[str, Any]:
        row = self._row(id)
        return {field: from_cell(field, row[field]) for field in VERSIONED}

    def _then(self, id: str, version: int) -> dict[str, Any]:
        """The fields that were changed after that version, as they were in it."""
        row = self._row(id)
        if not 1 <= version <= row["version"]:
            raise OperationNotFound(
                f"note {short_id(id)} has no version {version}", hint=f"it has 1 to {row['version']}; see amem history"
            )
        since = "SELECT changes FROM versions WHERE note = :key AND version > :version ORDER BY version DESC"
        then: dict[str, Any] = {}
        for changes in self._session.column(since, key=row["key"], version=version):
            then |= {field: before for field, (before, _) in json.loads(changes).items()}
        return then

    def _set(self, key: int, values: Mapping[str, Any]) -> None:
        """Set columns of a note; those who follow the change counter learn of it."""
        self._session.update("notes", {"seq": self._session.seq, **values}, key=key)
        self._read.pop(key, None)
        self._owned = None if "metadata" in values else self._owned

    def _record(
        self,
        key: int,
        version: int,
        operation: int,
        changes: Mapping[str, Any],
        owners: Mapping[str, str | None],
    ) -> None:
        texts = {"changes": as_json(changes), "owned": json.dumps(owners) if owners else None}
        self._session.insert("versions", {"operation": operation, "note": key, "version": version, **texts})

    def _index_again(self, key: int, note: MemoryNote, fields: Set[str]) -> None:
        """Bring full text and terms in line with a note of which these fields changed; a deleted note leaves both."""
        deleted = note.status is Status.DELETED
        roles = [role for field, role in _TERMS.items() if deleted or field in fields]
        if roles:
            self._session.change("DELETE FROM note_terms WHERE note = :key AND role IN :roles", key=key, roles=roles)
        if deleted:
            self._session.text.remove(key)
        else:
            self._session.text.change(key, note, fields)
            self._put_terms(key, note, fields)

    def _put_terms(self, key: int, note: MemoryNote, fields: Container[str] = _INDEXED) -> None:
        rows = {
            (role, value.casefold())
            for field, role in _TERMS.items()
            if field in fields
            for value in getattr(note, field)
        }
        self._session.insert("note_terms", *({"role": role, "term": term, "note": key} for role, term in sorted(rows)))


def _owners(
    now: Mapping[str, str], fields: Iterable[str], *, edited: bool, given: bool, disowned: bool
) -> dict[str, str | None]:
    """Whose the words of these fields are from now on, where that is said and is news."""
    if edited or disowned:
        return dict.fromkeys(sorted(fields), "edited" if edited else None)
    return dict.fromkeys(sorted(set(fields) - now.keys()), "given") if given else {}


def _owned(held: str, owners: Mapping[str, str | None]) -> str:
    """The owners of a note's fields, as JSON, with these."""
    return json.dumps({name: by for name, by in (json.loads(held) | owners).items() if by is not None})


def _unquoted(told: Iterable[Mapping[str, Any]], id: str) -> list[dict[str, Any]]:
    """Overturned statements, as plain values, without the words of the note with this id."""
    return [{**each, "then": "", "reason": ""} if each["by"] == id else dict(each) for each in told]


# Raw input that notes came from: immutable, kept beside them, findable when nothing else is.


class Sources(Part):
    """The sources of one transaction."""

    def put(self, source: Source, operation: int) -> int:
        """Keep a source and index its text; returns its key. The same id is kept once."""
        known = self._session.value("SELECT key FROM sources WHERE id = :id", id=source.id)
        if known is not None:
            return int(known)
        key = self._session.insert("sources", flat_fields(source) | {"operation": operation})
        self._index(key, source.text)
        return key

    def attach(self, note_key: int, source_key: int, operation: int, *, gathered: bool = False) -> None:
        """Say that the note came (also) from this source; undone with `operation`, and then it counts no more.

        A `gathered` source is not the note's very text: other notes may come from it, too.
        """
        sql = "DELETE FROM note_sources WHERE note = :note AND source = :source"
        sql += " AND operation IN (SELECT id FROM operations WHERE undone_by IS NOT NULL)"
        self._session.change(sql, note=note_key, source=source_key)
        row = {"note": note_key, "source": source_key, "operation": operation, "gathered": int(gathered)}
        self._session.insert("note_sources", row, either="IGNORE")

    def keys_of(self, ids: Sequence[str]) -> dict[str, tuple[int, str]]:
        """For each of these ids that is stored, its key and kind."""
        sql = "SELECT id, key, kind FROM sources WHERE id IN :ids"
        return {id: (key, kind) for id, key, kind in self._session.rows(sql, ids=ids)}

    def notes_of(self, ids: Sequence[str], *, own: bool = False) -> dict[str, str]:
        """For each source id that is known, the first note made from it that is not deleted.

        With `own` only a note whose very text the source is, not one that gathered it among others.
        """
        sql = f"SELECT sources.id, notes.id {MADE_FROM} AND sources.id IN :ids"
        sql += " AND notes.status <> 'deleted'" + (" AND held.gathered = 0" if own else "")
        found: dict[str, str] = {}
        for source, note in self._session.rows(f"{sql} ORDER BY notes.key", ids=ids):
            found.setdefault(source, note)
        return found

    def search(self, terms: Sequence[str], limit: int) -> list[Source]:
        """Sources whose text holds any of these index terms, best first by BM25."""
        if not terms:
            return []
        sql = "SELECT sources.* FROM source_text JOIN sources ON sources.key = source_text.rowid"
        sql += " WHERE source_text MATCH :match ORDER BY bm25(source_text) LIMIT :limit"
        match = " OR ".join(f'"{term}"' for term in terms)
        return read_sources(self._session, self._session.records(sql, match=match, limit=limit))

    def reword(self, key: int, text: str) -> None:
        """Keep another text of a source, as a purge does that takes sentences out of it."""
        self._session.update("sources", {"text": text}, key=key)
        self._session.change("DELETE FROM source_text WHERE rowid = :key", key=key)
        self._index(key, text)

    def purge_of(self, note_key: int) -> None:
        """Destroy the sources that only this note came from, also where a chat keeps their words."""
        sql = "SELECT key, id FROM sources WHERE key IN (SELECT source FROM note_sources WHERE note = :note)"
        sql += " AND key NOT IN (SELECT source FROM note_sources WHERE note <> :note)"
        found = self._session.rows(sql, note=note_key)
        self._session.change("DELETE FROM note_sources WHERE note = :note", note=note_key)
        self._session.chats.blank([id for _, id in found])
        self._session.chats.forget(self._session.notes.ids_of([note_key])[note_key])
        for key, _ in found:
            self._session.change("DELETE FROM source_text WHERE rowid = :key", key=key)
            self._session.change("DELETE FROM sources WHERE key = :key", key=key)

    def count(self) -> int:
        """How many sources there are."""
        return int(self._session.value("SELECT count(*) FROM sources"))

    def _index(self, key: int, text: str) -> None:
        from amem.language.terms import index_terms

        self._session.insert("source_text", {"rowid": key, "content": " ".join(index_terms(text))})
