"""What notes are found by: the words of their texts (SQLite FTS5 over our own tokens), and the facts they state."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, Any

from amem.language import Typed, index_terms, normalize, search_terms
from amem.language.intervals import Evidence
from amem.language.predicates import subject_key
from amem.note import Fact, MemoryNote, Overturned, Status
from amem.rendering import fallen
from amem.storage.rows import (
    ROLE,
    Part,
    changed_since,
    conditions,
    flat_fields,
    in_scope,
    keys_from,
    note_of,
    patched,
    read_moment,
    read_time,
    stood,
    time_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from amem.query import Filter
    from amem.storage.store import Session

    Keys = NDArray[np.int64]
    Floats = NDArray[np.float64]

# From the words to the notes, never the other way: SQLite would rather walk through every rare word there is.
_SHARING = (
    "WITH used AS MATERIALIZED (SELECT sort.value AS role, asked.value AS term, (SELECT count(*) FROM (SELECT 1"
    "  FROM note_terms WHERE role = sort.value AND term = asked.value LIMIT :most + 1)) AS notes"
    f"  FROM json_each(:terms) AS asked CROSS JOIN json_each('[{ROLE['entity']}, {ROLE['keyword']}]') AS sort)"
    " SELECT held.note FROM used CROSS JOIN note_terms AS held ON held.role = used.role AND held.term = used.term{0}"
    " WHERE used.notes <= :most{1} GROUP BY held.note ORDER BY sum(1.0 / used.notes) DESC, held.note DESC LIMIT :limit"
)
_RARE = _SHARING.format("", "")
_RARE_SCOPED = _SHARING.format(" CROSS JOIN notes ON notes.key = held.note", f" AND {in_scope()}")
#: Of tags and entities the number of notes is kept, of keywords it is counted.
_ROLE = "SELECT term, notes FROM term_counts WHERE role = :role"
_KEYWORDS = (
    "SELECT term, count(*) FROM note_terms WHERE role = :role AND term IN :terms"
    " GROUP BY term ORDER BY count(*) DESC, term"
)
_ROLE_SCOPED = (
    "SELECT term, count(*) AS used FROM note_terms CROSS JOIN notes ON notes.key = note_terms.note"
    f" WHERE role = :role AND status {{}} AND {in_scope()} GROUP BY term ORDER BY used DESC, term LIMIT :limit"
)
#: The notes that are counted: all, or active ones.
_STANDING = ("<> 'deleted'", "= 'active'")
#: More tags than this are not shown to an analyst; the most used come first.
_SHOWN_TAGS = 200
_HOLDING_ALL = (
    "SELECT note_text.rowid FROM note_text JOIN notes ON notes.key = note_text.rowid"
    " WHERE note_text MATCH :match AND notes.status = 'active' ORDER BY note_text.rowid DESC LIMIT :limit"
)
_INSTANCES = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.note_instances USING fts5vocab(main, note_text, instance)"
_HELD = (
    "SELECT asked.key, held.doc FROM json_each(:terms) AS asked"
    " CROSS JOIN temp.note_instances AS held ON held.term = asked.value"
)
_SIZES = "SELECT id, sz FROM note_text_docsize"
#: Of FTS5's ranking, which has them fixed.
K1, _B, _LEAST_IDF = 1.2, 0.75, 1e-6
_KEY_BITS = 48
_TYPED = "SELECT rowid AS key FROM note_text WHERE note_text MATCH :match"
_CONTAINING = "SELECT key FROM notes WHERE status <> 'deleted' AND instr(content, :character)"


def columns_of(note: MemoryNote) -> dict[str, str]:
    """The texts of a note for full text search: our own tokens for each indexed column, separated by spaces.

    Names that the note is about and its text does not spell out ("she") stand among the keywords.
    """
    text = note.content.casefold()
    unspoken = [name for name in note.entities if name.casefold() not in text]
    return {
        "content": " ".join(search_terms(note.content)),
        "keywords": " ".join(index_terms(" ; ".join([*note.keywords, *unspoken]))),
        "tags": " ".join(index_terms(" ; ".join(note.tags))),
        "context": " ".join(index_terms(note.context)),
    }


# How long notes are, for BM25: asked of thousands of notes by every question.


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many terms full text holds of each note, by key, as of a value of the change counter; 4 bytes a note.

    Below 0 for a key that it does not hold. `notes` is how many notes it holds, `mean` their mean length.
    """

    seq: int
    by_key: NDArray[np.int32]
    notes: int
    mean: float

    @classmethod
    def of(cls, session: Session, held: Lengths | None = None) -> Lengths:
        """The lengths of notes that the session sees: `held` as it is, or brought up to date."""
        import numpy as np  # here and below: facts and tags are looked up without it, and sooner

        if held is not None and held.seq == session.counter:
            return held
        by_key, gone = np.zeros(0, dtype=np.int32), None
        if held is None or held.seq > session.counter:
            rows = session.rows(_SIZES)
        else:
            by_key, gone = held.by_key, session.vectors.states(held.seq)[0]
            rows = session.rows(f"{_SIZES} WHERE id IN :keys", keys=gone.tolist())
        keys = np.array([key for key, _ in rows], dtype=np.int64)
        grown = patched(by_key, keys, _summed([sizes for _, sizes in rows]), gone)
        every = grown[grown >= 0]
        return cls(session.counter, grown, len(every), float(every.mean()) if len(every) else 1.0)


def _summed(sizes: Sequence[bytes]) -> NDArray[np.int64]:
    """The sum of each row of numbers, packed as SQLite's varints: seven bits a byte, a high bit where more follow."""
    import numpy as np

    if not sizes:
        return np.zeros(0, dtype=np.int64)
    packed = np.frombuffer(b"".join(sizes), dtype=np.uint8)
    more = np.append(packed >= 128, False)
    worth, follows = (packed & 127).astype(np.int64), more[:-1]
    for ahead in range(1, int(max(map(len, sizes)))):
        if not follows.any():
            break
        worth[follows] <<= 7
        follows = follows & np.append(more[ahead:], np.zeros(ahead, dtype=np.bool_))[: len(follows)]
    starts = np.cumsum([0, *map(len, sizes[:-1])])
    return np.add.reduceat(worth, starts)


class FullText(Part):
    """Full text and vocabulary of one transaction; also the ``Vocabulary`` that analysts are shown."""

    def put(self, key: int, note: MemoryNote) -> None:
        """Index a note that is not indexed yet."""
        self._session.insert("note_text", {"rowid": key, **columns_of(note)})

    def change(self, key: int, note: MemoryNote, fields: Container[str]) -> None:
        """Index an indexed note again, of which only these `fields` have changed."""
        if any(name in fields for name in ("content", "keywords", "entities")):
            self.remove(key)
            self.put(key, note)
        else:
            # As every other new note changes what a neighbour is about: its long text need not be cut into terms.
            short = {"tags": " ; ".join(note.tags), "context": note.context}
            terms = {name: " ".join(index_terms(text)) for name, text in short.items() if name in fields}
            if terms:
                self._session.update("note_text", terms, rowid=key)

    def remove(self, key: int) -> None:
        """Forget a note; nothing happens when it is not indexed."""
        self._session.change("DELETE FROM note_text WHERE rowid = :key", key=key)

    def postings(self, terms: Sequence[str], lengths: Lengths) -> tuple[Keys, Keys, Floats]:
        """Where each term stands: places in `terms`, the keys of the notes that hold it, and what BM25 gives for it.

        Of notes of any status but deleted. What BM25 gives is above nothing, as in FTS5's own ranking, and the parts of
        several terms add up to the score of a question that holds them. `lengths` must be those of this session.
        """
        import numpy as np

        self._session.change(_INSTANCES)
        rows = self._session.rows(_HELD, terms=terms)
        table = np.fromiter(chain.from_iterable(rows), np.int64, 2 * len(rows)).reshape(len(rows), 2)
        pairs, often = np.unique(table[:, 0] << _KEY_BITS | table[:, 1], return_counts=True)
        places, keys = pairs >> _KEY_BITS, pairs & ((1 << _KEY_BITS) - 1)
        held = np.bincount(places, minlength=len(terms))
        rarity = np.maximum(_LEAST_IDF, np.log((lengths.notes - held + 0.5) / (held + 0.5)))
        # A term that is held often counts more, up to K1 + 1 times, and the less the longer the note is.
        damped = K1 * (1 - _B + _B * lengths.by_key[keys] / lengths.mean)
        return places, keys, rarity[places] * (often * (K1 + 1) / (often + damped))

    def tokens(self) -> dict[int, list[str]]:
        """The index terms of every note that is not deleted, by key: for scorers that keep an index of their own."""
        rows = self._session.rows("SELECT rowid, content, keywords, tags, context FROM note_text ORDER BY rowid")
        return {key: " ".join(columns).split() for key, *columns in rows}

    def holding_all(self, terms: Sequence[str], limit: int) -> list[int]:
        """Keys of active notes that hold all of these index terms, newest first."""
        if not terms:
            return []
        matched = " AND ".join(f'"{term}"' for term in terms)
        return self._session.column(_HOLDING_ALL, match=matched, limit=limit)

    def typed(self, words: Sequence[Typed]) -> Keys:
        """Keys of the notes, of any status but deleted, that hold all of these words, which may be unfinished."""
        import numpy as np

        asked = [f"({_typed(word)})" for word in words if not word.alone]
        found = [keys_from(self._session, _TYPED, match=" AND ".join(asked))] if asked else []
        for word in words:
            if word.alone:
                begins = keys_from(self._session, _TYPED, match=_typed(word))
                found.append(np.union1d(begins, keys_from(self._session, _CONTAINING, character=word.alone)))
        return reduce(np.intersect1d, found) if found else np.empty(0, dtype=np.int64)

    def holding(
        self, role: str, values: Sequence[str], limit: int, wanted: Filter | None = None
    ) -> list[tuple[int, tuple[str, ...]]]:
        """(key, which of the values) for notes that carry these tags, entities or keywords, most matches first."""
        folded = sorted({value.casefold() for value in values})
        if not folded:
            return []
        where, given = ("notes.status = 'active'", {}) if wanted is None else conditions(wanted)
        statement = (
            "SELECT t.note, group_concat(t.term, char(31)) FROM note_terms AS t JOIN notes ON notes.key = t.note"
            f" WHERE t.role = :role AND t.term IN :terms AND {where}"
            " GROUP BY t.note ORDER BY count(*) DESC, t.note DESC LIMIT :limit"
        )
        rows = self._session.rows(statement, role=ROLE[role], terms=folded, limit=limit, **given)
        return [(key, tuple(sorted(held.split("\x1f")))) for key, held in rows]

    def sharing_rare(self, values: Sequence[str], *, most: int, limit: int) -> list[int]:
        """Keys of notes that carry these entities or keywords, those that share most, and rarest, first.

        A word that more than `most` notes carry does not count.
        """
        folded = sorted({value.casefold() for value in values})
        if not folded:
            return []
        asked = {"terms": folded, "most": most, "limit": limit}
        return self._session.column(_RARE_SCOPED if self._session.is_shared else _RARE, **asked)

    def counts(self, role: str, values: Sequence[str] | None = None, *, active: bool = False) -> dict[str, int]:
        """How many notes carry each tag, entity or keyword (case-folded), most used first.

        Those of all notes but deleted ones, or of `active` ones alone; or these `values`.
        """
        if values is None:
            return self._most_used(role, active=active)
        terms = [each.casefold() for each in values]
        # With a plus sign, since in the order of an index SQLite would read every term there is.
        statement = f"{_ROLE} AND term IN :terms ORDER BY +notes DESC, term"
        if role == "keyword":
            statement = _KEYWORDS
        return dict(self._session.rows(statement, role=ROLE[role], terms=terms))

    # -- the vocabulary analysts are shown ---------------------------------------------------------------------

    @property
    def total(self) -> int:
        """How many notes there are that are not deleted."""
        return self._session.notes.count()

    def document_frequency(self, terms: Sequence[str]) -> Mapping[str, int]:
        """For each index term how many notes hold it anywhere; 0 when none."""
        wanted = list(dict.fromkeys(terms))
        statement = "SELECT term, doc FROM note_vocabulary WHERE term IN :terms"
        found = dict(self._session.rows(statement, terms=wanted)) if wanted else {}
        return dict.fromkeys(wanted, 0) | found

    def tags(self) -> Mapping[str, int]:
        """The 200 most used tags and how many notes carry each, most used first."""
        return self._most_used("tag", _SHOWN_TAGS)

    def _most_used(self, role: str, limit: int = -1, *, active: bool = False) -> dict[str, int]:
        if self._session.is_shared or role == "keyword" or active:
            return dict(self._session.rows(_ROLE_SCOPED.format(_STANDING[active]), role=ROLE[role], limit=limit))
        return dict(self._session.rows(f"{_ROLE} ORDER BY notes DESC, term LIMIT :limit", role=ROLE[role], limit=limit))


def _typed(word: Typed) -> str:
    if word.run:
        return f'"{" ".join(word.run)}"'
    return " OR ".join([f'"{start}"*' for start in word.starts] + [f'"{term}"' for term in word.terms])


# What notes state, as rows that are found by subject, predicate and object; ``notes.facts`` is the truth of it.

_NAMES, _PREDICATES = (
    f"{column} IN (SELECT value FROM json_each(:{name}))"
    for column, name in (("f.{0}_key", "names"), ("f.predicate_key", "predicates"))
)
_FROM = "FROM facts AS f JOIN notes ON notes.key = f.note"
#: What took a note's place, unless that was deleted.
_SUCCESSOR = "LEFT JOIN notes AS successor ON successor.id = notes.superseded_by AND successor.status <> 'deleted'"
_REPLACED = "coalesce(successor.valid_from, successor.at) AS replaced"
_SINCE = "coalesce(f.valid_from, notes.valid_from, notes.at)"
_OWNED = "json_extract(CASE WHEN json_valid(notes.edited) THEN notes.edited END, '$.{0}')"
_EVIDENCE = (
    "SELECT f.*, notes.id, notes.key, notes.at, notes.status, notes.superseded_by, notes.speaker,"
    " notes.valid_from AS note_from, notes.valid_to AS note_to,"
    f" coalesce({_OWNED.format('status')}, {_OWNED.format('overturned')}) AS status_owner,"
    f" successor.id AS successor, {_REPLACED} {_FROM} {_SUCCESSOR}"
    f" WHERE {{0}} AND {in_scope()} ORDER BY notes.key, f.place"
)
# On the path of every write.
_HOLDERS = (
    f"SELECT f.note, f.object, f.holds, {_SINCE}, {_REPLACED} {_FROM} {_SUCCESSOR}"
    " WHERE f.subject_key = :subject AND f.predicate_key = :predicate"
    " AND (:object IS NULL OR f.object_key IN (:object, ''))"
    " AND (notes.status = 'active' OR notes.status = 'superseded' AND notes.superseded_by IS NOT NULL)"
    f" AND {in_scope()}"
)
# On the path of every search.
_STATED = (
    f"SELECT {_SINCE} AS since, f.note, f.place, f.subject, f.predicate, f.object, f.subject_key, f.object_key {_FROM}"
    f" WHERE {_NAMES} AND {_PREDICATES} AND {in_scope()} ORDER BY since DESC, f.note DESC LIMIT :limit"
)
_UNENDED = (
    f"SELECT f.note, f.subject, f.predicate, f.object, f.subject_key, f.object_key {_FROM}"
    " WHERE f.note IN :notes AND coalesce(f.valid_to, notes.valid_to, '9') > :at ORDER BY f.note, f.place"
)
_THERE = (
    "EXISTS (SELECT 1 FROM facts CROSS JOIN notes ON notes.key = facts.note WHERE {0} = json_each.value"
    f" AND predicate_key IN (SELECT asked.value FROM json_each(:predicates) AS asked) AND {in_scope()})"
)
_KNOWN = f"SELECT value FROM json_each(:names) WHERE {_THERE.format('subject_key')} OR {_THERE.format('object_key')}"


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact in the words of the note (by its key) that states it, and the keys of the names it is about."""

    note: int
    subject: str
    predicate: str
    object: str
    subject_key: str
    object_key: str


@dataclass(frozen=True, slots=True)
class Holder:
    """A fact of an active or superseded note: since when it was (or was no longer) so, and when it was `replaced`.

    Times are as they are stored: UTC text that sorts as it reads.
    """

    key: int
    object: str
    holds: bool
    since: str
    replaced: str | None


class Facts(Part):
    """The facts of one transaction, in its scope. Those of deleted notes are not there until the notes are restored."""

    def put(self, key: int, note: MemoryNote, *, new: bool = False) -> None:
        """Bring the rows of a note in line with what it states; of a `new` one there are none yet."""
        if not new:
            self._session.change("DELETE FROM facts WHERE note = :key", key=key)
        if note.status is not Status.DELETED:
            self._session.insert("facts", *fact_rows(key, note))

    def about(self, subjects: Iterable[str], predicates: Collection[str] | None = None) -> list[Evidence]:
        """All that notes state of these subjects (spelled in any way, see `subject_key`), oldest arrival first.

        With `predicates` only what they state in these (folded) words.
        """
        about, names = _NAMES.format("subject"), [*map(subject_key, subjects)]
        if predicates is None:
            return self._evidence(about, names=names)
        return self._evidence(f"{about} AND {_PREDICATES}", names=names, predicates=predicates)

    def stating(self, predicates: Collection[str]) -> list[Evidence]:
        """All that notes state of anybody in these (folded) words, oldest arrival first."""
        return self._evidence(_PREDICATES, predicates=predicates)

    def of(self, keys: Sequence[int]) -> list[Evidence]:
        """All that these notes state."""
        return self._evidence("f.note IN :keys", keys=keys)

    def known(self, names: Collection[str], predicates: Collection[str]) -> set[str]:
        """The (keyed) names among these that are subject or object of a fact with one of these (folded) predicates."""
        return set(self._session.column(_KNOWN, names=names, predicates=predicates))

    def stated(self, names: Collection[str], predicates: Collection[str], limit: int) -> list[Stated]:
        """Facts of these predicates about these names, as in `known`, what was true last first.

        At most `limit` with a name as their subject, and as many with one as their object.
        """
        asked = {"names": names, "predicates": predicates, "limit": limit}
        rows = {
            (note, place): (since, *row)
            for role in ("subject", "object")
            for since, note, place, *row in self._session.rows(_STATED.format(role), **asked)
        }
        latest = sorted(rows, key=lambda at: (rows[at][0], at[0], -at[1]), reverse=True)
        return [Stated(at[0], *rows[at][1:]) for at in latest]

    def unended(self, notes: Sequence[int], at: datetime) -> list[Stated]:
        """The facts of these notes that are not over by then, by the notes' own dates or the facts'."""
        return [Stated(*row) for row in self._session.rows(_UNENDED, notes=notes, at=at)]

    def holders(self, subject: str, predicate: str, *, object: str | None = None) -> list[Holder]:
        """The facts of a subject and predicate in notes that were not deleted, archived or taken back.

        With `object` only facts of that value, and those that end whatever was so.
        """
        value = None if object is None else subject_key(object)
        rows = self._session.rows(_HOLDERS, subject=subject_key(subject), predicate=normalize(predicate), object=value)
        return [Holder(key, value, bool(holds), since, replaced) for key, value, holds, since, replaced in rows]

    def subjects(self, limit: int = 1000) -> dict[str, int]:
        """Every subject as it was first written, and how many facts there are of it; most first."""
        source = f"{_FROM} WHERE {in_scope()}" if self._session.is_shared else "FROM facts AS f"
        statement = f"SELECT min(f.subject), count(*) AS n {source} GROUP BY f.subject_key"
        return dict(self._session.rows(f"{statement} ORDER BY n DESC, f.subject_key LIMIT :limit", limit=limit))

    def _evidence(self, where: str, **asked: Any) -> list[Evidence]:
        rows = self._session.records(_EVIDENCE.format(where), **asked)
        return self._session.readable(rows, lambda row: f"a fact of note {row['id']}", evidence_of)


def fact_rows(key: int, note: MemoryNote) -> list[dict[str, Any]]:
    """The facts of a note as rows of the index; what an overturned statement stated ended with it."""
    gone = fallen(note)
    return [_row(key, place, fact, gone.get(place)) for place, fact in enumerate(note.facts)]


def _row(key: int, place: int, fact: Fact, told: Overturned | None) -> dict[str, Any]:
    ends = [at for at in (fact.valid_to, None if told is None else told.until) if at is not None]
    return {
        **flat_fields(fact),
        "note": key,
        "place": place,
        "subject_key": subject_key(fact.subject),
        "predicate_key": normalize(fact.predicate),
        "object_key": subject_key(fact.object),
        "valid_from": None if fact.valid_from is None else time_text(fact.valid_from),
        "valid_to": time_text(min(ends)) if ends else None,
    }


def evidence_of(row: Mapping[Any, Any]) -> Evidence:
    """Evidence from a row of a fact with its note's and what superseded that."""
    superseded = row["status"] == Status.SUPERSEDED
    dated = row["valid_from"] or row["note_from"]
    begun = dated or row["at"]
    return Evidence(
        note=row["id"],
        order=row["key"],
        subject=row["subject"],
        predicate=row["predicate"],
        object=row["object"],
        holds=bool(row["holds"]),
        since=read_moment(begun),
        until=read_time(row["valid_to"] or (None if superseded else row["note_to"])),
        said=read_moment(row["at"]),
        speaker=row["speaker"],
        status=Status(row["status"]),
        successor=row["successor"] if superseded else None,
        retracted=superseded and row["superseded_by"] is None,
        # What is superseded is not so any more, even where nothing says since when.
        ended=read_moment(row["note_to"] or row["replaced"] or begun) if superseded else None,
        kept=row["status_owner"] == "edited" and not superseded,
        dated=dated is not None,
    )


# What notes stated at an earlier time, by their versions; the index of facts knows the present only.


def told_at(session: Session, subjects: Sequence[str], moment: datetime) -> list[Evidence]:
    """All that notes stated of these subjects as they stood at `moment`, oldest arrival first.

    Notes that were deleted since are among them.
    """
    wanted = {subject_key(subject) for subject in subjects}
    # Whoever states it now stated it then, but for those whose facts or status changed in between.
    now = "SELECT DISTINCT note FROM facts WHERE subject_key IN :names"
    keys = set(session.column(now, names=wanted))
    keys |= changed_since(session, moment, "facts", "overturned", "status")
    notes = _stood(session, "key", sorted(keys), moment)
    successors = {row["superseded_by"] for row in notes if row["superseded_by"] is not None}
    then = {row["id"]: row for row in _stood(session, "id", sorted(successors), moment)}
    settled = changed_since(session, moment, "status")
    return [
        evidence_of(_with_note(fact, row, then, settled))
        for row in sorted(notes, key=lambda row: row["key"])
        if row["status"] != Status.DELETED and session.scope.holds(json.loads(row["metadata"]))
        for fact in fact_rows(row["key"], note_of(row))
        if fact["subject_key"] in wanted
    ]


def _stood(session: Session, column: str, values: Sequence[Any], moment: datetime) -> list[dict[str, Any]]:
    rows = session.records(f"SELECT * FROM notes WHERE {column} IN :these", these=values)
    return list(stood(session, {row["key"]: row for row in rows}, moment).values())


def _with_note(
    fact: Mapping[str, Any], row: Mapping[str, Any], then: Mapping[str, Mapping[str, Any]], settled: set[int]
) -> dict[str, Any]:
    """A row as `evidence_of` reads it. Whoever owns the status now may not have owned it before it changed."""
    successor = then.get(row["superseded_by"])
    if successor is not None and successor["status"] == Status.DELETED:
        successor = None
    owned = json.loads(row["edited"]).get("status")
    return {
        **fact,
        **{name: row[name] for name in ("id", "key", "at", "status", "superseded_by", "speaker")},
        "note_from": row["valid_from"],
        "note_to": row["valid_to"],
        "status_owner": None if row["key"] in settled else owned,
        "successor": None if successor is None else successor["id"],
        "replaced": None if successor is None else successor["valid_from"] or successor["at"],
    }
