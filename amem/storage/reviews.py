"""The review queue: proposed changes, notes in conflict, stale notes, successions, till they expire."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from amem.errors import NoteNotFound, ReviewNotFound
from amem.note import Link, LinkType, MemoryNote
from amem.storage.rows import Part, as_json, from_row, link_label, link_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Review:
    """A machine's proposed change that waits for a person. `changes` is {field: (before, after)}."""

    id: int
    note: str
    changes: Mapping[str, tuple[Any, Any]]
    reason: str
    confidence: float
    made_by: str
    created_at: datetime
    expires_at: datetime
    state: str
    operation: int


#: Notes of one succession that are looked at.
_MOST = 100
_EVER = datetime.min.replace(tzinfo=UTC)
#: Links that say of two notes that they do not go together.
IN_CONFLICT = (LinkType.CONTRADICTS, LinkType.SUPERSEDES)
#: What became of a proposal: undone with its operation, else what the last decision that stands says, else still open.
_READ = (
    "SELECT r.*, notes.id AS note_id, CASE WHEN made.undone_by IS NOT NULL THEN 'withdrawn' ELSE coalesce("
    "(SELECT d.state FROM decisions AS d JOIN operations AS o ON o.id = d.operation"
    " WHERE d.review = r.id AND o.undone_by IS NULL ORDER BY d.id DESC LIMIT 1), 'open') END AS state"
    " FROM reviews AS r JOIN notes ON notes.key = r.note LEFT JOIN operations AS made ON made.id = r.operation"
    " WHERE {0} ORDER BY r.id"
)


class Reviews(Part):
    """The review queue of one transaction; a newer proposal replaces one for the same note that is open."""

    def propose(
        self,
        id: str,
        changes: Mapping[str, tuple[Any, Any]],
        *,
        operation: int,
        base_version: int,
        reason: str,
        confidence: float,
        made_by: str,
        days: int,
    ) -> int:
        """Queue a change of plain values {field: (before, after)} for a person; returns the review's id."""
        key = self._session.notes.keys_of([id])[id]
        for item in self._read("notes.id = :id AND state = 'open'", id=id):
            self.decide(item.id, "replaced", operation)
        now = self._session.now
        row = {
            "note": key,
            "operation": operation,
            "base_version": base_version,
            "changes": as_json({field: list(pair) for field, pair in changes.items()}),
            "reason": reason,
            "confidence": confidence,
            "made_by": made_by,
            "created_at": now,
            "expires_at": now + timedelta(days=days),
        }
        return self._session.insert("reviews", row)

    def open(self) -> list[Review]:
        """Items that wait and have not expired, oldest first."""
        return self._read("state = 'open' AND expires_at > :now", now=self._session.now)

    def pairs(self, made_by: str) -> set[frozenset[str]]:
        """Every two notes of which this machine ever proposed that one take the other's place."""
        found = self._read("r.made_by = :made_by", made_by=made_by)
        pairs = ((item.note, item.changes.get("superseded_by", (None, None))[1]) for item in found)
        return {frozenset((note, successor)) for note, successor in pairs if successor is not None}

    def proposed(self, made_by: str, field: str, value: str) -> set[str]:
        """The notes of which this machine ever proposed to set this field to that value."""
        found = self._read("r.made_by = :made_by", made_by=made_by)
        return {item.note for item in found if field in item.changes and item.changes[field][1] == value}

    def of(self, reviews: Sequence[int]) -> list[Review]:
        """These items, whatever became of them."""
        return self._read("r.id IN :ids", ids=reviews)

    def get(self, review: int) -> Review:
        """An open item; raises ReviewNotFound when there is none of this id, or it is decided or expired."""
        found = self._read("r.id = :review", review=review)
        if not found:
            raise ReviewNotFound(f"no review {review}", hint="amem review lists what waits")
        if found[0].state != "open" or found[0].expires_at <= self._session.now:
            state = "expired" if found[0].state == "open" else found[0].state
            raise ReviewNotFound(f"review {review} is {state} already", hint="amem review lists what waits")
        return found[0]

    def decide(self, review: int, state: str, operation: int) -> None:
        """Close an item as accepted, rejected or replaced, for as long as the operation stands."""
        self._session.insert("decisions", {"review": review, "state": state, "operation": operation})

    def concerned(self, operations: Sequence[int]) -> list[int]:
        """Ids of the items that these operations proposed or decided, oldest first."""
        sql = "SELECT id FROM reviews WHERE operation IN :by UNION SELECT review FROM decisions WHERE operation IN :by"
        return sorted(self._session.column(sql, by=operations))

    def supersessions(self, limit: int) -> list[Link]:
        """The links that say of a superseded note what took its place, the newest first."""
        statement = (
            "SELECT links.* FROM links JOIN notes AS old ON old.id = target JOIN notes AS new ON new.id = source"
            " WHERE type = 'supersedes' AND old.status = 'superseded' AND old.superseded_by = source"
            " AND new.status <> 'deleted' ORDER BY links.key DESC LIMIT :limit"
        )
        return self._session.readable(self._session.records(statement, limit=limit), link_label, link_of)

    def succession(self, id: str) -> list[MemoryNote]:
        """The note with its predecessors and successors, those of these too, by when they were so; at most a hundred.

        Raises NoteNotFound.
        """
        found: dict[str, MemoryNote] = {}
        fresh = [id]
        while fresh and len(found) < _MOST:
            notes = self._session.notes.get_many(fresh[: _MOST - len(found)], history=False, usage=False, deleted=True)
            found |= notes
            later = [note.superseded_by for note in notes.values() if note.superseded_by is not None]
            near = dict.fromkeys([*self._session.notes.replaced_by(list(notes)), *later])
            fresh = [each for each in near if each not in found]
        if id not in found:
            raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
        return sorted(found.values(), key=lambda note: note.valid_from or note.at or note.recorded_at or _EVER)

    def _read(self, where: str, **asked: Any) -> list[Review]:
        rows = self._session.records(_READ.format(where), **asked)
        return self._session.readable(rows, lambda row: f"review {row['id']}", _review_of)


def _review_of(row: Mapping[str, Any]) -> Review:
    changes = {field: (pair[0], pair[1]) for field, pair in json.loads(row["changes"]).items()}
    return from_row(Review, row, note=row["note_id"], changes=changes)


# Notes that may be out of date, because one that they lean on is no longer so.

#: Of the rows about one note and one cause the last holds whose operation stands: it raises the flag or dismisses it.
_STANDING = (
    "SELECT max(said.id) FROM flags AS said JOIN operations AS o ON o.id = said.operation"
    " WHERE o.undone_by IS NULL{0} GROUP BY said.note, said.because"
)
_DECIDED = (
    "SELECT notes.id, f.because FROM flags AS f JOIN notes ON notes.key = f.note JOIN operations AS o"
    " ON o.id = f.operation WHERE f.dismissed = 1 AND o.undone_by IS NULL{0}"
)


@dataclass(frozen=True, slots=True)
class Flag:
    """`note` may be out of date `because` that other note was superseded; `reason` says it in words."""

    id: int
    note: str
    because: str
    reason: str
    at: datetime
    operation: int


class Flags(Part):
    """The flags of one transaction: raised and dismissed by operations, of which only those that stand count."""

    def put(self, id: str, because: str, reason: str, operation: int) -> None:
        """Flag a note. One that a person has dismissed for the same cause stays dismissed."""
        key = self._session.notes.keys_of([id])[id]
        last = _STANDING.format(" AND said.note = :key AND said.because = :because")
        if not self._session.value(f"SELECT dismissed FROM flags WHERE id IN ({last})", key=key, because=because):
            self._add(key, because, reason, operation, dismissed=False)

    def open(self, id: str | None = None) -> list[Flag]:
        """Flags of active notes (or of this one) that stand and are not dismissed, oldest first."""
        of_it = "" if id is None else " AND said.note = (SELECT key FROM notes WHERE id = :id)"
        statement = (
            "SELECT f.*, notes.id AS note_id FROM flags AS f JOIN notes ON notes.key = f.note"
            f" WHERE notes.status = 'active' AND f.dismissed = 0 AND f.id IN ({_STANDING.format(of_it)}) ORDER BY f.id"
        )
        rows = self._session.records(statement, id=id)
        return self._session.readable(
            rows, lambda row: f"flag {row['id']}", lambda row: from_row(Flag, row, note=row["note_id"])
        )

    def dismissed(self, id: str) -> set[str]:
        """Notes in spite of which this one holds, as a person said last."""
        of_it = " AND said.note = (SELECT key FROM notes WHERE id = :id)"
        statement = f"SELECT because FROM flags WHERE dismissed = 1 AND id IN ({_STANDING.format(of_it)})"
        return set(self._session.column(statement, id=id))

    def decided(self, id: str) -> set[str]:
        """Notes of which a person has said that this one holds in spite of them, or that they hold in spite of it."""
        pairs = self._session.rows(_DECIDED.format(" AND (notes.id = :id OR f.because = :id)"), id=id)
        return {end for pair in pairs for end in pair if end != id}

    def turned_down(self) -> set[frozenset[str]]:
        """Pairs of which a person, shown both, said that the one does not overturn the other."""
        return {frozenset(row) for row in self._session.rows(_DECIDED.format(" AND o.action IN ('keep', 'reject')"))}

    def decided_pairs(self) -> set[frozenset[str]]:
        """All pairs of notes of which a person has said that one holds in spite of the other."""
        return {frozenset(pair) for pair in self._session.rows(_DECIDED.format(""))}

    def dismiss(self, id: str, operation: int, because: Collection[str] | None = None) -> int:
        """Say that a note holds in spite of its flags, or of those `because` of some notes; returns how many.

        Raises NoteNotFound.
        """
        key = self._session.notes.keys_of([id]).get(id)
        if key is None:
            raise NoteNotFound(f"no note {id!r}")
        standing = [flag for flag in self.open(id) if because is None or flag.because in because]
        for flag in standing:
            self._add(key, flag.because, flag.reason, operation, dismissed=True)
        return len(standing)

    def open_disagreements(self) -> list[Link]:
        """The link of each such pair of active notes, the newest first; of several between two notes the newest."""
        types = ", ".join(f"'{type}'" for type in IN_CONFLICT)
        statement = (
            "SELECT links.* FROM links JOIN notes AS one ON one.id = source JOIN notes AS other ON other.id = target"
            f" WHERE type IN ({types}) AND one.status = 'active' AND other.status = 'active'"
            # What ended a statement of a note that stands for the rest is settled.
            " AND NOT EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(other.overturned) THEN other.overturned END)"
            " WHERE json_extract(value, '$.by') = source) ORDER BY links.key DESC"
        )
        decided = self.decided_pairs()
        found: dict[frozenset[str], Link] = {}
        for link in self._session.readable(self._session.records(statement), link_label, link_of):
            pair = frozenset((link.source, link.target))
            if pair not in decided:
                found.setdefault(pair, link)
        return list(found.values())

    def leaning(self) -> list[Flag]:
        """The flags of notes that lean on something no longer so, and not those of one side of an open disagreement."""
        apart = {(link.target, link.source) for link in self.open_disagreements()}
        return [flag for flag in self.open() if (flag.note, flag.because) not in apart]

    def _add(self, key: int, because: str, reason: str, operation: int, *, dismissed: bool) -> None:
        row = {"note": key, "because": because, "reason": reason, "operation": operation, "dismissed": int(dismissed)}
        self._session.insert("flags", row | {"at": self._session.now})
