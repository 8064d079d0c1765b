"""Chinese characters in the full-text index, also those of notes that an older amem wrote."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from storing import change, put, search

from amem.language import asked_terms, search_terms
from amem.storage.migrations import scripts
from amem.storage.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from amem.testing import FrozenClock


def test_a_character_finds_the_words_it_stands_in(store: Store) -> None:
    with store.write() as session:
        put(session, "新家租在金牛区，三居室。")
        put(session, "妈妈对花生过敏。")
        assert len(search(session, ["租"])) == 1


def test_an_edit_changes_what_is_found_by_character(store: Store) -> None:
    with store.write() as session:
        id = put(session, "新家租在金牛区。")
        change(session, id, content="新家买在金牛区。")
        assert search(session, ["租"]) == {}
        assert len(search(session, ["买"])) == 1


def test_notes_of_an_older_program_are_found_by_character_too(folder: Path, clock: FrozenClock) -> None:
    with closing(Store(folder, clock)) as store, store.write() as session:
        put(session, "新家租在金牛区，三居室。", keywords=["金牛区"])
        put(session, "We moved to a new flat.")
    with closing(sqlite3.connect(folder / "amem.db")) as raw:
        raw.execute("UPDATE note_text SET content = '新家 家租 租在' WHERE rowid = 1")
        raw.create_function("searched", 1, lambda text: " ".join(search_terms(text)))
        raw.executescript(scripts()[5])
    with closing(Store(folder, clock)) as store, store.read() as session:
        assert list(search(session, asked_terms("租的是哪套？"))) == [1]
        assert list(search(session, asked_terms("金牛区"))) == [1]
        assert list(search(session, asked_terms("new flat"))) == [2]
