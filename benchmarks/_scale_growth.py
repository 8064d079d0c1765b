"""A large collection out of a small one, inside its database, where adding every note would take an hour."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from _scale_corpus import Corpus, TableEmbedder

from amem import AgenticMemorySystem
from amem.note import MemoryNote
from amem.storage.rows import ROLE
from amem.storage.search_tables import columns_of
from amem.storage.vectors import packed_vectors, text_hash

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_AT_ONCE = 1_000
_CACHE_KIB = 2 << 20


def grow(small: Path, folder: Path, size: int) -> None:
    """Fill `folder` with the notes of `small` and copies of them, `size` in all.

    A copy is of the same subject, speaker, time and place in a chat of its own, with other words, and linked to the
    copies of what the note is linked to. It has no history.
    """
    shutil.copytree(small / "memories", folder / "memories", ignore=shutil.ignore_patterns("chroma*", "vectors.npy"))
    corpus, embedder = Corpus(size), TableEmbedder()
    with closing(sqlite3.connect(folder / "memories" / "amem.db", isolation_level=None)) as db:
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA foreign_keys = OFF")
        # The copy can be made again: no journal, which would grow as large as the file, and no waiting for the disk.
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        notes = [dict(row) for row in db.execute("SELECT * FROM notes ORDER BY key")]
        links = [dict(row) for row in db.execute("SELECT * FROM links ORDER BY key")]
        (space,) = db.execute("SELECT id FROM spaces WHERE active = 1").fetchone()
        for start in range(len(notes), size, len(notes)):
            db.execute("BEGIN")
            copies = [
                _copy(each, corpus, start // len(notes), start + place)
                for place, each in enumerate(notes[: size - start], start=1)
            ]
            for first in range(0, len(copies), _AT_ONCE):
                _add(db, copies[first : first + _AT_ONCE], embedder, space)
            there = {each["id"] for each in copies}
            tied = [{**each, "key": None} | _ends(each, start // len(notes)) for each in links]
            _insert(db, "links", (each for each in tied if each["source"] in there and each["target"] in there))
            db.execute("COMMIT")
            print(f"{min(start + len(notes), size):,} of {size:,} notes", file=sys.stderr)
    with AgenticMemorySystem(directory=folder, llm_backend="offline", embedder=embedder) as memory:
        memory.parts.collection.dense.flush(3_600)


def _copy(note: dict[str, Any], corpus: Corpus, number: int, key: int) -> dict[str, Any]:
    who, _, _, subject, *_ = note["content"].split()
    text = corpus.note(int(subject[3:]), who)
    words = text.rstrip(".").split()[4:]
    chat = note["conversation_id"] and f"{note['conversation_id']}-{number}"
    told = {"content": text, "keywords": json.dumps([" ".join(words[at : at + 2]) for at in range(0, 12, 2)])}
    made = {"normal": blake2b(text.encode(), digest_size=16).digest(), "conversation_id": chat}
    return {**note, "key": key, "id": _id(note["id"], number), **told, **made}


def _ends(link: dict[str, Any], number: int) -> dict[str, str]:
    return {"source": _id(link["source"], number), "target": _id(link["target"], number)}


def _id(id: str, number: int) -> str:
    return str(UUID(bytes=blake2b(f"{id} {number}".encode(), digest_size=16).digest()))


def _add(db: sqlite3.Connection, notes: list[dict[str, Any]], embedder: TableEmbedder, space: int) -> None:
    texts = [f"{each['speaker']}: {each['content']}" if each["speaker"] else each["content"] for each in notes]
    vectors = embedder.embed_tokens(texts)
    for note, text in zip(notes, texts, strict=True):
        note["text_hash"] = text_hash(text)
    _insert(db, "notes", notes)
    for each, vector in zip(notes, vectors, strict=True):
        (blob,) = packed_vectors(np.asarray(vector)[None])
        row = (space, each["text_hash"], blob)
        key = db.execute("INSERT INTO vectors (space, hash, vector) VALUES (?, ?, ?)", row).lastrowid
        db.execute("INSERT INTO words VALUES (?, ?)", (key, vector.tokens.packed()))
    _insert(db, "note_text", ({"rowid": each["key"], **columns_of(_note(each))} for each in notes))
    terms = [(ROLE["entity"], json.loads(each["entities"]), each["key"]) for each in notes]
    terms += [(ROLE["keyword"], json.loads(each["keywords"]), each["key"]) for each in notes]
    carried = {(role, word.casefold(), key) for role, words, key in terms for word in words}
    _insert(db, "note_terms", ({"role": role, "term": word, "note": key} for role, word, key in sorted(carried)))


def _note(row: dict[str, Any]) -> MemoryNote:
    words, names = json.loads(row["keywords"]), json.loads(row["entities"])
    return MemoryNote(content=row["content"], keywords=words, entities=names, context=row["context"])


def _insert(db: sqlite3.Connection, table: str, rows: Iterable[dict[str, Any]]) -> None:
    held = list(rows)
    if held:
        names = ", ".join(held[0])
        db.executemany(f"INSERT INTO {table} ({names}) VALUES ({', '.join(f':{name}' for name in held[0])})", held)
