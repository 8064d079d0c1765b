"""The file: who may read it, what happens when it is damaged, newer, older, busy or read-only."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest
from storing import change, put, search

from amem.errors import SchemaTooNew, StorageBusy, StorageCorrupt, StorageError, StorageGone, StorageReadOnly
from amem.language import typed_words
from amem.note import Status
from amem.query import Filter
from amem.storage.migrations import scripts
from amem.storage.store import Store
from amem.storage.undo import redo, undo
from amem.token_vectors import PACKING, WIDTH, Tokens, tokens_of

if TYPE_CHECKING:
    from pathlib import Path

    from amem.testing import FrozenClock


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_the_owner_can_read_what_is_written(folder: Path, clock: FrozenClock, tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        with closing(Store(folder, clock)) as store:
            with store.write() as session:
                put(session, "secret")
            assert mode(folder) == 0o700
            assert mode(folder.parent) == 0o700
            for file in folder.iterdir():
                assert mode(file) == 0o600, file.name
            store.copy_to(tmp_path / "copies" / "one")
            assert mode(tmp_path / "copies" / "one") == 0o700
            assert mode(tmp_path / "copies" / "one" / "amem.db") == 0o600
    finally:
        os.umask(old)


@pytest.mark.skipif(os.name == "nt", reason="Windows lets nobody move a file that is open")
def test_a_file_that_was_moved_away_is_neither_read_nor_written_until_it_is_back(
    folder: Path, clock: FrozenClock
) -> None:
    with closing(Store(folder, clock)) as store:
        with store.write() as session:
            id = put(session, "kept")
        elsewhere = folder.with_name("elsewhere")
        folder.rename(elsewhere)
        for attempt in (store.read, store.write):
            with pytest.raises(StorageGone, match="moved, removed or replaced"), attempt():
                pass
        assert not folder.exists()
        elsewhere.rename(folder)
        with store.read() as session:
            assert session.notes.get(id) is not None


@pytest.mark.skipif(os.name == "nt", reason="Windows lets nobody replace a file that is open")
def test_nothing_is_written_to_a_file_that_another_has_taken_the_place_of(folder: Path, clock: FrozenClock) -> None:
    with closing(Store(folder, clock)) as store:
        copy = folder.with_name("copy")
        store.copy_to(copy)
        (copy / "amem.db").replace(folder / "amem.db")
        with pytest.raises(StorageGone), store.write():
            pass


def test_a_note_is_there_after_the_collection_was_closed(folder: Path, clock: FrozenClock) -> None:
    with closing(Store(folder, clock)) as store, store.write() as session:
        id = put(session, "五点喝茶。", keywords=["tea", "茶"], metadata={"n": 42, "s": "42"})
    with closing(Store(folder, clock)) as store, store.read() as session:
        note = session.notes.get(id)
    assert note is not None
    assert (note.content, note.keywords, note.metadata) == (
        "五点喝茶。",
        ["tea", "茶"],
        {"n": 42, "s": "42"},
    )


@pytest.mark.parametrize("content", ["42", "[1, 2]", "null", "true", '{"a": 1}', "é\u0301", "a\x00b"])
def test_any_text_reads_back_as_it_was_written(store: Store, content: str) -> None:
    with store.write() as session:
        id = put(session, content)
    with store.read() as session:
        note = session.notes.get(id)
    assert note is not None
    assert note.content == content


def test_a_write_that_fails_changes_nothing(store: Store) -> None:
    def write_half() -> None:
        with store.write() as session:
            put(session, "lost")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        write_half()
    with store.read() as session:
        assert session.notes.count() == 0
        assert session.text.document_frequency(["lost"]) == {"lost": 0}
        assert session.operations.log() == []


@pytest.mark.parametrize("damage", ["header", "middle", "text"])
def test_a_damaged_file_is_called_damaged(folder: Path, clock: FrozenClock, damage: str) -> None:
    with closing(Store(folder, clock)) as store, store.write() as session:
        for n in range(300):
            put(session, f"note {n} " + "word " * 50)
    file = folder / "amem.db"
    data = bytearray(file.read_bytes())
    if damage == "text":
        data = bytearray(b"this is not a database at all" * 100)
    elif damage == "header":
        data[:100] = os.urandom(100)
    else:
        for page in range(1, len(data) // 4096):
            data[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    file.write_bytes(data)

    def read_all() -> None:
        with closing(Store(folder, clock)) as store, store.read() as session:
            session.notes.page(Filter(), limit=500)
            search(session, ["word"])

    with pytest.raises(StorageCorrupt) as caught:
        read_all()
    assert "amem backup --restore" in caught.value.hint


def test_a_file_that_was_damaged_while_open_and_is_put_right_is_read_again(folder: Path, clock: FrozenClock) -> None:
    with closing(Store(folder, clock)) as store, store.write() as session:
        put(session, "note")
    file = folder / "amem.db"
    data = file.read_bytes()
    with closing(Store(folder, clock)) as store:
        with file.open("r+b") as open_file:
            open_file.write(b"\xff" * len(data))

        def read() -> int:
            with store.read() as session:
                return session.notes.count()

        with pytest.raises(StorageCorrupt):
            read()
        with file.open("r+b") as open_file:
            open_file.write(data)
        assert read() == 1


def test_a_collection_of_a_newer_program_is_left_alone(folder: Path, clock: FrozenClock) -> None:
    Store(folder, clock).close()
    with closing(sqlite3.connect(folder / "amem.db")) as raw:
        raw.execute("PRAGMA user_version = 999")
    with pytest.raises(SchemaTooNew, match="999") as caught:
        Store(folder, clock)
    assert caught.value.hint == "upgrade amem"


def test_opening_again_migrates_nothing(folder: Path, clock: FrozenClock) -> None:
    Store(folder, clock).close()
    before = (folder / "amem.db").read_bytes()
    Store(folder, clock).close()
    assert (folder / "amem.db").read_bytes() == before
    assert [file.name for file in folder.iterdir()] == ["amem.db"]


def test_flags_witnesses_and_proposals_of_an_older_schema_are_what_they_were(folder: Path, clock: FrozenClock) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    at = "2026-01-01T09:00:00.000000Z"
    note = {name: "" for name in ("context", "category", "timestamp", "analyst")} | {
        **{name: "[]" for name in ("keywords", "tags", "entities")},
        **{"at": at, "recorded_at": at, "version": 1, "seq": 1, "vector_seq": 1},
        **{"content": "Tea is green.", "normal": b"", "kind": "fact", "layer": "short_term", "metadata": "{}"},
        **{"status": "active", "importance": 0.5, "reliability": 0.9, "pinned": 0, "enrichment": "done"},
    }
    with closing(sqlite3.connect(folder / "amem.db")) as raw:
        for name in ("folded", "named", "searched"):
            raw.create_function(name, 1, str)
        for number in range(1, 8):
            raw.executescript(scripts()[number])
        raw.execute("PRAGMA user_version = 7")
        operations = (
            *((1, "add", None, None), (2, "add", None, None), (3, "evolve", None, None), (4, "keep", None, None)),
            *((5, "keep", None, 6), (6, "undo", 5, None), (7, "reject", None, 8), (8, "undo", 7, None)),
        )
        for id, action, undoes, undone_by in operations:
            row = (id, None, action, "user", "", at, undoes, undone_by, "")
            raw.execute("INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        for key, id in ((1, "tea"), (2, "milk")):
            held = note | {"id": id, "edited": '{"tags": "given", "content": "edited"}'}
            marks = ", ".join("?" * len(held))
            raw.execute(f"INSERT INTO notes ({', '.join(held)}) VALUES ({marks})", list(held.values()))
            raw.execute(
                "INSERT INTO versions (operation, note, version, changes) VALUES (?, ?, 1, ?)",
                [key, key, '{"status": [null, "active"]}'],
            )
        flags = "INSERT INTO flags (note, because, reason, at, operation, dismissed_by) VALUES (1, ?, ?, ?, 3, ?)"
        for because, by in (("open", None), ("dismissed", 4), ("dismissed and undone", 5)):
            raw.execute(flags, (because, because, at, by))
        raw.execute("INSERT INTO corroborations VALUES (1, 'Ana', ?, 3)", (at,))
        reviews = (
            "INSERT INTO reviews (note, operation, base_version, changes, reason, confidence, made_by, created_at,"
            " expires_at, state, decided_by)"
            " VALUES (?, 3, 1, '{}', ?, 0.5, 'amem', ?, '2099-01-01T00:00:00.000000Z', ?, ?)"
        )
        for key, state, by in ((1, "open", None), (1, "accepted", 4), (2, "open", 8)):
            raw.execute(reviews, (key, f"{state} {by}", at, state, by))
        raw.execute("INSERT INTO links (source, target, type, reason, confidence, made_by, at, operation)"
                    " VALUES ('tea', 'milk', 'related', '', 1, 'user', ?, 3)", (at,))  # fmt: skip
        raw.commit()
    with closing(Store(folder, clock)) as store, store.write() as session:
        assert [flag.because for flag in session.flags.open()] == ["open", "dismissed and undone"]
        assert session.flags.decided("tea") == {"dismissed"}
        assert session.notes.witnesses([1]) == {"Ana"}
        assert [item.reason for item in session.reviews.open()] == ["open None", "open 8"]
        assert [item.state for item in session.reviews.of([2])] == ["accepted"]
        assert [link.target for link in session.links.of("tea")] == ["milk"]
        redo(session, "user", 8)
        assert [item.reason for item in session.reviews.open()] == ["open None"]
        change = {"content": "Tea is black."}
        session.notes.change("tea", change, session.begin("update", "user"), edited=True)
        undo(session, "user")
        assert session.notes.owned_fields(["tea"])["tea"] == {"tags": "given", "content": "edited"}


def test_words_kept_a_byte_a_number_are_kept_in_half_a_byte_from_schema_14_on(folder: Path, clock: FrozenClock) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    vector = np.eye(1, 384, 5, dtype=np.float32)[0]
    words = np.random.default_rng(3).integers(-127, 128, (15, WIDTH), dtype=np.int8)
    with closing(sqlite3.connect(folder / "amem.db")) as raw:
        for name in ("folded", "named", "searched"):
            raw.create_function(name, 1, str)
        for number in range(1, 14):
            raw.executescript(scripts()[number])
        raw.execute("PRAGMA user_version = 13")
        raw.execute("INSERT INTO spaces VALUES (1, 'model', 384, 'content', 1, 'words-128')")
        raw.execute("INSERT INTO vectors VALUES (1, 1, x'01', ?, ?)", (vector.tobytes(), words.tobytes()))
        raw.execute("INSERT INTO vectors VALUES (2, 1, x'02', ?, NULL)", (vector.tobytes(),))
        raw.commit()
    with closing(Store(folder, clock)) as store, store.read() as session:
        space = session.vectors.space()
        assert space is not None
        assert space.tokens == PACKING
        found = session.vectors.known(space, [b"\x01", b"\x02"])
        assert found[b"\x01"].tolist() == found[b"\x02"].tolist() == pytest.approx(vector.tolist())
        assert tokens_of(found[b"\x02"]) is None
        kept = tokens_of(found[b"\x01"])
        assert kept is not None
        assert np.diag(kept.cosines(Tokens(words))).min() > 0.99


def test_vectors_are_kept_in_two_bytes_a_number_from_schema_15_on_with_their_words(
    folder: Path, clock: FrozenClock
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(5)
    matrix = chance.standard_normal((40, 384)).astype("<f4")
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix[3] = 0.0
    words = Tokens(chance.integers(-127, 128, (6, WIDTH), dtype=np.int8)).packed()
    hashes = [bytes([row]) for row in range(len(matrix))]
    with closing(sqlite3.connect(folder / "amem.db")) as raw:
        for name in ("folded", "halved", "named", "searched"):
            raw.create_function(name, 1, str)
        for number in range(1, 15):
            raw.executescript(scripts()[number])
        raw.execute("PRAGMA user_version = 14")
        raw.execute("INSERT INTO spaces VALUES (1, 'model', 384, 'content', 1, ?)", (PACKING,))
        rows = ((hashed, vector.tobytes()) for hashed, vector in zip(hashes, matrix, strict=True))
        raw.executemany("INSERT INTO vectors (space, hash, vector) VALUES (1, ?, ?)", rows)
        raw.execute("INSERT INTO words VALUES (7, ?)", (words,))
        raw.execute("UPDATE vectors SET vector = x'010203' WHERE hash = x'27'")
        raw.commit()
    with closing(Store(folder, clock)) as store:
        with store.read() as session:
            space = session.vectors.space()
            assert space is not None
            found = session.vectors.known(space, hashes[:-1])
        kept = np.stack([found[hashed] for hashed in hashes[:-1]])
        assert np.abs(kept @ matrix[:-1].T - matrix[:-1] @ matrix[:-1].T).max() < 1e-5
        assert kept[3].tolist() == [0.0] * 384
        told = tokens_of(found[hashes[6]])
        assert told is not None
        assert told.packed() == words
        assert store.check() == ["vector 40 is not 384 numbers"]
        with store.write() as session:
            session.vectors.purge(hashes[6])
        with store.read() as session:
            assert session.rows("SELECT count(*) FROM words") == [(0,)]
    assert (folder / "amem.db.schema-14.bak").is_file()


def test_terms_and_texts_of_schema_15_are_found_as_before(folder: Path, clock: FrozenClock) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    given = {name: "" for name in ("context", "category", "timestamp", "analyst")} | {
        **{name: "[]" for name in ("keywords", "tags", "entities", "facts", "overturned")},
        **{name: "2026-01-01T09:00:00.000000Z" for name in ("at", "recorded_at")},
        **{name: 1 for name in ("version", "seq", "vector_seq")},
        **{"normal": b"", "kind": "fact", "layer": "short_term", "status": "active", "importance": 0.5},
        **{"reliability": 0.9, "pinned": 0, "metadata": "{}", "enrichment": "done", "edited": "{}"},
    }
    texts = {"tea": ("Green tea in Porto.", "green tea porto"), "milk": ("Porto has no oat milk.", "porto oat milk")}
    with closing(sqlite3.connect(folder / "amem.db")) as raw:
        for name in ("folded", "halved", "named", "repacked", "searched"):
            raw.create_function(name, 1, str)
        for number in range(1, 16):
            raw.executescript(scripts()[number])
        raw.execute("PRAGMA user_version = 15")
        for key, (id, (content, words)) in enumerate(texts.items(), start=1):
            row = {**given, "key": key, "id": id, "content": content}
            raw.execute(f"INSERT INTO notes ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", [*row.values()])
            raw.execute("INSERT INTO note_text (rowid, content) VALUES (?, ?)", (key, words))
        terms = [("tag", "drink", 1), ("tag", "drink", 2), ("tag", "hot", 1), ("entity", "porto", 1)]
        terms += [("entity", "porto", 2), ("keyword", "oat milk", 2), ("keyword", "porto", 2)]
        raw.executemany("INSERT INTO note_terms VALUES (?, ?, ?)", terms)
        raw.commit()
    with closing(Store(folder, clock)) as store:
        with store.read() as session:
            assert list(session.text.tags().items()) == [("drink", 2), ("hot", 1)]
            assert session.text.counts("entity", ["Porto"]) == {"porto": 2}
            assert session.text.counts("keyword", ["oat milk", "Porto", "tea"]) == {"oat milk": 1, "porto": 1}
            assert session.text.counts("keyword") == {"oat milk": 1, "porto": 1}
            assert session.text.holding("tag", ["hot"], 5) == [(1, ("hot",))]
            # The entity is that of more than one note, and does not count.
            assert session.text.sharing_rare(["Porto", "oat milk"], most=1, limit=5) == [2]
            assert set(session.text.sharing_rare(["Porto"], most=2, limit=5)) == {1, 2}
            assert session.text.typed(typed_words("po")).tolist() == [1, 2]
            assert session.text.typed(typed_words("porto oa")).tolist() == [2]
            assert session.text.document_frequency(["porto", "milk"]) == {"porto": 2, "milk": 1}
            assert [note.id for note in session.notes.page(Filter(tags=("hot",)), limit=5)] == ["tea"]
        with store.write() as session:
            put(session, "Hot chocolate.", id="cocoa", tags=["hot"], keywords=["chocolate"])
        with store.write() as session:
            session.notes.purge(["tea"])
        with store.read() as session:
            assert list(session.text.tags().items()) == [("drink", 1), ("hot", 1)]
            assert session.text.typed(typed_words("cho")).tolist() == [3]
            assert session.text.typed(typed_words("gre")).tolist() == []


def old_collection(folder: Path, schema: int) -> None:
    """An empty collection of an older schema, with the words of one text."""
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "amem.db")) as raw:
        for name in ("folded", "halved", "named", "repacked", "searched"):
            raw.create_function(name, 1, str)
        for number in range(1, schema + 1):
            raw.executescript(scripts()[number])
        raw.execute(f"PRAGMA user_version = {schema}")
        raw.execute("INSERT INTO note_text (rowid, content) VALUES (1, 'green tea')")
        raw.commit()


def test_an_upgrade_that_breaks_off_leaves_the_collection_as_it_was(
    folder: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_collection(folder, 14)
    broken = {**scripts(), max(scripts()): scripts()[max(scripts())] + "\nSELECT no_such_function();\n"}
    with monkeypatch.context() as patched:
        patched.setattr("amem.storage.migrations.scripts", lambda: broken)
        with pytest.raises(StorageError), closing(Store(folder, clock)) as store, store.read() as session:
            session.text.typed(typed_words("tea"))
    with closing(sqlite3.connect(folder / "amem.db")) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (14,)
        assert raw.execute("SELECT rowid FROM note_text WHERE note_text MATCH 'tea'").fetchall() == [(1,)]
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with closing(Store(folder, clock)) as store, store.read() as session:
        assert session.text.typed(typed_words("te")).tolist() == [1]


def test_of_those_who_open_an_old_collection_at_once_one_upgrades_it(folder: Path, clock: FrozenClock) -> None:
    old_collection(folder, 14)
    found: list[list[int]] = []
    start = threading.Barrier(3)

    def open_it() -> None:
        start.wait()
        with closing(Store(folder, clock)) as store, store.read() as session:
            found.append(session.text.typed(typed_words("tea")).tolist())

    threads = [threading.Thread(target=open_it) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [[1], [1], [1]]


def test_a_collection_of_the_first_schema_is_backed_up_and_upgraded_with_all_it_holds(
    folder: Path, clock: FrozenClock
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "amem.db")) as raw:
        raw.executescript(scripts()[1])
        raw.execute("PRAGMA user_version = 1")
        raw.execute(
            "INSERT INTO operations VALUES (1, NULL, 'add', 'user', '', '2026-01-01T09:00:00.000000Z', NULL, NULL)"
        )
        given = {name: "" for name in ("context", "category", "timestamp", "analyst")} | {
            **{name: "[]" for name in ("keywords", "tags", "entities")},
            **{name: "2026-01-01T09:00:00.000000Z" for name in ("at", "recorded_at")},
            **{name: 1 for name in ("version", "seq", "vector_seq")},
            **{"id": "tea", "content": "我对花生过敏。", "normal": b"", "kind": "fact", "layer": "short_term"},
            **{"status": "active", "importance": 0.5, "reliability": 0.9, "pinned": 0, "metadata": "{}"},
            **{"enrichment": "done", "edited": "{}"},
        }
        raw.execute(
            f"INSERT INTO notes ({', '.join(given)}) VALUES ({', '.join('?' * len(given))})", list(given.values())
        )
        created = '{"status": [null, "active"]}'
        raw.execute("INSERT INTO versions (operation, note, version, changes) VALUES (1, 1, 1, ?)", [created])
        raw.execute("INSERT INTO sources (id, kind, text, operation) VALUES ('line-1', 'line', '我对花生过敏。', 1)")
        raw.execute("INSERT INTO note_sources VALUES (1, 1)")
        raw.commit()
    with closing(Store(folder, clock)) as store:
        with store.read() as session:
            note = session.notes.get("tea")
            assert note is not None
            assert (note.content, note.facts) == ("我对花生过敏。", [])
            assert [source.id for source in session.notes.sources_of(["tea"])["tea"]] == ["line-1"]
            assert [operation.prompts for operation in session.operations.log()] == [""]
        with store.write() as session:
            put(session, "Written since.", id="new")
    assert (folder / "amem.db.schema-1.bak").is_file()


class TestReadOnly:
    """A collection in a folder that may not be written to (root may write anywhere, so the question is intercepted)."""

    @pytest.fixture
    def locked(self, folder: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch) -> Path:
        with closing(Store(folder, clock)) as store, store.write() as session:
            put(session, "Tea.", id="tea")
        monkeypatch.setattr("amem.storage.database.os.access", lambda *_: False)
        return folder

    def test_it_can_be_read(self, locked: Path, clock: FrozenClock) -> None:
        with closing(Store(locked, clock)) as store:
            assert store.read_only
            with store.read() as session:
                assert session.notes.get("tea") is not None
                assert list(search(session, ["tea"])) == [1]

    def test_writing_is_refused_with_a_hint(self, locked: Path, clock: FrozenClock) -> None:
        with closing(Store(locked, clock)) as store:
            with pytest.raises(StorageReadOnly) as caught, store.write():
                pass
            assert "permissions" in caught.value.hint

    def test_reading_leaves_no_file_behind(self, locked: Path, clock: FrozenClock) -> None:
        with closing(Store(locked, clock)) as store, store.read() as session:
            session.notes.count()
        assert [file.name for file in locked.iterdir()] == ["amem.db"]

    def test_an_old_schema_is_refused(self, locked: Path, clock: FrozenClock) -> None:
        with closing(sqlite3.connect(locked / "amem.db")) as raw:
            raw.execute("PRAGMA user_version = 0")
        with pytest.raises(StorageReadOnly, match="old schema"):
            Store(locked, clock)


def test_a_reader_sees_one_moment_while_others_write(file_store: Store) -> None:
    with file_store.read() as session:
        assert session.notes.count() == 0
        with file_store.write() as writing:
            put(writing, "later")
        assert session.notes.count() == 0
    with file_store.read() as session:
        assert session.notes.count() == 1


def test_a_bounded_wait_ends_with_busy(folder: Path, clock: FrozenClock) -> None:
    with closing(Store(folder, clock)) as one, closing(Store(folder, clock)) as other:
        with one.write() as session:
            put(session, "first")
            with pytest.raises(StorageBusy), other.write(wait=0.05):
                pass
        with other.write(wait=0.05) as session:
            put(session, "second")
        with one.read() as session:
            assert session.notes.count() == 2


def test_threads_of_one_process_wait_for_each_other_too(store: Store) -> None:
    refused = []

    def impatient() -> None:
        try:
            with store.write(wait=0.05):
                pass
        except StorageBusy as error:
            refused.append(error)

    with store.write() as session:
        put(session, "mine")
        thread = threading.Thread(target=impatient)
        thread.start()
        thread.join()
    assert len(refused) == 1


def test_threads_write_without_losing_a_note(store: Store) -> None:
    failures: list[BaseException] = []

    def work(who: int) -> None:
        try:
            for n in range(25):
                with store.write() as session:
                    put(session, f"note {n} of thread{who}", entities=[f"thread{who}"])
                with store.read() as session:
                    assert session.text.counts("entity", [f"thread{who}"])[f"thread{who}"] == n + 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with store.read() as session:
        assert session.notes.count() == 100
        assert session.counter == 100
        assert session.text.document_frequency(["thread3"]) == {"thread3": 25}
    assert store.check() == []


def test_two_collections_in_memory_know_nothing_of_each_other(clock: FrozenClock) -> None:
    with closing(Store(None, clock)) as one, closing(Store(None, clock)) as other:
        with one.write() as session:
            put(session, "mine")
        with other.read() as session:
            assert session.notes.count() == 0


def test_a_copy_is_whole_and_apart(store: Store, clock: FrozenClock, tmp_path: Path) -> None:
    with store.write() as session:
        id = put(session, "Tea.")
    store.copy_to(tmp_path / "copy")
    with closing(Store(tmp_path / "copy", clock)) as copy:
        with copy.write() as session:
            change(session, id, content="Coffee.")
        assert copy.check() == []
    with store.read() as session:
        note = session.notes.get(id)
    assert note is not None
    assert note.content == "Tea."


def test_the_counter_moves_with_every_change_and_never_with_use(store: Store) -> None:
    def counter() -> int:
        with store.read() as session:
            return session.counter

    assert counter() == 0
    with store.write() as session:
        id = put(session, "Tea.")
        put(session, "Coffee.")
    assert counter() == 1
    with store.write() as session:
        change(session, id, content="Green tea.")
    assert counter() == 2
    with store.write() as session:
        session.usage.touch([1])
    assert counter() == 2
    with store.write() as session:
        change(session, id, action="delete", status=str(Status.DELETED))
    assert counter() == 3
