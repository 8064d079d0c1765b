"""Raw input that notes came from: immutable, kept beside them, findable when nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.note import Source
from amem.storage.rows import listed, read_time, time_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amem.storage.store import Session

#: The notes that came from sources, where that was not undone.
MADE_FROM = (
    "FROM notes JOIN note_sources AS held ON held.note = notes.key JOIN sources ON sources.key = held.source"
    " LEFT JOIN operations AS o ON o.id = held.operation WHERE o.undone_by IS NULL"
)


class Sources:
    """The sources of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put(self, source: Source, operation: int) -> int:
        """Keep a source and index its text; returns its key. The same id is kept once."""
        known = self._session.value("SELECT key FROM sources WHERE id = :id", id=source.id)
        if known is not None:
            return int(known)
        row = {
            "id": source.id,
            "kind": source.kind,
            "conversation": source.conversation,
            "ref": source.ref,
            "speaker": source.speaker,
            "at": None if source.at is None else time_text(source.at),
            "ordinal": source.ordinal,
            "text": source.text,
            "operation": operation,
        }
        key = self._session.insert("sources", row)
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
        sql = "SELECT id, key, kind FROM sources WHERE id IN (SELECT value FROM json_each(:ids))"
        return {id: (key, kind) for id, key, kind in self._session.rows(sql, ids=listed(ids))}

    def of(self, ids: Sequence[str]) -> dict[str, list[Source]]:
        """For each note id the sources it came from, in their order."""
        found: dict[str, list[Source]] = {id: [] for id in ids}
        sql = f"SELECT notes.id AS made, sources.* {MADE_FROM} AND notes.id IN (SELECT value FROM json_each(:ids))"
        for row in self._session.records(f"{sql} ORDER BY sources.ordinal, sources.key", ids=listed(found)):
            found[row["made"]] += read_sources(self._session, [row])
        return found

    def notes_of(self, ids: Sequence[str], *, own: bool = False) -> dict[str, str]:
        """For each source id that is known, the first note made from it that is not deleted.

        With `own` only a note whose very text the source is, not one that gathered it among others.
        """
        sql = f"SELECT sources.id, notes.id {MADE_FROM} AND sources.id IN (SELECT value FROM json_each(:ids))"
        sql += " AND notes.status <> 'deleted'" + (" AND held.gathered = 0" if own else "")
        found: dict[str, str] = {}
        for source, note in self._session.rows(f"{sql} ORDER BY notes.key", ids=listed(ids)):
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
        from amem.language import index_terms

        self._session.insert("source_text", {"rowid": key, "content": " ".join(index_terms(text))})


def read_sources(session: Session, rows: Iterable[Mapping[Any, Any]]) -> list[Source]:
    """Rows of the table as values, but for those that cannot be read."""
    return session.readable(rows, lambda row: f"source {row['id']}", read_source)


def read_source(row: Mapping[Any, Any]) -> Source:
    """A row of the table as a value."""
    return Source(
        id=row["id"],
        kind=row["kind"],
        conversation=row["conversation"],
        ref=row["ref"],
        speaker=row["speaker"],
        at=read_time(row["at"]),
        text=row["text"],
        ordinal=row["ordinal"],
    )
