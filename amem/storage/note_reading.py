"""Notes out of the database: by id, by key, by filter, by what they say; and what other tables say of them."""

from __future__ import annotations

import json
import re
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar

from amem.errors import AmbiguousId, InvalidInput, NoteNotFound
from amem.labels import is_plain_name, visible_name
from amem.language import normalize
from amem.note import EVERYONE, SCOPES, Kind, MemoryNote, Scope, Source, Status
from amem.query import Filter
from amem.storage.rows import (
    AUTHOR,
    Part,
    conditions,
    from_plain,
    from_row,
    in_scope,
    keys_from,
    note_of,
    read_moment,
    read_time,
    stood,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from amem.note import Overturned
    from amem.storage.store import Session

K = TypeVar("K")
V = TypeVar("V")
#: A note that a page cites by its id, or by the beginning of it.
_CITED = re.compile(r"\[\[([^\[\]\n]{4,64})\]\]")
_GONE = (
    "SELECT value FROM json_each(:cites) AS cite WHERE NOT EXISTS"
    " (SELECT 1 FROM notes WHERE id >= cite.value AND id < cite.value || char(1114111) AND status <> 'deleted')"
)
#: Whoever holds what is no JSON is passed over: SQLite's functions for JSON would stop for all rows.
_JSON = "CASE WHEN json_valid({0}) THEN {0} END"
_SAME = (
    "SELECT key, id FROM notes WHERE normal = :normal AND status = 'active'"
    # What sums an episode up says nothing of its own, even in the very words of one of its messages.
    " AND json_extract(metadata, '$.episode') IS NULL"
    # What two people say in the same words, each says for themselves.
    f" AND {in_scope()} ORDER BY key LIMIT 1"
)
_BY_HAND = f"SELECT key FROM notes AS n WHERE key IN :keys AND conversation_id IS NULL AND {AUTHOR} = 'user'"
#: The notes that came from sources, where that was not undone.
MADE_FROM = (
    "FROM notes JOIN note_sources AS held ON held.note = notes.key JOIN sources ON sources.key = held.source"
    " LEFT JOIN operations AS o ON o.id = held.operation WHERE o.undone_by IS NULL"
)
_ORDERS = {
    "time": "at DESC, key DESC",
    "recorded": "key DESC",
    "importance": "importance DESC, key DESC",
    "pinned": "pinned DESC, importance DESC, key DESC",
}
#: By the indexes of 0004_scopes.sql, which hold the few notes that say whose they are.
_OWNED = " UNION ALL ".join(
    f"SELECT key FROM notes WHERE json_extract(metadata, '$.{name}') IS NOT NULL" for name in SCOPES
)
#: So many notes are remembered in one transaction.
_REMEMBERED = 1_024
_METADATA = "SELECT id, metadata FROM notes WHERE id IN :ids"

_WITHIN = (
    "SELECT key FROM notes WHERE at >= :since AND at < :until LIMIT :limit",
    "SELECT key FROM notes WHERE valid_from >= :since AND valid_from < :until LIMIT :limit",
)
#: By the index of the few notes that have any.
_MARKED = "SELECT key, content, overturned FROM notes WHERE overturned <> '[]' AND key IN :keys"


def normal_hash(content: str) -> bytes:
    """A hash that texts share which differ in case, width or spacing only."""
    return blake2b(normalize(content).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _without_lines(page: str, gone: set[str]) -> str:
    """A page without the items that cite one of these, and without headings that nothing is left below."""
    kept: list[str] = []
    for block in page.split("\n\n"):
        lines = block.split("\n")
        left = [each for each in lines if not (each.startswith("- ") and not gone.isdisjoint(_CITED.findall(each)))]
        if left:
            kept.append("\n".join(left))
    heads = [each.startswith("## ") for each in kept]
    return "\n\n".join(
        each for each, head, below in zip(kept, heads, [*heads[1:], True], strict=True) if not (head and below)
    )


class Readable(dict[K, V]):
    """The rows that could be read; looking up one that could not raises an error that names it and says why."""

    def __init__(self, session: Session, read: Mapping[K, V]) -> None:
        super().__init__(read)
        self._session = session

    def __missing__(self, key: K) -> V:
        for error in self._session.passed_over.values():
            raise error
        raise KeyError(key)


class NoteReading(Part):
    """The notes of one transaction, to be read."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        #: Notes that `bare` read, as they are now, each with its row: an add asks for its neighbours twice, and changes
        #: some of them, which it knows by id.
        self._read: dict[int, tuple[MemoryNote, dict[str, str], dict[str, Any]]] = {}
        self._keys: dict[str, int] = {}
        #: False where no note says whose it is.
        self._owned: bool | None = None

    def get(self, id: str) -> MemoryNote | None:
        """The note with its links, usage, trust and history; None when there is none or it was deleted."""
        return self.get_many([id], past=False).get(id)

    def existing(self, id: str, *, deleted: bool = False) -> MemoryNote:
        """The note without its history, usage and trust; one that was deleted only when asked. Raises NoteNotFound."""
        note = self.get_many([id], history=False, usage=False, deleted=deleted).get(id)
        if note is None:
            raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
        return note

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
        for row in self._session.records("SELECT * FROM notes WHERE id IN :ids", ids=dict.fromkeys(ids)):
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

    def shown(
        self,
        ids: Sequence[str],
        *,
        history: bool = True,
        usage: bool = True,
        deleted: bool = False,
        known_at: datetime | None = None,
    ) -> dict[str, MemoryNote]:
        """As `get_many`, for whoever reads them: a topic's page without what it quotes of deleted notes."""
        found = self.get_many(ids, history=history, usage=usage, deleted=deleted, known_at=known_at)
        if known_at is None:
            self.leave_out_deleted(found.values())
        return found

    def leave_out_deleted(self, notes: Iterable[MemoryNote]) -> None:
        """Take out of topics' pages the lines that cite a note which is not there; maintenance writes them anew."""
        pages = [note for note in notes if note.kind is Kind.TOPIC]
        cites = {cite for page in pages for cite in _CITED.findall(page.content)}
        gone = set(self._session.column(_GONE, cites=sorted(cites))) if cites else set()
        for page in pages if gone else ():
            page.content = _without_lines(page.content, gone)

    def page(
        self,
        wanted: Filter,
        *,
        limit: int = 50,
        offset: int = 0,
        order: str = "time",
        holding: Sequence[Sequence[str]] = (),
    ) -> list[MemoryNote]:
        """Notes that pass the filter, newest first by default; `order` is time, recorded, importance or pinned.

        With `holding`, only those that have one index term at least of each of these groups.
        """
        if order not in _ORDERS:
            raise InvalidInput(f"cannot order by {order!r}", hint=f"use one of {', '.join(_ORDERS)}")
        where, values = conditions(wanted)
        if holding:
            where += " AND notes.key IN (SELECT rowid FROM note_text WHERE note_text MATCH :match)"
            # Index terms hold no quotation mark, so quoting keeps FTS5's query language out.
            groups = ([f'"{term}"' for term in terms] for terms in holding)
            values["match"] = " AND ".join(f"({' OR '.join(terms)})" for terms in groups)
        statement = f"SELECT id FROM notes WHERE {where} ORDER BY {_ORDERS[order]} LIMIT :limit OFFSET :offset"
        ids = self._session.column(statement, limit=limit, offset=offset, **values)
        return list(self.shown(ids, history=False, deleted=True, known_at=wanted.known_at).values())

    def titled(self, titles: Sequence[str], wanted: Filter) -> dict[str, str]:
        """The latest note of each of these titles, as their metadata have them, among those that pass the filter."""
        where, values = conditions(wanted)
        sql = f"SELECT json_extract(metadata, '$.title') AS title, id FROM notes WHERE {where}"
        sql += " AND json_type(metadata, '$.title') = 'text' AND title IN :titles"
        return dict(self._session.rows(f"{sql} ORDER BY at, key", titles=titles, **values))

    def count(self, wanted: Filter | None = None) -> int:
        """How many notes pass the filter; None counts all that are not deleted."""
        if wanted is None:
            return int(self._session.value("SELECT coalesce(sum(notes), 0) FROM note_counts WHERE status <> 'deleted'"))
        if wanted == Filter(statuses=wanted.statuses):
            total = "SELECT coalesce(sum(notes), 0) FROM note_counts WHERE status IN :of"
            return int(self._session.value(total, of=wanted.statuses))
        where, values = conditions(wanted)
        return int(self._session.value(f"SELECT count(*) FROM notes WHERE {where}", **values))

    def ids(self, *, deleted: bool = False) -> list[str]:
        """Every id, oldest arrival first; deleted ones only when asked."""
        where = "" if deleted else " WHERE status <> 'deleted'"
        return self._session.column(f"SELECT id FROM notes{where} ORDER BY key")

    def keys(self, wanted: Filter) -> list[int]:
        """Integer keys of all notes that pass the filter, ascending."""
        where, values = conditions(wanted)
        return self._session.column(f"SELECT key FROM notes WHERE {where} ORDER BY key", **values)

    def any_owned(self) -> bool:
        """Whether any note says whose it is."""
        if self._owned is None:
            self._owned = bool(self._session.value(f"SELECT EXISTS ({_OWNED})"))
        return self._owned

    def met_by(self, scope: Scope) -> NDArray[np.int64] | None:
        """Integer keys of the active notes that one of this scope may meet; None where all there are are of it."""
        with self._session.within(scope):
            if not self._session.is_shared:
                return None
        import numpy as np

        return np.array(self.keys(Filter(whose=scope)), dtype=np.int64)

    def scopes_of(self, ids: Sequence[str]) -> dict[str, Scope]:
        """Whose each of these notes is, whatever its status; those that there are."""
        return {id: Scope.of(json.loads(held)) for id, held in self._session.rows(_METADATA, ids=ids)}

    def within_scope(self, ids: Iterable[str]) -> set[str]:
        """Those of these ids whose notes are of the session's scope; where that is everyone's, all of them."""
        scope = self._session.scope
        if scope == EVERYONE:
            return set(ids)
        return {id for id, whose in self.scopes_of(list(ids)).items() if scope.covers(whose)}

    def passes(self, key: int, wanted: Filter) -> bool:
        """Whether this note passes the filter; quick, however many do."""
        where, values = conditions(wanted)
        return bool(self._session.column(f"SELECT key FROM notes WHERE key = :this AND {where}", this=key, **values))

    def keys_of(self, ids: Sequence[str]) -> dict[str, int]:
        """Integer keys of these ids, whatever their status."""
        if not ids:
            return {}
        return dict(self._session.rows("SELECT id, key FROM notes WHERE id IN :ids", ids=ids))

    def key_of(self, id: str) -> int:
        """The note's integer key, whatever its status. Raises NoteNotFound."""
        key = self.keys_of([id]).get(id)
        if key is None:
            raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
        return key

    def ids_changed(self, after: int) -> set[str]:
        """Ids of all that changed in any way after that value of the change counter, whatever their status."""
        return set(self._session.column("SELECT id FROM notes WHERE seq > :after", after=after))

    def ids_of(self, keys: Sequence[int]) -> dict[int, str]:
        """Ids of these integer keys."""
        return dict(self._session.rows("SELECT key, id FROM notes WHERE key IN :keys", keys=keys))

    def recorded_after(self, moment: datetime) -> list[str]:
        """Ids of notes, not deleted, that arrived after this moment and are of the time at which they arrived."""
        sql = "SELECT id FROM notes WHERE recorded_at > :late AND at > :late AND status <> 'deleted'"
        sql += " AND substr(at, 1, 16) = substr(recorded_at, 1, 16) ORDER BY key"
        return self._session.column(sql, late=moment)

    def bare(self, keys: Sequence[int]) -> dict[int, tuple[MemoryNote, dict[str, str]]]:
        """Notes by key, without what other tables say of them, each with its owned fields (see `owned_fields`)."""
        wanted = dict.fromkeys(map(int, keys))
        if missing := [key for key in wanted if key not in self._read]:
            rows = self._session.records("SELECT * FROM notes WHERE key IN :keys", keys=missing)
            if len(self._read) > _REMEMBERED:
                self._read = {key: self._read[key] for key in wanted if key in self._read}
            self._session.readable(rows, lambda row: f"note {row['id']}", self._remember)
        return Readable(self._session, {key: self._read[key][:2] for key in sorted(wanted) if key in self._read})

    def _remember(self, row: dict[str, Any]) -> None:
        self._read[row["key"]] = note_of(row), json.loads(row["edited"]), row
        self._keys[row["id"]] = row["key"]

    def columns(self, keys: Sequence[int], names: Sequence[str]) -> dict[int, tuple[Any, ...]]:
        """Named raw columns of these keys, for code that ranks many notes and hydrates few."""
        sql = f"SELECT {', '.join(('key', *names))} FROM notes WHERE key IN :keys"
        return {key: tuple(row) for key, *row in self._session.rows(sql, keys=keys)}

    def of_scope(self, keys: Sequence[int]) -> set[int]:
        """Those of these notes that are of the session's scope."""
        return set(self._session.column(f"SELECT key FROM notes WHERE key IN :keys AND {in_scope()}", keys=keys))

    def within(self, since: datetime | None, until: datetime | None, limit: int) -> NDArray[np.int64]:
        """Keys of notes that speak of that time or began to be so in it, whatever their status; at most twice `limit`.

        They ascend. `until` is exclusive; None leaves a side open.
        """
        import numpy as np

        bounds = {"since": since or "", "until": until or "~", "limit": limit}
        of, since_then = (keys_from(self._session, each, **bounds) for each in _WITHIN)
        return np.union1d(of, since_then) if len(since_then) else np.sort(of)

    def arrived_before(self, id: str, latest: datetime) -> datetime | None:
        """When the last note came before this one that came by `latest`; None where none did."""
        sql = "SELECT recorded_at FROM notes WHERE key < (SELECT key FROM notes WHERE id = :id)"
        sql += " AND recorded_at <= :latest ORDER BY key DESC LIMIT 1"
        return read_time(self._session.value(sql, id=id, latest=latest))

    def arrived_after(self, id: str, latest: datetime) -> datetime | None:
        """When the next note came after this one that came by `latest`; None where none did."""
        sql = "SELECT recorded_at FROM notes WHERE key > (SELECT key FROM notes WHERE id = :id)"
        sql += " AND recorded_at <= :latest ORDER BY key LIMIT 1"
        return read_time(self._session.value(sql, id=id, latest=latest))

    def speakers(self) -> dict[str, int]:
        """How many notes each speaker said, by case-folded name."""
        counts: dict[str, int] = {}
        sql = "SELECT speaker, count(*) FROM notes WHERE speaker IS NOT NULL GROUP BY speaker"
        for speaker, count in self._session.rows(sql):
            counts[speaker.casefold()] = counts.get(speaker.casefold(), 0) + count
        return counts

    def resolve(self, prefix: str, *, deleted: bool = False) -> str:
        """The one id of the scope that is or begins with `prefix`. Raises NoteNotFound or AmbiguousId.

        An id with control characters, which an earlier amem took, is also found as it is shown.
        """
        if not prefix:
            raise NoteNotFound("an empty id names no note", hint="amem list shows the ids")
        sql = f"SELECT id, status FROM notes WHERE id >= :prefix AND id < :end AND {in_scope()} ORDER BY id LIMIT 200"
        rows = self._session.rows(sql, prefix=prefix, end=prefix + "􏿿")
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
        return str(ids[0])

    def disguised(self) -> list[tuple[str, str]]:
        """Ids of the scope that hold control characters or marks of direction, and each note's status."""
        rows = self._session.rows(f"SELECT id, status FROM notes WHERE {in_scope()} ORDER BY key")
        return [(id, status) for id, status in rows if not is_plain_name(id)]

    def shortened(self, ids: Sequence[str], length: int) -> dict[str, str]:
        """For each id its beginning of that length, or all of it where another note begins the same."""
        sql = "SELECT substr(id, 1, :length) AS start FROM notes WHERE start IN :starts"
        sql += " GROUP BY start HAVING count(*) > 1"
        shared = set(self._session.column(sql, length=length, starts={id[:length] for id in ids}))
        return {id: id if id[:length] in shared else id[:length] for id in ids}

    def duplicate_of(self, content: str, metadata: Mapping[str, Any] | None = None) -> str | None:
        """The oldest active note that says the same but for case, width and spacing; None when there is none.

        `metadata` says whose the note is: another user's, agent's or session's is no duplicate of it.
        """
        with self._session.within(Scope.of(metadata or {})):
            found = self._session.rows(_SAME, normal=normal_hash(content))
        return str(found[0][1]) if found else None

    def replaced_by(self, ids: Sequence[str]) -> list[str]:
        """Ids of the superseded notes whose place one of these took, whatever became of it."""
        sql = "SELECT id FROM notes WHERE status = 'superseded' AND superseded_by IN :ids ORDER BY key"
        return self._session.column(sql, ids=ids)

    def overturned_among(self, keys: Sequence[int]) -> dict[int, tuple[str, list[Overturned]]]:
        """The content and the overturned statements of those of these notes that have any, by key."""
        rows = self._session.rows(_MARKED, keys=keys)
        read = self._session.readable(
            [{"key": key, "content": content, "overturned": told} for key, content, told in rows],
            lambda row: f"note {row['key']}",
            lambda row: (row["key"], row["content"], from_plain("overturned", json.loads(row["overturned"]))),
        )
        return {key: (content, told) for key, content, told in read}

    def overturned_by(self, ids: Sequence[str]) -> dict[str, MemoryNote]:
        """The notes that stand and of which one of these overturned a statement, by id, without usage and history."""
        told = f"json_each({_JSON.format('overturned')})"
        sql = f"SELECT id FROM notes WHERE overturned <> '[]' AND status = 'active' AND EXISTS (SELECT 1 FROM {told}"
        sql += " WHERE json_extract(value, '$.by') IN :ids) ORDER BY key"
        return self.get_many(self._session.column(sql, ids=ids), history=False, usage=False)

    def replacing(self, keys: Sequence[int]) -> set[int]:
        """Those of these notes that superseded another, which still is superseded."""
        sql = "SELECT key FROM notes AS n WHERE key IN :keys AND EXISTS"
        sql += " (SELECT 1 FROM notes AS e WHERE e.superseded_by = n.id AND e.status = 'superseded')"
        return set(self._session.column(sql, keys=keys))

    def written_by_hand(self, keys: Sequence[int]) -> set[int]:
        """Those of these notes that a person wrote outside conversations."""
        return set(self._session.column(_BY_HAND, keys=keys))

    def behind_lost(self) -> list[str]:
        """Ids of the superseded notes whose successor was deleted or destroyed, oldest first."""
        sql = "SELECT id FROM notes AS n WHERE status = 'superseded' AND superseded_by IS NOT NULL AND NOT EXISTS"
        sql += " (SELECT 1 FROM notes AS s WHERE s.id = n.superseded_by AND s.status <> 'deleted') ORDER BY key"
        return self._session.column(sql)

    def told_before(self, note: MemoryNote, *, since: datetime) -> int | None:
        """Key of the note told last before this one, not before `since`, by the same speaker in the same conversation.

        And for the same user, agent and session. Deleted ones count as never told.
        """
        sql = "SELECT key FROM notes WHERE coalesce(speaker, '') = :speaker AND coalesce(conversation_id, '') = :chat"
        sql += f" AND at >= :since AND at <= :until AND id <> :id AND status <> 'deleted' AND {in_scope()}"
        asked: dict[str, Any] = {"speaker": note.speaker or "", "chat": note.conversation_id or "", "id": note.id}
        asked |= {"since": since, "until": note.at or since}
        with self._session.within(Scope.of(note.metadata)):
            found: int | None = self._session.value(f"{sql} ORDER BY at DESC, key DESC LIMIT 1", **asked)
        return found

    def unfinished(self) -> list[tuple[str, str]]:
        """(id, enrichment) of notes whose analysis is pending or degraded, oldest first."""
        # In these very words, or SQLite would not use its partial index.
        sql = "SELECT id, enrichment FROM notes WHERE enrichment <> 'done' AND status <> 'deleted' ORDER BY key"
        return self._session.rows(sql)

    def analysed_by(self, analyst: str) -> list[str]:
        """Ids of active notes whose analysis is done and by this analyst, oldest first."""
        sql = "SELECT id FROM notes WHERE analyst = :analyst AND enrichment = 'done' AND status = 'active' ORDER BY key"
        return self._session.column(sql, analyst=analyst)

    def previous_turns(self, conversation: str, ordinal: int, count: int) -> list[str]:
        """Up to `count` earlier notes of the conversation and scope as "speaker: text", oldest first."""
        sql = "SELECT speaker, content FROM notes WHERE conversation_id = :conversation AND ordinal < :ordinal"
        sql += f" AND status = 'active' AND {in_scope()} ORDER BY ordinal DESC LIMIT :count"
        rows = self._session.rows(sql, conversation=conversation, ordinal=ordinal, count=count)
        return [f"{speaker}: {content}" if speaker else content for speaker, content in reversed(rows)]

    def told_by(self, id: str) -> str:
        """The name of who said it first: its speaker, else whoever added it."""
        return str(self._session.value(f"SELECT coalesce(speaker, {AUTHOR}) FROM notes AS n WHERE id = :id", id=id))

    def agents_of(self, ids: Sequence[str]) -> dict[str, str]:
        """For each of these notes that an agent added, which one: ``agent:NAME``, or ``agent``."""
        sql = f"SELECT id, {AUTHOR} AS author FROM notes AS n WHERE id IN :ids"
        sql += " AND (author = 'agent' OR author GLOB 'agent:*')"
        return dict(self._session.rows(sql, ids=ids))

    def witnesses(self, keys: Sequence[int]) -> set[str]:
        """The names of those who said the same as any of these notes, without undone corroborations."""
        sql = "SELECT c.who FROM corroborations AS c JOIN operations AS o ON o.id = c.operation"
        sql += " WHERE c.note IN :keys AND o.undone_by IS NULL"
        return set(self._session.column(sql, keys=keys))

    def sources_of(self, ids: Sequence[str]) -> dict[str, list[Source]]:
        """For each note id the sources it came from, in their order."""
        found: dict[str, list[Source]] = {id: [] for id in ids}
        sql = f"SELECT notes.id AS made, sources.* {MADE_FROM} AND notes.id IN :ids"
        for row in self._session.records(f"{sql} ORDER BY sources.ordinal, sources.key", ids=found):
            found[row["made"]] += read_sources(self._session, [row])
        return found

    def owned_fields(self, ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """For each id, {field: "given" or "edited"}: what was filled in when it was added, or changed by hand since.

        Analysis replaces neither; what a person edited, machines may only propose to change.
        """
        rows = self._session.rows("SELECT id, edited FROM notes WHERE id IN :ids", ids=ids)
        return {id: self._session.past(f"note {id}", partial(json.loads, text)) or {} for id, text in rows}


#: Built once, as it is on the path of every search. A link may point to a note that does not exist yet; one to a
#: deleted note is not shown until it is restored.
_LINKS = (
    "SELECT links.source, links.target FROM json_each(:ids) AS asked CROSS JOIN links ON links.source = asked.value"
    " LEFT JOIN notes ON notes.id = links.target WHERE coalesce(notes.status, '') <> 'deleted'"
    " ORDER BY links.at, links.key"
)


_DOUBTS = (
    "SELECT notes.id, flags.reason FROM json_each(:ids) AS asked JOIN notes ON notes.id = asked.value"
    " JOIN flags ON flags.note = notes.key JOIN operations AS made ON made.id = flags.operation"
    " WHERE flags.dismissed = 0 AND made.undone_by IS NULL AND made.at <= :moment"
    " AND NOT EXISTS (SELECT 1 FROM flags AS later JOIN operations AS said ON said.id = later.operation"
    "  WHERE later.note = flags.note AND later.because = flags.because AND later.id > flags.id"
    "  AND said.undone_by IS NULL AND said.at <= :moment) ORDER BY flags.id"
)

_USED = "SELECT note, recalls, last_access FROM usage WHERE note IN :keys"
_CHANGES = (
    "SELECT v.note, v.version, v.changes, o.actor, o.action, o.cause, o.at"
    " FROM versions AS v JOIN operations AS o ON o.id = v.operation"
    " WHERE v.note IN :keys AND v.version > 1 ORDER BY v.note, v.version"
)


def complete(
    session: Session,
    notes: Mapping[str, MemoryNote],
    rows: Mapping[str, Mapping[str, Any]],
    *,
    history: bool,
    usage: bool,
    known_at: datetime | None = None,
) -> None:
    """Fill in links, doubts (those there were at `known_at`) and, when asked, usage, trust, stability and history."""
    for source, end in session.rows(_LINKS, ids=notes):
        if end not in notes[source].links:
            notes[source].links.append(end)
    for id, reason in session.rows(_DOUBTS, ids=notes, moment=known_at or session.now):
        if notes[id].status is Status.ACTIVE:
            notes[id].doubts.append(reason)
    by_key = {rows[id]["key"]: note for id, note in notes.items()}
    if usage:
        _usage(session, by_key)
    if history:
        _history(session, by_key)


def _usage(session: Session, notes: Mapping[int, MemoryNote]) -> None:
    used = {note: rest for note, *rest in session.rows(_USED, keys=notes)}
    for key, (stability, trust) in session.usage.beliefs(list(notes)).items():
        note = notes[key]
        note.retrieval_count, note.last_accessed = used.get(key, (0, note.timestamp))
        note.stability, note.trust = stability, trust


def _history(session: Session, notes: Mapping[int, MemoryNote]) -> None:
    found = session.records(_CHANGES, keys=notes)
    for key, told in session.readable(
        found, lambda row: f"version {row['version']} of note {notes[row['note']].id}", _told
    ):
        if told["version"] <= notes[key].version:  # else the note is asked for as it stood before
            notes[key].evolution_history.append(told)


def _told(row: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    return row["note"], {
        "version": row["version"],
        "at": read_moment(row["at"]).isoformat(),
        "actor": row["actor"],
        "action": row["action"],
        "cause": row["cause"],
        "changes": json.loads(row["changes"]),
    }


def read_sources(session: Session, rows: Iterable[Mapping[Any, Any]]) -> list[Source]:
    """Rows of the table as values, but for those that cannot be read."""
    return session.readable(rows, lambda row: f"source {row['id']}", partial(from_row, Source))
