"""Copies of the notes of a crowd, made by SQLite itself: each copy in other words, under other ids, somewhat later."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from amem.note import Kind, MemoryNote
from amem.storage import text_hash
from amem.storage.note_reading import normal_hash
from amem.testing.crowd_words import openings, place_tags
from amem.text import index_terms, search_terms
from amem.vectorizer import embedded_text

if TYPE_CHECKING:
    import sqlite3

    from amem.storage import Session

#: Every so many-th note names a ticket of its own, so that the vocabulary is as long as a real one.
_TICKETED = 4
#: Length of the noise by which a copy's vector differs from the unit vector that it was copied from.
_NOISE = 0.45


class Copies:
    """Writes copies 1, 2, … of all that is there, each `step` seconds later than the one before it."""

    def __init__(self, session: Session, copies: int, step: int) -> None:
        self._session = session
        self._driver: sqlite3.Connection = session.driver
        self._copies = copies
        self._step = step
        self._next = {
            table: self._one(f"SELECT coalesce(max({key}), 0) FROM {table}")
            for table, key in (
                *(("notes", "key"), ("operations", "id"), ("versions", "id"), ("links", "key"), ("link_changes", "id")),
            )
        }

    def make(self) -> None:
        """All of them, within the session's transaction."""
        for name, function, arguments in (
            ("copied", _copied, 2),
            ("copied_changes", _copied_changes, 2),
            ("normal_of", normal_hash, 1),
            ("hash_of", _hash_of, 3),
            ("tagged", _tagged, 2),
        ):
            self._driver.create_function(name, arguments, function, deterministic=True)
        self._openings()
        self._operations()
        self._notes()
        self._links()
        self._text()
        self._vectors()
        for table in ("copies", "bodies"):
            self._driver.execute(f"DROP TABLE temp.{table}")

    def _openings(self) -> None:
        """What differs: the opening of every copy, and what the originals say after their own."""
        self._driver.execute(
            "CREATE TEMP TABLE copies (number INTEGER, chinese INTEGER, opening TEXT, opening_terms TEXT,"
            " old_tag TEXT, tag TEXT, tag_terms TEXT, PRIMARY KEY (number, chinese))"
        )
        self._driver.execute(
            "CREATE TEMP TABLE bodies (note INTEGER PRIMARY KEY, chinese INTEGER, body TEXT, terms TEXT)"
        )
        for number in range(1, self._copies):
            each = zip(openings(number), place_tags(0), place_tags(number), strict=True)
            for chinese, (opening, old_tag, tag) in enumerate(each):
                row = (number, chinese, opening, _terms(opening), old_tag, tag, " ".join(index_terms(tag)))
                self._driver.execute("INSERT INTO temp.copies VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        for key, content in self._driver.execute("SELECT key, content FROM notes").fetchall():
            chinese = content.startswith(openings(0)[1])
            body = content.removeprefix(openings(0)[chinese])
            self._driver.execute("INSERT INTO temp.bodies VALUES (?, ?, ?, ?)", (key, chinese, body, _terms(body)))

    def _operations(self) -> None:
        self._insert(
            "operations",
            "id, parent, action, actor, cause, at, undoes, undone_by, prompts",
            f"id + number * :operations, parent + number * :operations, action, actor, cause, {self._later('at')},"
            " NULL, NULL, prompts",
            "operations",
        )

    def _notes(self) -> None:
        kept = "keywords, entities, facts, context, category"
        same = "kind, layer, status"
        rest = "conversation_id, ordinal, speaker, metadata, enrichment, analyst, version, edited"
        # 'content' first with its own opening, then with the copy's; every fourth with a ticket.
        self._driver.execute(
            f"INSERT INTO notes (key, id, content, normal, tags, {kept}, timestamp, at, {same}, importance,"
            f" reliability, pinned, superseded_by, valid_from, valid_to, recorded_at, {rest}, text_hash, seq,"
            " vector_seq)"
            f" SELECT place, copied(id, number), said, normal_of(said), tagged(tags, tag), {kept},"
            f" strftime('%Y-%m-%dT%H:%M:%S+00:00', at, later), {self._later('at')}, {same},"
            " round(min(1.0, max(0.05, importance + (number % 7 - 3) * 0.05)), 2), reliability,"
            f" pinned AND number % 40 = 0, copied(superseded_by, number), {self._later('valid_from')},"
            f" {self._later('valid_to')}, {self._later('recorded_at')}, {rest},"
            " hash_of(kind, speaker, said), :seq, :seq"
            f" FROM (SELECT *, opening || body || {_ticket(' (OPS-{})')} AS said"
            " FROM (SELECT *, notes.key + number * :notes AS place, (number * :step) || ' seconds' AS later"
            " FROM notes JOIN temp.bodies ON note = notes.key JOIN temp.copies USING (chinese) ORDER BY number, note))",
            self._given(),
        )
        self._insert(
            "versions",
            "id, operation, note, version, changes, owned",
            "id + number * :versions, operation + number * :operations, note + number * :notes, version,"
            " copied_changes(changes, number), owned",
            "versions",
        )
        self._insert(
            "usage",
            "note, recalls, last_access, growth, since_archived",
            f"note + number * :notes, 1 + (recalls + number) % 13, {self._later('last_access')}, growth,"
            " since_archived",
            "notes",
            key="note",
        )
        self._insert("note_terms", "role, term, note", "role, term, note + number * :notes", "notes", key="note",
                     more=" AND NOT (role = 'tag' AND term IN (SELECT old_tag FROM temp.copies))")  # fmt: skip
        self._driver.execute(
            "INSERT INTO note_terms (role, term, note) SELECT 'tag', tag, held.note + number * :notes"
            " FROM note_terms AS held JOIN temp.copies ON held.role = 'tag' AND held.term = old_tag"
            " WHERE held.note <= :notes",
            self._given(),
        )

    def _links(self) -> None:
        self._insert(
            "links",
            "key, source, target, type, reason, confidence, made_by, at, operation, weight",
            "key + number * :links, copied(source, number), copied(target, number), type, reason, confidence, made_by,"
            f" {self._later('at')}, operation + number * :operations, weight",
            "links",
            key="key",
        )
        self._insert(
            "link_changes",
            "id, operation, source, target, type, before, after",
            "id + number * :link_changes, operation + number * :operations, copied(source, number),"
            " copied(target, number), type, before, after",
            "link_changes",
        )

    def _text(self) -> None:
        self._driver.execute(
            "INSERT INTO note_text (rowid, content, keywords, tags, context)"
            f" SELECT place, opening_terms || ' ' || terms || {_ticket(' ops-{0} op {0}')},"
            " keywords, replace(tags, old_tag, tag_terms), context"
            " FROM (SELECT *, note + number * :notes AS place FROM temp.bodies"
            " JOIN note_text ON note_text.rowid = note JOIN temp.copies USING (chinese) ORDER BY number, note)",
            self._given(),
        )
        self._driver.execute("INSERT INTO note_text (note_text) VALUES ('optimize')")

    def _vectors(self) -> None:
        space = self._session.vectors.space()
        assert space is not None
        # By the notes, of which the copies have no vectors yet.
        held = dict(
            self._driver.execute(
                "SELECT notes.key, vector FROM notes JOIN vectors ON hash = text_hash AND space = ?", (space.id,)
            )
        )
        hashes = dict(self._driver.execute("SELECT key, text_hash FROM notes"))
        unit = np.stack([np.frombuffer(held[key], dtype="<f4") for key in range(1, self._next["notes"] + 1)])
        chance = np.random.default_rng(7)
        for number in range(1, self._copies):
            noise = chance.standard_normal(unit.shape, dtype=np.float32) * (_NOISE / unit.shape[1] ** 0.5)
            near = (unit + noise).astype("<f4")
            near /= np.linalg.norm(near, axis=1, keepdims=True)
            first = number * self._next["notes"] + 1
            self._driver.executemany(
                "INSERT INTO vectors (space, hash, vector) VALUES (?, ?, ?)",
                ((space.id, hashes[first + row], vector.tobytes()) for row, vector in enumerate(near)),
            )

    def _insert(self, table: str, columns: str, values: str, of: str, *, key: str = "id", more: str = "") -> None:
        """Every row of a table once for each copy, in the order of the copies."""
        self._driver.execute(
            f"INSERT INTO {table} ({columns}) SELECT {values}"
            " FROM (SELECT DISTINCT number, (number * :step) || ' seconds' AS later FROM temp.copies)"
            f" CROSS JOIN {table} WHERE {key} <= :{of}{more} ORDER BY number",
            self._given(),
        )

    def _later(self, column: str) -> str:
        return f"strftime('%Y-%m-%dT%H:%M:%S.000000Z', {column}, later)"

    def _given(self) -> dict[str, int]:
        return {**self._next, "step": self._step, "seq": self._session.seq}

    def _one(self, query: str) -> int:
        return int(self._driver.execute(query).fetchone()[0])


def _terms(text: str) -> str:
    return " ".join(search_terms(text))


def _ticket(form: str) -> str:
    """The name of a ticket in this form, for some of the notes, in SQL; `place` is the note's key."""
    text = "".join(f"'{each}' || place || " for each in form.replace("{0}", "{}").split("{}"))
    return f"CASE place % {_TICKETED} WHEN 0 THEN {text.removesuffix(' || place || ')} ELSE '' END"


def _copied(id: str | None, copy: int) -> str | None:
    """The id of the note in a copy that `id` was in the original."""
    if id is None:
        return None
    made = blake2b(f"{copy}:{id}".encode(), digest_size=16).hexdigest()
    return f"{made[:8]}-{made[8:12]}-{made[12:16]}-{made[16:20]}-{made[20:]}"


def _copied_changes(changes: str, copy: int) -> str:
    if "superseded_by" not in changes:
        return changes
    held = json.loads(changes)
    held["superseded_by"] = [_copied(id, copy) for id in held["superseded_by"]]
    return json.dumps(held, ensure_ascii=False)


def _hash_of(kind: str, speaker: str | None, content: str) -> bytes:
    return text_hash(embedded_text(MemoryNote(content, kind=Kind(kind), speaker=speaker), "content"))


def _tagged(tags: str, place: str) -> str:
    """The tags with another place in the place of the last one."""
    return json.dumps([*json.loads(tags)[:-1], place], ensure_ascii=False)
