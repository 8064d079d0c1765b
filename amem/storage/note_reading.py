"""Notes out of the database: by id, by key, by filter, by what they say."""

from __future__ import annotations

import json
from functools import cache, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sqlalchemy import bindparam, exists, func, select, text

from amem.errors import AmbiguousId, InvalidInput, NoteNotFound
from amem.language import normalize
from amem.note import EVERYONE, SCOPES, MemoryNote, Scope, Status
from amem.query import Filter
from amem.storage import tables
from amem.storage.filters import conditions, in_scope, scope_values, stood
from amem.storage.hydrate import complete
from amem.storage.rows import from_plain, note_of, read_time, time_text
from amem.storage.sql_values import Prepared, among, chunks, listed, valid_json
from amem.visible import is_plain_name, visible_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.note import Overturned
    from amem.storage.store import Session

K = TypeVar("K")
V = TypeVar("V")
_NOTES = tables.notes
# Statements on the path of every write are built once: building one costs as much as running it.
_BY_KEYS = select(_NOTES).where(_NOTES.c.key.in_(bindparam("keys", expanding=True)))
_BY_IDS = Prepared(select(_NOTES).where(_NOTES.c.id.in_(among("ids"))))
_COLUMNS = tuple(_NOTES.c.keys())
_COUNT_ALL = select(func.coalesce(func.sum(tables.note_counts.c.notes), 0)).where(
    tables.note_counts.c.status != str(Status.DELETED)
)
_SAME = (
    select(_NOTES.c.id)
    .where(_NOTES.c.normal == bindparam("normal"), _NOTES.c.status == str(Status.ACTIVE))
    # What sums an episode up says nothing of its own, even in the very words of one of its messages.
    .where(func.json_extract(_NOTES.c.metadata, "$.episode").is_(None))
    # What two people say in the same words, each says for themselves.
    .where(text(in_scope()))
    .order_by(_NOTES.c.key)
    .limit(1)
)
_BY_HAND = Prepared(
    "SELECT n.key FROM json_each(:keys) AS asked JOIN notes AS n ON n.key = asked.value"
    " JOIN versions AS v ON v.note = n.key AND v.version = 1 JOIN operations AS o ON o.id = v.operation"
    " WHERE o.actor = 'user' AND n.conversation_id IS NULL"
)
_ORDERS = {
    "time": (_NOTES.c.at.desc(), _NOTES.c.key.desc()),
    "recorded": (_NOTES.c.key.desc(),),
    "importance": (_NOTES.c.importance.desc(), _NOTES.c.key.desc()),
    "pinned": (_NOTES.c.pinned.desc(), _NOTES.c.importance.desc(), _NOTES.c.key.desc()),
}


_SPEAKERS = text("SELECT speaker, count(*) FROM notes WHERE speaker IS NOT NULL GROUP BY speaker")
#: The turns around a note in its conversation, by the index on conversation and ordinal.
_TURNS = Prepared(
    "SELECT there.key, there.conversation_id, there.ordinal, there.at, there.status = 'active'"
    " FROM json_each(:keys) AS asked CROSS JOIN notes AS here ON here.key = asked.value"
    " CROSS JOIN notes AS there ON there.conversation_id = here.conversation_id"
    " AND there.ordinal BETWEEN here.ordinal - :reach AND here.ordinal + :reach"
    f" AND {in_scope('there')}"
)
#: By the indexes of 0004_scopes.sql, which hold the few notes that say whose they are.
_OWNED = " UNION ALL ".join(
    f"SELECT key FROM notes WHERE json_extract(metadata, '$.{name}') IS NOT NULL" for name in SCOPES
)
_ANY_OWNED = Prepared(f"SELECT EXISTS ({_OWNED})")
_METADATA = Prepared("SELECT id, metadata FROM notes WHERE id IN (SELECT value FROM json_each(:ids))")

# The kinds written out as the index has them (0004_scopes.sql), or SQLite would not use it.
_PROCEDURES = Prepared("SELECT key FROM notes WHERE kind IN ('procedure', 'code') AND status = 'active' LIMIT :limit")
_WITHIN = (
    Prepared("SELECT key FROM notes WHERE at >= :since AND at < :until LIMIT :limit"),
    Prepared("SELECT key FROM notes WHERE valid_from >= :since AND valid_from < :until LIMIT :limit"),
)


#: By the index of the few notes that have any.
_MARKED = Prepared(
    "SELECT key, content, overturned FROM notes WHERE overturned <> '[]'"
    " AND key IN (SELECT value FROM json_each(:keys))"
)


@cache
def _columns(names: tuple[str, ...]) -> Prepared:
    return Prepared(select(_NOTES.c.key, *(_NOTES.c[name] for name in names)).where(_NOTES.c.key.in_(among("keys"))))


def normal_hash(content: str) -> bytes:
    """What two texts share when they differ in case, width or spacing only."""
    return blake2b(normalize(content).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Readable(dict[K, V]):
    """What could be read of several rows; asked for one that could not be, it says which and why."""

    def __init__(self, session: Session, read: Mapping[K, V]) -> None:
        super().__init__(read)
        self._session = session

    def __missing__(self, key: K) -> V:
        for error in self._session.passed_over.values():
            raise error
        raise KeyError(key)


class NoteReading:
    """The notes of one transaction, to be read."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def get(self, id: str) -> MemoryNote | None:
        """The note with its links, usage, trust and history; None when there is none or it was deleted."""
        return self.get_many([id], past=False).get(id)

    def get_many(
        self,
        ids: Sequence[str],
        *,
        history: bool = True,
        usage: bool = True,
        deleted: bool = False,
        known_at: datetime | None = None,
        past: bool = True,
    ) -> dict[str, MemoryNote]:
        """The notes of these ids that exist, in the order asked for; deleted ones only when asked.

        One that cannot be read is left out (see `Session.past`), and raises StorageCorrupt when it is taken from
        what is returned; without `past` at once.

        `history` and `usage` tell whether evolution_history, and usage, trust and stability, are filled in. With
        `known_at` the notes that existed then, as they stood; what is not versioned (links, usage, trust) is today's.
        """
        held: dict[int, Any] = {}
        found: dict[str, MemoryNote]
        for values in _BY_IDS.rows(self._session, ids=listed(dict.fromkeys(ids))):
            row = dict(zip(_COLUMNS, values, strict=True))
            held[row["key"]] = row
        stands = held if known_at is None else stood(self._session, held, known_at)
        rows = {row["id"]: row for row in stands.values() if deleted or row["status"] != Status.DELETED}
        asked = [id for id in ids if id in rows]
        if past:
            read = {id: self._session.past(f"note {id}", partial(note_of, rows[id])) for id in asked}
            found = Readable(self._session, {id: note for id, note in read.items() if note is not None})
        else:
            found = {id: note_of(rows[id]) for id in asked}
        complete(self._session, found, rows, history=history, usage=usage, known_at=known_at)
        return found

    def page(
        self,
        wanted: Filter,
        *,
        limit: int = 50,
        offset: int = 0,
        order: str = "time",
    ) -> list[MemoryNote]:
        """Notes that pass the filter, newest first by default; `order` is time, recorded, importance or pinned."""
        if order not in _ORDERS:
            raise InvalidInput(f"cannot order by {order!r}", hint=f"use one of {', '.join(_ORDERS)}")
        statement = select(_NOTES.c.id).where(*conditions(wanted)).order_by(*_ORDERS[order]).limit(limit).offset(offset)
        ids = self._run(statement).scalars().all()
        return list(self.get_many(ids, history=False, deleted=True, known_at=wanted.known_at, past=True).values())

    def count(self, wanted: Filter | None = None) -> int:
        """How many notes pass the filter; None counts all that are not deleted."""
        counts = tables.note_counts
        if wanted is None:
            return int(self._run(_COUNT_ALL).scalar_one())
        if wanted == Filter(statuses=wanted.statuses):
            states = [str(status) for status in wanted.statuses]
            total = select(func.coalesce(func.sum(counts.c.notes), 0)).where(counts.c.status.in_(states))
            return int(self._run(total).scalar_one())
        return int(self._run(select(func.count()).select_from(_NOTES).where(*conditions(wanted))).scalar_one())

    def ids(self, *, deleted: bool = False) -> list[str]:
        """Every id, oldest arrival first; deleted ones only when asked."""
        statement = select(_NOTES.c.id).order_by(_NOTES.c.key)
        if not deleted:
            statement = statement.where(_NOTES.c.status != str(Status.DELETED))
        return list(self._run(statement).scalars())

    def keys(self, wanted: Filter) -> list[int]:
        """Integer keys of all notes that pass the filter, ascending."""
        return list(self._run(select(_NOTES.c.key).where(*conditions(wanted)).order_by(_NOTES.c.key)).scalars())

    def any_owned(self) -> bool:
        """Whether any note says whose it is."""
        ((found,),) = _ANY_OWNED.rows(self._session)
        return bool(found)

    def met_by(self, scope: Scope) -> NDArray[np.int64] | None:
        """Integer keys of the active notes that one of this scope may meet; None where all there are are of it."""
        with self._session.within(scope):
            if not self._session.is_shared:
                return None
        return np.array(self.keys(Filter(whose=scope)), dtype=np.int64)

    def scopes_of(self, ids: Sequence[str]) -> dict[str, Scope]:
        """Whose each of these notes is, whatever its status; those that there are."""
        return {id: Scope.of(json.loads(held)) for id, held in _METADATA.rows(self._session, ids=listed(ids))}

    def within_scope(self, ids: Iterable[str]) -> set[str]:
        """Those of these ids whose notes are of the session's scope; where that is everyone's, all of them."""
        scope = self._session.scope
        if scope == EVERYONE:
            return set(ids)
        return {id for id, whose in self.scopes_of(list(ids)).items() if scope.covers(whose)}

    def passes(self, key: int, wanted: Filter) -> bool:
        """Whether this note passes the filter; quick, however many do."""
        return self._run(select(_NOTES.c.key).where(_NOTES.c.key == key, *conditions(wanted))).first() is not None

    def keys_of(self, ids: Sequence[str]) -> dict[str, int]:
        """Integer keys of these ids, whatever their status."""
        return {
            id: key
            for some in chunks(list(ids))
            for id, key in self._run(select(_NOTES.c.id, _NOTES.c.key).where(_NOTES.c.id.in_(some)))
        }

    def ids_changed(self, after: int) -> set[str]:
        """Ids of all that changed in any way after that value of the change counter, whatever their status."""
        return set(self._run(select(_NOTES.c.id).where(_NOTES.c.seq > after)).scalars())

    def ids_of(self, keys: Sequence[int]) -> dict[int, str]:
        """Ids of these integer keys, whatever their status."""
        return {
            key: id
            for some in chunks([int(key) for key in keys])
            for key, id in self._run(select(_NOTES.c.key, _NOTES.c.id).where(_NOTES.c.key.in_(some)))
        }

    def recorded_after(self, moment: datetime) -> list[str]:
        """Ids of notes, not deleted, that arrived after this moment and are of the time at which they arrived."""
        late, columns = time_text(moment), _NOTES.c
        wanted = select(columns.id).where(columns.recorded_at > late, columns.at > late, columns.status != "deleted")
        same = func.substr(columns.at, 1, 16) == func.substr(columns.recorded_at, 1, 16)
        return list(self._run(wanted.where(same).order_by(columns.key)).scalars())

    def bare(self, keys: Sequence[int]) -> dict[int, tuple[MemoryNote, dict[str, str]]]:
        """Notes by key, without what other tables say of them, each with its owned fields (see `owned_fields`)."""
        rows = [
            row for some in chunks([int(key) for key in keys]) for row in self._run(_BY_KEYS, {"keys": some}).mappings()
        ]
        read = self._session.readable(
            rows, lambda row: f"note {row['id']}", lambda row: (row["key"], note_of(row), json.loads(row["edited"]))
        )
        return Readable(self._session, {key: (note, owned) for key, note, owned in read})

    def columns(self, keys: Sequence[int], names: Sequence[str]) -> dict[int, tuple[Any, ...]]:
        """Named raw columns of these keys, for code that ranks many notes and hydrates few."""
        asked = listed(int(key) for key in keys)
        return {row[0]: row[1:] for row in _columns(tuple(names)).rows(self._session, keys=asked)}

    def turns(self, keys: Sequence[int], reach: int) -> list[tuple[int, str, int, str, int]]:
        """(key, conversation, ordinal, at, whether it is active) of these notes and all up to `reach` turns away.

        Some more than once; none of a note outside any conversation.
        """
        rows: list[Any] = _TURNS.rows(
            self._session, keys=listed(map(int, keys)), reach=reach, **scope_values(self._session.scope)
        )
        return rows

    def within(self, since: datetime | None, until: datetime | None, limit: int) -> list[int]:
        """Keys of notes that speak of that time or began to be so in it, whatever their status; at most twice `limit`.

        `until` is exclusive; None leaves a side open.
        """
        bounds = {
            "since": "" if since is None else time_text(since),
            "until": "~" if until is None else time_text(until),
            "limit": limit,
        }
        found: set[int] = set()
        for statement in _WITHIN:
            found.update(key for (key,) in statement.rows(self._session, **bounds))
        return sorted(found)

    def procedures(self, limit: int) -> list[int]:
        """Keys of active notes that say how something is done (procedures and code), at most `limit`."""
        return sorted(key for (key,) in _PROCEDURES.rows(self._session, limit=limit))

    def arrived_before(self, id: str, latest: datetime) -> datetime | None:
        """When the last note came before this one that came by `latest`; None where none did."""
        arrived = _NOTES.alias()
        before = select(arrived.c.key).where(arrived.c.id == id).scalar_subquery()
        statement = select(_NOTES.c.recorded_at).where(_NOTES.c.key < before, _NOTES.c.recorded_at <= time_text(latest))
        return read_time(self._run(statement.order_by(_NOTES.c.key.desc()).limit(1)).scalar_one_or_none())

    def arrived_after(self, id: str, latest: datetime) -> datetime | None:
        """When the next note came after this one that came by `latest`; None where none did."""
        arrived = _NOTES.alias()
        after = select(arrived.c.key).where(arrived.c.id == id).scalar_subquery()
        statement = select(_NOTES.c.recorded_at).where(_NOTES.c.key > after, _NOTES.c.recorded_at <= time_text(latest))
        return read_time(self._run(statement.order_by(_NOTES.c.key).limit(1)).scalar_one_or_none())

    def speakers(self) -> dict[str, int]:
        """How many notes each speaker said, by case-folded name."""
        counts: dict[str, int] = {}
        for speaker, count in self._run(_SPEAKERS):
            counts[speaker.casefold()] = counts.get(speaker.casefold(), 0) + count
        return counts

    def resolve(self, prefix: str, *, deleted: bool = False) -> str:
        """The one id of the scope that is or begins with `prefix`. Raises NoteNotFound or AmbiguousId.

        An id with control characters, which an earlier amem took, is also found as it is shown.
        """
        if not prefix:
            raise NoteNotFound("an empty id names no note", hint="amem list shows the ids")
        statement = select(_NOTES.c.id, _NOTES.c.status).where(
            _NOTES.c.id >= prefix, _NOTES.c.id < prefix + "\U0010ffff", text(in_scope())
        )
        found = self._run(statement.order_by(_NOTES.c.id).limit(200), scope_values(self._session.scope)).all()
        rows = [(str(id), str(status)) for id, status in found]
        if not rows:
            rows = [(id, status) for id, status in self.disguised() if visible_name(id).startswith(prefix)]
        ids = [id for id, status in rows if deleted or status != Status.DELETED]
        if prefix in ids:
            return prefix
        if not ids:
            hint = "it was deleted; amem restore brings it back" if rows else "amem list shows the ids"
            raise NoteNotFound(f"no note {prefix!r}", hint=hint)
        if len(ids) > 1:
            some = ", ".join(id[:12] for id in ids[:4])
            raise AmbiguousId(f"{prefix!r} fits {len(ids)} notes: {some}", hint="give more characters")
        return ids[0]

    def disguised(self) -> list[tuple[str, str]]:
        """Ids of the scope that hold control characters or marks of direction, and each note's status."""
        statement = select(_NOTES.c.id, _NOTES.c.status).where(text(in_scope())).order_by(_NOTES.c.key)
        rows = self._run(statement, scope_values(self._session.scope))
        return [(id, status) for id, status in rows if not is_plain_name(id)]

    def shortened(self, ids: Sequence[str], length: int) -> dict[str, str]:
        """For each id its beginning of that length, or all of it where another note begins the same."""
        start = func.substr(_NOTES.c.id, 1, length)
        shared: set[str] = set()
        for some in chunks(sorted({id[:length] for id in ids})):
            crowded = select(start).where(start.in_(some)).group_by(start).having(func.count() > 1)
            shared |= set(self._run(crowded).scalars())
        return {id: id if id[:length] in shared else id[:length] for id in ids}

    def duplicate_of(self, content: str, metadata: Mapping[str, Any] | None = None) -> str | None:
        """The oldest active note that says the same but for case, width and spacing; None when there is none.

        `metadata` says whose the note is: another user's, agent's or session's is no duplicate of it.
        """
        asked = {"normal": normal_hash(content), **scope_values(Scope.of(metadata or {}))}
        return self._run(_SAME, asked).scalar_one_or_none()

    def replaced_by(self, ids: Sequence[str]) -> list[str]:
        """Ids of the superseded notes whose place one of these took, whatever became of it."""
        statement = select(_NOTES.c.id).where(_NOTES.c.status == str(Status.SUPERSEDED)).order_by(_NOTES.c.key)
        return [
            id
            for some in chunks(list(ids))
            for id in self._run(statement.where(_NOTES.c.superseded_by.in_(some))).scalars()
        ]

    def overturned_among(self, keys: Sequence[int]) -> dict[int, tuple[str, list[Overturned]]]:
        """The content and the overturned statements of those of these notes that have any, by key."""
        rows = _MARKED.rows(self._session, keys=listed(int(key) for key in keys))
        read = self._session.readable(
            [{"key": key, "content": content, "overturned": told} for key, content, told in rows],
            lambda row: f"note {row['key']}",
            lambda row: (row["key"], row["content"], from_plain("overturned", json.loads(row["overturned"]))),
        )
        return {key: (content, told) for key, content, told in read}

    def overturned_by(self, ids: Sequence[str]) -> dict[str, MemoryNote]:
        """The notes that stand and of which one of these overturned a statement, by id, without usage and history."""
        each = func.json_each(valid_json(_NOTES.c.overturned)).table_valued("value")
        told = select(1).select_from(each).where(func.json_extract(each.c.value, "$.by").in_(list(ids)))
        marked = select(_NOTES.c.id).where(_NOTES.c.overturned != "[]", exists(told))
        found = self._run(marked.where(_NOTES.c.status == str(Status.ACTIVE)).order_by(_NOTES.c.key)).scalars().all()
        return self.get_many(found, history=False, usage=False)

    def replacing(self, keys: Sequence[int]) -> set[int]:
        """Those of these notes that took the place of one which is superseded still."""
        earlier = _NOTES.alias()
        taken = select(1).where(earlier.c.superseded_by == _NOTES.c.id, earlier.c.status == str(Status.SUPERSEDED))
        return {
            key
            for some in chunks([int(key) for key in keys])
            for key in self._run(select(_NOTES.c.key).where(_NOTES.c.key.in_(some), taken.exists())).scalars()
        }

    def written_by_hand(self, keys: Sequence[int]) -> set[int]:
        """Those of these notes that a person wrote, in no conversation."""
        return {key for (key,) in _BY_HAND.rows(self._session, keys=listed(int(key) for key in keys))}

    def behind_lost(self) -> list[str]:
        """Ids of the superseded notes whose successor was deleted or destroyed, oldest first."""
        successor = _NOTES.alias()
        there = select(1).where(successor.c.id == _NOTES.c.superseded_by, successor.c.status != str(Status.DELETED))
        statement = (
            select(_NOTES.c.id)
            .where(_NOTES.c.status == str(Status.SUPERSEDED), _NOTES.c.superseded_by.is_not(None), ~there.exists())
            .order_by(_NOTES.c.key)
        )
        return list(self._run(statement).scalars())

    def told_before(self, note: MemoryNote, *, since: datetime) -> int | None:
        """Key of the note told last before this one, not before `since`, by the same speaker in the same conversation.

        And for the same user, agent and session. Deleted ones count as never told.
        """
        same = ("speaker", "conversation_id")
        statement = (
            select(_NOTES.c.key)
            .where(*(func.coalesce(_NOTES.c[name], "") == (getattr(note, name) or "") for name in same))
            .where(_NOTES.c.at >= time_text(since), _NOTES.c.at <= time_text(note.at or since))
            .where(_NOTES.c.id != note.id, _NOTES.c.status != str(Status.DELETED), text(in_scope()))
            .order_by(_NOTES.c.at.desc(), _NOTES.c.key.desc())
            .limit(1)
        )
        key = self._run(statement, scope_values(Scope.of(note.metadata))).scalar_one_or_none()
        return None if key is None else int(key)

    def unfinished(self) -> list[tuple[str, str]]:
        """(id, enrichment) of notes whose analysis is pending or degraded, oldest first."""
        statement = (
            select(_NOTES.c.id, _NOTES.c.enrichment)
            # Spelled out, since SQLite uses its partial index for these very words only.
            .where(text("enrichment <> 'done'"), _NOTES.c.status != str(Status.DELETED))
            .order_by(_NOTES.c.key)
        )
        return [(id, state) for id, state in self._run(statement)]

    def analysed_by(self, analyst: str) -> list[str]:
        """Ids of active notes whose analysis is done and by this analyst, oldest first."""
        statement = select(_NOTES.c.id).where(
            _NOTES.c.analyst == analyst, _NOTES.c.enrichment == "done", _NOTES.c.status == str(Status.ACTIVE)
        )
        return list(self._run(statement.order_by(_NOTES.c.key)).scalars())

    def previous_turns(self, conversation: str, ordinal: int, count: int) -> list[str]:
        """Up to `count` earlier notes of the conversation and scope as "speaker: text", oldest first."""
        statement = (
            select(_NOTES.c.speaker, _NOTES.c.content)
            .where(
                _NOTES.c.conversation_id == conversation,
                _NOTES.c.ordinal < ordinal,
                _NOTES.c.status == str(Status.ACTIVE),
                text(in_scope()),
            )
            .order_by(_NOTES.c.ordinal.desc())
            .limit(count)
        )
        rows = self._run(statement, scope_values(self._session.scope)).all()
        return [f"{speaker}: {content}" if speaker else content for speaker, content in reversed(rows)]

    def told_by(self, id: str) -> str:
        """Who said it first: its speaker, else whoever added it."""
        versions, operations = tables.versions, tables.operations
        statement = (
            select(func.coalesce(_NOTES.c.speaker, operations.c.actor))
            .select_from(
                _NOTES.join(versions, versions.c.note == _NOTES.c.key).join(
                    operations, operations.c.id == versions.c.operation
                )
            )
            .where(_NOTES.c.id == id, versions.c.version == 1)
        )
        return str(self._run(statement).scalar_one())

    def agents_of(self, ids: Sequence[str]) -> dict[str, str]:
        """For each of these notes that an agent added, which one: ``agent:NAME``, or ``agent``."""
        versions, operations = tables.versions, tables.operations
        statement = (
            select(_NOTES.c.id, operations.c.actor)
            .select_from(
                _NOTES.join(versions, versions.c.note == _NOTES.c.key).join(
                    operations, operations.c.id == versions.c.operation
                )
            )
            .where(versions.c.version == 1, operations.c.actor.op("GLOB")("agent*"))
        )
        return {
            id: actor
            for some in chunks(list(ids))
            for id, actor in self._run(statement.where(_NOTES.c.id.in_(some)))
            if actor.split(":")[0] == "agent"
        }

    def witnesses(self, keys: Sequence[int]) -> set[str]:
        """Who has said the same as any of these notes, not counting what was undone."""
        held, operations = tables.corroborations, tables.operations
        found: set[str] = set()
        for some in chunks([int(key) for key in keys]):
            statement = (
                select(held.c.who)
                .select_from(held.join(operations, operations.c.id == held.c.operation))
                .where(held.c.note.in_(some), operations.c.undone_by.is_(None))
            )
            found |= set(self._run(statement).scalars())
        return found

    def owned_fields(self, ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """For each id, {field: "given" or "edited"}: what was filled in when it was added, or changed by hand since.

        Analysis replaces neither; what a person edited, machines may only propose to change.
        """
        return {
            id: self._session.past(f"note {id}", partial(json.loads, text)) or {}
            for some in chunks(list(ids))
            for id, text in self._run(select(_NOTES.c.id, _NOTES.c.edited).where(_NOTES.c.id.in_(some)))
        }
