"""The lexical leg's index (SQLite FTS5 over our own tokens) and the collection's vocabulary."""

from __future__ import annotations

from functools import cache, reduce
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import ColumnElement, bindparam, delete, func, insert, literal_column, select, text

from amem.language import index_terms, search_terms
from amem.note import Status
from amem.storage import tables
from amem.storage.filters import conditions, in_scope, scope_values
from amem.storage.sql_values import Prepared, among, keys_from, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from amem.language import Typed
    from amem.note import MemoryNote
    from amem.query import Filter
    from amem.storage.store import Session

    Keys = NDArray[np.int64]
    Floats = NDArray[np.float64]

_TEXT, _NOTES, _TERMS, _COUNTS = tables.note_text, tables.notes, tables.note_terms, tables.term_counts
_TABLE: ColumnElement[str] = literal_column("note_text")
_COLUMNS = ("content", "keywords", "tags", "context")
# Built once, as they are on the path of every write.
_INSERT = insert(_TEXT)
_DELETE = delete(_TEXT).where(_TEXT.c.rowid == bindparam("wanted"))
_FREQUENCIES = Prepared(
    select(tables.note_vocabulary.c.term, tables.note_vocabulary.c.doc).where(
        tables.note_vocabulary.c.term.in_(among("terms"))
    )
)
# From the words to the notes, never the other way: SQLite would rather walk through every rare word there is.
_RARE = text(
    "SELECT held.note FROM term_counts AS used CROSS JOIN note_terms AS held"
    " ON held.role = used.role AND held.term = used.term"
    " CROSS JOIN notes ON notes.key = held.note"
    f" WHERE used.role IN ('entity', 'keyword') AND used.term IN :terms AND +used.notes <= :most AND {in_scope()}"
    " GROUP BY held.note ORDER BY sum(1.0 / used.notes) DESC, held.note DESC LIMIT :limit"
).bindparams(bindparam("terms", expanding=True))
_ROLE = (
    select(_COUNTS.c.term, _COUNTS.c.notes)
    .where(_COUNTS.c.role == bindparam("role"))
    .order_by(_COUNTS.c.notes.desc(), _COUNTS.c.term)
)
_ROLE_AND_TERMS = Prepared(_ROLE.where(_COUNTS.c.term.in_(among("terms"))))
_ROLE_SCOPED = text(
    "SELECT term, count(*) AS used FROM note_terms CROSS JOIN notes ON notes.key = note_terms.note"
    f" WHERE role = :role AND status <> 'deleted' AND {in_scope()} GROUP BY term ORDER BY used DESC, term LIMIT :limit"
)
#: More tags than this are not shown to an analyst; the most used come first.
_SHOWN_TAGS = 200
_TAGS = (
    select(_COUNTS.c.term, _COUNTS.c.notes)
    .where(_COUNTS.c.role == "tag")
    .order_by(_COUNTS.c.notes.desc())
    .limit(_SHOWN_TAGS)
)
_HOLDING_ALL = Prepared(
    "SELECT note_text.rowid FROM note_text JOIN notes ON notes.key = note_text.rowid"
    " WHERE note_text MATCH :match AND notes.status = 'active' ORDER BY note_text.rowid DESC LIMIT :limit"
)
_TYPED = "SELECT rowid AS key FROM note_text WHERE note_text MATCH :match"
_CONTAINING = "SELECT key FROM notes WHERE status <> 'deleted' AND instr(content, :character)"


@cache
def _postings(count: int) -> Prepared:
    each = "SELECT {0}, rowid, rank FROM note_text WHERE note_text MATCH :match{0}"
    return Prepared(" UNION ALL ".join(each.format(place) for place in range(count)))


def columns_of(note: MemoryNote) -> dict[str, str]:
    """What full text holds of a note: our own tokens of each indexed column, separated by spaces."""
    return {
        "content": " ".join(search_terms(note.content)),
        "keywords": " ".join(index_terms(" ; ".join(note.keywords))),
        "tags": " ".join(index_terms(" ; ".join(note.tags))),
        "context": " ".join(index_terms(note.context)),
    }


class FullText:
    """Full text and vocabulary of one transaction; also the ``Vocabulary`` that analysts are shown."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def put(self, key: int, note: MemoryNote) -> None:
        """Index a note that is not indexed yet."""
        self._run(_INSERT, {"rowid": key, **columns_of(note)})

    def remove(self, key: int) -> None:
        """Forget a note; nothing happens when it is not indexed."""
        self._run(_DELETE, {"wanted": key})

    def search(self, terms: Sequence[str], limit: int, wanted: Filter | None = None) -> list[tuple[int, float]]:
        """(key, BM25 score, higher is better) of notes that hold any of these index terms, best first.

        Without a filter every active note may answer. Ties go to the older note.
        """
        if not terms or limit < 1:
            return []
        if wanted is None or wanted.is_default:
            return self._active(terms, limit)
        score = func.bm25(_TABLE).label("score")
        statement = (
            select(_TEXT.c.rowid, score)
            .select_from(_TEXT.join(_NOTES, _NOTES.c.key == _TEXT.c.rowid))
            .where(_matches(terms), *conditions(wanted))
            .order_by(score, _TEXT.c.rowid)
            .limit(limit)
        )
        return [(key, -score) for key, score in self._run(statement)]

    def postings(self, terms: Sequence[str]) -> tuple[Keys, Keys, Floats]:
        """Where each term stands: places in `terms`, the keys of the notes that hold it, and what BM25 gives for it.

        What BM25 gives is above nothing; the parts of several terms add up to the score of a question that holds them.
        """
        if not terms:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        given = {f"match{place}": f'"{term}"' for place, term in enumerate(terms)}
        rows = _postings(len(terms)).rows(self._session, **given)
        table = np.fromiter(chain.from_iterable(rows), np.float64, 3 * len(rows)).reshape(len(rows), 3)
        return table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), -table[:, 2]

    def scores(self, terms: Sequence[str], keys: Sequence[int]) -> dict[int, float]:
        """BM25 score of each of these notes that holds any of the terms."""
        if not terms or not keys:
            return {}
        statement = select(_TEXT.c.rowid, func.bm25(_TABLE)).where(
            _matches(terms), _TEXT.c.rowid.in_([int(key) for key in keys])
        )
        return {key: -score for key, score in self._run(statement)}

    def tokens(self) -> dict[int, list[str]]:
        """The index terms of every note that is not deleted, by key: for scorers that keep an index of their own."""
        statement = select(_TEXT.c.rowid, *(_TEXT.c[name] for name in _COLUMNS)).order_by(_TEXT.c.rowid)
        return {key: " ".join(columns).split() for key, *columns in self._run(statement)}

    def holding_all(self, terms: Sequence[str], limit: int) -> list[int]:
        """Keys of active notes that hold all of these index terms, newest first."""
        if not terms:
            return []
        matched = " AND ".join(f'"{term}"' for term in terms)
        return [key for (key,) in _HOLDING_ALL.rows(self._session, match=matched, limit=limit)]

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
        where = [_NOTES.c.status == str(Status.ACTIVE)] if wanted is None else conditions(wanted)
        matched = func.count().label("matched")
        statement = (
            select(_TERMS.c.note, func.group_concat(_TERMS.c.term, "\x1f"))
            .select_from(_TERMS.join(_NOTES, _NOTES.c.key == _TERMS.c.note))
            .where(_TERMS.c.role == role, _TERMS.c.term.in_(folded), *where)
            .group_by(_TERMS.c.note)
            .order_by(matched.desc(), _TERMS.c.note.desc())
            .limit(limit)
        )
        return [(key, tuple(sorted(held.split("\x1f")))) for key, held in self._run(statement)]

    def sharing_rare(self, values: Sequence[str], *, most: int, limit: int) -> list[int]:
        """Keys of notes that carry these entities or keywords, those that share most, and rarest, first.

        A word that more than `most` notes carry does not count.
        """
        folded = sorted({value.casefold() for value in values})
        if not folded:
            return []
        asked = {"terms": folded, "most": most, "limit": limit, **scope_values(self._session.scope)}
        return list(self._run(_RARE, asked).scalars())

    def counts(self, role: str, values: Sequence[str] | None = None) -> dict[str, int]:
        """How many notes carry each tag, entity or keyword (case-folded), most used first."""
        if values is None:
            return (
                self._of_scope(role)
                if self._session.is_shared
                else {term: n for term, n in self._run(_ROLE, {"role": role})}
            )
        return dict(_ROLE_AND_TERMS.rows(self._session, role=role, terms=listed(each.casefold() for each in values)))

    # -- the vocabulary analysts are shown ---------------------------------------------------------------------

    @property
    def total(self) -> int:
        """How many notes there are that are not deleted."""
        return self._session.notes.count()

    def document_frequency(self, terms: Sequence[str]) -> Mapping[str, int]:
        """For each index term how many notes hold it anywhere; 0 when none."""
        wanted = list(dict.fromkeys(terms))
        found = dict(_FREQUENCIES.rows(self._session, terms=listed(wanted))) if wanted else {}
        return dict.fromkeys(wanted, 0) | found

    def tags(self) -> Mapping[str, int]:
        """The 200 most used tags and how many notes carry each, most used first."""
        return (
            self._of_scope("tag", _SHOWN_TAGS) if self._session.is_shared else {term: n for term, n in self._run(_TAGS)}
        )

    def _of_scope(self, role: str, limit: int = -1) -> dict[str, int]:
        asked = {"role": role, "limit": limit, **scope_values(self._session.scope)}
        return {term: n for term, n in self._run(_ROLE_SCOPED, asked)}

    def _active(self, terms: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """The unfiltered fast path: rank in FTS5 alone, then drop the few that are not active."""
        margin = limit + 32
        while True:
            ranked = self._ranked(terms, margin)
            active = select(_NOTES.c.key).where(
                _NOTES.c.key.in_([key for key, _ in ranked]), _NOTES.c.status == str(Status.ACTIVE)
            )
            keys = set(self._run(active).scalars())
            alive = [(key, score) for key, score in ranked if key in keys]
            if len(alive) >= limit or len(ranked) < margin:
                return alive[:limit]
            margin *= 4

    def _ranked(self, terms: Sequence[str], limit: int) -> list[tuple[int, float]]:
        # "ORDER BY rank" lets FTS5 keep its own heap instead of sorting every match.
        statement = (
            select(_TEXT.c.rowid, literal_column("rank")).where(_matches(terms)).order_by(literal_column("rank"))
        )
        ranked = [(key, -score) for key, score in self._run(statement.limit(limit))]
        return sorted(ranked, key=lambda pair: (-pair[1], pair[0]))


def _matches(terms: Sequence[str]) -> ColumnElement[bool]:
    # Our tokens hold no quotation mark, so quoting is all it takes to keep FTS5's query language out.
    return _TABLE.op("MATCH", is_comparison=True)(" OR ".join(f'"{term}"' for term in terms))


def _typed(word: Typed) -> str:
    if word.run:
        return f'"{" ".join(word.run)}"'
    return " OR ".join([f'"{start}"*' for start in word.starts] + [f'"{term}"' for term in word.terms])
