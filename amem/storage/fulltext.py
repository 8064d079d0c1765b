"""The lexical leg's index (SQLite FTS5 over our own tokens) and the collection's vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from amem.language import index_terms, search_terms
from amem.storage.filters import conditions, in_scope, scope_values
from amem.storage.sql_values import keys_from, listed

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from numpy.typing import NDArray

    from amem.language import Typed
    from amem.note import MemoryNote
    from amem.query import Filter
    from amem.storage.store import Session

    Keys = NDArray[np.int64]
    Floats = NDArray[np.float64]

# From the words to the notes, never the other way: SQLite would rather walk through every rare word there is.
_RARE = (
    "SELECT held.note FROM json_each(:terms) AS asked CROSS JOIN term_counts AS used"
    " ON used.role IN ('entity', 'keyword') AND used.term = asked.value"
    " CROSS JOIN note_terms AS held ON held.role = used.role AND held.term = used.term"
    " CROSS JOIN notes ON notes.key = held.note"
    f" WHERE +used.notes <= :most AND {in_scope()}"
    " GROUP BY held.note ORDER BY sum(1.0 / used.notes) DESC, held.note DESC LIMIT :limit"
)
_ROLE = "SELECT term, notes FROM term_counts WHERE role = :role"
_ROLE_SCOPED = (
    "SELECT term, count(*) AS used FROM note_terms CROSS JOIN notes ON notes.key = note_terms.note"
    f" WHERE role = :role AND status <> 'deleted' AND {in_scope()} GROUP BY term ORDER BY used DESC, term LIMIT :limit"
)
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
    """What full text holds of a note: our own tokens of each indexed column, separated by spaces.

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
        """Those that the session sees: `held`, where nothing has changed since, else with what has."""
        counter = session.counter
        if held is not None and held.seq == counter:
            return held
        if held is None or held.seq > counter:
            by_key, rows = np.zeros(0, dtype=np.int32), session.rows(_SIZES)
        else:
            changed = session.vectors.states(held.seq)[0]
            rows = session.rows(
                f"{_SIZES} WHERE id IN (SELECT value FROM json_each(:keys))", keys=listed(changed.tolist())
            )
            by_key = held.by_key.copy()
            by_key[changed[changed < len(by_key)]] = -1
        keys = np.array([key for key, _ in rows], dtype=np.int64)
        grown = np.full(max(len(by_key), int(keys.max(initial=-1)) + 1), -1, dtype=np.int32)
        grown[: len(by_key)] = by_key
        grown[keys] = _summed([sizes for _, sizes in rows])
        every = grown[grown >= 0]
        return cls(counter, grown, len(every), float(every.mean()) if len(every) else 1.0)


def _summed(sizes: Sequence[bytes]) -> NDArray[np.int64]:
    """The sum of each row of numbers, packed as SQLite's varints: seven bits a byte, a high bit where more follow."""
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


class FullText:
    """Full text and vocabulary of one transaction; also the ``Vocabulary`` that analysts are shown."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put(self, key: int, note: MemoryNote) -> None:
        """Index a note that is not indexed yet."""
        self._session.insert("note_text", {"rowid": key, **columns_of(note)})

    def change(self, key: int, note: MemoryNote, fields: Container[str]) -> None:
        """Index an indexed note again, of which only these `fields` have changed."""
        if "context" in fields and not any(name in fields for name in ("content", "keywords", "entities", "tags")):
            # As every other new note changes what a neighbour is about: its long text need not be cut into terms.
            self._session.update("note_text", {"context": " ".join(index_terms(note.context))}, rowid=key)
        else:
            self.remove(key)
            self.put(key, note)

    def remove(self, key: int) -> None:
        """Forget a note; nothing happens when it is not indexed."""
        self._session.change("DELETE FROM note_text WHERE rowid = :key", key=key)

    def search(self, terms: Sequence[str], limit: int, wanted: Filter | None = None) -> list[tuple[int, float]]:
        """(key, BM25 score, higher is better) of notes that hold any of these index terms, best first.

        Without a filter every active note may answer. Ties go to the older note.
        """
        if not terms or limit < 1:
            return []
        if wanted is None or wanted.is_default:
            return self._active(terms, limit)
        where, values = conditions(wanted)
        statement = (
            "SELECT note_text.rowid, bm25(note_text) AS score FROM note_text JOIN notes ON notes.key = note_text.rowid"
            f" WHERE note_text MATCH :match AND {where} ORDER BY score, note_text.rowid LIMIT :limit"
        )
        return [(key, -score) for key, score in self._session.rows(statement, match=_any(terms), limit=limit, **values)]

    def postings(self, terms: Sequence[str], lengths: Lengths) -> tuple[Keys, Keys, Floats]:
        """Where each term stands: places in `terms`, the keys of the notes that hold it, and what BM25 gives for it.

        As `search` has it: what BM25 gives is above nothing, and the parts of several terms add up to the score of a
        question that holds them. `lengths` must be those of this session.
        """
        self._session.change(_INSTANCES)
        rows = self._session.rows(_HELD, terms=listed(terms))
        table = np.fromiter(chain.from_iterable(rows), np.int64, 2 * len(rows)).reshape(len(rows), 2)
        pairs, often = np.unique(table[:, 0] << _KEY_BITS | table[:, 1], return_counts=True)
        places, keys = pairs >> _KEY_BITS, pairs & ((1 << _KEY_BITS) - 1)
        held = np.bincount(places, minlength=len(terms))
        rarity = np.maximum(_LEAST_IDF, np.log((lengths.notes - held + 0.5) / (held + 0.5)))
        # A term that is held often counts more, up to K1 + 1 times, and the less the longer the note is.
        damped = K1 * (1 - _B + _B * lengths.by_key[keys] / lengths.mean)
        return places, keys, rarity[places] * (often * (K1 + 1) / (often + damped))

    def scores(self, terms: Sequence[str], keys: Sequence[int]) -> dict[int, float]:
        """BM25 score of each of these notes that holds any of the terms."""
        if not terms or not keys:
            return {}
        statement = "SELECT rowid, bm25(note_text) FROM note_text WHERE note_text MATCH :match"
        statement += " AND rowid IN (SELECT value FROM json_each(:keys))"
        rows = self._session.rows(statement, match=_any(terms), keys=listed(map(int, keys)))
        return {key: -score for key, score in rows}

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
            f" WHERE t.role = :role AND t.term IN (SELECT value FROM json_each(:terms)) AND {where}"
            " GROUP BY t.note ORDER BY count(*) DESC, t.note DESC LIMIT :limit"
        )
        rows = self._session.rows(statement, role=role, terms=listed(folded), limit=limit, **given)
        return [(key, tuple(sorted(held.split("\x1f")))) for key, held in rows]

    def sharing_rare(self, values: Sequence[str], *, most: int, limit: int) -> list[int]:
        """Keys of notes that carry these entities or keywords, those that share most, and rarest, first.

        A word that more than `most` notes carry does not count.
        """
        folded = sorted({value.casefold() for value in values})
        if not folded:
            return []
        scope = scope_values(self._session.scope)
        return self._session.column(_RARE, terms=listed(folded), most=most, limit=limit, **scope)

    def counts(self, role: str, values: Sequence[str] | None = None) -> dict[str, int]:
        """How many notes carry each tag, entity or keyword (case-folded), most used first."""
        if values is None:
            return self._most_used(role)
        terms = listed(each.casefold() for each in values)
        # With a plus sign, since in the order of an index SQLite would read every term there is.
        statement = f"{_ROLE} AND term IN (SELECT value FROM json_each(:terms)) ORDER BY +notes DESC, term"
        return dict(self._session.rows(statement, role=role, terms=terms))

    # -- the vocabulary analysts are shown ---------------------------------------------------------------------

    @property
    def total(self) -> int:
        """How many notes there are that are not deleted."""
        return self._session.notes.count()

    def document_frequency(self, terms: Sequence[str]) -> Mapping[str, int]:
        """For each index term how many notes hold it anywhere; 0 when none."""
        wanted = list(dict.fromkeys(terms))
        statement = "SELECT term, doc FROM note_vocabulary WHERE term IN (SELECT value FROM json_each(:terms))"
        found = dict(self._session.rows(statement, terms=listed(wanted))) if wanted else {}
        return dict.fromkeys(wanted, 0) | found

    def tags(self) -> Mapping[str, int]:
        """The 200 most used tags and how many notes carry each, most used first."""
        return self._most_used("tag", _SHOWN_TAGS)

    def _most_used(self, role: str, limit: int = -1) -> dict[str, int]:
        if self._session.is_shared:
            scope = scope_values(self._session.scope)
            return dict(self._session.rows(_ROLE_SCOPED, role=role, limit=limit, **scope))
        return dict(self._session.rows(f"{_ROLE} ORDER BY notes DESC, term LIMIT :limit", role=role, limit=limit))

    def _active(self, terms: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """The unfiltered fast path: rank in FTS5 alone, then drop the few that are not active."""
        margin = limit + 32
        while True:
            ranked = self._ranked(terms, margin)
            active = "SELECT key FROM notes WHERE status = 'active' AND key IN (SELECT value FROM json_each(:keys))"
            keys = set(self._session.column(active, keys=listed(key for key, _ in ranked)))
            alive = [(key, score) for key, score in ranked if key in keys]
            if len(alive) >= limit or len(ranked) < margin:
                return alive[:limit]
            margin *= 4

    def _ranked(self, terms: Sequence[str], limit: int) -> list[tuple[int, float]]:
        # "ORDER BY rank" lets FTS5 keep its own heap instead of sorting every match.
        statement = "SELECT rowid, rank FROM note_text WHERE note_text MATCH :match ORDER BY rank LIMIT :limit"
        ranked = [(key, -score) for key, score in self._session.rows(statement, match=_any(terms), limit=limit)]
        return sorted(ranked, key=lambda pair: (-pair[1], pair[0]))


def _any(terms: Sequence[str]) -> str:
    # Our tokens hold no quotation mark, so quoting is all it takes to keep FTS5's query language out.
    return " OR ".join(f'"{term}"' for term in terms)


def _typed(word: Typed) -> str:
    if word.run:
        return f'"{" ".join(word.run)}"'
    return " OR ".join([f'"{start}"*' for start in word.starts] + [f'"{term}"' for term in word.terms])
